//! Methods by name. Each estimator declares its name, its help line and a constructor next to its
//! implementation.

use apportion_values::{Semivalue, Value};

use crate::run::Estimator;

/// A method that estimates values, with its name.
///
/// Estimators of this crate declare their methods in [`methods`](crate::methods). Other crates can declare
/// more:
///
/// ```
/// use apportion_estimators::{MethodSpec, MonteCarlo};
/// use apportion_values::{Semivalue, Value};
///
/// static MINE: MethodSpec = MethodSpec::new("mine", "Monte Carlo, for Banzhaf values only", |_| {
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

/// A function that builds the estimator for a value. The result may estimate a different value;
/// [`MethodSpec::build`] checks this.
type Build = fn(&Value) -> Option<Box<dyn Estimator>>;

impl MethodSpec {
    /// Creates a method with the given name. `help` is one line. `build` returns the estimator for a value,
    /// or `None` if the method does not support the value.
    pub const fn new(name: &'static str, help: &'static str, build: Build) -> Self {
        Self { name, help, build, draws_scenarios: false, is_variant: false }
    }

    /// Marks the method as one that evaluates single scenarios of a game, such as one background row at a
    /// time.
    pub const fn drawing_scenarios(self) -> Self {
        Self { draws_scenarios: true, ..self }
    }

    /// Marks the method as a variant of another one, for comparison only. Lists of methods skip it.
    pub const fn variant(self) -> Self {
        Self { is_variant: true, ..self }
    }

    /// Returns the name used on the command line and in result files.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the description of the method, in one line.
    pub fn help(&self) -> &'static str {
        self.help
    }

    /// Returns whether the method is a variant of another one, for comparison only.
    pub fn is_variant(&self) -> bool {
        self.is_variant
    }

    /// Returns whether the method evaluates single scenarios of a game.
    pub fn draws_scenarios(&self) -> bool {
        self.draws_scenarios
    }

    /// Returns the estimator for `value`, or `None` if the method cannot compute it.
    pub fn build(&self, value: &Value) -> Option<Box<dyn Estimator>> {
        let value = value.simplified();
        (self.build)(&value).filter(|estimator| estimator.value() == value.concept())
    }

    /// Returns whether the method can compute `value`.
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

/// Declares statics for methods, with their names and help lines as documentation. The syntax is
/// `CONSTANT = "name" marks: "help", constructor;`, where `marks` are builder methods such as `variant`.
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

/// Returns the semivalue in `value`, or `None` if `value` is not a semivalue.
pub(crate) fn semivalue(value: &Value) -> Option<Semivalue> {
    match value {
        Value::Semivalue(semivalue) => Some(semivalue.clone()),
        _ => None,
    }
}
