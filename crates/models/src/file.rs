//! Model files: found by their content, not by their name.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::formats::document::{Field, Value, json};
use crate::formats::{catboost, lightgbm, onnx_ml, portable, treelite, xgboost};
use crate::options::ReadOptions;

/// Maximum number of outputs. Predictions, base values and names have one for each.
const MAX_OUTPUTS: usize = 1 << 16;

impl Ensemble {
    /// Reads a model file of any format that [`from_bytes`](Self::from_bytes) reads, whatever its name.
    ///
    /// # Errors
    ///
    /// [`ModelError::File`] where the file cannot be read, else as [`from_bytes`](Self::from_bytes).
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|source| ModelError::File { path: path.display().to_string(), source })?;
        Self::from_bytes(&bytes)
    }

    /// Reads the content of a model file, gzipped or not. The format is found from the content:
    ///
    /// - XGBoost 1.7 to 3.x as JSON or UBJ, boosters `gbtree` and `dart`; after early stopping the rounds up to the best one
    ///   ([`Rounds::Best`](crate::Rounds::Best));
    /// - LightGBM 2.3 to 4.x as text (`save_model`), linear trees included; of a random forest the margin is the mean over its trees,
    ///   as in the library's outputs, and not the sum that it calls the raw score;
    /// - what both libraries dump as JSON (`dump_model`); [`notes`](Self::notes) say what a dump of XGBoost lacks;
    /// - CatBoost in its binary format (cbm) and as JSON (`save_model(…, format="json")`): oblivious and nested trees, words as categories
    ///   ([`Words`](crate::Words)), one-hot splits, and splits on statistics of categories and of their combinations (CTR); of several
    ///   targets JSON has not all of their tables. Texts and embeddings are refused;
    /// - treelite 4.x as JSON (`dump_as_json()`): whatever treelite can hold;
    /// - ONNX with operators `TreeEnsembleRegressor`, `TreeEnsembleClassifier` or `TreeEnsemble` of the domain `ai.onnx.ml`: one, or several
    ///   whose scores are weighted, added, averaged or put next to each other, as voting, bagging, one-vs-rest, several targets, AdaBoost
    ///   and isolation forests are written. Steps before them are read if each prepares one column: `Scaler`, `Imputer`, arithmetic with
    ///   constants, `Clip`, `Cast`, `Binarizer`, `OneHotEncoder`, `LabelEncoder`, choices of columns. Each split becomes one on a column of
    ///   the table, whose threshold is found by bisection with the runtime's arithmetic. Texts are [`Words`](crate::Words). Thresholds are
    ///   what the file holds: a converter that rounds them to `f32` has written another model than the one that was trained;
    /// - ONNX of a linear or generalized linear model: `LinearRegressor`, `LinearClassifier`, `SVMRegressor` with a linear kernel, or `MatMul`,
    ///   `Gemm` and arithmetic with constants, behind a link or not, with the steps before it (`Scaler`, `Imputer`, encoders, choices of columns)
    ///   multiplied out. It becomes a tree of one linear leaf for each feature and output, and a tree for each encoded column;
    /// - the JSON of `docs/tree-json.md`, which `scikit_learn_to_json` of the Python package writes from scikit-learn.
    ///
    /// Nothing of a damaged file is used: a file that ends too early, a length that lies, lists that do not match, a tree that is not one (a
    /// cycle, a child out of range, no leaf), numbers that mean nothing, leaves that could add up to more than 1e300, and gzip streams of
    /// more than 100 times their size (and 256 MiB) are errors. An ONNX file of neither trees nor a linear model, a network for example, is
    /// [`ModelError::OtherOnnx`]; one with trees that is not a sum of them is [`ModelError::Unsupported`], with the operator.
    ///
    /// # Errors
    ///
    /// Every [`ModelError`] that is about a file's content: all but [`ModelError::File`], [`ModelError::Rounds`], [`ModelError::EmptyMean`],
    /// [`ModelError::Mean`], [`ModelError::Cover`], [`ModelError::LinearLeaves`], [`ModelError::JointSplits`], [`ModelError::UnknownLink`] and
    /// [`ModelError::Game`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        Self::from_bytes_with(bytes, &ReadOptions::default())
    }

    /// The same with a say in which rounds of boosting are used, and how many features a model may have.
    ///
    /// # Errors
    ///
    /// [`ModelError::Rounds`] where the file has no such rounds, else as [`from_bytes`](Self::from_bytes).
    pub fn from_bytes_with(bytes: &[u8], options: &ReadOptions) -> Result<Self, ModelError> {
        let ensemble = if bytes.starts_with(&[0x1f, 0x8b]) {
            Self::from_plain(&decompressed(bytes)?)?
        } else {
            Self::from_plain(bytes)?
        };
        let (given, most) = (ensemble.feature_count(), options.most_features);
        if given > most {
            return Err(ModelError::TooManyFeatures { given, most });
        }
        let given = ensemble.output_count();
        if given > MAX_OUTPUTS {
            return Err(ModelError::TooManyOutputs { given, most: MAX_OUTPUTS });
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
        // A pickle of protocol 2 or later, which joblib writes too.
        if let [0x80, 2..=5, ..] = bytes {
            return Err(ModelError::Unsupported {
                what: "a pickle, which can hold any program,".to_owned(),
                wanted: "write the model in a format that holds data only: the library's own, ONNX, or for scikit-learn the JSON that \
                         apportion.scikit_learn_to_json of the Python package writes",
            });
        }
        if xgboost::is_old_binary(bytes) {
            return Err(ModelError::Unsupported {
                what: "an XGBoost model in the library's old binary format".to_owned(),
                wanted: "load it with the version of XGBoost that wrote it, and save it again as JSON: booster.save_model(\"model.json\")",
            });
        }
        let start = bytes.trim_ascii_start();
        // Both formats open an object; after that JSON has a name in quotes, UBJ the marker of a length.
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

/// What a gzip stream holds. Streams of zeros are a thousandth of what they hold; models are not.
fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, ModelError> {
    const MOST: usize = 1 << 28;
    const MOST_RATIO: usize = 100;
    let most = bytes.len().saturating_mul(MOST_RATIO).max(MOST);
    let mut content = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(most as u64 + 1);
    decoder.read_to_end(&mut content).map_err(|source| ModelError::Gzip { source })?;
    if content.len() > most {
        let source = std::io::Error::other(format!(
            "it holds more than {most} bytes, {MOST_RATIO} times its size, so it is no model"
        ));
        return Err(ModelError::Gzip { source });
    }
    Ok(content)
}

/// Reads a JSON document in the format that its members tell.
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
                r#"{{"learner":{{"learner_model_param":{parameters},"objective":{{"name":"multi:softprob","softmax_multiclass_param":{{"num_class":"{classes}"}}}},"gradient_booster":{{"name":"gbtree","model":{{"gbtree_model_param":{{"num_trees":"0"}},"trees":[],"tree_info":[]}}}},"feature_names":[],"feature_types":[],"attributes":{{}}}},"version":[1,7,6]}}"#
            )
        };
        for classes in [65_537, 1_000_000] {
            let error = Ensemble::from_bytes(model(classes).as_bytes()).unwrap_err();
            assert!(
                matches!(error, ModelError::TooManyOutputs { given, most: 65_536 } if given == classes),
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
