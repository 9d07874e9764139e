//! The regression of the paper over all coalitions, for small n only.
//!
//! # Notation
//!
//! A has a row `z/2` for each of the 2^n vectors z of ±1; b contains the value of the coalition of the
//! players with z = 1 (section 3.1). Masks range over all 2^n. Since `AᵀA = 2^{n−2} I` (observation 3.1) and
//! φ minimizes `‖Ax − b‖` (theorem 3.2),
//!
//! ```text
//! ‖Ax − b‖² = ‖Aφ − b‖² + 2^{n−2} ‖x − φ‖²
//! ```

use crate::comparison::{Growing, squared_distance, squared_norm, subset_sums};

/// Returns `‖Ax − b‖²` of the game whose table `values` contains v(S) for all masks S.
pub(crate) fn objective(values: &[f64], x: &[f64]) -> f64 {
    let half = x.iter().sum::<f64>() / 2.0;
    subset_sums(x).iter().zip(values).map(|(sum, value)| (sum - half - value).powi(2)).sum()
}

/// Returns `‖Aφ̃ − b‖ / ‖Aφ − b‖ − 1`, where `least` is `‖Aφ − b‖²`, using the identity above, which avoids
/// cancellation.
pub(crate) fn relative_objective_error(values: &[f64], truth: &[f64], least: f64) -> f64 {
    let excess = squared_excess(values, truth, least);
    excess / ((1.0 + excess).sqrt() + 1.0)
}

/// Returns `‖Aφ̃ − Aφ‖² / ‖Aφ − b‖²`, where `least` is `‖Aφ − b‖²`: the ε of theorem 3.3.
pub(crate) fn squared_excess(values: &[f64], truth: &[f64], least: f64) -> f64 {
    2f64.powi(truth.len() as i32 - 2) * squared_distance(values, truth) / least
}

/// Returns `‖Aφ − b‖² / 2^n` for any number of players: by Pythagoras, the mean of v² minus `‖φ‖²/4`.
pub(crate) fn mean_min(growing: &Growing, truth: &[f64]) -> f64 {
    let of_each = 0.5f64.powi(truth.len() as i32);
    growing.sum_of_squares(|_| of_each) - squared_norm(truth) / 4.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::estimators::exact;
    use apportion::games::{ClosedForm, SumOfUnanimity, TabulatedGame};
    use apportion::{Game, Semivalue};

    #[test]
    fn banzhaf_values_minimize_the_objective_and_the_identity_gives_it_elsewhere() {
        for players in [1, 2, 7, 10] {
            let game = SumOfUnanimity::random(players, 40, players.min(5), 3);
            let table = TabulatedGame::from_game(&game as &dyn Game).unwrap();
            let phi = exact(&game, Semivalue::Banzhaf).unwrap().values;
            let least = objective(table.values_in_order(), &phi);
            let away: Vec<f64> = phi.iter().enumerate().map(|(i, p)| p + 0.1 * (i as f64).cos()).collect();
            let there = objective(table.values_in_order(), &away);
            let want = there / least - 1.0;
            let got = squared_excess(&away, &phi, least);
            assert!((got - want).abs() < 1e-10 * (1.0 + want), "{players}: {got} != {want}");
            let want = there.sqrt() / least.sqrt() - 1.0;
            let got = relative_objective_error(&away, &phi, least);
            assert!((got - want).abs() < 1e-10 * (1.0 + want), "{players}: {got} != {want}");
        }
    }

    #[test]
    fn the_mean_of_the_least_objective_is_that_of_all_coalitions() {
        for players in [1, 2, 7, 10] {
            let growing = Growing::from_game(SumOfUnanimity::random(players, 40, 4, 3)).unwrap();
            let truth = growing.game.banzhaf();
            let table = TabulatedGame::from_game(&growing.game).unwrap();
            let want = objective(table.values_in_order(), &truth) / 2f64.powi(players as i32);
            let got = mean_min(&growing, &truth);
            assert!((got - want).abs() < 1e-10 * (1.0 + want), "{players}: {got} != {want}");
        }
    }

    #[test]
    fn the_objective_is_the_one_written_out_row_by_row() {
        let (values, x): ([f64; 4], [f64; 2]) = ([0.5, -1.0, 2.0, 4.0], [1.5, -0.25]);
        // The rows of A are (−½, −½), (½, −½), (−½, ½), (½, ½).
        let rows = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)];
        let want: f64 = rows.iter().zip(values).map(|(r, v)| (r.0 * x[0] + r.1 * x[1] - v).powi(2)).sum();
        assert!((objective(&values, &x) - want).abs() < 1e-14);
    }
}
