//! Models of a command: tree ensembles, kernel machines, neural networks and external programs.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use apportion::games::GameError;
use apportion::models::ModelError;
use apportion::trees::{Categories, Category};
use apportion::{Ensemble, KernelFile, Model, ReadOptions, Rows};
#[cfg(feature = "networks")]
use apportion_onnx::{Network, NetworkOptions};
use apportion_rows::{Texts, lightgbm_name};

use super::program::Running;
use super::rows::RowOptions;
use crate::failure::Usage;
use crate::messages;
use crate::parse::args::{ModelFile, Predictor, Reading};
use crate::parse::columns::Columns;
use crate::parse::rounds;

/// A model of any kind.
pub(crate) enum AnyModel {
    /// A tree ensemble, or a model that can be read as one. Its structure is known.
    Trees(Box<Ensemble>),
    /// A kernel machine, e.g. a support vector machine.
    KernelMachine(Box<KernelFile>),
    /// A neural network.
    #[cfg(feature = "networks")]
    Network(Box<Network>),
    /// An external program.
    Program(Box<Running>),
}

impl AnyModel {
    /// Returns the model as a predictor of rows.
    pub(crate) fn as_model(&self) -> &(dyn Model + '_) {
        match self {
            Self::Trees(ensemble) => &**ensemble,
            Self::KernelMachine(file) => &file.machine,
            #[cfg(feature = "networks")]
            Self::Network(network) => &**network,
            Self::Program(running) => &running.program,
        }
    }

    /// Returns the tree ensemble, if the model is one.
    pub(crate) fn trees(&self) -> Option<&Ensemble> {
        match self {
            Self::Trees(ensemble) => Some(ensemble),
            #[cfg(feature = "networks")]
            Self::Network(_) => None,
            Self::KernelMachine(_) | Self::Program(_) => None,
        }
    }

    /// Checks that a tree ensemble or a kernel machine supports the values in rows. Programs and networks
    /// check values when they predict. `what` names a row in the error.
    pub(crate) fn check_rows(&self, rows: Rows<'_>, what: &str) -> Result<(), GameError> {
        match self {
            Self::Trees(ensemble) => ensemble.check_rows(rows, what),
            Self::KernelMachine(file) => file.machine.check_rows(rows, what),
            #[cfg(feature = "networks")]
            Self::Network(_) => Ok(()),
            Self::Program(_) => Ok(()),
        }
    }

    /// Returns the tree ensemble, or an error which states that `what` requires one.
    pub(crate) fn ensemble(&self, what: &str) -> Result<&Ensemble> {
        let remedy = match what {
            "--interactions" => "; remove --interactions, or use an index that supports any model: \
                 --interactions=shapley --order 2"
                .to_owned(),
            option if option.starts_with("--") => format!("; remove {option}"),
            _ => String::new(),
        };
        let says = || Usage(format!("{what} requires a tree ensemble{remedy}"));
        Ok(self.trees().ok_or_else(says)?)
    }

    /// Returns the number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.as_model().outputs()
    }

    /// Checks at the end of a run that a program still returns what it returned before.
    pub(crate) fn finish(&self) -> Result<()> {
        match self {
            Self::Program(running) => running.program.finish().context("--predict"),
            _ => Ok(()),
        }
    }

    /// Prints a note if a program had to be restarted.
    pub(crate) fn note_restarts(&self) {
        let Self::Program(running) = self else { return };
        match running.program.restarts() {
            0 => {}
            1 => messages::note("the program was restarted once, after it exited or timed out"),
            restarts => {
                messages::note(format_args!(
                    "the program was restarted {restarts} times, after it exited or timed out"
                ));
            }
        }
    }

    /// Returns the names of the outputs, if the model stores them.
    pub(crate) fn classes(&self) -> Option<Vec<String>> {
        match self {
            Self::Program(running) => running.classes.clone(),
            _ => Some(self.trees()?.output_names()?.to_vec()),
        }
    }

    /// Returns the number of features, if the model determines it.
    pub(crate) fn feature_count(&self) -> Option<usize> {
        self.as_model().features()
    }

    /// Returns the names of the features, if the model stores them.
    pub(crate) fn feature_names(&self) -> Option<&[String]> {
        match self {
            Self::Program(running) => running.names.as_deref(),
            Self::KernelMachine(file) => file.feature_names.as_deref(),
            _ => self.trees().and_then(Ensemble::feature_names),
        }
    }

    /// Returns the strings whose codes occur in the rows, if the model is a program.
    pub(crate) fn texts(&self) -> Option<&Arc<Texts>> {
        match self {
            Self::Program(running) => Some(&running.texts),
            _ => None,
        }
    }

    /// Returns the categorical features.
    pub(crate) fn categorical_features(&self) -> Vec<usize> {
        if let Some(texts) = self.texts() {
            return (0..self.feature_count().unwrap_or_default())
                .filter(|&feature| texts.is_text(feature))
                .collect();
        }
        self.trees().map(Ensemble::categorical_features).unwrap_or_default()
    }

    /// Returns the categories of a feature, if it has some.
    fn categories_of(&self, feature: usize) -> Option<&Categories> {
        self.trees()?.categories(feature)
    }

    /// Returns the requirements for a file of rows.
    pub(crate) fn row_options<'a>(&'a self, columns: &'a Columns) -> Result<RowOptions<'a>> {
        let count = self.feature_count();
        ensure!(count != Some(0), "the model has no features; expected at least one");
        let origin = self.trees().map(Ensemble::origin);
        Ok(RowOptions {
            names: self.feature_names(),
            named_by: if matches!(self, Self::Program(_)) { "the rows file" } else { "the model" },
            names_are_rewritten: origin.is_some_and(|origin| origin.format.starts_with("LightGBM")),
            count,
            categories: (0..count.unwrap_or_default()).map(|feature| self.categories_of(feature)).collect(),
            texts: self.texts().map(|texts| &**texts),
            ..columns.all()
        })
    }

    /// Returns the names of the features: from the model, or else from the rows, or else f0, f1, … If the
    /// library has rewritten a name for the model, the name in the rows is used.
    pub(crate) fn names(&self, of_rows: Option<&[String]>, columns: usize) -> Vec<String> {
        match (self.feature_names(), of_rows) {
            (Some(names), Some(own)) if names.len() == own.len() => {
                let either = |(name, own): (&String, &String)| match lightgbm_name(own) == *name {
                    true => own.clone(),
                    false => name.clone(),
                };
                names.iter().zip(own).map(either).collect()
            }
            (Some(names), _) => names.to_vec(),
            (None, Some(names)) => names.to_vec(),
            (None, None) => (0..columns).map(|feature| format!("f{feature}")).collect(),
        }
    }

    /// Returns the categories of a feature, indexed by their codes. Returns an empty list if the model does
    /// not store the categories, or if their codes are not their indices.
    pub(crate) fn categories(&self, feature: usize) -> Vec<String> {
        let name = |category: &Category| match category {
            Category::Text(text) => text.clone(),
            Category::Number(number) => number.to_string(),
        };
        if let Some(texts) = self.texts() {
            return texts.list(feature);
        }
        let Some(words) = self.categories_of(feature) else { return Vec::new() };
        let code = |category: &Category| match category {
            Category::Text(text) => words.code_of_text(text),
            Category::Number(number) => words.code_of_number(*number),
        };
        // If categories are hashed, a code does not determine the category.
        let are_in_order =
            words.list().iter().enumerate().all(|(place, word)| code(word) == Some(place as f64));
        if are_in_order { words.list().iter().map(name).collect() } else { Vec::new() }
    }
}

/// Reads a model file, or returns `None` for a program, which is started once the rows are known.
pub(crate) fn read(predictor: &Predictor) -> Result<Option<AnyModel>> {
    let Some(path) = &predictor.path else { return Ok(None) };
    let read = read_file(path, &predictor.reading);
    #[cfg(feature = "networks")]
    let read = match read {
        Err(error) if is_other_onnx(&error) => return read_network(path, predictor).map(Some),
        Ok(_) if predictor.model_output.is_some() => {
            let says = "--model-output requires a neural network; remove --model-output";
            Err(Usage(says.to_owned()).into())
        }
        read => read,
    };
    #[cfg(not(feature = "networks"))]
    let read = read.map_err(|error| match is_other_onnx(&error) {
        true => anyhow::anyhow!(
            "{}, or install apportion with the feature networks, which supports neural networks: cargo \
             install --path crates/cli --features networks",
            crate::failure::line(&error)
        ),
        false => error,
    });
    read.map(Some)
}

/// Reads a tree ensemble or a kernel machine.
pub(crate) fn read_file(path: &Path, reading: &Reading) -> Result<AnyModel> {
    let error = match read_trees_of(path, reading) {
        Ok(ensemble) => return Ok(AnyModel::Trees(Box::new(ensemble))),
        Err(error) if error.downcast_ref::<ModelError>().is_none() => return Err(error),
        Err(error) => error,
    };
    let says = || format!("cannot read the model from {}", path.display());
    let bytes = std::fs::read(path).with_context(says)?;
    match KernelFile::from_bytes(&bytes).with_context(says)? {
        None => Err(error),
        Some(_) if reading.trees.is_some() => {
            Err(Usage("--trees requires a tree ensemble; remove --trees".to_owned()).into())
        }
        Some(file) => Ok(AnyModel::KernelMachine(Box::new(file))),
    }
}

/// Returns whether a file is valid ONNX, but neither a tree ensemble nor a linear model.
fn is_other_onnx(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ModelError::OtherOnnx { .. }))
}

/// Reads a neural network for rows of numbers.
#[cfg(feature = "networks")]
fn read_network(path: &Path, predictor: &Predictor) -> Result<AnyModel> {
    let options = predictor.model_output.iter().fold(NetworkOptions::new(), NetworkOptions::output);
    let network =
        options.from_path(path).with_context(|| format!("cannot read the model from {}", path.display()))?;
    ensure!(
        network.row_shape().len() == 1 && !network.takes_whole_numbers(),
        "the network in {} expects rows of {} of shape {:?}, not a table of numbers; use explain-text or \
         explain-image for texts and images",
        path.display(),
        if network.takes_whole_numbers() { "integers" } else { "numbers" },
        network.row_shape()
    );
    Ok(AnyModel::Network(Box::new(network)))
}

/// Reads a tree ensemble, or the specified boosting rounds of it.
pub(crate) fn read_trees(file: &ModelFile) -> Result<Ensemble> {
    read_trees_of(&file.path, &file.reading)
}

fn read_trees_of(path: &Path, Reading { trees, most_features }: &Reading) -> Result<Ensemble> {
    let says = || format!("cannot read the model from {}", path.display());
    let bytes = std::fs::read(path).with_context(says)?;
    let options = ReadOptions::default().rounds(trees.clone().unwrap_or_default());
    let options = most_features.iter().fold(options, |options, &count| options.max_features(count));
    let model = Ensemble::from_bytes_with(&bytes, &options).with_context(says)?;
    for note in model.notes() {
        messages::note(format_args!("{}: {note}", path.display()));
    }
    if let (None, Some(rounds)) = (trees, rounds::in_words(&model)) {
        messages::note(format_args!(
            "{}: using boosting rounds {rounds}; pass --trees all to use all",
            path.display()
        ));
    }
    Ok(model)
}

/// The strings in the rows for a program, for use in results.
#[derive(Debug)]
pub(crate) struct RowTexts(pub(crate) Arc<Texts>);

impl apportion_results::CategoryNames for RowTexts {
    fn category(&self, feature: usize, code: f64) -> Option<String> {
        let mut found = None;
        if self.0.is_text(feature) {
            self.0.with_text(feature, code, &mut |text| found = Some(text.to_owned()));
        }
        found
    }
}
