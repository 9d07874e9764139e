//! Tests the empirical distribution of every sampler against the enumerated one.
//!
//! The reference is the definition over all 2^n coalitions: `c` is found by bisection, and inclusion
//! probabilities are computed per coalition.

use std::collections::BTreeMap;

use apportion_games::Coalitions;
use apportion_samplers::{
    Bernoulli, FixedCounts, Order, Pairing, Sample, Sampler, SizeDistribution, WithReplacement,
};

const RUNS: u64 = 6000;
const PAIRINGS: [Pairing; 2] = [Pairing::Unpaired, Pairing::Paired];

fn distributions(players: usize) -> Vec<SizeDistribution> {
    let lopsided: Vec<f64> = (0..=players).map(|size| [1.0, 3.0, 0.0, 2.0][size % 4]).collect();
    [
        SizeDistribution::leverage(players),
        SizeDistribution::kernel(players),
        SizeDistribution::binomial(players),
        SizeDistribution::custom(&lopsided),
    ]
    .map(Result::unwrap)
    .into()
}

/// Returns the probability that one draw from `distribution` is `mask`; for pairs, the mean of the
/// probabilities of `mask` and of its complement.
fn draw_probability(distribution: &SizeDistribution, pairing: Pairing, mask: u64) -> f64 {
    let size = mask.count_ones() as usize;
    let one = |size| {
        if distribution.probability(size) > 0.0 {
            distribution.ln_coalition_probability(size).exp()
        } else {
            0.0
        }
    };
    match pairing {
        Pairing::Unpaired => one(size),
        Pairing::Paired => 0.5 * (one(size) + one(distribution.players() - size)),
    }
}

/// Returns `min(1, c p_z)` for all masks. The constant `c` is found by bisection, such that the probabilities
/// sum to `rows` (or all are 1).
fn inclusion_probabilities(distribution: &SizeDistribution, pairing: Pairing, rows: f64) -> Vec<f64> {
    let draw: Vec<f64> =
        (0..1 << distribution.players()).map(|mask| draw_probability(distribution, pairing, mask)).collect();
    let at = |c: f64| draw.iter().map(|probability| (c * probability).min(1.0)).collect::<Vec<f64>>();
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if at(middle).iter().sum::<f64>() < rows { low = middle } else { high = middle }
    }
    at(high)
}

fn masks(rows: &Coalitions) -> impl Iterator<Item = u64> {
    rows.words().iter().copied()
}

/// Returns, for each mask, whether it is in the sample.
fn flags(sample: &Sample) -> Vec<bool> {
    let mut flags = vec![false; 1 << sample.coalitions().players()];
    for mask in masks(sample.coalitions()) {
        assert!(!flags[mask as usize], "{mask:b} came twice");
        flags[mask as usize] = true;
    }
    flags
}

/// Checks that strata and inclusion probabilities match the enumerated distribution.
fn strata_agree(sample: &Sample, distribution: &SizeDistribution, probabilities: &[f64]) {
    for (size, stratum) in sample.strata().iter().enumerate() {
        let of_size = || (0..probabilities.len()).filter(|mask| mask.count_ones() as usize == size);
        let expected: f64 = of_size().map(|mask| probabilities[mask]).sum();
        assert!((stratum.expected - expected).abs() < 1e-9, "size {size}: {} {expected}", stratum.expected);
        let one = probabilities[of_size().next().unwrap()];
        assert!((stratum.inclusion_probability() - one).abs() < 1e-9, "size {size}");
        assert_eq!(stratum.is_exhausted(), one > 1.0 - 1e-9 && distribution.players() > 0, "size {size}");
        assert!((stratum.ln_population - (of_size().count() as f64).ln()).abs() < 1e-14);
    }
}

#[test]
fn bernoulli_units_enter_with_their_probability_and_independently() {
    for order in [Order::Fixed, Order::Nested] {
        enters_independently(|distribution, pairing| Box::new(Bernoulli { distribution, pairing, order }));
    }
}

#[test]
fn sums_over_all_coalitions_are_estimated_without_bias_while_a_sample_grows() {
    // Estimate the sum of an arbitrary function over all coalitions from the inclusion probabilities of
    // samples.
    let value = |mask: u64| ((mask * 37 + 11) % 23) as f64 + f64::from(mask.count_ones());
    for (players, budgets) in [(5, [8, 11, 24]), (6, [14, 20, 45]), (7, [14, 39, 90])] {
        for distribution in distributions(players) {
            let is_drawn = |pairing: Pairing, mask: u64| draw_probability(&distribution, pairing, mask) > 0.0;
            for pairing in PAIRINGS {
                let sampler =
                    FixedCounts { distribution: distribution.clone(), pairing, order: Order::Nested };
                let truth: f64 = (0..1 << players).filter(|&mask| is_drawn(pairing, mask)).map(value).sum();
                for evaluations in budgets {
                    let estimate = |seed: u64| -> f64 {
                        let sample = sampler.sample(evaluations, seed).unwrap();
                        let inclusion =
                            |mask: u64| sample.strata()[mask.count_ones() as usize].inclusion_probability();
                        masks(sample.coalitions()).map(|mask| value(mask) / inclusion(mask)).sum()
                    };
                    let estimates: Vec<f64> = (0..RUNS).map(estimate).collect();
                    let mean = estimates.iter().sum::<f64>() / RUNS as f64;
                    let spread = estimates.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / RUNS as f64;
                    // The mean is exact if every size must be included. Otherwise, the level that is reached
                    // depends slightly on the starts, so the bound allows a bias of 1%.
                    let bound = 5.0 * (spread / RUNS as f64).sqrt() + 0.01 * truth;
                    assert!(
                        (mean - truth).abs() <= bound,
                        "n = {players}, m = {evaluations}, {pairing:?}: {mean}, {truth}"
                    );
                }
            }
        }
    }
}

fn enters_independently(sampler: impl Fn(SizeDistribution, Pairing) -> Box<dyn Sampler>) {
    for (players, evaluations) in [(2, 1), (4, 5), (5, 11), (6, 20)] {
        for distribution in distributions(players) {
            for pairing in PAIRINGS {
                let sampler = sampler(distribution.clone(), pairing);
                let probabilities = inclusion_probabilities(&distribution, pairing, evaluations as f64);
                let all = (1u64 << players) - 1;
                // A unit is a mask; for pairs, it is the smaller of the mask and its complement.
                let units: Vec<u64> =
                    (0..=all).filter(|mask| pairing == Pairing::Unpaired || *mask < all - mask).collect();
                let mut together = vec![vec![0usize; units.len()]; units.len()];
                for seed in 0..RUNS {
                    let sample = sampler.sample(evaluations, seed).unwrap();
                    let flags = flags(&sample);
                    if seed == 0 {
                        strata_agree(&sample, &distribution, &probabilities);
                    }
                    if pairing == Pairing::Paired {
                        assert!((0..=all).all(|mask| flags[mask as usize] == flags[(all - mask) as usize]));
                    }
                    for (first, counts) in units.iter().zip(&mut together) {
                        if flags[*first as usize] {
                            units
                                .iter()
                                .zip(counts)
                                .for_each(|(second, count)| *count += usize::from(flags[*second as usize]));
                        }
                    }
                }
                // Units are included independently, so the probability that a sample contains two of them is
                // the product of their inclusion probabilities. For a unit with itself, it is the inclusion
                // probability. The bound is six standard errors, because each of 32 cases has up to 64²
                // comparisons.
                for (first, counts) in together.iter().enumerate() {
                    for (second, &count) in counts.iter().enumerate() {
                        let (p, q) =
                            (probabilities[units[first] as usize], probabilities[units[second] as usize]);
                        let both = if first == second { p } else { p * q };
                        let bound = 6.0 * (RUNS as f64 * both * (1.0 - both)).sqrt() + 1e-6;
                        let difference = count as f64 - RUNS as f64 * both;
                        assert!(
                            difference.abs() <= bound,
                            "n = {players}, {pairing:?}: {first}, {second}: {difference} {bound}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn fixed_counts_use_every_evaluation_and_keep_the_inclusion_probabilities() {
    for (players, evaluations) in [(2, 1), (4, 5), (5, 11), (6, 20), (7, 60)] {
        for distribution in distributions(players) {
            for pairing in PAIRINGS {
                let sampler =
                    FixedCounts { distribution: distribution.clone(), pairing, order: Order::Fixed };
                let wanted = if pairing == Pairing::Paired { evaluations / 2 * 2 } else { evaluations };
                let probabilities = inclusion_probabilities(&distribution, pairing, wanted as f64);
                let total = probabilities.iter().sum::<f64>().round() as usize;
                let mut counts = vec![0usize; probabilities.len()];
                for seed in 0..RUNS {
                    let sample = sampler.sample(evaluations, seed).unwrap();
                    assert_eq!(sample.coalitions().len(), total, "n = {players}, {pairing:?}");
                    if seed == 0 {
                        strata_agree(&sample, &distribution, &probabilities);
                    }
                    for stratum in sample.strata() {
                        let step = if pairing == Pairing::Paired { 2.0 } else { 1.0 };
                        assert!((stratum.drawn as f64 - stratum.expected).abs() < step + 1e-9);
                    }
                    flags(&sample)
                        .iter()
                        .zip(&mut counts)
                        .for_each(|(&flag, count)| *count += usize::from(flag));
                }
                for (mask, (&count, probability)) in counts.iter().zip(&probabilities).enumerate() {
                    // The bound is five standard errors.
                    let bound = 5.0 * (RUNS as f64 * probability * (1.0 - probability)).sqrt() + 1e-6;
                    let difference = count as f64 - RUNS as f64 * probability;
                    assert!(
                        difference.abs() <= bound,
                        "n = {players}, {pairing:?}, {mask:b}: {difference} {bound}"
                    );
                }
            }
        }
    }
}

#[test]
fn draws_with_replacement_follow_the_law_and_their_neighbours_do_not_matter() {
    const DRAWS: usize = 40_000;
    for players in [1, 2, 4, 5] {
        for distribution in distributions(players) {
            for pairing in PAIRINGS {
                let rows = if pairing == Pairing::Paired { 2 * DRAWS } else { DRAWS };
                let sample =
                    WithReplacement { distribution: distribution.clone(), pairing }.sample(rows, 12).unwrap();
                let has_sizes = (0..=players).any(|size| distribution.probability(size) > 0.0);
                assert_eq!(sample.coalitions().len(), if has_sizes { rows } else { 0 });
                // A draw is a row, or the first row of a pair.
                let drawn: Vec<u64> = masks(sample.coalitions()).step_by(rows / DRAWS).collect();
                let (mut ones, mut twos) = (BTreeMap::new(), BTreeMap::new());
                drawn.iter().for_each(|&mask| *ones.entry(mask).or_insert(0usize) += 1);
                drawn.windows(2).for_each(|both| *twos.entry((both[0], both[1])).or_insert(0usize) += 1);
                let all = 0..1u64 << players;
                let probability = |mask: u64| draw_probability(&distribution, Pairing::Unpaired, mask);
                let check = |count: Option<&usize>, probability: f64| {
                    // The bound is six standard errors, plus one count for the rarest coalitions.
                    let expected = drawn.len() as f64 * probability;
                    let difference = count.map_or(0.0, |&count| count as f64) - expected;
                    assert!(
                        difference.abs() <= 6.0 * expected.sqrt() + 1.0,
                        "n = {players}: {difference}, {expected}"
                    );
                };
                for first in all.clone() {
                    check(ones.get(&first), probability(first));
                    all.clone().for_each(|second| {
                        check(twos.get(&(first, second)), probability(first) * probability(second))
                    });
                }
                for (size, stratum) in sample.strata().iter().enumerate() {
                    let one = (1u64 << size) - 1;
                    let expected = if has_sizes {
                        rows as f64 * draw_probability(&distribution, pairing, one)
                    } else {
                        0.0
                    };
                    assert!(
                        (stratum.inclusion_probability() - expected).abs() <= 1e-12 * expected,
                        "size {size}"
                    );
                    assert!(!stratum.is_exhausted());
                    assert_eq!(
                        stratum.drawn,
                        sample.coalitions().sizes().iter().filter(|&&s| s as usize == size).count()
                    );
                }
            }
        }
    }
}

#[test]
fn the_number_of_bernoulli_pairs_of_large_classes_has_the_mean_and_variance_of_its_law() {
    // There are 101 players and 600 rows: on average 6 pairs of each size, from C(101, s) pairs. These
    // numbers need up to 98 bits, so the counts are distributed like Poisson(6), except for sizes 1 and 2.
    let sampler = Bernoulli {
        distribution: SizeDistribution::leverage(101).unwrap(),
        pairing: Pairing::Paired,
        order: Order::Fixed,
    };
    let (mut sum, mut squares, mut draws) = (0.0, 0.0, 0.0);
    for seed in 0..400 {
        let sample = sampler.sample(600, seed).unwrap();
        assert_eq!(
            sample.coalitions().len(),
            sample.strata().iter().map(|stratum| stratum.drawn).sum::<usize>()
        );
        for stratum in &sample.strata()[3..=50] {
            let difference = stratum.drawn as f64 - 6.0;
            (sum, squares, draws) = (sum + difference, squares + difference * difference, draws + 1.0);
        }
    }
    // There are 19,200 counts of variance 6. The standard error of their mean is 0.0177, and the standard
    // error of their variance is sqrt((6 + 2·36)/19,200) = 0.064. The bounds are five standard errors each.
    assert!((sum / draws).abs() < 0.09, "{}", sum / draws);
    assert!((squares / draws - 6.0).abs() < 0.32, "{}", squares / draws);
}
