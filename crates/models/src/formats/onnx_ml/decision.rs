//! The tests at nodes, for both versions of the operators, and their conversion to normal form.
//!
//! A row takes the true branch of a node if the test of the node holds, and the false branch otherwise. With
//! x̂ < t as the only comparison,
//!
//! | test | left branch | left iff x̂ is |
//! |---|---|---|
//! | x ≤ t | true | < the next number after t |
//! | x < t | true | < t |
//! | x ≥ t | false | < t |
//! | x > t | false | < the next number after t |
//! | x = t, x in a set | true | equal to t, in the set |
//! | x ≠ t | false | equal to t |
//!
//! By the specification, a missing value takes the false branch for every test, unless the node specifies
//! otherwise. A runtime that evaluates NaN ≠ t as true takes the true branch at nodes with this test.

/// The kind of test at a node (the mode in ONNX), or a leaf, which has no test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    AtMost,
    Less,
    AtLeast,
    More,
    Equal,
    Unequal,
    Member,
    Leaf,
}

impl Mode {
    /// Returns the mode with this name in `TreeEnsembleRegressor` and `TreeEnsembleClassifier`.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"BRANCH_LEQ" => Self::AtMost,
            b"BRANCH_LT" => Self::Less,
            b"BRANCH_GTE" => Self::AtLeast,
            b"BRANCH_GT" => Self::More,
            b"BRANCH_EQ" => Self::Equal,
            b"BRANCH_NEQ" => Self::Unequal,
            b"LEAF" => Self::Leaf,
            _ => return None,
        })
    }

    /// Returns the mode with this number in `TreeEnsemble`.
    pub(super) fn numbered(number: f64) -> Option<Self> {
        const MODES: [Mode; 7] =
            [Mode::AtMost, Mode::Less, Mode::AtLeast, Mode::More, Mode::Equal, Mode::Unequal, Mode::Member];
        (0..MODES.len()).find(|&mode| mode as f64 == number).map(|mode| MODES[mode])
    }
}

/// A test, with its branch for missing values.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    pub(super) mode: Mode,
    pub(super) feature: i64,
    pub(super) number: f64,
    /// The numbers in the set, if the test is for membership in a set.
    pub(super) members: Vec<f64>,
    pub(super) missing_true: bool,
}

impl Decision {
    /// Checks the feature and the threshold. `node` is the number of the node in the file, for the error.
    pub(super) fn check(&self, node: i64, features: usize) -> Result<(), String> {
        if usize::try_from(self.feature).is_ok_and(|feature| feature < features) {
            return match self.mode != Mode::Member && self.number.is_nan() {
                true => Err(format!("node {node} has the threshold NaN")),
                false => Ok(()),
            };
        }
        Err(format!(
            "node {node} splits on feature {}, which is out of range (features: {features})",
            self.feature
        ))
    }

    /// Returns whether the test holds for a number or NaN.
    pub(super) fn holds(&self, value: f64) -> bool {
        match self.mode {
            _ if value.is_nan() => self.missing_true,
            Mode::AtMost => value <= self.number,
            Mode::Less => value < self.number,
            Mode::AtLeast => value >= self.number,
            Mode::More => value > self.number,
            Mode::Equal => value == self.number,
            Mode::Unequal => value != self.number,
            Mode::Member => self.members.contains(&value),
            Mode::Leaf => false,
        }
    }
}
