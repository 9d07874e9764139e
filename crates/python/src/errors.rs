//! Conversion of errors to the exceptions of `apportion._errors`.

use std::error::Error;

use apportion::ExplainError;
use apportion::estimators::EstimatorError;
use apportion::games::GameError;
use apportion::kernels::KernelError;
use apportion::models::ModelError;
use apportion::options::OptionError;
use apportion::surrogates::SurrogateError;
use apportion::trees::TreeError;
use apportion::values::ValueError;
use apportion_files::FileError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exception class of an error.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Class {
    /// A model that cannot be read, or that returns invalid predictions.
    Model,
    /// Invalid rows.
    Data,
    /// An invalid request.
    Usage,
    /// A bug in the library.
    Internal,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Model => "ModelError",
            Self::Data => "DataError",
            Self::Usage => "UsageError",
            Self::Internal => "InternalError",
        }
    }
}

/// Returns an exception of the package.
pub(crate) fn raised(py: Python<'_>, class: Class, says: impl Into<String>) -> PyErr {
    let found = || -> PyResult<Bound<'_, PyType>> {
        Ok(py.import("apportion._errors")?.getattr(class.name())?.cast_into::<PyType>()?)
    };
    match found() {
        Ok(class) => PyErr::from_type(class, (says.into(),)),
        Err(error) => error,
    }
}

/// Returns a `UsageError`.
pub(crate) fn usage(py: Python<'_>, error: impl ToString) -> PyErr {
    raised(py, Class::Usage, error.to_string())
}

/// Returns the exception for a file that cannot be written. If the system reported an error number, the
/// exception is an `OSError` with this number and the message of the library; otherwise, it is a
/// `UsageError`.
pub(crate) fn of_writing(py: Python<'_>, error: &FileError) -> PyErr {
    match error.os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string())),
        None => usage(py, error),
    }
}

/// Returns the exception for a run that cannot be resumed, or for a checkpoint that cannot be written.
pub(crate) fn of_checkpoint(py: Python<'_>, error: &FileError) -> PyErr {
    raised(py, if error.is_data() { Class::Data } else { Class::Usage }, error.to_string())
}

/// Returns the exception for a panic with this message.
pub(crate) fn internal(py: Python<'_>, says: &str) -> PyErr {
    let says = format!("internal error in apportion; please report it: {says}");
    raised(py, Class::Internal, says)
}

/// Returns the exception for a failed explanation: the original exception, if a Python function raised one.
pub(crate) fn of_explaining(py: Python<'_>, error: &ExplainError) -> PyErr {
    if let Some(own) = raised_by_python(error) {
        return own.clone_ref(py);
    }
    let class = match error {
        ExplainError::Game(error) => of_game(error),
        ExplainError::Estimator(error) => of_estimator(error),
        ExplainError::Trees(error) => of_trees(error),
        ExplainError::Kernels(error) => of_kernels(error),
        ExplainError::Surrogates(error) => of_surrogates(error),
        ExplainError::Model(error) => of_model(error),
        ExplainError::Value(error) => of_value(error),
        _ => Class::Usage,
    };
    raised(py, class, error.to_string())
}

/// Returns the exception for an invalid model.
pub(crate) fn of_reading(py: Python<'_>, error: &ModelError) -> PyErr {
    raised(py, of_model(error), error.to_string())
}

/// Returns the exception for an invalid game: the original exception, if a Python function raised one.
pub(crate) fn of_playing(py: Python<'_>, error: &GameError) -> PyErr {
    match raised_by_python(error) {
        Some(own) => own.clone_ref(py),
        None => raised(py, of_game(error), error.to_string()),
    }
}

/// Returns the Python exception among the causes of an error.
fn raised_by_python<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e PyErr> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(own) = error.downcast_ref() {
            return Some(own);
        }
        cause = error.source();
    }
    None
}

fn of_model(error: &ModelError) -> Class {
    match error {
        ModelError::Game(error) => of_game(error),
        ModelError::Rounds { .. } | ModelError::NoLoss { .. } => Class::Usage,
        _ => Class::Model,
    }
}

fn of_trees(error: &TreeError) -> Class {
    match error {
        TreeError::Model(error) => of_model(error),
        TreeError::Game(error) => of_game(error),
        TreeError::Overflow { .. } | TreeError::OutputOverflow { .. } => Class::Model,
        _ => Class::Usage,
    }
}

fn of_kernels(error: &KernelError) -> Class {
    match error {
        KernelError::Game(error) => of_game(error),
        KernelError::Value(error) => of_value(error),
        KernelError::Memory(_) | KernelError::Unsupported { .. } => Class::Usage,
        _ => Class::Model,
    }
}

fn of_surrogates(error: &SurrogateError) -> Class {
    match error {
        SurrogateError::Game(error) => of_game(error),
        SurrogateError::Value(error) => of_value(error),
        SurrogateError::Prediction { .. } | SurrogateError::NotFinite { .. } => Class::Model,
        _ => Class::Usage,
    }
}

fn of_estimator(error: &EstimatorError) -> Class {
    match error {
        EstimatorError::Game(error) => of_game(error),
        EstimatorError::Value(error) => of_value(error),
        EstimatorError::NotFinite { .. } => Class::Model,
        _ => Class::Usage,
    }
}

fn of_value(error: &ValueError) -> Class {
    match error {
        ValueError::Game(error) => of_game(error),
        ValueError::NotAdditive { .. } => Class::Model,
        _ => Class::Usage,
    }
}

fn of_game(error: &GameError) -> Class {
    match error {
        GameError::Model { .. } | GameError::ModelCount { .. } | GameError::NotFinite { .. } => Class::Model,
        GameError::Width { .. }
        | GameError::InfiniteInput { .. }
        | GameError::MissingValue { .. }
        | GameError::MissingInput { .. }
        | GameError::TooFewRows { .. }
        | GameError::NoAgreement { .. }
        | GameError::EmptyBackground
        | GameError::BackgroundWeights { .. } => Class::Data,
        _ => Class::Usage,
    }
}

/// Returns the exception for an invalid option, with the name that the option has in Python.
pub(crate) fn of_options(py: Python<'_>, error: &OptionError) -> PyErr {
    match error {
        OptionError::Distribution { source, .. } | OptionError::Graph { source, .. } => {
            of_playing(py, source)
        }
        error => usage(py, error.in_words(|name| name.replace('-', "_"))),
    }
}
