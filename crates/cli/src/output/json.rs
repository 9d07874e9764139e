//! JSON: one object on one line. Numbers have the fewest digits that read back to the same bits. With one output `base`,
//! `prediction` and each entry of `values` is a number; with k outputs it is an array of k. Of quotient values `features` lists the
//! groups, each as it would be typed; `groups` is there where there are groups.

use std::io::Write;

use anyhow::Result;
use apportion::estimators::{Guarantee, Look, StopRule};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::results::{Attribution, Attributions, Facts, Interactions, Predictions};

pub(super) fn attributions(results: &Attributions, out: &mut dyn Write) -> Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        value: &'a str,
        game: &'a str,
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        same_as: Option<&'a str>,
        budget: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")]
        accuracy: Option<&'a str>,
        seed: u64,
        #[serde(flatten)]
        about: Named<'a>,
        features: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        groups: Option<Vec<Vec<&'a str>>>,
        explanations: Rows<'a, Attribution>,
    }
    line(
        &Document {
            value: &results.value,
            game: results.game,
            method: &results.method,
            same_as: results.rows.first().and_then(|row| row.explanation.diagnostics.same_as.as_deref()),
            budget: results.budget,
            accuracy: results.accuracy.as_deref(),
            seed: results.seed,
            about: Named(&results.about),
            features: results.player_names(),
            groups: results
                .groups
                .as_ref()
                .map(|groups| groups.iter().map(|features| results.names(features)).collect()),
            explanations: Rows(&results.rows),
        },
        out,
    )
}

pub(super) fn interactions(results: &Interactions, out: &mut dyn Write) -> Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        value: &'a str,
        game: &'a str,
        interactions: &'a str,
        #[serde(flatten)]
        about: Named<'a>,
        features: &'a [String],
        explanations: Matrices<'a>,
    }
    line(
        &Document {
            value: &results.value,
            game: results.game,
            interactions: results.form,
            about: Named(&results.about),
            features: &results.players,
            explanations: Matrices(results),
        },
        out,
    )
}

/// The matrices, without a copy of them.
struct Matrices<'a>(&'a Interactions);

impl Serialize for Matrices<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            row: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a str>,
            base: Outputs<'a>,
            prediction: Outputs<'a>,
            values: Matrix<'a>,
        }
        let Self(results) = self;
        let (outputs, line) = (results.outputs, results.players.len() * results.outputs);
        serializer.collect_seq(results.matrices().map(|(row, id, prediction, numbers)| Row {
            row,
            id,
            base: Outputs(&results.base),
            prediction: Outputs(prediction),
            values: Matrix { line, outputs, numbers },
        }))
    }
}

/// Players × players × outputs.
struct Matrix<'a> {
    /// Numbers of a line: players × outputs.
    line: usize,
    outputs: usize,
    numbers: &'a [f64],
}

impl Serialize for Matrix<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outputs = self.outputs;
        serializer
            .collect_seq(self.numbers.chunks_exact(self.line).map(|numbers| Players { outputs, numbers }))
    }
}

pub(super) fn predictions(results: &Predictions, out: &mut dyn Write) -> Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        outputs: usize,
        predictions: Vec<Prediction<'a>>,
    }
    #[derive(Serialize)]
    struct Prediction<'a> {
        row: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        prediction: Outputs<'a>,
    }
    let predictions = results
        .each()
        .map(|(row, id, margins)| Prediction { row, id, prediction: Outputs(margins) })
        .collect();
    line(&Document { outputs: results.outputs, predictions }, out)
}

pub(super) fn facts(facts: &Facts, out: &mut dyn Write) -> Result<()> {
    line(&Named(&facts.0), out)
}

fn line(document: &impl Serialize, mut out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer(&mut out, document).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

/// Values by name, in order.
struct Named<'a>(&'a [(&'static str, Value)]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The explanations, without a copy of them.
struct Rows<'a, T>(&'a [T]);

impl Serialize for Rows<'_, Attribution> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            row: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a str>,
            base: Outputs<'a>,
            prediction: Outputs<'a>,
            values: Players<'a>,
            std_errors: Option<Players<'a>>,
            evaluations: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            draws: Option<usize>,
            #[serde(skip_serializing_if = "Option::is_none")]
            certificate: Option<Certified<'a>>,
        }
        let mut rows = serializer.serialize_seq(Some(self.0.len()))?;
        for Attribution { row, id, explanation, .. } in self.0 {
            let outputs = explanation.outputs();
            rows.serialize_element(&Row {
                row: *row,
                id: id.as_deref(),
                base: Outputs(&explanation.base),
                prediction: Outputs(&explanation.prediction),
                values: Players { outputs, numbers: &explanation.values },
                std_errors: explanation.std_errors.as_deref().map(|numbers| Players { outputs, numbers }),
                evaluations: explanation.evaluations,
                draws: explanation.diagnostics.draws,
                certificate: explanation.certificate.as_ref().map(|certificate| Certified {
                    stopped_by: certificate.stopped_by,
                    guarantee: certificate.guarantee,
                    confidence: certificate.confidence,
                    error_bound: certificate.error_bounds.as_deref().map(Outputs),
                    tolerance: Outputs(&certificate.tolerances),
                    half_widths: certificate
                        .half_widths
                        .as_deref()
                        .map(|numbers| Players { outputs, numbers }),
                    looks: &certificate.looks,
                    says: &certificate.says,
                }),
            })?;
        }
        rows.end()
    }
}

/// A certificate: the interval of a value is the value ± its half width.
#[derive(Serialize)]
struct Certified<'a> {
    stopped_by: StopRule,
    guarantee: Guarantee,
    confidence: f64,
    error_bound: Option<Outputs<'a>>,
    tolerance: Outputs<'a>,
    half_widths: Option<Players<'a>>,
    looks: &'a [Look],
    says: &'a str,
}

/// A number per output: itself where there is one.
struct Outputs<'a>(&'a [f64]);

impl Serialize for Outputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [number] => number.serialize(serializer),
            numbers => numbers.serialize(serializer),
        }
    }
}

/// Players × outputs.
struct Players<'a> {
    outputs: usize,
    numbers: &'a [f64],
}

impl Serialize for Players<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.numbers.chunks_exact(self.outputs).map(Outputs))
    }
}
