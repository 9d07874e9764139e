//! The data for the script: the rows of the report, in a compact encoding.

use serde_json::{Map, Value, json};

use super::html::named;
use super::pack::{self, Precision};
use crate::explained::{Explained, shown};
use crate::figures::{output_in_words, value_in_words};
use crate::scene::shortened;

/// Maximum number of players with individual values in the report. If a single player remains, it is shown
/// too.
const MAX_PLAYERS: usize = 40;
/// Maximum number of features with inputs in the report.
const MAX_FEATURES: usize = 60;
/// Maximum number of bytes of the stored numbers, which are 1.7 MB of text in base64.
const MAX_BYTES: usize = 1_700_000 / 4 * 3;
/// If the numbers have at most this many bytes in total, values have four bytes each.
const FEW_BYTES: usize = 200_000;
/// Maximum number of distinct inputs of a feature that are encoded as one byte each.
const MAX_CODES: usize = 256;

/// The rows, players and features in the report.
#[derive(Debug)]
pub(super) struct Data {
    /// The positions of the rows among the kept rows.
    pub(super) rows: Vec<usize>,
    /// The players with individual values in the report, by descending importance.
    pub(super) players: Vec<usize>,
    features: Vec<(usize, Form)>,
    /// The precision of the values.
    precision: Precision,
    /// Approximate number of bytes of the rows' numbers.
    pub(super) bytes: usize,
}

/// The encoding of the inputs of a feature.
#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// One byte per row, which is an index into this list of distinct inputs.
    Codes(Vec<f64>),
    /// Numbers divided by a power of two, with this precision and exponent.
    Numbers(Precision, i32),
}

impl Data {
    /// Selects as many rows as fit, including the `wanted` ones.
    pub(super) fn new(explained: &Explained, outputs: &[usize], wanted: &[usize]) -> Self {
        let players = by_importance(explained, outputs);
        let features = features(explained, &players);
        let all: Vec<usize> = (0..explained.rows()).collect();
        let numbers = players.len() + usize::from(players.len() < explained.players());
        let of_errors = if explained.are_estimates() { Precision::Two.bytes() } else { 0 };
        let of_output = |precision: Precision| numbers * (precision.bytes() + of_errors) + 8;
        let of_inputs: usize = features.iter().map(|(_, form)| form.bytes()).sum();
        let of_names = explained.kept.ids.as_ref().map_or(4, |ids| {
            let letters: usize = ids.iter().map(|id| id.len().min(100)).sum();
            // Text is not base64-encoded, so it counts less.
            4 + letters * 3 / 4 / ids.len().max(1) + 3
        });
        let of_row = |precision| outputs.len() * of_output(precision) + of_inputs + of_names;
        // If the numbers of all rows take little space, store values with higher precision.
        let precision = match explained.rows() * of_row(Precision::Four) <= FEW_BYTES {
            true => Precision::Four,
            false => Precision::Three,
        };
        let most = MAX_BYTES / of_row(precision).max(1);
        let rows = explained.choose_rows(&all, most, wanted, (outputs, &players));
        let bytes = rows.len() * of_row(precision);
        Self { rows, players, features, precision, bytes }
    }

    /// Returns the position of a row among the rows of the report.
    pub(super) fn place_of(&self, row: usize) -> Option<usize> {
        self.rows.binary_search(&row).ok()
    }

    /// Returns the features whose inputs are in the report.
    pub(super) fn features(&self) -> Vec<usize> {
        self.features.iter().map(|(feature, _)| *feature).collect()
    }

    /// Returns JSON that is safe to embed in HTML: `<`, `>` and `&` are escaped. `drawn` contains the
    /// positions of the rows with dots.
    pub(super) fn json(&self, explained: &Explained, outputs: &[usize], drawn: &[usize]) -> String {
        let mut data = Map::new();
        data.insert("rows".to_owned(), self.rows.len().into());
        data.insert("all".to_owned(), explained.summary.rows.into());
        data.insert("efficient".to_owned(), explained.heading.is_efficient.into());
        let numbers = self.rows.iter().map(|&row| explained.kept.rows[row]);
        let numbers = match numbers.clone().map(u32::try_from).collect::<Result<Vec<u32>, _>>() {
            Ok(numbers) => pack::whole(numbers.into_iter()).into(),
            Err(_) => numbers.map(|number| number.to_string()).collect::<Vec<_>>().into(),
        };
        data.insert("numbers".to_owned(), numbers);
        if let Some(ids) = &explained.kept.ids {
            let ids: Vec<String> = self.rows.iter().map(|&row| short(&ids[row])).collect();
            data.insert("ids".to_owned(), ids.into());
        }
        if drawn.len() < self.rows.len() {
            let places = drawn.iter().filter_map(|&row| self.place_of(row)).map(|place| place as u32);
            data.insert("drawn".to_owned(), pack::whole(places).into());
        }
        let players = self.players.iter().map(|&player| {
            let heading = &explained.heading;
            let members: Vec<usize> = heading.members[player]
                .iter()
                .filter_map(|feature| self.features.iter().position(|(known, _)| known == feature))
                .collect();
            json!({
                "place": player,
                "name": named(&heading.players[player]),
                "features": members,
                "is_whole": members.len() == heading.members[player].len(),
            })
        });
        data.insert("players".to_owned(), players.collect());
        data.insert("rest".to_owned(), (explained.players() - self.players.len()).into());
        let features = self.features.iter().map(|(feature, form)| self.feature(explained, *feature, form));
        data.insert("features".to_owned(), features.collect());
        data.insert(
            "outputs".to_owned(),
            outputs.iter().map(|&output| self.output(explained, output)).collect(),
        );
        // Escape characters that could end the script element or start a comment in it.
        let text = Value::Object(data).to_string();
        text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }

    fn feature(&self, explained: &Explained, feature: usize, form: &Form) -> Value {
        let heading = &explained.heading;
        let mut value = json!({ "name": named(&heading.features[feature]) });
        if heading.is_of_words(feature) {
            value["words"] = heading.categories[feature].iter().map(|word| short(word)).collect();
        }
        let inputs = self.rows.iter().map(|&row| explained.input(row, feature));
        match form {
            Form::Codes(numbers) => {
                let code =
                    |input: f64| numbers.iter().position(|number| is_same(*number, input)).unwrap_or(0) as u8;
                value["dictionary"] = numbers.iter().map(|&number| Value::from(number)).collect();
                value["codes"] = pack::bytes(&inputs.map(code).collect::<Vec<u8>>()).into();
            }
            Form::Numbers(precision, exponent) => {
                value["bytes"] = precision.bytes().into();
                value["exponent"] = (*exponent).into();
                value["numbers"] = pack::numbers(inputs, *precision, *exponent).into();
            }
        }
        value
    }

    fn output(&self, explained: &Explained, output: usize) -> Value {
        let rows = || self.rows.iter().copied();
        let mut is_told = vec![false; explained.players()];
        self.players.iter().for_each(|&player| is_told[player] = true);
        let rest: Vec<usize> = (0..explained.players()).filter(|&player| !is_told[player]).collect();
        // Values are stored column by column. The last column is the sum over all other players.
        let columns = |number: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            let told = self.players.iter().flat_map(|&player| rows().map(move |row| number(row, player)));
            let rest_of = |row: usize| rest.iter().map(|&player| number(row, player)).sum::<f64>();
            match rest.is_empty() {
                true => told.collect(),
                false => told.chain(rows().map(rest_of)).collect(),
            }
        };
        let values = columns(&|row, player| explained.value(row, player, output));
        let predictions = rows().map(|row| explained.prediction(row, output));
        let bases = rows().map(|row| explained.base(row, output));
        let exponent = pack::exponent(values.iter().copied().chain(predictions.clone()).chain(bases.clone()));
        let means = self
            .players
            .iter()
            .map(|&player| explained.summary.value(player, output, explained.outputs()).mean_size);
        let mut value = json!({
            "name": named(&explained.output_name(output)),
            "says": named(&value_in_words(explained, output)),
            "axis": named(&output_in_words(explained, output)),
            "exponent": exponent,
            "bytes": self.precision.bytes(),
            "values": pack::numbers(values.into_iter(), self.precision, exponent),
            "predictions": pack::numbers(predictions, Precision::Four, exponent),
            "bases": match bases.clone().next() {
                Some(base) if bases.clone().all(|other| other == base) => Value::from(base),
                _ => pack::numbers(bases, Precision::Four, exponent).into(),
            },
            "means": means.collect::<Vec<f64>>(),
        });
        if explained.are_estimates() {
            let halves = columns(&|row, player| explained.half_width(row, player, output));
            value["halves"] = pack::numbers(halves.into_iter(), Precision::Two, exponent).into();
        }
        value
    }
}

impl Form {
    fn bytes(&self) -> usize {
        match self {
            Self::Codes(_) => 1,
            Self::Numbers(precision, _) => precision.bytes(),
        }
    }

    fn new(explained: &Explained, feature: usize) -> Self {
        let inputs = || (0..explained.rows()).map(|row| explained.input(row, feature));
        let mut known: Vec<f64> = Vec::new();
        for input in inputs() {
            if let Err(at) = known.binary_search_by(|number| order(*number, input)) {
                known.insert(at, input);
            }
            if known.len() > MAX_CODES {
                break;
            }
        }
        if known.len() <= MAX_CODES {
            return Self::Codes(known);
        }
        let exponent = pack::exponent(inputs());
        let is_exact = |input: f64| input.is_nan() || Precision::Three.round(input) == input;
        match exponent == 0 && inputs().all(is_exact) {
            true => Self::Numbers(Precision::Three, 0),
            false => Self::Numbers(Precision::Four, exponent),
        }
    }
}

/// Returns whether two numbers are the same. NaN values with different bits are the same, and so are −0 and
/// 0.
fn is_same(one: f64, other: f64) -> bool {
    order(one, other).is_eq()
}

fn order(one: f64, other: f64) -> std::cmp::Ordering {
    one.partial_cmp(&other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
}

/// Returns the name of a row or a category, shortened to fit into a line.
fn short(text: &str) -> String {
    shortened(&shown(text), 300.0, 13.0)
}

/// Returns the players by descending importance. The importance of a player is its mean |φ|, relative to the
/// largest mean |φ| of the same output; the maximum over the outputs counts.
fn by_importance(explained: &Explained, outputs: &[usize]) -> Vec<usize> {
    let size =
        |player: usize, output: usize| explained.summary.value(player, output, explained.outputs()).mean_size;
    let mut shares = vec![0.0_f64; explained.players()];
    for &output in outputs {
        let largest = (0..shares.len()).map(|player| size(player, output)).fold(0.0, f64::max);
        if largest > 0.0 {
            for (player, share) in shares.iter_mut().enumerate() {
                *share = share.max(size(player, output) / largest);
            }
        }
    }
    let mut players: Vec<usize> = (0..shares.len()).collect();
    players.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    // A single remaining player is shown instead of being summed.
    if players.len() > MAX_PLAYERS + 1 {
        players.truncate(MAX_PLAYERS);
    }
    players
}

fn features(explained: &Explained, players: &[usize]) -> Vec<(usize, Form)> {
    if !explained.has_inputs() {
        return Vec::new();
    }
    let mut features: Vec<usize> = Vec::new();
    for &feature in players.iter().flat_map(|&player| &explained.heading.members[player]) {
        if features.len() < MAX_FEATURES && !features.contains(&feature) {
            features.push(feature);
        }
    }
    features.into_iter().map(|feature| (feature, Form::new(explained, feature))).collect()
}
