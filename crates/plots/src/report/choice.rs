//! Selection of the rows that the report shows individually, each by a stated rule.

use crate::explained::Explained;

/// A selected row, with the rules that selected it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// The position of the row among the kept rows.
    pub(super) row: usize,
    /// The rules, such as `largest prediction`.
    pub(super) rules: Vec<&'static str>,
}

/// Returns the rows with the largest and the smallest prediction, the typical row, the row farthest from the
/// medians and, if values have intervals, the row with the widest interval. In case of ties, the first row is
/// taken. A row that several rules select is listed once.
///
/// The typical row is the one nearest to the medians of the values over the kept rows. Distances are
/// Euclidean, with each value in units of its player's mean |φ|.
pub(super) fn choices(explained: &Explained, output: usize) -> Vec<Choice> {
    let rows = 0..explained.rows();
    let prediction = |row: usize| explained.prediction(row, output);
    let distances = distances(explained, output);
    let width = |row: usize| {
        (0..explained.players())
            .map(|player| explained.half_width(row, player, output))
            .filter(|half| !half.is_nan())
            .fold(0.0, f64::max)
    };
    let mut found = vec![
        (greatest(rows.clone(), prediction), "largest prediction"),
        (greatest(rows.clone(), |row| -prediction(row)), "smallest prediction"),
        (greatest(rows.clone(), |row| -distances[row]), "typical"),
        (greatest(rows.clone(), |row| distances[row]), "farthest from the medians"),
    ];
    if explained.are_estimates() {
        let widest = greatest(rows, width).filter(|&row| width(row) > 0.0);
        found.push((widest, "widest interval"));
    }
    let mut choices: Vec<Choice> = Vec::new();
    for (row, rule) in found {
        let Some(row) = row else { continue };
        match choices.iter_mut().find(|choice| choice.row == row) {
            Some(choice) => choice.rules.push(rule),
            None => choices.push(Choice { row, rules: vec![rule] }),
        }
    }
    choices
}

/// Returns the first row with the maximum of a number.
fn greatest(rows: impl Iterator<Item = usize>, number: impl Fn(usize) -> f64) -> Option<usize> {
    rows.map(|row| (row, number(row)))
        .reduce(|most, next| if next.1 > most.1 { next } else { most })
        .map(|(row, _)| row)
}

/// Returns the distance of the values of each row from their medians.
fn distances(explained: &Explained, output: usize) -> Vec<f64> {
    let mut squares = vec![0.0; explained.rows()];
    let mut values = vec![0.0; explained.rows()];
    for player in 0..explained.players() {
        let unit = explained.summary.value(player, output, explained.outputs()).mean_size;
        if unit <= 0.0 || explained.rows() == 0 {
            continue;
        }
        values.iter_mut().enumerate().for_each(|(row, value)| *value = explained.value(row, player, output));
        let middle = (explained.rows() - 1) / 2;
        let median = *values.clone().select_nth_unstable_by(middle, f64::total_cmp).1;
        for (square, value) in squares.iter_mut().zip(&values) {
            *square += (value / unit - median / unit).powi(2);
        }
    }
    squares.into_iter().map(f64::sqrt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Gathering, Heading};

    fn with_values(values: Vec<f64>, std_errors: Vec<f64>) -> Explained {
        let mut gathering = Gathering::new(Heading::for_features(["a", "b"])).unwrap();
        let rows = values.len() / 2;
        gathering
            .add(Batch {
                rows: (0..rows as u64).collect(),
                base: vec![0.0; rows],
                predictions: values.chunks(2).map(|pair| pair[0] + pair[1]).collect(),
                values,
                std_errors,
                ..Batch::default()
            })
            .unwrap();
        gathering.end()
    }

    #[test]
    fn each_rule_finds_its_row() {
        let values = vec![0.0, 1.0, 0.1, 1.1, -0.1, 0.9, 9.0, 1.0, -2.0, 1.0, 0.0, 8.0];
        let mut errors = vec![0.1; 12];
        errors[3] = 0.7;
        errors[4] = f64::NAN;
        let found: Vec<(usize, &str)> = choices(&with_values(values, errors), 0)
            .iter()
            .map(|choice| (choice.row, choice.rules[0]))
            .collect();
        let expected = [
            (3, "largest prediction"),
            (4, "smallest prediction"),
            (0, "typical"),
            (3, "farthest from the medians"),
            (1, "widest interval"),
        ];
        // The row with the largest prediction is also the farthest from the medians.
        assert_eq!(found, [expected[0], expected[1], expected[2], expected[4]]);
    }

    #[test]
    fn one_row_is_all_of_them_and_no_row_is_none() {
        assert_eq!(choices(&with_values(vec![1.0, 2.0], vec![]), 0).len(), 1);
        assert_eq!(choices(&with_values(vec![], vec![]), 0), []);
        assert_eq!(choices(&with_values(vec![0.0; 8], vec![f64::NAN; 8]), 0).len(), 1);
        assert!(!choices(&with_values(vec![4e299, -4e299, 4e299, 4e299, 0.0, 1e-300], vec![]), 0).is_empty());
    }
}
