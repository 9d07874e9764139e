//! OddSHAP: a regression of the odd part of a game on players and selected odd products of players.
//!
//! # Source
//!
//! Fumagalli, Butler, Kang, Ramchandran and Witter, *OddSHAP*, ICML 2026 (arXiv 2602.01399), Algorithm 1.
//! Unspecified settings are the defaults of LightGBM.
//!
//! # Notation
//!
//! There are n players and m evaluations. The signs are `x_i = 1` for members and −1 for others;
//! `χ_T = Π_{i ∈ T} x_i` and `d(S) = (v(S) − v(N∖S))/2`.

use apportion_games::Game;
use apportion_samplers::{Pairing, Sample, SizeDistribution};
use apportion_values::Semivalue;

use crate::error::Result;
use crate::registry::{semivalue, specs};
use crate::report::{Diagnostics, Explanation};
use crate::run::{Estimator, Evaluations, at_most_all};
use crate::setters::setters;
use crate::support::dense::SumRegression;
use crate::support::{Draws, FullBudget, exact_if_affordable};
use crate::surrogate::boosted_trees::{BoostedTrees, Boosting, Growth};
use crate::surrogate::product::Product;
use crate::surrogate::trees::rows;

/// OddSHAP as published (Fumagalli et al. 2026, Algorithm 1), for comparison.
///
/// ```text
/// β = argmin Σ_k w_k (Σ_{T ∈ 𝒯} β_T χ_T(S_k) − d(S_k))²,  Σ_T β_T = (v(N) − v(∅))/2
/// φ̃_i = 2 Σ_{T ∋ i} β_T / |T|
/// ```
///
/// over pairs of coalitions, drawn as in Leverage SHAP, without replacement. 𝒯 contains ⌈m/η⌉ products: all
/// players, and those products of 3, 5, … players with the largest coefficients in boosted trees fitted to
/// the same coalitions (100 trees with rate 0.1, at most depth 10 and 31 leaves, and at least 20 rows per
/// leaf). If there are fewer products than players (m < η n), the result is the Shapley value of the trees.
///
/// There are no standard errors. Takes the time of the trees, and `O(m²/η)` time per step of the solver.
/// Stores `O(m²/η)` numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct OddShap {
    /// η: the number of evaluations per coefficient; defaults to 10. 0 counts as 1.
    pub evaluations_per_term: usize,
    /// How coalitions are drawn; defaults to [`Draws::FixedCounts`].
    pub draws: Draws,
}

setters!(OddShap {
    with_evaluations_per_term => evaluations_per_term: usize,
    with_draws => draws: Draws,
});

impl Default for OddShap {
    fn default() -> Self {
        Self { evaluations_per_term: 10, draws: Draws::FixedCounts }
    }
}

const BOOSTING: Boosting = Boosting { trees: 100, depth: 10, rate: 0.1 };

impl OddShap {
    /// Returns at most `most` products of an odd number of players above one: those with the largest
    /// coefficients in the trees.
    fn products(trees: &BoostedTrees, most: usize) -> Vec<Product> {
        let spectrum = if most == 0 { Vec::new() } else { trees.spectrum() };
        let mut odd: Vec<(Product, f64)> =
            spectrum.into_iter().filter(|(product, _)| product.len() > 2 && product.len() % 2 == 1).collect();
        odd.sort_by(|(a, x), (b, y)| y.abs().total_cmp(&x.abs()).then(a.cmp(b)));
        odd.truncate(most);
        odd.into_iter().map(|(product, _)| product).collect()
    }

    /// Returns the values of all players for one output, and the number of coefficients in the regression.
    fn values(&self, sample: &Sample, budget: usize, values: &[f64], ends: [f64; 2]) -> (Vec<f64>, usize) {
        let coalitions = sample.coalitions();
        let n = coalitions.players();
        let mut seen = coalitions.clone();
        seen.push_empty();
        seen.push_full();
        let targets: Vec<f64> = values.iter().chain(&ends).copied().collect();
        let trees = BoostedTrees::fit_grown(&rows(&seen), &targets, BOOSTING, Growth::LIGHTGBM);
        let terms = budget.div_ceil(self.evaluations_per_term.max(1));
        if terms < n {
            return (trees.semivalue(n, |present, absent| Semivalue::Shapley.moment(present, absent)), 0);
        }
        let products: Vec<Product> = (0..n)
            .map(|player| Product::from_players([player]))
            .chain(Self::products(&trees, terms - n))
            .collect();
        let pairs: Vec<usize> = (0..coalitions.len()).step_by(2).collect();
        let mut entries = Vec::with_capacity(pairs.len() * products.len());
        let (mut weights, mut odd) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
        for &row in &pairs {
            let coalition = coalitions.row(row);
            entries.extend(products.iter().map(|product| product.sign(|player| coalition.contains(player))));
            let size = coalition.size();
            let times = sample.multiplicities().map_or(1.0, |times| f64::from(times[row]));
            // The weight is the Shapley kernel divided by the inclusion probability; the binomial
            // coefficients cancel.
            weights.push(times / ((size * (n - size)) as f64 * sample.strata()[size].expected));
            odd.push(0.5 * (values[row] - values[row + 1]));
        }
        let regression = SumRegression::new(entries, products.len(), products.len(), &weights);
        let coefficients = regression.solve(&odd, 0.5 * (ends[1] - ends[0]));
        let mut shares = vec![0.0; n];
        for (product, coefficient) in products.iter().zip(&coefficients) {
            product.players().for_each(|player| shares[player] += 2.0 * coefficient / product.len() as f64);
        }
        (shares, products.len())
    }
}

impl Estimator for OddShap {
    fn name(&self) -> &'static str {
        "odd-shap"
    }

    /// Returns `n + 1`, but at least 4 and at most `2^n`. This is the minimum, not a recommendation; use 20n
    /// or more. Below η n, the result is that of the trees alone.
    fn minimum_budget(&self, players: usize) -> usize {
        at_most_all((players + 1).max(4), players)
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if let Some(explanation) = exact_if_affordable(self, game, budget, FullBudget::Enumerate)? {
            return Ok(explanation);
        }
        let (n, outputs) = (game.players(), game.outputs());
        let sample = self.draws.sample(SizeDistribution::leverage(n)?, Pairing::Paired, budget - 2, seed)?;
        let mut evaluations = Evaluations::begin(game)?;
        let gains = evaluations.gains(sample.coalitions())?;
        let total = evaluations.total();
        let mut values = vec![0.0; n * outputs];
        let mut terms = 0;
        for (output, &total) in total.iter().enumerate() {
            let own: Vec<f64> = gains.iter().skip(output).step_by(outputs).copied().collect();
            let (of_output, count) = self.values(&sample, budget, &own, [0.0, total]);
            terms = terms.max(count);
            values.iter_mut().skip(output).step_by(outputs).zip(of_output).for_each(|(to, from)| *to = from);
        }
        let unknowns = (terms > 0).then(|| terms - 1);
        let diagnostics = Diagnostics { unknowns, ..Diagnostics::default() };
        Ok(evaluations.explain(self, values, None, seed, diagnostics))
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { draws: self.draws.growing(), ..*self })
    }
}

specs! {
    ODD_SHAP = "odd-shap" variant:
        "OddSHAP as published: a regression of the odd part on players and on odd products selected by \
         boosted trees",
        |value| semivalue(value)
            .filter(|value| *value == Semivalue::Shapley)
            .map(|_| Box::new(OddShap::default()) as Box<dyn Estimator>);
}
