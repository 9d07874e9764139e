//! Every kernel against the definition, and against each other.

use apportion_games::{GameError, Rows};
use apportion_values::{Semivalue, ValueError};

use super::InterventionalOracle;
use super::cost::{self, Choose, Kernel};
use super::kept::Asked;
use crate::common::{Random, TreeSpec, by_enumeration, by_leaves, document, read};
use crate::moments::Moments;
use crate::tables::shape;
use crate::tables::table::Weights;
use crate::{Ensemble, TreeError};

/// Every kind of semivalue, for games of `players`.
pub(crate) fn semivalues(players: usize) -> Vec<Semivalue> {
    // No mixing measure has these weights: sizes in the middle do not occur.
    let law: Vec<f64> =
        (0..players).map(|size| f64::from(u8::from(size == 0 || size + 1 == players))).collect();
    let total: f64 = law.iter().sum();
    vec![
        Semivalue::Shapley,
        Semivalue::Banzhaf,
        Semivalue::weighted_banzhaf(0.1).unwrap(),
        Semivalue::beta_shapley(16.0, 1.0).unwrap(),
        Semivalue::beta_shapley(0.5, 3.5).unwrap(),
        Semivalue::mixture(&[0.0, 0.3, 0.8, 1.0], &[0.125, 0.25, 0.5, 0.125]).unwrap(),
        Semivalue::by_size_law(&law.iter().map(|weight| weight / total).collect::<Vec<_>>()).unwrap(),
    ]
}

/// Each kernel wherever it can be used, and the choice that users get.
pub(crate) const CHOICES: [(&str, Choose); 5] = [
    ("walk", |_| Kernel::Walk),
    ("cohorts", |task| if task.cohorts { Kernel::Cohorts } else { Kernel::Walk }),
    ("masks", |task| if (task.sorted)().is_some() { Kernel::Masks } else { Kernel::Walk }),
    ("tables", |task| match (task.sorted)().map(|(paths, _)| shape::size(task.nodes, paths, task.layout)) {
        Some(Some((size, _))) => Kernel::Tables { size },
        Some(None) => Kernel::Masks,
        None => Kernel::Walk,
    }),
    ("choice", cost::choose),
];

pub(crate) struct Case {
    pub(crate) trees: Vec<TreeSpec>,
    pub(crate) ensemble: Ensemble,
    pub(crate) features: usize,
    pub(crate) outputs: usize,
    pub(crate) explicands: Vec<f64>,
    pub(crate) background: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

impl Case {
    pub(crate) fn new(
        random: &mut Random,
        trees: Vec<TreeSpec>,
        features: usize,
        outputs: usize,
        rows: (usize, usize),
    ) -> Self {
        let base_scores: Vec<f32> = (0..outputs).map(|output| output as f32 - 0.75).collect();
        let ensemble = read(&document(&trees, features, &base_scores)).unwrap();
        let weights: Vec<f64> = (0..rows.1).map(|_| random.below(4) as f64).map(|w| w + 0.25).collect();
        Self {
            trees,
            ensemble,
            features,
            outputs,
            explicands: random.row(features * rows.0),
            background: random.row(features * rows.1),
            weights,
        }
    }

    fn shares(&self) -> Vec<f64> {
        let total: f64 = self.weights.iter().sum();
        self.weights.iter().map(|weight| weight / total).collect()
    }

    pub(crate) fn explicands(&self) -> Rows<'_> {
        Rows::new(&self.explicands, self.features)
    }

    pub(crate) fn background(&self) -> Rows<'_> {
        Rows::new(&self.background, self.features)
    }

    /// Compares every kernel with `twin`, which gives the values of one explicand; and values, base and prediction with each other.
    fn check(&self, what: &str, twin: impl Fn(&Self, Semivalue, &[f64]) -> Vec<f64>) {
        let oracle =
            InterventionalOracle::new(&self.ensemble, self.background(), Some(&self.weights)).unwrap();
        let size = self.features * self.outputs;
        for value in semivalues(self.features) {
            let wanted: Vec<f64> =
                self.explicands().iter().flat_map(|row| twin(self, value.clone(), row)).collect();
            for (name, choose) in CHOICES {
                let got = oracle.values_by(value.clone(), self.explicands(), choose).unwrap();
                for (index, (got, wanted)) in got.values.iter().zip(&wanted).enumerate() {
                    let close = (got - wanted).abs() < 1e-12;
                    assert!(close, "{what}, {value}, {name}: number {index}: {got} != {wanted}");
                }
                if !value.is_efficient() {
                    continue;
                }
                for (row, values) in got.values.chunks_exact(size).enumerate() {
                    for output in 0..self.outputs {
                        let sum: f64 = values.iter().skip(output).step_by(self.outputs).sum();
                        let prediction = got.predictions[row * self.outputs + output];
                        let close = (sum + got.base[output] - prediction).abs() < 1e-11;
                        assert!(
                            close,
                            "{what}, {name}: row {row}: {sum} + {} != {prediction}",
                            got.base[output]
                        );
                    }
                }
            }
        }
    }

    fn enumerated(&self, value: Semivalue, players: &[usize], explicand: &[f64]) -> Vec<f64> {
        by_enumeration(
            value,
            &self.trees,
            self.outputs,
            players,
            explicand,
            self.background(),
            &self.shares(),
        )
    }

    fn leaf_sums(&self, value: Semivalue, explicand: &[f64]) -> Vec<f64> {
        by_leaves(value, &self.trees, self.outputs, explicand, self.background(), &self.shares())
    }
}

/// Some of the features, in a random order.
fn pick(random: &mut Random, features: usize, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..features).collect();
    for index in 0..count.min(features) {
        let other = index + random.below(features - index);
        all.swap(index, other);
    }
    all.truncate(count);
    all
}

#[test]
fn all_kernels_give_the_values_of_the_definition() {
    let random = &mut Random(1);
    for features in [1, 2, 3, 7, 70, 130] {
        for depth in [0, 1, 2, 4, 7] {
            for (outputs, categorical, background) in [(1, false, 1), (1, true, 5), (3, true, 20)] {
                let players = pick(random, features, 6);
                let trees = (0..2 * outputs)
                    .map(|index| TreeSpec::random(random, &players, depth, categorical, index % outputs))
                    .collect();
                let case = Case::new(random, trees, features, outputs, (3, background));
                let what = format!(
                    "{features} features, depth {depth}, {outputs} outputs, {background} background rows"
                );
                case.check(&what, |case, value, row| case.enumerated(value, &players, row));
                case.check(&what, |case, value, row| case.leaf_sums(value, row));
            }
        }
    }
}

#[test]
fn all_kernels_agree_across_blocks_of_rows() {
    let random = &mut Random(2);
    let features: Vec<usize> = (0..9).collect();
    let trees = (0..6).map(|_| TreeSpec::random(random, &features, 6, true, 0)).collect();
    let case = Case::new(random, trees, 9, 1, (131, 130));
    case.check("131 rows against 130", |case, value, row| case.leaf_sums(value, row));
}

#[test]
fn a_path_with_more_features_than_a_word_has_bits_is_walked() {
    let random = &mut Random(3);
    for features in [63, 64, 65, 100, 300] {
        // Some features twice, so that the path is longer than it has features.
        let path: Vec<usize> = (0..features).chain((0..features).step_by(7)).collect();
        let chain = TreeSpec::chain(random, &path);
        let short = TreeSpec::random(random, &[0, 5, 9], 3, true, 0);
        let mut case = Case::new(random, vec![chain, short], features, 1, (3, 4));
        // Rows that mostly go down the chain, so that mixtures reach its end.
        for value in case.explicands.iter_mut().chain(&mut case.background) {
            *value = if random.chance(2) { -1.0 } else { 1.0 };
        }
        case.check(&format!("a chain of {features}"), |case, value, row| case.leaf_sums(value, row));
    }
}

#[test]
fn deep_trees_need_no_deep_stack() {
    let random = &mut Random(4);
    let features: Vec<usize> = (0..5000).collect();
    let trees = vec![TreeSpec::chain(random, &features)];
    let ensemble = read(&document(&trees, 5000, &[0.0])).unwrap();
    assert_eq!(ensemble.depth(), 5000);
    // Explicand and background part at every split, the longest walk there is.
    let (high, low) = (vec![1.0; 5000], vec![-1.0; 5000]);
    let oracle = InterventionalOracle::new(&ensemble, Rows::new(&low, 5000), None).unwrap();
    let got = oracle.values(Semivalue::Shapley, Rows::new(&high, 5000)).unwrap();
    let total: f64 = got.values.iter().sum();
    assert!((total + got.base[0] - got.predictions[0]).abs() < 1e-12);
    // Beyond the table, moments are computed one by one.
    let uniform = Semivalue::beta_shapley(1.0, 1.0).unwrap();
    for (a, b) in oracle.values(uniform, Rows::new(&high, 5000)).unwrap().values.iter().zip(&got.values) {
        assert!((a - b).abs() < 1e-14, "{a} != {b}");
    }
    let skewed = Semivalue::beta_shapley(0.3, 40.0).unwrap();
    let got = oracle.values(skewed, Rows::new(&high, 5000)).unwrap();
    assert!(got.values.iter().all(|value| value.is_finite()));
}

#[test]
fn a_value_that_ties_with_a_threshold_as_f32_goes_right() {
    // 0.1 is below the threshold 0.1_f32 = 0.100000001 as f64, but rounds to the same f32, and XGBoost compares f32 x < f32 t.
    let threshold = 0.1_f32;
    let mut tree = TreeSpec::leaf(0.0);
    let [left, right] = tree.split(0, 0, threshold, false);
    (tree.number[left], tree.number[right]) = (-1.0, 1.0);
    let ensemble = read(&document(&[tree], 1, &[0.0])).unwrap();
    let below = f64::from(f32::from_bits(threshold.to_bits() - 1));
    let ties = [0.1, f64::from(threshold), f64::from(threshold) - 1e-9, f64::from(threshold) + 1e-9];
    assert!(0.1 < f64::from(threshold));
    assert_eq!(ensemble.margins(Rows::new(&ties, 1)).unwrap(), [1.0; 4]);
    assert_eq!(ensemble.margins(Rows::new(&[below], 1)).unwrap(), [-1.0]);
    let oracle = InterventionalOracle::new(&ensemble, Rows::new(&[below], 1), None).unwrap();
    for (name, choose) in CHOICES {
        let got = oracle.values_by(Semivalue::Shapley, Rows::new(&ties, 1), choose).unwrap();
        assert_eq!(got.values, [2.0; 4], "{name}");
    }
}

#[test]
fn one_player_gets_everything() {
    let mut tree = TreeSpec::leaf(0.0);
    let [left, right] = tree.split(0, 0, 0.5, true);
    (tree.number[left], tree.number[right]) = (3.0, 10.0);
    let ensemble = read(&document(&[tree], 1, &[0.0])).unwrap();
    let oracle = InterventionalOracle::new(&ensemble, Rows::new(&[f64::NAN], 1), None).unwrap();
    for value in semivalues(1) {
        let got = oracle.values(value, Rows::new(&[1.0, 0.0], 1)).unwrap();
        assert_eq!((got.values, got.base, got.predictions), (vec![7.0, 0.0], vec![3.0], vec![10.0, 3.0]));
    }
}

#[test]
fn results_are_the_same_bytes_on_any_number_of_threads() {
    let random = &mut Random(5);
    // Rows that are taken in for each turn anew, those that stay, and those whose sums are added up by sections of the trees.
    for (features, explicands) in [(12, 300), (4, 60), (4, 110)] {
        let names: Vec<usize> = (0..features).collect();
        let trees = (0..20).map(|_| TreeSpec::random(random, &names, 6, false, 0)).collect();
        let case = Case::new(random, trees, features, 1, (explicands, 90));
        let explain = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let oracle =
                    InterventionalOracle::new(&case.ensemble, case.background(), Some(&case.weights))
                        .unwrap();
                CHOICES.map(|(_, choose)| {
                    oracle.values_by(Semivalue::Shapley, case.explicands(), choose).unwrap()
                })
            })
        };
        let bits = |attributions: [super::Attributions; 5]| {
            attributions.map(|attributions| {
                attributions.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
            })
        };
        let one = bits(explain(1));
        assert_eq!(one, bits(explain(2)));
        assert_eq!(one, bits(explain(5)));
    }
}

#[test]
fn weights_count_only_relative_to_each_other() {
    let random = &mut Random(6);
    let trees = vec![TreeSpec::random(random, &[0, 1, 2], 4, false, 0)];
    let case = Case::new(random, trees, 3, 1, (2, 3));
    let explain = |background: &[f64], weights: Option<&[f64]>| {
        let oracle = InterventionalOracle::new(&case.ensemble, Rows::new(background, 3), weights).unwrap();
        oracle.values(Semivalue::Shapley, case.explicands()).unwrap()
    };
    let twice: Vec<f64> = [&case.background[..], &case.background[..3]].concat();
    let listed = explain(&twice, None);
    for weights in [[2.0, 1.0, 1.0], [1e308, 5e307, 5e307], [2e-300, 1e-300, 1e-300]] {
        let weighted = explain(&case.background, Some(&weights));
        for (a, b) in listed.values.iter().zip(&weighted.values) {
            assert!((a - b).abs() < 1e-14, "{weights:?}: {a} != {b}");
        }
    }
    let first = explain(&case.background[..3], None);
    assert_eq!(first, explain(&case.background, Some(&[1.0, 0.0, 0.0])));
}

#[test]
fn bad_rows_and_weights_are_refused_by_name() {
    let trees = [TreeSpec::random(&mut Random(7), &[0, 1], 2, false, 0)];
    let ensemble = read(&document(&trees, 2, &[0.0])).unwrap();
    let new = |background: &[f64], columns, weights: Option<&[f64]>| match InterventionalOracle::new(
        &ensemble,
        Rows::new(background, columns),
        weights,
    ) {
        Err(TreeError::Game(error)) => error,
        _ => panic!("accepted"),
    };
    assert!(matches!(new(&[], 2, None), GameError::EmptyBackground));
    assert!(matches!(new(&[0.0; 3], 3, None), GameError::Width { given: 3, wanted: 2, .. }));
    let error = new(&[0.0, 0.0, 1.0, f64::INFINITY], 2, None);
    assert!(matches!(error, GameError::InfiniteInput { column: 1, .. }));
    assert!(error.to_string().contains("background row 1"), "{error}");
    for weights in [&[1.0][..], &[1.0, -1.0], &[0.0, 0.0], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
        assert!(
            matches!(new(&[0.0; 4], 2, Some(weights)), GameError::BackgroundWeights { .. }),
            "{weights:?}"
        );
    }
    let oracle = InterventionalOracle::new(&ensemble, Rows::new(&[0.0; 2], 2), None).unwrap();
    let explain = |rows: &[f64], columns| match oracle.values(Semivalue::Shapley, Rows::new(rows, columns)) {
        Err(TreeError::Game(error)) => error,
        _ => panic!("accepted"),
    };
    assert!(matches!(explain(&[0.0], 1), GameError::Width { given: 1, wanted: 2, .. }));
    let error = explain(&[0.0, 0.0, 0.0, 0.0, f64::NEG_INFINITY, 0.0], 2);
    assert!(
        matches!(error, GameError::InfiniteInput { column: 0, .. }) && error.to_string().contains("row 2"),
        "{error}"
    );
    let three = Semivalue::by_size_law(&[0.5, 0.0, 0.5]).unwrap();
    let error = oracle.values(three, Rows::new(&[0.0; 2], 2)).unwrap_err();
    assert!(matches!(error, TreeError::Value(ValueError::WeightsForOtherPlayers { .. })), "{error}");
    let none = oracle.values(Semivalue::Shapley, Rows::new(&[], 2)).unwrap();
    assert!(none.values.is_empty() && none.predictions.is_empty());
}

#[test]
fn the_choice_of_kernel_follows_the_work() {
    let features: Vec<usize> = (0..8).collect();
    let tree = TreeSpec::random(&mut Random(8), &features, 5, false, 0);
    let ensemble = read(&document(&[tree], 8, &[0.0])).unwrap();
    let background = Random(9).row(8 * 200);
    let chosen = |rows: usize, background_rows: usize| {
        let rows_of = Rows::new(&background[..8 * background_rows], 8);
        let oracle = InterventionalOracle::new(&ensemble, rows_of, None).unwrap();
        let explicands = Random(10).row(8 * rows);
        let asked = Asked::Values(Semivalue::Shapley);
        let question = oracle.of_features(Weights::Alike(Moments::new(Semivalue::Shapley, 8)), asked);
        oracle.kernels(&question, Rows::new(&explicands, 8), cost::choose)[0]
    };
    assert_eq!(chosen(1, 1), Kernel::Walk);
    assert_eq!(chosen(3, 200), Kernel::Cohorts);
    assert!(matches!(chosen(10_000, 1), Kernel::Tables { .. }));
    assert!(matches!(chosen(10_000, 200), Kernel::Tables { .. }));
}
