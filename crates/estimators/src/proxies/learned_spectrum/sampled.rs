//! The evaluated pairs of coalitions, their weights, and the odd and even parts of the game.

use apportion_games::Coalitions;
use apportion_samplers::Sample;
use apportion_values::LeastSquaresForm;

use crate::run::Evaluations;
use crate::support::free_shares;
use crate::surrogate::prior::Signs;

/// The evaluated pairs S, S̄ (k in total) and their values.
#[derive(Debug, Clone)]
pub(super) struct Sampled {
    pub(super) players: usize,
    pub(super) outputs: usize,
    /// The signs of the first coalition of each pair.
    pub(super) signs: Signs,
    /// The mean sign of the first coalition of each pair, `x̄(S) = (2|S| − n)/n`.
    pub(super) mean_signs: Vec<f64>,
    /// The regression weights of the pairs, with mean 1.
    pub(super) weights: Vec<f64>,
    /// For each pair, 1 minus its inclusion probability. If values of some pairs were derived from others, it
    /// is 1 for all drawn pairs.
    pub(super) free: Vec<f64>,
    /// The odd part of the game, `d(S) = (v(S) − v(S̄))/2`, k × outputs.
    pub(super) odd: Vec<f64>,
    /// The even part of the game, `e(S) = (v(S) + v(S̄))/2`, k × outputs.
    pub(super) even: Vec<f64>,
    /// `(v(N) − v(∅))/2` for each output.
    pub(super) half_total: Vec<f64>,
    /// `(v(N) + v(∅))/2` for each output.
    pub(super) half_sum: Vec<f64>,
}

impl Sampled {
    /// Creates the pairs of `sample`, weighted according to `form`.
    pub(super) fn new(
        sample: &Sample,
        values: &[f64],
        evaluations: &Evaluations<'_>,
        form: LeastSquaresForm,
    ) -> Self {
        let coalitions = sample.coalitions();
        let (n, outputs) = (coalitions.players(), evaluations.empty.len());
        let pairs = coalitions.len() / 2;
        let ln_weight = |pair: usize| {
            let size = coalitions.sizes()[2 * pair] as usize;
            form.ln_weight(n, size) - sample.strata()[size].ln_inclusion()
        };
        let largest = (0..pairs).map(ln_weight).fold(f64::NEG_INFINITY, f64::max);
        let mut weights: Vec<f64> = (0..pairs).map(|pair| (ln_weight(pair) - largest).exp()).collect();
        let mut signs = Signs::new(n, (0..pairs).map(|pair| coalitions.row(2 * pair)));
        let mut free = free_shares(sample);
        let part = |sign: f64| -> Vec<f64> {
            (0..pairs * outputs)
                .map(|at| {
                    let (pair, output) = (at / outputs, at % outputs);
                    let value = |row: usize| values[row * outputs + output];
                    0.5 * (value(2 * pair) + sign * value(2 * pair + 1))
                })
                .collect()
        };
        let (mut odd, mut even) = (part(-1.0), part(1.0));
        let half = |sign: f64| -> Vec<f64> {
            evaluations
                .full
                .iter()
                .zip(&evaluations.empty)
                .map(|(full, empty)| 0.5 * (full + sign * empty))
                .collect()
        };
        let (half_total, half_sum) = (half(-1.0), half(1.0));
        if let LeastSquaresForm::Centred { .. } = form {
            // ∅ and N form a pair like any other.
            weights.push((form.ln_weight(n, n) - largest).exp());
            let mut all = Coalitions::new(n);
            all.push_full();
            signs.append(Signs::new(n, all.iter()));
            free.push(0.0);
            odd.extend(&half_total);
            even.extend(&half_sum);
        }
        let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
        weights.iter_mut().for_each(|weight| *weight /= mean);
        let mean_signs = (0..signs.rows).map(|row| signs.row(row).iter().sum::<f64>() / n as f64).collect();
        Self { players: n, outputs, signs, mean_signs, weights, free, odd, even, half_total, half_sum }
    }

    /// Returns the number of pairs.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Returns a sample that contains only the given pairs.
    pub(super) fn some(&self, pairs: &[usize]) -> Self {
        let of = |numbers: &[f64]| -> Vec<f64> { pairs.iter().map(|&pair| numbers[pair]).collect() };
        let wide = |numbers: &[f64]| -> Vec<f64> {
            pairs
                .iter()
                .flat_map(|&pair| numbers[pair * self.outputs..][..self.outputs].iter().copied())
                .collect()
        };
        Self {
            signs: self.signs.some(pairs),
            mean_signs: of(&self.mean_signs),
            weights: of(&self.weights),
            free: of(&self.free),
            odd: wide(&self.odd),
            even: wide(&self.even),
            half_total: self.half_total.clone(),
            half_sum: self.half_sum.clone(),
            ..*self
        }
    }
}
