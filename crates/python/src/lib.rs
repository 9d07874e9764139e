//! The inside of the Python package `apportion`: the module `apportion._core`.
//!
//! Here are thin classes over the library, which take and give arrays of NumPy. What they are called with (models of other libraries, data
//! frames, names) is made ready by the Python files beside this folder, and so is what they give.
//!
//! | module | holds |
//! |---|---|
//! | `ensemble`, `categories`, `columns`, `cells` | tree ensembles, the codes of their categories, columns that are features, and cells as numbers |
//! | `explainer`, `options`, `law` | what is explained: a model in a game, with all that was asked for |
//! | `value` | groups and graphs |
//! | `game` | games of one's own and of textbooks |
//! | `groups` | groups of features from data |
//! | `command` | the command |
//! | `files`, `checkpoint` | files that are written whole or not at all, and those that runs resume from |
//! | `explained` | what was found, as arrays |
//! | `pictures` | figures and reports of it |
//! | `pool`, `serve`, `watch` | threads: the engine has its own, Python functions are called on the thread that asks |
//! | `callable` | functions of Python that the garbage collector sees |
//! | `arrays`, `errors` | what goes over the border |
//!
//! Errors are the classes of `apportion._errors`, with the words of the library. A panic of the library is an error there, too.

mod arrays;
mod callable;
mod categories;
mod cells;
mod checkpoint;
mod columns;
mod command;
mod ensemble;
mod errors;
mod explained;
mod explainer;
mod files;
mod game;
mod groups;
mod law;
mod options;
mod pictures;
mod pool;
mod serve;
mod value;
mod watch;

/// The module.
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
    use crate::options::{accuracy_in_words, methods, option_names, sampled_rows};
    #[pymodule_export]
    use crate::pictures::{Figure, Gathered, figures, report};
    #[pymodule_export]
    use crate::pool::Pool;
    #[pymodule_export]
    use crate::serve::end;

    /// The version of the library.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// The example of the README is a test of Python.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
