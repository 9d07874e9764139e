//! Levels at which units (coalitions or pairs) enter a growing sample.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The index of the random stream for the starts. It is above the indices for the sizes, which are below
/// 2^32.
pub(crate) const START_UNIT: u64 = 1 << 40;

/// The levels at which the units of a class enter samples: unit k enters at level (k + start) / rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entries {
    /// The random start of the class, uniform on (0, 1].
    pub(crate) start: f64,
    pub(crate) rate: f64,
    /// Number of units in the class; may be infinite.
    pub(crate) population: f64,
}

impl Entries {
    /// Returns the level at which unit `index` enters; `None` if the unit does not exist.
    fn level(&self, index: usize) -> Option<f64> {
        let index = index as f64;
        (index < self.population).then(|| (index + self.start) / self.rate)
    }
}

/// Returns the classes of the next `units` units in order of level, and adds these units to `counts`. The
/// first `counts[c]` units of each class c are already in the sample. Returns fewer classes if not enough
/// units exist.
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

/// The next unit of a class. The ordering makes a max-heap yield the unit with the lowest level first and,
/// for equal levels, the unit of the first class.
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
            let mut expected = [0; 4];
            levels[..units].iter().for_each(|&(_, class)| expected[class] += 1);
            assert_eq!(counts, expected, "{units} units");
        }
        // Units are added after those already counted, regardless of their levels, and never more than exist.
        let mut counts = [3, 1];
        assert_eq!(next_entries(&[classes[0], classes[2]], &mut counts, 9), [0]);
        assert_eq!(counts, [4, 1]);
    }
}
