//! The methods that are compared, and how many evaluations each takes.

use anyhow::Result;
use apportion::estimators::{
    ConnectedRegression, KernelShap, LeverageShap, OnGraph, OptimizedMonteCarlo, Orders,
};
use apportion::games::Graph;
use apportion::media::{Outputs, Saliency, Score};
use apportion::values::GraphValue;
use apportion::{Background, Estimator, Game, Model, Semivalue};
use serde::Serialize;

use super::lime::Lime;
use super::scores::Scores;
use super::squares::{self, Worth};
use super::subject::{Sample, Shown, predict};
use crate::reproduce::figure::{Style, looks};
use crate::reproduce::ingredients::Digest;

/// Evaluations for each feature: all methods of the paper make so many.
const EVALUATIONS: usize = 4;

/// The longest runs of tokens, and the largest squares of pixels, that the budget allows the regression.
const LARGEST: usize = 4;

/// A method of explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    /// L-Shapley of order 1.
    LShapley,
    /// C-Shapley by regression (section 4.3.2), on n-grams and squares up to 4.
    CShapley,
    KernelShap,
    /// SampleShapley: random orders (Štrumbelj and Kononenko).
    SampleShapley,
    Lime,
    /// Numerical: central differences in place of gradients.
    Saliency,
    /// Not in the paper: C-Shapley of order 1 with true boundaries.
    Connected,
    /// Not in the paper.
    LeverageShap,
    /// Not in the paper: the regression of C-Shapley with equal weights.
    EqualWeights,
    /// Not in the paper: the same, on squares that are taken away from the whole image.
    TakenAway,
}

impl Method {
    /// Those that texts are explained by: the paper's, and then ours.
    pub(super) const OF_TEXTS: [Self; 7] = [
        Self::LShapley,
        Self::CShapley,
        Self::KernelShap,
        Self::SampleShapley,
        Self::Lime,
        Self::Connected,
        Self::LeverageShap,
    ];

    /// Those that images are explained by: the paper's, and then ours.
    pub(super) const OF_IMAGES: [Self; 7] = [
        Self::CShapley,
        Self::KernelShap,
        Self::SampleShapley,
        Self::Saliency,
        Self::LeverageShap,
        Self::EqualWeights,
        Self::TakenAway,
    ];

    /// Those that are not of the paper have a star.
    pub(super) fn title(self) -> &'static str {
        self.title_and_style().0
    }

    pub(super) fn style(self) -> Style {
        self.title_and_style().1
    }

    fn title_and_style(self) -> (&'static str, Style) {
        match self {
            Self::LShapley => ("L-Shapley", looks::L_SHAPLEY),
            Self::CShapley => ("C-Shapley", looks::C_SHAPLEY),
            Self::KernelShap => ("KernelSHAP", looks::KERNEL_SHAP),
            Self::SampleShapley => ("SampleShapley", looks::RANDOM_ORDERS),
            Self::Lime => ("LIME", looks::LIME),
            Self::Saliency => ("Saliency", looks::SALIENCY),
            Self::Connected => ("C-Shapley, order 1, exact*", looks::C_SHAPLEY_EXACT),
            Self::LeverageShap => ("Leverage SHAP*", looks::LEVERAGE_SHAP),
            Self::EqualWeights => ("C-Shapley, equal weights*", looks::C_SHAPLEY_EQUAL),
            Self::TakenAway => ("C-Shapley, squares taken away*", looks::C_SHAPLEY_TAKEN_AWAY),
        }
    }

    /// The scores of the players of a sample: of `log P(class | x_S)`, the class being the predicted one.
    pub(super) fn scores(self, model: &dyn Model, sample: &Sample, seed: u64) -> Result<Scores> {
        let masked = &sample.masked;
        if self == Self::Saliency {
            let class = sample.class;
            let score = move |outputs: &[f64]| {
                Score::LogProbability { class }.of(Outputs::Logits, outputs).unwrap_or(f64::NAN)
            };
            let saliency = Saliency::numerical(model, masked, score, Saliency::STEP)?;
            let features: usize = masked.players().iter().map(Vec::len).sum();
            return Ok(Scores { values: saliency.magnitudes(), evaluations: 2 * features });
        }
        let game = sample.game(model)?;
        let budget = EVALUATIONS * game.players();
        let estimated = |estimator: &dyn Estimator| {
            let budget = budget.max(estimator.minimum_budget(game.players()));
            let explanation = estimator.estimate(&game, budget, seed)?;
            anyhow::Ok(Scores { values: explanation.values, evaluations: explanation.evaluations })
        };
        let on_graph = |value: GraphValue| {
            let explanation = OnGraph::new(sample.graph.clone(), value).values(&game)?;
            anyhow::Ok(Scores { values: explanation.values, evaluations: explanation.evaluations })
        };
        match self {
            Self::LShapley => on_graph(GraphValue::l_shapley(1)),
            Self::Connected => on_graph(GraphValue::c_shapley(1)),
            Self::CShapley => estimated(&ConnectedRegression::new(sample.graph.clone()).order(LARGEST)),
            Self::KernelShap => estimated(&KernelShap::default()),
            Self::SampleShapley => {
                estimated(&OptimizedMonteCarlo::default().with_orders(Orders::Independent))
            }
            Self::LeverageShap => estimated(&LeverageShap::default()),
            Self::EqualWeights => squares::scores(&game, &sample.graph, LARGEST, Worth::OnEmptyImage),
            Self::TakenAway => squares::scores(&game, &sample.graph, LARGEST, Worth::TakenAway),
            Self::Lime | Self::Saliency => {
                let surrogate = Lime::default().explain(&game, budget.max(2), seed)?;
                Ok(Scores { values: surrogate.coefficients, evaluations: surrogate.evaluations })
            }
        }
    }

    /// What the method is, by what it says of two small samples.
    pub(super) fn digest(self) -> Result<Digest> {
        let mut answers = Vec::new();
        for graph in [Graph::line(9), Graph::grid(3, 4, Default::default())] {
            let scores = self.scores(&probe, &probe_sample(graph)?, 1)?;
            answers.extend(scores.values);
            answers.push(scores.evaluations as f64);
        }
        Ok(Digest::of(answers))
    }
}

/// A smooth model in which neighbours interact.
fn probe(row: &[f64]) -> f64 {
    let alone = row.iter().enumerate().map(|(at, x)| x * (at as f64 + 0.5).sin()).sum::<f64>();
    alone + row.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>()
}

fn probe_sample(graph: Graph) -> Result<Sample> {
    let players = graph.nodes();
    let explicand: Vec<f64> = (0..players).map(|at| 1.0 + (at as f64).cos()).collect();
    let reference = Background::baseline(vec![0.25; players])?;
    let masked = apportion::media::Masked::new(
        explicand,
        reference,
        (0..players).map(|player| vec![player]).collect(),
    )?;
    let outputs = predict(&probe, masked.explicand(), 1)?;
    let class = Outputs::Logits.predicted_class(&outputs)?;
    let tokens: Vec<String> = (0..players).map(|player| player.to_string()).collect();
    let text = apportion::media::Text::from_tokens(&tokens, &(0..players).collect::<Vec<_>>())?;
    Ok(Sample { masked, graph: graph.into(), class, outputs, shown: Shown::Text(text) })
}

/// The exact Shapley values of a sample of few players, by enumeration.
pub(super) fn exact(model: &dyn Model, sample: &Sample) -> Result<Scores> {
    let explanation = apportion::estimators::exact(&sample.game(model)?, Semivalue::Shapley)?;
    Ok(Scores { values: explanation.values, evaluations: explanation.evaluations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_takes_what_the_paper_says_or_less() {
        let sample = probe_sample(Graph::line(30)).unwrap();
        let evaluations = |method: Method| method.scores(&probe, &sample, 3).unwrap().evaluations;
        for method in Method::OF_TEXTS {
            assert!(evaluations(method) <= 4 * 30, "{method:?}");
        }
        // What three neighbours have for subsets, each once: d + (d − 1) + (d − 2) + (d − 2), and both ends.
        assert_eq!(evaluations(Method::LShapley), 4 * 30 - 5 + 2);
        // n-grams up to 4: 4d − 6, and both ends.
        assert_eq!(evaluations(Method::CShapley), 4 * 30 - 6 + 2);
        assert_eq!(evaluations(Method::Connected), 3 * 30 - 3 + 2);
        assert_eq!(evaluations(Method::Saliency), 2 * 30);
    }

    #[test]
    fn methods_answer_alike_for_a_seed_and_their_digests_differ() {
        let methods: Vec<Method> = Method::OF_TEXTS.into_iter().chain([Method::Saliency]).collect();
        for (at, one) in methods.iter().enumerate() {
            assert_eq!(one.digest().unwrap(), one.digest().unwrap());
            for other in &methods[at + 1..] {
                assert_ne!(one.digest().unwrap(), other.digest().unwrap(), "{one:?} {other:?}");
            }
        }
    }
}
