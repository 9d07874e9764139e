//! Tests runs that are inspected, continued, interrupted, stored and resumed.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use apportion_estimators::{
    Anytime, Certificate, Checkpoint, Estimator, EstimatorError, Explanation, FullBudget, Guarantee,
    KernelBanzhaf, LeverageShap, MaximumSampleReuse, Measure, MonteCarlo, NestedPermutation, PermutationShap,
    ProductSpace, Progress, RunError, Scale, StandardErrors, StopRule, Until,
};
use apportion_games::{
    Additive, ClosedForm, Counted, Game, GameError, MarginalGame, SumOfUnanimity, WeightedVoting,
};
use apportion_values::Semivalue;

use crate::common::{marginal, products, squared_error};

fn methods() -> Vec<Box<dyn Estimator>> {
    vec![
        Box::new(LeverageShap::default()),
        Box::new(KernelBanzhaf::default()),
        Box::new(PermutationShap::default()),
        Box::new(MonteCarlo::new(Semivalue::Shapley)),
        Box::new(ProductSpace::new(Semivalue::Shapley)),
        Box::new(NestedPermutation::new(Semivalue::Shapley).unwrap()),
    ]
}

fn stored_and_read(run: &Anytime<'_>) -> Checkpoint {
    serde_json::from_str(&serde_json::to_string(&run.checkpoint()).unwrap()).unwrap()
}

#[test]
fn the_explanation_at_a_budget_does_not_depend_on_the_steps_or_on_interruptions() {
    let (explicand, background) = marginal(13, 7, false, 1);
    let game = MarginalGame::new(&products, &explicand, &background).unwrap();
    for method in methods() {
        let mut straight = Anytime::new(&*method, &game, 3).unwrap();
        let expected = straight.run(900).unwrap();
        // Interrupt the run after a third, and store it.
        let chunks = AtomicUsize::new(0);
        let mut first = Anytime::new(&*method, &game, 3).unwrap().watched(|progress| {
            assert!(progress.evaluations <= 903 && progress.next_check == 900);
            stopping_after(1, &chunks)(progress)
        });
        let outcome = first.run(900).map(|_| ());
        if let Err(error) = outcome {
            assert!(matches!(error, EstimatorError::Game(GameError::Interrupted { .. })), "{error}");
        }
        let checkpoint = stored_and_read(&first);
        assert_eq!(checkpoint.evaluations(), first.evaluations(), "{}", method.name());
        let mut resumed = Anytime::resume(&checkpoint, &*method, &game, 3).unwrap();
        assert_eq!(resumed.run(900).unwrap(), expected, "{}", method.name());
    }
}

/// Runs until the tolerance is reached, and returns the explanation with its certificate.
fn run_until(
    method: &dyn Estimator,
    game: &dyn Game,
    seed: u64,
    until: &Until,
) -> (Explanation, Certificate) {
    let mut run = Anytime::new(method, game, seed).unwrap();
    let explanation = run.run_until(until).unwrap().clone();
    let certificate = explanation.certificate.clone().unwrap();
    (explanation, certificate)
}

/// Returns a watcher that stops a run after `most` chunks; `chunks` counts them.
fn stopping_after(most: usize, chunks: &AtomicUsize) -> impl Fn(&Progress<'_>) -> ControlFlow<()> {
    move |_| match chunks.fetch_add(1, Ordering::Relaxed) < most {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    }
}

/// Returns a game that is additive except for one pair of players, so that nothing varies between pairs of
/// coalitions.
fn additive_but_for_a_pair(players: usize) -> SumOfUnanimity {
    let alone = (0..players).map(|player| ([player].into_iter().collect(), (player + 1) as f64));
    SumOfUnanimity::new(players, 0.0, alone.chain([([0, 1].into_iter().collect(), 2.0)])).unwrap()
}

#[test]
fn a_run_until_an_accuracy_resumes_to_the_same_bytes() {
    let games = [SumOfUnanimity::random(20, 60, 4, 5), additive_but_for_a_pair(20)];
    let until = Until::relative(0.03).with_budget(Some(20_000));
    for (method, game) in methods().iter().flat_map(|method| games.iter().map(move |game| (method, game))) {
        let chunks = AtomicUsize::new(0);
        let watcher = stopping_after(usize::MAX, &chunks);
        let mut straight = Anytime::new(&**method, game, 1).unwrap().watched(watcher);
        let expected = serde_json::to_string(straight.run_until(&until).unwrap()).unwrap();
        drop(straight);
        let most = chunks.into_inner();
        // The border is evaluated in the last chunk but one.
        for stop_at in [0, 1, 2, 4, most - 2, most - 1].into_iter().filter(|&stop_at| stop_at < most) {
            let chunks = AtomicUsize::new(0);
            let watcher = stopping_after(stop_at, &chunks);
            let mut first = Anytime::new(&**method, game, 1).unwrap().watched(watcher);
            assert!(first.run_until(&until).is_err(), "{}, {stop_at} of {most}", method.name());
            let mut resumed = Anytime::resume(&stored_and_read(&first), &**method, game, 1).unwrap();
            let got = serde_json::to_string(resumed.run_until(&until).unwrap()).unwrap();
            assert_eq!(got, expected, "{}, {stop_at} of {most}", method.name());
        }
    }
}

#[test]
fn one_sample_is_what_the_estimator_gives() {
    let game = SumOfUnanimity::random(15, 40, 3, 9);
    let estimators: [fn() -> Box<dyn Estimator>; 4] = [
        || Box::new(LeverageShap::default()),
        || Box::new(PermutationShap::default()),
        || Box::new(MonteCarlo::new(Semivalue::Banzhaf)),
        || Box::new(ProductSpace::new(Semivalue::Shapley)),
    ];
    for estimator in estimators {
        let expected = estimator().estimate(&game, 301, 4).unwrap();
        let mut run = Anytime::with_one_sample(estimator(), &game, 4).unwrap();
        assert_eq!(*run.run(301).unwrap(), expected);
    }
}

#[test]
fn nothing_is_evaluated_twice() {
    let counted = Counted::new(SumOfUnanimity::random(40, 60, 3, 2));
    for method in methods().into_iter().take(4) {
        let before = counted.evaluations();
        let mut run = Anytime::new(&*method, &counted, 5).unwrap();
        for budget in [400, 500, 1100, 2000] {
            let evaluations = run.run(budget).unwrap().evaluations;
            assert!(evaluations <= budget, "{}: {evaluations} of {budget}", method.name());
        }
        assert_eq!(counted.evaluations() - before, run.evaluations() as u64, "{}", method.name());
    }
}

#[test]
fn the_error_is_within_the_tolerance_when_a_run_says_so() {
    for method in [&LeverageShap::default() as &dyn Estimator, &PermutationShap::default()] {
        let (mut reached, mut wrong) = (0, 0);
        for seed in 0..60 {
            let game = SumOfUnanimity::random(18, 40, 3, seed);
            let truth = game.shapley();
            let norm = truth.iter().map(|value| value * value).sum::<f64>().sqrt();
            for tolerance in [0.1, 0.03] {
                let until = Until::relative(tolerance).with_budget(Some(60_000));
                let (explanation, certificate) = run_until(method, &game, seed, &until);
                let off = squared_error(&explanation.values, &truth).sqrt();
                if certificate.stopped_by == StopRule::Tolerance {
                    reached += 1;
                    wrong += usize::from(off > tolerance * norm);
                }
            }
        }
        assert!(reached >= 110, "{}: {reached}", method.name());
        // Five in a hundred runs may be wrong. More than 14 of 120 are wrong with probability 3e-4.
        assert!(wrong <= 14, "{}: {wrong} of {reached}", method.name());
    }
}

#[test]
fn a_game_in_which_nothing_varies_is_not_believed_to_be_additive_at_once() {
    let game = Additive::new((0..50).map(f64::from).collect::<Vec<_>>()).unwrap();
    let run = |tolerance| run_until(&LeverageShap::default(), &game, 0, &Until::relative(tolerance));
    let (explanation, certificate) = run(0.01);
    assert_eq!(
        (certificate.guarantee, certificate.stopped_by),
        (Guarantee::NothingVaried, StopRule::Tolerance)
    );
    // The bound is far from zero: it assumes an event that is as large as the values, but so rare that this
    // number of evaluations would miss it.
    let bound = certificate.error_bounds.as_ref().unwrap()[0] / certificate.tolerances[0];
    assert!((0.2..=1.0).contains(&bound), "{bound}");
    assert!(explanation.evaluations < 4000, "{}", explanation.evaluations);
    // A tolerance that no sample can confirm must not be certified.
    let (explanation, certificate) = run(1e-7);
    assert_eq!(certificate.stopped_by, StopRule::Budget);
    assert!(certificate.says.starts_with("Not certified"), "{}", certificate.says);
    assert!(
        explanation.values.iter().zip(0..50).all(|(value, worth)| (value - f64::from(worth)).abs() < 1e-9)
    );
}

#[test]
fn small_games_end_exact() {
    let game = SumOfUnanimity::random(7, 12, 4, 3);
    for method in methods() {
        let (explanation, certificate) = run_until(&*method, &game, 0, &Until::relative(1e-9));
        assert_eq!(
            (certificate.guarantee, certificate.stopped_by),
            (Guarantee::Exact, StopRule::Tolerance),
            "{}",
            method.name()
        );
        assert!(explanation.evaluations <= 128);
    }
}

#[test]
fn a_budget_that_does_not_reach_is_said_so() {
    let game = SumOfUnanimity::random(30, 200, 6, 3);
    let until = Until::relative(1e-4).with_budget(Some(2000));
    let (_, certificate) = run_until(&PermutationShap::default(), &game, 0, &until);
    assert_eq!(certificate.stopped_by, StopRule::Budget);
    assert!(certificate.error_bounds.as_ref().unwrap()[0] > certificate.tolerances[0]);
    assert!(certificate.interim_checks.iter().map(|interim_check| interim_check.spent).sum::<f64>() <= 0.05);
    let few = until.with_looks(2);
    let (_, certificate) = run_until(&PermutationShap::default(), &game, 0, &few);
    assert_eq!(certificate.stopped_by, StopRule::MaxChecks);
}

#[test]
fn a_known_range_gives_bounds_that_hold_for_every_number_of_draws() {
    // The coalition values are between 0 and 1.
    let game = SumOfUnanimity::new(6, 0.0, vec![(vec![0, 1], 0.5), (vec![2, 3, 4], 0.5)]).unwrap();
    let truth = game.shapley();
    let sampling = PermutationShap::default().with_full_budget(FullBudget::Sample);
    for seed in 0..20 {
        let until = Until::absolute(0.1).with_range(Some(1.0)).with_budget(Some(100_000));
        let (explanation, certificate) = run_until(&sampling, &game, seed, &until);
        assert_eq!(certificate.guarantee, Guarantee::EmpiricalBernstein);
        assert_eq!(certificate.stopped_by, StopRule::Tolerance);
        assert!(squared_error(&explanation.values, &truth).sqrt() <= 0.1);
    }
}

#[test]
fn every_player_and_other_scales() {
    let game = SumOfUnanimity::random(16, 30, 3, 8);
    let truth = game.shapley();
    let range =
        truth.iter().copied().fold(f64::MIN, f64::max) - truth.iter().copied().fold(f64::MAX, f64::min);
    for (scale, unit) in [(Scale::Absolute, 1.0), (Scale::Range, range)] {
        let until = Until::relative(0.02).with_scale(scale).with_measure(Measure::EveryPlayer);
        let (explanation, certificate) = run_until(&LeverageShap::default(), &game, 2, &until);
        assert_eq!(certificate.stopped_by, StopRule::Tolerance);
        let off =
            explanation.values.iter().zip(&truth).map(|(got, want)| (got - want).abs()).fold(0.0, f64::max);
        assert!(off <= 0.02 * unit, "{scale:?}: {off}");
    }
}

#[test]
fn checkpoints_of_something_else_are_refused_with_what_differs() {
    let game = SumOfUnanimity::random(12, 30, 3, 2);
    let method = LeverageShap::default();
    let mut run = Anytime::new(&method, &game, 6).unwrap();
    run.run(200).unwrap();
    let checkpoint = stored_and_read(&run);
    let refused = |method: &dyn Estimator, game: &dyn Game, seed: u64| {
        Anytime::resume(&checkpoint, method, game, seed).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(&method, &game, 7).contains("different seed: 6 in the checkpoint, but 7 in this run"));
    let says = refused(&PermutationShap::default(), &game, 6);
    assert!(says.contains("different method: leverage-shap in the checkpoint"), "{says}");
    let no_errors = LeverageShap::default().with_standard_errors(StandardErrors::Omitted);
    let says = refused(&no_errors, &game, 6);
    assert!(says.contains("different method configuration") && says.contains("Omitted"), "{says}");
    assert!(refused(&method, &SumOfUnanimity::random(12, 30, 3, 4), 6).contains("game (model"));
    assert!(refused(&method, &SumOfUnanimity::random(13, 30, 3, 2), 6).contains("number of players"));

    let text = serde_json::to_string(&checkpoint).unwrap();
    assert!(serde_json::from_str::<Checkpoint>(&text[..text.len() / 2]).is_err());
    let spoiled = |text: String| {
        let checkpoint: Checkpoint = serde_json::from_str(&text).unwrap();
        Anytime::resume(&checkpoint, &method, &game, 6).map(|_| ()).unwrap_err()
    };
    let forged = text.replacen("\"seed\":6", "\"seed\":8", 1);
    assert!(matches!(spoiled(forged), EstimatorError::Run(RunError::SpoiledCheckpoint)));
    let values = text.find("\"values\":[").unwrap() + "\"values\":[".len();
    let mut changed = text.clone();
    changed.insert_str(values, "1.25,");
    assert!(matches!(spoiled(changed), EstimatorError::Run(RunError::SpoiledCheckpoint)));
    // The first format version stored the options as text.
    let mut aged: serde_json::Value = serde_json::from_str(&text).unwrap();
    aged["form"] = 1.into();
    aged["settings"] = format!("{method:?}").into();
    let aged = spoiled(aged.to_string()).to_string();
    assert!(aged.contains("different format: 1 in the checkpoint, but 2 in this run"), "{aged}");
}

#[test]
fn accuracies_that_mean_nothing_are_refused() {
    let game = SumOfUnanimity::random(6, 10, 3, 2);
    let mut run = Anytime::new(&LeverageShap::default(), &game, 6).unwrap();
    let refused = run.run_until(&Until::relative(0.0)).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("invalid tolerance 0"), "{refused}");
    let budget = Until::relative(0.1).with_budget(Some(1));
    let refused = run.run_until(&budget).unwrap_err();
    assert!(matches!(refused, EstimatorError::Budget { .. }), "{refused}");
    let refused = run.run(usize::MAX).unwrap_err();
    assert!(matches!(refused, EstimatorError::Run(RunError::TooManyEvaluations { .. })), "{refused}");
}

#[test]
fn that_nothing_was_seen_is_no_proof() {
    // The game is nonzero only if 18 of 20 players are present, and hardly any sampled coalition contains
    // them.
    let game = SumOfUnanimity::new(20, 0.0, [((0..18).collect(), 1.0)]).unwrap();
    let until = Until::relative(0.1).with_budget(Some(3000));
    for method in [&KernelBanzhaf::default() as &dyn Estimator, &MaximumSampleReuse::new(Semivalue::Banzhaf)]
    {
        let (explanation, _) = run_until(method, &game, 0, &until);
        assert!(explanation.evaluations > 500, "{}: {}", method.name(), explanation.evaluations);
    }
    // There is one large voter, and there are small voters that are rarely decisive.
    let game = WeightedVoting::new(51, vec![40, 9, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1]).unwrap();
    let truth = game.shapley();
    let norm = truth.iter().map(|value| value * value).sum::<f64>().sqrt();
    let is_within = |&seed: &u64| {
        let (got, _) = run_until(&LeverageShap::default(), &game, seed, &Until::relative(0.1));
        squared_error(&got.values, &truth).sqrt() <= 0.1 * norm
    };
    let within = (0..100).filter(is_within).count();
    assert!(within >= 92, "{within}");
}

#[test]
fn enumeration_is_interrupted_as_sampling_is() {
    for players in [1, 2, 3, 7] {
        let game = SumOfUnanimity::random(players, 8, 2, 1);
        for method in methods() {
            let mut run = Anytime::new(&*method, &game, 0).unwrap().watched(|_| ControlFlow::Break(()));
            let outcome = run.run(1 << players.max(3)).map(|_| ());
            assert!(
                matches!(outcome, Err(EstimatorError::Game(GameError::Interrupted { .. }))),
                "{} of {players}: {outcome:?}",
                method.name()
            );
        }
    }
}

#[test]
fn a_range_that_the_game_leaves_is_refused() {
    let game = SumOfUnanimity::random(9, 20, 3, 1);
    let mut run = Anytime::new(&PermutationShap::default(), &game, 0).unwrap();
    let until = Until::relative(0.1).with_range(Some(1e-3));
    let refused = run.run_until(&until).unwrap_err();
    assert!(matches!(refused, EstimatorError::Run(RunError::Range { .. })), "{refused}");
}
