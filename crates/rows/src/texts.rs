//! Storage of cells as strings, for a program that predicts from the cells as written in the file.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Maximum number of distinct numbers per column whose spelling is stored, so that memory use does not grow
/// with the number of rows.
const MAX_SPELLINGS: usize = 1 << 16;

/// The kind of a column: numbers or text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Numbers and booleans: values are the numbers, and their spelling is stored.
    Numbers,
    /// Words, dates, numbers with leading zeros: values are codes of the distinct strings.
    Texts,
}

/// The strings in the features of all files of a run, for [`RowOptions::texts`](crate::RowOptions::texts).
///
/// If some cell of the first rows is not a number, or if a number occurs with two spellings, the column
/// contains strings. Its values are then the codes 0, 1, 2, … of the strings in order of appearance. Any
/// other column contains numbers. For up to 65,536 numbers, the first spelling is stored if it is not the
/// shortest one (`1.50`, `True`).
#[derive(Debug, Default)]
pub struct Texts {
    columns: RwLock<Vec<Column>>,
}

#[derive(Debug, Default)]
struct Column {
    kind: Option<Kind>,
    codes: HashMap<String, usize>,
    texts: Vec<String>,
    /// For each number, keyed by its bits, the spelling in the file.
    spellings: HashMap<u64, String>,
}

impl Texts {
    /// Locks the columns for reading. Ignores poisoning, because a panic cannot leave the columns
    /// inconsistent.
    fn read(&self) -> RwLockReadGuard<'_, Vec<Column>> {
        self.columns.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, feature: usize) -> RwLockWriteGuard<'_, Vec<Column>> {
        let mut columns = self.columns.write().unwrap_or_else(PoisonError::into_inner);
        if columns.len() <= feature {
            columns.resize_with(feature + 1, Column::default);
        }
        columns
    }

    /// Returns whether a feature contains text, so that its values are codes.
    pub fn is_text(&self, feature: usize) -> bool {
        self.kind(feature) == Some(Kind::Texts)
    }

    /// Returns the strings of a feature in the order of their codes; empty for a numeric feature.
    pub fn list(&self, feature: usize) -> Vec<String> {
        self.read().get(feature).map(|column| column.texts.clone()).unwrap_or_default()
    }

    /// Calls `with` with the stored string for a value of a feature. Returns `false` if no string is stored
    /// for this value.
    pub fn with_text(&self, feature: usize, value: f64, with: &mut dyn FnMut(&str)) -> bool {
        let columns = self.read();
        let Some(column) = columns.get(feature) else { return false };
        let text = match column.kind {
            Some(Kind::Texts) => {
                column.texts.get(value as usize).filter(|_| value >= 0.0 && value.fract() == 0.0)
            }
            _ => column.spellings.get(&value.to_bits()),
        };
        text.inspect(|text| with(text)).is_some()
    }

    pub(crate) fn kind(&self, feature: usize) -> Option<Kind> {
        self.read().get(feature)?.kind
    }

    /// Sets the kind of a column unless it is set already. Returns the kind.
    pub(crate) fn decide(&self, feature: usize, kind: Kind) -> Kind {
        *self.write(feature)[feature].kind.get_or_insert(kind)
    }

    /// Returns the code of a string, adding the string if it is new.
    pub(crate) fn code(&self, feature: usize, text: &str) -> f64 {
        let known = |column: &Column| column.codes.get(text).copied();
        if let Some(code) = self.read().get(feature).and_then(known) {
            return code as f64;
        }
        let column = &mut self.write(feature)[feature];
        let next = column.texts.len();
        let code = *column.codes.entry(text.to_owned()).or_insert(next);
        if code == next {
            column.texts.push(text.to_owned());
        }
        code as f64
    }

    /// Stores the spelling of a number unless another one is stored already.
    pub(crate) fn spell(&self, feature: usize, value: f64, text: &str) {
        let bits = value.to_bits();
        if text == value.to_string()
            || self.read().get(feature).is_some_and(|column| column.spellings.contains_key(&bits))
        {
            return;
        }
        let spellings = &mut self.write(feature)[feature].spellings;
        if spellings.len() < MAX_SPELLINGS {
            spellings.entry(bits).or_insert_with(|| text.to_owned());
        }
    }
}

/// A survey of the first cells of a column, which determines the kind of the column.
#[derive(Default)]
pub(crate) struct Survey {
    spellings: HashMap<u64, String>,
    has_numbers: bool,
    is_text: bool,
}

impl Survey {
    /// Adds a cell that is not missing, with its string and, if it is a number, its number.
    pub(crate) fn add(&mut self, text: &str, number: Option<f64>) {
        let Some(number) = number else {
            self.is_text = true;
            return;
        };
        self.has_numbers = true;
        if !self.is_text && self.spellings.len() < MAX_SPELLINGS {
            // If a number occurs with two spellings, they may be different codes, so the column is read as
            // text.
            let spelling = self.spellings.entry(number.to_bits()).or_insert_with(|| text.to_owned());
            self.is_text = spelling != text;
        }
    }

    /// Returns the kind of the column; `None` if all cells are missing.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match (self.is_text, self.has_numbers) {
            (true, _) => Some(Kind::Texts),
            (false, true) => Some(Kind::Numbers),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(texts: &Texts, feature: usize, value: f64) -> Option<String> {
        let mut text = None;
        texts.with_text(feature, value, &mut |found| text = Some(found.to_owned()));
        text
    }

    #[test]
    fn texts_have_codes_and_numbers_their_spelling() {
        let texts = Texts::default();
        assert_eq!((texts.kind(2), texts.is_text(2), text(&texts, 2, 0.0)), (None, false, None));
        assert_eq!(texts.decide(2, Kind::Texts), Kind::Texts);
        assert_eq!(texts.decide(2, Kind::Numbers), Kind::Texts);
        assert_eq!(["Rome", "007", "Rome", "7"].map(|cell| texts.code(2, cell)), [0.0, 1.0, 0.0, 2.0]);
        assert_eq!(texts.list(2), ["Rome", "007", "7"]);
        assert_eq!(text(&texts, 2, 1.0).as_deref(), Some("007"));
        for value in [3.0, -1.0, 0.5, f64::NAN, f64::INFINITY] {
            assert_eq!(text(&texts, 2, value), None);
        }
        texts.decide(0, Kind::Numbers);
        for (value, spelling) in [(1.5, "1.50"), (1.5, "1.5e0"), (2.0, "2"), (1.0, "True")] {
            texts.spell(0, value, spelling);
        }
        let spelled = [1.5, 2.0, 1.0].map(|value| text(&texts, 0, value));
        assert_eq!(spelled, [Some("1.50".to_owned()), None, Some("True".to_owned())]);
        assert!(texts.list(0).is_empty() && texts.list(9).is_empty());
    }

    #[test]
    fn a_column_with_a_word_or_a_number_in_two_spellings_is_text() {
        for (cells, kind) in [
            (&[][..], None),
            (&[("1", Some(1.0)), ("2.50", Some(2.5))], Some(Kind::Numbers)),
            (&[("1", Some(1.0)), ("x", None)], Some(Kind::Texts)),
            (&[("1", Some(1.0)), ("1.0", Some(1.0))], Some(Kind::Texts)),
        ] {
            let mut survey = Survey::default();
            cells.iter().for_each(|&(text, number)| survey.add(text, number));
            assert_eq!(survey.kind(), kind, "{cells:?}");
        }
    }
}
