//! Reader for values and interactions in JSON or JSON lines, row by row.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::certificate::WrittenCertificate;
use super::medium::medium;
use super::numbers::{Input, Numbers};
use super::{INFINITE, KNOWN};
use crate::batch::Batch;
use crate::error::ReadError;
use crate::heading::{Form, Heading, Member};

/// Number of rows that are passed on at a time.
const BLOCK: usize = 1024;

/// Number of bytes that are read at a time.
const BUFFER: usize = 1 << 18;

type Result<T, E = ReadError> = std::result::Result<T, E>;
type Refusal = Box<dyn Error + Send + Sync>;

/// Reads results of `apportion explain` in JSON or JSON lines, gzipped or not. Passes the rows to `receive`,
/// up to 1024 at a time, with the heading that applies to all rows. Memory use does not depend on the number
/// of rows.
///
/// Returns the heading with the categories of the inputs, which are known after all rows are read.
/// Categorical inputs are passed as codes, which number the categories of a feature in the order of their
/// first occurrence. `is_efficient` receives the name of a value, and returns whether such values sum to the
/// prediction of a row minus its base value; result files do not store this information.
///
/// ```
/// let written = br#"{"value":"shapley","game":"marginal","features":["age","city"],
///     "explanations":[{"row":0,"base":1.0,"prediction":3.5,"values":[2.0,0.5],"input":[30,"Rome"]}]}"#;
/// let mut rows = Vec::new();
/// let heading = apportion_results::read(&written[..], |value| value == "shapley", |_, batch| {
///     rows.push(batch);
///     Ok(())
/// })?;
/// assert_eq!(rows[0].values, [2.0, 0.5]);
/// assert_eq!(heading.category(1, rows[0].inputs[1]), Some("Rome"));
/// # Ok::<(), apportion_results::ReadError>(())
/// ```
///
/// # Errors
///
/// [`ReadError::Io`] if the bytes cannot be read, [`ReadError::Document`] if the document is corrupt or does
/// not contain results of `apportion explain`, [`ReadError::Receiver`] with the error of `receive`.
pub fn read(
    from: impl Read,
    is_efficient: impl Fn(&str) -> bool,
    receive: impl FnMut(&Heading, Batch) -> Result<(), Refusal>,
) -> Result<Heading> {
    let mut from = BufReader::with_capacity(BUFFER, from);
    match from.fill_buf()?.starts_with(b"\x1f\x8b") {
        true => {
            read_plain(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(from)), is_efficient, receive)
        }
        false => read_plain(from, is_efficient, receive),
    }
}

fn read_plain(
    mut from: impl BufRead,
    is_efficient: impl Fn(&str) -> bool,
    receive: impl FnMut(&Heading, Batch) -> Result<(), Refusal>,
) -> Result<Heading> {
    if !from.fill_buf()?.starts_with(b"{") {
        return Err(ReadError::document(
            "expected results in JSON; write them with apportion explain --format json or jsonl",
        ));
    }
    let mut reading = Reading::new(&is_efficient, receive);
    let read = read_all(&mut reading, from);
    // An error of the receiver also causes an error of the parser, so check for it first.
    match reading.refusal.take() {
        Some(refusal) => Err(ReadError::Receiver(refusal)),
        None => read.and_then(|()| reading.end()),
    }
}

/// Reads one object (JSON), or the head followed by one line per row (JSON lines).
fn read_all(
    reading: &mut Reading<'_, impl FnMut(&Heading, Batch) -> Result<(), Refusal>>,
    from: impl BufRead,
) -> Result<()> {
    let mut documents = serde_json::Deserializer::from_reader(from);
    let damaged = |error: serde_json::Error| {
        if error.is_data() {
            ReadError::document(with_place_first(&error))
        } else if error.is_io() {
            ReadError::Io(error.into())
        } else {
            ReadError::document(format!("the results are corrupt or truncated: {error}; rerun explain"))
        }
    };
    let head = Document(reading).deserialize(&mut documents).map_err(damaged)?;
    if let Some(head) = head {
        reading.begin(head)?;
        let mut block = Batch::default();
        let lines = documents.into_iter::<Row>();
        for row in lines {
            reading.take(row.map_err(damaged)?, &mut block)?;
        }
        return reading.add(block);
    }
    documents.end().map_err(damaged)
}

/// Formats an error with its line and column at the beginning, because the problem may end with advice.
fn with_place_first(error: &serde_json::Error) -> String {
    let (line, column, text) = (error.line(), error.column(), error.to_string());
    match text.strip_suffix(&format!(" at line {line} column {column}")) {
        Some(problem) => format!("line {line}, column {column}: {problem}"),
        None => text,
    }
}

/// A row as written in the file.
#[derive(Debug, Deserialize)]
struct Row {
    row: u64,
    id: Option<String>,
    base: Numbers,
    prediction: Numbers,
    values: Option<Numbers>,
    std_errors: Option<Numbers>,
    input: Option<Vec<Input>>,
    evaluations: Option<u64>,
    draws: Option<u64>,
    degrees_of_freedom: Option<f64>,
    certificate: Option<WrittenCertificate>,
}

/// The state of reading results.
struct Reading<'e, R> {
    is_efficient: &'e dyn Fn(&str) -> bool,
    receive: R,
    /// The error of the receiver, if any.
    refusal: Option<Refusal>,
    heading: Option<Heading>,
    /// The number of outputs of all rows, known after the first row.
    outputs: Option<usize>,
    /// For each feature, the code of each category, numbered in the order of first occurrence.
    words: Vec<HashMap<String, usize>>,
}

impl<'e, R: FnMut(&Heading, Batch) -> Result<(), Refusal>> Reading<'e, R> {
    fn new(is_efficient: &'e dyn Fn(&str) -> bool, receive: R) -> Self {
        Self { is_efficient, receive, refusal: None, heading: None, outputs: None, words: Vec::new() }
    }

    /// Sets the heading from the head of the file.
    fn begin(&mut self, head: Map<String, Value>) -> Result<()> {
        let heading = heading(head, self.is_efficient)?;
        self.words = vec![HashMap::new(); heading.features.len()];
        self.heading = Some(heading);
        Ok(())
    }

    fn add(&mut self, block: Batch) -> Result<()> {
        let Some(heading) = self.heading.as_ref().filter(|_| !block.rows.is_empty()) else { return Ok(()) };
        (self.receive)(heading, block).map_err(|refusal| {
            let says = refusal.to_string();
            self.refusal = Some(refusal);
            ReadError::document(says)
        })
    }

    /// Checks that the numbers of a row match the players and outputs. Without this check, an excess of
    /// numbers in one row could hide a lack in another, and the head alone could declare more numbers than
    /// fit in memory.
    fn check(&mut self, row: &Row, values: &Numbers) -> Result<()> {
        let Some(heading) = &mut self.heading else { return Ok(()) };
        let outputs = *self.outputs.get_or_insert_with(|| match heading.outputs.len() {
            named if named > 1 => named,
            _ => row.base.0.len().max(1),
        });
        let players = heading.players.len();
        let lines = if heading.interactions.is_some() { players } else { 1 };
        let of_values = players.saturating_mul(lines).saturating_mul(outputs);
        let errors = row.std_errors.as_ref().map_or(of_values, |Numbers(errors)| errors.len());
        for (what, given, expected) in [
            ("base", row.base.0.len(), outputs),
            ("prediction", row.prediction.0.len(), outputs),
            ("values", values.0.len(), of_values),
            ("std_errors", errors, of_values),
        ] {
            if given != expected {
                let row = row.row;
                return Err(ReadError::document(format!(
                    "row {row}: {what:?} has the wrong length {given}, expected {expected} (features: \
                     {players}, outputs: {outputs}); rerun explain"
                )));
            }
        }
        if heading.outputs.len() == 1 && outputs > 1 {
            heading.outputs = vec![String::new(); outputs];
        }
        Ok(())
    }

    /// Adds a row to a block, and passes the block on when it is full.
    fn take(&mut self, mut row: Row, block: &mut Batch) -> Result<()> {
        let Some(values) = row.values.take() else {
            return Err(ReadError::document(format!(
                "row {} was written with --top; rerun explain without --top",
                row.row
            )));
        };
        self.check(&row, &values)?;
        let is_first = block.rows.is_empty();
        block.rows.push(row.row);
        match (row.id, &mut block.ids) {
            (Some(id), Some(ids)) => ids.push(id),
            (Some(id), ids) if is_first => *ids = Some(vec![id]),
            (None, None) => {}
            _ => {
                let says = format!(
                    "row {}: only some of the rows have an ID; expected IDs for all rows or for none",
                    row.row
                );
                return Err(ReadError::document(says));
            }
        }
        block.base.extend(row.base.0);
        block.predictions.extend(row.prediction.0);
        // Rows without errors are exact, even if other rows of the block have errors.
        match row.std_errors {
            Some(Numbers(errors)) => {
                block.std_errors.resize(block.values.len(), 0.0);
                block.std_errors.extend(errors);
            }
            None if block.std_errors.is_empty() => {}
            None => block.std_errors.extend(std::iter::repeat_n(0.0, values.0.len())),
        }
        block.values.extend(values.0);
        if let Some(inputs) = row.input {
            if inputs.len() != self.words.len() {
                let (given, expected) = (inputs.len(), self.words.len());
                let says = format!(
                    "row {}: \"input\" has the wrong length {given}, expected {expected} (one per feature); \
                     rerun explain",
                    row.row
                );
                return Err(ReadError::document(says));
            }
            let codes = inputs.into_iter().enumerate().map(|(feature, input)| self.code(feature, input));
            block.inputs.extend(codes.collect::<Vec<f64>>());
        }
        block.evaluations.push(row.evaluations.unwrap_or(0));
        block.draws.push(row.draws);
        block.degrees_of_freedom.push(row.degrees_of_freedom.unwrap_or(f64::INFINITY));
        block.certificates.push(row.certificate.map(WrittenCertificate::certified));
        if block.rows.len() == BLOCK {
            self.add(std::mem::take(block))?;
        }
        Ok(())
    }

    /// Returns an input as a number: the code of a category, or the number itself.
    fn code(&mut self, feature: usize, input: Input) -> f64 {
        let words = &mut self.words[feature];
        let next = words.len();
        match input {
            Input::Missing => f64::NAN,
            Input::Word(word) => *words.entry(word).or_insert(next) as f64,
            // If the input of a categorical feature is a number, the model does not store a name for its
            // category.
            Input::Number(number) if !words.is_empty() => {
                *words.entry(number.to_string()).or_insert(next) as f64
            }
            Input::Infinite(number) if !words.is_empty() => {
                let word = INFINITE[usize::from(number < 0.0)].to_owned();
                *words.entry(word).or_insert(next) as f64
            }
            Input::Number(number) | Input::Infinite(number) => number,
        }
    }

    /// Returns the heading with the categories, which are known after all rows are read.
    fn end(self) -> Result<Heading> {
        let Some(mut heading) = self.heading else {
            return Err(ReadError::document(
                "missing list of explanations; expected results of apportion explain",
            ));
        };
        for (categories, codes) in heading.categories.iter_mut().zip(self.words) {
            let mut words: Vec<(String, usize)> = codes.into_iter().collect();
            words.sort_by_key(|&(_, code)| code);
            *categories = words.into_iter().map(|(word, _)| word).collect();
        }
        Ok(heading)
    }
}

/// A deserializer of one object: the head, then the rows. It returns the head if the object does not contain
/// rows.
struct Document<'r, 'e, R>(&'r mut Reading<'e, R>);

impl<'de, R: FnMut(&Heading, Batch) -> Result<(), Refusal>> DeserializeSeed<'de> for Document<'_, '_, R> {
    type Value = Option<Map<String, Value>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, R: FnMut(&Heading, Batch) -> Result<(), Refusal>> Visitor<'de> for Document<'_, '_, R> {
    type Value = Option<Map<String, Value>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("results of explain")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        use serde::de::Error;

        let mut head = Map::new();
        let mut is_whole = false;
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "explanations" if !head.contains_key("features") => {
                    return Err(A::Error::custom(
                        "\"features\" must come before \"explanations\"; keep the order in which apportion \
                         explain writes the members",
                    ));
                }
                "explanations" => {
                    let head = std::mem::take(&mut head);
                    self.0.begin(head).map_err(A::Error::custom)?;
                    map.next_value_seed(Rows(self.0))?;
                    is_whole = true;
                }
                "predictions" => {
                    return Err(A::Error::custom(
                        "these are results of predict; expected results of explain",
                    ));
                }
                "summary" => {
                    return Err(A::Error::custom(
                        "these are results of explain --summary, which contain no rows; rerun explain \
                         without --summary",
                    ));
                }
                _ if is_whole => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    head.insert(name, map.next_value()?);
                }
            }
        }
        Ok((!is_whole).then_some(head))
    }
}

/// A deserializer of the list of rows.
struct Rows<'r, 'e, R>(&'r mut Reading<'e, R>);

impl<'de, R: FnMut(&Heading, Batch) -> Result<(), Refusal>> DeserializeSeed<'de> for Rows<'_, '_, R> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, R: FnMut(&Heading, Batch) -> Result<(), Refusal>> Visitor<'de> for Rows<'_, '_, R> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        use serde::de::Error;

        let mut block = Batch::default();
        while let Some(row) = list.next_element::<Row>()? {
            self.0.take(row, &mut block).map_err(A::Error::custom)?;
        }
        self.0.add(block).map_err(A::Error::custom)
    }
}

/// Converts the head to a heading.
fn heading(mut head: Map<String, Value>, is_efficient: &dyn Fn(&str) -> bool) -> Result<Heading> {
    let text = |name: &str| match head.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (value, game, method) = (text("value"), text("game"), text("method"));
    let interactions = match text("interactions").as_deref() {
        None => None,
        Some("index") => Some(Form::Index),
        Some("remainder") => Some(Form::Remainder),
        Some(other) => {
            return Err(ReadError::document(format!(
                "unknown form of interactions {other:?}; expected one of: index, remainder"
            )));
        }
    };
    let mut list = |name: &str| -> Result<Option<Vec<String>>> {
        let names = head.remove(name).map(serde_json::from_value::<Vec<String>>);
        names.transpose().map_err(|error| {
            ReadError::document(format!("{name:?} is not a list of names ({error}); rerun explain"))
        })
    };
    let no_features =
        || ReadError::document("missing list of features; expected results of apportion explain");
    let players = list("features")?.ok_or_else(no_features)?;
    let classes = list("classes")?;
    let inputs = list("input_names")?;
    let medium = medium(&mut head);
    let groups = head.remove("groups").map(serde_json::from_value::<Vec<Member>>);
    let no_groups = |error| ReadError::document(format!("invalid \"groups\" ({error}); rerun explain"));
    let groups = groups.transpose().map_err(no_groups)?.unwrap_or_default();
    let value = value.unwrap_or_else(|| "shapley".to_owned());
    let facts = head
        .into_iter()
        .filter(|(name, value)| !KNOWN.contains(&name.as_str()) && !value.is_null())
        .collect();
    let features = inputs.unwrap_or_else(|| players.clone());
    let members = members(&players, &features, &groups);
    Ok(Heading {
        is_efficient: is_efficient(&value),
        value,
        game: game.unwrap_or_default(),
        method: method.unwrap_or_else(|| "tree".to_owned()),
        facts,
        categories: vec![Vec::new(); features.len()],
        members,
        outputs: classes.unwrap_or_else(|| vec![String::new()]),
        groups,
        interactions,
        medium,
        players,
        features,
    })
}

/// Returns the features of each player: the feature with the player's name, or the members of the group with
/// the player's index.
fn members(players: &[String], features: &[String], groups: &[Member]) -> Vec<Vec<usize>> {
    let place = |name: &String| features.iter().position(|feature| feature == name);
    fn names(member: &Member) -> Vec<&String> {
        match member {
            Member::Feature(name) => vec![name],
            Member::Group(members) => members.iter().flat_map(names).collect(),
        }
    }
    if players == features {
        return (0..players.len()).map(|player| vec![player]).collect();
    }
    players
        .iter()
        .enumerate()
        .map(|(player, name)| match groups.get(player) {
            Some(group) if groups.len() == players.len() => {
                names(group).into_iter().filter_map(place).collect()
            }
            _ => place(name).into_iter().collect(),
        })
        .collect()
}
