//! The methods by name: each estimator says beside itself what it is called, what it does, and how it is made for a value.

use apportion_values::{Semivalue, Value};

use crate::run::Estimator;

/// A named way to estimate values.
///
/// Estimators of this crate declare theirs in [`methods`](crate::methods). Anyone may declare another:
///
/// ```
/// use apportion_estimators::{MethodSpec, MonteCarlo};
/// use apportion_values::{Semivalue, Value};
///
/// static MINE: MethodSpec = MethodSpec::new("mine", "Monte Carlo, of Banzhaf values only", |_| {
///     Some(Box::new(MonteCarlo::new(Semivalue::Banzhaf)))
/// });
/// assert!(MINE.computes(&Semivalue::Banzhaf.into()));
/// assert!(!MINE.computes(&Semivalue::Shapley.into()));
/// ```
#[derive(Debug)]
pub struct MethodSpec {
    name: &'static str,
    help: &'static str,
    build: Build,
    draws_scenarios: bool,
    is_variant: bool,
}

/// Makes the estimator of a value; what it makes may be of another value, which [`MethodSpec::build`] sees.
type Build = fn(&Value) -> Option<Box<dyn Estimator>>;

impl MethodSpec {
    /// A method of this name. `help` is one line; `build` makes the estimator of a value, none where it cannot.
    pub const fn new(name: &'static str, help: &'static str, build: Build) -> Self {
        Self { name, help, build, draws_scenarios: false, is_variant: false }
    }

    /// The same, which looks at one scenario of a game at a time, such as one background row.
    pub const fn drawing_scenarios(self) -> Self {
        Self { draws_scenarios: true, ..self }
    }

    /// The same, as a variant of another method: for comparison, so that lists of methods pass over it.
    pub const fn variant(self) -> Self {
        Self { is_variant: true, ..self }
    }

    /// The name on the command line and in results.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it does, in one line.
    pub fn help(&self) -> &'static str {
        self.help
    }

    /// Whether it is a variant of another method, for comparison.
    pub fn is_variant(&self) -> bool {
        self.is_variant
    }

    /// Whether it looks at one scenario of a game at a time.
    pub fn draws_scenarios(&self) -> bool {
        self.draws_scenarios
    }

    /// The estimator of `value`; none where the method cannot compute it.
    pub fn build(&self, value: &Value) -> Option<Box<dyn Estimator>> {
        let value = value.simplified();
        (self.build)(&value).filter(|estimator| estimator.value() == value.concept())
    }

    /// Whether the method can compute `value`.
    pub fn computes(&self, value: &Value) -> bool {
        self.build(value).is_some()
    }
}

impl PartialEq for MethodSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for MethodSpec {}

impl std::hash::Hash for MethodSpec {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// Declares methods, with documentation from the name and the line of help: `CONSTANT = "name" marks: "help", how it is made for a value;`.
macro_rules! specs {
    ($($constant:ident = $name:literal $($mark:ident)*: $help:literal, $build:expr;)+) => {
        $(
            #[doc = concat!("`", $name, "`: ", $help, ".")]
            pub static $constant: $crate::registry::MethodSpec =
                $crate::registry::MethodSpec::new($name, $help, $build)$(.$mark())*;
        )+
    };
}
pub(crate) use specs;

/// The semivalue of single players that `value` is.
pub(crate) fn semivalue(value: &Value) -> Option<Semivalue> {
    match value {
        Value::Semivalue(semivalue) => Some(semivalue.clone()),
        _ => None,
    }
}
