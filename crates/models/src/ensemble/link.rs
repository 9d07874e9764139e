//! Link functions from margins to outputs.

/// The function from the margins to the outputs that the library predicts: the inverse link of the objective.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Link {
    /// The identity: outputs are margins.
    Identity,
    /// `1 / (1 + e^(−a m))`, for each output separately, with steepness a.
    Logistic {
        /// The steepness a: the parameter `sigmoid` for LightGBM, otherwise 1.
        steepness: f64,
    },
    /// `e^(m_k) / Σ_l e^(m_l)`.
    Softmax,
    /// `e^m`, for counts and durations.
    Exponential,
    /// `ln(1 + e^m)`.
    Softplus,
    /// `2^(−m / c)`, the anomaly score of a mean path length m.
    HalfPower {
        /// The normalization c: the mean path length of an unsuccessful search in a binary search tree. The
        /// number of keys is the number of training rows per tree.
        unit: f64,
    },
    /// 1 if m > 0, otherwise 0: the predicted class of the hinge loss.
    Step,
    /// The margins in ascending order, so that predicted quantiles do not cross.
    Sorted,
    /// `ln(1 + e^(−a m))`: the loss `−ln p` of the probability `p = 1 / (1 + e^(−a m))`, for each output
    /// separately. With −a instead of a, it is the loss of 1 − p.
    LogLoss {
        /// The steepness a.
        steepness: f64,
    },
    /// `ln Σ_l e^(m_l) − m_k`: for each class k, the loss `−ln p_k` of its softmax probability p_k.
    LogLosses,
    /// `(m − y)²`, for each output separately.
    SquaredError {
        /// The target y.
        target: f64,
    },
}

impl Link {
    /// Replaces the margins of one row with the outputs.
    pub fn apply(self, margins: &mut [f64]) {
        match self {
            Self::Identity => {}
            Self::Logistic { steepness } => each(margins, |margin| 1.0 / (1.0 + (-steepness * margin).exp())),
            Self::Softmax => {
                let most = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                each(margins, |margin| (margin - most).exp());
                let sum: f64 = margins.iter().sum();
                each(margins, |share| share / sum);
            }
            Self::Exponential => each(margins, f64::exp),
            Self::Softplus => each(margins, softplus),
            Self::HalfPower { unit } => each(margins, |margin| (-margin / unit).exp2()),
            Self::Step => each(margins, |margin| f64::from(margin > 0.0)),
            Self::Sorted => margins.sort_unstable_by(f64::total_cmp),
            Self::LogLoss { steepness } => each(margins, |margin| softplus(-steepness * margin)),
            Self::LogLosses => {
                let most = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = margins.iter().map(|margin| (margin - most).exp()).sum();
                // Subtract first: if one class has almost all of the sum, its loss is small compared to its
                // margin.
                each(margins, |margin| (most - margin) + sum.ln());
            }
            Self::SquaredError { target } => each(margins, |margin| (margin - target).powi(2)),
        }
    }

    /// Returns whether an output depends on the margins of other outputs.
    pub fn mixes(self) -> bool {
        matches!(self, Self::Softmax | Self::Sorted | Self::LogLosses)
    }

    /// Returns the name of the link for messages and results: `logistic`, `softmax`, …
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Logistic { .. } => "logistic",
            Self::Softmax => "softmax",
            Self::Exponential => "exponential",
            Self::Softplus => "softplus",
            Self::HalfPower { .. } => "half-power",
            Self::Step => "step",
            Self::Sorted => "sorted",
            Self::LogLoss { .. } | Self::LogLosses => "log-loss",
            Self::SquaredError { .. } => "squared-error",
        }
    }
}

/// Computes `ln(1 + e^m)` without overflow of e^m.
fn softplus(margin: f64) -> f64 {
    margin.max(0.0) + (-margin.abs()).exp().ln_1p()
}

fn each(margins: &mut [f64], link: impl Fn(f64) -> f64) {
    margins.iter_mut().for_each(|margin| *margin = link(*margin));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs_of(link: Link, margins: &[f64]) -> Vec<f64> {
        let mut outputs = margins.to_vec();
        link.apply(&mut outputs);
        outputs
    }

    #[test]
    fn links_are_their_formulas() {
        assert_eq!(outputs_of(Link::Identity, &[3.0, -1.0]), [3.0, -1.0]);
        assert!(
            (outputs_of(Link::Logistic { steepness: 2.0 }, &[0.5])[0] - 1.0 / (1.0 + (-1f64).exp())).abs()
                < 1e-16
        );
        let shares = outputs_of(Link::Softmax, &[1000.0, 1000.0 + 2f64.ln()]);
        assert!((shares[0] - 1.0 / 3.0).abs() < 1e-13 && (shares[1] - 2.0 / 3.0).abs() < 1e-13);
        assert_eq!(outputs_of(Link::Exponential, &[0.0, 1.0]), [1.0, 1f64.exp()]);
        assert_eq!(outputs_of(Link::Softplus, &[1e5, 0.0, -1e5]), [1e5, 2f64.ln(), 0.0]);
        assert_eq!(outputs_of(Link::HalfPower { unit: 2.0 }, &[4.0]), [0.25]);
        assert_eq!(outputs_of(Link::Step, &[0.5, 0.0, -0.5]), [1.0, 0.0, 0.0]);
        assert_eq!(outputs_of(Link::Sorted, &[0.5, -1.0, 0.0]), [-1.0, 0.0, 0.5]);
        assert_eq!(outputs_of(Link::SquaredError { target: 1.5 }, &[3.0, -0.5]), [2.25, 4.0]);
    }

    #[test]
    fn log_losses_are_the_logarithms_of_probabilities() {
        for steepness in [1.0, 0.5, -2.0] {
            let probability = outputs_of(Link::Logistic { steepness }, &[0.3])[0];
            let loss = outputs_of(Link::LogLoss { steepness }, &[0.3])[0];
            assert!((loss + probability.ln()).abs() < 1e-15);
        }
        let margins = [0.4, -1.0, 2.5];
        let (shares, losses) = (outputs_of(Link::Softmax, &margins), outputs_of(Link::LogLosses, &margins));
        assert!(shares.iter().zip(&losses).all(|(share, loss)| (loss + share.ln()).abs() < 1e-15));
        // Losses are finite even if the probability underflows to 0.
        assert_eq!(outputs_of(Link::LogLoss { steepness: 1.0 }, &[-1e4]), [1e4]);
        assert_eq!(outputs_of(Link::LogLosses, &[0.0, 1e4]), [1e4, 0.0]);
    }
}
