//! Table 2: the words of the paper's sentence, coloured by their scores.

use anyhow::{Context, Result};
use apportion::Game;
use apportion::games::Coalitions;
use apportion::media::{Outputs, Score, ScoredGame, Text};

use super::masking::ranked;
use super::method::{Method, exact};
use super::reading::Reading;
use super::scores::Scores;
use super::subject::{AvailableSubjects, Sample, Shown, Subject, texts};
use super::verdicts::{advantage, ahead_by};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Colour, Figure, Mark, Panel, Side};
use crate::reproduce::report::{Entry, Table, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::{Measurement, mean};
use crate::reproduce::store::derive_seed;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// Methods in the table, in addition to exact Shapley values.
const METHODS: [Method; 6] = [
    Method::CShapley,
    Method::LShapley,
    Method::EquationSixPresent,
    Method::LShapleyPresent,
    Method::KernelShap,
    Method::SampleShapley,
];

/// Number of runs over which the errors of sampling methods are averaged.
const DRAWS: u64 = 100;

/// Name of the row with exact values.
const EXACT: &str = "Shapley";

/// The sentence explained for one model.
struct Explained<'a> {
    subject: &'a Subject,
    class: &'static str,
    text: Text,
    words: Vec<String>,
    /// The effect of each word on its own, v({i}) − v(∅).
    alone: Vec<f64>,
    exact: Scores,
    methods: Vec<Row>,
}

/// Results of one method on the sentence.
struct Row {
    method: Method,
    /// Scores of the first run.
    scores: Scores,
    /// ‖φ̂ − φ‖ / ‖φ‖ in each run; a single number if nothing is sampled.
    errors: Vec<f64>,
    /// Rank correlations with the exact values, one per run.
    correlations: Vec<f64>,
}

/// Generates table 2.
pub(super) fn table2(session: &Session) -> Result<ArtefactOutput> {
    let found = texts(session)?;
    let mut all = Vec::new();
    for subject in found.subjects.iter().filter(|subject| subject.classes.contains(&"negative")) {
        all.push(
            explain(session, subject)
                .with_context(|| format!("cannot explain the sentence with {}", subject.name))?,
        );
    }
    let mut notes = notes(&found, &all);
    for explained in &all {
        let rows = explained.rows();
        for (name, scores) in &rows {
            let name = name.to_lowercase().replace(", ", "-").replace(' ', "-").replace('*', "");
            let file = format!("{}-{name}.html", explained.subject.name);
            session.leave(file, explained.text.to_html(&scores.values)?.into_bytes());
        }
    }
    notes.push("each row is also an HTML fragment, DATASET-METHOD.html, next to this report".to_owned());
    Ok(ArtefactOutput {
        data: data(&all),
        figure: Some(Figure {
            title: "Table 2: words by their scores".to_owned(),
            panels: all.iter().map(panel).collect(),
            columns: 1,
            legend: Vec::new(),
            note: "Blue: for the predicted class. Red: against it. In each row, the score with the largest \
                absolute value has the full colour."
                .to_owned(),
        }),
        tables: all.iter().map(scores_table).chain([errors_table(&all)]).collect(),
        claims: claims(&all),
        notes,
        datasets: Vec::new(),
    })
}

fn explain<'a>(session: &Session, subject: &'a Subject) -> Result<Explained<'a>> {
    let sample = subject.table_2().context("the subject is not a text dataset")??;
    let model = subject.model.as_ref();
    let exact = exact(model, &sample)?;
    let mut methods = Vec::new();
    for method in METHODS {
        let is_drawn = matches!(method, Method::KernelShap | Method::SampleShapley);
        let runs = if is_drawn { DRAWS } else { 1 };
        let mut all = Vec::new();
        for run in 0..runs {
            let seed = derive_seed(&("table 2", subject.name, method, run, session.seed))?;
            all.push(method.scores(model, &sample, seed)?);
        }
        methods.push(Row {
            method,
            errors: all.iter().map(|scores| relative_error(&scores.values, &exact.values)).collect(),
            correlations: all.iter().map(|scores| rank_correlation(&scores.values, &exact.values)).collect(),
            scores: all.swap_remove(0),
        });
    }
    let alone = alone(subject, &sample)?;
    let class = subject.classes[sample.class];
    let Shown::Text(text) = sample.shown else { anyhow::bail!("the sample is not a text") };
    let words = (0..text.players().len()).map(|player| text.words(player)).collect();
    Ok(Explained { subject, class, text, words, alone, exact, methods })
}

/// Returns v({i}) − v(∅) for each player i.
fn alone(subject: &Subject, sample: &Sample) -> Result<Vec<f64>> {
    let score = Score::LogProbability { class: sample.class };
    let game = ScoredGame::new(sample.masked.game(subject.model.as_ref())?, Outputs::Logits, score)?;
    let players = game.players();
    let mut batch = Coalitions::with_capacity(players, players + 1);
    batch.push_members([]);
    (0..players).for_each(|player| batch.push_members([player]));
    let mut values = vec![0.0; players + 1];
    game.values(&batch, &mut values)?;
    Ok(values[1..].iter().map(|value| value - values[0]).collect())
}

fn relative_error(values: &[f64], truth: &[f64]) -> f64 {
    let squares: f64 = values.iter().zip(truth).map(|(value, truth)| (value - truth).powi(2)).sum();
    (squares / truth.iter().map(|truth| truth * truth).sum::<f64>()).sqrt()
}

/// Returns Spearman's rank correlation, with mean ranks for ties.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let product =
        |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let order = ranked(values);
    let mut ranks = vec![0.0; values.len()];
    for alike in order.chunk_by(|&one, &other| values[one] == values[other]) {
        let first = order.iter().position(|player| *player == alike[0]).unwrap_or_default();
        let rank = first as f64 + (alike.len() as f64 - 1.0) / 2.0;
        alike.iter().for_each(|&player| ranks[player] = rank);
    }
    ranks
}

impl Explained<'_> {
    /// Returns the name and the scores of each row of the table.
    fn rows(&self) -> Vec<(&'static str, &Scores)> {
        let methods = self.methods.iter().map(|row| (row.method.title(), &row.scores));
        [(EXACT, &self.exact)].into_iter().chain(methods).collect()
    }

    /// Returns the index of the word "not" in the sentence.
    fn not(&self) -> Option<usize> {
        self.words.iter().position(|word| word == "not")
    }

    fn row(&self, method: Method) -> Option<&Row> {
        self.methods.iter().find(|row| row.method == method)
    }
}

fn claims(all: &[Explained<'_>]) -> Vec<Claim> {
    let comparisons = |reading: Reading, measure: fn(&Row) -> &[f64], sign: f64| -> Vec<Case> {
        let of_subject = |explained: &Explained<'_>| {
            let mut found = Vec::new();
            for own in [reading.l_shapley(), reading.c_shapley_on_texts()] {
                for rival in [Method::KernelShap, Method::SampleShapley] {
                    let (Some(own), Some(rival)) = (explained.row(own), explained.row(rival)) else {
                        continue;
                    };
                    let fixed = measure(own)[0];
                    let advantages: Vec<f64> =
                        measure(rival).iter().map(|other| sign * (other - fixed)).collect();
                    let of = format!(
                        "{}: {} than {}",
                        explained.subject.name,
                        own.method.title(),
                        rival.method.title()
                    );
                    found.push(advantage(&of, &advantages));
                }
            }
            found
        };
        all.iter().flat_map(of_subject).collect()
    };
    let weight = all.iter().map(|explained| {
        let sizes: Vec<f64> = explained.exact.values.iter().map(|value| value.abs()).collect();
        let (not, mean) = (explained.not().map_or(0.0, |at| sizes[at]), mean(&sizes));
        let [is, beside] = [not, mean].map(significant);
        let name = format!("{}: φ(not) is {is} in size, the mean {beside}", explained.subject.name);
        Case::new(name, Test::certain(not > mean))
    });
    let isolated = all.iter().map(|explained| {
        let largest = explained.alone.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let not = explained.not().map_or(0.0, |at| explained.alone[at]);
        let [is, most] = [not, largest].map(significant);
        let name = format!("{}: v(not) − v(∅) = {is}, the largest of a word {most}", explained.subject.name);
        Case::new(name, Test::certain(not.abs() <= 0.25 * largest))
    });
    let mut weight = By::Nothing.in_all(
        "the word \"not\" is attributed a significant weight",
        "section 2.2",
        "a model; it agrees if the exact |φ(not)| is above the mean |φ| of all words",
        weight,
    );
    let mut isolated = By::Nothing.in_all(
        "viewed in isolation, \"not\" has neither negative nor positive sentiment",
        "section 2.2",
        "a model; it agrees if the word alone changes the log-probability by at most a quarter of the \
         largest change by any word alone",
        isolated,
    );
    for (explained, at) in all.iter().filter_map(|explained| Some((explained, explained.not()?))) {
        let name = explained.subject.name;
        isolated = isolated.and(&format!("{name}: alone {}", significant(explained.alone[at])));
        weight = weight.and(&format!("{name}: φ(not) = {}", significant(explained.exact.values[at])));
    }
    let mut claims = vec![weight, isolated];
    for reading in Reading::ALL {
        let near = ahead_by(
            "L-Shapley and C-Shapley yield good approximations to the Shapley values: nearer than KernelSHAP \
             and SampleShapley",
            "sections 3 and 4; table 2",
            &format!(
                "a model, a method and another method; it agrees if the relative ℓ2 distance to the exact \
                 values is lower (for sampling methods, its mean over {DRAWS} runs)"
            ),
            comparisons(reading, |row| &row.errors, 1.0),
        );
        let ranked = ahead_by(
            "L-Shapley and C-Shapley rank words more as Shapley values do than KernelSHAP and SampleShapley",
            "sections 3 and 4; table 2",
            &format!(
                "a model, a method and another method; it agrees if Spearman's rank correlation with the \
                 exact values is higher (for sampling methods, its mean over {DRAWS} runs)"
            ),
            comparisons(reading, |row| &row.correlations, -1.0),
        );
        claims.extend([reading.mark(near), reading.mark(ranked)]);
    }
    claims
}

/// Returns the background colour of a word: white for a share of 0, blue for 1, red for −1.
fn background(share: f64) -> Colour {
    let faded = (255.0 * (1.0 - share.abs())).round() as u8;
    if share < 0.0 { [255, faded, faded] } else { [faded, faded, 255] }
}

/// Returns the text colour, which is white on dark backgrounds such as full blue.
fn foreground(share: f64) -> Colour {
    if share > 0.55 { [255; 3] } else { [0; 3] }
}

/// Width of the column of names, in pixels.
const NAMES: f64 = 150.0;
/// Height of a row, in pixels.
const ROW: f64 = 27.0;
/// Width of a character, in pixels.
const CHARACTER: f64 = 7.0;
/// Additional width of a word, in pixels.
const GAP: f64 = 10.0;

fn panel(explained: &Explained<'_>) -> Panel {
    let widths: Vec<f64> =
        explained.words.iter().map(|word| word.chars().count() as f64 * CHARACTER + GAP).collect();
    let rows = explained.rows();
    let (width, height) = (NAMES + widths.iter().sum::<f64>(), ROW * rows.len() as f64);
    let mut marks = Vec::new();
    for (index, (name, scores)) in rows.iter().enumerate() {
        let (top, middle) = (index as f64 * ROW, (index as f64 + 0.5) * ROW);
        marks.push(Mark::Words { text: (*name).to_owned(), at: (0.0, middle), side: Side::Right });
        let largest = scores.values.iter().fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let mut left = NAMES;
        for ((word, width), value) in explained.words.iter().zip(&widths).zip(&scores.values) {
            let share = value / largest;
            marks.push(Mark::Bar {
                colour: background(share),
                from: (left, top + 2.0),
                to: (left + width, top + ROW - 2.0),
            });
            let at = (left + width / 2.0, middle);
            marks.push(Mark::Label { text: word.clone(), at, size: 13.0, colour: foreground(share) });
            left += width;
        }
    }
    Panel {
        title: format!(
            "{} ({}), predicted: {}",
            explained.subject.title, explained.subject.model_title, explained.class
        ),
        x: Axis::blank(width, 0.0, width),
        y: Axis::blank(height, height, 0.0),
        marks,
    }
}

fn scores_table(explained: &Explained<'_>) -> Table {
    let columns =
        ["word", "alone"].into_iter().chain(explained.rows().iter().map(|row| row.0).collect::<Vec<_>>());
    let mut table = Table::new(
        format!("Scores of the words, {} (predicted: {})", explained.subject.name, explained.class),
        columns,
    );
    for (player, word) in explained.words.iter().enumerate() {
        let mut row = vec![Entry::from(word.as_str()), visible(explained.alone[player])];
        row.extend(explained.rows().iter().map(|(_, scores)| visible(scores.values[player])));
        table.push(row);
    }
    table
}

/// Returns a score for display. Scores within the accuracy of training are shown as zero, e.g. the score of a
/// full stop, which every sentence contains.
fn visible(score: f64) -> Entry {
    Entry::from(if score.abs() < 1e-6 { 0.0 } else { score })
}

fn errors_table(all: &[Explained<'_>]) -> Table {
    table!(format!("Distance to the exact values; for sampling methods, the mean over {DRAWS} runs"), [
        for explained in all;
        for row in &explained.methods;
        let (error, correlation) = (Measurement::mean(&row.errors), Measurement::mean(&row.correlations));
    ]
        "dataset" => explained.subject.name,
        "method" => row.method.title(),
        "evaluations" => row.scores.evaluations,
        "relative ℓ2 error" => error.value,
        "standard error" => error.known_error(),
        "rank correlation" => correlation.value,
        "standard error" => correlation.known_error(),
    )
}

fn data(all: &[Explained<'_>]) -> Table {
    table!("data", [
        for explained in all;
        for (name, scores) in explained.rows();
        for (place, (word, value)) in explained.words.iter().zip(&scores.values).enumerate();
    ]
        "dataset" => explained.subject.name,
        "method" => name,
        "evaluations" => scores.evaluations,
        "place" => place,
        "word" => word.as_str(),
        "score" => *value,
    )
}

fn notes(found: &AvailableSubjects, all: &[Explained<'_>]) -> Vec<String> {
    let mut notes = super::notes::notes(found);
    notes.push(
        "the paper shows colours without numbers, for the prediction of its word CNN on IMDB; the row \
         Shapley is computed from all 2^11 coalitions"
            .to_owned(),
    );
    for explained in all {
        if explained.class != "negative" {
            notes.push(format!(
                "{} classifies the sentence as {}, the paper's model as negative; the scores are those of \
                 the predicted class",
                explained.subject.name, explained.class
            ));
        }
        let unknown: Vec<&str> = (explained.text.tokens().iter().zip(&explained.words))
            .filter(|(token, _)| token.id == super::data::text_set::UNKNOWN)
            .map(|(_, word)| word.as_str())
            .collect();
        if !unknown.is_empty() {
            notes.push(format!("{} has no token for {}", explained.subject.name, unknown.join(", ")));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlations_are_spearmans() {
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[0.1, 0.5, 0.9]) - 1.0).abs() < 1e-15);
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[9.0, 5.0, 1.0]) + 1.0).abs() < 1e-15);
        // The ranks are 0.5, 0.5, 2 and 1, 0, 2, so the correlation is 1.5 / √(1.5 · 2).
        assert!((rank_correlation(&[5.0, 5.0, 1.0], &[2.0, 3.0, 1.0]) - 1.5 / 3f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn errors_are_relative_to_the_length_of_the_truth() {
        assert!((relative_error(&[3.0, 5.0], &[3.0, 4.0]) - 0.2).abs() < 1e-15);
    }

    #[test]
    fn colours_fade_to_white_and_can_be_read() {
        assert_eq!(
            [background(1.0), background(0.0), background(-1.0)],
            [[0, 0, 255], [255, 255, 255], [255, 0, 0]]
        );
        assert_eq!([foreground(0.9), foreground(-0.9)], [[255; 3], [0; 3]]);
    }
}
