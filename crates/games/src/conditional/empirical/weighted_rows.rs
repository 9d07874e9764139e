//! Selects and weights the rows of data that represent a coalition.

/// Rows of the data in order of distance, with their squared distances from the explicand and their weights.
pub(super) struct WeightedRows {
    /// Row indices in order of ascending distance, and in ascending order at equal distance.
    order: Vec<usize>,
    /// The squared distance of each row.
    distances: Vec<f64>,
    /// The weight of each row. The weight of the nearest row is its count.
    weights: Vec<f64>,
}

/// Squared distances whose relative difference is smaller than this value are considered equal.
const ROUNDING: f64 = 1e-9;

impl WeightedRows {
    /// Weights each row r by `counts[r] · exp(−(distances[r] − min) / (2 · bandwidth²))`, where `distances`
    /// contains squared distances and `min` is the smallest of them.
    pub(super) fn new(distances: Vec<f64>, counts: &[f64], bandwidth: f64) -> Self {
        let mut order: Vec<usize> = (0..distances.len()).collect();
        order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        let nearest = distances[order[0]];
        // Divide by the bandwidth twice: its square may underflow.
        let weight = |(distance, count): (&f64, &f64)| {
            count * (-(distance - nearest) / bandwidth / bandwidth / 2.0).exp()
        };
        let weights = distances.iter().zip(counts).map(weight).collect();
        Self { order, distances, weights }
    }

    /// Selects the nearest rows that together have the given share of the total weight, and all rows at the
    /// same distance as the last of them, but at most `most` rows.
    ///
    /// If the ties exceed this maximum, some of the tied rows represent all of them: they are chosen at even
    /// steps of cumulative weight, in ascending order of row index, and share the weight of all tied rows.
    pub(super) fn with_ties(&self, share: f64, most: usize) -> (Vec<usize>, Vec<f64>) {
        let distance = |&row: &usize| self.distances[row];
        let weights = |rows: &[usize]| rows.iter().map(|&row| self.weights[row]).collect();
        let wanted = share * self.order.iter().map(|&row| self.weights[row]).sum::<f64>();
        let mut held = 0.0;
        let last = self.order.iter().find(|&&row| {
            held += self.weights[row];
            held >= wanted
        });
        let count = match last {
            Some(last) if share < 1.0 => {
                let farthest = self.distances[*last] * (1.0 + ROUNDING);
                self.order.partition_point(|row| distance(row) <= farthest)
            }
            _ => self.order.len(),
        };
        let rows = &self.order[..count];
        if count <= most {
            return (rows.to_vec(), weights(rows));
        }
        let at_most = distance(&rows[most - 1]);
        let start = rows.partition_point(|row| distance(row) < at_most * (1.0 - ROUNDING));
        let end = rows.partition_point(|row| distance(row) <= at_most * (1.0 + ROUNDING));
        if end <= most {
            return (rows[..most].to_vec(), weights(&rows[..most]));
        }
        let mut tied = rows[start..end].to_vec();
        tied.sort_unstable();
        let (stand_ins, their_weights) = evenly_spaced(&tied, &weights(&tied), most - start);
        ([&rows[..start], &stand_ins].concat(), [weights(&rows[..start]), their_weights].concat())
    }

    /// Selects rows as shapr does. First drops rows in order of ascending weight (ties in row order) while
    /// the dropped rows have at most `1 − share` of the total weight. Then keeps at most the last `most`
    /// rows.
    pub(super) fn by_place(&self, share: f64, most: usize) -> (Vec<usize>, Vec<f64>) {
        let total: f64 = self.weights.iter().sum();
        let mut ascending: Vec<usize> = (0..self.weights.len()).collect();
        ascending.sort_by(|&a, &b| self.weights[a].total_cmp(&self.weights[b]));
        let mut left_out = 0.0;
        let is_left_out = |row: &&usize| {
            left_out += self.weights[**row] / total;
            share < 1.0 && left_out <= 1.0 - share
        };
        let first = ascending.iter().take_while(is_left_out).count();
        let rows = ascending.split_off(first.max(ascending.len().saturating_sub(most)));
        let weights = rows.iter().map(|&row| self.weights[row]).collect();
        (rows, weights)
    }
}

/// Selects at most `room` of `rows`, at even steps of cumulative weight, and distributes the total weight
/// among them.
fn evenly_spaced(rows: &[usize], weights: &[f64], room: usize) -> (Vec<usize>, Vec<f64>) {
    let step = weights.iter().sum::<f64>() / room as f64;
    let (mut chosen, mut shares) = (Vec::new(), Vec::new());
    let (mut held, mut next) = (0.0, 0);
    for (&row, weight) in rows.iter().zip(weights) {
        held += weight;
        let first = next;
        while next < room && (next as f64 + 0.5) * step < held {
            next += 1;
        }
        if next > first {
            chosen.push(row);
            shares.push((next - first) as f64 * step);
        }
    }
    (chosen, shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_beyond_the_most_rows_keeps_its_weight() {
        let distances = [4.0, 1.0, 0.0, 1.0, 1.0, 1.0, 9.0, 1.0];
        let weighed = WeightedRows::new(distances.to_vec(), &[1.0; 8], 1.0);
        let (rows, weights) = weighed.with_ties(1.0, 3);
        assert_eq!(rows, [2, 3, 5]);
        let tied = (-0.5_f64).exp();
        assert!((weights[0] - 1.0).abs() < 1e-15);
        assert!(weights[1..].iter().all(|weight| (weight - 2.5 * tied).abs() < 1e-15));
        // If all tied rows fit, all of them are selected.
        assert_eq!(weighed.with_ties(1.0, 6).0, [2, 1, 3, 4, 5, 7]);
    }

    #[test]
    fn ties_at_the_share_are_kept_together_and_by_place_the_first_are_left_out() {
        let weighed = WeightedRows::new(vec![0.0; 10], &[1.0; 10], 1.0);
        assert_eq!(weighed.with_ties(0.75, 10).0, (0..10).collect::<Vec<_>>());
        assert_eq!(weighed.by_place(0.75, 10).0, (2..10).collect::<Vec<_>>());
        assert_eq!(weighed.by_place(1.0, 3).0, [7, 8, 9]);
    }

    #[test]
    fn heavy_rows_of_a_tie_stand_for_light_ones() {
        let (rows, weights) = evenly_spaced(&[0, 1, 2, 3], &[1.0, 9.0, 1.0, 1.0], 3);
        assert_eq!((rows, weights), (vec![1, 2], vec![8.0, 4.0]));
    }
}
