//! Model files: found by their content, not by their name.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::document::{Field, Value, json};
use crate::ensemble::Ensemble;
use crate::error::TreeError;
use crate::{catboost, lightgbm, treelite, xgboost};

impl Ensemble {
    /// Reads a model file: XGBoost JSON or UBJ, gzipped or not, whatever its name.
    ///
    /// # Errors
    ///
    /// [`TreeError::File`] where the file cannot be read, else as [`from_bytes`](Self::from_bytes).
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, TreeError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path)
            .map_err(|source| TreeError::File { path: path.display().to_string(), source })?;
        Self::from_bytes(&bytes)
    }

    /// Reads the content of a model file: XGBoost JSON or UBJ, gzipped or not.
    ///
    /// XGBoost 1.7 to 3.x, boosters `gbtree` and `dart`. Nothing of a damaged file is used: a file that ends too early, a length that
    /// lies, lists that do not match, a tree that is none (a cycle, a child out of range, no leaf) and numbers that mean nothing are
    /// errors.
    ///
    /// # Errors
    ///
    /// Every [`TreeError`] except [`TreeError::File`] and [`TreeError::Game`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TreeError> {
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let mut content = Vec::new();
            MultiGzDecoder::new(bytes)
                .read_to_end(&mut content)
                .map_err(|source| TreeError::Gzip { source })?;
            return Self::from_plain(&content);
        }
        Self::from_plain(bytes)
    }

    fn from_plain(bytes: &[u8]) -> Result<Self, TreeError> {
        let start = bytes.trim_ascii_start();
        // Both formats open an object; after that JSON has a name in quotes, UBJ the marker of a length.
        match (start.first(), start.get(1)) {
            (None, _) => Err(TreeError::Empty),
            (Some(b'{'), None | Some(b'"' | b'}' | b' ' | b'\t' | b'\n' | b'\r')) => {
                from_document(&json::read(bytes)?)
            }
            (
                Some(b'{'),
                Some(b'i' | b'U' | b'I' | b'u' | b'l' | b'm' | b'L' | b'M' | b'N' | b'#' | b'$'),
            ) => xgboost::from_ubj(bytes),
            _ if lightgbm::is_text(start) => lightgbm::from_text(bytes),
            _ => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(16)]).into_owned();
                Err(TreeError::UnknownFormat { start })
            }
        }
    }
}

/// Reads a JSON document in the format that its members tell.
fn from_document(document: &Value<'_>) -> Result<Ensemble, TreeError> {
    let root = Field::root(document);
    let has = |member| root.has(member);
    if has("learner") {
        xgboost::from_json(document)
    } else if has("oblivious_trees") || has("features_info") || has("model_info") {
        catboost::from_json(document)
    } else if has("num_feature") && (has("trees") || has("postprocessor")) {
        treelite::from_json(document)
    } else if has("tree_info") && has("max_feature_idx") {
        Err(lightgbm::dump())
    } else {
        Err(TreeError::UnknownDocument { members: root.description() })
    }
}
