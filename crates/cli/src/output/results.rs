//! Results, in whatever format they are written.

use apportion::Explanation;
use serde_json::Value;

/// The result of `apportion explain`.
#[derive(Debug)]
pub(crate) struct Attributions {
    pub(crate) value: String,
    pub(crate) game: &'static str,
    /// The method that was used, also where the method asked for was `auto`.
    pub(crate) method: String,
    /// Evaluations per row that the method was allowed; none for methods that take no budget.
    pub(crate) budget: Option<usize>,
    /// The accuracy that was asked for, in words.
    pub(crate) accuracy: Option<String>,
    pub(crate) seed: u64,
    /// Names of the n features.
    pub(crate) features: Vec<String>,
    /// The categories of each feature by their codes, as far as the model names them.
    pub(crate) categories: Vec<Vec<String>>,
    /// The features of each player: one, or those of a group.
    pub(crate) players: Vec<Vec<usize>>,
    /// The features of each group, where there are groups.
    pub(crate) groups: Option<Vec<Vec<usize>>>,
    /// What else is to be known of what was explained, by name; only JSON has it.
    pub(crate) about: Vec<(&'static str, Value)>,
    /// Number of outputs k of the model.
    pub(crate) outputs: usize,
    pub(crate) rows: Vec<Attribution>,
}

/// One explained row.
#[derive(Debug)]
pub(crate) struct Attribution {
    /// Index in the file of rows.
    pub(crate) row: usize,
    /// What the file calls it, where that was asked for.
    pub(crate) id: Option<String>,
    /// Its n features; empty where they are no numbers that tell a reader something.
    pub(crate) explicand: Vec<f64>,
    pub(crate) explanation: Explanation,
}

/// The result of `apportion explain --interactions`.
#[derive(Debug)]
pub(crate) struct Interactions {
    pub(crate) value: String,
    pub(crate) game: &'static str,
    /// What else is to be known of what was explained, by name; only JSON has it.
    pub(crate) about: Vec<(&'static str, Value)>,
    /// What stands on the diagonal and beside it.
    pub(crate) form: &'static str,
    /// Names of the n players: features, or groups of them.
    pub(crate) players: Vec<String>,
    /// Number of outputs k of the model.
    pub(crate) outputs: usize,
    /// Indices in the file of rows.
    pub(crate) rows: Vec<usize>,
    /// What the file calls them, where that was asked for.
    pub(crate) ids: Option<Vec<String>>,
    /// Per output.
    pub(crate) base: Vec<f64>,
    /// Rows × k.
    pub(crate) predictions: Vec<f64>,
    /// Rows × n × n × k, row-major.
    pub(crate) values: Vec<f64>,
}

/// The result of `apportion predict`.
#[derive(Debug)]
pub(crate) struct Predictions {
    /// Number of outputs k of the model.
    pub(crate) outputs: usize,
    /// Indices in the file of rows.
    pub(crate) rows: Vec<usize>,
    /// What the file calls them, where that was asked for.
    pub(crate) ids: Option<Vec<String>>,
    /// Margins: rows × k, row-major.
    pub(crate) margins: Vec<f64>,
}

/// The result of `apportion inspect`: facts in order, by name.
#[derive(Debug)]
pub(crate) struct Facts(pub(crate) Vec<(&'static str, Value)>);

impl Attributions {
    /// The name of each player: of a group the names of its features, as they are typed.
    pub(super) fn player_names(&self) -> Vec<String> {
        self.players.iter().map(|features| self.names(features).join(",")).collect()
    }

    /// The names of features.
    pub(super) fn names(&self, features: &[usize]) -> Vec<&str> {
        features.iter().map(|&feature| self.features[feature].as_str()).collect()
    }

    /// Whether the values are estimates, with errors worth a column.
    pub(super) fn are_estimates(&self) -> bool {
        let has_error = |errors: &Vec<f64>| errors.iter().any(|&error| error != 0.0);
        self.budget.is_some()
            || self.rows.iter().any(|row| row.explanation.std_errors.as_ref().is_some_and(has_error))
    }

    /// The category that a feature's number is the code of, where the model names it.
    pub(super) fn category(&self, feature: usize, code: f64) -> Option<&str> {
        let is_code = code >= 0.0 && code.fract() == 0.0;
        let categories = self.categories.get(feature).filter(|_| is_code)?;
        categories.get(code as usize).map(String::as_str)
    }
}

impl Interactions {
    /// Of each row: its index in the file, its id, its predictions and its matrix.
    pub(super) fn matrices(&self) -> impl Iterator<Item = (usize, Option<&str>, &[f64], &[f64])> {
        let size = self.players.len() * self.players.len() * self.outputs;
        let matrices = self.values.chunks_exact(size.max(1));
        let rows = self.rows.iter().zip(self.predictions.chunks_exact(self.outputs)).zip(matrices);
        rows.enumerate().map(|(index, ((&row, prediction), matrix))| {
            (row, id_at(self.ids.as_deref(), index), prediction, matrix)
        })
    }
}

/// The id of a row, where there are any.
fn id_at(ids: Option<&[String]>, index: usize) -> Option<&str> {
    ids?.get(index).map(String::as_str)
}

impl Predictions {
    /// Of each row: its index in the file, its id and its margins.
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, Option<&str>, &[f64])> {
        let rows = self.rows.iter().zip(self.margins.chunks_exact(self.outputs));
        rows.enumerate().map(|(index, (&row, margins))| (row, id_at(self.ids.as_deref(), index), margins))
    }

    /// The names of the columns of CSV and tables: the id where there are any, the row, then each output.
    pub(super) fn header(&self) -> Vec<String> {
        let predictions = match self.outputs {
            1 => vec!["prediction".to_owned()],
            outputs => (0..outputs).map(|output| format!("prediction {output}")).collect(),
        };
        let id = self.ids.is_some().then(|| "id".to_owned());
        id.into_iter().chain(["row".to_owned()]).chain(predictions).collect()
    }
}

impl Facts {
    /// Each fact's name and its entries as text without quotes, with `missing` for what is not known.
    pub(super) fn lines(&self, missing: &str) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        let text = move |value: &Value| match value {
            Value::Null => missing.to_owned(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        self.0.iter().map(move |(name, value)| match value {
            Value::Array(values) => (*name, values.iter().map(text).collect()),
            value => (*name, vec![text(value)]),
        })
    }
}
