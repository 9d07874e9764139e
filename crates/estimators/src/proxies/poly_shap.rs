//! PolySHAP: a regression of a game on all products of few players.
//!
//! # Source
//!
//! Fumagalli, Witter and Musco, *PolySHAP*, ICLR 2026 (arXiv 2601.18608), with all products of up to k
//! players.
//!
//! # Constraints
//!
//! The paper's products are `Π_{i ∈ T} z_i` of bits. Polynomials in signs are the same functions, and they
//! are better conditioned. For `f(S) = v(∅) + Σ_T β_T (χ_T(S) − χ_T(∅))`, f(∅) = v(∅) always holds, and
//! f(N) = v(N) holds if `Σ_{|T| odd} β_T = (v(N) − v(∅))/2`.

use apportion_games::{Game, memory};
use apportion_samplers::{Pairing, SizeDistribution};
use apportion_values::Semivalue;

use crate::error::Result;
use crate::registry::{semivalue, specs};
use crate::report::{Diagnostics, Explanation};
use crate::run::{Estimator, Evaluations, at_most_all};
use crate::setters::setters;
use crate::support::dense::SumRegression;
use crate::support::{Draws, FullBudget, exact_if_affordable};
use crate::surrogate::product::Product;

/// PolySHAP as published (Fumagalli, Witter and Musco 2026), for comparison: the Shapley value of the
/// best-fitting polynomial of degree k, 2 or 3.
///
/// ```text
/// f = argmin_{f of degree k} Σ_j w_j (f(S_j) − v(S_j))²,   f(∅) = v(∅), f(N) = v(N)        φ̃ = φ(f)
/// ```
///
/// over coalitions drawn as in Leverage SHAP, without replacement. For degree 2, they are unpaired, because
/// degree 2 with pairs is Leverage SHAP (a theorem of the paper, which our tests confirm).
///
/// Requires more than `n (n+1)/2` evaluations for degree 2, and more than `n (n² − 3n + 8)/3` for degree 3
/// with pairs. There are no standard errors. Takes `O(m n^k)` time per step of the solver, and stores
/// `O(m n^k)` numbers. This limits the method to some dozens of players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PolyShap {
    /// The degree k: 2 or 3; defaults to 2. Other numbers are replaced with the nearest of these.
    pub order: usize,
    /// Whether every coalition is drawn with its complement; defaults to [`Pairing::Unpaired`].
    /// [`cubic`](Self::cubic) uses [`Pairing::Paired`].
    #[serde(serialize_with = "crate::run::settings::PairingSetting::serialize")]
    pub pairing: Pairing,
    /// How coalitions are drawn; defaults to [`Draws::FixedCounts`].
    pub draws: Draws,
}

setters!(PolyShap {
    with_order => order: usize,
    with_pairing => pairing: Pairing,
    with_draws => draws: Draws,
});

impl Default for PolyShap {
    fn default() -> Self {
        Self { order: 2, pairing: Pairing::Unpaired, draws: Draws::FixedCounts }
    }
}

impl PolyShap {
    /// Creates the estimator of degree 3, with pairs.
    pub fn cubic() -> Self {
        Self { order: 3, pairing: Pairing::Paired, ..Self::default() }
    }

    fn order(&self) -> usize {
        self.order.clamp(2, 3)
    }

    /// Returns the number of odd and of even products of 1 to k players.
    fn terms(&self, players: usize) -> [usize; 2] {
        let pairs = players.saturating_mul(players.saturating_sub(1)) / 2;
        let triples = pairs.saturating_mul(players.saturating_sub(2)) / 3;
        [players.saturating_add(if self.order() == 3 { triples } else { 0 }), pairs]
    }

    /// Returns the odd products, followed by the even products, and the number of odd products.
    fn products(&self, players: usize) -> (Vec<Product>, usize) {
        let mut odd: Vec<Product> = (0..players).map(|player| Product::from_players([player])).collect();
        let mut even = Vec::new();
        for i in 0..players {
            for j in i + 1..players {
                even.push(Product::from_players([i, j]));
                if self.order() == 3 {
                    odd.extend((j + 1..players).map(|k| Product::from_players([i, j, k])));
                }
            }
        }
        let count = odd.len();
        odd.extend(even);
        (odd, count)
    }
}

impl Estimator for PolyShap {
    fn name(&self) -> &'static str {
        if self.order() == 3 { "poly-shap-3" } else { "poly-shap" }
    }

    /// Returns the minimum budget, which is at most `2^n`. Without pairs, it is the number of unknowns plus
    /// two. With pairs, which separate odd from even products, it is twice the larger number of either kind,
    /// plus two. This is the minimum, not a recommendation: use twice as many.
    fn minimum_budget(&self, players: usize) -> usize {
        let [odd, even] = self.terms(players);
        let rows = match self.pairing {
            Pairing::Unpaired => odd.saturating_add(even),
            Pairing::Paired => odd.max(even).saturating_mul(2),
        };
        at_most_all(rows.saturating_add(2).max(4), players)
    }

    /// Returns the memory for the matrix of coalitions and products, its factors, and its Gram matrices.
    fn memory(&self, players: usize, outputs: usize, budget: usize) -> u128 {
        let [odd, even] = self.terms(players);
        let terms = odd.saturating_add(even);
        match at_most_all(usize::MAX, players) <= budget {
            true => memory::product([budget.min(at_most_all(usize::MAX, players)), outputs, 16]),
            false => {
                memory::product([3, budget, terms, 8]).saturating_add(memory::product([2, terms, terms, 8]))
            }
        }
    }

    fn estimate_seen(&self, game: &dyn Game, budget: usize, seed: u64) -> Result<Explanation> {
        if let Some(explanation) = exact_if_affordable(self, game, budget, FullBudget::Enumerate)? {
            return Ok(explanation);
        }
        let (n, outputs) = (game.players(), game.outputs());
        let sample = self.draws.sample(SizeDistribution::leverage(n)?, self.pairing, budget - 2, seed)?;
        let mut evaluations = Evaluations::begin(game)?;
        let gains = evaluations.gains(sample.coalitions())?;
        let total = evaluations.total();
        let (products, odd) = self.products(n);
        let mut entries = Vec::with_capacity(sample.coalitions().len() * products.len());
        let mut weights = Vec::with_capacity(sample.coalitions().len());
        for (row, coalition) in sample.coalitions().iter().enumerate() {
            let at_empty = |product: &Product| if product.len() % 2 == 1 { -1.0 } else { 1.0 };
            entries.extend(
                products
                    .iter()
                    .map(|product| product.sign(|player| coalition.contains(player)) - at_empty(product)),
            );
            let size = coalition.size();
            let times = sample.multiplicities().map_or(1.0, |times| f64::from(times[row]));
            weights.push(times / ((size * (n - size)) as f64 * sample.strata()[size].expected));
        }
        let regression = SumRegression::new(entries, products.len(), odd, &weights);
        let mut values = vec![0.0; n * outputs];
        for (output, &total) in total.iter().enumerate() {
            let own: Vec<f64> = gains.iter().skip(output).step_by(outputs).copied().collect();
            let coefficients = regression.solve(&own, 0.5 * total);
            for (product, coefficient) in products.iter().zip(&coefficients).take(odd) {
                let share = 2.0 * coefficient / product.len() as f64;
                product.players().for_each(|player| values[player * outputs + output] += share);
            }
        }
        let diagnostics = Diagnostics { unknowns: Some(products.len() - 1), ..Diagnostics::default() };
        Ok(evaluations.explain(self, values, None, seed, diagnostics))
    }

    fn growing(&self) -> Box<dyn Estimator> {
        Box::new(Self { draws: self.draws.growing(), ..*self })
    }
}

fn boxed(value: &apportion_values::Value, estimator: PolyShap) -> Option<Box<dyn Estimator>> {
    semivalue(value)
        .filter(|value| *value == Semivalue::Shapley)
        .map(|_| Box::new(estimator) as Box<dyn Estimator>)
}

specs! {
    POLY_SHAP = "poly-shap" variant: "PolySHAP as published: a regression on all players and pairs of \
        players",
        |value| boxed(value, PolyShap::default());
    POLY_SHAP_3 = "poly-shap-3" variant:
        "PolySHAP on all products of up to three players, with paired coalitions",
        |value| boxed(value, PolyShap::cubic());
}
