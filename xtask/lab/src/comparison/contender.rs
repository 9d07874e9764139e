//! The compared estimators of a paper.

use anyhow::Result;
use apportion::Estimator;

use crate::reproduce::figure::Style;
use crate::reproduce::ingredients::Digest;

/// An estimator that is compared with others in the figures of a paper.
pub(crate) trait Compete: Copy + Ord + Sync + 'static {
    /// Returns all estimators, in the order of legends and tables.
    fn all() -> &'static [Self];

    /// Returns the name of the estimator in figures and tables.
    fn title(self) -> &'static str;

    /// Returns the style of the estimator, which is the same in every figure.
    fn style(self) -> Style;

    /// Returns whether the estimator is the subject of the paper; its curve is drawn on top.
    fn is_subject(self) -> bool;

    fn estimator(self) -> Box<dyn Estimator>;

    /// Returns a digest of the estimator, computed from its results, so that results are not reused after
    /// changes.
    fn digest(self) -> Result<Digest> {
        Digest::of_estimator(&*self.estimator())
    }
}

/// Declares the estimators of a paper, each by its name, title, style and constructor. One of them is marked
/// as the subject of the paper.
macro_rules! contenders {
    (
        $(#[$doc:meta])* subject $subject:ident;
        $($name:ident: $title:literal, $look:ident, $estimator:expr;)+
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Contender {
            $($name),+
        }

        impl Contender {
            /// All estimators.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),+];
        }

        impl $crate::comparison::Compete for Contender {
            fn all() -> &'static [Self] {
                Self::ALL
            }

            fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title),+
                }
            }

            fn style(self) -> $crate::reproduce::figure::Style {
                match self {
                    $(Self::$name => $crate::reproduce::figure::styles::$look),+
                }
            }

            fn is_subject(self) -> bool {
                self == Self::$subject
            }

            fn estimator(self) -> Box<dyn apportion::Estimator> {
                match self {
                    $(Self::$name => Box::new($estimator)),+
                }
            }
        }
    };
}
pub(crate) use contenders;
