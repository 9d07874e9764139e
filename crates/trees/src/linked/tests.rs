//! Against enumeration of the definition: every mixture predicted, and taken through the link.

use apportion_games::{
    Background, Coalitions, Game, GameError, MarginalGame, Model, Partition, Rows, batch_model,
};
use apportion_values::{CoalitionalValue, Semivalue, enumerate, two_step_shapley};

use crate::common::{Random, TreeSpec, linked_document, read};
use crate::oracle::tests::semivalues;
use crate::{Ensemble, Link, LinkedOracle, ModelError, TreeError};

const LINKS: [Link; 6] = [
    Link::Identity,
    Link::Logistic { steepness: 1.0 },
    Link::Logistic { steepness: 0.3 },
    Link::Exponential,
    Link::Softplus,
    Link::HalfPower { unit: 3.5 },
];

struct Case {
    trees: Vec<TreeSpec>,
    base: Vec<f64>,
    ensemble: Ensemble,
    features: usize,
    explicands: Vec<f64>,
    background: Background,
}

impl Case {
    fn new(
        random: &mut Random,
        trees: Vec<TreeSpec>,
        features: usize,
        link: Link,
        rows: (usize, usize),
    ) -> Self {
        let outputs = trees.iter().map(|tree| tree.output + 1).max().unwrap_or(1);
        let base: Vec<f32> = (0..outputs).map(|output| output as f32 * 0.5 - 0.75).collect();
        let ensemble = read(&linked_document(&trees, features, &base, Some(link))).unwrap();
        let weights: Vec<f64> = (0..rows.1).map(|_| random.below(4) as f64 + 0.25).collect();
        let background = Background::rows(random.row(features * rows.1), features).unwrap();
        Self {
            trees,
            base: base.into_iter().map(f64::from).collect(),
            ensemble,
            features,
            explicands: random.row(features * rows.0),
            background: background.with_weights(&weights).unwrap(),
        }
    }

    /// Trees on some features, `outputs` of them in turns, some ruled.
    fn random(seed: u64, features: usize, outputs: usize, link: Link) -> Self {
        let mut random = Random(seed);
        let all: Vec<usize> = (0..features).collect();
        let trees = (0..5 * outputs)
            .map(|index| match index {
                0 => TreeSpec::leaf(0.0),
                _ => {
                    let (depth, ruled) = (1 + random.below(5), random.chance(50));
                    TreeSpec::random(&mut random, &all, depth, ruled, index % outputs)
                }
            })
            .collect();
        Self::new(&mut random, trees, features, link, (2, 4))
    }

    fn oracle(&self) -> LinkedOracle<'_> {
        let background = self.background.as_rows();
        LinkedOracle::new(&self.ensemble, background, Some(self.background.weights())).unwrap()
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(&self.explicands, self.features)
    }

    /// The outputs of rows by the trees as they were made, and the formula of the link.
    fn model(&self) -> impl Model {
        let link = self.ensemble.link().unwrap();
        batch_model(self.base.len(), move |rows: Rows<'_>| {
            let outputs = rows.iter().flat_map(|row| {
                let mut margins = self.base.clone();
                self.trees.iter().for_each(|tree| margins[tree.output] += tree.predict(row));
                link.apply(&mut margins);
                margins
            });
            Ok(outputs.collect())
        })
    }

    fn check(&self, what: &str, got: &[f64], twin: impl Fn(&dyn Game) -> Vec<f64>) {
        let model = self.model();
        let mut wanted = Vec::new();
        let mut scale = 1.0f64;
        for row in self.rows().iter() {
            let game = MarginalGame::new(&model, row, &self.background).unwrap();
            let mut ends = vec![0.0; 2 * self.base.len()];
            let mut batch = Coalitions::new(self.features);
            batch.push_empty();
            batch.push_full();
            game.values(&batch, &mut ends).unwrap();
            scale = ends.iter().fold(scale, |scale, end| scale.max(end.abs()));
            wanted.extend(twin(&game));
        }
        assert_eq!(got.len(), wanted.len(), "{what}");
        for (index, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            assert!((got - wanted).abs() <= 1e-12 * scale, "{what}: number {index}: {got} != {wanted}");
        }
    }

    fn check_values(&self, what: &str) {
        let oracle = self.oracle();
        for value in semivalues(self.features) {
            let got = oracle.values(value.clone(), self.rows()).unwrap();
            self.check(&format!("{what}, {value}"), &got.values, |game| {
                enumerate(game, value.clone()).unwrap().values().to_vec()
            });
            self.check(&format!("{what}, base"), &got.base.repeat(self.rows().len()), |game| {
                enumerate(game, value.clone()).unwrap().base().to_vec()
            });
            self.check(&format!("{what}, predictions"), &got.predictions, |game| {
                enumerate(game, value.clone()).unwrap().full().to_vec()
            });
            if !value.is_efficient() {
                continue;
            }
            let outputs = self.base.len();
            for (row, values) in got.values.chunks_exact(self.features * outputs).enumerate() {
                for output in 0..outputs {
                    let sum: f64 = values.iter().skip(output).step_by(outputs).sum();
                    let (base, prediction) = (got.base[output], got.predictions[row * outputs + output]);
                    let scale = prediction.abs().max(base.abs()).max(1.0);
                    assert!((base + sum - prediction).abs() < 1e-12 * scale, "{what}, {value}, sum");
                }
            }
        }
    }
}

#[test]
fn values_of_outputs_are_those_of_every_mixture_behind_the_link() {
    for (seed, link) in LINKS.into_iter().enumerate() {
        for features in [1, 2, 7] {
            for outputs in [1, 2] {
                let case = Case::random(seed as u64 * 100 + features as u64, features, outputs, link);
                case.check_values(&format!("{link:?}, {features} features, {outputs} outputs"));
            }
        }
    }
}

#[test]
fn a_softmax_mixes_its_outputs() {
    for features in [1, 2, 5, 12] {
        let case = Case::random(features as u64, features, 3, Link::Softmax);
        case.check_values(&format!("{features} features"));
    }
}

#[test]
fn tables_are_cut_where_many_players_part() {
    // Each feature has a split of its own, so that all of them part; the trees among them share some.
    let mut random = Random(5);
    for (features, outputs, link) in
        [(13, 1, Link::Exponential), (18, 1, Link::Logistic { steepness: 1.0 }), (16, 3, Link::Softmax)]
    {
        let all: Vec<usize> = (0..features).collect();
        let mut trees: Vec<TreeSpec> = all
            .iter()
            .map(|&feature| {
                let mut tree = TreeSpec::leaf(0.25);
                let [left, _] = tree.split(0, feature, 0.5, true);
                tree.number[left] = -0.5 + feature as f32 * 0.05;
                tree.output = feature % outputs;
                tree
            })
            .collect();
        for output in 0..2 * outputs {
            trees.push(TreeSpec::random(&mut random, &all, 7, false, output % outputs));
        }
        trees.push(TreeSpec::chain(&mut random, &all));
        let mut case = Case::new(&mut random, trees, features, link, (1, 1));
        case.explicands = vec![1.0; features];
        case.background = Background::baseline(vec![0.0; features]).unwrap();
        for value in [Semivalue::Shapley, Semivalue::weighted_banzhaf(0.3).unwrap()] {
            let got = case.oracle().values(value.clone(), case.rows()).unwrap();
            case.check(&format!("{features} features, {value}"), &got.values, |game| {
                enumerate(game, value.clone()).unwrap().values().to_vec()
            });
        }
    }
}

#[test]
fn a_full_tree_is_written_down_in_a_table_of_its_own() {
    // 2^8 leaves, one feature for each level: 3^8 terms, against 12 · 2^8.
    let mut tree = TreeSpec::leaf(0.0);
    let mut level = vec![0];
    for feature in 0..8 {
        level = level.into_iter().flat_map(|node| tree.split(node, feature, 0.5, false)).collect();
    }
    for (index, leaf) in level.into_iter().enumerate() {
        tree.number[leaf] = (index * 37 % 101) as f32 * 0.02 - 1.0;
    }
    let mut random = Random(3);
    let other = TreeSpec::random(&mut random, &[9, 2, 8, 5], 4, false, 0);
    let link = Link::Logistic { steepness: 1.0 };
    let mut case = Case::new(&mut random, vec![other, tree], 10, link, (1, 1));
    case.explicands = vec![1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0];
    case.background = Background::baseline(vec![0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]).unwrap();
    let got = case.oracle().values(Semivalue::Shapley, case.rows()).unwrap();
    case.check("a full tree", &got.values, |game| {
        enumerate(game, Semivalue::Shapley).unwrap().values().to_vec()
    });
}

#[test]
fn features_in_groups_are_those_of_every_mixture() {
    let pairs = [
        CoalitionalValue::owen(),
        CoalitionalValue::banzhaf_owen(),
        CoalitionalValue::symmetric_coalitional_banzhaf(),
        CoalitionalValue {
            between: Semivalue::mixture(&[0.0], &[1.0]).unwrap(),
            within: Semivalue::weighted_banzhaf(0.2).unwrap(),
        },
    ];
    for (seed, features, groups) in [(1, 1, 1), (2, 2, 2), (3, 6, 3), (4, 9, 4), (5, 7, 7), (6, 6, 1)] {
        for (link, outputs) in [(Link::Softmax, 3), (Link::Logistic { steepness: 1.0 }, 1)] {
            let case = Case::random(seed, features, outputs, link);
            let partition = Random(seed).partition(features, groups);
            let what = format!("{features} features in {} groups", partition.len());
            for value in &pairs {
                let got = case.oracle().coalitional_values(value, &partition, case.rows()).unwrap();
                case.check(&format!("{what}, {value:?}"), &got.values, |game| {
                    value.enumerate(game, &partition).unwrap().values
                });
            }
            for value in semivalues(partition.len()) {
                let got = case.oracle().quotient_values(value.clone(), &partition, case.rows()).unwrap();
                case.check(&format!("{what}, quotient {value}"), &got.values, |game| {
                    let quotient = apportion_games::QuotientGame::new(game, &partition).unwrap();
                    enumerate(&quotient, value.clone()).unwrap().values().to_vec()
                });
            }
            let got = case.oracle().two_step_shapley(&partition, case.rows()).unwrap();
            case.check(&format!("{what}, two steps"), &got.values, |game| {
                two_step_shapley(game, &partition).unwrap().values
            });
        }
    }
}

#[test]
fn of_many_features_only_those_that_part_count() {
    let (features, kept) = (200, [3usize, 64, 70, 131, 199]);
    let mut random = Random(9);
    let all: Vec<usize> = (0..features).collect();
    let trees: Vec<TreeSpec> = (0..60)
        .map(|index| {
            let on = if index % 2 == 0 { &all[..] } else { &kept[..] };
            TreeSpec::random(&mut random, on, 5, false, 0)
        })
        .collect();
    let mut case = Case::new(&mut random, trees, features, Link::Logistic { steepness: 1.0 }, (1, 1));
    let background = case.background.as_rows().values().to_vec();
    case.explicands.copy_from_slice(&background);
    for feature in kept {
        case.explicands[feature] = 1.75 - background[feature].max(0.0);
    }
    let got = case.oracle().values(Semivalue::Shapley, case.rows()).unwrap();
    let model = case.model();
    let game = MarginalGame::new(&model, &case.explicands, &case.background).unwrap();
    let few = apportion_games::SubGame::new(&game, &kept).unwrap();
    let wanted = few.expand(enumerate(&few, Semivalue::Shapley).unwrap().values());
    assert!(wanted.iter().filter(|value| **value != 0.0).count() > 2);
    for (feature, (got, wanted)) in got.values.iter().zip(&wanted).enumerate() {
        assert!((got - wanted).abs() < 1e-13, "feature {feature}: {got} != {wanted}");
    }
    // Those who do not part are null exactly.
    assert!((0..features).all(|feature| kept.contains(&feature) || got.values[feature] == 0.0));
}

#[test]
fn background_rows_that_decide_alike_count_together() {
    let mut case = Case::random(21, 5, 1, Link::Exponential);
    let rows: Vec<f64> = (0..40).flat_map(|row| [f64::from(row % 3); 5]).collect();
    case.background = Background::rows(rows, 5).unwrap();
    case.check_values("three kinds of rows");
    let oracle = case.oracle().with_most_steps(3 * (32 + 25 * 16) * 2);
    oracle.values(Semivalue::Shapley, case.rows()).unwrap();
}

#[test]
fn more_threads_give_the_same_bytes() {
    let case = Case::random(33, 12, 3, Link::Softmax);
    let explain = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| case.oracle().values(Semivalue::Shapley, case.rows()).unwrap().values)
    };
    let one = explain(1);
    assert!([2, 3].into_iter().all(|threads| explain(threads) == one));
}

/// A sum of steps, one for each feature, behind a logistic link.
fn steps(features: usize) -> Case {
    let trees = (0..features).map(|feature| {
        let mut tree = TreeSpec::leaf(0.125);
        tree.split(0, feature, 0.5, true);
        tree.number[1] = -0.125;
        tree
    });
    let trees = trees.collect();
    let mut case = Case::new(&mut Random(1), trees, features, Link::Logistic { steepness: 1.0 }, (1, 1));
    case.explicands = vec![1.0; features];
    case.background = Background::baseline(vec![0.0; features]).unwrap();
    case
}

#[test]
fn what_would_take_too_long_is_refused_before_it_is_begun() {
    for (features, named) in [(45, Some(45)), (62, Some(62)), (63, None), (300, None)] {
        let case = steps(features);
        for most in [LinkedOracle::MOST_STEPS, if named.is_none() { u64::MAX } else { 0 }] {
            let oracle = case.oracle().with_most_steps(most);
            let refused = oracle.values(Semivalue::Shapley, case.rows()).unwrap_err();
            let told = match &refused {
                TreeError::TooManySteps { parting, row: 0, background_row: 0, .. } => *parting,
                other => panic!("{other}"),
            };
            assert_eq!(told, named, "{refused}");
        }
        // In few groups it takes no time.
        let groups = (0..5).map(|group| (0..features).filter(|feature| feature % 5 == group).collect());
        let partition = Partition::new(features, groups.collect()).unwrap();
        let got = case.oracle().quotient_values(Semivalue::Shapley, &partition, case.rows()).unwrap();
        let total: f64 = got.values.iter().sum();
        assert!((got.base[0] + total - got.predictions[0]).abs() < 1e-14);
    }
}

#[test]
fn the_limit_is_what_is_counted() {
    let case = steps(6);
    // 64 mixtures, and two leaves for each of six trees.
    let explain = |most| case.oracle().with_most_steps(most).values(Semivalue::Shapley, case.rows());
    explain(76).unwrap();
    assert!(matches!(explain(75), Err(TreeError::TooManySteps { steps: 76, most: 75, .. })));
    assert!(explain(75).unwrap_err().to_string().contains("6 features or groups"));
}

#[test]
fn links_that_are_not_known_and_outputs_that_are_too_large_are_refused() {
    let case = steps(3);
    let unknown = read(&linked_document(&case.trees, 3, &[0.0], None)).unwrap();
    let background = Rows::new(&[0.0; 3], 3);
    assert!(matches!(
        LinkedOracle::new(&unknown, background, None),
        Err(TreeError::Model(ModelError::UnknownLink { .. }))
    ));
    assert!(matches!(unknown.linked(), Err(ModelError::UnknownLink { .. })));

    let mut tree = TreeSpec::leaf(800.0);
    let [low, _] = tree.split(0, 0, 0.5, true);
    tree.number[low] = 0.0;
    let [_, down] = tree.split(low, 1, 0.5, true);
    tree.number[down] = -900.0;
    // Large on the background, on the explicand, and on a mixture alone.
    let ensemble = read(&linked_document(&[tree], 2, &[0.0], Some(Link::Exponential))).unwrap();
    for (row, background) in [([0.0, 0.0], [1.0, 0.0]), ([1.0, 0.0], [0.0, 0.0])] {
        let refused = LinkedOracle::new(&ensemble, Rows::new(&background, 2), None)
            .and_then(|oracle| oracle.values(Semivalue::Shapley, Rows::new(&row, 2)))
            .unwrap_err();
        assert!(matches!(refused, TreeError::OutputOverflow { output: 0, .. }), "{refused}");
    }
    let mut both = TreeSpec::leaf(0.0);
    let [_, high] = both.split(0, 0, 0.5, true);
    let [_, top] = both.split(high, 1, 0.5, true);
    both.number[top] = 800.0;
    let ensemble = read(&linked_document(&[both], 2, &[0.0], Some(Link::Exponential))).unwrap();
    let oracle = LinkedOracle::new(&ensemble, Rows::new(&[1.0, 0.0], 2), None).unwrap();
    let refused = oracle.values(Semivalue::Shapley, Rows::new(&[0.0, 1.0], 2)).unwrap_err();
    assert!(matches!(refused, TreeError::OutputOverflow { output: 0, .. }), "{refused}");
}

#[test]
fn rows_and_groups_of_another_width_are_refused() {
    let case = steps(3);
    let oracle = case.oracle();
    let refused = oracle.values(Semivalue::Shapley, Rows::new(&[0.0; 4], 4)).unwrap_err();
    assert!(matches!(refused, TreeError::Game(GameError::Width { .. })), "{refused}");
    let infinite = [0.0, f64::INFINITY, 0.0];
    let refused = oracle.two_step_shapley(&Partition::whole(3), Rows::new(&infinite, 3)).unwrap_err();
    assert!(matches!(refused, TreeError::Game(GameError::InfiniteInput { .. })), "{refused}");
    let refused = oracle.quotient_values(Semivalue::Shapley, &Partition::whole(4), case.rows()).unwrap_err();
    assert!(matches!(refused, TreeError::Game(GameError::PartitionOfOthers { .. })), "{refused}");
    let by_size = Semivalue::by_size(&[0.5, 0.5]).unwrap();
    assert!(matches!(oracle.values(by_size, case.rows()), Err(TreeError::Value(_))));
}

#[test]
fn leaves_of_any_size_keep_their_digits() {
    for scale in [1e-30f32, 1e-3, 1e3, 1e30] {
        let link = Link::HalfPower { unit: f64::from(scale) };
        let mut case = Case::random(77, 4, 1, link);
        for tree in &mut case.trees {
            let leaves = (0..tree.number.len()).filter(|&node| tree.left[node] == -1);
            leaves.for_each(|node| tree.number[node] *= scale);
        }
        case.base = vec![0.0];
        case.ensemble = read(&linked_document(&case.trees, 4, &[0.0], Some(link))).unwrap();
        case.check_values(&format!("leaves of {scale}"));
    }
}
