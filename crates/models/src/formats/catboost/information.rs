//! Information about the training in a CatBoost file, for display and to determine the link.

use crate::ensemble::Link;
use crate::error::ModelError;
use crate::formats::document::{Field, json};

/// The placeholder for information that the file lacks.
const UNKNOWN: &str = "unknown";

pub(super) struct Information {
    /// The release that trained the model, such as `1.2.10`.
    pub(super) version: String,
    /// The name of the loss function without its parameters, such as `Logloss`.
    pub(super) loss: String,
    /// The classes as text; empty if there are no classes or the file does not store them.
    pub(super) classes: Vec<String>,
}

impl Information {
    /// Reads the member `model_info`, which is optional. If the version or the loss is missing, it is
    /// replaced with "unknown". Models that were trained with other tools, merged or converted do not have
    /// parameters.
    pub(super) fn of_document(root: &Field<'_>) -> Result<Self, ModelError> {
        let information = root.find("model_info")?;
        let member = |key| information.as_ref().and_then(|field| field.find(key).ok().flatten());
        let loss = member("params").and_then(|field| match field.text() {
            // Some releases store the parameters as a string that contains a JSON document.
            Ok(text) => loss_of_text(text),
            Err(_) => loss_of(&field),
        });
        let classes = member("class_params").and_then(|field| match field.text() {
            Ok(text) => classes_of_text(text),
            Err(_) => classes_of(&field),
        });
        let version = member("catboost_version_info");
        Self::new(version.as_ref().and_then(|field| field.text().ok()), loss, classes)
    }

    /// Reads the information from the strings of a binary file.
    pub(super) fn of_texts(
        version: Option<&str>,
        parameters: Option<&str>,
        classes: Option<&str>,
    ) -> Result<Self, ModelError> {
        Self::new(version, parameters.and_then(loss_of_text), classes.and_then(classes_of_text))
    }

    fn new(
        version: Option<&str>,
        loss: Option<String>,
        classes: Option<Vec<String>>,
    ) -> Result<Self, ModelError> {
        let version = version.and_then(release).unwrap_or_else(|| UNKNOWN.to_owned());
        if version.split('.').next().and_then(|major| major.parse().ok()).is_some_and(|major: u32| major > 1)
        {
            return Err(ModelError::Version { format: "CatBoost", actual: version, known: "1.x or earlier" });
        }
        let loss = loss.unwrap_or_else(|| UNKNOWN.to_owned());
        Ok(Self { version, loss, classes: classes.unwrap_or_default() })
    }

    /// Returns the link of the loss function.
    pub(super) fn link(&self) -> Option<Link> {
        Some(match &*self.loss {
            "RMSE"
            | "MAE"
            | "Quantile"
            | "MultiQuantile"
            | "MultiRMSE"
            | "MultiRMSEWithMissingValues"
            | "MAPE"
            | "Lq"
            | "Huber"
            | "Expectile"
            | "LogCosh" => Link::Identity,
            "PairLogit" | "PairLogitPairwise" | "YetiRank" | "YetiRankPairwise" | "QueryRMSE"
            | "StochasticRank" | "LambdaMart" => Link::Identity,
            "Logloss" | "CrossEntropy" | "Focal" | "MultiClassOneVsAll" | "MultiLogloss"
            | "MultiCrossEntropy" => Link::Logistic { steepness: 1.0 },
            "MultiClass" => Link::Softmax,
            "Poisson" | "Tweedie" | "LogLinQuantile" => Link::Exponential,
            // The two outputs of RMSEWithUncertainty have different links.
            _ => return None,
        })
    }
}

/// Extracts the release from its git description: `Branch: tags/v1.2.10`, `Summary: CatBoost release 1.2.10.`
fn release(text: &str) -> Option<String> {
    let after = |mark: &str| text.split_once(mark).map(|(_, rest)| rest);
    let rest = after("tags/v").or_else(|| after("CatBoost release "))?;
    let end =
        rest.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(rest.len());
    let release = rest[..end].trim_end_matches('.');
    (!release.is_empty()).then(|| release.to_owned())
}

/// Parses parameters from a JSON string and returns their loss function.
fn loss_of_text(text: &str) -> Option<String> {
    loss_of(&Field::root(&json::read(text.as_bytes()).ok()?))
}

/// Returns the member `loss_function.type` of the parameters.
fn loss_of(parameters: &Field<'_>) -> Option<String> {
    let loss = parameters.find("loss_function").ok()??;
    loss.find("type").ok()??.text().ok().map(str::to_owned)
}

/// Parses class parameters from a JSON string and returns the names of the classes.
fn classes_of_text(text: &str) -> Option<Vec<String>> {
    classes_of(&Field::root(&json::read(text.as_bytes()).ok()?))
}

/// Returns the member `class_names`, a list of numbers or strings.
fn classes_of(said: &Field<'_>) -> Option<Vec<String>> {
    let names = said.find("class_names").ok()??;
    if let Ok(numbers) = names.numbers() {
        return Some(numbers.iter().map(f64::to_string).collect());
    }
    names.elements().ok()?.iter().map(|name| name.text().ok().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(document: &str) -> Information {
        let document = json::read(document.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        Information::of_document(&Field::root(&document)).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn release_and_loss_are_found_where_they_are() {
        let known = parse(
            r#"{"model_info": {"catboost_version_info": "Branch: tags/v1.2.10\nAuthor: x",
            "params": {"loss_function": {"type": "Logloss", "params": {}}}}}"#,
        );
        assert_eq!((&*known.version, &*known.loss), ("1.2.10", "Logloss"));
        assert_eq!(known.link(), Some(Link::Logistic { steepness: 1.0 }));
        let text = parse(
            r#"{"model_info": {"catboost_version_info": "Summary: CatBoost release 0.26.1. [x]",
            "params": "{\"loss_function\": {\"type\": \"Poisson\"}}"}}"#,
        );
        assert_eq!((&*text.version, &*text.loss), ("0.26.1", "Poisson"));
        assert_eq!(text.link(), Some(Link::Exponential));
        for nothing in [
            "{}",
            r#"{"model_info": {}}"#,
            r#"{"model_info": {"params": "{", "catboost_version_info": 3}}"#,
            r#"{"model_info": {"params": {"loss_function": 1}, "catboost_version_info": "tags/v"}}"#,
        ] {
            let unknown = parse(nothing);
            assert_eq!((&*unknown.version, &*unknown.loss), (UNKNOWN, UNKNOWN), "{nothing}");
            assert_eq!(unknown.link(), None);
        }
    }
}
