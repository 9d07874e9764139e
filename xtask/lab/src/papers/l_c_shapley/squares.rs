//! Variants of regression C-Shapley that show why it performs poorly on images: with other weights, and
//! starting from the whole image.
//!
//! The weights of section 4.3.2 decrease with the size of a coalition. With 784 pixels, the weight of a
//! square of four pixels is 10⁻⁸ times the weight of a single pixel, so the result is v({i}) − v(∅): the
//! effect of a pixel alone on an empty image. Two variants show which aspect matters:
//!
//! ```text
//! φ = (XᵀX)⁻¹ XᵀF,   F_S = v(S) − v(∅)       equal weights: the last printed formula
//!                    F_S = v(N) − v(N ∖ S)   same for the dual game: squares removed from the image
//! ```

use anyhow::Result;
use apportion::Game;
use apportion::games::{Coalitions, Graph, GraphShape};
use apportion::solvers::{Constraint, Design, least_squares};

use super::scores::Scores;

/// Number of coalitions evaluated at a time.
const BATCH: usize = 256;

/// Returns the scores by least squares with equal weights. The coalitions are the square blocks of up to
/// `largest` × `largest` nodes on the grid.
pub(super) fn scores(game: &dyn Game, graph: &Graph, largest: usize) -> Result<Scores> {
    let squares = squares(graph, largest);
    let players = game.players();
    let mut asked = Coalitions::new(players);
    asked.push_empty();
    asked.extend(&squares);
    let mut values = vec![0.0; asked.len()];
    for (batch, values) in values.chunks_mut(BATCH).enumerate() {
        game.values(&asked.slice(batch * BATCH..batch * BATCH + values.len()), values)?;
    }
    let gains: Vec<f64> = values[1..].iter().map(|value| value - values[0]).collect();
    let weights = vec![1.0; squares.len()];
    let solution = least_squares(&Design::new(&squares, &weights)?, &gains, 1, Constraint::None)?;
    Ok(Scores { values: solution.coefficients().to_vec(), evaluations: asked.len() })
}

/// Returns the square blocks of up to `largest` × `largest` nodes on a grid, or the single nodes of any other
/// graph.
fn squares(graph: &Graph, largest: usize) -> Coalitions {
    let (height, width) = match graph.shape() {
        GraphShape::Grid { rows, columns, .. } => (rows, columns),
        _ => (1, graph.nodes()),
    };
    let mut squares = Coalitions::new(graph.nodes());
    for side in 1..=largest.min(height).min(width) {
        for top in 0..=height - side {
            for left in 0..=width - side {
                let rows = top..top + side;
                squares.push_members(
                    rows.flat_map(|row| (left..left + side).map(move |column| row * width + column)),
                );
            }
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::super::dual::Dual;
    use super::*;
    use apportion::Estimator;
    use apportion::estimators::ConnectedRegression;
    use apportion::games::{Additive, TabulatedGame};

    fn grid(rows: usize, columns: usize) -> Graph {
        Graph::grid(rows, columns, Default::default())
    }

    #[test]
    fn an_additive_game_is_divided_exactly_by_both() {
        let worths: Vec<f64> = (0..12).map(|at| (f64::from(at) * 0.7).sin()).collect();
        let game = Additive::new(worths.clone()).unwrap();
        let games: [&dyn Game; 2] = [&game, &Dual(&game)];
        for game in games {
            let found = scores(game, &grid(3, 4), 3).unwrap();
            // The 21 evaluations are 12 pixels, 6 squares of four pixels, 2 squares of nine pixels, and the
            // empty coalition.
            assert_eq!(found.evaluations, 21);
            for (value, expected) in found.values.iter().zip(&worths) {
                assert!((value - expected).abs() < 1e-12, "{value} {expected}");
            }
        }
    }

    #[test]
    fn taking_away_asks_about_the_rest() {
        // Only the coalition of all players has a nonzero value: no single pixel has an effect, and removing
        // any single pixel loses the whole value.
        let everyone =
            TabulatedGame::from_fn(4, |coalition| if coalition == 0b1111 { 1.0 } else { 0.0 }).unwrap();
        let alone = scores(&everyone, &grid(2, 2), 1).unwrap();
        let without = scores(&Dual(&everyone), &grid(2, 2), 1).unwrap();
        assert_eq!((alone.values, without.values), (vec![0.0; 4], vec![1.0; 4]));
    }

    #[test]
    fn the_weights_of_the_paper_leave_what_a_pixel_does_alone() {
        let game = pairs();
        let regression = ConnectedRegression::new(grid(20, 20)).order(4);
        let by_kernel = regression.estimate(&game, usize::MAX, 0).unwrap().values;
        let alone = scores(&game, &grid(20, 20), 1).unwrap().values;
        let equal = scores(&game, &grid(20, 20), 4).unwrap().values;
        let furthest = |values: &[f64]| {
            let differences = values.iter().zip(&alone).map(|(value, alone)| (value - alone).abs());
            differences.fold(0.0, f64::max)
        };
        assert!(furthest(&by_kernel) < 1e-4, "{}", furthest(&by_kernel));
        assert!(furthest(&equal) > 0.1, "{}", furthest(&equal));
    }

    /// Creates a game whose value is the number of present pixels, plus the number of present horizontal
    /// pairs.
    fn pairs() -> impl Game {
        struct Pairs;
        impl Game for Pairs {
            fn players(&self) -> usize {
                400
            }
            fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), apportion::games::GameError> {
                for (coalition, out) in batch.iter().zip(out) {
                    let next = |player: usize| {
                        player % 20 != 19 && coalition.contains(player) && coalition.contains(player + 1)
                    };
                    let joined = (0..400).filter(|&player| next(player)).count();
                    *out = coalition.size() as f64 + joined as f64;
                }
                Ok(())
            }
        }
        Pairs
    }
}
