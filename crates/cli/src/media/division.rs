//! What the network says, divided among players: the game, the values, and what is said of them.

use std::time::Instant;

use anyhow::{Context, Result};
use apportion::games::{Coalition, Game, Graph};
use apportion::media::{Masked, Outputs, Score, ScoredGame};
use apportion::{Budget, ExplainError, Explanation, GameExplainer, Rows};
use apportion_onnx::Network;
use serde_json::{Value, json};

use super::args::{Division, OutputsName, ScoreName};
use crate::accuracy;
use crate::explain::{Timings, warn_of_inaccurate, warn_of_undetermined};
use crate::failure::Usage;
use crate::output::{Attribution, Attributions};
use crate::threads;

impl Division {
    /// Refuses options that contradict each other, before anything is read.
    pub(super) fn check(&self) -> Result<()> {
        let (method, value) = (self.method, &self.value);
        if value.needs_partition() {
            return Err(Usage(format!(
                "--value {value} is of players in groups, which texts and images do not have; take shapley, l-shapley=K, c-shapley=K or myerson"
            ))
            .into());
        }
        if !method.computes(value) || method == apportion::Method::Tree {
            let error = ExplainError::Unsupported { method, value: value.clone() };
            return Err(Usage(format!("--method {method}, --value {value}: {error}")).into());
        }
        accuracy::until(&self.accuracy).map(drop)
    }
}

/// The values of all players.
pub(super) struct Divided {
    explanation: Explanation,
    /// The class that was asked for, or that the network predicts.
    class: usize,
    predicted: usize,
    /// The output of the game that pictures show.
    output: usize,
    /// Whether that output is for the other class: the only one of a network of two classes is for class 1.
    speaks_against: bool,
    started: Instant,
    loaded: Instant,
    explained: Instant,
}

/// Divides what `network` says of `masked` among its players, whose neighbours are those of `graph`.
pub(super) fn divide(
    args: &Division,
    network: &Network,
    masked: &Masked,
    graph: Graph,
    started: Instant,
) -> Result<Divided> {
    let row = Rows::new(masked.explicand(), masked.explicand().len());
    let outputs = network.predictions(row)?;
    let kind = match args.outputs {
        OutputsName::Logits => Outputs::Logits,
        OutputsName::Probabilities => Outputs::Probabilities,
    };
    let predicted = kind.predicted_class(&outputs).context("--outputs")?;
    let class = args.class.unwrap_or(predicted);
    let classes = kind.classes(outputs.len());
    if class >= classes {
        return Err(Usage(format!("--class {class}: the model has the classes 0 to {}", classes - 1)).into());
    }
    let game = masked.game(network)?;
    let score = match args.score {
        ScoreName::Output => None,
        ScoreName::LogProbability => Some(Score::LogProbability { class }),
        ScoreName::LogOdds => Some(Score::LogOdds { class }),
        ScoreName::ExpectedLogProbability => Some(Score::expected(kind, &outputs)?),
    };
    let game: Box<dyn Game + '_> = match score {
        Some(score) => Box::new(ScoredGame::new(game, kind, score)?),
        None => Box::new(game),
    };
    let mut explainer = GameExplainer::new()
        .value(args.value.clone())
        .method(args.method)
        .budget(args.budget.unwrap_or_default())
        .seed(args.seed);
    if let Some(until) = accuracy::until(&args.accuracy)? {
        explainer = explainer.until(until);
    }
    note_what_it_reduces_to(args, &graph);
    if args.value.needs_graph() {
        explainer = explainer.graph(graph);
    }
    let loaded = Instant::now();
    let explanation = threads::run(&args.threads, || explainer.explain(&*game))??;
    let output = if game.outputs() > 1 { class } else { 0 };
    let speaks_against = args.score == ScoreName::Output && outputs.len() == 1 && class == 0;
    let explained = Instant::now();
    Ok(Divided { explanation, class, predicted, output, speaks_against, started, loaded, explained })
}

/// Says on standard error what a value on this graph comes to, where that has a plainer name.
fn note_what_it_reduces_to(args: &Division, graph: &Graph) {
    let apportion::SolutionConcept::OnGraph(value) = &args.value else { return };
    let Some(order) = value.order() else { return };
    if order == 0 {
        eprintln!(
            "note: order 0 looks at each player alone: {} is v({{i}}) − v(∅), or a share of it",
            args.value
        );
    } else if order >= graph.diameter().max(1) {
        let all = Coalition::full(graph.nodes());
        let whole = if graph.is_connected(all.view()) { "all players" } else { "its part of the graph" };
        eprintln!(
            "note: every player reaches {whole} within distance {}: order {order} and beyond are the same",
            graph.diameter()
        );
    }
}

impl Divided {
    /// The values that pictures show: what speaks for the class.
    pub(super) fn shown(&self) -> Vec<f64> {
        let values = self.explanation.output(self.output);
        if self.speaks_against { values.into_iter().map(|value| -value).collect() } else { values }
    }

    /// What the colours mean.
    pub(super) fn legend(&self, args: &Division) -> String {
        let what = match args.score {
            ScoreName::ExpectedLogProbability => "what the model says of all classes".to_owned(),
            _ if self.class == self.predicted => format!("class {}, which the model predicts", self.class),
            _ => format!("class {}, the model predicts {}", self.class, self.predicted),
        };
        let (base, prediction) =
            (self.explanation.base[self.output], self.explanation.prediction[self.output]);
        format!(
            "blue speaks for, red against: {what}; {} {} of {}: {base:.4} with no word, {prediction:.4} with all, {} evaluations",
            args.value,
            if self.explanation.diagnostics.exact { "values" } else { "estimates" },
            args.score.name(),
            self.explanation.evaluations
        )
    }

    /// The explanation with what a reader of it must know.
    pub(super) fn attributions(
        self,
        args: &Division,
        game: &'static str,
        names: Vec<String>,
        inputs: Vec<f64>,
        about: Vec<(&'static str, Value)>,
    ) -> Result<Attributions> {
        let players = names.len();
        let budget = match (args.budget, self.explanation.diagnostics.exact) {
            (Some(budget), _) => Some(budget.evaluations(players)),
            (None, true) => None,
            (None, false) => Some(Budget::Auto.evaluations(players)),
        };
        let mut facts = vec![
            ("score", json!(args.score.name())),
            ("class", json!(self.class)),
            ("predicted", json!(self.predicted)),
        ];
        facts.extend(about);
        Ok(Attributions {
            value: args.value.to_string(),
            game,
            method: self.explanation.method.clone(),
            budget,
            accuracy: accuracy::until(&args.accuracy)?.as_ref().map(accuracy::words),
            seed: args.seed,
            features: names,
            players: (0..players).map(|player| vec![player]).collect(),
            groups: None,
            about: facts,
            outputs: self.explanation.outputs(),
            rows: vec![Attribution { row: 0, explicand: inputs, explanation: self.explanation }],
        })
    }

    /// Writes by `write`, and the times that were asked for.
    pub(super) fn finish(self, args: &Division, write: impl FnOnce(Self) -> Result<()>) -> Result<()> {
        let (started, loaded, explained) = (self.started, self.loaded, self.explained);
        warn_of_undetermined(std::slice::from_ref(&self.explanation));
        warn_of_inaccurate(std::slice::from_ref(&self.explanation));
        write(self)?;
        if args.timings {
            Timings::of(started, loaded, explained).print()?;
        }
        Ok(())
    }
}
