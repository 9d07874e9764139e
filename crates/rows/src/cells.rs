//! Conversion of the cells of a feature to numbers: missing values, categories, invalid cells.
//!
//! | cell | feature with categories | any other feature |
//! |---|---|---|
//! | equals a sentinel | missing | missing |
//! | a string | the code of that category; otherwise missing, if it is a usual marker of missing values; otherwise the code of the number or boolean that it parses as; otherwise unknown | the number that it parses as; missing; `True` is 1 and `False` 0; otherwise an error |
//! | a number | the code of that category; otherwise the code of its string form; otherwise unknown | the number |
//! | a boolean | the code of its string form in Python; otherwise of 1 or 0; otherwise unknown | 1 or 0 |
//!
//! A matrix without column names contains codes, which [`Feature::code`] reads.

use apportion_models::{Categories, Category, UnknownCategory};

use crate::advice::{describe, mark_as_missing};
use crate::cell_error::CellError;
use crate::error::{Result, RowsError};
use crate::exact::{ALL_EXACT, exact};
use crate::nearest::{nearest, shown};
use crate::number::number;
use crate::row_options::{RowOptions, Sentinel};
use crate::texts::{Kind, Survey, Texts};
use crate::thousands::without_marks;

/// The markers of missing values, unless they are categories: the markers of pandas, and `?`.
const MISSING: [&str; 20] = [
    "#N/A N/A", "#N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "NaT", "None", "n/a", "nan", "null", "?",
];

/// The number of a cell, or the reason why it cannot be used.
type CellResult = std::result::Result<f64, Box<CellError>>;

#[cold]
fn refused(error: CellError) -> CellResult {
    Err(Box::new(error))
}

/// A feature, which converts its cells to numbers: NaN for missing values, codes for categories.
///
/// ```
/// use apportion_models::{Category, UnknownCategory, Categories};
/// use apportion_rows::Feature;
///
/// let mut size = Feature::new("size", None);
/// assert_eq!(size.text(" 1.5 ")?, 1.5);
/// assert!(size.text("NA")?.is_nan());
/// assert!(size.text("large").is_err() && size.whole((1 << 53) + 1).is_err());
///
/// let colours = ["red", "blue"].map(|text| Category::Text(text.to_owned()));
/// let colours = Categories::new(colours.to_vec(), UnknownCategory::Refused);
/// assert_eq!(Feature::new("colour", Some(&colours)).text("blue")?, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Feature<'a> {
    words: Option<&'a Categories>,
    sentinels: &'a [Sentinel],
    decimal_comma: bool,
    /// The store for strings that are not numbers, and the index of this feature in the store.
    texts: Option<(&'a Texts, usize)>,
    /// The name of the column in the file, or its index if columns do not have names.
    name: String,
    /// Whether this is a feature of a model.
    is_of_a_model: bool,
    /// The number of cells with unknown categories, and the first such cell.
    unknown: Option<(usize, String)>,
}

impl<'a> Feature<'a> {
    /// Creates a feature of a model with a name, and with its categories, if it is categorical.
    pub fn new(name: impl Into<String>, words: Option<&'a Categories>) -> Self {
        Self {
            words,
            sentinels: &[],
            decimal_comma: false,
            texts: None,
            name: name.into(),
            is_of_a_model: true,
            unknown: None,
        }
    }

    /// Creates the features that `options` describes. `names` contains their column names in the file.
    pub(crate) fn all(names: impl IntoIterator<Item = String>, options: &RowOptions<'a>) -> Vec<Self> {
        let feature = |(feature, name)| Self {
            words: options.categories_of(feature),
            sentinels: options.missing,
            decimal_comma: options.decimal_comma,
            texts: options.texts.map(|texts| (texts, feature)),
            name,
            is_of_a_model: options.count.is_some() || options.names.is_some(),
            unknown: None,
        };
        names.into_iter().enumerate().map(feature).collect()
    }

    /// Returns the value for a text cell.
    ///
    /// # Errors
    ///
    /// [`CellError`], e.g. if the cell is neither a number nor one of the categories, or if `f64` cannot
    /// represent its number.
    #[inline]
    pub fn text(&mut self, cell: &str) -> CellResult {
        let text = cell.trim();
        if self.words.is_some() {
            return self.word(cell, text);
        }
        if let Some((texts, feature)) = self.texts {
            return self.text_code(texts, feature, cell);
        }
        match number(text, self.decimal_comma) {
            Some(value) if value.abs() < ALL_EXACT as f64 => Ok(self.code(value)),
            Some(value) => self.large(text, value),
            None => self.no_number(text),
        }
    }

    /// Returns whether the strings of the cells are stored.
    pub(crate) fn keeps_texts(&self) -> bool {
        self.words.is_none() && self.texts.is_some()
    }

    /// Adds a cell to the survey of its column, unless the cell is missing.
    pub(crate) fn survey(&self, cell: &str, survey: &mut Survey) {
        let text = cell.trim();
        if !(text.is_empty() || MISSING.contains(&text) || self.is_sentinel(text)) {
            survey.add(text, exact_number(text, self.decimal_comma));
        }
    }

    /// Determines from a survey whether the column contains numbers or strings, if strings are stored.
    pub(crate) fn decide(&self, survey: &Survey) {
        if let (Some((texts, feature)), Some(kind)) = (self.texts, survey.kind()) {
            texts.decide(feature, kind);
        }
    }

    /// Converts a cell whose string is stored.
    fn text_code(&self, texts: &Texts, feature: usize, cell: &str) -> CellResult {
        let text = cell.trim();
        if text.is_empty() || self.is_sentinel(text) {
            return Ok(f64::NAN);
        }
        let number = exact_number(text, self.decimal_comma);
        let is_missing = MISSING.contains(&text);
        let kind = match texts.kind(feature) {
            Some(kind) => kind,
            None if is_missing => return Ok(f64::NAN),
            None => texts.decide(feature, if number.is_some() { Kind::Numbers } else { Kind::Texts }),
        };
        match (kind, number) {
            (Kind::Texts, _) => Ok(texts.code(feature, cell)),
            (Kind::Numbers, _) if is_missing => Ok(f64::NAN),
            (Kind::Numbers, Some(number)) => {
                // Programs may not support decimal commas, so only spellings with a point are stored.
                if !self.decimal_comma {
                    texts.spell(feature, number, text);
                }
                Ok(number)
            }
            (Kind::Numbers, None) => refused(CellError::TextAmongNumbers { text: text.to_owned() }),
        }
    }

    /// Converts a date or time, and stores its text.
    #[cfg(feature = "columnar")]
    pub(crate) fn moment(&mut self, text: &str) -> CellResult {
        self.text(text)
    }

    /// Converts a cell of a feature without categories. The cell parses as NaN, or as a number so large that
    /// `f64` does not represent all integers near it.
    #[cold]
    fn large(&self, text: &str, value: f64) -> CellResult {
        if is_rounded(text, value) && !self.is_sentinel_number(value) {
            return refused(CellError::Inexact);
        }
        if is_overflow(text, value) {
            return refused(CellError::Overflow { text: text.to_owned() });
        }
        Ok(self.code(value))
    }

    /// Converts a cell of a feature without categories that does not parse as a number.
    #[cold]
    fn no_number(&self, text: &str) -> CellResult {
        if text.is_empty() || self.is_sentinel(text) || MISSING.contains(&text) {
            return Ok(f64::NAN);
        }
        if let Some(value) = boolean(text) {
            return Ok(value);
        }
        let text = text.to_owned();
        let has_other_mark = number(&text, !self.decimal_comma).is_some();
        refused(if has_other_mark { CellError::DecimalMark { text } } else { CellError::NotANumber { text } })
    }

    /// Formats an error for users of the command: the problem, and what to do.
    #[cold]
    pub(crate) fn in_words(&self, error: &CellError) -> String {
        match error {
            CellError::NotANumber { text } => describe(text, self.decimal_comma, self.is_of_a_model),
            CellError::DecimalMark { text } => self.other_mark(text),
            CellError::Inexact => format!(
                "{error}; pass the column to --id if it identifies rows, to --ignore if it is not a feature, \
                 or convert it as in training"
            ),
            CellError::Overflow { .. } => {
                format!("{error}; scale the column as in training, or write inf if it is infinite")
            }
            CellError::UnknownCategory { word, nearest, categories } => {
                let meant = match nearest {
                    Some(category) => format!("did you mean {category:?}?"),
                    None => format!("categories seen in training: {}", list_of_categories(categories)),
                };
                let mark = mark_as_missing(word);
                format!("{error}; {meant}{mark}")
            }
            CellError::TextAmongNumbers { .. } => {
                format!("{error}; if the column contains text, move such a row to the top of the rows file")
            }
        }
    }

    /// Returns the error for the cell at the position `place`.
    #[cold]
    pub(crate) fn at(&self, place: String, error: &CellError) -> RowsError {
        RowsError::Cell { place, problem: self.in_words(error) }
    }

    /// Describes a string that is a number with a decimal comma instead of a point, or the reverse.
    fn other_mark(&self, text: &str) -> String {
        let thousands = match without_marks(text, self.decimal_comma) {
            Some(plain) => format!("; if it separates thousands, write {}", shown(&plain)),
            None => String::new(),
        };
        let given = shown(text);
        if self.decimal_comma {
            let meant = shown(&text.replacen('.', ",", 1));
            format!(
                "{given} uses a decimal point, but --decimal-comma is set; write {meant}, or remove \
                 --decimal-comma{thousands}"
            )
        } else {
            let meant = shown(&text.replacen(',', ".", 1));
            format!("{given} uses a decimal comma; write {meant}, or pass --decimal-comma{thousands}")
        }
    }

    /// Converts a text cell of a feature with categories.
    fn word(&mut self, cell: &str, text: &str) -> CellResult {
        let Some(words) = self.words else { return Ok(f64::NAN) };
        if self.is_sentinel(text) {
            return Ok(f64::NAN);
        }
        if let Some(code) = words.code_of_text(cell).or_else(|| words.code_of_text(text)) {
            return Ok(code);
        }
        if text.is_empty() || MISSING.contains(&text) {
            return Ok(f64::NAN);
        }
        let number = number(text, self.decimal_comma).or_else(|| boolean(text));
        if number.is_some_and(|number| is_rounded(text, number)) {
            return refused(CellError::Inexact);
        }
        match number.and_then(|number| words.code_of_number(number)) {
            Some(code) => Ok(code),
            None => self.unknown(words, text),
        }
    }

    /// Returns the value for a numeric cell in a column with a name.
    ///
    /// # Errors
    ///
    /// If the number is not one of the categories.
    #[inline]
    pub fn number(&mut self, value: f64) -> CellResult {
        let Some(words) = self.words else {
            return Ok(self.text_of_number(value).unwrap_or_else(|| self.code(value)));
        };
        if value.is_nan() || self.is_sentinel_number(value) {
            return Ok(f64::NAN);
        }
        let by_text = || {
            let text = format!("{value}");
            // Python writes whole floats with `.0`.
            words.code_of_text(&text).or_else(|| words.code_of_text(&format!("{text}.0")))
        };
        match words.code_of_number(value).or_else(by_text) {
            Some(code) => Ok(code),
            None => self.unknown(words, &format!("{value}")),
        }
    }

    /// Returns the value for an integer cell in a column with a name.
    ///
    /// # Errors
    ///
    /// If f64 cannot represent the integer exactly, or it is not one of the categories.
    pub fn whole(&mut self, value: i128) -> CellResult {
        match exact(value) {
            Some(value) => self.number(value),
            None => refused(CellError::Inexact),
        }
    }

    /// Returns the value for a boolean cell.
    ///
    /// # Errors
    ///
    /// If the boolean is not one of the categories.
    pub fn boolean(&mut self, value: bool) -> CellResult {
        let number = f64::from(u8::from(value));
        let Some(words) = self.words else {
            return Ok(match self.texts.filter(|(texts, feature)| texts.is_text(*feature)) {
                Some((texts, feature)) => texts.code(feature, if value { "True" } else { "False" }),
                None => self.code(number),
            });
        };
        let texts = if value { ["True", "true", "TRUE"] } else { ["False", "false", "FALSE"] };
        // Prefer the spelling of Python.
        let code = words.code_of_text(texts[0]).or_else(|| words.code_of_number(number));
        match code.or_else(|| texts.iter().find_map(|text| words.code_of_text(text))) {
            Some(code) => Ok(code),
            None => self.unknown(words, texts[0]),
        }
    }

    /// Returns the code of a numeric cell if the column is read as text.
    fn text_of_number(&self, value: f64) -> Option<f64> {
        let (texts, feature) = self.texts.filter(|(texts, feature)| texts.is_text(*feature))?;
        let is_missing = value.is_nan() || self.is_sentinel_number(value);
        Some(if is_missing { f64::NAN } else { texts.code(feature, &value.to_string()) })
    }

    /// Returns a number unchanged, or NaN if it is a sentinel for missing values. This applies to features
    /// without categories, and to cells that already contain codes.
    #[inline]
    pub(crate) fn code(&self, value: f64) -> f64 {
        if self.is_sentinel_number(value) { f64::NAN } else { value }
    }

    #[inline]
    fn is_sentinel_number(&self, value: f64) -> bool {
        self.sentinels.iter().any(|sentinel| matches!(sentinel, Sentinel::Number(number) if *number == value))
    }

    fn is_sentinel(&self, text: &str) -> bool {
        self.sentinels.iter().any(|sentinel| match sentinel {
            Sentinel::Text(word) => word == text,
            Sentinel::Number(options) => number(text, self.decimal_comma) == Some(*options),
        })
    }

    /// Handles a cell that is not a category of the model.
    #[cold]
    fn unknown(&mut self, words: &Categories, word: &str) -> CellResult {
        let taken_for = match words.unknown() {
            UnknownCategory::Missing => Some(f64::NAN),
            UnknownCategory::NoCategory => Some(Categories::NO_CATEGORY),
            // Treat variants that are added later as errors.
            _ => None,
        };
        if let Some(code) = taken_for {
            let (cells, _) = self.unknown.get_or_insert_with(|| (0, word.to_owned()));
            *cells += 1;
            return Ok(code);
        }
        let categories: Vec<String> = words.list().iter().map(in_words).collect();
        let nearest = nearest(word, categories.iter().map(String::as_str)).map(str::to_owned);
        refused(CellError::UnknownCategory { word: word.to_owned(), nearest, categories })
    }

    /// Returns a note for the user about unknown categories, if there were any.
    pub fn note(&self) -> Option<String> {
        let (cells, first) = self.unknown.as_ref()?;
        let (cells, categories) = if *cells == 1 {
            ("1 cell".to_owned(), "an unknown category is")
        } else {
            (format!("{cells} cells"), "unknown categories are")
        };
        let taken = match self.words.map(Categories::unknown) {
            Some(UnknownCategory::NoCategory) => "as not matching any category",
            _ => "as missing",
        };
        Some(format!(
            "column {:?}: {cells} with {categories} treated {taken}, as in the model's library; the \
             first is {first:?}",
            self.name
        ))
    }
}

/// Returns the number that a string represents. Returns `None` if information would be lost by leading zeros,
/// rounding or overflow.
fn exact_number(text: &str, decimal_comma: bool) -> Option<f64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text).as_bytes();
    let has_leading_zero = matches!(digits, [b'0', second, ..] if second.is_ascii_digit());
    let value = number(text, decimal_comma).or_else(|| boolean(text))?;
    (!has_leading_zero && !is_rounded(text, value) && !is_overflow(text, value)).then_some(value)
}

/// Returns whether a string is an integer without point or exponent that is neither the exact nor the
/// shortest spelling of `value`, its parsed number.
fn is_rounded(text: &str, value: f64) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    value.abs() >= ALL_EXACT as f64
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && ![format!("{:.0}", value.abs()), value.abs().to_string()]
            .iter()
            .any(|exact| exact == digits.trim_start_matches('0'))
}

/// Returns whether a string contains digits but parses as infinite.
fn is_overflow(text: &str, value: f64) -> bool {
    value.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns the weight of a row, or an error if the `number` of its cell is not a valid weight.
pub(crate) fn weight(number: Option<f64>, place: impl Fn() -> String) -> Result<f64> {
    match number {
        Some(weight) if weight.is_finite() && weight >= 0.0 => Ok(weight),
        _ => Err(RowsError::Cell {
            place: place(),
            problem: "invalid weight; expected a finite number ≥ 0".to_owned(),
        }),
    }
}

/// Returns a category as text.
fn in_words(category: &Category) -> String {
    match category {
        Category::Text(text) => text.clone(),
        Category::Number(number) => number.to_string(),
    }
}

fn list_of_categories(texts: &[String]) -> String {
    crate::nearest::list(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns 1 for `True` and 0 for `False`, ignoring case.
fn boolean(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("true") {
        Some(1.0)
    } else if text.eq_ignore_ascii_case("false") {
        Some(0.0)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(unknown: UnknownCategory) -> Categories {
        let text = |text: &str| Category::Text(text.to_owned());
        Categories::new(
            vec![text("red"), text("NA"), text("3"), Category::Number(7.0), Category::Number(1.0)],
            unknown,
        )
    }

    fn place() -> String {
        "row 4, column 2 \"colour\"".to_owned()
    }

    fn feature<'a>(words: Option<&'a Categories>, sentinels: &'a [Sentinel]) -> Feature<'a> {
        Feature {
            words,
            sentinels,
            decimal_comma: false,
            texts: None,
            name: "colour".to_owned(),
            is_of_a_model: true,
            unknown: None,
        }
    }

    /// Returns the number of a text cell, or −1 if it is missing.
    fn text(feature: &mut Feature<'_>, cell: &str) -> Result<f64> {
        let found = feature.text(cell);
        found
            .map_err(|error| feature.at(place(), &error))
            .map(|value| if value.is_nan() { -1.0 } else { value })
    }

    #[test]
    fn numbers_booleans_and_words_for_missing_are_understood_without_categories() {
        let mut plain = feature(None, &[]);
        let infinite = f64::INFINITY;
        for (cell, options) in [
            ("1.5", 1.5),
            (" -2e3 ", -2000.0),
            ("TRUE", 1.0),
            ("False", 0.0),
            ("true", 1.0),
            ("inf", infinite),
            (" -inf", -infinite),
            ("+Infinity", infinite),
            ("-INF", -infinite),
        ] {
            assert_eq!(text(&mut plain, cell).unwrap(), options, "{cell}");
        }
        for cell in MISSING.iter().chain(&["", "  ", "NAN", "?"]) {
            assert_eq!(text(&mut plain, cell).unwrap(), -1.0, "{cell}");
        }
        for (cell, says) in [
            ("tall", "\"tall\" is not numeric, and the model has no categories"),
            ("1,5", "\"1,5\" uses a decimal comma; write \"1.5\", or pass --decimal-comma"),
            ("1,234", "write \"1.234\", or pass --decimal-comma; if it separates thousands, write \"1234\""),
            ("1,234.5", ": \"1,234.5\" contains thousands separators; write \"1234.5\""),
            ("1e999", ": \"1e999\" overflows float64"),
            ("-1.8e308", ": \"-1.8e308\" overflows float64"),
            ("71.2%", ": \"71.2%\" is a percentage; write 71.2 or 0.712, as in training"),
        ] {
            let message = text(&mut plain, cell).unwrap_err().to_string();
            assert!(message.starts_with(&place()) && message.contains(says), "{message}");
        }
    }

    #[test]
    fn texts_are_kept_for_a_program_that_reads_them() {
        let texts = Texts::default();
        let of = |number: usize| Feature { texts: Some((&texts, number)), ..feature(None, &[]) };
        let survey = |number: usize, cells: &[&str]| {
            let mut survey = Survey::default();
            cells.iter().for_each(|cell| of(number).survey(cell, &mut survey));
            of(number).decide(&survey);
            let mut feature = of(number);
            cells.iter().map(|cell| text(&mut feature, cell).unwrap()).collect::<Vec<f64>>()
        };
        let told = |number: usize, value: f64| {
            let mut told = String::new();
            texts.with_text(number, value, &mut |text| told = text.to_owned());
            told
        };
        // The columns contain words, dates, codes, integers beyond 2^53, other strings, and one number in
        // several spellings.
        for (number, cells) in [
            &["Rome", "Oslo", "NA", "Rome"][..],
            &["2024-01-31", "31.1.2024", "2024-01-31", "None"],
            &["007", "7", "0012", "7"],
            &["9007199254740993", "1", "-9007199254740993", "1"],
            &["71.2%", "1,234", "$5", "71.2%"],
            &["1", "1.0", "1e0", "1"],
        ]
        .into_iter()
        .enumerate()
        {
            let values = survey(number, cells);
            assert!(texts.is_text(number), "{cells:?}");
            for (cell, value) in cells.iter().zip(values) {
                assert_eq!(told(number, value), *cell);
            }
        }
        assert_eq!(survey(10, &["1.50", "NA", "-2", "", "inf"]), [1.5, -1.0, -2.0, -1.0, f64::INFINITY]);
        assert_eq!([1.5, -2.0].map(|value| told(10, value)), ["1.50", ""]);
        assert_eq!(survey(11, &["True", "False", "nan"]), [1.0, 0.0, -1.0]);
        assert_eq!([1.0, 0.0].map(|value| told(11, value)), ["True", "False"]);
        assert_eq!(survey(12, &["", "NA"]), [-1.0, -1.0]);
        assert!(!(10..13).any(|number| texts.is_text(number)));
        // The first cell determines the kind of a column that had only missing values.
        assert_eq!(of(12).text("late").unwrap(), 0.0);
        let feature = of(10);
        let message = feature.in_words(&of(10).text("x").unwrap_err());
        assert!(message.contains("is text in a column whose first rows contain numbers"), "{message}");
    }

    #[test]
    fn numbers_are_written_with_commas_where_that_is_said() {
        let sentinels = ["-9.5", "-999"].map(|text| text.parse().unwrap());
        let known = Categories::new(
            vec![Category::Text("1.5".to_owned()), Category::Number(2.5)],
            UnknownCategory::Refused,
        );
        let mut plain = Feature { decimal_comma: true, ..feature(None, &sentinels) };
        for (cell, options) in [
            ("1,5", 1.5),
            (" -2,5e3 ", -2500.0),
            (",5", 0.5),
            ("7", 7.0),
            ("TRUE", 1.0),
            ("-9,5", -1.0),
            ("-999,0", -1.0),
            ("nan", -1.0),
            ("", -1.0),
            ("1.#IND", -1.0),
            ("9007199254740993,0", 9007199254740992.0),
        ] {
            assert_eq!(text(&mut plain, cell).unwrap(), options, "{cell}");
        }
        for (cell, says) in [
            ("1.5", "\"1.5\" uses a decimal point, but --decimal-comma is set; write \"1,5\""),
            (
                "1.234",
                "write \"1,234\", or remove --decimal-comma; if it separates thousands, write \"1234\"",
            ),
            ("1.234,5", "\"1.234,5\" contains thousands separators; write \"1234,5\""),
            ("1,2,3", "\"1,2,3\" is not numeric"),
            (",", "\",\" is not numeric"),
            ("9007199254740993", "integers beyond 2^53"),
        ] {
            let message = text(&mut plain, cell).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
        let mut of_words = Feature { decimal_comma: true, ..feature(Some(&known), &[]) };
        assert_eq!([text(&mut of_words, "2,5").unwrap(), text(&mut of_words, "1.5").unwrap()], [1.0, 0.0]);
        assert!(text(&mut of_words, "2.5").is_err() && text(&mut of_words, "1,5").is_err());
        // The decimal comma only applies to text.
        assert_eq!(plain.number(1.5).unwrap(), 1.5);
    }

    #[test]
    fn whole_numbers_that_no_float_holds_are_refused_unless_they_are_words_or_missing() {
        let known = Categories::new(
            vec![Category::Text("9007199254740993".to_owned()), Category::Number(ALL_EXACT as f64)],
            UnknownCategory::Missing,
        );
        let (mut plain, mut of_words) = (feature(None, &[]), feature(Some(&known), &[]));
        for cell in ["9007199254740995", "-9007199254740995", "+0009007199254740995", "18446744073709551615"]
        {
            for feature in [&mut plain, &mut of_words] {
                let message = text(feature, cell).unwrap_err().to_string();
                assert!(message.contains("integers beyond 2^53"), "{message}");
            }
        }
        for (cell, options) in [
            ("9007199254740991", 9007199254740991.0),
            ("-9007199254740992", -9007199254740992.0),
            ("009007199254740994", 9007199254740994.0),
            ("18446744073709551616", 18446744073709551616.0),
            // The shortest spelling of the nearest double is accepted.
            ("123456789012345680000", 123456789012345680000.0),
            ("9007199254740993.0", 9007199254740992.0),
            ("9007199254740993e0", 9007199254740992.0),
        ] {
            assert_eq!(text(&mut plain, cell).unwrap(), options, "{cell}");
        }
        assert!(text(&mut plain, "9007199254740993").is_err());
        assert_eq!(text(&mut of_words, "9007199254740993").unwrap(), 0.0);
        assert_eq!(text(&mut of_words, "9007199254740992").unwrap(), 1.0);
        let sentinels = ["99999999999999999999".parse().unwrap()];
        assert_eq!(text(&mut feature(None, &sentinels), "99999999999999999999").unwrap(), -1.0);
    }

    #[test]
    fn sentinels_are_missing_as_numbers_or_words() {
        let sentinels = ["-999", "unknown"].map(|text| text.parse().unwrap());
        let known = words(UnknownCategory::Refused);
        for mut feature in [feature(None, &sentinels), feature(Some(&known), &sentinels)] {
            for cell in ["-999", "-999.0", " -9.99e2", "unknown"] {
                assert_eq!(text(&mut feature, cell).unwrap(), -1.0, "{cell}");
            }
            assert!(feature.number(-999.0).unwrap().is_nan());
            assert!(feature.code(-999.0).is_nan());
            assert!(text(&mut feature, "Unknown").is_err());
        }
        assert_eq!(feature(None, &sentinels).code(999.0), 999.0);
    }

    #[test]
    fn a_cell_of_categories_is_its_code_by_text_and_else_by_number() {
        let known = words(UnknownCategory::Refused);
        let mut feature = feature(Some(&known), &[]);
        for (cell, options) in [
            ("red", 0.0),
            (" red", 0.0),
            ("NA", 1.0),
            ("3", 2.0),
            ("7", 3.0),
            ("7.0", 3.0),
            ("True", 4.0),
            ("", -1.0),
            ("null", -1.0),
        ] {
            assert_eq!(text(&mut feature, cell).unwrap(), options, "{cell}");
        }
        assert_eq!(feature.number(7.0).unwrap(), 3.0);
        assert_eq!(feature.number(3.0).unwrap(), 2.0);
        assert!(feature.number(f64::NAN).unwrap().is_nan());
        assert_eq!(feature.boolean(true).unwrap(), 4.0);
        for message in [
            feature.text("rod").unwrap_err(),
            feature.text("0").unwrap_err(),
            feature.number(0.0).unwrap_err(),
            feature.boolean(false).unwrap_err(),
        ] {
            assert!(message.to_string().starts_with("unknown category"), "{message}");
        }
        let error = feature.text("Rod").unwrap_err();
        let message = feature.in_words(&error);
        assert!(message.contains("did you mean \"red\"?") && !message.contains("--missing"), "{message}");
        let error = feature.text("unknown").unwrap_err();
        let message = feature.in_words(&error);
        assert!(message.contains("pass --missing \"unknown\""), "{message}");
        let codes_of_a_matrix = [0.0, 4.0, 9.0].map(|code| feature.code(code));
        assert_eq!(codes_of_a_matrix, [0.0, 4.0, 9.0]);
    }

    #[test]
    fn unknown_categories_are_missing_with_a_note_where_the_library_says_so() {
        let known = words(UnknownCategory::Missing);
        let mut feature = feature(Some(&known), &[]);
        assert_eq!((text(&mut feature, "red").unwrap(), feature.note()), (0.0, None));
        for cell in ["green", "0", "blue"] {
            assert_eq!(text(&mut feature, cell).unwrap(), -1.0);
        }
        let note = feature.note().unwrap();
        assert!(note.contains("\"colour\": 3 cells with unknown") && note.contains("\"green\""), "{note}");
    }

    #[test]
    fn unknown_categories_are_none_of_the_others_where_the_library_says_so() {
        let known = words(UnknownCategory::NoCategory);
        let mut feature = feature(Some(&known), &[]);
        assert_eq!(feature.text("green").unwrap(), Categories::NO_CATEGORY);
        assert_eq!(feature.number(4.0).unwrap(), Categories::NO_CATEGORY);
        let note = feature.note().unwrap();
        assert!(note.contains("2 cells with unknown") && note.contains("not matching any"), "{note}");
    }
}
