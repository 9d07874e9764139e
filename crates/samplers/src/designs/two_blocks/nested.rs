//! Growing samples of coalitions of players in two blocks: each sample is part of every larger one.
//!
//! # Notation
//!
//! Same as for [`TwoBlocks`](super::TwoBlocks). A unit is a coalition, or a pair of coalitions. A *class*
//! contains units that are treated equally, with rate `g = g_1(t) g_2(a)` (half of this rate if both members
//! of a pair are in the stratum).
//!
//! # Samples that begin with given units
//!
//! After D independent draws of units with probabilities proportional to their rates, the probability that no
//! unit of a given class has been drawn is about `q = exp(−D g / Σg)`. The expected number of distinct units
//! drawn from a class of N units is `N (1 − exp(−D g / (N Σg)))`. If a sample begins with the drawn units, it
//! contains, at level c, at least one unit of the class with probability
//!
//! ```text
//! P = 1 − q (1 − min(c g, 1))
//! ```
//!
//! Given the number of sampled units in the class, all sets with this number of units are equally likely. The
//! mean over the sampled units, divided by P, therefore yields an unbiased estimate of a sum over the class,
//! as if `count · P` rows were expected.

use std::collections::HashSet;

use apportion_games::{Coalitions, Purpose, stream};

use super::{Class, FirstUnits, TwoBlockSample, TwoBlocks};
use crate::designs::levels::{Entries, START_UNIT, next_entries};
use crate::designs::sample::check_rows;
use crate::designs::without_replacement::draw_in_order;
use crate::draw::random::unit;
use crate::error::SamplerError;
use crate::size::choose::populations;
use crate::size::pairing::Pairing;
use crate::size::water_filling::water_fill;

impl TwoBlocks {
    /// Draws a sample like [`sample`](Self::sample) in [`Order::Nested`](crate::Order::Nested), but begins
    /// with the units `first`, regardless of their levels. The sample contains at least these units. Samples
    /// that begin with the same units grow. Takes `O(n)` time per row, plus O(n_1 n_2).
    ///
    /// # Errors
    ///
    /// Same as [`sample`](Self::sample).
    ///
    /// # Panics
    ///
    /// If the number of players of `first` differs, or if the design cannot draw one of its rows.
    pub fn sample_after(
        &self,
        first: &FirstUnits,
        rows: usize,
        seed: u64,
    ) -> Result<TwoBlockSample, SamplerError> {
        let blocks @ [n_1, n_2] = [self.distributions[0].players(), self.distributions[1].players()];
        let stride = self.pairing.rows_per_unit();
        let of_blocks = [populations(n_1), populations(n_2)];
        let population = |t: usize, a: usize| of_blocks[0][t] * of_blocks[1][a];
        let strata = || (0..=n_1).flat_map(|t| (0..=n_2).map(move |a| (t, a)));
        // Draw one start for each stratum, regardless of the distributions, so that the starts do not depend
        // on them.
        let mut of_strata = stream(seed, Purpose::Growth, START_UNIT);
        let starts: Vec<f64> = strata().map(|_| 1.0 - unit(&mut of_strata)).collect();
        let stratum = |t: usize, a: usize| t * (n_2 + 1) + a;

        let (classes, entries): (Vec<Class>, Vec<Entries>) = strata()
            .filter(|&(t, a)| self.names_a_class(t, a) && self.weight(t, a) > 0.0)
            .map(|(t, a)| {
                let class = Class::new(blocks, (t, a), self.pairing, population(t, a), self.weight(t, a));
                // The rate is the expected number of units per level.
                let (rate, population) = (class.expected, class.population);
                (class, Entries { start: starts[stratum(t, a)], rate, population })
            })
            .unzip();
        let all: f64 = entries.iter().map(|class| class.population).sum();
        let units = (rows / stride).max(first.coalitions.len() / stride);
        let is_complete = units as f64 >= all;
        let units = if is_complete { all as usize } else { units };
        check_rows(n_1 + n_2, units.saturating_mul(stride))?;

        let mut class_of = vec![usize::MAX; (n_1 + 1) * (n_2 + 1)];
        for (index, class) in classes.iter().enumerate() {
            let [t, a] = class.sizes;
            class_of[stratum(t, a)] = index;
            if self.pairing == Pairing::Paired {
                class_of[stratum(n_1 - t, n_2 - a)] = index;
            }
        }
        let mut counts = vec![0; classes.len()];
        for row in first.coalitions.iter().step_by(stride) {
            let t = row.members().take_while(|&player| player < n_1).count();
            counts[class_of[stratum(t, row.size() - t)]] += 1;
        }
        let of_first = counts.clone();
        next_entries(&entries, &mut counts, units - of_first.iter().sum::<usize>());

        let mut coalitions = Coalitions::with_capacity(n_1 + n_2, units * stride);
        coalitions.extend(&first.coalitions);
        let met: HashSet<&[u64]> = first.coalitions.iter().map(|row| row.words()).collect();
        for (class, (&count, &of_first)) in classes.iter().zip(counts.iter().zip(&of_first)) {
            let unit = stratum(class.sizes[0], class.sizes[1]) as u64;
            let mut order = Coalitions::new(n_1 + n_2);
            if count > of_first {
                draw_in_order(class, count, &mut stream(seed, Purpose::Growth, unit), &mut order);
            }
            order
                .iter()
                .step_by(stride)
                .filter(|row| !met.contains(row.words()))
                .take(count - of_first)
                .for_each(|row| self.pairing.push(row.words(), &mut coalitions));
        }

        let probabilities = probabilities(&entries, first.draws, units);
        let mut expected = vec![0.0; class_of.len()];
        for (class, (&count, (&probability, entries))) in
            classes.iter().zip(counts.iter().zip(probabilities.iter().zip(&entries)))
        {
            let of_class = if is_complete {
                entries.population
            } else {
                // If no unit of the class was drawn, nothing is estimated from it.
                probability * count.max(1) as f64
            };
            let rows = if class.is_middle() { 2.0 } else { 1.0 } * of_class;
            let [t, a] = class.sizes;
            expected[stratum(t, a)] = rows;
            if self.pairing == Pairing::Paired {
                expected[stratum(n_1 - t, n_2 - a)] = rows;
            }
        }
        let populations = strata().map(|(t, a)| population(t, a)).collect();
        Ok(TwoBlockSample { coalitions, pairing: self.pairing, blocks, expected, populations, is_complete })
    }
}

/// Returns for each class the probability that a sample of `units` units contains at least one of its units.
/// The sample begins with the distinct units of `draws` draws with probabilities proportional to the rates.
fn probabilities(classes: &[Entries], draws: usize, units: usize) -> Vec<f64> {
    let rates: Vec<f64> = classes.iter().map(|class| class.rate).collect();
    let populations: Vec<f64> = classes.iter().map(|class| class.population).collect();
    if draws == 0 {
        let expected = water_fill(&rates, &populations, units as f64);
        return expected.into_iter().map(|expected| expected.min(1.0)).collect();
    }
    let draws_of: Vec<f64> = {
        let all: f64 = rates.iter().sum();
        rates.iter().map(|rate| draws as f64 * rate / all).collect()
    };
    let expected_at = |level: f64, class: usize| {
        let (draws, population) = (draws_of[class], populations[class]);
        let distinct =
            if population.is_finite() { -population * (-draws / population).exp_m1() } else { draws };
        let by_level = level * rates[class];
        (distinct + (-draws).exp() * by_level.min(1.0)).max(by_level).min(population)
    };
    let expected = |level: f64| (0..classes.len()).map(|class| expected_at(level, class)).sum::<f64>();
    // Find the level at which the expected number of units is `units`.
    let (mut below, mut above) = (0.0, units as f64 / rates.iter().sum::<f64>());
    for _ in 0..DOUBLINGS {
        if expected(above) >= units as f64 {
            break;
        }
        (below, above) = (above, 2.0 * above);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (below + above);
        if expected(middle) < units as f64 { below = middle } else { above = middle }
    }
    let probability = |class: usize| 1.0 - (-draws_of[class]).exp() * (1.0 - (above * rates[class]).min(1.0));
    (0..classes.len()).map(probability).collect()
}

/// Number of doublings: enough to reach the level that exhausts the class with the smallest rate, starting
/// from the mean level.
const DOUBLINGS: usize = 200;
/// Number of halvings: enough to determine the level to about 10 digits.
const HALVINGS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::sample::Order;
    use crate::designs::two_blocks::tests::{self, all};
    use crate::size::size_distribution::SizeDistribution;
    use std::collections::{BTreeMap, BTreeSet};

    fn sampler(blocks: [usize; 2], pairing: Pairing) -> TwoBlocks {
        TwoBlocks { order: Order::Nested, ..tests::sampler(blocks, pairing) }
    }

    /// Returns the distinct units among `draws` independent draws.
    fn first(sampler: &TwoBlocks, draws: usize, seed: u64) -> FirstUnits {
        let design = TwoBlocks { order: Order::Fixed, ..sampler.clone() };
        let mut units = FirstUnits {
            draws,
            ..FirstUnits::none(design.distributions.iter().map(SizeDistribution::players).sum())
        };
        let mut met: BTreeSet<Vec<u64>> = BTreeSet::new();
        for draw in 0..draws {
            let unit =
                design.sample(design.pairing.rows_per_unit(), (seed << 20) + draw as u64).unwrap().coalitions;
            if unit.iter().all(|row| met.insert(row.words().to_vec())) {
                units.coalitions.extend(&unit);
            }
        }
        units
    }

    fn rows(sample: &TwoBlockSample) -> BTreeSet<&[u64]> {
        sample.coalitions().iter().map(|row| row.words()).collect()
    }

    #[test]
    fn samples_grow_to_all_there_is_by_as_many_rows_as_are_wanted() {
        for blocks in [[2, 1], [2, 2], [3, 1], [3, 4], [4, 4], [5, 3], [70, 2], [3, 66], [64, 70]] {
            for pairing in [Pairing::Unpaired, Pairing::Paired] {
                let sampler = sampler(blocks, pairing);
                let most = if blocks[0] + blocks[1] < 12 { all(blocks) } else { 600 };
                for draws in [0, 1, most / 8] {
                    let first = first(&sampler, draws, 3);
                    let largest = sampler.sample_after(&first, most, 5).unwrap();
                    let mut later = rows(&largest);
                    assert_eq!(later.len(), most, "{blocks:?}");
                    assert_eq!(largest.is_complete(), most == all(blocks.map(|block| block.min(20))));
                    for wanted in (0..most).rev().step_by(1 + most / 40) {
                        let sample = sampler.sample_after(&first, wanted, 5).unwrap();
                        let wanted = wanted.max(first.coalitions.len());
                        let of_units = wanted - wanted % pairing.rows_per_unit();
                        assert_eq!(sample.coalitions().len(), of_units);
                        let asked: BTreeSet<Vec<u64>> =
                            rows(&sample).into_iter().map(<[u64]>::to_vec).collect();
                        assert_eq!(asked.len(), of_units);
                        assert!(asked.iter().all(|row| later.contains(&row[..])), "{blocks:?}, {wanted}");
                        assert!(first.coalitions.iter().all(|row| asked.contains(row.words())));
                        for row in 0..of_units {
                            let [t, a] = sample.sizes(row);
                            let ln_inclusion = sample.ln_inclusion(t, a);
                            assert!(ln_inclusion <= 0.0 && ln_inclusion.is_finite());
                            if pairing == Pairing::Paired {
                                let other = sample.coalitions().row(row ^ 1);
                                assert_eq!(sample.coalitions().row(row).complement().view(), other);
                            }
                        }
                        later.retain(|row| asked.contains(*row));
                    }
                }
            }
        }
    }

    #[test]
    fn other_laws_draw_the_same_of_what_both_can_draw() {
        // The two distributions include and exclude the empty and the full subset of the first block; their
        // other weights are equal.
        let wide = SizeDistribution::custom(&[0.5, 2.0, 3.0, 3.0, 2.0, 0.5]).unwrap();
        let narrow = SizeDistribution::custom(&[0.0, 2.0, 3.0, 3.0, 2.0, 0.0]).unwrap();
        let others = SizeDistribution::custom(&[1.0, 2.0, 1.0]).unwrap();
        for pairing in [Pairing::Unpaired, Pairing::Paired] {
            for seed in 0..20 {
                let distributions = |distribution: &SizeDistribution| [distribution.clone(), others.clone()];
                let sampler = |distribution: &SizeDistribution| TwoBlocks {
                    distributions: distributions(distribution),
                    pairing,
                    order: Order::Nested,
                };
                let before = sampler(&wide).sample(60, seed).unwrap();
                let proper: BTreeSet<&[u64]> = (0..before.coalitions().len())
                    .filter(|&row| (1..5).contains(&before.sizes(row)[0]))
                    .map(|row| before.coalitions().row(row).words())
                    .collect();
                assert!(proper.len() < 60);
                let after = sampler(&narrow).sample(proper.len(), seed).unwrap();
                assert_eq!(rows(&after), proper);
            }
        }
    }

    #[test]
    fn every_coalition_counts_once_on_average() {
        // For each of 24 to 240 coalitions, inclusion divided by its probability has the mean 1 over many
        // seeds. This holds exactly if there are no first units, otherwise up to the approximations described
        // in the module documentation.
        const SEEDS: u64 = 3000;
        for blocks in [[3, 2], [4, 2], [5, 3]] {
            for pairing in [Pairing::Unpaired, Pairing::Paired] {
                for (draws, rows) in [(0, 12), (0, 20), (6, 14), (9, 20)] {
                    let sampler = sampler(blocks, pairing);
                    let mut times: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
                    for seed in 0..SEEDS {
                        let sample = sampler.sample_after(&first(&sampler, draws, seed), rows, seed).unwrap();
                        for (row, &mask) in sample.coalitions().words().iter().enumerate() {
                            let [t, a] = sample.sizes(row);
                            let weight = (-sample.ln_inclusion(t, a)).exp();
                            let (sum, squares) = times.entry(mask).or_default();
                            *sum += weight;
                            *squares += weight * weight;
                        }
                    }
                    assert_eq!(times.len(), all(blocks), "{blocks:?}");
                    let about = if draws > 0 { 0.12 } else { 0.0 };
                    for (mask, (sum, squares)) in times {
                        let mean = sum / SEEDS as f64;
                        let error = ((squares / SEEDS as f64 - mean * mean) / SEEDS as f64).sqrt();
                        let bound = 5.5 * error + 1e-9 + about;
                        assert!((mean - 1.0).abs() <= bound, "{blocks:?}, {draws}, {rows}, {mask:b}: {mean}");
                    }
                }
            }
        }
    }

    #[test]
    fn probabilities_are_those_of_the_level_at_which_as_many_units_are_expected_as_there_are() {
        let classes = [(2.0, 4.0), (1.0, f64::INFINITY), (0.5, 30.0), (0.05, 6.0)]
            .map(|(rate, population)| Entries { start: 0.5, rate, population });
        let all: f64 = classes.iter().map(|class| class.rate).sum();
        // The draws cannot have more distinct units than exist.
        for (units, draws) in [(3, 0), (5, 0), (25, 0), (5, 1), (5, 3), (15, 3), (15, 12), (25, 12)] {
            let found = probabilities(&classes, draws, units);
            let draws_of = |class: &Entries| draws as f64 * class.rate / all;
            // For the class with the smallest rate, c g is below one, so P = 1 − q (1 − c g).
            let [.., least] = &classes;
            let level = (1.0 - (1.0 - found[3]) / (-draws_of(least)).exp()) / least.rate;
            assert!(level > 0.0 && level * least.rate < 1.0, "{units} units, {draws} draws: {level}");
            let mut expected = 0.0;
            for (class, probability) in classes.iter().zip(&found) {
                let (draws, by_level) = (draws_of(class), level * class.rate);
                let wanted = 1.0 - (-draws).exp() * (1.0 - by_level.min(1.0));
                assert!((probability - wanted).abs() < 1e-9, "{units}, {draws}: {found:?}");
                // This is the expected number of distinct units among the draws, plus one from the level if
                // the draws contain none.
                let distinct = if class.population.is_finite() {
                    class.population * (1.0 - (-draws / class.population).exp())
                } else {
                    draws
                };
                let of_class = distinct + (-draws).exp() * by_level.min(1.0);
                expected += of_class.max(by_level).min(class.population);
            }
            assert!((expected - units as f64).abs() < 1e-8, "{units} units, {draws} draws: {expected}");
        }
    }
}
