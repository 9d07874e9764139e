//! The columns of a file that are read.

use crate::cells::Feature;
use crate::choice::{Choice, Header, choose};
use crate::error::Result;
use crate::nearest::list;
use crate::row_options::RowOptions;
use crate::table::{Block, Read};

/// Maximum number of columns of a table.
pub(crate) const MAX_COLUMNS: usize = 1 << 20;

/// The columns chosen for each use.
#[derive(Debug, PartialEq)]
pub(crate) struct ChosenColumns {
    /// For each feature, the index of its column in the file.
    pub(crate) columns: Vec<usize>,
    /// The index of the ID column in the file.
    pub(crate) id: Option<usize>,
    /// The index of the weight column in the file.
    pub(crate) weight: Option<usize>,
    /// Specified columns that the file does not have.
    pub(crate) absent: Vec<String>,
    /// Notes for the user.
    pub(crate) notes: Vec<String>,
}

impl ChosenColumns {
    /// Chooses among columns with names.
    pub(crate) fn by_name(header: &[String], options: &RowOptions<'_>) -> Result<Self> {
        let choice = choose(Header::Names(header), options)?;
        let note = note(&choice, header, options);
        Ok(Self { notes: note.into_iter().collect(), ..choice.into() })
    }

    /// Chooses among columns without names.
    pub(crate) fn by_position(count: usize, options: &RowOptions<'_>) -> Result<Self> {
        Ok(choose(Header::Count(count), options)?.into())
    }

    /// Creates an empty block for these columns; `names` are the column names of the file.
    pub(crate) fn block(&self, names: Option<&[String]>) -> Block {
        let named = |names: &[String]| self.columns.iter().map(|&column| names[column].clone()).collect();
        Block { names: names.map(named), columns: self.columns.len(), ..Block::default() }
    }

    /// Returns the information about all rows. Call this method after the `features` were read from columns
    /// with these `names`.
    pub(crate) fn summary(self, names: &[String], features: &[Feature<'_>]) -> Read {
        let name = |column: usize| names[column].clone();
        let notes = self.notes.into_iter().chain(features.iter().filter_map(Feature::note)).collect();
        Read {
            names: Some(self.columns.iter().map(|&column| name(column)).collect()),
            id: self.id.map(name),
            columns: features.len(),
            absent: self.absent,
            notes,
        }
    }
}

impl From<Choice> for ChosenColumns {
    fn from(choice: Choice) -> Self {
        let Choice { features, id, weight, absent, .. } = choice;
        Self { columns: features, id, weight, absent, notes: Vec::new() }
    }
}

/// Returns a note for the user about the choice of columns.
fn note(choice: &Choice, header: &[String], options: &RowOptions<'_>) -> Option<String> {
    let named_by = options.named_by;
    if let (true, [first, ..], Some([of_first, ..])) = (choice.in_order, &choice.features[..], options.names)
    {
        let first = &header[*first];
        return Some(format!(
            "no column has the name of a feature of {named_by}; using columns in order, {first:?} as \
             {of_first:?} and so on"
        ));
    }
    let left_out: Vec<&str> = choice.left_out.iter().map(|&column| header[column].as_str()).collect();
    (!left_out.is_empty())
        .then(|| format!("ignored columns that are not features of {named_by}: {}", list(&left_out)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_name_columns_that_are_left_out_or_in_order() {
        let note = |header: [&str; 3], names: &[&str]| {
            let strings = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
            let names = strings(names);
            let options = RowOptions { names: Some(&names), named_by: "the model", ..RowOptions::default() };
            ChosenColumns::by_name(&strings(&header), &options).unwrap().notes.join("; ")
        };
        let left_out = note(["id", "b", "target"], &["b"]);
        assert_eq!(left_out, "ignored columns that are not features of the model: \"id\"");
        assert!(note(["age", "target", "bmi"], &["f0", "f1"]).contains("\"age\" as \"f0\""));
        assert_eq!(note(["age", "target", "bmi"], &["bmi", "age"]), "");
    }
}
