//! The maximal information coefficient.
//!
//! # Notation
//!
//! A grid with a columns and b rows divides the N points into cells. `I(a, b)` is the largest mutual
//! information (nats) between the column and the row of a point, over all grids of that size.
//!
//! ```text
//! MIC = max over a b ≤ B(N) of I(a, b) / ln min(a, b),      B(N) = N^0.6, at least 4
//! ```
//!
//! # Algorithm
//!
//! There are too many grids to evaluate all of them. Therefore, one axis is divided into parts with equal
//! numbers of points, as nearly as ties allow. The other axis is divided optimally, by dynamic programming
//! over clumps: runs of points in the same row, which an optimal division never separates. If there are more
//! than `c a` clumps, they are merged into about `c a` clumps with nearly equal numbers of points; c is 15. I
//! is computed for both choices of the axis with equal parts, and the larger value is used.
//!
//! # Source
//!
//! Reshef et al., *Detecting novel associations in large data sets*, Science, 2011: equation 1, and
//! ApproxMaxMI of its supplement.

use apportion_games::{Purpose, stream};
use rand::seq::SliceRandom;

use super::measure::Measure;
use super::ranks::Ordered;

/// The exponent in B(N), the maximum number of cells of a grid.
const EXPONENT: f64 = 0.6;

/// The constant c: the maximum number of clumps per column of a grid.
const CLUMPS: usize = 15;

/// The seed of the draws that estimate the distribution under independence.
const SEED: u64 = 0;

/// The maximal information coefficient, with the constants of the paper.
pub(super) struct MaximalInformation;

impl MaximalInformation {
    /// Returns the coefficient of two independent features without ties, from draw number `unit`.
    pub(super) fn under_independence(&self, rows: usize, unit: u64) -> f64 {
        let numbers: Vec<f64> = (0..rows).map(|row| row as f64).collect();
        let mut shuffled = numbers.clone();
        shuffled.shuffle(&mut stream(SEED, Purpose::Permutations, unit));
        self.between(&Ordered::new(&numbers), &Ordered::new(&shuffled))
    }
}

impl Measure for MaximalInformation {
    type Prepared = Ordered;

    fn prepare(&self, numbers: &[f64], _column: usize) -> Ordered {
        Ordered::new(numbers)
    }

    fn between(&self, first: &Ordered, second: &Ordered) -> f64 {
        let cells = cells(first.rows.len());
        let mut largest = 0.0_f64;
        for (across, along) in [(first, second), (second, first)] {
            for rows in 2..=cells / 2 {
                let of_columns = best_columns(across, along, rows, cells / rows);
                for (columns, information) in (2..).zip(of_columns) {
                    largest = largest.max(information / (rows.min(columns) as f64).ln());
                }
            }
        }
        // Rounding may raise the coefficient above 1.
        largest.min(1.0)
    }
}

/// Returns B(N), the maximum number of cells of a grid for N rows.
fn cells(rows: usize) -> usize {
    (rows as f64).powf(EXPONENT).max(4.0) as usize
}

/// Returns I for 2, 3, … `most` columns. `along` is divided into `rows` rows with nearly equal numbers of
/// points, and `across` is divided into columns optimally.
fn best_columns(across: &Ordered, along: &Ordered, rows: usize, most: usize) -> Vec<f64> {
    let runs: Vec<usize> = along.runs().map(|run| run.len()).collect();
    let (part, parts) = equal_parts(&runs, rows);
    let mut row_of = vec![0; along.rows.len()];
    for (run, part) in along.runs().zip(part) {
        along.rows[run].iter().for_each(|&point| row_of[point] = part);
    }
    let mut clumps = clumps(across, &row_of, parts);
    if clumps.len() > CLUMPS * most {
        clumps = joined(&clumps, CLUMPS * most);
    }
    informations(&clumps, most)
}

/// Divides runs of points into `parts` parts with nearly equal numbers of points, without splitting runs.
/// Returns the part of each run, and the number of nonempty parts. A run starts the next part if adding it
/// would not bring the current part closer to its share.
fn equal_parts(runs: &[usize], parts: usize) -> (Vec<usize>, usize) {
    let mut left: usize = runs.iter().sum();
    let (mut part, mut held) = (0, 0);
    let mut share = left as f64 / parts as f64;
    let of_run = runs.iter().map(|&run| {
        let with = (held + run) as f64;
        if held > 0 && (with - share).abs() >= (held as f64 - share).abs() {
            part += 1;
            held = 0;
            share = left as f64 / (parts - part) as f64;
        }
        held += run;
        left -= run;
        part
    });
    let of_run: Vec<usize> = of_run.collect();
    let count = of_run.last().map_or(0, |last| last + 1);
    (of_run, count)
}

/// Returns, for each clump, its number of points in each row of the grid. Clumps are runs of points in the
/// same row, in the order of `across`. Points with equal numbers form one clump even if they are in several
/// rows.
fn clumps(across: &Ordered, row_of: &[usize], rows: usize) -> Vec<Vec<u32>> {
    let mut clumps: Vec<Vec<u32>> = Vec::new();
    // The row of the last clump, if it is in a single row.
    let mut last = None;
    for run in across.runs() {
        let points = &across.rows[run];
        let row = row_of[points[0]];
        let own = points.iter().all(|&point| row_of[point] == row).then_some(row);
        if own.is_none() || own != last {
            clumps.push(vec![0; rows]);
        }
        if let Some(clump) = clumps.last_mut() {
            points.iter().for_each(|&point| clump[row_of[point]] += 1);
        }
        last = own;
    }
    clumps
}

/// Merges neighbouring clumps to about `parts` clumps with nearly equal numbers of points.
fn joined(clumps: &[Vec<u32>], parts: usize) -> Vec<Vec<u32>> {
    let sizes: Vec<usize> = clumps.iter().map(|clump| clump.iter().sum::<u32>() as usize).collect();
    let (part, count) = equal_parts(&sizes, parts);
    let mut all = vec![vec![0; clumps[0].len()]; count];
    for (clump, part) in clumps.iter().zip(part) {
        all[part].iter_mut().zip(clump).for_each(|(sum, points)| *sum += points);
    }
    all
}

/// Returns the largest mutual information for 2, 3, … `most` columns, each of which is a run of clumps. H is
/// the entropy of the rows of the grid, and a column contains the clumps s to t − 1:
/// ```text
/// N I = N H + max over cuts of Σ g(s, t),
/// g(s, t) = Σ_rows c ln(c / Σ c),  c the points of clumps s … t − 1 in a row
/// ```
fn informations(clumps: &[Vec<u32>], most: usize) -> Vec<f64> {
    let (count, rows) = (clumps.len(), clumps[0].len());
    let mut sums = vec![vec![0_u32; rows]];
    for clump in clumps {
        let next = sums[sums.len() - 1].iter().zip(clump).map(|(sum, points)| sum + points).collect();
        sums.push(next);
    }
    let total: u32 = sums[count].iter().sum();
    // c ln c, for every possible number of points c.
    let products: Vec<f64> =
        (0..=total).map(|c| if c == 0 { 0.0 } else { f64::from(c) * f64::from(c).ln() }).collect();
    let product = |c: u32| products[c as usize];
    let column = |from: usize, to: usize| {
        let (mut points, mut sum) = (0, 0.0);
        for (end, start) in sums[to].iter().zip(&sums[from]) {
            points += end - start;
            sum += product(end - start);
        }
        sum - product(points)
    };
    // For each end t, the value of the columns with starts s < t.
    let columns: Vec<Vec<f64>> =
        (1..=count).map(|to| (0..to).map(|from| column(from, to)).collect()).collect();
    let entropy = product(total) - sums[count].iter().map(|&points| product(points)).sum::<f64>();
    // The largest sum over `number` columns for the first t clumps.
    let mut best: Vec<f64> =
        std::iter::once(f64::NEG_INFINITY).chain(columns.iter().map(|starts| starts[0])).collect();
    let mut found = Vec::with_capacity(most - 1);
    for number in 2..=most {
        if number <= count {
            let end = |to: usize| {
                let starts = (number - 1..to).map(|from| best[from] + columns[to - 1][from]);
                starts.fold(f64::NEG_INFINITY, f64::max)
            };
            best = (0..=count).map(|to| if to < number { f64::NEG_INFINITY } else { end(to) }).collect();
        }
        found.push((entropy + best[count]) / f64::from(total));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coefficient(x: &[f64], y: &[f64]) -> f64 {
        MaximalInformation.between(&Ordered::new(x), &Ordered::new(y))
    }

    #[test]
    fn parts_are_as_equal_as_runs_allow() {
        assert_eq!(equal_parts(&[1; 7], 3), (vec![0, 0, 1, 1, 2, 2, 2], 3));
        assert_eq!(equal_parts(&[5, 1, 1, 1], 2), (vec![0, 1, 1, 1], 2));
        assert_eq!(equal_parts(&[1, 1, 6], 3), (vec![0, 0, 1], 2));
        assert_eq!(equal_parts(&[4], 3), (vec![0], 1));
    }

    #[test]
    fn clumps_are_runs_of_one_row_and_of_equal_numbers() {
        let across = Ordered::new(&[0.0, 1.0, 2.0, 3.0, 3.0, 4.0]);
        let found = clumps(&across, &[0, 0, 1, 1, 0, 0], 2);
        assert_eq!(found, [vec![2, 0], vec![0, 1], vec![1, 1], vec![1, 0]]);
        assert_eq!(joined(&found, 2), [vec![2, 1], vec![2, 1]]);
    }

    /// Computes the largest mutual information over all ways to divide clumps into at most `columns` columns.
    fn by_all_cuts(clumps: &[Vec<u32>], columns: usize) -> f64 {
        let total = f64::from(clumps.iter().flatten().sum::<u32>());
        let mut largest = 0.0_f64;
        for cuts in 0..1_u32 << (clumps.len() - 1) {
            if cuts.count_ones() as usize + 1 > columns {
                continue;
            }
            let mut grid = vec![clumps[0].clone()];
            for (at, clump) in clumps.iter().enumerate().skip(1) {
                if cuts >> (at - 1) & 1 == 1 {
                    grid.push(vec![0; clump.len()]);
                }
                grid.last_mut().unwrap().iter_mut().zip(clump).for_each(|(sum, points)| *sum += points);
            }
            let row = |row: usize| f64::from(grid.iter().map(|column| column[row]).sum::<u32>());
            let mut information = 0.0;
            for column in &grid {
                let in_column = f64::from(column.iter().sum::<u32>());
                for (at, &points) in column.iter().enumerate().filter(|cell| *cell.1 > 0) {
                    let points = f64::from(points);
                    information += points / total * (points * total / (in_column * row(at))).ln();
                }
            }
            largest = largest.max(information);
        }
        largest
    }

    #[test]
    fn columns_are_the_best_of_all_cuts() {
        let mut rng = stream(4, Purpose::Experiment, 0);
        for (clumps, rows) in [(2, 2), (5, 2), (9, 3), (11, 4)] {
            let mut points: Vec<Vec<u32>> = vec![vec![1; rows]; clumps];
            points.iter_mut().flatten().for_each(|c| *c += (rand::Rng::next_u32(&mut rng) >> 29) as u32);
            for (columns, found) in (2..).zip(informations(&points, clumps + 2)) {
                let expected = by_all_cuts(&points, columns);
                assert!((found - expected).abs() < 1e-12, "{clumps}, {columns}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn a_function_without_noise_has_the_coefficient_1() {
        let x: Vec<f64> = (0..1000).map(|row| f64::from(row) / 999.0).collect();
        let y: Vec<f64> = x.iter().map(|x| (10.0 * std::f64::consts::PI * x).sin() + x).collect();
        assert!((coefficient(&x, &y) - 1.0).abs() < 1e-12);
    }
}
