//! What the command writes, in four formats: one file per format, each with the same functions.

mod csv;
mod destination;
mod json;
mod npy;
mod results;
mod shown;
mod table;

use std::io::Write;

use anyhow::Result;
use clap::ValueEnum;

pub(crate) use destination::{Destination, is_broken_pipe};
pub(crate) use results::{Attribution, Attributions, Facts, Interactions, Predictions};
pub(crate) use shown::shown;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object, every number to the last bit.
    Json,
    /// CSV with a header, every number to the last bit.
    Csv,
    /// A NumPy array of float64.
    Npy,
    /// For reading, rounded to six digits.
    Table,
}

/// Every kind of results has a function of one name in the file of each format.
macro_rules! written {
    ($($results:ident by $function:ident),*) => {$(
        impl $results {
            /// Writes them all.
            pub(crate) fn write(&self, format: Format, out: &mut dyn Write) -> Result<()> {
                match format {
                    Format::Json => json::$function(self, out),
                    Format::Csv => csv::$function(self, out),
                    Format::Npy => npy::$function(self, out),
                    Format::Table => table::$function(self, out),
                }
            }
        }
    )*};
}
written!(Attributions by attributions, Interactions by interactions, Predictions by predictions, Facts by facts);
