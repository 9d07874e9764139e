//! Compares compiled backgrounds with the rows from which they were compiled.

use apportion_games::{GameError, Rows};
use apportion_trees::{
    Attributions, BackgroundCompiler, CompiledBackground, Ensemble, Exact, MarginalTreeExplainer, TreeError,
};
use apportion_values::{Semivalue, Value};
use sha2::{Digest, Sha256};

use crate::common::{Random, TreeSpec, document, read};

/// Compiles background rows, in calls with `cut` rows each.
fn compile(ensemble: &Ensemble, rows: &[f64], weights: Option<&[f64]>, cut: usize) -> CompiledBackground {
    let features = ensemble.feature_count();
    let mut compiler = BackgroundCompiler::new(ensemble).unwrap();
    for (index, rows) in rows.chunks(cut * features).enumerate() {
        let count = rows.len() / features;
        let weights = weights.map(|weights| &weights[index * cut..][..count]);
        compiler.add(Rows::new(rows, features), weights).unwrap();
    }
    compiler.finish().unwrap()
}

fn assert_close(got: &Attributions, expected: &Attributions, what: &str) {
    assert_eq!(got.predictions, expected.predictions);
    assert_eq!(got.values.len(), expected.values.len());
    for (got, expected) in
        got.values.iter().chain(&got.base).zip(expected.values.iter().chain(&expected.base))
    {
        assert!((got - expected).abs() < 1e-12, "{what}: {got} != {expected}");
    }
}

/// Returns an ensemble with trees of every kind: categorical splits, several outputs, single leaves, and long
/// paths that are not counted set by set.
fn ensemble(random: &mut Random, features: usize, outputs: usize) -> Ensemble {
    let all: Vec<usize> = (0..features).collect();
    let mut trees = vec![TreeSpec::leaf(0.75), TreeSpec::chain(random, &all[..features.min(30)])];
    for index in 0..4 * outputs {
        trees.push(TreeSpec::random(random, &all, 1 + index % 6, index % 2 == 0, index % outputs));
    }
    read(&document(&trees, features, &vec![0.5; outputs])).unwrap()
}

fn weights_of_every_kind(random: &mut Random, rows: usize) -> Vec<Option<Vec<f64>>> {
    let mut drawn = |weights: &[f64]| (0..rows).map(|_| weights[random.below(weights.len())]).collect();
    vec![
        None,
        Some(vec![1.0; rows]),
        Some(drawn(&[1.0, 0.0])),
        Some(drawn(&[0.3, 0.0, 1.0, 7.25])),
        Some(vec![1e300; rows]),
    ]
}

#[test]
fn all_values_are_those_against_the_rows() {
    let random = &mut Random(31);
    for (features, outputs, rows) in [(1, 1, 1), (2, 1, 3), (7, 3, 65), (7, 1, 700), (12, 1, 20), (70, 2, 30)]
    {
        let ensemble = ensemble(random, features, outputs);
        let background = random.row(features * rows);
        let explicands = random.row(features * 70);
        let partition = random.partition(features, 4);
        let banzhaf = Semivalue::weighted_banzhaf(0.3).unwrap();
        let values = [
            Semivalue::Shapley.into(),
            banzhaf.clone().into(),
            Value::quotient(Semivalue::Shapley, partition.clone()),
            Value::quotient(banzhaf, partition.clone()),
            Value::owen(partition.clone()),
            Value::two_step(partition),
        ];
        for weights in weights_of_every_kind(random, rows) {
            let by_rows =
                MarginalTreeExplainer::new(&ensemble, Rows::new(&background, features), weights.as_deref());
            let Ok(by_rows) = by_rows else { continue };
            let compiled = compile(&ensemble, &background, weights.as_deref(), 1000);
            let counted =
                weights.as_ref().map_or(rows, |weights| weights.iter().filter(|&&w| w > 0.0).count());
            assert_eq!(compiled.row_count(), counted as u64);
            let read = CompiledBackground::read(&compiled.to_bytes(), &ensemble).unwrap();
            let head = CompiledBackground::head(&compiled.to_bytes()).unwrap();
            assert_eq!((head.rows, head.total_weight), (read.row_count(), read.total_weight()));
            assert_eq!(&head.fingerprint, read.fingerprint());
            assert_eq!(read.to_bytes(), compiled.to_bytes());
            for background in [compiled, read] {
                let tree_explainer = MarginalTreeExplainer::from_compiled(&ensemble, background).unwrap();
                for count in [0, 1, 70] {
                    let rows = Rows::new(&explicands[..features * count], features);
                    let what = format!("{features} features, {rows:?}, {weights:?}");
                    for value in &values {
                        let got = tree_explainer.values_of(value, rows).unwrap();
                        assert_close(&got, &by_rows.values_of(value, rows).unwrap(), &what);
                    }
                }
            }
        }
    }
}

#[test]
fn neither_threads_nor_cuts_show_in_the_bytes() {
    let random = &mut Random(32);
    let ensemble = ensemble(random, 9, 2);
    let rows = 9000;
    let background = random.row(9 * rows);
    for weights in weights_of_every_kind(random, rows) {
        let bytes = |threads: usize, cut: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| compile(&ensemble, &background, weights.as_deref(), cut).to_bytes())
        };
        let one = bytes(1, rows);
        for (threads, cut) in [(1, 1), (2, 511), (3, 4096), (5, 6001)] {
            assert!(bytes(threads, cut) == one, "{threads} threads, calls of {cut}");
        }
    }
}

#[test]
fn damaged_files_are_refused() {
    let random = &mut Random(33);
    let trees: Vec<TreeSpec> = (0..2).map(|_| TreeSpec::random(random, &[0, 1, 2], 3, true, 0)).collect();
    let ensemble = read(&document(&trees, 3, &[0.0])).unwrap();
    let background = random.row(3 * 20);
    for weights in [None, Some(vec![0.5; 20])] {
        let bytes = compile(&ensemble, &background, weights.as_deref(), 20).to_bytes();
        let refused = |bytes: &[u8]| match CompiledBackground::read(bytes, &ensemble) {
            Err(error @ TreeError::CompiledBackground { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        };
        for end in 0..bytes.len() {
            refused(&bytes[..end]);
        }
        refused(&[&bytes[..], &[0]].concat());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            refused(&damaged);
        }
        // With a valid checksum, the contents must still be consistent.
        let (content, _) = bytes.split_at(bytes.len() - 32);
        let sealed = |content: &[u8]| [content, &Sha256::digest(content)].concat();
        assert!(CompiledBackground::read(&sealed(content), &ensemble).is_ok());
        assert!(refused(&sealed(&content[..content.len() - 1])).contains("byte"));
        assert!(refused(&sealed(&[content, &[0]].concat())).contains("after the last leaf"));
        let with = |at: usize, new: &[u8]| {
            let mut content = content.to_vec();
            content[at..at + new.len()].copy_from_slice(new);
            sealed(&content)
        };
        assert!(refused(&with(8, &[2])).contains("version 2"));
        assert!(refused(&with(12, &[2])).contains("kind 2"));
        assert!(refused(&with(48, &[0])).contains("rows"));
        for total in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(&with(56, &f64::to_le_bytes(total))).contains("total weight"));
        }
        // The first leaf does not have a pattern, or has more patterns than the remaining bytes can store.
        refused(&with(64, &[0]));
        assert!(
            refused(&with(64, &[0xff, 0xff, 0xff, 0xff, 0x0f])).contains("the remaining bytes are too few")
        );
        // A change of any other byte is detected, or yields another background, and never panics.
        for at in 64..content.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                if let Ok(read) = CompiledBackground::read(&with(at, &[byte]), &ensemble) {
                    let tree_explainer = MarginalTreeExplainer::from_compiled(&ensemble, read).unwrap();
                    tree_explainer.values(Semivalue::Shapley, Rows::new(&background, 3)).unwrap();
                }
            }
        }
        assert!(matches!(
            CompiledBackground::read(&with(16, &[content[16] ^ 1]), &ensemble),
            Err(TreeError::OtherModel { .. })
        ));
    }
}

#[test]
fn leaves_say_what_fits_the_model_only() {
    let mut tree = TreeSpec::leaf(0.0);
    tree.split(0, 0, 0.5, false);
    let ensemble = read(&document(&[tree], 1, &[0.0])).unwrap();
    let bytes = compile(&ensemble, &[0.0, 1.0, 2.0], None, 3).to_bytes();
    let header = &bytes[..64];
    let leaves = |leaves: &[u8]| {
        let content = [header, leaves].concat();
        let bytes = [&content[..], &Sha256::digest(&content)].concat();
        CompiledBackground::read(&bytes, &ensemble).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(leaves(&[2, 0, 2, 1, 1, 2, 0, 1, 1, 2]), Ok(()));
    let refused = |bytes: &[u8], what: &str| {
        let error = leaves(bytes).unwrap_err();
        assert!(error.contains(what), "{error}");
    };
    refused(&[2, 0, 2, 2, 1, 2, 0, 1, 1, 2], "more bits");
    refused(&[2, 0, 2, 0, 1, 2, 0, 1, 1, 2], "not above");
    refused(&[2, 0, 0, 1, 3, 2, 0, 1, 1, 2], "weight 0");
    refused(&[2, 0, 1, 1, 1, 2, 0, 1, 1, 2], "the weights of a leaf sum to 2, expected 3");
    refused(&[2, 0, 2, 1, 1], "unexpected end of file");
}

#[test]
fn other_models_are_refused() {
    let random = &mut Random(34);
    let tree = TreeSpec::random(random, &[0, 1, 2], 3, true, 0);
    let read_one =
        |tree: &TreeSpec, score: f32| read(&document(std::slice::from_ref(tree), 3, &[score])).unwrap();
    let ensemble = read_one(&tree, 0.0);
    let compiled = compile(&ensemble, &random.row(9), None, 3);
    let leaf = tree.left.iter().position(|&left| left == -1).unwrap();
    let (mut value, mut default, mut set) = (tree.clone(), tree.clone(), tree.clone());
    value.number[leaf] += 1.0;
    default.default_left[0] ^= true;
    set.set[0] = Some(vec![1, 7]);
    let others = [read_one(&tree, 1.0), read_one(&value, 0.0), read_one(&default, 0.0), read_one(&set, 0.0)];
    for other in others {
        let error = MarginalTreeExplainer::from_compiled(&other, compiled.clone()).unwrap_err();
        assert!(matches!(error, TreeError::OtherModel { .. }));
        assert!(error.to_string().contains("compile the background again"), "{error}");
        assert!(matches!(
            CompiledBackground::read(&compiled.to_bytes(), &other),
            Err(TreeError::OtherModel { .. })
        ));
    }
    assert!(MarginalTreeExplainer::from_compiled(read_one(&tree, 0.0), compiled).is_ok());
}

#[test]
fn what_cannot_be_compiled_is_refused_by_name() {
    let random = &mut Random(35);
    let path: Vec<usize> = (0..65).collect();
    let trees = [TreeSpec::leaf(1.0), TreeSpec::chain(random, &path)];
    let long = read(&document(&trees, 65, &[0.0])).unwrap();
    let error = BackgroundCompiler::new(&long).unwrap_err();
    assert!(matches!(error, TreeError::Unsupported { .. }));
    assert!(error.to_string().contains("tree 1") && error.to_string().contains("64"), "{error}");

    let ensemble = read(&document(&trees[..1], 2, &[0.0])).unwrap();
    let mut compiler = BackgroundCompiler::new(&ensemble).unwrap();
    assert!(matches!(
        compiler.add(Rows::new(&[0.0; 3], 3), None),
        Err(TreeError::Game(GameError::Width { .. }))
    ));
    for weights in [&[1.0][..], &[1.0, -1.0], &[1.0, f64::NAN], &[f64::INFINITY, 1.0]] {
        let error = compiler.add(Rows::new(&[0.0; 4], 2), Some(weights)).unwrap_err();
        assert!(matches!(error, TreeError::Game(GameError::BackgroundWeights { .. })), "{error}");
    }
    // None of these calls added a row.
    assert!(matches!(compiler.finish(), Err(TreeError::Game(GameError::EmptyBackground))));
    for weights in [[0.0, 0.0], [1e308, 1e308], [5e-324, 0.0]] {
        let mut compiler = BackgroundCompiler::new(&ensemble).unwrap();
        compiler.add(Rows::new(&[0.0; 4], 2), Some(&weights)).unwrap();
        let error = compiler.finish().unwrap_err();
        assert!(matches!(error, TreeError::Game(GameError::BackgroundWeights { .. })), "{error}");
    }
}
