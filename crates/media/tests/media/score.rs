//! Compares the scores of coalitions with the definitions in section 2.1 of the paper on L-Shapley and
//! C-Shapley.

use std::sync::atomic::{AtomicUsize, Ordering};

use apportion_games::{
    Background, BoxError, Changes, Coalitions, Game, GameError, Model, NearReference, Purpose, Rows,
    TabulatedGame, batch_model, stream,
};
use apportion_media::{Masked, MediaError, Outputs, Probabilities, Score, ScoredGame};
use apportion_values::{Semivalue, enumerate};
use proptest::prelude::*;
use rand::RngExt;

const KINDS: [Outputs; 2] = [Outputs::Logits, Outputs::Probabilities];

/// Computes the softmax by its definition, or the logistic function for a single logit.
fn softmax(logits: &[f64]) -> Vec<f64> {
    if let [z] = logits {
        return vec![1.0 / (1.0 + z.exp()), 1.0 / (1.0 + (-z).exp())];
    }
    let sum: f64 = logits.iter().map(|z| z.exp()).sum();
    logits.iter().map(|z| z.exp() / sum).collect()
}

/// Returns the outputs of a classifier with these logits, as logits or as probabilities.
fn outputs(kind: Outputs, logits: &[f64]) -> Vec<f64> {
    match (kind, logits) {
        (Outputs::Probabilities, [_]) => softmax(logits)[1..].to_vec(),
        (Outputs::Probabilities, _) => softmax(logits),
        _ => logits.to_vec(),
    }
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #[test]
    fn scores_are_what_their_definitions_say(
        logits in proptest::collection::vec(-8.0..8.0_f64, 1..7),
        others in proptest::collection::vec(-8.0..8.0_f64, 7),
    ) {
        let p = softmax(&logits);
        let distribution = softmax(&others[..logits.len()]);
        for kind in KINDS {
            let outputs = outputs(kind, &logits);
            prop_assert_eq!(kind.classes(outputs.len()), p.len());
            let found = kind.class_probabilities(&outputs).unwrap();
            prop_assert!(found.iter().zip(&p).all(|(a, b)| close(*a, *b, 1e-15)));
            let best = (0..p.len()).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap();
            prop_assert_eq!(kind.predicted_class(&outputs).unwrap(), best);
            for (class, &p) in p.iter().enumerate() {
                let log = Score::LogProbability { class }.evaluate(kind, &outputs).unwrap();
                prop_assert!(close(log, p.ln(), 1e-13));
                let odds = Score::LogOdds { class }.evaluate(kind, &outputs).unwrap();
                // 1 − p loses the digits of p that are below the precision of 1.
                let lost = 1e-15 / (1.0 - p);
                prop_assert!(close(odds, (p / (1.0 - p)).ln(), 1e-13 + lost));
                prop_assert_eq!(odds, kind.log_odds(&outputs, class).unwrap());
            }
            let expected: f64 = distribution.iter().zip(&p).map(|(weight, p)| weight * p.ln()).sum();
            let score = Score::ExpectedLogProbability { distribution: distribution.clone() };
            let score = score.evaluate(kind, &outputs).unwrap();
            prop_assert!(close(score, expected, 1e-13));
        }
    }
}

#[test]
fn large_logits_neither_overflow_nor_vanish() {
    let log =
        |class, logits: &[f64]| Score::LogProbability { class }.evaluate(Outputs::Logits, logits).unwrap();
    assert_eq!((log(0, &[1000.0]), log(1, &[-1000.0])), (-1000.0, -1000.0));
    assert_eq!((log(0, &[1000.0, -1000.0]), log(1, &[1000.0, -1000.0, 0.0])), (0.0, -2000.0));
    // The expected value is −log(1 + e^{−40}), although 1 + e^{−40} rounds to 1 in 64 bits.
    for tail in [log(1, &[40.0]), log(0, &[50.0, 10.0])] {
        assert!((tail / -(-40.0_f64).exp() - 1.0).abs() < 1e-15, "{tail}");
    }
    let odds = |class, logits: &[f64]| Outputs::Logits.log_odds(logits, class).unwrap();
    assert_eq!((odds(0, &[900.0, -900.0]), odds(1, &[900.0, -900.0])), (1800.0, -1800.0));
    assert_eq!((odds(1, &[700.0]), odds(0, &[700.0])), (700.0, -700.0));
    let shares = Outputs::Logits.class_probabilities(&[1e6, 1e6, -1e6]).unwrap();
    assert_eq!(shares, [0.5, 0.5, 0.0]);
}

#[test]
fn the_first_of_equal_classes_is_predicted() {
    assert_eq!(Outputs::Logits.predicted_class(&[0.0]).unwrap(), 0);
    assert_eq!(Outputs::Probabilities.predicted_class(&[0.5]).unwrap(), 0);
    assert_eq!(Outputs::Logits.predicted_class(&[1.0, 2.0, 2.0]).unwrap(), 1);
    let score = Score::for_predicted_class(Outputs::Probabilities, &[0.2, 0.5, 0.3]).unwrap();
    assert_eq!(score, Score::LogProbability { class: 1 });
    let expected = Score::expected(Outputs::Probabilities, &[0.75]).unwrap();
    assert_eq!(expected, Score::ExpectedLogProbability { distribution: vec![0.25, 0.75] });
}

#[test]
fn what_is_no_score_of_a_classifier_is_refused() {
    let log = Score::LogProbability { class: 1 };
    let refusal = |score: &Score, kind, outputs: &[f64]| score.evaluate(kind, outputs).unwrap_err();
    for score in [Score::LogProbability { class: 3 }, Score::LogOdds { class: 3 }] {
        let refused = refusal(&score, Outputs::Logits, &[0.0; 3]);
        assert!(matches!(refused, MediaError::NoSuchClass { class: 3, classes: 3 }), "{refused}");
    }
    assert!(matches!(refusal(&log, Outputs::Logits, &[]), MediaError::NoSuchClass { classes: 0, .. }));
    for distribution in [vec![1.0], vec![0.5, 0.6], vec![-0.5, 1.5], vec![f64::NAN, 1.0]] {
        let refused = refusal(&Score::ExpectedLogProbability { distribution }, Outputs::Logits, &[0.0]);
        assert!(matches!(refused, MediaError::ClassDistribution { classes: 2, .. }), "{refused}");
    }
    for outputs in [[0.5, 1.5], [0.5, -0.5], [0.5, f64::NAN]] {
        let refused = refusal(&log, Outputs::Probabilities, &outputs);
        assert!(matches!(refused, MediaError::NotAProbability { output: 1, .. }), "{refused}");
    }
    let sum = refusal(&log, Outputs::Probabilities, &[0.5, 0.6]);
    assert!(matches!(sum, MediaError::ProbabilitySum { .. }), "{sum}");
    let infinite = refusal(&log, Outputs::Logits, &[0.0, f64::INFINITY]);
    assert!(matches!(infinite, MediaError::NotALogit { output: 1, .. }), "{infinite}");
    // Rounding errors of 32-bit numbers are accepted.
    assert_eq!(log.evaluate(Outputs::Probabilities, &[-1e-8, 1.0 + 1e-7]).unwrap(), 0.0);
}

/// Computes three logits that depend on six features.
fn logits(row: &[f64]) -> Vec<f64> {
    let sum = |shift: f64| row.iter().enumerate().map(|(at, x)| x * (at as f64 + shift).sin()).sum::<f64>();
    vec![sum(0.0), sum(2.0).powi(2), row[0] * row[3] - row[5]]
}

fn masked(references: usize) -> Masked {
    let mut rng = stream(7, Purpose::Experiment, 0);
    let mut normal = || rng.random_range(-2.0..2.0);
    let explicand = (0..6).map(|_| normal()).collect();
    let reference = Background::rows((0..6 * references).map(|_| normal()).collect::<Vec<_>>(), 6).unwrap();
    Masked::new(explicand, reference, vec![vec![0, 4], vec![5], vec![2], vec![1]]).unwrap()
}

fn table(game: &impl Game) -> Vec<f64> {
    TabulatedGame::from_game(game).unwrap().values_in_order().to_vec()
}

#[test]
fn games_of_scores_are_games_of_probabilities_averaged_first() {
    let model = batch_model(3, |rows: Rows<'_>| Ok(rows.iter().flat_map(logits).collect()));
    let probabilities = Probabilities::new(&model);
    for references in [1, 3] {
        let masked = masked(references);
        let game = masked.game(&probabilities).unwrap();
        let full = softmax(&logits(masked.explicand()));
        let scores = [
            Score::LogProbability { class: 2 },
            Score::LogOdds { class: 0 },
            Score::ExpectedLogProbability { distribution: full.clone() },
        ];
        for score in scores {
            let scored = ScoredGame::new(&game, Outputs::Probabilities, score.clone()).unwrap();
            assert_eq!((scored.players(), scored.outputs(), scored.scenarios()), (4, 1, 1));
            assert_eq!(scored.rows_per_coalition(), references);
            let definition = |mask: usize| {
                let mut p = [0.0; 3];
                for reference in masked.reference().as_rows().iter() {
                    let mut row = masked.explicand().to_vec();
                    for (player, features) in masked.players().iter().enumerate() {
                        if mask >> player & 1 == 0 {
                            features.iter().for_each(|&feature| row[feature] = reference[feature]);
                        }
                    }
                    let of_row = softmax(&logits(&row));
                    p.iter_mut().zip(of_row).for_each(|(p, of_row)| *p += of_row / references as f64);
                }
                match &score {
                    Score::LogProbability { class } => p[*class].ln(),
                    Score::LogOdds { class } => (p[*class] / (1.0 - p[*class])).ln(),
                    Score::ExpectedLogProbability { distribution } => {
                        distribution.iter().zip(p).map(|(distribution, p)| distribution * p.ln()).sum()
                    }
                    _ => unreachable!("the scores above"),
                }
            };
            for (mask, value) in table(&scored).into_iter().enumerate() {
                assert!(close(value, definition(mask), 1e-12), "{score:?}, {mask:b}: {value}");
            }
            // With one reference row, the logits give the same values.
            let game = masked.game(&model).unwrap();
            match ScoredGame::new(&game, Outputs::Logits, score) {
                Ok(by_logits) => {
                    let pairs = table(&by_logits).into_iter().zip(table(&scored));
                    pairs.for_each(|(a, b)| assert!(close(a, b, 1e-12), "{a} {b}"));
                }
                Err(MediaError::AveragedLogits { scenarios: 3 }) if references == 3 => {}
                Err(refused) => panic!("{refused}"),
            }
        }
    }
}

#[test]
fn a_binary_classifier_is_scored_by_its_logit_or_its_two_probabilities() {
    let model = |row: &[f64]| logits(row)[0];
    let probabilities = Probabilities::new(&model);
    assert_eq!(probabilities.outputs(), 2);
    let masked = masked(1);
    let by_logits = masked.game(&model).unwrap();
    let by_probabilities = masked.game(&probabilities).unwrap();
    for class in 0..2 {
        let score = Score::LogProbability { class };
        let a = table(&ScoredGame::new(&by_logits, Outputs::Logits, score.clone()).unwrap());
        let b = table(&ScoredGame::new(&by_probabilities, Outputs::Probabilities, score).unwrap());
        a.iter().zip(&b).for_each(|(a, b)| assert!(close(*a, *b, 1e-14), "{a} {b}"));
    }
}

#[test]
fn the_log_odds_of_an_additive_logit_are_its_terms() {
    let model = |row: &[f64]| row.iter().sum::<f64>();
    let reference = Background::baseline([0.0; 5]).unwrap();
    let explicand = vec![1.0, -2.0, 0.5, 4.0, 0.25];
    let players = (0..5).map(|feature| vec![feature]).collect();
    let masked = Masked::new(explicand.clone(), reference, players).unwrap();
    let game =
        ScoredGame::new(masked.game(&model).unwrap(), Outputs::Logits, Score::LogOdds { class: 1 }).unwrap();
    let values = enumerate(&game, Semivalue::Shapley).unwrap();
    values.values.iter().zip(&explicand).for_each(|(value, term)| assert!(close(*value, *term, 1e-14)));
}

#[test]
fn the_logarithm_of_nothing_is_an_error_with_its_coalition() {
    let probabilities = TabulatedGame::new(vec![0.5, 0.5, 1.0, 0.0], 2).unwrap();
    let score = Score::LogProbability { class: 1 };
    let scored = ScoredGame::new(&probabilities, Outputs::Probabilities, score).unwrap();
    let mut values = [0.0; 2];
    let refused = scored.values(&Coalitions::from_masks(1, [0, 1]), &mut values).unwrap_err();
    let GameError::NotFinite { coalition, output: 0, value } = refused else { panic!("{refused}") };
    assert!(coalition.view().contains(0) && value == f64::NEG_INFINITY);
    // A class with probability 0 in the distribution may have predicted probability 0.
    let distribution = Score::ExpectedLogProbability { distribution: vec![1.0, 0.0] };
    let scored = ScoredGame::new(&probabilities, Outputs::Probabilities, distribution).unwrap();
    assert_eq!(table(&scored), [0.5_f64.ln(), 0.0]);
}

#[test]
fn logits_that_were_called_probabilities_are_an_error_with_their_coalition() {
    let logits = TabulatedGame::new(vec![0.5, 0.5, 3.0, -2.0], 2).unwrap();
    let scored = ScoredGame::new(&logits, Outputs::Probabilities, Score::LogOdds { class: 1 }).unwrap();
    let refused = scored.values(&Coalitions::from_masks(1, [0, 1]), &mut [0.0; 2]).unwrap_err();
    assert!(refused.to_string().contains("declare the outputs as logits"), "{refused}");
    let GameError::Model { coalition, source } = refused else { panic!("{refused}") };
    assert!(coalition.view().contains(0));
    let problem = source.downcast::<MediaError>().unwrap();
    assert!(matches!(*problem, MediaError::NotAProbability { output: 0, .. }), "{problem}");
}

/// A model with two logits that supports rows near a reference, and counts the complete rows that it
/// predicts.
struct Local {
    whole: AtomicUsize,
}

impl Local {
    fn write(row: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&[row.iter().sum(), row[0] * row[1]]);
    }
}

struct NearRow(Vec<f64>);

impl NearReference for NearRow {
    fn max_changes(&self) -> usize {
        2
    }

    fn predict(&self, rows: &Changes, out: &mut [f64]) -> Result<(), BoxError> {
        for (changes, out) in rows.iter().zip(out.chunks_exact_mut(2)) {
            let mut row = self.0.clone();
            changes.iter().for_each(|&(feature, value)| row[feature] = value);
            Local::write(&row, out);
        }
        Ok(())
    }
}

impl Model for Local {
    fn outputs(&self) -> usize {
        2
    }

    fn features(&self) -> Option<usize> {
        Some(4)
    }

    fn parallel(&self) -> bool {
        false
    }

    fn rows_per_call(&self) -> usize {
        5
    }

    fn near(&self, reference: &[f64]) -> Option<Box<dyn NearReference>> {
        Some(Box::new(NearRow(reference.to_vec())))
    }

    fn predict(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), BoxError> {
        self.whole.fetch_add(rows.len(), Ordering::Relaxed);
        rows.iter().zip(out.chunks_exact_mut(2)).for_each(|(row, out)| Self::write(row, out));
        Ok(())
    }
}

#[test]
fn probabilities_are_asked_for_as_the_model_is() {
    let model = Local { whole: AtomicUsize::new(0) };
    let probabilities = Probabilities::new(&model);
    assert_eq!((probabilities.outputs(), probabilities.features()), (2, Some(4)));
    assert_eq!((probabilities.parallel(), probabilities.rows_per_call()), (false, 5));
    let reference = Background::baseline([0.5, -0.5, 1.0, 0.0]).unwrap();
    let players = (0..4).map(|feature| vec![feature]).collect();
    let masked = Masked::new(vec![1.0, 2.0, 3.0, 4.0], reference, players).unwrap();
    let game = masked.game(&probabilities).unwrap();
    let values = table(&game);
    // Five coalitions of four players have more than two members.
    assert_eq!(model.whole.load(Ordering::Relaxed), 5);
    for (mask, values) in values.chunks_exact(2).enumerate() {
        let present: Vec<bool> = (0..4).map(|player| mask >> player & 1 == 1).collect();
        let mut logits = [0.0; 2];
        Local::write(&masked.row(&present), &mut logits);
        let wanted = softmax(&logits);
        values.iter().zip(wanted).for_each(|(a, b)| assert!(close(*a, b, 1e-15), "{mask:b}: {a} {b}"));
    }
}

#[test]
fn a_logit_that_is_not_finite_is_reported_by_the_game() {
    for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for outputs in [1, 3] {
            let model = batch_model(outputs, move |rows: Rows<'_>| {
                Ok(rows
                    .iter()
                    .flat_map(|row| vec![if row[0] == 1.0 { broken } else { 0.0 }; outputs])
                    .collect())
            });
            let probabilities = Probabilities::new(&model);
            let reference = Background::baseline([0.0]).unwrap();
            let masked = Masked::new(vec![1.0], reference, vec![vec![0]]).unwrap();
            let game = masked.game(&probabilities).unwrap();
            let refused = game.values(&Coalitions::from_masks(1, [1]), &mut vec![0.0; outputs.max(2)]);
            assert!(matches!(refused, Err(GameError::NotFinite { .. })), "{broken}");
        }
    }
}
