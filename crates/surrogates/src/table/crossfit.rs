//! Cross-fitting: surrogates that are learned from hybrids, and applied to other hybrids.
//!
//! Every explicand has one or several *parts* of draws, and every part a forest that was learned without it.
//! Given its forest, the residuals of a part are those of a fixed function, and the correction is an ordinary
//! estimate.

use std::ops::Range;

use apportion_games::{Background, Purpose, Rows, parallel, stream};
use apportion_values::Value;
use rand::Rng;

use super::hybrids::Explicand;
use super::prepared::Prepared;
use crate::error::Result;
use crate::learner::forest::Forest;
use crate::learner::linear::add_sums;
use crate::learner::pairs::Pairs;
use crate::surrogate::{LearningRows, Surrogate};

/// The number of pairs that are predicted together.
const BLOCK_PAIRS: usize = 1 << 10;
/// The maximum number of features for which the masks of all features are intersected.
const MAX_DENSE: usize = 64;

/// The outputs of the model.
pub(crate) struct ModelOutputs<'a> {
    pub(crate) background: &'a Background,
    /// For the background rows: B × outputs.
    pub(crate) of_background: &'a [f64],
    /// For the explicands: rows × outputs.
    pub(crate) of_explicands: &'a [f64],
    /// For the hybrids of each explicand: pairs × 2 × outputs.
    pub(crate) of_hybrids: &'a [Vec<f64>],
    pub(crate) outputs: usize,
}

/// The assignment of forests to the parts of the explicands; empty if there are none.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Parts {
    /// The number of forests.
    pub(crate) forests: usize,
    /// For each explicand, the forest of each part.
    pub(crate) forest_of: Vec<Vec<usize>>,
    /// For each explicand, the index of the first pair of each part, followed by the number of pairs.
    pub(crate) starts: Vec<Vec<usize>>,
}

impl Parts {
    /// Iterates over the parts of an explicand: the forest of each part, and the range of its pairs.
    pub(crate) fn of(&self, explicand: usize) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let of_explicand = self.forest_of.get(explicand).zip(self.starts.get(explicand));
        of_explicand.into_iter().flat_map(|(forests, starts)| {
            forests.iter().zip(starts.windows(2)).map(|(&forest, ends)| (forest, ends[0]..ends[1]))
        })
    }
}

/// Learns all forests. Each is learned from at most `max_rows` hybrids, the explicands and the background.
pub(crate) fn learn(
    explicands: &[Explicand<'_>],
    outputs: &ModelOutputs<'_>,
    parts: &Parts,
    is_categorical: &[bool],
    max_rows: usize,
    seed: u64,
) -> Result<Vec<Surrogate>> {
    let numbers = 2 * outputs.outputs;
    parallel::try_map(0..parts.forests, |forest| {
        let (mut rows, mut targets) = (Vec::new(), Vec::new());
        for (at, pairs) in learning_pairs(explicands.len(), parts, forest, max_rows) {
            targets.extend(&outputs.of_hybrids[at][pairs.start * numbers..pairs.end * numbers]);
            rows.extend(explicands[at].hybrids(pairs, outputs.background));
        }
        explicands.iter().for_each(|explicand| rows.extend(explicand.row));
        rows.extend(outputs.background.as_rows().values());
        targets.extend(outputs.of_explicands);
        targets.extend(outputs.of_background);
        let learning = LearningRows {
            rows: Rows::new(&rows, outputs.background.columns()),
            targets: &targets,
            outputs: outputs.outputs,
            is_categorical,
        };
        let seed = stream(seed, Purpose::Parts, forest as u64).next_u64();
        Surrogate::learn(learning, outputs.background, outputs.of_background, seed)
    })
}

/// Returns the pairs of each explicand from which a forest is learned: the same share of every part that
/// belongs to another forest. A single forest is learned from all parts.
fn learning_pairs(
    explicands: usize,
    parts: &Parts,
    forest: usize,
    max_rows: usize,
) -> Vec<(usize, Range<usize>)> {
    let is_used = |own: usize| own != forest || parts.forests == 1;
    let used = || (0..explicands).flat_map(|at| parts.of(at).map(move |(own, pairs)| (at, own, pairs)));
    let used = || used().filter(|(_, own, _)| is_used(*own)).map(|(at, _, pairs)| (at, pairs));
    let total: usize = used().map(|(_, pairs)| pairs.len()).sum();
    let limit = (max_rows / 2).min(total);
    let mut before = 0;
    let mut chosen = Vec::new();
    for (at, pairs) in used() {
        // Round such that the numbers of all parts sum to the limit. The pairs of a part are in random order.
        let after = before + pairs.len();
        let count = (after as u128 * limit as u128 / total as u128
            - before as u128 * limit as u128 / total as u128) as usize;
        before = after;
        chosen.push((at, pairs.start..pairs.start + count));
    }
    chosen
}

/// The surrogate's share of the values of one explicand.
pub(crate) struct SurrogateValues {
    /// The exact values, averaged over the forests of the parts: features (or groups) × outputs.
    pub(crate) values: Vec<f64>,
    /// The mean prediction for the background: one number per output.
    pub(crate) base: Vec<f64>,
    /// The prediction for the explicand.
    pub(crate) prediction: Vec<f64>,
}

/// Computes the exact values of the forests for all explicands.
pub(crate) fn exact_values(
    explicands: &[Explicand<'_>],
    parts: &Parts,
    (surrogates, outputs): (&[Prepared<'_>], usize),
    columns: usize,
    value: &Value,
) -> Result<Vec<SurrogateValues>> {
    let results = value.check(columns)?;
    let mut found: Vec<SurrogateValues> = explicands
        .iter()
        .map(|_| SurrogateValues {
            values: vec![0.0; results * outputs],
            base: vec![0.0; outputs],
            prediction: vec![0.0; outputs],
        })
        .collect();
    for (forest, surrogate) in surrogates.iter().enumerate() {
        let shares: Vec<f64> = (0..explicands.len())
            .map(|at| {
                let own: usize =
                    parts.of(at).filter(|(own, _)| *own == forest).map(|(_, pairs)| pairs.len()).sum();
                own as f64 / explicands[at].draws.len().max(1) as f64
            })
            .collect();
        let used: Vec<usize> = (0..explicands.len()).filter(|&at| shares[at] > 0.0).collect();
        if used.is_empty() {
            continue;
        }
        let rows: Vec<f64> = used.iter().flat_map(|&at| explicands[at].row).copied().collect();
        let explained = surrogate.values(value, Rows::new(&rows, columns))?;
        for (place, &at) in used.iter().enumerate() {
            let (own, share) = (&mut found[at], shares[at]);
            let of_row = &explained.values[place * results * outputs..][..results * outputs];
            own.values.iter_mut().zip(of_row).for_each(|(sum, value)| *sum += share * value);
            own.base.iter_mut().zip(&explained.base).for_each(|(sum, value)| *sum += share * value);
            let of_row = &explained.predictions[place * outputs..][..outputs];
            own.prediction.iter_mut().zip(of_row).for_each(|(sum, value)| *sum += share * value);
        }
    }
    Ok(found)
}

/// Returns the predictions of the surrogates for the hybrids of an explicand, pairs × 2 × outputs. Each part
/// is predicted by its surrogate.
pub(crate) fn predict_hybrids(
    explicand: &Explicand<'_>,
    parts: impl Iterator<Item = (usize, Range<usize>)>,
    (surrogates, outputs): (&[Prepared<'_>], usize),
) -> Vec<f64> {
    let mut predictions = vec![0.0; explicand.draws.len() * 2 * outputs];
    for (forest, pairs) in parts {
        let background = &surrogates[forest];
        let surrogate = background.surrogate;
        let columns = surrogate.features();
        let mut own = Vec::with_capacity(columns);
        surrogate.forest.bins.append(explicand.row, &mut own);
        let mut own_summands = vec![0.0; columns * outputs];
        surrogate.linear.summands(explicand.row, &mut own_summands);
        for start in pairs.clone().step_by(BLOCK_PAIRS) {
            let block = start..pairs.end.min(start + BLOCK_PAIRS);
            let out = &mut predictions[block.start * 2 * outputs..block.end * 2 * outputs];
            match columns <= MAX_DENSE {
                true => predict_pairs(explicand, block.clone(), &surrogate.forest, &own, background, out),
                false => predict_rows(explicand, block.clone(), &surrogate.forest, &own, background, out),
            }
            for (pair, out) in block.zip(out.chunks_exact_mut(2 * outputs)) {
                let size = columns * outputs;
                let other = &background.summands[explicand.draws.background[pair] as usize * size..][..size];
                let (first, second) = out.split_at_mut(outputs);
                add_sums(other, first);
                add_sums(&own_summands, second);
                explicand.each_member(pair, |feature| {
                    for output in 0..outputs {
                        let place = feature * outputs + output;
                        let difference = own_summands[place] - other[place];
                        first[output] += difference;
                        second[output] -= difference;
                    }
                });
            }
        }
    }
    predictions
}

/// Writes the forest's predictions for the hybrids of some pairs.
fn predict_pairs(
    explicand: &Explicand<'_>,
    block: Range<usize>,
    forest: &Forest,
    own: &[u8],
    background: &Prepared<'_>,
    out: &mut [f64],
) {
    let columns = own.len();
    let mut pairs = Pairs::new(columns, &explicand.draws.background[block.clone()]);
    for (at, pair) in block.enumerate() {
        explicand.each_member(pair, |feature| pairs.add_member(at, feature));
    }
    let others: Vec<u8> = pairs
        .rows()
        .iter()
        .flat_map(|&row| &background.bins[row as usize * columns..][..columns])
        .copied()
        .collect();
    forest.predict_pairs(&pairs, own, &others, out);
}

/// Writes the same as [`predict_pairs`], row by row: faster if trees use few of many features.
fn predict_rows(
    explicand: &Explicand<'_>,
    block: Range<usize>,
    forest: &Forest,
    own: &[u8],
    background: &Prepared<'_>,
    out: &mut [f64],
) {
    let columns = own.len();
    let mut rows: Vec<u8> = Vec::with_capacity(2 * block.len() * columns);
    for pair in block {
        let other = &background.bins[explicand.draws.background[pair] as usize * columns..][..columns];
        let at = rows.len();
        rows.extend_from_slice(other);
        rows.extend_from_slice(own);
        let (first, second) = rows[at..].split_at_mut(columns);
        explicand.each_member(pair, |feature| {
            (first[feature], second[feature]) = (own[feature], other[feature]);
        });
    }
    forest.predict(&rows, out);
}

/// Returns the differences of the surrogates' predictions for an explicand and for the background row of each
/// pair, pairs × outputs.
pub(crate) fn sums_of_pairs(
    explicand: &Explicand<'_>,
    parts: impl Iterator<Item = (usize, Range<usize>)>,
    (surrogates, outputs): (&[Prepared<'_>], usize),
) -> Vec<f64> {
    let mut sums = vec![0.0; explicand.draws.len() * outputs];
    for (forest, pairs) in parts {
        let prediction = surrogates[forest].surrogate.predict_row(explicand.row);
        for pair in pairs {
            let row = explicand.draws.background[pair] as usize;
            let others = &surrogates[forest].predictions[row * outputs..][..outputs];
            let places = sums[pair * outputs..][..outputs].iter_mut();
            places.zip(prediction.iter().zip(others)).for_each(|(sum, (own, other))| *sum = own - other);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use apportion_values::Semivalue;

    use super::*;
    use crate::table::draws::Allocation;
    use crate::table::players::RegressionValue;

    #[test]
    fn pairs_and_rows_have_the_same_predictions() {
        for (columns, outputs, count) in [(3, 1, 1), (4, 2, 7), (9, 1, 5), (13, 9, 3)] {
            let number = |at: usize| ((at * 7919 + 13) % 101) as f64 / 50.0 - 1.0;
            let values: Vec<f64> =
                (0..columns * 700).map(|at| if at % 17 == 0 { f64::NAN } else { number(at) }).collect();
            let rows = Rows::new(&values, columns);
            let targets: Vec<f64> = rows
                .iter()
                .flat_map(|row| {
                    (0..outputs).map(|k| row.iter().map(|x| (x + k as f64).max(0.0)).sum::<f64>())
                })
                .collect();
            let background = Background::rows(values[..columns * count].to_vec(), columns).unwrap();
            let learning = LearningRows { rows, targets: &targets, outputs, is_categorical: &[] };
            let surrogate = Surrogate::learn(learning, &background, &targets[..count * outputs], 1).unwrap();
            let prepared = Prepared::new(&surrogate, &background).unwrap();
            let row = rows.row(77);
            let draws = Allocation::new(&Semivalue::Shapley, columns, count, 6).draw(3);
            let value = RegressionValue::new(&Semivalue::Shapley.into()).unwrap();
            // Every feature differs from these background rows, so all features are players.
            let other = Background::rows(row.iter().map(|x| x - 1.0).collect::<Vec<_>>(), columns).unwrap();
            let players = value.players(&vec![0.5; columns], &other);
            let explicand = Explicand { index: 0, row, players, draws };
            let mut own = Vec::new();
            surrogate.forest.bins.append(row, &mut own);
            let pairs = 0..explicand.draws.len();
            let mut out = vec![vec![0.0; pairs.len() * 2 * outputs]; 2];
            predict_pairs(&explicand, pairs.clone(), &surrogate.forest, &own, &prepared, &mut out[0]);
            predict_rows(&explicand, pairs, &surrogate.forest, &own, &prepared, &mut out[1]);
            assert_eq!(out[0], out[1]);
        }
    }
}
