//! Compares the learned spectrum with the regressions to which it falls back, and tests it on games that it
//! should solve well.

use crate::common::sign_game::{Output, SignGame};
use apportion_estimators::{
    Draws, Estimator, Explanation, FullBudget, KernelBanzhaf, LearnedSpectrum, LeverageShap,
    MaximumSampleReuse, StandardErrors, methods,
};
use apportion_games::{
    Additive, Airport, ClosedForm, Coalitions, Game, GameError, SumOfUnanimity, WeightedVoting,
};
use apportion_values::{InteractionIndex, Semivalue, enumerate, enumerate_interactions};

fn squared(got: &[f64], want: &[f64]) -> f64 {
    got.iter().zip(want).map(|(got, want)| (got - want).powi(2)).sum()
}

fn error(estimator: &dyn Estimator, game: &dyn Game, truth: &[f64], budget: usize, seeds: u64) -> f64 {
    let of = |seed| squared(&estimator.estimate(game, budget, seed).unwrap().values, truth);
    let mut errors: Vec<f64> = (0..seeds).map(of).collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

#[test]
fn few_strong_interactions_are_found_and_their_values_met() {
    // The game has coefficients for the players 0 and 4, for {0, 1, 2} and {11, 12, 13}, and for the pair {9,
    // 10}, which does not affect the values.
    let game = SignGame {
        players: 40,
        outputs: vec![|x| {
            x(0) - 0.5 * x(4) + 2.0 * x(0) * x(1) * x(2) + 3.0 * x(9) * x(10) + x(11) * x(12) * x(13)
        }],
    };
    let mut truth = vec![0.0; 40];
    truth[0] += 2.0;
    truth[4] -= 1.0;
    [0, 1, 2].iter().for_each(|&i| truth[i] += 4.0 / 3.0);
    [11, 12, 13].iter().for_each(|&i| truth[i] += 2.0 / 3.0);
    let spectrum = error(&LearnedSpectrum::default(), &game, &truth, 800, 3);
    let leverage = error(&LeverageShap::default(), &game, &truth, 800, 3);
    assert!(spectrum < 3e-2 * leverage, "{spectrum} {leverage}");
    let mut truth = vec![0.0; 40];
    (truth[0], truth[4]) = (2.0, -1.0);
    let spectrum = error(&LearnedSpectrum::banzhaf(), &game, &truth, 800, 3);
    let kernel = error(&KernelBanzhaf::without_replacement(), &game, &truth, 800, 3);
    assert!(spectrum < 3e-2 * kernel, "{spectrum} {kernel}");
}

#[test]
fn additive_games_are_met_exactly_and_so_is_the_regression_on_them() {
    for players in [2, 3, 5, 64, 65, 130] {
        let game = Additive::new((0..players).map(|player| player as f64 - 1.5).collect::<Vec<_>>()).unwrap();
        for estimator in [LearnedSpectrum::default(), LearnedSpectrum::banzhaf()] {
            let got = estimator.estimate(&game, 4 * players.max(4), 3).unwrap();
            let scale = players as f64;
            for (player, value) in got.values.iter().enumerate() {
                let want = player as f64 - 1.5;
                assert!((value - want).abs() < 1e-7 * scale, "{players} players: {value} {want}");
            }
        }
    }
}

#[test]
fn shapley_values_sum_to_what_there_is_at_every_budget() {
    for players in [2, 3, 4, 9, 12, 66] {
        let game = SumOfUnanimity::random(players, 40, 5.min(players), 2);
        for times in [1, 2, 3, 5, 10, 30] {
            let budget = (times * players).max(4).min(1 << players.min(20));
            let got = LearnedSpectrum::default().estimate(&game, budget, 1).unwrap();
            assert!(got.efficiency_gap() < 1e-8, "{players} players, {budget}: {}", got.efficiency_gap());
            assert!(got.evaluations <= budget);
        }
    }
}

#[test]
fn it_is_no_worse_than_the_regression_on_single_players() {
    let games: Vec<(Box<dyn Game>, Vec<f64>)> = vec![
        textbook(SumOfUnanimity::random(12, 40, 6, 3)),
        textbook(SumOfUnanimity::random(30, 90, 5, 4)),
        textbook(Airport::new((1..=14).map(f64::from).collect::<Vec<_>>()).unwrap()),
        textbook(WeightedVoting::new(20, vec![1, 2, 3, 4, 5, 6, 7, 3, 2, 5]).unwrap()),
    ];
    for (game, truth) in &games {
        let n = truth.len();
        for times in [2, 4, 10, 20] {
            let spectrum = error(&LearnedSpectrum::default(), &**game, truth, times * n, 5);
            let leverage = error(&LeverageShap::default(), &**game, truth, times * n, 5);
            assert!(spectrum <= 1.15 * leverage, "{n} players, {times}n: {spectrum} {leverage}");
        }
    }
}

fn textbook(game: impl ClosedForm + 'static) -> (Box<dyn Game>, Vec<f64>) {
    let truth = game.shapley();
    (Box::new(game), truth)
}

#[test]
fn outputs_are_fitted_each_for_itself() {
    let game = SignGame {
        players: 12,
        outputs: vec![
            |x| x(0) * x(1) * x(2) + x(3),
            |x| 4.0 + x(11) * x(10) * x(3),
            |x| (0..12).map(x).sum::<f64>().max(0.0),
            |x| 1e3 * x(5),
        ],
    };
    let got = LearnedSpectrum::default().estimate(&game, 240, 0).unwrap();
    let truth = enumerate(&game, Semivalue::Shapley).unwrap();
    for output in 0..4 {
        let want: Vec<f64> = truth.values.iter().skip(output).step_by(4).copied().collect();
        let norm = want.iter().map(|want| want * want).sum::<f64>().max(1e-12);
        let error = squared(&got.output(output), &want);
        assert!(error < 0.02 * norm, "output {output}: {error} of {norm}");
    }
    assert_eq!(got.diagnostics.error_distribution.unwrap().directions.len(), 4);
}

#[test]
fn intervals_hold_and_what_was_chosen_is_said() {
    let (mut held, mut all) = (0, 0);
    for seed in 0..20 {
        let game = SumOfUnanimity::random(10, 30, 5, seed);
        let got = LearnedSpectrum::default().estimate(&game, 100, seed).unwrap();
        assert!(got.diagnostics.chosen.as_ref().is_some_and(|chosen| !chosen.is_empty()));
        let intervals = got.intervals(0.95).unwrap();
        all += intervals.len();
        held += intervals
            .iter()
            .zip(game.shapley())
            .filter(|((low, high), want)| low <= want && want <= high)
            .count();
    }
    let share = held as f64 / all as f64;
    assert!(share > 0.88, "{share}");
}

#[test]
fn few_pairs_have_no_standard_errors_and_none_are_given_where_they_are_not_wanted() {
    let game = SumOfUnanimity::random(20, 50, 4, 1);
    let errors = |budget: usize, errors: StandardErrors| -> Option<Vec<f64>> {
        let estimator = LearnedSpectrum::default().with_standard_errors(errors);
        estimator.estimate(&game, budget, 0).unwrap().std_errors
    };
    assert!(errors(36, StandardErrors::Estimated).is_none());
    assert!(
        errors(100, StandardErrors::Estimated).is_some_and(|errors| errors.iter().all(|error| *error > 0.0))
    );
    assert!(errors(100, StandardErrors::Omitted).is_none());
}

#[test]
fn it_is_made_for_the_values_that_it_computes_alone() {
    let builds = |value: Semivalue| methods::LEARNED_SPECTRUM.build(&value.into()).is_some();
    assert!(builds(Semivalue::Shapley) && builds(Semivalue::Banzhaf));
    assert!(builds(Semivalue::beta_shapley(1.0, 1.0).unwrap()), "Shapley's value by another name");
    assert!(builds(Semivalue::beta_shapley(2.0, 2.0).unwrap()));
    assert!(builds(Semivalue::weighted_banzhaf(0.3).unwrap()));
    // Weights by size need not have a mixing measure.
    assert!(!builds(Semivalue::from_size_distribution(&[0.5, 0.5]).unwrap()));
}

/// Returns values that do not only depend on the odd part, and for each the method without a prior that has
/// the same sample.
fn other_values() -> Vec<(Semivalue, Box<dyn Estimator>)> {
    let banzhaf = |p: f64| -> (Semivalue, Box<dyn Estimator>) {
        let value = Semivalue::weighted_banzhaf(p).unwrap();
        (value.clone(), Box::new(KernelBanzhaf::without_replacement().with_value(value)))
    };
    let reuse = |value: Semivalue| -> (Semivalue, Box<dyn Estimator>) {
        (value.clone(), Box::new(MaximumSampleReuse::adjusted(value)))
    };
    vec![
        banzhaf(0.3),
        banzhaf(0.45),
        reuse(Semivalue::beta_shapley(4.0, 1.0).unwrap()),
        reuse(Semivalue::beta_shapley(1.0, 4.0).unwrap()),
        reuse(Semivalue::mixture(&[0.1, 0.8], &[0.5, 0.5]).unwrap()),
    ]
}

/// An exponential function of a sum of the signs, and a conjunction of nine players.
fn smooth_and_rare() -> SignGame {
    SignGame {
        players: 12,
        outputs: vec![|x| (0..12).map(|i| x(i) * (0.06 + 0.015 * i as f64)).sum::<f64>().exp(), |x| {
            if (0..9).all(|i| x(i) > 0.0) { 1.0 } else { 0.0 }
        }],
    }
}

#[test]
fn other_values_of_smooth_games_have_smaller_errors_and_intervals_that_cover() {
    let game = SumOfUnanimity::random(11, 33, 3, 1);
    for (value, plain) in other_values() {
        let truth = enumerate(&game, value.clone()).unwrap().values;
        let method = LearnedSpectrum::for_value(value.clone()).unwrap();
        let (ours, others) = (error(&method, &game, &truth, 220, 9), error(&*plain, &game, &truth, 220, 9));
        // For samples of pairs, the result is that of the plain method.
        let are_pairs = value == Semivalue::weighted_banzhaf(0.45).unwrap();
        assert!(ours < 0.7 * others || are_pairs && ours == others, "{value:?}: {ours} {others}");
        let mut held = 0;
        for seed in 0..9 {
            let intervals = method.estimate(&game, 220, seed).unwrap().intervals(0.95).unwrap();
            held += intervals
                .iter()
                .zip(&truth)
                .filter(|((low, high), value)| low <= *value && *value <= high)
                .count();
        }
        assert!(100 * held >= 88 * 9 * 11, "{value:?}: {held}");
    }
}

#[test]
fn other_values_that_the_process_does_not_predict_are_those_without_it() {
    let game = smooth_and_rare();
    for (value, plain) in other_values() {
        let method = LearnedSpectrum::for_value(value.clone()).unwrap();
        for seed in 0..3 {
            let found = method.estimate(&game, 180, seed).unwrap();
            let expected = plain.estimate(&game, 180, seed).unwrap();
            assert_eq!(found.evaluations, expected.evaluations);
            let chosen = found.diagnostics.chosen.as_deref().unwrap();
            if chosen.rsplit("; ").next().is_some_and(|of_last| of_last.contains("products")) {
                continue;
            }
            let rare = |values: &[f64]| -> Vec<f64> { values.iter().copied().skip(1).step_by(2).collect() };
            assert_eq!(rare(&found.values), rare(&expected.values), "{value:?}");
            assert_eq!(found.std_errors.is_some(), expected.std_errors.is_some());
        }
    }
}

#[test]
fn other_values_are_the_same_for_any_number_of_threads_and_grow() {
    let game = smooth_and_rare();
    for (value, _) in other_values() {
        let method = LearnedSpectrum::for_value(value).unwrap().with_draws(Draws::Growing);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| method.estimate(&game, 150, 4).unwrap())
        };
        assert_eq!(run(1), run(3));
    }
}

#[test]
fn other_values_of_many_players_are_estimated_within_the_budget() {
    let game = SumOfUnanimity::random(70, 140, 3, 1);
    let value = Semivalue::beta_shapley(4.0, 1.0).unwrap();
    let method = LearnedSpectrum::for_value(value.clone()).unwrap();
    // The last budget exceeds the maximum number of coalitions to which the process is fitted.
    for budget in [71, 75, 350, 2500] {
        let found = method.estimate(&game, budget, 1).unwrap();
        assert!(found.evaluations <= budget && found.values.iter().all(|value| value.is_finite()));
    }
}

#[test]
fn other_values_of_few_players_are_exact_or_finite() {
    for players in [1, 2, 3, 4] {
        let game = SumOfUnanimity::random(players, 6, 3, 2);
        for (value, _) in other_values() {
            let method = LearnedSpectrum::for_value(value.clone()).unwrap();
            let exact = enumerate(&game, value).unwrap().values;
            let found = method.estimate(&game, 1 << players, 0).unwrap();
            assert!(squared(&found.values, &exact) < 1e-20);
            let few = method.estimate(&game, method.minimum_budget(players), 0).unwrap();
            assert!(few.values.iter().all(|value| value.is_finite()));
            let sampled = method.with_full_budget(FullBudget::Sample).estimate(&game, 1 << players, 0);
            assert!(squared(&sampled.unwrap().values, &exact) < 1e-18);
        }
    }
}

#[test]
fn more_pairs_than_products_are_solved_among_the_products() {
    let game = SumOfUnanimity::random(16, 40, 4, 9);
    let truth = game.shapley();
    let run = |budget: usize| -> Explanation {
        LearnedSpectrum::default().with_draws(Draws::Growing).estimate(&game, budget, 2).unwrap()
    };
    // Use budgets on either side of the limit.
    let (before, after) = (run(2400), run(2600));
    let (before, after) = (squared(&before.values, &truth), squared(&after.values, &truth));
    let leverage = squared(&LeverageShap::default().estimate(&game, 2600, 2).unwrap().values, &truth);
    assert!(before < 0.1 * leverage && after < 0.1 * leverage, "{before} {after} {leverage}");
}

#[test]
fn pairs_and_single_players_have_their_indices_from_one_sample_with_errors_that_cover() {
    use InteractionIndex::{FaithfulShapley, KAdditiveShapley, KShapley};
    for index in
        [InteractionIndex::SHAPLEY, InteractionIndex::BANZHAF, KShapley, FaithfulShapley, KAdditiveShapley]
    {
        let estimator = LearnedSpectrum::for_index(&index, 2).unwrap();
        // Collect statistics for single players and for pairs.
        let (mut held, mut all, mut error, mut norm) = ([0; 2], [0; 2], [0.0; 2], [0.0; 2]);
        for seed in 0..4 {
            let game = SumOfUnanimity::random(12, 30, 4, seed);
            let (values, got) = estimator.with_pairs(&index, &game, 240, seed).unwrap();
            let want = enumerate_interactions(&game, &index, 2).unwrap();
            let errors = got.std_errors().unwrap();
            for (at, ((coalition, got), want)) in got.iter().zip(want.values()).enumerate() {
                let size = coalition.size() - 1;
                if size == 0 && matches!(index, InteractionIndex::Semivalue(_) | KAdditiveShapley) {
                    assert_eq!(got[0], values.values[at]);
                }
                error[size] += (got[0] - want).powi(2);
                norm[size] += want * want;
                all[size] += 1;
                held[size] += usize::from((got[0] - want).abs() <= 2.1 * errors[at]);
            }
        }
        for size in 0..2 {
            assert!(error[size] < 0.03 * norm[size], "{index}: {} of the squares", error[size] / norm[size]);
            assert!(100 * held[size] >= 90 * all[size], "{index}: {} of {}", held[size], all[size]);
        }
    }
}

#[test]
fn other_indices_have_no_estimate() {
    let game = SumOfUnanimity::random(12, 30, 4, 1);
    for index in [InteractionIndex::ShapleyTaylor, InteractionIndex::Moebius, InteractionIndex::BANZHAF] {
        assert!(index == InteractionIndex::BANZHAF || LearnedSpectrum::for_index(&index, 2).is_none());
        let error = LearnedSpectrum::default().with_pairs(&index, &game, 240, 1).unwrap_err();
        assert!(error.to_string().contains(&index.to_string()), "{error}");
    }
    assert!(LearnedSpectrum::for_index(&InteractionIndex::SHAPLEY, 3).is_none());
}

#[test]
fn pairs_of_few_players_and_of_several_outputs_are_those_of_each_and_exact_at_all_coalitions() {
    let outputs: Vec<Output> = vec![|x| x(0) + 2.0 * x(1) * x(2), |x| x(0) * x(1) * x(2) * x(3)];
    let estimator = LearnedSpectrum::default();
    for players in [4, 5, 9] {
        let game = SignGame { players, outputs: outputs.clone() };
        let want = enumerate_interactions(&game, &estimator.value.clone().into(), 2).unwrap();
        let (values, got) =
            estimator.with_pairs(&estimator.value.clone().into(), &game, 1 << players, 3).unwrap();
        assert!(values.diagnostics.exact && got.std_errors().is_none());
        assert!(got.values().iter().zip(want.values()).all(|(got, want)| (got - want).abs() < 1e-12));
    }
    let game = SignGame { players: 9, outputs };
    let want = enumerate_interactions(&game, &estimator.value.clone().into(), 2).unwrap();
    let (_, got) = estimator.with_pairs(&estimator.value.clone().into(), &game, 180, 3).unwrap();
    assert_eq!(got.values().len(), want.values().len());
    let off: f64 = squared(got.values(), want.values());
    assert!(off < 0.05 * squared(want.values(), &vec![0.0; want.values().len()]), "{off}");
    for players in [1, 2] {
        let game = SignGame { players, outputs: vec![|x| x(0)] };
        assert!(estimator.with_pairs(&estimator.value.clone().into(), &game, 4, 3).is_ok());
    }
    assert!(estimator.with_pairs(&estimator.value.clone().into(), &game, 3, 3).is_err());
}

#[test]
fn games_of_pairs_alone_have_the_indices_of_pairs_exactly_from_enough_evaluations() {
    let game = SumOfUnanimity::random(14, 60, 2, 5);
    let estimator = LearnedSpectrum::default();
    let want = enumerate_interactions(&game, &estimator.value.clone().into(), 2).unwrap();
    let (_, got) = estimator.with_pairs(&estimator.value.clone().into(), &game, 280, 3).unwrap();
    let off = squared(got.values(), want.values());
    assert!(off < 1e-8 * squared(want.values(), &vec![0.0; want.values().len()]), "{off}");
}

#[test]
fn a_pair_among_many_players_that_matter_alone_is_found() {
    let game = SignGame { players: 120, outputs: vec![|x| x(0) * x(1) + (0..120).map(x).sum::<f64>()] };
    let (_, got) = LearnedSpectrum::default().with_pairs(&InteractionIndex::SHAPLEY, &game, 600, 3).unwrap();
    let (pair, index) = got.strongest(2, 1, 0)[0];
    assert_eq!(pair.members().collect::<Vec<_>>(), [0, 1]);
    assert!((index[0] - 4.0).abs() < 0.6, "{index:?}");
}

/// A game that records its evaluations.
struct RecordingGame<'g>(&'g dyn Game, std::sync::Mutex<Vec<Vec<u64>>>);

impl Game for RecordingGame<'_> {
    fn players(&self) -> usize {
        self.0.players()
    }
    fn outputs(&self) -> usize {
        self.0.outputs()
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.1.lock().unwrap().extend(batch.iter().map(|row| row.words().to_vec()));
        self.0.values(batch, out)
    }
}

#[test]
fn where_complements_tell_each_other_one_coalition_of_a_pair_is_asked() {
    let median = |mut errors: Vec<f64>| {
        errors.sort_by(f64::total_cmp);
        errors[errors.len() / 2]
    };
    for (players, quota) in [(12u64, 39), (13, 46), (30, 30 * 31 / 4)] {
        // No coalition, or hardly any coalition, has exactly half of the votes.
        let game = WeightedVoting::new(quota + quota % 2, (1..=players).collect::<Vec<u64>>()).unwrap();
        let budget = 20 * players as usize;
        let error = |estimator: LearnedSpectrum| {
            median(
                (0..3)
                    .map(|seed| {
                        squared(&estimator.estimate(&game, budget, seed).unwrap().values, &game.shapley())
                    })
                    .collect(),
            )
        };
        let (halves, pairs) =
            (error(LearnedSpectrum::default()), error(LearnedSpectrum::default().with_draws(Draws::Growing)));
        assert!(halves < 0.75 * pairs, "{players}: {halves} {pairs}");
        let noted = RecordingGame(&game, Default::default());
        let found = LearnedSpectrum::default().estimate(&noted, budget, 1).unwrap();
        let mut asked = noted.1.into_inner().unwrap();
        assert_eq!((found.evaluations, asked.len()), (asked.len(), asked.len()));
        assert!(asked.len() <= budget && 10 * asked.len() > 9 * budget, "{} of {budget}", asked.len());
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), found.distinct_coalitions);
    }
}

#[test]
fn banzhaf_values_are_told_by_one_coalition_of_a_pair_too() {
    // The number of votes is odd, so one of two complements wins.
    let game = WeightedVoting::new(13, vec![2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 2]).unwrap();
    let truth = game.banzhaf();
    let halves = error(&LearnedSpectrum::banzhaf(), &game, &truth, 144, 15);
    let pairs = error(&LearnedSpectrum::banzhaf().with_draws(Draws::Growing), &game, &truth, 144, 15);
    assert!(halves < 0.9 * pairs, "{halves} {pairs}");
}

#[test]
fn where_one_output_does_not_add_up_pairs_are_asked() {
    let outputs: Vec<Output> = vec![|x| x(0) * x(1) * x(2) + x(3), |x| x(0) * x(1)];
    for (outputs, halves) in [(outputs.clone(), false), (outputs[..1].to_vec(), true)] {
        let game = SignGame { players: 12, outputs };
        let noted = RecordingGame(&game, Default::default());
        LearnedSpectrum::default().estimate(&noted, 240, 1).unwrap();
        let asked = noted.1.into_inner().unwrap();
        let complement = |words: &Vec<u64>| vec![words[0] ^ ((1 << 12) - 1)];
        let pairs = asked.iter().filter(|words| asked.contains(&complement(words))).count();
        assert_eq!(pairs < 100, halves, "{pairs} of {}", asked.len());
    }
}

#[test]
fn intervals_hold_where_few_pairs_do_not_add_up() {
    let (mut held, mut all) = (0, 0);
    for seed in 0..12 {
        // Pairs without a winner are rare.
        let weights: Vec<u64> = (0..12).map(|player| 1 + (seed * 7 + player * player * 5) % 23).collect();
        let quota = weights.iter().sum::<u64>() / 2 + 2;
        let game = WeightedVoting::new(quota, weights).unwrap();
        let found = LearnedSpectrum::default().estimate(&game, 240, seed).unwrap();
        let errors = found.std_errors.unwrap();
        for ((got, want), error) in found.values.iter().zip(game.shapley()).zip(errors) {
            all += 1;
            held += usize::from((got - want).abs() <= 2.1 * error);
        }
    }
    assert!(100 * held >= 88 * all, "{held} of {all}");
}

/// A game in which every coalition has an independent pseudorandom value, derived from its members. A sample
/// contains no information about other coalitions.
struct Noise(usize);

impl Game for Noise {
    fn players(&self) -> usize {
        self.0
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (row, out) in batch.iter().zip(out) {
            let mask = (0..self.0)
                .filter(|&player| row.contains(player))
                .fold(0_u64, |mask, player| mask | 1 << player);
            // This is the finalizer of MurmurHash3, applied twelve times: a sum of uniform numbers is nearly
            // normal.
            let uniform = |draw: u64| {
                let mut bits = mask.wrapping_add(draw << 40).wrapping_add(0x9e37_79b9_7f4a_7c15);
                for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
                    bits = (bits ^ (bits >> 33)).wrapping_mul(factor);
                }
                (bits ^ (bits >> 33)) as f64 / u64::MAX as f64
            };
            *out = (0..12).map(uniform).sum::<f64>() - 6.0;
        }
        Ok(())
    }
}

/// A game with two conjunctions that require some players to be absent, and a contribution of one player
/// alone.
struct Conjunctions;

impl Game for Conjunctions {
    fn players(&self) -> usize {
        10
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (row, out) in batch.iter().zip(out) {
            let all = |mut players: std::ops::Range<usize>| players.all(|player| row.contains(player));
            let none = |mut players: std::ops::Range<usize>| !players.any(|player| row.contains(player));
            let worth = |is_so: bool, worth: f64| if is_so { worth } else { 0.0 };
            *out = worth(all(0..3) && none(3..6), 1.0)
                + worth(all(4..8) && none(0..2), 2.0)
                + worth(all(8..9), 1.0);
        }
        Ok(())
    }
}

#[test]
fn intervals_hold_where_single_players_have_a_prior() {
    for (players, budget) in [(8, 40), (8, 42), (12, 60), (12, 66), (5, 20)] {
        let game = Noise(players);
        for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
            let truth = enumerate(&game, value.clone()).unwrap().values;
            let method = LearnedSpectrum::for_value(value.clone()).unwrap();
            let (mut held, mut all) = (0, 0);
            for seed in 0..20 {
                let found = method.estimate(&game, budget, seed).unwrap();
                let Some(intervals) = found.intervals(0.95) else { continue };
                held += intervals
                    .iter()
                    .zip(&truth)
                    .filter(|((low, high), want)| low <= *want && *want <= high)
                    .count();
                all += players;
            }
            assert!(100 * held >= 88 * all, "{value:?}, {players} players, {budget}: {held} of {all}");
        }
    }
}

#[test]
fn errors_of_pairs_know_what_a_prior_takes_from_them() {
    for (game, least) in [(&Noise(10) as &dyn Game, 93), (&Conjunctions, 83)] {
        for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
            let index = InteractionIndex::Semivalue(value.clone());
            let truth = enumerate_interactions(game, &index, 2).unwrap();
            for budget in [50, 100, 300] {
                let (mut held, mut all) = (0, 0);
                for seed in 0..20 {
                    let method = LearnedSpectrum::for_value(value.clone()).unwrap();
                    let found = method.with_pairs(&index, game, budget, seed).unwrap().1;
                    let errors = found.std_errors().unwrap();
                    for (at, coalition) in
                        found.coalitions().iter().enumerate().filter(|(_, coalition)| coalition.size() == 2)
                    {
                        let players: Vec<usize> = coalition.members().collect();
                        let want = truth.get(&players).unwrap()[0];
                        let got = found.values()[at];
                        assert!(errors[at] > 0.0, "{players:?}");
                        held += usize::from((got - want).abs() <= 1.96 * errors[at]);
                        all += 1;
                    }
                }
                // The estimator learns little about conjunctions that the sample hardly contains.
                assert!(100 * held >= least * all, "{value:?}, {budget}: {held} of {all}");
            }
        }
    }
}
