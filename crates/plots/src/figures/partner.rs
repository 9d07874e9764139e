//! The strongest interaction partner of a player.

use crate::explained::Explained;

/// Number of parts into which rows are divided, in the order of a player's inputs. A line is fitted in each
/// part.
const PARTS: usize = 10;

/// The strongest interaction partner of a player, found by [`strongest_partner`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Partner {
    /// The index of the player.
    pub player: usize,
    /// If the results contain interactions, the mean absolute interaction. Otherwise, the fraction that the
    /// partner's inputs explain of the variance that the inputs of the other player leave unexplained.
    pub strength: f64,
    /// Whether the strength is a computed interaction.
    pub is_known: bool,
}

/// Returns the strongest interaction partner of player i, `player`, or `None` if it has no partner.
///
/// If the results contain interactions, it is the player j with the largest mean |I_ij|. Otherwise, it is the
/// player whose inputs x_j explain most of the variance of φ_i that the inputs x_i leave unexplained: rows
/// are divided into ten parts in the order of x_i. Within a part, a line in x_j explains cov(φ_i, x_j)² /
/// var(x_j) of the variance of φ_i. The strength is the sum of the explained variances over the parts,
/// divided by the sum of the variances of φ_i. A partner must consist of a single feature with inputs. Uses
/// the kept rows, in time O(rows × players).
pub fn strongest_partner(explained: &Explained, player: usize, output: usize) -> Option<Partner> {
    let (players, outputs) = (explained.players(), explained.outputs());
    let others = (0..players).filter(|&other| other != player);
    let interactions = &explained.summary.interactions;
    if !interactions.is_empty() {
        let strength = |other: usize| interactions[(player * players + other) * outputs + output];
        let most = others.max_by(|&a, &b| strength(a).total_cmp(&strength(b)).then(b.cmp(&a)))?;
        let found = Partner { player: most, strength: strength(most), is_known: true };
        return (found.strength > 0.0 && explained.only_feature(most).is_some()).then_some(found);
    }
    let feature = explained.only_feature(player)?;
    let input = |row: &usize| explained.input(*row, feature);
    let mut rows: Vec<usize> = (0..explained.rows()).filter(|row| !input(row).is_nan()).collect();
    rows.sort_by(|a, b| input(a).total_cmp(&input(b)));
    let parts: Vec<&[usize]> = rows.chunks(rows.len().div_ceil(PARTS).max(1)).collect();
    // Scale, so that squares do not overflow.
    let unit = size(rows.iter().map(|&row| explained.value(row, player, output)));
    let value = |row: usize| explained.value(row, player, output) / unit;
    let whole: f64 = parts.iter().map(|rows| squares(rows.iter().map(|&row| value(row)))).sum();
    if whole.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return None;
    }
    let strength = |other: usize| -> Option<f64> {
        let feature = explained.only_feature(other)?;
        let unit = size(rows.iter().map(|&row| explained.input(row, feature)));
        let explained_by = |rows: &&[usize]| {
            line(
                rows.iter()
                    .map(|&row| (explained.input(row, feature) / unit, value(row)))
                    .filter(|(input, _)| !input.is_nan()),
            )
        };
        Some(parts.iter().map(explained_by).sum::<f64>() / whole)
    };
    let found = others.filter_map(|other| Some((other, strength(other)?)));
    let (player, strength) = found.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    (strength > 0.0).then_some(Partner { player, strength: strength.min(1.0), is_known: false })
}

/// Returns the largest absolute value of the numbers, ignoring NaN, or 1 if that is zero.
fn size(numbers: impl Iterator<Item = f64>) -> f64 {
    Some(numbers.fold(0.0, |most: f64, number| most.max(number.abs())))
        .filter(|&most| most > 0.0)
        .unwrap_or(1.0)
}

/// Returns the sum of squared differences from the mean.
fn squares(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = numbers.clone().count().max(1) as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    numbers.map(|number| (number - mean).powi(2)).sum()
}

/// Fits a line to pairs (x, y), and returns the part of the sum of squares of y that the line explains.
fn line(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = pairs.clone().count().max(1) as f64;
    let mean = |of: fn((f64, f64)) -> f64| pairs.clone().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|(x, _)| x), mean(|(_, y)| y));
    let both: f64 = pairs.clone().map(|(a, b)| (a - x) * (b - y)).sum();
    let of_x = squares(pairs.map(|(a, _)| a));
    // Ignore differences that are rounding error.
    if of_x > 1e-20 * x * x * count { both * both / of_x } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Gathering, Heading};

    /// Returns results in which the values of `a` depend on the inputs of `a` and `c`. All values and inputs
    /// are multiplied by `unit`.
    fn in_units(unit: f64) -> Explained {
        let mut gathering = Gathering::new(Heading::for_features(["a", "b", "c"])).unwrap();
        for row in 0..200_u64 {
            let [a, b, c] = [7, 11, 13].map(|step| (row * step % 101) as f64 - 50.0);
            gathering
                .add(Batch {
                    rows: vec![row],
                    base: vec![0.0],
                    predictions: vec![0.0],
                    values: vec![unit * (a + c), 0.0, unit * b],
                    inputs: vec![unit * a, unit * b, unit * c],
                    ..Batch::default()
                })
                .unwrap();
        }
        gathering.end()
    }

    #[test]
    fn the_feature_that_a_value_depends_on_is_found_in_any_unit() {
        let expected = strongest_partner(&in_units(1.0), 0, 0).unwrap();
        assert_eq!((expected.player, expected.is_known), (2, false));
        assert!(expected.strength > 0.5, "{expected:?}");
        for unit in [2_f64.powi(-900), 2_f64.powi(-60), 2_f64.powi(900)] {
            let found = strongest_partner(&in_units(unit), 0, 0).unwrap();
            assert_eq!(found.player, 2);
            assert!((found.strength - expected.strength).abs() < 1e-12, "{unit}: {found:?}");
        }
        assert_eq!(
            strongest_partner(&in_units(1.0), 1, 0),
            None,
            "values that are all zero have no variance"
        );
    }
}
