//! Ensembles that are built in memory, tree by tree.

use super::vector_tree::{Split, VectorTree};
use super::{Ensemble, EnsembleParts, Origin, Rule, Width};
use crate::error::ModelError;

/// The condition under which a value of a feature goes left at a split. Missing values (NaN) follow the
/// default direction of the split instead.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SplitCondition {
    /// The value is below this threshold.
    Below(f64),
    /// The value equals one of these numbers, for example the codes of some categories.
    OneOf(Vec<f64>),
}

/// A node of a tree that is added to an [`EnsembleBuilder`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TreeNode {
    /// A split on one feature.
    Split {
        /// The index of the feature.
        feature: usize,
        /// The condition under which a row goes left.
        condition: SplitCondition,
        /// Whether a missing value goes left.
        missing_goes_left: bool,
        /// The indices of the left and of the right child within the tree.
        children: [usize; 2],
    },
    /// A leaf.
    Leaf {
        /// The numbers that the leaf adds to consecutive outputs.
        values: Vec<f64>,
    },
}

/// A builder of an [`Ensemble`] in memory, for programs that grow trees themselves. Values of rows are
/// compared as `f64`.
///
/// ```
/// use apportion_models::{Ensemble, EnsembleBuilder, Rows, SplitCondition, TreeNode};
///
/// let mut builder = EnsembleBuilder::new(1, vec![0.5], "example")?;
/// builder.push_tree(
///     &[
///         TreeNode::Split {
///             feature: 0,
///             condition: SplitCondition::Below(1.5),
///             missing_goes_left: true,
///             children: [1, 2],
///         },
///         TreeNode::Leaf { values: vec![10.0] },
///         TreeNode::Leaf { values: vec![20.0] },
///     ],
///     0,
/// )?;
/// let model: Ensemble = builder.build();
/// assert_eq!(model.margins(Rows::new(&[1.0, 2.0, f64::NAN], 1))?, [10.5, 20.5, 10.5]);
/// # Ok::<(), apportion_models::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct EnsembleBuilder {
    ensemble: Ensemble,
    /// The number of trees added so far.
    trees: usize,
}

impl EnsembleBuilder {
    /// Creates a builder for rows of `features` columns, with one base margin per output. `origin` is the
    /// name of the program, for display.
    ///
    /// # Errors
    ///
    /// [`ModelError::Tree`] if there are no features or no outputs, or if a base margin is not finite.
    pub fn new(features: usize, base_margins: Vec<f64>, origin: &str) -> Result<Self, ModelError> {
        let problem = if features == 0 {
            Some("expected at least one feature".to_owned())
        } else if base_margins.is_empty() {
            Some("expected at least one output".to_owned())
        } else {
            let invalid = base_margins.iter().find(|margin| !margin.is_finite());
            invalid.map(|margin| format!("the base margin is {margin}, expected a finite number"))
        };
        if let Some(problem) = problem {
            return Err(ModelError::Tree { tree: 0, problem });
        }
        let origin = Origin {
            format: origin.to_owned(),
            version: String::new(),
            booster: "gbtree".to_owned(),
            objective: "squared error".to_owned(),
        };
        let parts = EnsembleParts {
            width: Width::Double,
            features,
            feature_names: None,
            base_margins,
            link: None,
            origin,
        };
        Ok(Self { ensemble: Ensemble::new(parts, 0), trees: 0 })
    }

    /// Appends a tree, given by its nodes with the root first. The values of its leaves are added to the
    /// outputs from `first_output` on.
    ///
    /// # Errors
    ///
    /// [`ModelError::Tree`] if the nodes do not form a tree, if a leaf has another number of values than the
    /// other leaves, or if a feature, output, threshold or value is invalid.
    pub fn push_tree(&mut self, nodes: &[TreeNode], first_output: usize) -> Result<(), ModelError> {
        let tree = self.trees;
        let mut width = None;
        let mut grown = VectorTree::default();
        for node in nodes {
            match node {
                TreeNode::Split { feature, condition, missing_goes_left, children } => {
                    let (threshold, rule) = match condition {
                        SplitCondition::Below(threshold) => (*threshold, None),
                        SplitCondition::OneOf(numbers) => (0.0, Some(Rule::exactly(numbers.clone()))),
                    };
                    // Indices that do not fit are out of range, which `push_to` reports.
                    let index = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
                    let split =
                        Split { feature: index(*feature), threshold, default_left: *missing_goes_left, rule };
                    grown.add_split(children.map(index), split);
                }
                TreeNode::Leaf { values } => {
                    let expected = *width.get_or_insert(values.len());
                    if values.len() != expected || expected == 0 {
                        let problem =
                            format!("a leaf has {} values, expected {}", values.len(), expected.max(1));
                        return Err(ModelError::Tree { tree, problem });
                    }
                    grown.add_leaf(values.iter().copied());
                }
            }
        }
        let outputs = width.unwrap_or(1);
        grown.push_to(&mut self.ensemble, tree, first_output..first_output + outputs, 1.0)?;
        self.trees += 1;
        Ok(())
    }

    /// Returns the ensemble. Its trees have no cover, so it does not define a path-dependent game.
    pub fn build(self) -> Ensemble {
        self.ensemble
    }
}
