//! The estimators that a paper compares.

use anyhow::Result;
use apportion::Estimator;

use crate::reproduce::figure::Style;
use crate::reproduce::ingredients::Digest;

/// An estimator among those that a paper compares.
pub(crate) trait Compete: Copy + Ord + Sync + 'static {
    /// All of them, in the order of legends and tables.
    fn all() -> &'static [Self];

    /// The name in figures and tables.
    fn title(self) -> &'static str;

    /// The same look in every figure.
    fn style(self) -> Style;

    /// Whether it is the one that the paper is about, which is drawn on top.
    fn is_subject(self) -> bool;

    fn estimator(self) -> Box<dyn Estimator>;

    /// What the estimator is, by its answers: results of one that has changed since are not taken up again.
    fn digest(self) -> Result<Digest> {
        Digest::of_estimator(&*self.estimator())
    }
}

/// The estimators of a paper as a table: for each its name, its title, its look, and how it is made. One of them is the subject.
macro_rules! contenders {
    ($(#[$doc:meta])* subject $subject:ident; $($name:ident: $title:literal, $look:ident, $estimator:expr;)+) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Contender {
            $($name),+
        }

        impl Contender {
            /// All of them.
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
                    $(Self::$name => $crate::reproduce::figure::looks::$look),+
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
