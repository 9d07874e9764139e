//! Tests properties of all samples of all samplers, for any number of players and any budget.

use std::collections::{BTreeMap, BTreeSet};

use apportion_samplers::{
    Bernoulli, FixedCounts, Order, Pairing, Sample, Sampler, SamplerError, SizeDistribution, WithReplacement,
    choose, max_rows,
};
use proptest::prelude::*;

const PAIRINGS: [Pairing; 2] = [Pairing::Unpaired, Pairing::Paired];

#[test]
fn shapley_weights_are_the_kernel_over_the_probability_of_inclusion() {
    for players in [2, 3, 8, 9, 70, 130] {
        let distribution = SizeDistribution::leverage(players).unwrap();
        for pairing in PAIRINGS {
            for sampler in all_samplers(&distribution, pairing) {
                let sample = sampler.sample(10 * players, 5).unwrap().merge_duplicates();
                let weights = sample.shapley_weights();
                let step = sample.coalitions().len() / weights.len();
                assert_eq!(step, if pairing == Pairing::Paired { 2 } else { 1 });
                for (unit, weight) in weights.iter().enumerate() {
                    let size = sample.coalitions().sizes()[unit * step] as usize;
                    let stratum = sample.strata()[size];
                    let kernel = -stratum.ln_population - ((size * (players - size)) as f64).ln();
                    let times = f64::from(sample.multiplicities().unwrap()[unit * step]);
                    let expected = times * (kernel - stratum.ln_inclusion()).exp();
                    assert!((weight / expected - 1.0).abs() < 1e-12, "{players} players, size {size}");
                }
            }
        }
    }
}

fn without_replacement(distribution: &SizeDistribution, pairing: Pairing) -> [Box<dyn Sampler>; 4] {
    let [bernoulli, fixed] = in_order(distribution, pairing, Order::Fixed);
    let [growing_bernoulli, growing] = in_order(distribution, pairing, Order::Nested);
    [bernoulli, fixed, growing, growing_bernoulli]
}

fn in_order(distribution: &SizeDistribution, pairing: Pairing, order: Order) -> [Box<dyn Sampler>; 2] {
    [
        Box::new(Bernoulli { distribution: distribution.clone(), pairing, order }),
        Box::new(FixedCounts { distribution: distribution.clone(), pairing, order }),
    ]
}

/// Returns all samplers; the last one draws with replacement.
fn all_samplers(distribution: &SizeDistribution, pairing: Pairing) -> Vec<Box<dyn Sampler>> {
    let mut samplers: Vec<_> = without_replacement(distribution, pairing).into();
    samplers.push(Box::new(WithReplacement { distribution: distribution.clone(), pairing }));
    samplers
}

fn distinct(sample: &Sample) -> usize {
    sample.coalitions().iter().map(|row| row.words()).collect::<BTreeSet<_>>().len()
}

/// Returns whether the rows of each pair are complements, and the strata have the correct counts of rows.
fn is_consistent(sample: &Sample) -> bool {
    let rows = sample.coalitions();
    let pairs_match = sample.pairing() == Pairing::Unpaired
        || rows.len().is_multiple_of(2)
            && (0..rows.len()).step_by(2).all(|row| rows.row(row).complement().view() == rows.row(row + 1));
    let mut counts = vec![0; rows.players() + 1];
    rows.sizes().iter().for_each(|&size| counts[size as usize] += 1);
    pairs_match && sample.strata().iter().map(|stratum| stratum.drawn).eq(counts)
}

fn distribution(kind: usize, players: usize) -> SizeDistribution {
    match kind {
        0 => SizeDistribution::leverage(players),
        1 => SizeDistribution::kernel(players),
        2 => SizeDistribution::binomial(players),
        _ => SizeDistribution::custom(&(0..=players).map(|size| (size % 3) as f64 + 0.5).collect::<Vec<_>>()),
    }
    .unwrap()
}

fn players() -> impl Strategy<Value = usize> {
    prop_oneof![1usize..=12, 63usize..=65, 127usize..=130, Just(1000)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_comes_twice_without_replacement(
        players in players(), evaluations in 0usize..3000, kind in 0usize..4, paired: bool, seed: u64,
    ) {
        let distribution = distribution(kind, players);
        for sampler in without_replacement(&distribution, PAIRINGS[usize::from(paired)]) {
            let sample = sampler.sample(evaluations, seed).unwrap();
            prop_assert!(is_consistent(&sample));
            prop_assert_eq!(distinct(&sample), sample.coalitions().len());
            for (size, stratum) in sample.strata().iter().enumerate() {
                if stratum.is_exhausted() {
                    prop_assert_eq!(Some(stratum.drawn as u128), choose(players, size));
                    prop_assert_eq!(stratum.expected, stratum.drawn as f64);
                    prop_assert_eq!(stratum.inclusion_probability(), 1.0);
                }
                if stratum.expected == 0.0 {
                    prop_assert_eq!(stratum.drawn, 0);
                }
            }
        }
    }

    #[test]
    fn draws_with_replacement_continue_those_of_a_smaller_budget(
        players in players(), few in 0usize..200, more in 0usize..200, kind in 0usize..4, paired: bool,
        seed: u64,
    ) {
        let pairing = PAIRINGS[usize::from(paired)];
        let sampler = WithReplacement { distribution: distribution(kind, players), pairing };
        let (small, large) = (sampler.sample(few, seed).unwrap(), sampler.sample(few + more, seed).unwrap());
        prop_assert!(is_consistent(&small) && is_consistent(&large));
        prop_assert!(small.coalitions().len() <= few);
        prop_assert_eq!(&large.coalitions().slice(0..small.coalitions().len()), small.coalitions());
    }

    #[test]
    fn growing_samples_hold_those_of_smaller_budgets(
        players in players(), few in 0usize..1500, more in 0usize..1500, kind in 0usize..4, paired: bool,
        seed: u64,
    ) {
        for sampler in in_order(&distribution(kind, players), PAIRINGS[usize::from(paired)], Order::Nested) {
            let small = sampler.sample(few, seed).unwrap();
            let large = sampler.sample(few + more, seed).unwrap();
            let large: BTreeSet<_> = large.coalitions().iter().map(|row| row.words()).collect();
            prop_assert!(small.coalitions().iter().all(|row| large.contains(row.words())));
        }
    }

    #[test]
    fn merging_counts_what_it_merges(
        players in 1usize..9, evaluations in 0usize..400, kind in 0usize..4, paired: bool, seed: u64,
    ) {
        let pairing = PAIRINGS[usize::from(paired)];
        let sampler = WithReplacement { distribution: distribution(kind, players), pairing };
        let sample = sampler.sample(evaluations, seed).unwrap();
        let strata = sample.strata().to_vec();
        // The reference contains the units in the order of their first occurrence, with their counts. A unit
        // is a mask, or the set of both masks of a pair.
        let words = sample.coalitions().words();
        let stride = if paired { 2 } else { 1 };
        let mut order: Vec<Vec<u64>> = Vec::new();
        let mut counts: BTreeMap<BTreeSet<u64>, u32> = BTreeMap::new();
        for unit in words.chunks(stride) {
            let count = counts.entry(unit.iter().copied().collect()).or_default();
            *count += 1;
            if *count == 1 {
                order.push(unit.to_vec());
            }
        }
        let times: Vec<u32> = order
            .iter()
            .flat_map(|unit| {
                std::iter::repeat_n(counts[&unit.iter().copied().collect::<BTreeSet<_>>()], stride)
            })
            .collect();
        prop_assert!(sample.multiplicities().is_none());
        let merged = sample.merge_duplicates();
        prop_assert_eq!(merged.coalitions().words(), order.concat());
        prop_assert_eq!(merged.multiplicities(), Some(&times[..]));
        prop_assert_eq!(merged.strata(), &strata[..]);
        // Merging again must not change anything.
        prop_assert_eq!(merged.clone().merge_duplicates(), merged);
    }
}

#[test]
fn every_coalition_comes_exactly_once_when_the_budget_suffices() {
    for players in 1..=12 {
        for pairing in PAIRINGS {
            for (distribution, all) in [
                (SizeDistribution::leverage(players).unwrap(), (1usize << players) - 2),
                (SizeDistribution::kernel(players).unwrap(), (1 << players) - 2),
                (SizeDistribution::binomial(players).unwrap(), 1 << players),
            ] {
                for sampler in without_replacement(&distribution, pairing) {
                    for evaluations in [all, all + 1, 2 * all, usize::MAX] {
                        let sample = sampler.sample(evaluations, 3).unwrap();
                        assert!(is_consistent(&sample));
                        assert_eq!(
                            (sample.coalitions().len(), distinct(&sample)),
                            (all, all),
                            "n = {players}"
                        );
                        for (size, stratum) in sample.strata().iter().enumerate() {
                            if distribution.probability(size) > 0.0 {
                                assert!(stratum.is_exhausted());
                                assert_eq!(stratum.drawn as u128, choose(players, size).unwrap());
                                assert_eq!(stratum.expected, stratum.drawn as f64);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_budget_of_nothing_gives_an_empty_sample() {
    let distribution = SizeDistribution::leverage(9).unwrap();
    for pairing in PAIRINGS {
        for sampler in all_samplers(&distribution, pairing) {
            assert!(sampler.sample(0, 1).unwrap().coalitions().is_empty());
        }
    }
}

#[test]
fn fixed_counts_spend_the_budget_at_any_number_of_players() {
    for players in [14, 33, 63, 64, 65, 127, 128, 129, 130, 1000, 1001] {
        for kind in 0..4 {
            for evaluations in [2, 3, players, 5 * players + 1, 10_000] {
                for (pairing, expected) in
                    [(Pairing::Paired, evaluations / 2 * 2), (Pairing::Unpaired, evaluations)]
                {
                    let distribution = distribution(kind, players);
                    let rows =
                        |sampler: &dyn Sampler| sampler.sample(evaluations, 4).unwrap().coalitions().len();
                    for order in [Order::Fixed, Order::Nested] {
                        assert_eq!(
                            rows(&FixedCounts { distribution: distribution.clone(), pairing, order }),
                            expected
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn one_size_does_not_change_what_another_draws() {
    // The sample contains ten coalitions of size 3, and others of size 2 or size 5.
    let rows_of_size_3 = |other: usize| {
        let mut weights = [0.0; 21];
        (weights[3], weights[other]) = (1.0, 1.0);
        let distribution = SizeDistribution::custom(&weights).unwrap();
        let sampler = FixedCounts { distribution, pairing: Pairing::Unpaired, order: Order::Fixed };
        let sample = sampler.sample(20, 5).unwrap();
        sample
            .coalitions()
            .iter()
            .filter(|row| row.size() == 3)
            .map(|row| row.to_coalition())
            .collect::<Vec<_>>()
    };
    assert_eq!(rows_of_size_3(2).len(), 10);
    assert_eq!(rows_of_size_3(2), rows_of_size_3(5));
}

#[test]
fn nothing_overflows_with_ten_thousand_players() {
    for kind in 0..4 {
        let distribution = distribution(kind, 10_000);
        for pairing in PAIRINGS {
            for (index, sampler) in all_samplers(&distribution, pairing).iter().enumerate() {
                let is_growing = index == 2;
                let sample = sampler.sample(300, 6).unwrap();
                assert!(is_consistent(&sample));
                let total: f64 = sample.strata().iter().map(|stratum| stratum.expected).sum();
                // In a growing sample, the expected number is the number drawn, except for sizes that may be
                // omitted, so the total is only approximate.
                assert!((total / 300.0 - 1.0).abs() < if is_growing { 0.2 } else { 1e-12 }, "{total}");
                for (size, stratum) in sample.strata().iter().enumerate() {
                    assert!(stratum.ln_population.is_finite() && stratum.expected.is_finite());
                    assert!(!stratum.ln_inclusion().is_nan());
                    assert!(stratum.drawn == 0 || stratum.ln_inclusion().is_finite(), "size {size}");
                }
            }
        }
    }
}

#[test]
fn samples_too_large_to_number_are_refused_before_any_work() {
    let distribution = SizeDistribution::leverage(100).unwrap();
    for pairing in PAIRINGS {
        for sampler in all_samplers(&distribution, pairing) {
            for rows in [usize::MAX, max_rows(sampler.players()) + 2] {
                assert!(matches!(sampler.sample(rows, 1), Err(SamplerError::TooManyRows { .. })));
            }
        }
    }
}

#[test]
fn a_sample_is_of_the_players_and_the_pairing_of_its_sampler() {
    for pairing in PAIRINGS {
        for sampler in all_samplers(&distribution(1, 9), pairing) {
            let sample = sampler.sample(20, 3).unwrap();
            assert_eq!((sampler.players(), sample.coalitions().players()), (9, 9));
            assert_eq!((sample.pairing(), sample.strata().len()), (pairing, 10));
            assert_eq!(&sample.clone().into_coalitions(), sample.coalitions());
        }
    }
}
