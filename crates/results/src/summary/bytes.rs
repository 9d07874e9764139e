//! Summaries as bytes: JSON with all sums as hexadecimal integers.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use num_bigint::{BigInt, BigUint, Sign};
use serde::Deserialize;
use serde_json::Value;

use super::exact_sum::UNIT;
use super::histogram::Histogram;
use super::moments::{MAX_COUNT, Moments};
use super::sample::Sample;
use super::{Summary, SummaryHeading};
use crate::error::SummaryError;

/// The version of the format that is written. In format 1, each square was rounded to a double before the
/// squares were summed, and their sum is in the unit of the other sums.
const FORMAT: i64 = 2;

/// The moments and the histogram of a player for an output: count, Σφ, Σ|φ|, Σφ², minimum, maximum, and the
/// cells with their counts.
type Part = (u64, String, String, String, Option<String>, Option<String>, Vec<(i32, u64)>);

#[derive(Deserialize)]
struct FormatOnly {
    format: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: i64,
    // Use `deserialize_with`, so that a missing member is an error and not `None`.
    #[serde(deserialize_with = "Option::deserialize")]
    about: Option<SummaryHeading>,
    rows: u64,
    /// The moments and histograms, outputs × players.
    parts: Vec<Vec<Part>>,
    /// The digests and the rows of the sample, in Base64.
    sample: (String, String),
}

impl Summary {
    /// Returns the summary as JSON, which [`from_bytes`](Self::from_bytes) reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = String::from("{\"about\":");
        push_heading(self.heading.as_ref(), &mut out);
        let (players, outputs) =
            self.heading.as_ref().map_or((0, 0), |heading| (heading.players.len(), heading.output_count()));
        _ = write!(out, ",\"format\":{FORMAT},\"parts\":");
        push_list(&mut out, 0..outputs, |output, out| {
            push_list(out, 0..players, |player, out| {
                let place = player * outputs + output;
                push_part(&self.moments[place], &self.histograms[place], out);
            });
        });
        let digests = self.sample.digests().iter().flat_map(|digest| digest.to_le_bytes());
        let numbers = self.sample.rows().flatten().flat_map(|number| number.to_le_bytes());
        let [digests, numbers] = [digests.collect::<Vec<u8>>(), numbers.collect()];
        let (digests, numbers) = (STANDARD.encode(digests), STANDARD.encode(numbers));
        _ = write!(out, ",\"rows\":{},\"sample\":[\"{digests}\",\"{numbers}\"]}}", self.rows);
        out.into_bytes()
    }

    /// Reads a summary that [`to_bytes`](Self::to_bytes) returned in this or an earlier version.
    ///
    /// # Errors
    ///
    /// [`SummaryError::Format`] for the bytes of a later version, [`SummaryError::Invalid`] for any other
    /// bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SummaryError> {
        let corrupt = |error: serde_json::Error| SummaryError::Invalid { problem: error.to_string() };
        let FormatOnly { format } = serde_json::from_slice(bytes).map_err(corrupt)?;
        if !(1..=FORMAT).contains(&format) {
            return Err(SummaryError::Format { actual: format, max: FORMAT });
        }
        let document: Document = serde_json::from_slice(bytes).map_err(corrupt)?;
        document.summary().map_err(|problem| SummaryError::Invalid { problem })
    }
}

impl Document {
    /// Returns the summary, or a description of the problem.
    fn summary(self) -> Result<Summary, String> {
        let shape = self.about.as_ref().map_or((0, 0), |about| (about.output_count(), about.players.len()));
        if self.parts.len() != shape.0 || self.parts.iter().any(|parts| parts.len() != shape.1) {
            return Err(format!("expected parts of outputs: {}, of players: {}", shape.0, shape.1));
        }
        if self.rows > MAX_COUNT || self.about.is_none() && self.rows > 0 {
            return Err(format!("impossible number of rows: {}", self.rows));
        }
        let mut read = Vec::with_capacity(shape.0 * shape.1);
        for player in 0..shape.1 {
            for (output, of_output) in self.parts.iter().enumerate() {
                let part = part(&of_output[player], self.rows, self.format);
                read.push(part.ok_or_else(|| format!("corrupt sums of player {player}, output {output}"))?);
            }
        }
        let (moments, histograms) = read.into_iter().unzip();
        let sample = sample(&self.sample, self.about.as_ref(), self.rows).ok_or("corrupt sample")?;
        Ok(Summary { heading: self.about, rows: self.rows, moments, histograms, sample })
    }
}

fn part(
    (count, sum, absolute, squares, min, max, cells): &Part,
    rows: u64,
    format: i64,
) -> Option<(Moments, Histogram)> {
    let sum = signed(sum)?;
    let absolute = unsigned(absolute)?;
    let squares = match squares.as_str() {
        "inf" => None,
        squares => Some(unsigned(squares)? << if format == 1 { UNIT as u64 } else { 0 }),
    };
    let extremes = match (min, max) {
        (Some(min), Some(max)) => Some((number(min)?, number(max)?)),
        (None, None) => None,
        _ => return None,
    };
    let moments = Moments::from_sums(*count, (&sum, &absolute, squares.as_ref()), extremes)?;
    let histogram = Histogram::from_cells(cells)?;
    let in_cells = cells.iter().try_fold(0_u64, |sum, cell| sum.checked_add(cell.1));
    // The minimum must be in the first cell, and the maximum in the last.
    let (low, high) = (histogram.bins().next(), histogram.bins().last());
    let has = |cell: Option<(f64, f64, u64)>, number: f64| {
        cell.is_some_and(|(low, high, _)| low <= number && number <= high)
    };
    let has_extremes = *count == 0 || has(low, moments.min()) && has(high, moments.max());
    (*count == rows && in_cells == Some(rows) && has_extremes).then_some((moments, histogram))
}

fn sample((digests, rows): &(String, String), about: Option<&SummaryHeading>, count: u64) -> Option<Sample> {
    let words = |text: &str| -> Option<Vec<u64>> {
        let bytes = STANDARD.decode(text).ok()?;
        let (words, rest) = bytes.as_chunks::<8>();
        rest.is_empty().then(|| words.iter().map(|&word| u64::from_le_bytes(word)).collect())
    };
    let (digests, rows) = (words(digests)?, words(rows)?);
    let rows: Vec<f64> = rows.into_iter().map(f64::from_bits).collect();
    let width = about.and_then(|about| {
        let columns = about.players.len().checked_add(2)?.checked_mul(about.output_count())?;
        columns.checked_add(about.inputs)
    });
    // A sample is empty only if the summary has no rows, and never contains more rows than the summary.
    let has_rows = digests.len() as u64 <= count && digests.is_empty() == (count == 0);
    Sample::from_rows(digests, rows, width.or(about.is_none().then_some(0))?).filter(|_| has_rows)
}

fn push_heading(heading: Option<&SummaryHeading>, out: &mut String) {
    let Some(heading) = heading else { return out.push_str("null") };
    let texts = |out: &mut String, texts: &[String]| push_list(out, texts, |text, out| push_text(text, out));
    // Write the members in alphabetical order.
    out.push_str("{\"features\":");
    texts(out, &heading.players);
    out.push_str(",\"game\":");
    push_text(&heading.game, out);
    _ = write!(out, ",\"inputs\":{},\"interactions\":{}", heading.inputs, heading.interactions);
    out.push_str(",\"method\":");
    push_text(&heading.method, out);
    out.push_str(",\"outputs\":");
    match &heading.outputs {
        Some(outputs) => texts(out, outputs),
        None => out.push_str("null"),
    }
    _ = write!(out, ",\"seed\":{},\"value\":", heading.seed);
    push_text(&heading.value, out);
    out.push('}');
}

fn push_part(moments: &Moments, histogram: &Histogram, out: &mut String) {
    let (sum, absolute, squares) = moments.sums();
    let sign = if sum.sign() == Sign::Minus { "-" } else { "" };
    _ = write!(out, "[{},\"{sign}{:#x}\",\"{absolute:#x}\",", moments.count(), sum.magnitude());
    _ = match squares {
        Some(squares) => write!(out, "\"{squares:#x}\","),
        None => write!(out, "\"inf\","),
    };
    for extreme in [moments.min(), moments.max()] {
        match moments.count() {
            0 => out.push_str("null,"),
            _ => push_number(extreme, out),
        }
    }
    push_list(out, histogram.cells(), |(cell, count), out| _ = write!(out, "[{cell},{count}]"));
    out.push(']');
}

/// Writes a list as JSON.
fn push_list<T>(out: &mut String, items: impl IntoIterator<Item = T>, push: impl Fn(T, &mut String)) {
    out.push('[');
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        push(item, out);
    }
    out.push(']');
}

/// Writes a text as JSON in ASCII, as Python does.
fn push_text(text: &str, out: &mut String) {
    for letter in Value::from(text).to_string().chars() {
        match letter {
            ' '..='~' => out.push(letter),
            letter => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
}

/// Writes a finite number as a JSON string in the format of Python's `float.hex`, followed by a comma.
fn push_number(number: f64, out: &mut String) {
    let bits = number.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let sign = if number.is_sign_negative() { "-" } else { "" };
    _ = match (exponent, fraction) {
        (0, 0) => write!(out, "\"{sign}0x0.0p+0\","),
        (0, fraction) => write!(out, "\"{sign}0x0.{fraction:013x}p-1022\","),
        (exponent, fraction) => write!(out, "\"{sign}0x1.{fraction:013x}p{:+}\",", exponent - 1023),
    };
}

/// Reads a number as [`push_number`] wrote it.
fn number(text: &str) -> Option<f64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text),
    };
    if digits == "0x0.0p+0" {
        return Some(sign * 0.0);
    }
    let (leading, rest) = digits.strip_prefix("0x")?.split_once('.')?;
    let (fraction, exponent) = rest.split_once('p')?;
    if fraction.len() != 13 || fraction.starts_with('+') {
        return None;
    }
    let fraction = u64::from_str_radix(fraction, 16).ok()?;
    let exponent: i64 = exponent.parse().ok()?;
    match (leading, exponent) {
        ("0", -1022) => Some(sign * f64::from_bits(fraction)),
        ("1", -1022..=1023) => Some(sign * f64::from_bits((((exponent + 1023) as u64) << 52) + fraction)),
        _ => None,
    }
}

/// Reads a hexadecimal integer that is not negative.
fn unsigned(text: &str) -> Option<BigUint> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    BigUint::parse_bytes(digits, 16)
}

/// Reads a hexadecimal integer.
fn signed(text: &str) -> Option<BigInt> {
    match text.strip_prefix('-') {
        Some(digits) => Some(-BigInt::from(unsigned(digits)?)),
        None => Some(unsigned(text)?.into()),
    }
}
