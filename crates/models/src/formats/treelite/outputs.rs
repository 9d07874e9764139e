//! The outputs of a model, and the outputs to which each tree adds.

use crate::error::ModelError;
use crate::formats::document::Field;

/// Maximum number of outputs. The file stores only their number, so without a limit a small file could
/// exhaust the memory.
const MAX_OUTPUTS: usize = 1 << 20;

/// The outputs of a model, which are numbered `target · classes + class`.
pub(super) struct Outputs {
    targets: usize,
    /// Largest number of classes of a target.
    classes: usize,
    /// Number of targets and number of classes for which a leaf has values.
    leaf: [usize; 2],
}

impl Outputs {
    pub(super) fn read(root: &Field<'_>) -> Result<Self, ModelError> {
        let targets_field = root.get("num_target")?;
        let targets = targets_field.count()?;
        let classes_field = root.get("num_class")?;
        let counts = classes_field.integers()?;
        if targets == 0 || counts.len() != targets {
            return Err(classes_field
                .error(format!("expected {targets} numbers (one per target), got {}", counts.len())));
        }
        if let Some(count) = counts.iter().find(|&&count| count < 1) {
            return Err(classes_field.error(format!("invalid number of classes {count}")));
        }
        let classes = counts.iter().copied().max().and_then(|classes| usize::try_from(classes).ok());
        let classes = classes
            .filter(|classes| classes.checked_mul(targets).is_some_and(|outputs| outputs <= MAX_OUTPUTS));
        let Some(classes) = classes else {
            return Err(classes_field.error(format!("more than {MAX_OUTPUTS} outputs")));
        };
        let shape = root.get("leaf_vector_shape")?;
        let wanted = [targets as i64, classes as i64];
        match shape.integers()?[..] {
            [of_targets, of_classes]
                if [1, wanted[0]].contains(&of_targets) && [1, wanted[1]].contains(&of_classes) =>
            {
                Ok(Self { targets, classes, leaf: [of_targets as usize, of_classes as usize] })
            }
            ref other => Err(shape.error(format!(
                "unsupported leaf shape {other:?}; expected 1 or {targets} targets, and 1 or {classes} \
                 classes"
            ))),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.targets * self.classes
    }

    pub(super) fn base_margins(&self, root: &Field<'_>) -> Result<Vec<f64>, ModelError> {
        let field = root.get("base_scores")?;
        let scores = field.numbers_of(self.count())?;
        match scores.iter().find(|score| !score.is_finite()) {
            Some(score) => Err(field.error(format!("invalid base score {score}"))),
            None => Ok(scores.into_owned()),
        }
    }

    /// Returns, for each tree, the first output to which its leaves add.
    pub(super) fn of_trees(&self, root: &Field<'_>, trees: usize) -> Result<Vec<usize>, ModelError> {
        let ids = |key, kind, count: usize, of_leaf: usize| {
            let field = root.get(key)?;
            let ids =
                field.integers_of(trees)?.into_iter().enumerate().map(|(tree, id)| {
                    match usize::try_from(id) {
                        Ok(id) if id < count && of_leaf == 1 => Ok(id),
                        Err(_) if id == -1 && of_leaf == count => Ok(0),
                        _ => Err(field.error(format!(
                            "invalid {kind} {id} of tree {tree}; expected an index below {count} if leaves \
                             have values for one {kind}, or -1 if they have values for all (here: {of_leaf} \
                             of {count})"
                        ))),
                    }
                });
            ids.collect::<Result<Vec<usize>, ModelError>>()
        };
        let targets = ids("target_id", "target", self.targets, self.leaf[0])?;
        let classes = ids("class_id", "class", self.classes, self.leaf[1])?;
        Ok(targets.iter().zip(&classes).map(|(target, class)| target * self.classes + class).collect())
    }

    /// Returns the number of values of a leaf.
    pub(super) fn of_leaf(&self) -> usize {
        self.leaf[0] * self.leaf[1]
    }

    /// Returns the outputs to which the values of a leaf add, starting from the first one.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = usize> {
        let classes = self.classes;
        let [targets, of_target] = self.leaf;
        (0..targets).flat_map(move |target| (0..of_target).map(move |class| first + target * classes + class))
    }
}
