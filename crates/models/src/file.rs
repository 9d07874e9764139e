//! Reading of model files, whose format is detected from their content.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::formats::document::{Field, Value, json};
use crate::formats::{catboost, lightgbm, onnx_ml, portable, treelite, xgboost};
use crate::options::ReadOptions;
use crate::support_vectors::SupportVectorMachine;

/// Maximum number of outputs, a guard against corrupt files: predictions, base values and names have one
/// entry per output.
const MAX_OUTPUTS: usize = 1 << 16;

impl Ensemble {
    /// Reads a model file in any format that [`from_bytes`](Self::from_bytes) supports. The file name can be
    /// arbitrary.
    ///
    /// # Errors
    ///
    /// [`ModelError::File`] if the file cannot be read, and the errors of [`from_bytes`](Self::from_bytes).
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|source| ModelError::File { path: path.display().to_string(), source })?;
        Self::from_bytes(&bytes)
    }

    /// Reads a model from the content of a file, gzipped or not. The format is detected from the content:
    ///
    /// - XGBoost 1.7 to 3.x as JSON or UBJ, boosters `gbtree` and `dart`. After early stopping, the rounds up
    ///   to the best one are used ([`Rounds::Best`](crate::Rounds::Best)).
    /// - LightGBM 2.3 to 4.x as text (`save_model`), including linear trees. The margin of a random forest is
    ///   the mean over its trees, as in the library's predictions. The library's raw score is the sum.
    /// - JSON dumps of XGBoost and LightGBM (`dump_model`). The [`notes`](Self::notes) list what a dump of
    ///   XGBoost lacks.
    /// - CatBoost in its binary format (cbm) and as JSON (`save_model(…, format="json")`): oblivious and
    ///   other trees, categories as text ([`Categories`](crate::Categories)), one-hot splits, and splits on
    ///   statistics of categories and their combinations (CTR). For several targets, JSON files lack some of
    ///   the CTR tables. Text and embedding features are not supported.
    /// - treelite 4.x as JSON (`dump_as_json()`): every model that treelite can represent.
    /// - ONNX with the operators `TreeEnsembleRegressor`, `TreeEnsembleClassifier` or `TreeEnsemble` of the
    ///   domain `ai.onnx.ml`: one ensemble, or several whose scores are weighted, added, averaged or
    ///   concatenated. Examples are voting, bagging, one-vs-rest, multi-target, AdaBoost and isolation forest
    ///   models. Preprocessing is supported if each step computes one column from one column: `Scaler`,
    ///   `Imputer`, arithmetic with constants, `Clip`, `Cast`, `Binarizer`, `OneHotEncoder`, `LabelEncoder`,
    ///   column selection. Each split is translated to a split on a column of the table, whose threshold is
    ///   found by bisection in the runtime's arithmetic. Text categories are
    ///   [`Categories`](crate::Categories). Thresholds are used as stored in the file. If a converter rounded
    ///   them to `f32`, the file contains a different model than the trained one.
    /// - ONNX of a linear or generalized linear model: `LinearRegressor`, `LinearClassifier`, `SVMRegressor`
    ///   with a linear kernel, or `MatMul`, `Gemm` and arithmetic with constants, with or without a link.
    ///   Preprocessing (`Scaler`, `Imputer`, encoders, column selection) is folded into the coefficients. The
    ///   model becomes a tree with one linear leaf for each feature and output, and a tree for each encoded
    ///   column.
    /// - The JSON format of `docs/tree-json.md`, which `scikit_learn_to_json` of the Python package writes
    ///   for scikit-learn models.
    ///
    /// A corrupt file is always an error, and is never read partially. Files are rejected if they are
    /// truncated, or if they contain wrong lengths, lists of different lengths, invalid trees (with a cycle,
    /// a child out of range, or no leaf), invalid numbers, or leaves that could add up to more than 1e300. A
    /// gzip stream must not expand to more than 256 MiB or 100 times its size, whichever is larger. An ONNX
    /// file of another kind of model, such as a neural network, is a [`ModelError::OtherOnnx`]. An ONNX file
    /// with trees whose scores are not a sum of trees is a [`ModelError::Unsupported`], which names the
    /// operator.
    ///
    /// # Errors
    ///
    /// Every [`ModelError`] about the content of a file: all except [`ModelError::File`],
    /// [`ModelError::NoLoss`], [`ModelError::Rounds`], [`ModelError::EmptyMean`], [`ModelError::Mean`],
    /// [`ModelError::Cover`], [`ModelError::LinearLeaves`], [`ModelError::JointSplits`],
    /// [`ModelError::UnknownLink`] and [`ModelError::Game`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        Self::from_bytes_with(bytes, &ReadOptions::default())
    }

    /// Reads a model like [`from_bytes`](Self::from_bytes), with options for the boosting rounds and the
    /// maximum number of features.
    ///
    /// # Errors
    ///
    /// [`ModelError::Rounds`] if the file does not contain these rounds, and the errors of
    /// [`from_bytes`](Self::from_bytes).
    pub fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, ModelError> {
        let ensemble = Self::from_plain(&plain(bytes)?)?;
        let (actual, max) = (ensemble.feature_count(), options.max_features);
        if actual > max {
            return Err(ModelError::TooManyFeatures { actual, max });
        }
        let actual = ensemble.output_count();
        if actual > MAX_OUTPUTS {
            return Err(ModelError::TooManyOutputs { actual, max: MAX_OUTPUTS });
        }
        ensemble.of_rounds(&options.rounds)
    }

    fn from_plain(bytes: &[u8]) -> Result<Self, ModelError> {
        if bytes.starts_with(catboost::MAGIC) {
            return catboost::from_bytes(bytes);
        }
        if onnx_ml::begins_like_onnx(bytes) {
            return onnx_ml::read(bytes);
        }
        // Pickle files with protocol 2 or later, including files of joblib.
        if let [0x80, 2..=5, ..] = bytes {
            return Err(ModelError::Unsupported {
                what: "a pickle (which can run arbitrary code)".to_owned(),
                help: "save the model in the library's own format or as ONNX, or convert scikit-learn \
                       models with apportion.scikit_learn_to_json (Python)",
            });
        }
        if xgboost::is_old_binary(bytes) {
            return Err(ModelError::Unsupported {
                what: "an XGBoost model in the old binary format".to_owned(),
                help: "load it with the XGBoost version that saved it, and save it as JSON: \
                       booster.save_model(\"model.json\")",
            });
        }
        let start = bytes.trim_ascii_start();
        // Both JSON and UBJ models are objects and start with `{`. In JSON, a quoted name follows; in UBJ,
        // the type marker of a length follows.
        match (start.first(), start.get(1)) {
            (None, _) => Err(ModelError::Empty),
            (Some(b'{'), None | Some(b'"' | b'}' | b' ' | b'\t' | b'\n' | b'\r')) => {
                from_document(&json::read(bytes)?)
            }
            (
                Some(b'{'),
                Some(b'i' | b'U' | b'I' | b'u' | b'l' | b'm' | b'L' | b'M' | b'N' | b'#' | b'$'),
            ) => xgboost::from_ubj(bytes),
            (Some(b'['), _) => from_document(&json::read(bytes)?),
            _ if lightgbm::is_text(start) => lightgbm::from_text(bytes),
            _ => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(16)]).into_owned();
                Err(ModelError::UnknownFormat { start })
            }
        }
    }
}

impl SupportVectorMachine {
    /// Reads a support vector machine from the content of an ONNX file, gzipped or not. The graph must
    /// contain one operator `SVMRegressor` or `SVMClassifier`, with an RBF or linear kernel. Returns `None`
    /// for files without such an operator, and for graphs that also contain trees.
    ///
    /// The function is the decision function of the second class for a classifier, and the score for a
    /// machine of one class. Numbers are used as stored in the file. Runtimes compute with `f32`, so their
    /// predictions differ in the last digits.
    ///
    /// # Errors
    ///
    /// [`ModelError::Unsupported`] for other kernels, for more than two classes, for probabilities, for
    /// several machines, and for graphs with other operators: before the machine, affine functions of single
    /// columns are supported; after it, labels, and changes of the shape or type of its scores. Otherwise,
    /// the errors of [`Ensemble::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<Self>, ModelError> {
        let bytes = plain(bytes)?;
        match onnx_ml::begins_like_onnx(&bytes) {
            true => onnx_ml::support_vectors(&bytes),
            false => Ok(None),
        }
    }
}

/// Returns the content of a file, decompressed if it is gzipped.
fn plain(bytes: &[u8]) -> Result<Cow<'_, [u8]>, ModelError> {
    Ok(match bytes.starts_with(&[0x1f, 0x8b]) {
        true => Cow::Owned(decompressed(bytes)?),
        false => Cow::Borrowed(bytes),
    })
}

/// Decompresses a gzip stream. Limits the compression ratio, because a stream of zeros expands a
/// thousandfold, but a model does not.
fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, ModelError> {
    const MIN_LIMIT: usize = 1 << 28;
    const MAX_RATIO: usize = 100;
    let most = bytes.len().saturating_mul(MAX_RATIO).max(MIN_LIMIT);
    let mut content = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(most as u64 + 1);
    decoder.read_to_end(&mut content).map_err(|source| ModelError::Gzip { source })?;
    if content.len() > most {
        let source = std::io::Error::other(format!(
            "the file expands to more than {most} bytes (the larger of 256 MiB and {MAX_RATIO} times its \
             size), so it cannot be a model"
        ));
        return Err(ModelError::Gzip { source });
    }
    Ok(content)
}

/// Reads a JSON document, whose format is detected from its members.
fn from_document(document: &Value<'_>) -> Result<Ensemble, ModelError> {
    let root = Field::root(document);
    let has = |member| root.has(member);
    if portable::is_portable(&root) {
        portable::from_json(document)
    } else if has("learner") {
        xgboost::from_json(document)
    } else if has("oblivious_trees") || has("features_info") || has("model_info") {
        catboost::from_json(document)
    } else if has("num_feature") && (has("trees") || has("postprocessor")) {
        treelite::from_json(document)
    } else if has("tree_info") && has("max_feature_idx") {
        lightgbm::from_dump(document)
    } else if xgboost::is_dump(&root) {
        xgboost::from_dump(document)
    } else {
        Err(ModelError::UnknownDocument { members: root.description() })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn more_outputs_than_a_model_may_have_are_refused() {
        let model = |classes: usize| {
            let parameters = format!(
                r#"{{"base_score":"5E-1","num_class":"{classes}","num_feature":"2","num_target":"1"}}"#
            );
            format!(
                r#"{{"learner":{{"learner_model_param":{parameters},"objective":{{"name":"multi:softprob",
                "softmax_multiclass_param":{{"num_class":"{classes}"}}}},"gradient_booster":{{"name":"gbtree",
                "model":{{"gbtree_model_param":{{"num_trees":"0"}},"trees":[],"tree_info":[]}}}},
                "feature_names":[],"feature_types":[],"attributes":{{}}}},"version":[1,7,6]}}"#
            )
        };
        for classes in [65_537, 1_000_000] {
            let error = Ensemble::from_bytes(model(classes).as_bytes()).unwrap_err();
            assert!(
                matches!(error, ModelError::TooManyOutputs { actual, max: 65_536 } if actual == classes),
                "{error}"
            );
        }
        assert_eq!(Ensemble::from_bytes(model(65_536).as_bytes()).unwrap().output_count(), 65_536);
    }

    #[test]
    fn a_stream_of_spaces_is_refused_before_it_fills_memory() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let spaces = vec![b' '; 1 << 20];
        for _ in 0..257 {
            encoder.write_all(&spaces).unwrap();
        }
        let bytes = encoder.finish().unwrap();
        assert!(bytes.len() < 1 << 21);
        let error = Ensemble::from_bytes(&bytes).unwrap_err();
        assert!(matches!(&error, ModelError::Gzip { .. }), "{error}");
        assert!(error.to_string().contains("268435456 bytes"), "{error}");
    }
}
