//! Attribution of a network's prediction to players: the game, the values, and their description.

use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use apportion::estimators::{EstimatorError, GraphError, methods};
use apportion::games::{Game, Graph};
use apportion::media::{Masked, Outputs, Score, ScoredGame};
use apportion::options::Options;
use apportion::values::{Coefficients, GraphForm, GraphValue, Outside};
use apportion::{ExplainError, Explanation, Method, Rows, SolutionConcept, Until, Value};
use apportion_onnx::Network;
use apportion_results::{Batch, Heading, Values};
use serde_json::json;

use crate::failure::Usage;
use crate::messages;
use crate::option_error::usage;
use crate::parse::media::{Division, OutputsName, ScoreName};
use crate::run::about::facts;
use crate::run::explain::check_method;
use crate::run::{plan, threads};
use crate::write::timings::Timings;
use crate::write::warnings::Warnings;

impl Division {
    /// Returns the options of the explainer, or an error if options contradict each other, before anything is
    /// read.
    pub(super) fn check(&self) -> Result<Options> {
        let (method, value) = (self.method, &self.value);
        if value.needs_partition() {
            return Err(Usage(format!(
                "--value {value} requires players in groups, which texts and images do not support; use \
                 shapley, l-shapley=K, c-shapley=K or myerson"
            ))
            .into());
        }
        if method == Method::Tree {
            return Err(Usage(format!(
                "--method {method} requires a tree ensemble; for texts and images use auto, exact or a \
                 sampling method"
            ))
            .into());
        }
        let mut options = Options::default();
        (options.value, options.method, options.budget) = (value.clone(), method, self.budget);
        options.seed = self.seed;
        self.accuracy.set(&mut options)?;
        Ok(options)
    }

    /// Returns the value for players on this `graph` of neighbours.
    fn value(&self, graph: Graph) -> Result<Value> {
        let graph = self.value.needs_graph().then_some(graph);
        let value =
            Value::from_concept(self.value.clone(), None, graph).map_err(|error| Usage(error.to_string()))?;
        check_method(self.method, &value)?;
        Ok(value)
    }
}

/// The attributions of a network's prediction to the players, with the settings of the run.
pub(super) struct MediaAttributions {
    explanation: Explanation,
    method: Method,
    /// The maximum number of evaluations.
    budget: Option<usize>,
    /// The accuracy at which the run stops.
    until: Option<Until>,
    /// The number of outputs of the network.
    outputs: usize,
    /// The class that the options specify, or that the network predicts.
    class: usize,
    predicted: usize,
    /// The output of the game that pictures show.
    output: usize,
    /// Whether `output` belongs to a class other than `class`. The single output of a network for two classes
    /// belongs to class 1.
    speaks_against: bool,
    started: Instant,
    loaded: Instant,
    explained: Instant,
}

/// Attributes the prediction of `network` for `masked` to the players. `graph` connects neighbouring players.
pub(super) fn divide(
    args: &Division,
    options: &Options,
    network: &Network,
    masked: &Masked,
    graph: Graph,
    started: Instant,
) -> Result<MediaAttributions> {
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
        return Err(Usage(format!(
            "invalid value {class} for --class: the model has classes 0 to {}",
            classes - 1
        ))
        .into());
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
    let value = args.value(graph)?;
    let explainer = options.game_explainer(value.clone()).map_err(usage)?;
    let players = masked.players().len();
    let plan = explainer.plan(players)?;
    plan::check(&plan, args.budget, "player")?;
    let (method, budget) = (plan.method, plan.budget);
    let note = match &value {
        Value::OnGraph(value, graph) => what_it_reduces_to(value, graph),
        _ => None,
    };
    let loaded = Instant::now();
    let explanation = threads::run(&args.threads, || explainer.explain(&*game))?;
    let explanation = explanation.map_err(|error| refusal(args, &value, method, error))?;
    if let Some(note) = note {
        messages::note(note);
    }
    Ok(MediaAttributions {
        explanation,
        method,
        budget,
        until: options.accuracy.until().map_err(usage)?,
        outputs: outputs.len(),
        class,
        predicted,
        output: if game.outputs() > 1 { class } else { 0 },
        speaks_against: args.score == ScoreName::Output && outputs.len() == 1 && class == 0,
        started,
        loaded,
        explained: Instant::now(),
    })
}

/// Rewords an error in terms of the command-line options.
fn refusal(args: &Division, asked: &Value, method: Method, error: ExplainError) -> anyhow::Error {
    let value = &args.value;
    let ExplainError::Estimator(error) = error else { return error.into() };
    let says = match &error {
        EstimatorError::Budget { actual: given, min: least, players, .. } => {
            return anyhow!(
                "--budget {given} is too small: {method} needs at least {} for {value} values of {}",
                messages::counted(*least, "evaluation"),
                messages::counted(*players, "player")
            );
        }
        EstimatorError::Graph(GraphError::LocalCoalitions { player, nodes, coalitions, limit, .. }) => {
            format!(
                "at least {coalitions:.3e} coalitions, more than the limit of {limit}: the neighbourhood of \
                 player {player} alone has {nodes} players and 2^{nodes} coalitions"
            )
        }
        EstimatorError::Graph(GraphError::Neighbourhood { player, size, coalitions, limit, .. }) => format!(
            "more than the limit of {limit} coalitions: the neighbourhood of player {player} ({size} \
             players) alone has at least {coalitions}"
        ),
        EstimatorError::Graph(GraphError::ConnectedCoalitions { at_least, limit, .. }) => format!(
            "more than the limit of {limit} coalitions: the graph has at least {at_least} connected \
             coalitions"
        ),
        _ => return error.into(),
    };
    let is_estimate =
        |method: &Method| matches!(method, Method::By(_)) && *method != Method::By(&methods::ON_GRAPH);
    let estimates = Method::all().filter(|method| is_estimate(method) && method.computes(asked));
    let estimates: Vec<String> = estimates.map(|method| format!("--method {method}")).collect();
    let smaller = match value {
        SolutionConcept::OnGraph(GraphValue { form: GraphForm::Myerson, .. }) => "c-shapley=2",
        SolutionConcept::OnGraph(GraphValue { form: GraphForm::Local { .. }, .. }) => {
            "a smaller order, c-shapley=2"
        }
        _ => "a smaller order",
    };
    let or_estimate = if estimates.is_empty() {
        String::new()
    } else {
        format!(", or estimates with {}", estimates.join(" or "))
    };
    anyhow!(
        "--value {value} requires {says}; use {smaller}, or fewer players (for images --patch or \
         --superpixels, for texts --players words){or_estimate}"
    )
}

/// Describes the simpler value to which `value` reduces on this graph, if there is one.
fn what_it_reduces_to(value: &GraphValue, graph: &Graph) -> Option<String> {
    let (order, outside, coefficients) = match value.form {
        GraphForm::Local { order, outside } => (order, outside, None),
        GraphForm::Connected { order, coefficients, outside } => (order, outside, Some(coefficients)),
        _ => return None,
    };
    if order == 0 {
        let alone = match outside {
            Outside::Absent => "v({i}) − v(∅)",
            Outside::Present => "v(N) − v(N∖{i})",
        };
        let share = match coefficients {
            None | Some(Coefficients::Neighbourhood | Coefficients::Marginal) => String::new(),
            Some(Coefficients::Graph) => {
                ", times a factor that decreases with the number of neighbours of i".to_owned()
            }
            Some(Coefficients::Printed) => format!(" times {:.4}", value.semivalue.moment(0, 2)),
        };
        return Some(format!("order 0 treats each player separately: {value} equals {alone}{share}"));
    }
    let diameter = graph.diameter();
    if order < diameter.max(1) {
        return None;
    }
    // Lines, grids and the regions of an image are connected, so the diameter covers all players.
    let semivalue = value.semivalue.clone();
    let comes_to = match coefficients {
        None => format!("{value} values equal the {semivalue} values"),
        Some(Coefficients::Printed | Coefficients::Marginal) => {
            format!("order {order} equals order {diameter}")
        }
        Some(_) => {
            format!("{value} values equal the {} values", GraphValue::myerson().with_semivalue(semivalue))
        }
    };
    Some(format!("all players are within distance {diameter} of each other: {comes_to}"))
}

impl MediaAttributions {
    /// Returns the values that pictures show, which are positive if they support the class.
    pub(super) fn shown(&self) -> Vec<f64> {
        let values = self.explanation.output(self.output);
        if self.speaks_against { values.into_iter().map(|value| -value).collect() } else { values }
    }

    /// Returns an explanation of the colours.
    pub(super) fn legend(&self, args: &Division) -> String {
        let whom = match args.score {
            ScoreName::ExpectedLogProbability => "the predictions of all classes".to_owned(),
            _ if self.class == self.predicted => format!("class {}, the predicted class", self.class),
            _ => format!("class {} (predicted: {})", self.class, self.predicted),
        };
        let class = self.class;
        let score = match args.score {
            ScoreName::Output if self.outputs > 1 => format!("output {}", self.output),
            ScoreName::Output => "the output (class 1)".to_owned(),
            ScoreName::LogProbability => format!("the log-probability of class {class}"),
            ScoreName::LogOdds => format!("the log-odds of class {class}"),
            ScoreName::ExpectedLogProbability => "the expected log-probability".to_owned(),
        };
        let values = if self.explanation.diagnostics.exact { "values" } else { "estimates" };
        let (base, prediction) =
            (self.explanation.base[self.output], self.explanation.prediction[self.output]);
        format!(
            "blue supports {whom}, red opposes it\n{} {values} of {score}: base value {base:.4}, prediction \
             {prediction:.4}; {} evaluations",
            args.value, self.explanation.evaluations
        )
    }

    /// Returns the results of the run: the explanation, and the facts that describe it.
    pub(super) fn values(
        self,
        args: &Division,
        game: &'static str,
        names: Vec<String>,
        inputs: Vec<f64>,
        about: Vec<(&'static str, serde_json::Value)>,
    ) -> Result<(Values, Batch)> {
        let mut about_all = vec![
            ("score", json!(args.score.name())),
            ("class", json!(self.class)),
            ("predicted", json!(self.predicted)),
        ];
        about_all.extend(about);
        let until = self.until;
        let outputs = self.explanation.outputs();
        let same_as = self.explanation.diagnostics.same_as.clone();
        let has_inputs = !inputs.is_empty();
        let batch = Batch { inputs, ..apportion::batch([self.explanation]) };
        let values = Values {
            heading: Heading {
                value: args.value.to_string(),
                game: game.to_owned(),
                method: self.method.name().to_owned(),
                is_efficient: args.value.is_efficient(),
                facts: facts(same_as, self.budget, until.as_ref().map(Until::words), args.seed, about_all),
                outputs: vec![String::new(); outputs],
                ..Heading::for_features(names)
            },
            has_inputs,
            has_errors: self.budget.is_some() || batch.has_errors(),
            has_certificates: until.is_some(),
            ..Values::default()
        };
        Ok((values, batch))
    }

    /// Writes the results with `write`, and prints the warnings and the timings, if requested.
    pub(super) fn finish(self, args: &Division, write: impl FnOnce(Self) -> Result<()>) -> Result<()> {
        let (started, loaded, explained) = (self.started, self.loaded, self.explained);
        let mut warnings = Warnings::default();
        warnings.add(std::slice::from_ref(&self.explanation));
        warnings.print();
        write(self)?;
        if args.timings {
            Timings::since(started, loaded, explained).print()?;
        }
        Ok(())
    }
}
