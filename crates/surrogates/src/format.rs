//! The file format of surrogates.
//!
//! A file is a JSON object. Arrays are flat, in row-major order. Numbers are written with enough digits to
//! read back the same `f64`, and infinite numbers as `"inf"` and `"-inf"`. Reading checks everything that
//! predictions rely on, so an invalid file causes an error, not a panic.

use serde::{Deserialize, Serialize};

use crate::error::{Result, SurrogateError};
use crate::learner::bins::{Bins, FeatureBins, MAX_BINS};
use crate::learner::forest::Forest;
use crate::learner::linear::{Column, Linear};
use crate::learner::masks::MAX_LEAVES;
use crate::learner::tree::{BinSet, BinnedTree, Node};
use crate::surrogate::Surrogate;

const FORMAT: &str = "apportion-surrogate";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SurrogateFile {
    format: String,
    version: u32,
    outputs: usize,
    /// SHA-256 of the background, as hexadecimal digits.
    background: String,
    /// The outputs of the model for the background rows: rows × outputs.
    background_outputs: Vec<f64>,
    features: Vec<FeatureRecord>,
    /// The constant of the forest: one number per output.
    base: Vec<f64>,
    trees: Vec<TreeRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeatureRecord {
    bins: BinsRecord,
    /// The range, the mean and the scale of the feature in the linear part.
    lower: f64,
    upper: f64,
    mean: f64,
    scale: f64,
    /// The coefficients in the linear part: one per output.
    weights: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BinsRecord {
    Thresholds(Vec<Number>),
    Categories(Vec<Number>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeRecord {
    nodes: Vec<NodeRecord>,
    sets: Vec<BinSet>,
    /// The values of the leaves: leaves × outputs of the tree.
    values: Vec<f64>,
    first_output: usize,
    outputs: usize,
}

/// A node: the feature, the index of the left child, the bin or the index of the set, whether missing values
/// go left, and whether the split is on a set.
#[derive(Serialize, Deserialize)]
struct NodeRecord(u32, u16, u16, bool, bool);

/// A number that may be infinite.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Infinite(Infinity),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Infinity {
    #[serde(rename = "inf")]
    Positive,
    #[serde(rename = "-inf")]
    Negative,
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        match number {
            f64::INFINITY => Self::Infinite(Infinity::Positive),
            f64::NEG_INFINITY => Self::Infinite(Infinity::Negative),
            number => Self::Finite(number),
        }
    }
}

impl From<Number> for f64 {
    fn from(number: Number) -> Self {
        match number {
            Number::Finite(number) => number,
            Number::Infinite(Infinity::Positive) => f64::INFINITY,
            Number::Infinite(Infinity::Negative) => f64::NEG_INFINITY,
        }
    }
}

impl Surrogate {
    /// Returns the surrogate as JSON, which [`from_bytes`](Self::from_bytes) reads. Equal surrogates have
    /// equal bytes.
    ///
    /// ```
    /// # use apportion_surrogates::{Background, LearningRows, Rows, Surrogate};
    /// # let rows: Vec<f64> = (0..200).map(f64::from).collect();
    /// # let targets: Vec<f64> = rows.iter().map(|x| (x / 20.0).sin()).collect();
    /// # let background = Background::baseline([0.0])?;
    /// # let rows = Rows::new(&rows, 1);
    /// # let learning = LearningRows { rows, targets: &targets, outputs: 1, is_categorical: &[] };
    /// # let surrogate = Surrogate::learn(learning, &background, &[0.0], 1)?;
    /// let read = Surrogate::from_bytes(&surrogate.to_bytes())?;
    /// assert_eq!(read, surrogate);
    /// # Ok::<(), apportion_surrogates::SurrogateError>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let outputs = self.outputs();
        let numbers = |numbers: &[f64]| numbers.iter().map(|&number| number.into()).collect();
        let linear = self.linear.columns.iter().zip(self.linear.weights.chunks_exact(outputs));
        let features = self.forest.bins.features.iter().zip(linear).map(|(bins, (column, weights))| {
            let Column { lower, upper, mean, scale } = *column;
            let bins = match bins {
                FeatureBins::Ordered(thresholds) => BinsRecord::Thresholds(numbers(thresholds)),
                FeatureBins::Categories(codes) => BinsRecord::Categories(numbers(codes)),
            };
            FeatureRecord { bins, lower, upper, mean, scale, weights: weights.to_vec() }
        });
        let trees = self.forest.trees.iter().map(|tree| TreeRecord {
            nodes: tree
                .nodes
                .iter()
                .map(|node| {
                    NodeRecord(node.feature, node.left, node.bin, node.missing_goes_left, node.is_set)
                })
                .collect(),
            sets: tree.sets.clone(),
            values: tree.values.clone(),
            first_output: tree.first_output,
            outputs: tree.outputs,
        });
        let file = SurrogateFile {
            format: FORMAT.to_owned(),
            version: VERSION,
            outputs,
            background: self.background.iter().map(|byte| format!("{byte:02x}")).collect(),
            background_outputs: self.background_outputs.clone(),
            features: features.collect(),
            base: self.forest.base.clone(),
            trees: trees.collect(),
        };
        // Serialization to memory fails only for maps whose keys are not strings, and there are no maps.
        serde_json::to_vec(&file).unwrap_or_default()
    }

    /// Reads a surrogate that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    ///
    /// [`SurrogateError::File`] for bytes that are not a valid surrogate.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let file: SurrogateFile =
            serde_json::from_slice(bytes).map_err(|error| invalid(error.to_string()))?;
        if file.format != FORMAT || file.version != VERSION {
            return Err(invalid(format!(
                "expected format {FORMAT:?} version {VERSION}, found {:?} version {}",
                file.format, file.version
            )));
        }
        let (features, outputs) = (file.features.len(), file.outputs);
        require(features > 0, "number of features: 0")?;
        require(outputs > 0, "number of outputs: 0")?;
        require(file.base.len() == outputs, "length of base")?;
        require(
            !file.background_outputs.is_empty() && file.background_outputs.len().is_multiple_of(outputs),
            "length of background_outputs",
        )?;
        let background = digest(&file.background)
            .ok_or_else(|| invalid("invalid fingerprint of the background".to_owned()))?;
        let (mut bins, mut columns, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for feature in file.features {
            let FeatureRecord { bins: of_feature, lower, upper, mean, scale, weights: own } = feature;
            require(own.len() == outputs, "length of weights")?;
            require(lower <= upper && scale >= 0.0, "range of a feature")?;
            bins.push(read_bins(of_feature)?);
            columns.push(Column { lower, upper, mean, scale });
            weights.extend(own);
        }
        let trees: Vec<BinnedTree> =
            file.trees.into_iter().map(|tree| read_tree(tree, &bins, outputs)).collect::<Result<_>>()?;
        let forest = Forest::new(Bins { features: bins }, file.base, trees);
        Ok(Self {
            linear: Linear { columns, weights, outputs },
            ensemble: forest.ensemble()?,
            forest,
            background,
            background_outputs: file.background_outputs,
        })
    }
}

fn read_bins(record: BinsRecord) -> Result<FeatureBins> {
    let (BinsRecord::Thresholds(given) | BinsRecord::Categories(given)) = &record;
    let numbers: Vec<f64> = given.iter().map(|&number| number.into()).collect();
    require(numbers.len() < MAX_BINS, "number of bins")?;
    require(numbers.windows(2).all(|pair| pair[0] < pair[1]), "order of bins")?;
    Ok(match record {
        BinsRecord::Thresholds(_) => FeatureBins::Ordered(numbers),
        BinsRecord::Categories(_) => FeatureBins::Categories(numbers),
    })
}

fn read_tree(record: TreeRecord, bins: &[FeatureBins], outputs: usize) -> Result<BinnedTree> {
    let of_tree = 1..=outputs.saturating_sub(record.first_output);
    require(of_tree.contains(&record.outputs), "outputs of a tree")?;
    let nodes: Vec<Node> = record
        .nodes
        .into_iter()
        .map(|NodeRecord(feature, left, bin, missing_goes_left, is_set)| Node {
            feature,
            left,
            bin,
            missing_goes_left,
            is_set,
        })
        .collect();
    let tree = BinnedTree {
        nodes,
        sets: record.sets,
        values: record.values,
        first_output: record.first_output,
        outputs: record.outputs,
    };
    // Check that every node except the root has one parent, and that every row of values belongs to one leaf.
    let mut has_parent = vec![false; tree.nodes.len()];
    let mut has_leaf = vec![false; tree.values.len() / tree.outputs];
    require(has_leaf.len() * tree.outputs == tree.values.len(), "values of a tree")?;
    require(!tree.nodes.is_empty() && has_leaf.len() <= MAX_LEAVES, "size of a tree")?;
    for (at, node) in tree.nodes.iter().enumerate() {
        if tree.is_leaf(at) {
            let leaf = has_leaf.get_mut(node.feature as usize);
            require(leaf.is_some_and(|has| !std::mem::replace(has, true)), "leaf of a tree")?;
            continue;
        }
        let left = usize::from(node.left);
        let children = has_parent.get_mut(left..left + 2).filter(|_| left > at);
        let children = children.filter(|children| !children.contains(&true));
        require(children.map(|children| children.fill(true)).is_some(), "child of a node")?;
        let is_valid = match bins.get(node.feature as usize) {
            Some(FeatureBins::Ordered(thresholds)) => {
                !node.is_set && usize::from(node.bin) <= thresholds.len()
            }
            Some(FeatureBins::Categories(_)) => node.is_set && usize::from(node.bin) < tree.sets.len(),
            None => false,
        };
        require(is_valid, "split of a tree")?;
    }
    require(has_parent.iter().skip(1).all(|has| *has) && has_leaf.iter().all(|has| *has), "tree")?;
    Ok(tree)
}

/// Reads 32 bytes from hexadecimal digits.
fn digest(digits: &str) -> Option<[u8; 32]> {
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

fn require(is_so: bool, what: &str) -> Result<()> {
    if is_so { Ok(()) } else { Err(invalid(format!("invalid {what}"))) }
}

fn invalid(problem: String) -> SurrogateError {
    SurrogateError::File { problem }
}
