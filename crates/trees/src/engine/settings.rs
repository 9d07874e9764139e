//! The kernels for exact values and the settings that choose among them.

/// An algorithm for exact values on a tree. All kernels return the same numbers, up to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// Tables of the values for every pattern of decisions, with a lookup for each row. Suited to many rows.
    Tables,
    /// Gauss quadrature of the multilinear extension, vectorized over rows. Suited to the path-dependent game
    /// at any depth, and to the marginal game with a single background row.
    Quadrature,
    /// A traversal of the leaves; in the marginal game, only of leaves that mixtures of an explicand and a
    /// background row reach. Suited to few rows.
    Walk,
    /// A traversal with one explicand and all background rows at once, which are stored as bit sets. Suited
    /// to few rows in the marginal game.
    Cohorts,
    /// An iteration over the background patterns of each leaf for each explicand. Suited to long paths in the
    /// marginal game.
    Masks,
}

/// The number type of the tables. Sums are always accumulated in `f64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Precision {
    /// `f64`: the only error is rounding in the sums.
    #[default]
    Double,
    /// `f32`: half the memory. Each stored number has a relative error of up to 6e-8. The error of a value is
    /// up to 1e-6 times the largest value.
    Single,
}

/// The settings of a tree explainer.
///
/// ```
/// use apportion_trees::{Kernel, Settings};
///
/// let settings = Settings::default().with_kernel(Kernel::Tables).with_keep_tables(true);
/// assert_eq!(settings.kernel, Some(Kernel::Tables));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Settings {
    /// The kernel for every tree; `None` chooses the fastest one for each tree by predicted time.
    pub kernel: Option<Kernel>,
    /// The precision of tables; the other kernels compute in `f64`.
    pub precision: Precision,
    /// Whether tables are kept for the next call with the same value, instead of being freed during the call.
    pub keep_tables: bool,
    /// The number of rows for which the kernels are chosen; `None` for the actual number. With a fixed
    /// number, the choice does not depend on the rows. The values of a row are then the same to the last bit,
    /// regardless of the other rows in a call.
    pub rows: Option<usize>,
}

impl Settings {
    /// Sets the kernel for every tree, or `None` to choose the fastest by predicted time.
    #[must_use]
    pub fn with_kernel(self, kernel: impl Into<Option<Kernel>>) -> Self {
        Self { kernel: kernel.into(), ..self }
    }

    /// Sets the precision of tables.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Sets the number of rows for which the kernels are chosen, or `None` for the actual number.
    #[must_use]
    pub fn with_rows(self, rows: impl Into<Option<usize>>) -> Self {
        Self { rows: rows.into(), ..self }
    }

    /// Sets whether tables are kept for the next call.
    #[must_use]
    pub fn with_keep_tables(self, keep_tables: bool) -> Self {
        Self { keep_tables, ..self }
    }
}

/// The kernels that the tree method would use for a given number of rows, and the predicted time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Each kernel used, with its number of trees.
    pub kernels: Vec<(Kernel, usize)>,
    /// The predicted time on one thread, in seconds on a 2023 server core.
    pub seconds: f64,
}

impl Plan {
    /// Combines this plan with another one that runs after it.
    pub(crate) fn and(mut self, other: Self) -> Self {
        for (kernel, trees) in other.kernels {
            match self.kernels.iter_mut().find(|(known, _)| *known == kernel) {
                Some((_, known)) => *known += trees,
                None => self.kernels.push((kernel, trees)),
            }
        }
        Self { seconds: self.seconds + other.seconds, ..self }
    }
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Self; 5] = [Self::Tables, Self::Quadrature, Self::Walk, Self::Cohorts, Self::Masks];

    /// Returns the name used on the command line: `tables`, `quadrature`, `walk`, `cohorts`, `masks`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Quadrature => "quadrature",
            Self::Walk => "walk",
            Self::Cohorts => "cohorts",
            Self::Masks => "masks",
        }
    }
}

impl std::fmt::Display for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
