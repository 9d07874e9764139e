//! The ways to compute exact values, and how to choose among them.

/// A way to compute exact values on a tree. All give the same numbers, to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// The values of every pattern of decisions, written down once and looked up for each row: for many rows.
    Tables,
    /// Gauss quadrature of the multilinear extension, rows side by side: the path-dependent game at any
    /// depth, which the marginal game against one background row is, too.
    Quadrature,
    /// Leaf by leaf, and for the marginal game only those that an explicand and rows of the background reach:
    /// for few rows.
    Walk,
    /// One explicand against all rows of the background, which go down the trees together as sets of bits:
    /// the marginal game, for few rows.
    Cohorts,
    /// The patterns of decisions of the background, gone through for each explicand: the marginal game on
    /// long paths.
    Masks,
}

/// The numbers in which tables are kept. Whatever is kept is added up in `f64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Precision {
    /// `f64`: errors are those of rounding sums.
    #[default]
    Double,
    /// `f32`: half the memory. Each number looked up is off by up to 6e-8 of itself, values by less than 1e-6
    /// of the largest.
    Single,
}

/// What an oracle may be told of how to compute.
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
    /// The kernel for every tree; `None` for that of least predicted time, tree by tree.
    pub kernel: Option<Kernel>,
    /// Of tables; other kernels compute in `f64`.
    pub precision: Precision,
    /// Whether tables are kept for the next call with the same value, instead of thrown away tree by tree.
    pub keep_tables: bool,
    /// How many rows it is chosen for; `None` for those that are asked for. With a number the choice does not
    /// look at the rows, and the values of a row are the same to the last bit whatever rows are asked for
    /// with it.
    pub rows: Option<usize>,
}

impl Settings {
    /// The same with this kernel for every tree, or with that of least predicted time.
    #[must_use]
    pub fn with_kernel(self, kernel: impl Into<Option<Kernel>>) -> Self {
        Self { kernel: kernel.into(), ..self }
    }

    /// The same with tables of this precision.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// The same, choosing as for so many rows, or for those that are asked for.
    #[must_use]
    pub fn with_rows(self, rows: impl Into<Option<usize>>) -> Self {
        Self { rows: rows.into(), ..self }
    }

    /// The same with tables that are kept, or thrown away.
    #[must_use]
    pub fn with_keep_tables(self, keep_tables: bool) -> Self {
        Self { keep_tables, ..self }
    }
}

/// What an oracle would do with some rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Each kernel that is used, and for how many trees.
    pub kernels: Vec<(Kernel, usize)>,
    /// Predicted time on one thread, in seconds of a 2023 server core.
    pub seconds: f64,
}

impl Plan {
    /// This and another, one after the other.
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

    /// Its name on the command line: `tables`, `quadrature`, `walk`, `cohorts`, `masks`.
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
