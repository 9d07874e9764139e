//! The checks that all targets for model files share.

use std::sync::Once;

use apportion_games::{Coalitions, Game, Partition, Rows};
use apportion_trees::{
    Attributions, BackgroundCompiler, CompiledBackground, Diagonal, Ensemble, Exact, Kernel,
    LinkedTreeExplainer, MarginalTreeExplainer, ModelError, PathDependentGame, PathDependentTreeExplainer,
    ReadOptions, Rounds, Settings, TreeError,
};
use apportion_values::{Semivalue, Value};

/// The maximum of features × outputs for which rows are created: a few bytes can declare a million features.
const MAX_COLUMNS: usize = 4096;
/// A power of two, smaller than 1 / [`MAX_COLUMNS`], so that sums of scaled values are finite.
const PART: f64 = 1.0 / 65536.0;
/// The maximum of leaves × depth for which a model is explained. Larger models are skipped, because they
/// would take too long.
const MAX_WORK: usize = 20_000;

/// Runs everything on the calling thread, whose stack and time libFuzzer watches.
pub fn use_one_thread() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global()
            .expect("no pool yet");
    });
}

/// Checks that reading a model does not panic. If a model was read, checks that predictions and explanations
/// do not panic either.
pub fn check(bytes: &[u8]) {
    use_one_thread();
    let Ok(ensemble) = Ensemble::from_bytes(bytes) else { return };
    let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
    if features.saturating_mul(outputs) > MAX_COLUMNS {
        return;
    }
    let rows: Vec<f64> = (0..features)
        .map(|_| 0.0)
        .chain((0..features).map(|_| f64::NAN))
        .chain((0..2 * features).map(|index| [1.5, -1.0, f64::NAN, 3e9, 0.0, -0.5, 7.0][index % 7]))
        .enumerate()
        .map(
            |(index, cell)| {
                if cell.is_nan() && ensemble.refuses_missing(index % features) { -2.0 } else { cell }
            },
        )
        .collect();
    let rows = Rows::new(&rows, features);
    let margins = ensemble.margins(rows).expect("rows of the right width");
    assert_eq!(margins.len(), 4 * outputs);
    if ensemble.leaf_count().saturating_mul(ensemble.depth()) > MAX_WORK {
        return;
    }
    let explained = Explained { ensemble: &ensemble, rows, margins: &margins, bytes, tame: is_tame(bytes) };
    explained.against_background();
    explained.behind_the_link();
    match ensemble.check_covers() {
        Ok(()) => explained.path_dependent(),
        Err(_) => assert!(PathDependentTreeExplainer::new(&ensemble).is_err()),
    }
}

struct Explained<'a> {
    bytes: &'a [u8],
    ensemble: &'a Ensemble,
    rows: Rows<'a>,
    margins: &'a [f64],
    /// Whether all leaves are known to be small. Otherwise, large leaves may cause a loss of digits in small
    /// ones.
    tame: bool,
}

impl Explained<'_> {
    /// Checks that values sum to the prediction, up to rounding errors of the largest leaf. If the walk
    /// computed the values, `walked` is the background. The walk only visits leaves that contribute, so the
    /// check also applies to models with large leaves.
    fn adds_up(&self, explained: &Attributions, walked: Option<Rows<'_>>, what: &str) {
        let mut all = explained.values.iter().chain(&explained.base).chain(self.margins);
        let largest =
            all.try_fold(0.0, |largest: f64, value| value.is_finite().then(|| largest.max(value.abs())));
        let Some(largest) = largest else {
            assert!(self.has_linear_leaves(), "{what}: values that are not finite");
            return;
        };
        if !self.tame && walked.is_none() {
            return;
        }
        for row in (0..explained.rows()).map(|row| explained.of_row(row)) {
            for (output, (base, prediction)) in row.base.iter().zip(&row.predictions).enumerate() {
                // Scale down, because sums of numbers near the largest finite ones would be infinite.
                let sum: f64 = (0..row.players()).map(|player| PART * row.value(0, player)[output]).sum();
                let gap = (PART * base + sum - PART * prediction).abs();
                let is_near = |largest: f64| gap <= PART * (1e-6 * largest + 1e-8);
                // Large leaves of several trees, or with several background rows, may cancel each other, so
                // that the digits of small leaves are lost.
                assert!(
                    is_near(largest)
                        || walked.is_some_and(|background| is_near(self.largest_of_a_round(background))),
                    "{what}: {base} + {} != {prediction}",
                    sum / PART
                );
            }
        }
    }

    /// Returns the largest number in the results of the walk. The walk uses one round of the file and one
    /// background row at a time, because large leaves also cancel between rows.
    fn largest_of_a_round(&self, background: Rows<'_>) -> f64 {
        let mut largest: f64 = 0.0;
        for round in 0.. {
            let options = ReadOptions::default().rounds(Rounds::Within(round..round + 1));
            let Ok(ensemble) = Ensemble::from_bytes_with(self.bytes, &options) else { break };
            for row in 0..background.len() {
                let row = background.slice(row..row + 1);
                let tree_explainer =
                    MarginalTreeExplainer::new(&ensemble, row, None).expect("a valid background");
                let walk = tree_explainer.with_settings(Settings::default().with_kernel(Some(Kernel::Walk)));
                let Ok(explained) = walk.values(Semivalue::Shapley, self.rows.slice(1..4)) else {
                    return f64::INFINITY;
                };
                let all = explained.values.iter().chain(&explained.base).chain(&explained.predictions);
                largest = all.fold(largest, |largest, value| largest.max(value.abs()));
            }
        }
        largest
    }

    /// Returns whether the model has linear leaves. Their values are unbounded on mixtures of two rows.
    fn has_linear_leaves(&self) -> bool {
        matches!(self.ensemble.check_covers(), Err(ModelError::LinearLeaves { .. }))
    }

    fn against_background(&self) {
        let Self { ensemble, rows, margins, .. } = *self;
        for count in [1, 3] {
            let background = rows.slice(0..count);
            for kernel in [None].into_iter().chain(Kernel::ALL.map(Some)) {
                let settings = Settings::default().with_kernel(kernel);
                let tree_explainer =
                    MarginalTreeExplainer::new(ensemble, background, None).expect("a valid background");
                let tree_explainer = tree_explainer.with_settings(settings);
                match tree_explainer.values(Semivalue::Shapley, rows.slice(1..4)) {
                    Ok(explained) => {
                        assert!(
                            explained.predictions == margins[ensemble.output_count()..] || !finite(margins)
                        );
                        let what = format!("against {count} rows by {kernel:?}");
                        let walked = (kernel == Some(Kernel::Walk)).then_some(background);
                        self.adds_up(&explained, walked, &what);
                    }
                    // Predictions that are not finite are rejected, including predictions for a coalition.
                    Err(TreeError::Overflow { .. }) if !finite(margins) || self.has_linear_leaves() => return,
                    // Not every kernel supports every tree.
                    Err(error) => assert!(kernel.is_some(), "{error}"),
                }
            }
        }
        let tree_explainer =
            MarginalTreeExplainer::new(ensemble, rows.slice(0..1), None).expect("a valid background");
        let oneself =
            tree_explainer.values(Semivalue::Shapley, rows.slice(0..1)).expect("rows of the right width");
        assert!(oneself.values.iter().all(|&value| value == 0.0) || !finite(margins), "a row against itself");
        if ensemble.feature_count() <= 12 {
            let interactions =
                tree_explainer.interactions(Semivalue::Banzhaf, Diagonal::Value, rows.slice(2..4));
            interactions.expect("few features");
            let pairs = self.pairs();
            let owen = tree_explainer.values(Value::owen(pairs.clone()), rows.slice(1..3));
            self.adds_up(&owen.expect("a partition of the features"), None, "Owen values");
        }
        if let Ok(mut compiler) = BackgroundCompiler::new(ensemble) {
            compiler.add(rows, None).expect("rows of the right width");
            let Ok(compiled) = compiler.finish() else { return };
            let written = compiled.to_bytes();
            let again = CompiledBackground::read(&written, ensemble).expect("just written");
            let tree_explainer =
                MarginalTreeExplainer::from_compiled(ensemble, again).expect("compiled for this model");
            let explained = tree_explainer.values(Semivalue::Shapley, rows).expect("rows of the right width");
            self.adds_up(&explained, None, "against a compiled background");
        }
    }

    fn behind_the_link(&self) {
        let Self { ensemble, rows, .. } = *self;
        let Ok(tree_explainer) = LinkedTreeExplainer::new(ensemble, rows.slice(2..3), None) else { return };
        match tree_explainer.with_max_steps(2000).values(Semivalue::Shapley, rows.slice(3..4)) {
            Ok(explained) => self.adds_up(&explained, None, "after the link function"),
            Err(TreeError::Overflow { .. }) if !finite(self.margins) || self.has_linear_leaves() => {}
            Err(error) => {
                assert!(
                    matches!(error, TreeError::TooManySteps { .. } | TreeError::OutputOverflow { .. }),
                    "{error}"
                )
            }
        }
    }

    fn path_dependent(&self) {
        let Self { ensemble, rows, margins, .. } = *self;
        let (features, outputs) = (ensemble.feature_count(), ensemble.output_count());
        let tree_explainer = PathDependentTreeExplainer::new(ensemble).expect("sound covers");
        for value in [Semivalue::Shapley, Semivalue::Banzhaf] {
            let explained = tree_explainer.values(value.clone(), rows).expect("rows of the right width");
            assert!(
                explained.predictions == margins || !finite(margins),
                "the tree explainer predicts as the model"
            );
            if value == Semivalue::Shapley {
                self.adds_up(&explained, None, "path-dependent");
            }
        }
        if features <= 12 {
            let owen = tree_explainer.values(Value::owen(self.pairs()), rows);
            self.adds_up(&owen.expect("a partition of the features"), None, "path-dependent Owen values");
            tree_explainer
                .interactions(Semivalue::Shapley, Diagonal::Remainder, rows.slice(2..4))
                .expect("few features");
        }
        let game = PathDependentGame::new(ensemble, rows.row(2)).expect("a row of the right width");
        let mut ends = Coalitions::new(features);
        ends.push_empty();
        ends.push_full();
        let mut payoffs = vec![0.0; 2 * outputs];
        if game.values(&ends, &mut payoffs).is_ok() {
            assert!(
                payoffs[outputs..] == margins[2 * outputs..3 * outputs],
                "with all features, the value is the prediction"
            );
        }
    }

    fn pairs(&self) -> Partition {
        let features: Vec<usize> = (0..self.ensemble.feature_count()).collect();
        let groups = features.chunks(2).map(<[usize]>::to_vec).collect();
        Partition::new(features.len(), groups).expect("each feature once")
    }
}

/// Returns whether the bytes are text without numbers larger than a million.
fn is_tame(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let inside = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '+' | '.' | 'e' | 'E');
    let mut numbers = text.split(|letter| !inside(letter)).filter_map(|number| number.parse::<f64>().ok());
    numbers.all(|number| number.abs() <= 1e6)
}

/// Returns whether all margins are finite: leaves can have any finite size, so their sums may be infinite.
fn finite(margins: &[f64]) -> bool {
    margins.iter().all(|margin| margin.is_finite())
}
