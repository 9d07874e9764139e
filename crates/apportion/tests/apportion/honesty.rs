//! Reported errors compared with actual errors, on games that are designed to mislead samples.
//! `cargo xtask measure` prints the full tables.

use apportion::estimators::{
    Anytime, Estimator, EstimatorError, Explanation, GradientError, Guarantee, LeverageShap, Measure, Scale,
    StopRule, Until, methods,
};
use apportion::games::{Coalitions, GameError, Partition, Purpose, stream};
use apportion::values::enumerate;
use apportion::{Background, Explainer, Game, Method, Rows, Semivalue, Value};
use rand::RngExt;

use crate::common::hard_games::{SolvedGame, hard_games, smooth_games};

/// Returns all estimators except the estimator that requires several scenarios.
fn estimators() -> impl Iterator<Item = Box<dyn Estimator>> {
    Method::all()
        .filter(|&method| method != Method::By(&methods::PRODUCT_SPACE_TRUE_MARGINAL))
        .filter_map(|method| method.estimator(&Semivalue::Shapley.into()))
}

fn games(players: usize) -> Vec<SolvedGame> {
    hard_games(players).into_iter().chain(smooth_games(players)).collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
}

#[test]
fn closed_forms_are_the_values_by_enumeration() {
    for players in [8, 11] {
        for known in games(players) {
            let exact = enumerate(&*known.game, Semivalue::Shapley).unwrap();
            for (got, want) in known.shapley.iter().zip(&exact.values) {
                let scale = 1.0 + largest(&exact.values);
                assert!((got - want).abs() < 1e-9 * scale, "{}: {got} for {want}", known.family);
            }
        }
    }
}

#[test]
fn no_interval_has_width_zero_beside_a_wrong_value_and_intervals_cover() {
    for estimator in estimators() {
        // Counts for hard and for smooth games.
        let (mut intervals, mut held) = ([0; 2], [0; 2]);
        // Methods that fit trees take as long as all other methods together.
        let most = if ["learned-spectrum", "proxy-residual"].contains(&estimator.name()) { 13 } else { 70 };
        for players in [8, 13, 40, 70].into_iter().filter(|&players| players <= most) {
            for known in games(players) {
                let scale = largest(&known.shapley);
                for seed in 0..2 {
                    let budget = (20 * players).max(estimator.minimum_budget(players));
                    let got = estimator.estimate(&*known.game, budget, seed).unwrap();
                    for ((&(low, high), value), want) in got
                        .intervals(0.95)
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                        .iter()
                        .zip(&got.values)
                        .zip(&known.shapley)
                    {
                        let is_right = (value - want).abs() <= 1e-9 * scale;
                        assert!(
                            low < high || is_right,
                            "{} on {}, n = {players}",
                            estimator.name(),
                            known.family
                        );
                        let kind = usize::from(known.is_smooth);
                        intervals[kind] += 1;
                        held[kind] += usize::from(is_right || (low <= *want && *want <= high));
                    }
                }
            }
        }
        // Some methods do not have standard errors with so few evaluations.
        for kind in 0..2 {
            let said = format!("{}: {held:?} of {intervals:?}", estimator.name());
            assert!(10 * held[kind] >= 9 * intervals[kind], "{said}");
        }
    }
}

#[test]
fn certificates_hold_on_games_that_a_sample_misjudges() {
    let methods = [
        Method::By(&methods::LEVERAGE_SHAP),
        Method::By(&methods::PERMUTATION),
        Method::By(&methods::MSR_ADJUSTED),
        Method::By(&methods::KERNEL_SHAP_PAIRED),
    ];
    for method in methods {
        let estimator = method.estimator(&Semivalue::Shapley.into()).unwrap();
        let (mut certified, mut within) = (0, 0);
        for players in [8, 12, 20] {
            for known in hard_games(players) {
                let norm = known.shapley.iter().map(|value| value * value).sum::<f64>().sqrt();
                for seed in 0..3 {
                    let until = Until::relative(0.05).with_budget(Some(60 * players));
                    let mut run = Anytime::new(&*estimator, &*known.game, seed).unwrap();
                    let got = run.run_until(&until).unwrap();
                    let certificate = got.certificate.as_ref().unwrap();
                    let bounds = certificate.error_bounds.iter().flatten();
                    assert!(
                        certificate.guarantee == Guarantee::Exact
                            || bounds.clone().all(|bound| *bound > 1e-6 * norm),
                        "{} on {}: {certificate:?}",
                        method.name(),
                        known.family
                    );
                    if certificate.stopped_by == StopRule::Tolerance {
                        let error: f64 = got
                            .values
                            .iter()
                            .zip(&known.shapley)
                            .map(|(got, want)| (got - want).powi(2))
                            .sum();
                        certified += 1;
                        within += usize::from(error.sqrt() <= 0.05 * norm * (1.0 + 1e-9));
                    }
                }
            }
        }
        assert!(
            certified > 50 && 20 * within >= 19 * certified,
            "{}: {within} of {certified}",
            method.name()
        );
    }
}

#[test]
fn certificates_of_other_values_hold_on_such_games() {
    let players = 12;
    let groups = (0..4).map(|group| (group..players).step_by(4).collect()).collect();
    let partition = Partition::new(players, groups).unwrap();
    let values: [Value; 4] = [
        Semivalue::Banzhaf.into(),
        Semivalue::beta_shapley(4.0, 1.0).unwrap().into(),
        Value::owen(partition.clone()),
        Value::banzhaf_owen(partition),
    ];
    for value in values {
        let concept = value.concept();
        let (mut certified, mut within) = (0, 0);
        for known in hard_games(players) {
            let truth = value.enumerate(&*known.game).unwrap().values;
            let norm = truth.iter().map(|value| value * value).sum::<f64>().sqrt();
            for method in Method::all() {
                let Some(estimator) = method.estimator(&value) else { continue };
                let until = Until::relative(0.1).with_budget(Some(60 * players));
                let mut run = Anytime::new(&*estimator, &*known.game, 3).unwrap();
                // Some methods require more evaluations, or a background.
                let Ok(got) = run.run_until(&until) else { continue };
                if got.certificate.as_ref().unwrap().stopped_by == StopRule::Tolerance {
                    let error =
                        got.values.iter().zip(&truth).map(|(got, want)| (got - want).powi(2)).sum::<f64>();
                    certified += 1;
                    within += usize::from(error.sqrt() <= 0.1 * norm + 1e-9);
                }
            }
        }
        assert!(certified >= 8 && 20 * within >= 19 * certified, "{concept}: {within} of {certified}");
    }
}

#[test]
fn what_all_players_together_get_beyond_the_values_is_looked_for_before_a_certificate() {
    // The game has a bonus if four players are all present. Under this weighted Banzhaf value, the
    // probability of that event is 0.8%, and many samples therefore look additive.
    let known = hard_games(12).into_iter().find(|known| known.family.contains("third")).unwrap();
    let value: Value = Semivalue::weighted_banzhaf(0.3).unwrap().into();
    let truth = value.enumerate(&*known.game).unwrap().values;
    let norm = truth.iter().map(|value| value * value).sum::<f64>().sqrt();
    for method in [
        Method::By(&methods::KERNEL_BANZHAF),
        Method::By(&methods::KERNEL_BANZHAF_WITHOUT_REPLACEMENT),
        Method::By(&methods::MSR_ADJUSTED),
    ] {
        let estimator = method.estimator(&value).unwrap();
        let (mut certified, mut within) = (0, 0);
        for seed in 0..20 {
            let until = Until::relative(0.05).with_budget(Some(1000));
            let mut run = Anytime::new(&*estimator, &*known.game, seed).unwrap();
            let got = run.run_until(&until).unwrap();
            if got.certificate.as_ref().unwrap().stopped_by == StopRule::Tolerance {
                let error =
                    got.values.iter().zip(&truth).map(|(got, want)| (got - want).powi(2)).sum::<f64>();
                certified += 1;
                within += usize::from(error.sqrt() <= 0.05 * norm);
            }
        }
        assert!(certified >= 5 && 20 * within >= 19 * certified, "{method}: {within} of {certified}");
    }
}

/// A game multiplied by a factor.
struct Times<'g> {
    game: &'g dyn Game,
    factor: f64,
}

impl Game for Times<'_> {
    fn players(&self) -> usize {
        self.game.players()
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.game.values(batch, out)?;
        out.iter_mut().for_each(|value| *value *= self.factor);
        Ok(())
    }
}

#[test]
fn outputs_of_any_size_give_the_same_answer_but_for_the_factor() {
    let games = [hard_games(9), smooth_games(9)].map(|mut games| games.swap_remove(3));
    for known in &games {
        for estimator in estimators() {
            let of = |factor: f64| -> Explanation {
                let budget = 150.max(estimator.minimum_budget(9));
                estimator.estimate(&Times { game: &*known.game, factor }, budget, 4).unwrap()
            };
            let plain = of(1.0);
            for power in [-980, -500, 500, 990] {
                let factor = 2f64.powi(power);
                let got = of(factor);
                let back =
                    |numbers: &[f64]| -> Vec<f64> { numbers.iter().map(|number| number / factor).collect() };
                assert_eq!(back(&got.values), plain.values, "{}, 2^{power}", estimator.name());
                assert_eq!(
                    got.std_errors.as_deref().map(back),
                    plain.std_errors,
                    "{}, 2^{power}",
                    estimator.name()
                );
            }
            for factor in [1e-300, 1e-160, 1e154, 1e300] {
                let got = of(factor);
                for (got, want) in got.values.iter().zip(&plain.values) {
                    assert!(
                        (got / factor - want).abs() < 1e-9,
                        "{}, {factor}: {got} for {want}",
                        estimator.name()
                    );
                }
            }
        }
    }
}

#[test]
fn certificates_are_the_same_at_any_size() {
    let known = smooth_games(14).swap_remove(0);
    let of = |factor: f64| {
        let game = Times { game: &*known.game, factor };
        let mut run = Anytime::new(&LeverageShap::default(), &game, 1).unwrap();
        run.run_until(&Until::relative(0.05)).unwrap().clone()
    };
    let plain = of(1.0);
    for power in [-990, -540, 540, 990] {
        let got = of(2f64.powi(power));
        let (got, want) = (got.certificate.unwrap(), plain.certificate.clone().unwrap());
        assert_eq!(got.interim_checks, want.interim_checks, "2^{power}");
        assert_eq!(
            got.error_bounds.unwrap()[0] / 2f64.powi(power),
            want.error_bounds.unwrap()[0],
            "2^{power}"
        );
    }
}

/// A game with the values ±1.7e308, with random signs.
struct HugeGame;

impl Game for HugeGame {
    fn players(&self) -> usize {
        9
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, row) in out.iter_mut().zip(batch.iter()) {
            let sign = if row.words()[0].wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 1 { 1.0 } else { -1.0 };
            *value = sign * 1.7e308;
        }
        Ok(())
    }
}

#[test]
fn no_method_answers_with_what_is_no_number() {
    for estimator in estimators() {
        let budget = 150.max(estimator.minimum_budget(9));
        match estimator.estimate(&HugeGame, budget, 3) {
            Ok(got) => {
                assert!(got.values.iter().all(|value| value.is_finite()), "{}", estimator.name());
                assert!(
                    got.std_errors.iter().flatten().all(|error| error.is_finite()),
                    "{}",
                    estimator.name()
                );
            }
            Err(
                EstimatorError::NotFinite { .. } | EstimatorError::Gradient(GradientError::Diverged { .. }),
            ) => {}
            Err(error) => panic!("{}: {error}", estimator.name()),
        }
    }
}

/// A game that is non-zero only for coalitions of half the players, so that its values are zero.
struct Middle;

impl Game for Middle {
    fn players(&self) -> usize {
        12
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        let worth = |size: u32| f64::from(u8::from(size == 6));
        out.iter_mut().zip(batch.sizes()).for_each(|(value, &size)| *value = worth(size));
        Ok(())
    }
}

#[test]
fn a_share_of_nothing_is_never_reached() {
    for method in [
        Method::By(&methods::LEVERAGE_SHAP),
        Method::By(&methods::PERMUTATION),
        Method::By(&methods::MSR),
        Method::By(&methods::MONTE_CARLO),
    ] {
        let estimator = method.estimator(&Semivalue::Shapley.into()).unwrap();
        for scale in [Scale::Norm, Scale::Range] {
            let until = Until::relative(0.1).with_scale(scale).with_budget(Some(1000));
            let mut run = Anytime::new(&*estimator, Middle, 5).unwrap();
            let got = run.run_until(&until).unwrap();
            let certificate = got.certificate.as_ref().unwrap();
            assert_ne!(certificate.stopped_by, StopRule::Tolerance, "{}: {certificate:?}", method.name());
            assert!(certificate.says.starts_with("Not certified"), "{}", certificate.says);
        }
    }
}

/// A game with noise in every coalition. Each player, or only the first one, makes a small contribution.
struct Weak {
    seed: u64,
    is_sparse: bool,
}

impl Game for Weak {
    fn players(&self) -> usize {
        13
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        for (value, row) in out.iter_mut().zip(batch.iter()) {
            let mask = row.members().fold(0u64, |mask, player| mask | 1 << player);
            let worth = |player: usize| match self.is_sparse {
                true => f64::from(u8::from(player == 0)),
                false => 0.3 * (player as f64).sin(),
            };
            let noise: f64 = stream(self.seed, Purpose::Experiment, mask).random_range(-1.0..1.0);
            *value = row.members().map(worth).sum::<f64>() + 3.0 * noise;
        }
        Ok(())
    }
}

#[test]
fn shares_hold_where_norm_and_range_are_made_large_by_noise() {
    let asked = [Measure::Euclidean, Measure::EveryPlayer]
        .into_iter()
        .flat_map(|measure| [Scale::Norm, Scale::Range].map(|scale| (scale, measure)))
        .flat_map(|(scale, measure)| [0.5, 1.0, 2.0].map(|share| (scale, measure, share)));
    let estimators: Vec<_> =
        [&methods::LEVERAGE_SHAP, &methods::PERMUTATION, &methods::MSR_ADJUSTED, &methods::MONTE_CARLO]
            .map(|method| Method::By(method).estimator(&Semivalue::Shapley.into()).unwrap())
            .into();
    let games: Vec<(Weak, Vec<f64>)> = (0..16)
        .map(|seed| {
            let game = Weak { seed, is_sparse: seed % 2 == 0 };
            let values = enumerate(&game, Semivalue::Shapley).unwrap().values;
            (game, values)
        })
        .collect();
    let range = |values: &[f64]| {
        values.iter().copied().fold(f64::MIN, f64::max) - values.iter().copied().fold(f64::MAX, f64::min)
    };
    let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let (mut certified, mut wrong) = (0, 0);
    for (scale, measure, share) in asked {
        for (estimator, (game, truth)) in
            estimators.iter().flat_map(|estimator| games.iter().map(move |game| (estimator, game)))
        {
            let until =
                Until::relative(share).with_scale(scale).with_measure(measure).with_budget(Some(4000));
            let mut run = Anytime::new(&**estimator, game, game.seed).unwrap();
            let got = run.run_until(&until).unwrap();
            if got.certificate.as_ref().unwrap().stopped_by != StopRule::Tolerance {
                continue;
            }
            let off: Vec<f64> = got.values.iter().zip(truth).map(|(got, want)| got - want).collect();
            let error = if measure == Measure::Euclidean { norm(&off) } else { largest(&off) };
            let whole = if scale == Scale::Norm { norm(truth) } else { range(truth) };
            certified += 1;
            wrong += usize::from(error > share * whole);
        }
    }
    assert!(certified > 300 && 20 * wrong <= certified, "{wrong} of {certified}");
}

#[test]
fn certificates_of_the_table_method_hold() {
    let (mut reached, mut wrong) = (0, Vec::new());
    for players in [8, 12] {
        for known in games(players) {
            // A feature is present if it is 1; all ten background rows are 0.
            let model = apportion::batch_model(1, |rows: Rows<'_>| {
                let mut coalitions = Coalitions::new(players);
                for row in rows.iter() {
                    coalitions.push_members((0..players).filter(|&player| row[player] == 1.0));
                }
                let mut out = vec![0.0; rows.len()];
                known.game.values(&coalitions, &mut out)?;
                Ok(out)
            });
            let background = Background::rows(vec![0.0; 10 * players], players).unwrap();
            for seed in 0..3 {
                let explanation = Explainer::new(&model, background.clone())
                    .method(Method::Table)
                    .until(Until::relative(0.05))
                    .seed(seed)
                    .explain(&vec![1.0; players])
                    .unwrap();
                let certificate = explanation.certificate.as_ref().unwrap();
                if certificate.stopped_by == StopRule::Tolerance {
                    reached += 1;
                    let norm = |numbers: &mut dyn Iterator<Item = f64>| {
                        numbers.map(|number| number * number).sum::<f64>().sqrt()
                    };
                    let pairs = explanation.values.iter().zip(&known.shapley);
                    let error = norm(&mut pairs.map(|(found, exact)| found - exact));
                    if error > 0.05 * norm(&mut known.shapley.iter().copied()) {
                        wrong.push((players, known.family, seed));
                    }
                }
            }
        }
    }
    assert!(reached > 100 && wrong.len() * 20 <= reached, "{wrong:?} of {reached}");
}
