//! The engine of the Python package `apportion`: the module `apportion._core`.
//!
//! It consists of thin classes over the library, with NumPy arrays as arguments and results. The Python files
//! in `python/apportion` convert models of other libraries, data frames and names to these arguments, and the
//! results to explanations.
//!
//! | module | contents |
//! |---|---|
//! | `ensemble`, `categories` | tree ensembles, codes of their categories |
//! | `kernel_machine` | kernel machines |
//! | `columns`, `cells` | the choice of feature columns, conversion of cells to numbers |
//! | `explainer`, `options`, `distribution` | explainers, their options, conditional distributions |
//! | `value` | groups and graphs |
//! | `game` | user-defined games and textbook games |
//! | `groups` | groups of features found in data |
//! | `command` | the command `apportion` |
//! | `files`, `checkpoint` | atomic writes, and checkpoints |
//! | `explained` | results as arrays |
//! | `summary` | summaries of values over rows |
//! | `pictures` | figures and reports |
//! | `pool`, `serve`, `watch` | threads of the engine; Python functions, called on the calling thread; progress |
//! | `callable` | Python functions that the garbage collector can see |
//! | `arrays`, `errors` | conversion of arrays and errors |
//!
//! Errors are raised as the classes of `apportion._errors`, with the messages of the library. A panic is
//! raised as an `InternalError`.

mod arrays;
mod callable;
mod categories;
mod cells;
mod checkpoint;
mod columns;
mod command;
mod distribution;
mod ensemble;
mod errors;
mod explained;
mod explainer;
mod files;
mod game;
mod groups;
mod kernel_machine;
mod options;
mod pictures;
mod pool;
mod serve;
mod summary;
mod surrogate;
mod value;
mod watch;

/// The module `apportion._core`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::cells::numbers_of_cells;
    #[pymodule_export]
    use crate::checkpoint::Checkpoint;
    #[pymodule_export]
    use crate::columns::choose_columns;
    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::ensemble::Ensemble;
    #[pymodule_export]
    use crate::explained::interval_factors;
    #[pymodule_export]
    use crate::explainer::Explainer;
    #[pymodule_export]
    use crate::files::write_file;
    #[pymodule_export]
    use crate::game::{Game, explain_game, pairs_of_game};
    #[pymodule_export]
    use crate::groups::find_groups;
    #[pymodule_export]
    use crate::kernel_machine::KernelMachine;
    #[pymodule_export]
    use crate::options::{accuracy_in_words, methods, option_names, sampled_rows};
    #[pymodule_export]
    use crate::pictures::{Figure, Gathered, figures, report};
    #[pymodule_export]
    use crate::pool::Pool;
    #[pymodule_export]
    use crate::serve::end;
    #[pymodule_export]
    use crate::summary::Summary;
    #[pymodule_export]
    use crate::surrogate::Surrogate;

    /// The version of the library.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// The example of the README, which is in Python and is run by the Python tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
