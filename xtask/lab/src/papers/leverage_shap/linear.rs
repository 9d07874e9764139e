//! The regression of the paper over all coalitions, for small n only.
//!
//! # Notation
//!
//! The rows of the regression are the coalitions z with 0 < |z| < n, weighted by
//! `w(s) = 1 / (C(n,s) s (n−s))` (equation 4). `Z` has the rows `√w zᵀ`, `y_z = √w (v(z) − v(0))`,
//! `P = I − 11ᵀ/n`, `A = ZP`, `b = y − Z1 Δ/n` with `Δ = v(1) − v(0)` (Lemma 3.1). Masks range over all
//! `2^n`.

use crate::comparison::{Growing, squared_distance, squared_norm, subset_sums};

/// Returns the kernel weights w(s) for s in 0..=n; 0 at both ends.
pub(crate) fn kernel_weights(players: usize) -> Vec<f64> {
    let n = players as f64;
    let mut choose = 1.0;
    (0..=players)
        .map(|size| {
            let s = size as f64;
            let weight = if size == 0 || size == players { 0.0 } else { 1.0 / (choose * s * (n - s)) };
            choose *= (n - s) / (s + 1.0);
            weight
        })
        .collect()
}

/// Returns `‖Ax − b‖²` of the game whose table `values` contains v(S) for all masks S.
pub(crate) fn objective(values: &[f64], x: &[f64]) -> f64 {
    let players = x.len();
    let (base, full) = (values[0], values[values.len() - 1]);
    let shift = (full - base - x.iter().sum::<f64>()) / players as f64;
    let weights = kernel_weights(players);
    let sums = subset_sums(&x.iter().map(|xi| xi + shift).collect::<Vec<_>>());
    let terms = values
        .iter()
        .zip(&sums)
        .enumerate()
        .map(|(mask, (value, sum))| weights[mask.count_ones() as usize] * (sum - (value - base)).powi(2));
    terms.sum()
}

/// Returns `‖Aφ̃ − b‖² / ‖Aφ − b‖² − 1`, where `least` is `‖Aφ − b‖²`. By Pythagoras and Lemma 3.3, this
/// equals `‖P(φ̃ − φ)‖² / (n ‖Aφ − b‖²)`, which avoids cancellation.
pub(crate) fn objective_excess(values: &[f64], truth: &[f64], least: f64) -> f64 {
    let n = truth.len() as f64;
    let sum: f64 = values.iter().zip(truth).map(|(got, want)| got - want).sum();
    let projected = squared_distance(values, truth) - sum * sum / n;
    projected.max(0.0) / (n * least)
}

/// Returns `‖Aφ − b‖²` for any number of players: by Pythagoras `‖b‖² − ‖Aφ‖²`, with `‖Aφ‖² = ‖Pφ‖²/n` (Lemma
/// 3.3).
pub(crate) fn min_objective(growing: &Growing, truth: &[f64]) -> f64 {
    let n = truth.len() as f64;
    let weights = kernel_weights(truth.len());
    // v(∅) = 0, so Δ is the sum of the values, and b = y − Z1 Δ/n.
    let share = truth.iter().sum::<f64>() / n;
    let of_sizes: f64 = (1..truth.len()).map(|size| size as f64 / (n - size as f64)).sum();
    let squares = growing.sum_of_squares(|size| weights[size])
        - 2.0 * share * growing.sum(|size| weights[size] * size as f64)
        + share * share * of_sizes;
    squares - (squared_norm(truth) - n * share * share) / n
}

/// Projects the vector `h` (one number per mask, zero at both ends) onto the column span of A:
/// `A (AᵀA)⁺ Aᵀ h = n A Aᵀ h` (Lemma 3.3).
pub(crate) fn span_part(h: &[f64], players: usize) -> Vec<f64> {
    let roots: Vec<f64> = kernel_weights(players).into_iter().map(f64::sqrt).collect();
    let mut transposed = vec![0.0; players];
    for (mask, value) in h.iter().enumerate() {
        let size = mask.count_ones() as usize;
        for (player, sum) in transposed.iter_mut().enumerate() {
            let entry = (mask >> player & 1) as f64 - size as f64 / players as f64;
            *sum += roots[size] * entry * value;
        }
    }
    let scaled: Vec<f64> = transposed.into_iter().map(|value| value * players as f64).collect();
    times(&scaled)
}

/// Returns `Ax`, one number per mask.
pub(crate) fn times(x: &[f64]) -> Vec<f64> {
    let players = x.len();
    let roots: Vec<f64> = kernel_weights(players).into_iter().map(f64::sqrt).collect();
    let mean = x.iter().sum::<f64>() / players as f64;
    let centred: Vec<f64> = x.iter().map(|xi| xi - mean).collect();
    let sums = subset_sums(&centred);
    sums.into_iter().enumerate().map(|(mask, sum)| roots[mask.count_ones() as usize] * sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::Game;
    use apportion::Semivalue;
    use apportion::estimators::exact;
    use apportion::games::{ClosedForm, Coalitions, SumOfUnanimity, TabulatedGame};

    #[test]
    fn the_columns_of_a_have_the_gram_matrix_of_lemma_3_3() {
        for players in [2, 3, 6, 9] {
            for i in 0..players {
                let column =
                    |k: usize| times(&(0..players).map(|j| f64::from(u8::from(j == k))).collect::<Vec<_>>());
                for j in 0..players {
                    let product: f64 = column(i).iter().zip(column(j)).map(|(a, b)| a * b).sum();
                    let n = players as f64;
                    let want = (f64::from(u8::from(i == j)) - 1.0 / n) / n;
                    assert!((product - want).abs() < 1e-14, "{players}: ({i}, {j}) {product} != {want}");
                }
            }
        }
    }

    #[test]
    fn shapley_values_minimize_the_objective_and_pythagoras_gives_it_elsewhere() {
        let game = SumOfUnanimity::random(7, 40, 5, 3);
        let mut values = vec![0.0; 128];
        game.values(&Coalitions::from_masks(7, 0..128), &mut values).unwrap();
        let phi = exact(&game, Semivalue::Shapley).unwrap().values;
        let least = objective(&values, &phi);
        let away: Vec<f64> = phi.iter().enumerate().map(|(i, p)| p + 0.1 * (i as f64).sin()).collect();
        let d: Vec<f64> = away.iter().zip(&phi).map(|(a, p)| a - p).collect();
        let projected = squared_norm(&d) - d.iter().sum::<f64>().powi(2) / 7.0;
        let got = objective(&values, &away);
        assert!((got - (least + projected / 7.0)).abs() < 1e-12 * got, "{got}");
    }

    #[test]
    fn the_least_objective_is_that_of_all_coalitions() {
        for players in [2, 3, 7, 10] {
            let growing = Growing::from_game(SumOfUnanimity::random(players, 40, 4, 3)).unwrap();
            let truth = growing.game.shapley();
            let table = TabulatedGame::from_game(&growing.game).unwrap();
            let want = objective(table.values_in_order(), &truth);
            let got = min_objective(&growing, &truth);
            assert!((got - want).abs() < 1e-10 * (1.0 + want), "{players}: {got} != {want}");
        }
    }

    #[test]
    fn the_part_in_the_span_leaves_a_remainder_orthogonal_to_the_span() {
        let h: Vec<f64> = (0..64)
            .map(|mask: u32| if mask == 0 || mask == 63 { 0.0 } else { f64::from(mask * 37 % 23) - 11.0 })
            .collect();
        let part = span_part(&h, 6);
        let rest: Vec<f64> = h.iter().zip(&part).map(|(a, b)| a - b).collect();
        assert!(squared_norm(&span_part(&rest, 6)) < 1e-24 * squared_norm(&h));
        assert!(squared_norm(&part) > 0.0);
    }
}
