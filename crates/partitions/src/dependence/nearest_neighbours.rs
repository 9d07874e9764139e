//! Mutual information estimated from distances of nearest neighbours.
//!
//! Implements algorithm 1 of Kraskov, Stögbauer and Grassberger (2004) with the maximum norm. Columns are
//! first replaced with normal scores, Φ⁻¹(rank / (N + 1)). This does not change the mutual information. The
//! estimator performs best for normal marginals, and its distribution under independence then depends only on
//! N and k. Neighbours are found by walking outwards from a point in the order of x, until the next point is
//! at least as far away in x as the k-th neighbour found so far.

use apportion_games::{Purpose, stream};
use rand::seq::SliceRandom;
use statrs::distribution::{ContinuousCDF, Normal};

use super::measure::{Measure, informational_coefficient};
use super::ranks::Ordered;

/// Euler's constant, −ψ(1).
const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;

/// Mutual information from k-th nearest neighbours, as Linfoot's coefficient.
pub(super) struct NearestNeighbours {
    neighbours: Option<usize>,
    seed: u64,
    /// Tables for the total number of rows. Separate tables are computed for pairs with missing values.
    tables: Tables,
}

/// Tables that depend only on the number of rows.
struct Tables {
    /// The normal score of each rank, from index 0.
    scores: Vec<f64>,
    /// ψ(1) … ψ(N), from index 1.
    digamma: Vec<f64>,
}

impl Tables {
    fn new(rows: usize) -> Self {
        let normal = Normal::standard();
        let scores = (1..=rows).map(|rank| normal.inverse_cdf(rank as f64 / (rows + 1) as f64)).collect();
        let mut digamma = vec![f64::NAN, -EULER_GAMMA];
        for n in 1..rows {
            digamma.push(digamma[n] + 1.0 / n as f64);
        }
        Self { scores, digamma }
    }
}

/// A column as a ranking of its rows without ties.
pub(super) struct RankOrder {
    /// The rows in ascending order of their numbers.
    rows: Vec<usize>,
    /// The position of each row in `rows`.
    place: Vec<usize>,
}

impl RankOrder {
    fn new(rows: Vec<usize>) -> Self {
        let mut place = vec![0; rows.len()];
        for (at, &row) in rows.iter().enumerate() {
            place[row] = at;
        }
        Self { rows, place }
    }
}

impl Measure for NearestNeighbours {
    type Prepared = RankOrder;

    fn prepare(&self, numbers: &[f64], column: usize) -> RankOrder {
        let mut ordered = Ordered::new(numbers);
        let mut rng = stream(self.seed, Purpose::Ties, column as u64);
        let runs: Vec<_> = ordered.runs().filter(|run| run.len() > 1).collect();
        for run in runs {
            ordered.rows[run].shuffle(&mut rng);
        }
        RankOrder::new(ordered.rows)
    }

    fn between(&self, first: &RankOrder, second: &RankOrder) -> f64 {
        informational_coefficient(self.information(first, second))
    }
}

impl NearestNeighbours {
    /// Creates the measure for data with `rows` rows.
    pub(super) fn new(neighbours: Option<usize>, seed: u64, rows: usize) -> Self {
        Self { neighbours, seed, tables: Tables::new(rows) }
    }

    /// Estimates the mutual information of two columns in nats.
    fn information(&self, x: &RankOrder, y: &RankOrder) -> f64 {
        let y_places: Vec<usize> = x.rows.iter().map(|&row| y.place[row]).collect();
        if y_places.len() == self.tables.scores.len() {
            self.estimate(&self.tables, &y_places)
        } else {
            self.estimate(&Tables::new(y_places.len()), &y_places)
        }
    }

    /// Returns an estimate for two independent features, from draw number `unit` of this seed.
    pub(super) fn under_independence(&self, unit: u64) -> f64 {
        let mut places: Vec<usize> = (0..self.tables.scores.len()).collect();
        places.shuffle(&mut stream(self.seed, Purpose::Permutations, unit));
        self.estimate(&self.tables, &places)
    }

    fn estimate(&self, tables: &Tables, y_places: &[usize]) -> f64 {
        let neighbours = self.neighbours.unwrap_or_else(|| default_neighbours(y_places.len()));
        Estimate { tables, nearest: vec![f64::INFINITY; neighbours] }.information(y_places)
    }
}

/// Returns the default number of neighbours: 20, or a fifth of the rows if that is smaller.
fn default_neighbours(rows: usize) -> usize {
    (rows / 5).clamp(1, 20)
}

/// The working memory for estimating the mutual information of one pair.
struct Estimate<'a> {
    tables: &'a Tables,
    /// The distances of the nearest neighbours of a point, ascending.
    nearest: Vec<f64>,
}

impl Estimate<'_> {
    /// Returns the estimate for points that are given as positions in both orders: (i, `y_places[i]`).
    fn information(&mut self, y_places: &[usize]) -> f64 {
        let Tables { scores, digamma } = self.tables;
        let y_scores: Vec<f64> = y_places.iter().map(|&place| scores[place]).collect();
        let mut sum = 0.0;
        for (x_place, &y_place) in y_places.iter().enumerate() {
            let distance = self.distance_of_last_neighbour(x_place, &y_scores);
            sum += digamma[self.nearer(x_place, distance) + 1];
            sum += digamma[self.nearer(y_place, distance) + 1];
        }
        let rows = y_places.len();
        digamma[self.nearest.len()] + digamma[rows] - sum / rows as f64
    }

    /// Returns the distance of the point at `place` in the order of x to its k-th nearest neighbour, in the
    /// maximum norm.
    fn distance_of_last_neighbour(&mut self, place: usize, y_scores: &[f64]) -> f64 {
        let (scores, nearest) = (&self.tables.scores, &mut self.nearest);
        nearest.fill(f64::INFINITY);
        let last = nearest.len() - 1;
        let (mut left, mut right) = (place, place + 1);
        loop {
            let to_left = if left > 0 { scores[place] - scores[left - 1] } else { f64::INFINITY };
            let to_right = if right < scores.len() { scores[right] - scores[place] } else { f64::INFINITY };
            let in_x = to_left.min(to_right);
            if in_x >= nearest[last] {
                return nearest[last];
            }
            let other = if to_left <= to_right {
                left -= 1;
                left
            } else {
                right += 1;
                right - 1
            };
            let distance = in_x.max((y_scores[other] - y_scores[place]).abs());
            if distance < nearest[last] {
                let mut at = last;
                while at > 0 && nearest[at - 1] > distance {
                    nearest[at] = nearest[at - 1];
                    at -= 1;
                }
                nearest[at] = distance;
            }
        }
    }

    /// Returns the number of other positions whose score is strictly nearer than `distance`.
    fn nearer(&self, place: usize, distance: f64) -> usize {
        let scores = &self.tables.scores;
        let centre = scores[place];
        let first = scores[..place].partition_point(|score| centre - score >= distance);
        let beyond = scores[place..].partition_point(|score| score - centre < distance);
        place - first + beyond - 1
    }
}
