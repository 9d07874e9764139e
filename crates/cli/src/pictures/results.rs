//! Results of `explain` in JSON or JSON lines, read row by row.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use apportion::SolutionConcept;
use apportion::plots::{Batch, Certified, Explained, Form, Gathering, Heading, Look, Member};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::gathered::KNOWN;
use super::medium::medium;
use super::numbers::{Input, Numbers};
use crate::output::INFINITE;
use crate::rows;

/// Rows that are gathered at a time.
const BLOCK: usize = 1024;

/// The results in a file: aggregates over all rows, and a sample of them by the seed with those that are `wanted`.
pub(super) fn read(path: &Path, seed: u64, wanted: Option<u64>) -> Result<Explained> {
    let says = || format!("cannot read {}", path.display());
    let file: Box<dyn Read> = match rows::is_standard_input(path) {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path).with_context(says)?),
    };
    let mut file = BufReader::with_capacity(1 << 18, file);
    let is_packed = file.fill_buf().with_context(says)?.starts_with(b"\x1f\x8b");
    let mut bytes: Box<dyn BufRead> = match is_packed {
        true => Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(file))),
        false => Box::new(file),
    };
    let start = bytes.fill_buf().with_context(says)?;
    if !start.starts_with(b"{") {
        bail!(
            "{} holds no results in JSON; write them by apportion explain --format json or jsonl",
            path.display()
        );
    }
    let mut reading = Reading::new(seed, wanted);
    read_all(&mut reading, bytes).with_context(|| format!("{}", path.display()))?;
    reading.end().with_context(|| format!("{}", path.display()))
}

/// One object, or the head and a line for each row.
fn read_all(reading: &mut Reading, bytes: impl Read) -> Result<()> {
    let mut documents = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 18, bytes));
    let damaged = |error: serde_json::Error| match error.is_data() {
        true => anyhow!("{error}"),
        false => anyhow!("the results are damaged, or were cut off: {error}"),
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

/// A row as it is written.
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
    degrees_of_freedom: Option<f64>,
    certificate: Option<Certificate>,
}

/// A certificate as it is written.
#[derive(Debug, Deserialize)]
struct Certificate {
    stopped_by: String,
    guarantee: String,
    confidence: f64,
    error_bound: Option<Numbers>,
    tolerance: Numbers,
    #[serde(default)]
    looks: Vec<WrittenLook>,
    #[serde(default)]
    says: String,
}

#[derive(Debug, Deserialize)]
struct WrittenLook {
    budget: u64,
    error: Option<f64>,
}

impl Certificate {
    fn certified(self) -> Certified {
        let looks = self.looks.into_iter();
        Certified {
            stopped_by: self.stopped_by,
            guarantee: self.guarantee,
            confidence: self.confidence,
            error_bounds: self.error_bound.map(|Numbers(bounds)| bounds).unwrap_or_default(),
            tolerances: self.tolerance.0,
            looks: looks.map(|look| Look { evaluations: look.budget, error: look.error }).collect(),
            says: self.says,
        }
    }
}

/// Results on their way.
struct Reading {
    seed: u64,
    wanted: Option<u64>,
    /// What the head says, until the first row tells how many outputs there are.
    heading: Option<Heading>,
    gathering: Option<Gathering>,
    /// How many the head names, and whether results are of pairs of them.
    players: usize,
    are_pairs: bool,
    /// Outputs of every row, once it is known.
    outputs: Option<usize>,
    /// The code of each word of each feature, in the order in which they come.
    words: Vec<HashMap<String, usize>>,
}

impl Reading {
    fn new(seed: u64, wanted: Option<u64>) -> Self {
        Self {
            seed,
            wanted,
            heading: None,
            gathering: None,
            players: 0,
            are_pairs: false,
            outputs: None,
            words: Vec::new(),
        }
    }

    /// The head is known.
    fn begin(&mut self, head: Map<String, Value>) -> Result<()> {
        let heading = heading(head)?;
        self.words = vec![HashMap::new(); heading.features.len()];
        self.players = heading.players.len();
        self.are_pairs = heading.interactions.is_some();
        self.heading = Some(heading);
        Ok(())
    }

    /// The first row has so many outputs.
    fn begin_rows(&mut self, outputs: usize) -> Result<()> {
        let Some(mut heading) = self.heading.take() else { return Ok(()) };
        if heading.outputs.len() == 1 && outputs > 1 {
            heading.outputs = vec![String::new(); outputs];
        }
        let most = heading.usual_rows();
        let gathering = Gathering::new(heading)?.seed(self.seed).most_rows(most);
        self.gathering = Some(match self.wanted {
            Some(row) => gathering.keeping(row),
            None => gathering,
        });
        Ok(())
    }

    fn add(&mut self, block: Batch) -> Result<()> {
        match &mut self.gathering {
            Some(gathering) if !block.rows.is_empty() => Ok(gathering.add(block)?),
            _ => Ok(()),
        }
    }

    /// Refuses a row whose numbers are not those of its players and outputs: too many in one row could pass for too few in another, and the
    /// head alone can announce more of them than there is memory for.
    fn check(&mut self, row: &Row, values: &Numbers) -> Result<()> {
        let of_head =
            self.heading.as_ref().map(|heading| heading.outputs.len()).filter(|&outputs| outputs > 1);
        let outputs = *self.outputs.get_or_insert(of_head.unwrap_or(row.base.0.len().max(1)));
        let players = self.players;
        let lines = if self.are_pairs { players } else { 1 };
        let of_values = players.saturating_mul(lines).saturating_mul(outputs);
        let errors = row.std_errors.as_ref().map_or(of_values, |Numbers(errors)| errors.len());
        for (what, given, wanted) in [
            ("base", row.base.0.len(), outputs),
            ("prediction", row.prediction.0.len(), outputs),
            ("values", values.0.len(), of_values),
            ("std_errors", errors, of_values),
        ] {
            if given != wanted {
                let row = row.row;
                bail!(
                    "row {row}: {what:?} has {given} numbers, and {wanted} belong to {players} features and {outputs} outputs"
                );
            }
        }
        Ok(())
    }

    /// Adds a row to a block, and that to the others where it is full.
    fn take(&mut self, mut row: Row, block: &mut Batch) -> Result<()> {
        let Some(values) = row.values.take() else {
            bail!("row {}: a part of its values alone is told (--top); write them all", row.row)
        };
        self.check(&row, &values)?;
        self.begin_rows(row.base.0.len())?;
        let is_first = block.rows.is_empty();
        // What some rows have and others have not is told by its number of entries below.
        block.rows.push(row.row);
        match (row.id, &mut block.ids) {
            (Some(id), Some(ids)) => ids.push(id),
            (Some(id), ids) if is_first => *ids = Some(vec![id]),
            (None, None) => {}
            _ => bail!("row {}: some rows have an id, and others have none", row.row),
        }
        block.base.extend(row.base.0);
        block.predictions.extend(row.prediction.0);
        // Rows without errors are exact, also where others of the block have some.
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
                let (given, wanted) = (inputs.len(), self.words.len());
                bail!("row {}: {given} inputs for {wanted} features", row.row);
            }
            let codes = inputs.into_iter().enumerate().map(|(feature, input)| self.code(feature, input));
            block.inputs.extend(codes.collect::<Vec<f64>>());
        }
        block.evaluations.push(row.evaluations.unwrap_or(0));
        block.degrees_of_freedom.push(row.degrees_of_freedom.unwrap_or(f64::INFINITY));
        block.certificates.push(row.certificate.map(Certificate::certified));
        if block.rows.len() == BLOCK {
            self.add(std::mem::take(block))?;
        }
        Ok(())
    }

    /// An input as a number: a word by its code.
    fn code(&mut self, feature: usize, input: Input) -> f64 {
        let words = &mut self.words[feature];
        let next = words.len();
        match input {
            Input::Missing => f64::NAN,
            Input::Word(word) => *words.entry(word).or_insert(next) as f64,
            // A number among words is a category that the model has no name for.
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

    fn end(self) -> Result<Explained> {
        let says = match self.heading {
            Some(_) => "there are no rows in the results; explain one or more",
            None => "there is no list of explanations; write results of apportion explain",
        };
        let mut gathering = self.gathering.context(says)?;
        for (feature, codes) in self.words.into_iter().enumerate() {
            let mut words: Vec<(String, usize)> = codes.into_iter().collect();
            words.sort_by_key(|&(_, code)| code);
            gathering.name_words(feature, words.into_iter().map(|(word, _)| word).collect());
        }
        Ok(gathering.end())
    }
}

/// One object: the head, then the rows. Gives the head back where there are no rows in it.
struct Document<'r>(&'r mut Reading);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = Option<Map<String, Value>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
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
                        "\"features\" do not come before \"explanations\"; results are read row by row, so leave them in the order in which explain \
                         wrote them",
                    ));
                }
                "explanations" => {
                    let head = std::mem::take(&mut head);
                    self.0.begin(head).map_err(|error| A::Error::custom(format!("{error:#}")))?;
                    map.next_value_seed(Rows(self.0))?;
                    is_whole = true;
                }
                "predictions" => {
                    return Err(A::Error::custom(
                        "these are results of predict, which divides nothing; write results of explain",
                    ));
                }
                "summary" => {
                    return Err(A::Error::custom(
                        "these are results of explain --summary, without the values of rows; leave --summary out",
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

/// The list of rows.
struct Rows<'r>(&'r mut Reading);

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        use serde::de::Error;

        let failed = |error: anyhow::Error| A::Error::custom(format!("{error:#}"));
        let mut block = Batch::default();
        while let Some(row) = list.next_element::<Row>()? {
            self.0.take(row, &mut block).map_err(failed)?;
        }
        self.0.add(block).map_err(failed)
    }
}

/// What the head says.
fn heading(mut head: Map<String, Value>) -> Result<Heading> {
    let text = |name: &str| match head.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (value, game, method) = (text("value"), text("game"), text("method"));
    let interactions = match text("interactions").as_deref() {
        None => None,
        Some("index") => Some(Form::Index),
        Some("remainder") => Some(Form::Remainder),
        Some(other) => bail!("{other:?} is no form of interactions; known are index and remainder"),
    };
    let mut list = |name: &str| -> Result<Option<Vec<String>>> {
        let names = head.remove(name).map(serde_json::from_value::<Vec<String>>);
        names.transpose().with_context(|| format!("{name:?} is no list of names"))
    };
    let players = list("features")?.context("there is no list of features; write results of explain")?;
    let classes = list("classes")?;
    let inputs = list("input_names")?;
    let medium = medium(&mut head);
    let groups = head.remove("groups").map(serde_json::from_value::<Vec<Member>>);
    let groups = groups.transpose().context("\"groups\" are no groups of features")?.unwrap_or_default();
    let value = value.unwrap_or_else(|| "shapley".to_owned());
    let facts = head
        .into_iter()
        .filter(|(name, value)| !KNOWN.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| match value {
            Value::String(text) => (name, text),
            value => (name, value.to_string()),
        })
        .collect();
    let features = inputs.unwrap_or_else(|| players.clone());
    let members = members(&players, &features, &groups);
    Ok(Heading {
        is_efficient: value.parse::<SolutionConcept>().is_ok_and(|value| value.is_efficient()),
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

/// The features of each player: the one of its name, or those of the group at its place.
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
