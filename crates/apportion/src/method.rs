//! Methods to compute values: exact algorithms, and the estimators of [`apportion_estimators::methods`].

use apportion_estimators::{Estimator, MethodSpec, methods};
use apportion_values::{Semivalue, Value};

/// A method to compute values.
///
/// Methods are parsed from their names; [`Method::all`] lists them.
///
/// ```
/// use apportion::Method;
/// use apportion::estimators::methods;
///
/// let method: Method = "kernel-shap".parse()?;
/// assert_eq!(method, Method::By(&methods::KERNEL_SHAP));
/// assert_eq!(method.name(), "kernel-shap");
/// # Ok::<(), apportion::ExplainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Method {
    /// Exact values for tree ensembles, kernel machines and models that were declared
    /// [additive](crate::Explainer::additive). For Shapley and Banzhaf values of other models with 11 to 128
    /// features (or groups that act as players) and at least 30 background rows of equal weight, with the
    /// automatic budget and no tolerance: the table method, with a surrogate that is learned once, from the
    /// background rows (feature `surrogates`). Otherwise, enumeration if the budget covers all `2^n`
    /// coalitions, or else the method of [`sampled`](Self::sampled).
    #[default]
    Auto,
    /// Exact values of a tree ensemble, without evaluations.
    Tree,
    /// Exact values of a kernel machine, without evaluations.
    KernelMachine,
    /// Values of all rows of a call, as one table: exact values of a surrogate learned from all rows, with a
    /// correction for each row. It requires rows of a model and background rows (the marginal game).
    ///
    /// For Shapley and Banzhaf values, also of groups as players, the correction is a regression; see
    /// `apportion_surrogates::TableMethod`. For more than 10,000 rows, the surrogate is learned from 1000 of
    /// them. For other values and weighted backgrounds, the correction is the value of the difference of
    /// model and surrogate, by the method that [`Auto`](Self::Auto) takes for other models, or by Monte Carlo
    /// if the budget is small. In these cases, and with a tolerance, the surrogate is learned from hybrids of
    /// the background rows, so that the explanation of a row does not depend on the other rows. The surrogate
    /// is left out if the standard errors are smaller without it, except with a tolerance for such values.
    Table,
    /// Exact values of a model that was declared [additive](crate::Explainer::additive), from the values of
    /// single features and of the declared interactions.
    Additive,
    /// Exact values by enumeration of all `2^n` coalitions, n ≤ 25; for values on graphs, only of the
    /// coalitions in their definition.
    Exact,
    /// An estimator: one of [`methods`], or one declared elsewhere.
    By(&'static MethodSpec),
}

impl Method {
    /// Maximum number of players for which [`sampled`](Self::sampled) chooses the learned spectrum. In
    /// addition to the evaluations themselves, this method takes about 0.35 ms per evaluation of a game with
    /// 1000 players. This is little compared with most models, but grows with the number of players.
    pub const MAX_LEARNED_PLAYERS: usize = 1000;

    /// Returns the methods in the order in which they are shown to users. [Variants](MethodSpec::is_variant)
    /// of other methods are omitted, although they also have names. [`KernelMachine`](Self::KernelMachine)
    /// and [`Additive`](Self::Additive) are omitted as well: [`Auto`](Self::Auto) chooses the former for
    /// every value that it supports, and the latter if the budget covers its evaluations.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::named().filter(|method| match method {
            Self::By(spec) => !spec.is_variant(),
            method => !matches!(method, Self::KernelMachine | Self::Additive),
        })
    }

    /// Returns all methods that have a name.
    pub(crate) fn named() -> impl Iterator<Item = Self> {
        let exact = [Self::Auto, Self::Tree, Self::KernelMachine, Self::Additive, Self::Exact, Self::Table];
        exact.into_iter().chain(methods::ALL.iter().copied().map(Self::By))
    }

    /// Returns the name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Tree => "tree",
            Self::KernelMachine => "kernel-machine",
            Self::Additive => "additive",
            Self::Exact => "exact",
            Self::Table => "table",
            Self::By(method) => method.name(),
        }
    }

    /// Returns a description in one line.
    pub fn help(self) -> &'static str {
        match self {
            Self::Auto => "exact if that is cheap, otherwise an accurate estimate for its cost",
            Self::Tree => "exact values of a tree ensemble, without evaluations",
            Self::KernelMachine => "exact values of a kernel machine, without evaluations",
            Self::Additive => "exact values of a sum of functions of few features, from few evaluations",
            Self::Exact => {
                "all 2^n coalitions, up to 25 players; for values on graphs, those in their definition"
            }
            Self::Table => "a surrogate of the model, learned from all rows, with a correction for each row",
            Self::By(method) => method.help(),
        }
    }

    /// Returns the estimator for `value`. Returns `None` for [`Auto`](Self::Auto), the exact methods and
    /// the table method, and if the method does not support the value.
    pub fn estimator(self, value: &Value) -> Option<Box<dyn Estimator>> {
        match self {
            Self::By(method) => method.build(value),
            Self::Auto | Self::Tree | Self::KernelMachine | Self::Additive | Self::Exact | Self::Table => {
                None
            }
        }
    }

    /// Returns another method that computes the same estimates of `value` from the same draws, up to
    /// rounding, in games with this number of [scenarios](apportion_games::Game::scenarios), such as
    /// background rows.
    ///
    /// ```
    /// use apportion::estimators::methods;
    /// use apportion::{Method, Semivalue};
    ///
    /// let one_sample = Method::By(&methods::ONE_SAMPLE_FITS_ALL);
    /// assert_eq!(one_sample.same_as(&Semivalue::Shapley.into(), 1), Some(Method::By(&methods::MSR)));
    /// assert_eq!(one_sample.same_as(&Semivalue::Banzhaf.into(), 1), None);
    /// ```
    pub fn same_as(self, value: &Value, scenarios: usize) -> Option<Self> {
        let Value::Semivalue(semivalue) = value.simplified() else { return None };
        let Self::By(method) = self else { return None };
        let one_reference = *method == methods::OPTIMIZED_MONTE_CARLO_REFERENCES && scenarios == 1;
        let other = match semivalue {
            Semivalue::Shapley if *method == methods::OPTIMIZED_MONTE_CARLO || one_reference => {
                &methods::PERMUTATION
            }
            Semivalue::Shapley if *method == methods::ONE_SAMPLE_FITS_ALL => &methods::MSR,
            Semivalue::WeightedBanzhaf(_) if *method == methods::KERNEL_BANZHAF_UNPAIRED => {
                &methods::KERNEL_BANZHAF
            }
            _ => return None,
        };
        Some(Self::By(other))
    }

    /// Returns whether the method draws scenarios of the game one at a time, such as single background rows.
    #[cfg(feature = "conditional")]
    pub(crate) fn draws_scenarios(self) -> bool {
        matches!(self, Self::By(method) if method.draws_scenarios())
    }

    /// Returns whether the values are exact.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Tree | Self::KernelMachine | Self::Additive | Self::Exact)
    }

    /// Returns the method that computed interaction indices for a request of this method, given whether they
    /// have standard errors ([`Explainer::indices`](crate::Explainer::indices)).
    ///
    /// ```
    /// use apportion::Method;
    ///
    /// assert_eq!(Method::Auto.of_indices(true).name(), "learned-spectrum");
    /// assert_eq!(Method::Table.of_indices(true), Method::Table);
    /// assert_eq!(Method::Table.of_indices(false), Method::Exact);
    /// ```
    pub fn of_indices(self, has_errors: bool) -> Self {
        match (self, has_errors) {
            (Self::Tree | Self::KernelMachine | Self::Additive, _) => self,
            (_, false) => Self::Exact,
            (Self::Table, true) => Self::Table,
            (_, true) => Self::By(&methods::LEARNED_SPECTRUM),
        }
    }

    /// Returns whether the method supports `value`.
    pub fn computes(self, value: &Value) -> bool {
        match self {
            Self::Auto | Self::Additive | Self::Exact => true,
            Self::Tree | Self::KernelMachine | Self::Table => {
                !matches!(value, Value::Linear(_) | Value::OnGraph(..))
            }
            Self::By(method) => method.computes(value),
        }
    }

    /// Returns the most accurate sampling method for `value` with this number of players and this budget.
    ///
    /// - Semivalues other than weights by size, for up to [`MAX_LEARNED_PLAYERS`](Self::MAX_LEARNED_PLAYERS)
    ///   players, or groups acting as players, and values for groups based on Shapley and Banzhaf values: the
    ///   learned spectrum, if there are at least n evaluations. The exception is Shapley values with 2n to
    ///   2.5n evaluations: Permutation SHAP, because a regression would have about as many pairs as unknowns.
    /// - All other semivalues of features: Leverage SHAP for Shapley values, Kernel Banzhaf without
    ///   replacement for (weighted) Banzhaf values, otherwise regression-adjusted maximum sample reuse.
    /// - Other values for groups: the regressions with leverage score sampling if they support the value,
    ///   nested permutations for Owen values over hierarchies, and Monte Carlo on the product space for all
    ///   other values.
    /// - Values on graphs, whose definitions contain few coalitions: [`Exact`](Self::Exact).
    pub fn sampled(value: &Value, players: usize, budget: usize) -> Self {
        let players = match value {
            Value::Quotient(_, groups) => groups.len(),
            _ => players,
        };
        // With fewer evaluations than players, the spectrum cannot be learned, and another method is used.
        let learns = (players..).contains(&budget)
            && players <= Self::MAX_LEARNED_PLAYERS
            && methods::LEARNED_SPECTRUM.computes(value);
        let is_of_one_order = (2 * players..=5 * players / 2).contains(&budget);
        match learns {
            true if is_of_one_order && methods::PERMUTATION.computes(value) => {
                Self::By(&methods::PERMUTATION)
            }
            true => Self::By(&methods::LEARNED_SPECTRUM),
            false => Self::linear(value),
        }
    }

    /// Returns the most accurate method for `value` whose estimates are linear in the game.
    pub(crate) fn linear(value: &Value) -> Self {
        if value.graph().is_some() {
            return Self::Exact;
        }
        let best = [
            &methods::LEVERAGE_SHAP,
            &methods::KERNEL_BANZHAF_WITHOUT_REPLACEMENT,
            &methods::MSR_ADJUSTED,
            &methods::LEVERAGE,
            &methods::NESTED_PERMUTATION,
        ];
        Self::By(best.into_iter().find(|method| method.computes(value)).unwrap_or(&methods::PRODUCT_SPACE))
    }
}

impl From<&'static MethodSpec> for Method {
    fn from(method: &'static MethodSpec) -> Self {
        Self::By(method)
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Graph, Partition};
    use apportion_values::SolutionConcept;

    fn value(name: &str) -> Value {
        let concept: SolutionConcept = name.parse().unwrap();
        let groups = concept.needs_partition().then(|| Partition::whole(3));
        let graph = concept.needs_graph().then(|| Graph::line(3));
        Value::from_concept(concept, groups, graph).unwrap()
    }

    #[test]
    fn every_value_has_a_sampled_method_that_computes_it() {
        for (name, sampled) in [
            ("shapley", "learned-spectrum"),
            ("beta=1,1", "learned-spectrum"),
            ("banzhaf", "learned-spectrum"),
            ("weighted-banzhaf=0.2", "learned-spectrum"),
            ("beta=4,1", "learned-spectrum"),
            ("size-distribution=0.5,0.5", "msr-adjusted"),
            ("mixture=0.1:0.5,0.9:0.5", "learned-spectrum"),
            ("owen", "learned-spectrum"),
            ("banzhaf-owen", "learned-spectrum"),
            ("two-step", "learned-spectrum"),
            ("quotient-banzhaf", "learned-spectrum"),
            ("quotient-beta=4,1", "learned-spectrum"),
            ("coalitional=beta=4,1/shapley", "product-space"),
            ("myerson", "exact"),
        ] {
            let value = value(name);
            assert_eq!(Method::sampled(&value, 30, 600).name(), sampled, "{name}");
            assert!(Method::sampled(&value, 30, 600).computes(&value), "{name}");
        }
        for (name, sampled) in
            [("shapley", "leverage-shap"), ("banzhaf", "kernel-banzhaf-without-replacement")]
        {
            assert_eq!(
                Method::sampled(&value(name), Method::MAX_LEARNED_PLAYERS + 1, 20_000).name(),
                sampled
            );
        }
        for (budget, sampled) in [
            (29, "leverage-shap"),
            (30, "learned-spectrum"),
            (59, "learned-spectrum"),
            (60, "permutation"),
            (75, "permutation"),
            (76, "learned-spectrum"),
        ] {
            assert_eq!(Method::sampled(&value("shapley"), 30, budget).name(), sampled, "{budget}");
        }
        for (budget, sampled) in
            [(29, "kernel-banzhaf-without-replacement"), (30, "learned-spectrum"), (60, "learned-spectrum")]
        {
            assert_eq!(Method::sampled(&value("banzhaf"), 30, budget).name(), sampled, "{budget}");
        }
        let parents = [Some(3), Some(3), Some(4), Some(4), None];
        let hierarchy = apportion_games::Hierarchy::from_parents(3, &parents).unwrap();
        assert_eq!(Method::sampled(&Value::owen_over(hierarchy), 30, 600).name(), "learned-spectrum");
        let parents = [Some(4), Some(4), Some(5), Some(6), Some(5), Some(6), None];
        let hierarchy = apportion_games::Hierarchy::from_parents(4, &parents).unwrap();
        assert_eq!(
            Method::sampled(&Value::owen_over(hierarchy.clone()), 30, 600).name(),
            "nested-permutation"
        );
        assert_eq!(Method::sampled(&Value::banzhaf_owen_over(hierarchy), 30, 600).name(), "product-space");
        for (method, name, is_computed) in [
            ("kernel-banzhaf", "weighted-banzhaf=0.5", true),
            ("permutation", "banzhaf", false),
            ("kernel-banzhaf", "shapley", false),
            ("leverage-shap", "owen", false),
            ("nested-permutation", "banzhaf-owen", false),
            ("tree", "myerson", false),
        ] {
            assert_eq!(
                method.parse::<Method>().unwrap().computes(&value(name)),
                is_computed,
                "{method} {name}"
            );
        }
    }
}
