//! The data that are computed once for all games and rows, from an ensemble with a link and a background.

use apportion_games::{Background, Rows, Shared};

use super::fixed::FixedPointLeaves;
use crate::error::TreeError;
use apportion_models::{Ensemble, Link};

/// A single output, or all outputs if the link mixes them, and the trees that contribute to them.
pub(super) struct View {
    pub(super) outputs: Vec<usize>,
    pub(super) trees: Vec<usize>,
    /// For each tree, the index of its output in `outputs`.
    pub(super) output_of: Vec<usize>,
    /// The base margins of these outputs.
    pub(super) base: Vec<f64>,
}

/// The data of an explainer that depend neither on the game nor on the explicand.
pub(super) struct Mixtures<'a> {
    pub(super) ensemble: Shared<'a, Ensemble>,
    pub(super) link: Link,
    pub(super) fixed: FixedPointLeaves,
    /// One view for each output, or a single one if the link mixes outputs.
    pub(super) views: Vec<View>,
    /// The background rows, rounded and row-major, without rows of weight 0.
    pub(super) background: Vec<f64>,
    /// The weights of these rows, which are positive and sum to 1.
    pub(super) weights: Vec<f64>,
    /// The original indices of these rows.
    pub(super) numbers: Vec<usize>,
    /// The outputs g(f(b)) of the background rows: rows × outputs.
    pub(super) outputs: Vec<f64>,
    /// The base value v(∅) of each output.
    pub(super) base: Vec<f64>,
    pub(super) max_steps: u64,
}

impl<'a> Mixtures<'a> {
    pub(super) fn new(
        ensemble: Shared<'a, Ensemble>,
        link: Link,
        background: Rows<'_>,
        weights: Option<&[f64]>,
        max_steps: u64,
    ) -> Result<Self, TreeError> {
        check(&ensemble, link)?;
        let mut background = Background::rows(background.values(), background.columns())?;
        ensemble.check_rows(background.as_rows(), "background row")?;
        if let Some(weights) = weights {
            background = background.with_weights(weights)?;
        }
        let fixed = FixedPointLeaves::new(&ensemble, link).map_err(|most| TreeError::Unsupported {
            what: format!("an exact {} output for leaf values that can sum to {most:e}", link.name()),
            help: "explain the margin",
        })?;
        let (rows, weights) = (background.as_rows(), background.weights());
        let numbers: Vec<usize> = (0..rows.len()).filter(|&row| weights[row] > 0.0).collect();
        let kept: Vec<f64> = numbers.iter().flat_map(|&row| rows.row(row)).copied().collect();
        let outputs = ensemble.linked()?.outputs_of(Rows::new(&kept, rows.columns()))?;
        let weights: Vec<f64> = numbers.iter().map(|&row| weights[row]).collect();
        let mut base = vec![0.0; ensemble.output_count()];
        for (outputs, weight) in outputs.chunks_exact(base.len()).zip(&weights) {
            for (base, output) in base.iter_mut().zip(outputs) {
                *base += weight * output;
            }
        }
        check_finite(&base, base.len(), link)?;
        Ok(Self {
            link,
            fixed,
            views: views(&ensemble, link),
            background: kept.iter().map(|&value| ensemble.width().round(value)).collect(),
            ensemble,
            weights,
            numbers,
            outputs,
            base,
            max_steps,
        })
    }
}

/// Returns an error for an ensemble with linear leaves, or with splits on several features at once.
pub(super) fn check(ensemble: &Ensemble, link: Link) -> Result<(), TreeError> {
    if let Some(tree) = ensemble.trees().iter().position(|tree| tree.linear) {
        return Err(TreeError::Unsupported {
            what: format!("an exact {} output for linear leaves (tree {tree})", link.name()),
            help: "estimate values by sampling (Rust: Ensemble::linked), or explain the margin",
        });
    }
    if ensemble.joint().is_some() {
        return Err(TreeError::Unsupported {
            what: format!("an exact {} output for splits on several features at once", link.name()),
            help: "estimate values by sampling (Rust: Ensemble::linked), or explain the margin",
        });
    }
    Ok(())
}

/// Returns an error if a number is infinite or NaN. The numbers cycle through the `outputs` outputs.
pub(super) fn check_finite(numbers: &[f64], outputs: usize, link: Link) -> Result<(), TreeError> {
    match numbers.iter().position(|number| !number.is_finite()) {
        None => Ok(()),
        Some(at) => Err(TreeError::OutputOverflow { link: link.name(), output: at % outputs }),
    }
}

fn views(ensemble: &Ensemble, link: Link) -> Vec<View> {
    let all: Vec<usize> = (0..ensemble.output_count()).collect();
    let groups = match link.mixes() {
        true => vec![all],
        false => all.into_iter().map(|output| vec![output]).collect(),
    };
    let view = |outputs: Vec<usize>| {
        let place = |output: usize| outputs.iter().position(|&own| own == output);
        let (trees, output_of) = ensemble
            .trees()
            .iter()
            .enumerate()
            .filter_map(|(index, tree)| Some((index, place(tree.output)?)))
            .unzip();
        let base = outputs.iter().map(|&output| ensemble.base_margins()[output]).collect();
        View { outputs, trees, output_of, base }
    };
    groups.into_iter().map(view).collect()
}
