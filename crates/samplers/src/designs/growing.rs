//! Sampling without replacement with exactly the wanted number of rows, each sample being part of every larger one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use apportion_games::{Coalitions, Purpose, stream};

use crate::designs::sample::{Sample, Sampler, check_rows};
use crate::designs::without_replacement::{draw_classes, draw_in_order};
use crate::draw::random::unit;
use crate::error::SamplerError;
use crate::size::allocation::{Allocation, shares};
use crate::size::pairing::Pairing;
use crate::size::size_class::{SizeClass, size_classes};
use crate::size::size_law::SizeLaw;

/// As [`FixedCounts`](crate::FixedCounts), but samples grow: the coalitions for a number of evaluations are among those for every larger
/// number, of the same seed.
///
/// The coalitions (pairs) of each size stand in a random order, the k-th of them, k = 0, 1, …, at the level
///
/// ```text
/// c = (k + u_s) / g(s),   u_s uniform on (0, 1]
/// ```
///
/// with the size law g (in pairs the mean of g(s) and g(n − s), half of that in the middle), and the sample is what comes first by level.
/// So the numbers of coalitions of each size stay within one of `c g(s)` at the level that is reached, and exactly
/// `evaluations` rows are drawn, in pairs `2⌊evaluations/2⌋`, or all there are.
///
/// Given the numbers, every set of as many coalitions of a size is equally likely. So [`expected`](crate::SizeStratum::expected) is the
/// number that was drawn, by which sums over a size are estimated without bias whatever it is; except for sizes of which less than one is
/// expected, and maybe none drawn: for these it is the expectation. From n − 1 evaluations on by leverage this is none but the
/// middle size of pairs.
///
/// Rows come by size, and those of a size in their order. Takes `O(m (n / 10 + ln n))` time, and visits a size once where more than half of
/// it is drawn.
///
/// ```
/// use apportion_samplers::{Growing, Pairing, Sampler, SizeLaw};
///
/// let sampler = Growing { law: SizeLaw::leverage(100)?, pairing: Pairing::Paired };
/// let (small, large) = (sampler.sample(300, 7)?, sampler.sample(1000, 7)?);
/// assert_eq!((small.coalitions().len(), large.coalitions().len()), (300, 1000));
/// let is_among = |row| large.coalitions().iter().any(|other| other == row);
/// assert!(small.coalitions().iter().all(is_among));
/// # Ok::<(), apportion_samplers::SamplerError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Growing {
    /// The law that the numbers of coalitions of each size follow as long as there are as many; leverage in the paper.
    pub law: SizeLaw,
    /// Whether complements enter together.
    pub pairing: Pairing,
}

impl Sampler for Growing {
    fn players(&self) -> usize {
        self.law.players()
    }

    /// Exactly `evaluations` rows, or all there are; in pairs, one less where `evaluations` is odd.
    fn sample(&self, evaluations: usize, seed: u64) -> Result<Sample, SamplerError> {
        self.draw(evaluations, seed).map(|(sample, _)| sample)
    }
}

impl Growing {
    /// As [`sample`](Sampler::sample), with the rows in the order in which they enter: those of a smaller sample come first.
    ///
    /// # Errors
    ///
    /// [`SamplerError::TooManyRows`] above [`most_rows`](crate::most_rows).
    pub fn sample_in_order(&self, evaluations: usize, seed: u64) -> Result<Sample, SamplerError> {
        let (mut sample, order) = self.draw(evaluations, seed)?;
        let stride = self.pairing.rows_per_unit();
        // Where the next unit of each class stands.
        let mut next = vec![0; order.iter().max().map_or(0, |last| last + 1)];
        order.iter().for_each(|&class| next[class] += stride);
        let mut end = 0;
        for start in &mut next {
            end += *start;
            *start = end - *start;
        }
        let mut coalitions = Coalitions::with_capacity(self.players(), end);
        for class in order {
            (0..stride).for_each(|row| coalitions.push(sample.coalitions.row(next[class] + row)));
            next[class] += stride;
        }
        sample.coalitions = coalitions;
        Ok(sample)
    }

    /// The sample, by class, and the class of each unit in the order in which they enter.
    fn draw(&self, evaluations: usize, seed: u64) -> Result<(Sample, Vec<usize>), SamplerError> {
        let rows = match self.pairing {
            Pairing::Unpaired => evaluations,
            Pairing::Paired => evaluations - evaluations % 2,
        };
        let mut allocation = Allocation::new(&self.law, self.pairing, rows);
        let rows = check_rows(self.players(), allocation.expected.iter().sum::<f64>().round() as usize)?;
        let shares = shares(&self.law, self.pairing);
        let classes: Vec<SizeClass> = size_classes(&allocation, self.pairing)
            .into_iter()
            .filter(|class| shares[class.size] > 0.0)
            .collect();
        let mut starts = stream(seed, Purpose::Growth, START_UNIT);
        let entries: Vec<Entries> = classes
            .iter()
            .map(|class| Entries {
                start: 1.0 - unit(&mut starts),
                rate: shares[class.size] * if class.is_middle() { 0.5 } else { 1.0 },
                population: class.population,
            })
            .collect();
        let units = rows / self.pairing.rows_per_unit();
        let mut counts = vec![0; entries.len()];
        let order = next_entries(&entries, &mut counts, units);
        for (class, &count) in classes.iter().zip(&counts).filter(|(class, _)| class.expected >= 1.0) {
            let rows_of_size = if class.is_middle() { 2.0 } else { 1.0 };
            allocation.expected[class.size] = rows_of_size * count as f64;
            if self.pairing == Pairing::Paired {
                allocation.expected[self.players() - class.size] = allocation.expected[class.size];
            }
        }
        let wanted = classes
            .into_iter()
            .zip(counts)
            .map(|(class, count)| (class, count, class.stream_of_order(seed)))
            .collect();
        Ok((draw_classes(&allocation, self.pairing, wanted, draw_in_order), order))
    }
}

/// The stream of all starts: beyond those of the sizes, of which there are fewer than 2^32.
pub(crate) const START_UNIT: u64 = 1 << 40;

/// When the units of a class enter samples: the k-th at level (k + start) / rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entries {
    /// Uniform on (0, 1].
    pub(crate) start: f64,
    pub(crate) rate: f64,
    /// Units; may be infinite.
    pub(crate) population: f64,
}

impl Entries {
    /// The level at which unit `index` enters; none where there is no such unit.
    fn level(&self, index: usize) -> Option<f64> {
        let index = index as f64;
        (index < self.population).then(|| (index + self.start) / self.rate)
    }
}

/// The classes of the next `units` units by level, of each class those after its first `counts`, which go up by as many; fewer, where
/// there are fewer.
pub(crate) fn next_entries(classes: &[Entries], counts: &mut [usize], units: usize) -> Vec<usize> {
    let next = |class: usize, index: usize| classes[class].level(index).map(|level| Next { level, class });
    let mut heap: BinaryHeap<Next> =
        counts.iter().enumerate().filter_map(|(class, &count)| next(class, count)).collect();
    let mut order = Vec::new();
    while order.len() < units
        && let Some(Next { class, .. }) = heap.pop()
    {
        order.push(class);
        counts[class] += 1;
        heap.extend(next(class, counts[class]));
    }
    order
}

/// The next unit of a class. The greatest comes first from a heap: that of the least level, of equal ones that of the first class.
#[derive(Debug, Clone, Copy)]
struct Next {
    level: f64,
    class: usize,
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        other.level.total_cmp(&self.level).then(other.class.cmp(&self.class))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Next {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_units_are_those_of_the_sorted_levels() {
        let classes = [(0.3, 2.0, 4.0), (1.0, 0.5, f64::INFINITY), (0.01, 1.0, 1.0), (0.3, 2.0, 50.0)]
            .map(|(start, rate, population)| Entries { start, rate, population });
        let mut levels: Vec<(f64, usize)> = classes
            .iter()
            .enumerate()
            .flat_map(|(class, entries)| (0..60).filter_map(move |k| Some((entries.level(k)?, class))))
            .collect();
        levels.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for units in 0..50 {
            let mut counts = [0; 4];
            let order = next_entries(&classes, &mut counts, units);
            assert!(levels[..units].iter().map(|&(_, class)| class).eq(order));
            let mut wanted = [0; 4];
            levels[..units].iter().for_each(|&(_, class)| wanted[class] += 1);
            assert_eq!(counts, wanted, "{units} units");
        }
        // After those there are, whatever their levels; and no more than there are.
        let mut counts = [3, 1];
        assert_eq!(next_entries(&[classes[0], classes[2]], &mut counts, 9), [0]);
        assert_eq!(counts, [4, 1]);
    }

    #[test]
    fn a_smaller_sample_comes_first_and_all_are_those_of_the_sample_by_size() {
        for players in [2, 5, 6, 9, 70] {
            for pairing in [Pairing::Unpaired, Pairing::Paired] {
                let sampler = Growing { law: SizeLaw::leverage(players).unwrap(), pairing };
                let most = if players < 10 { (1 << players) - 2 } else { 300 };
                let whole = sampler.sample_in_order(most, 3).unwrap();
                for rows in (0..=most).step_by(2) {
                    let sample = sampler.sample_in_order(rows, 3).unwrap();
                    assert!(whole.coalitions().words().starts_with(sample.coalitions().words()));
                    let by_size = sampler.sample(rows, 3).unwrap();
                    assert_eq!(sample.strata(), by_size.strata());
                    let sorted = |sample: &Sample| {
                        let mut rows: Vec<&[u64]> =
                            sample.coalitions().iter().map(|row| row.words()).collect();
                        rows.sort_unstable();
                        rows.concat()
                    };
                    assert_eq!(sorted(&sample), sorted(&by_size));
                }
            }
        }
    }
}
