//! The commands, each in a separate file, and the code that they share.
//!
//! | file | content |
//! |---|---|
//! | `explain`, `interactions`, `indices` | `apportion explain`: values, interactions of pairs, interaction indices |
//! | `explainer`, `game`, `plan` | the choice of game, method and budget |
//! | `class`, `about` | the explained class, and the description of the results |
//! | `stream` | from rows to results, batch by batch |
//! | `checkpoint`, `threads` | the state of a run, and its threads |
//! | `inspect`, `inspect_model`, `contents` | `apportion inspect`: the contents of files of any kind |
//! | `plot`, `report` | figures and reports from files of results |
//! | `predict`, `find_groups`, `compile`, `methods`, `manual` | the other commands |
//! | `media` | `explain-text` and `explain-image`, with the feature `networks` |
//! | `without_networks` | the error of these commands without that feature |

mod about;
mod checkpoint;
mod class;
pub(crate) mod compile;
mod contents;
pub(crate) mod explain;
mod explainer;
pub(crate) mod find_groups;
mod game;
mod indices;
pub(crate) mod inspect;
mod inspect_model;
mod interactions;
pub(crate) mod manual;
#[cfg(feature = "networks")]
pub(crate) mod media;
pub(crate) mod methods;
mod plan;
pub(crate) mod plot;
pub(crate) mod predict;
pub(crate) mod report;
mod stream;
pub(crate) mod threads;
#[cfg(not(feature = "networks"))]
pub(crate) mod without_networks;
