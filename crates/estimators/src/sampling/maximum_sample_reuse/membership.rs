//! Sums over the coalitions with and without each player, computed from bits for all players in one pass.
//!
//! # Notation
//!
//! There are `m` coalitions of `n` players, with a value and a weight for each coalition.

use apportion_games::Coalitions;

/// Returns, for each player, the sums of `values` over the rows with the player, and over the rows without
/// the player. There is one value per row.
///
/// Rows are first summed by their subset of each eight consecutive players, so that a value is added once for
/// eight players, and every sum combines 128 partial sums. Neither of the two sums is computed as the total
/// minus the other one, so small sums keep their precision. Takes `m ⌈n/8⌉` additions.
pub(crate) fn sums(coalitions: &Coalitions, values: impl Iterator<Item = f64>) -> (Vec<f64>, Vec<f64>) {
    let width = coalitions.words_per_row();
    let mut tables = vec![[0.0; 256]; 8 * width];
    for (row, value) in coalitions.words().chunks_exact(width).zip(values) {
        for (word, tables) in row.iter().zip(tables.as_chunks_mut::<8>().0) {
            for (table, byte) in tables.iter_mut().zip(word.to_le_bytes()) {
                table[usize::from(byte)] += value;
            }
        }
    }
    let sum_where = |player: usize, held: usize| -> f64 {
        let table = &tables[player / 8];
        (0..256).filter(|subset| subset >> (player % 8) & 1 == held).map(|subset| table[subset]).sum()
    };
    let players = coalitions.players();
    (
        (0..players).map(|player| sum_where(player, 1)).collect(),
        (0..players).map(|player| sum_where(player, 0)).collect(),
    )
}

/// Per-player and per-row data for one side: the coalitions with a player, or those without the player.
pub(crate) struct Side<'a> {
    /// The mean of the values on this side, for each player.
    pub(crate) means: &'a [f64],
    /// A factor for the deviations on this side, for each player.
    pub(crate) factors: &'a [f64],
    /// A weight for the squared deviations, for each row.
    pub(crate) weights: &'a [f64],
}

/// Returns `Σ_k w_k (f (x_k − μ))²` over all rows for each player, with the weight, the factor and the mean
/// of the side that contains the row.
///
/// Deviations are computed before squaring, so a mean far from zero costs no precision. Takes `m n` steps of
/// a few operations.
pub(crate) fn squares(
    coalitions: &Coalitions,
    values: &[f64],
    holding: &Side<'_>,
    lacking: &Side<'_>,
) -> Vec<f64> {
    let (players, width) = (coalitions.players(), coalitions.words_per_row());
    let mut sums = vec![0.0; 64 * width];
    for (index, sums) in sums.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let lanes = |numbers: &[f64]| -> [f64; 64] {
            std::array::from_fn(|lane| numbers.get(64 * index + lane).copied().unwrap_or(0.0))
        };
        let means = [lanes(lacking.means), lanes(holding.means)];
        let factors = [lanes(lacking.factors), lanes(holding.factors)];
        let weights = holding.weights.iter().zip(lacking.weights);
        let words = coalitions.words().iter().skip(index).step_by(width);
        for ((&word, &value), (&held, &lacked)) in words.zip(values).zip(weights) {
            for lane in 0..64 {
                let mask = (word >> lane & 1).wrapping_neg();
                let mean = choose(mask, means[1][lane], means[0][lane]);
                let factor = choose(mask, factors[1][lane], factors[0][lane]);
                let deviation = factor * (value - mean);
                sums[lane] += choose(mask, held, lacked) * deviation * deviation;
            }
        }
    }
    sums.truncate(players);
    sums
}

/// Returns `set` if the mask is all ones, and `unset` if it is zero. Compilers vectorize masks, but not
/// branches.
#[inline(always)]
fn choose(mask: u64, set: f64, unset: f64) -> f64 {
    f64::from_bits(set.to_bits() & mask | unset.to_bits() & !mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coalitions(players: usize, rows: usize) -> Coalitions {
        let mut batch = Coalitions::new(players);
        for row in 0..rows {
            batch.push_members(
                (0..players).filter(|player| (row * 7 + player * player + row * player) % 3 == 0),
            );
        }
        batch
    }

    #[test]
    fn sums_and_squares_are_those_over_holders_and_others() {
        for players in [1, 2, 7, 8, 63, 64, 65, 130] {
            let batch = coalitions(players, 50);
            // Use small integers, so that sums are exact in any order.
            let values: Vec<f64> = (0..50).map(|row| f64::from(row * 5 % 17) - 8.0).collect();
            let weights: [Vec<f64>; 2] =
                [3, 7].map(|step| (0..50).map(|row| f64::from(row * step % 5)).collect());
            let means: [Vec<f64>; 2] =
                [5, 11].map(|step| (0..players).map(|i| (i * step % 6) as f64).collect());
            let factors: [Vec<f64>; 2] =
                [2, 3].map(|step| (0..players).map(|i| (i * step % 4) as f64).collect());
            let side =
                |held: usize| Side { means: &means[held], factors: &factors[held], weights: &weights[held] };
            let (holding, lacking) = sums(&batch, values.iter().copied());
            let deviations = squares(&batch, &values, &side(1), &side(0));
            for player in 0..players {
                let mut expected = [0.0; 2];
                let mut squares = 0.0;
                for (row, coalition) in batch.iter().enumerate() {
                    let held = usize::from(coalition.contains(player));
                    expected[held] += values[row];
                    squares += weights[held][row]
                        * (factors[held][player] * (values[row] - means[held][player])).powi(2);
                }
                assert_eq!([lacking[player], holding[player]], expected, "{player} of {players}");
                assert_eq!(deviations[player], squares, "{player} of {players}");
            }
        }
    }
}
