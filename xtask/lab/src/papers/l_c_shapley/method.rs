//! The compared explanation methods, and the number of evaluations that each requires.

use anyhow::Result;
use apportion::estimators::{
    ConnectedRegression, KernelShap, LeverageShap, OnGraph, OptimizedMonteCarlo, Orders,
};
use apportion::games::Graph;
use apportion::media::{Outputs, Saliency, Score};
use apportion::values::{Coefficients, GraphValue, Outside};
use apportion::{Background, Estimator, Game, Model, Semivalue};
use serde::Serialize;

use super::dual::Dual;
use super::lime::Lime;
use super::scores::Scores;
use super::squares;
use super::subject::{Sample, Shown, predict};
use crate::reproduce::figure::{Style, styles};
use crate::reproduce::ingredients::Digest;

/// Evaluations per feature, the same for all methods of the paper.
const EVALUATIONS: usize = 4;

/// Maximum length of n-grams in texts, and maximum side of squares of pixels, that the budget of the
/// regression allows.
const MAX_LENGTH: usize = 4;

/// An explanation method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    /// L-Shapley of order 1.
    LShapley,
    /// C-Shapley by regression (section 4.3.2), on n-grams of up to 4 words or squares of up to 4 × 4 pixels.
    CShapley,
    /// L-Shapley of order 1 with the players outside neighbourhoods present, as in the authors' code.
    LShapleyPresent,
    /// The regression of C-Shapley on the [dual game](Dual), in which the players outside an n-gram or a
    /// square of pixels are present.
    CShapleyPresent,
    /// C-Shapley of order 1 by equation 6, with the players outside neighbourhoods present, as in the
    /// authors' code for texts.
    EquationSixPresent,
    KernelShap,
    /// SampleShapley: random permutations (Štrumbelj and Kononenko).
    SampleShapley,
    Lime,
    /// Numerical saliency: central differences instead of gradients.
    Saliency,
    /// Not in the paper: C-Shapley of order 1 with true boundaries.
    Connected,
    /// Leverage SHAP; not in the paper.
    LeverageShap,
    /// Not in the paper: the regression of C-Shapley with equal weights.
    EqualWeights,
    /// Not in the paper: the regression of C-Shapley with equal weights, on squares of pixels removed from
    /// the whole image.
    TakenAway,
}

impl Method {
    /// Methods for texts: the methods of the paper, followed by ours.
    pub(super) const OF_TEXTS: [Self; 9] = [
        Self::LShapley,
        Self::CShapley,
        Self::LShapleyPresent,
        Self::EquationSixPresent,
        Self::KernelShap,
        Self::SampleShapley,
        Self::Lime,
        Self::Connected,
        Self::LeverageShap,
    ];

    /// Methods for images: the methods of the paper, followed by ours.
    pub(super) const OF_IMAGES: [Self; 8] = [
        Self::CShapley,
        Self::CShapleyPresent,
        Self::KernelShap,
        Self::SampleShapley,
        Self::Saliency,
        Self::LeverageShap,
        Self::EqualWeights,
        Self::TakenAway,
    ];

    /// Returns the title, with a star for methods that are not in the paper.
    pub(super) fn title(self) -> &'static str {
        self.title_and_style().0
    }

    pub(super) fn style(self) -> Style {
        self.title_and_style().1
    }

    fn title_and_style(self) -> (&'static str, Style) {
        match self {
            Self::LShapley => ("L-Shapley", styles::L_SHAPLEY),
            Self::CShapley => ("C-Shapley", styles::C_SHAPLEY),
            Self::LShapleyPresent => ("L-Shapley, present*", styles::L_SHAPLEY_PRESENT),
            Self::CShapleyPresent => ("C-Shapley, present*", styles::C_SHAPLEY_PRESENT),
            Self::EquationSixPresent => ("C-Shapley, equation 6, present*", styles::EQUATION_SIX_PRESENT),
            Self::KernelShap => ("KernelSHAP", styles::KERNEL_SHAP),
            Self::SampleShapley => ("SampleShapley", styles::RANDOM_ORDERS),
            Self::Lime => ("LIME", styles::LIME),
            Self::Saliency => ("Saliency", styles::SALIENCY),
            Self::Connected => ("C-Shapley, order 1, exact*", styles::C_SHAPLEY_EXACT),
            Self::LeverageShap => ("Leverage SHAP*", styles::LEVERAGE_SHAP),
            Self::EqualWeights => ("C-Shapley, equal weights*", styles::C_SHAPLEY_EQUAL),
            Self::TakenAway => ("C-Shapley, squares taken away*", styles::C_SHAPLEY_TAKEN_AWAY),
        }
    }

    /// Returns the scores of the players of a sample, for `log P(class | x_S)` with the predicted class.
    pub(super) fn scores(self, model: &dyn Model, sample: &Sample, seed: u64) -> Result<Scores> {
        let masked = &sample.masked;
        if self == Self::Saliency {
            let class = sample.class;
            let score = move |outputs: &[f64]| {
                Score::LogProbability { class }.evaluate(Outputs::Logits, outputs).unwrap_or(f64::NAN)
            };
            let saliency = Saliency::numerical(model, masked, score, Saliency::STEP)?;
            let features: usize = masked.players().iter().map(Vec::len).sum();
            return Ok(Scores { values: saliency.magnitudes(), evaluations: 2 * features });
        }
        let game = sample.game(model)?;
        let budget = EVALUATIONS * game.players();
        let estimated_in = |game: &dyn Game, estimator: &dyn Estimator| {
            let budget = budget.max(estimator.minimum_budget(game.players()));
            let explanation = estimator.estimate(game, budget, seed)?;
            anyhow::Ok(Scores { values: explanation.values, evaluations: explanation.evaluations })
        };
        let estimated = |estimator: &dyn Estimator| estimated_in(&game, estimator);
        let regression = || ConnectedRegression::new(sample.graph.clone()).order(MAX_LENGTH);
        let on_graph = |value: GraphValue| {
            let explanation = OnGraph::new(sample.graph.clone(), value).values(&game)?;
            anyhow::Ok(Scores { values: explanation.values, evaluations: explanation.evaluations })
        };
        match self {
            Self::LShapley => on_graph(GraphValue::l_shapley(1)),
            Self::Connected => on_graph(GraphValue::c_shapley(1)),
            Self::CShapley => estimated(&regression()),
            Self::LShapleyPresent => on_graph(GraphValue::l_shapley(1).with_outside(Outside::Present)),
            Self::CShapleyPresent => estimated_in(&Dual(&game), &regression()),
            Self::EquationSixPresent => {
                let printed = GraphValue::c_shapley(1).with_coefficients(Coefficients::Printed);
                on_graph(printed.with_outside(Outside::Present))
            }
            Self::KernelShap => estimated(&KernelShap::default()),
            Self::SampleShapley => {
                estimated(&OptimizedMonteCarlo::default().with_orders(Orders::Independent))
            }
            Self::LeverageShap => estimated(&LeverageShap::default()),
            Self::EqualWeights => squares::scores(&game, &sample.graph, MAX_LENGTH),
            Self::TakenAway => squares::scores(&Dual(&game), &sample.graph, MAX_LENGTH),
            Self::Lime | Self::Saliency => {
                let surrogate = Lime::default().explain(&game, budget.max(2), seed)?;
                Ok(Scores { values: surrogate.coefficients, evaluations: surrogate.evaluations })
            }
        }
    }

    /// Returns a digest of the method, computed from its scores for two small samples.
    pub(super) fn digest(self) -> Result<Digest> {
        let mut answers = Vec::new();
        for graph in [Graph::line(9), Graph::grid(3, 4, Default::default())] {
            let scores = self.scores(&probe, &probe_sample(graph)?, 1)?;
            answers.extend(scores.values);
            answers.push(scores.evaluations as f64);
        }
        Ok(Digest::from_numbers(answers))
    }
}

/// A smooth model in which neighbouring features interact. The digests of methods are computed from their
/// scores for this model.
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

/// Returns the exact Shapley values of a sample with few players, by enumeration.
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
        // There are d + (d − 1) + (d − 2) + (d − 2) distinct subsets of three neighbours, plus v(∅) and v(N).
        assert_eq!(evaluations(Method::LShapley), 4 * 30 - 5 + 2);
        // There are 4d − 6 n-grams of up to 4 words, plus v(∅) and v(N).
        assert_eq!(evaluations(Method::CShapley), 4 * 30 - 6 + 2);
        assert_eq!(evaluations(Method::Connected), 3 * 30 - 3 + 2);
        // The dual game evaluates the complements of the same subsets, which include U \ i.
        assert_eq!(evaluations(Method::LShapleyPresent), 4 * 30 - 5 + 2);
        assert_eq!(evaluations(Method::EquationSixPresent), 4 * 30 - 5 + 2);
        assert_eq!(evaluations(Method::CShapleyPresent), 4 * 30 - 6 + 2);
        assert_eq!(evaluations(Method::Saliency), 2 * 30);
    }

    #[test]
    fn methods_answer_alike_for_a_seed_and_their_digests_differ() {
        let others = [Method::CShapleyPresent, Method::Saliency];
        let methods: Vec<Method> = Method::OF_TEXTS.into_iter().chain(others).collect();
        for (at, one) in methods.iter().enumerate() {
            assert_eq!(one.digest().unwrap(), one.digest().unwrap());
            for other in &methods[at + 1..] {
                assert_ne!(one.digest().unwrap(), other.digest().unwrap(), "{one:?} {other:?}");
            }
        }
    }

    /// Returns the tabulated game of a sample.
    fn table(sample: &Sample) -> apportion::games::TabulatedGame {
        apportion::games::TabulatedGame::from_game(&sample.game(&probe).unwrap()).unwrap()
    }

    /// Compares the scores with those of the authors' `construct_positions_dict_localshapley` and
    /// `construct_positions_connectedshapley`, with one neighbour on each side. These functions treat the
    /// last and first words as neighbours, so the test compares inner words only.
    #[test]
    fn with_others_present_words_inside_have_the_scores_of_the_authors_code() {
        let players = 7;
        let sample = probe_sample(Graph::line(players)).unwrap();
        let game = table(&sample);
        let all = (1_u64 << players) - 1;
        let [local, connected] = [Method::LShapleyPresent, Method::EquationSixPresent]
            .map(|method| method.scores(&probe, &sample, 0).unwrap().values);
        for word in 1..players - 1 {
            let around = 0b111 << (word - 1);
            let ones = all & !around;
            let gain = |included: u64| {
                game.value(included | ones)[0] - game.value((included & !(1 << word)) | ones)[0]
            };
            let mut expected = [0.0; 2];
            for (left, right) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let included = 1 << word | left << (word - 1) | right << (word + 1);
                let size = f64::from(1 + left as u32 + right as u32);
                // The coefficients are 1 / C(2, size − 1) / 3, and 2 / (size (size + 1) (size + 2)).
                let of_local = if size == 2.0 { 1.0 / 6.0 } else { 1.0 / 3.0 };
                expected[0] += of_local * gain(included);
                expected[1] += 2.0 / (size * (size + 1.0) * (size + 2.0)) * gain(included);
            }
            assert!((local[word] - expected[0]).abs() < 1e-12, "{word}");
            assert!((connected[word] - expected[1]).abs() < 1e-12, "{word}");
        }
    }

    /// Checks the normal equations of Σ_S w(S) (Σ_{i ∈ S} φ_i − [v(N) − v(N \ S)])², over n-grams of up to 4
    /// words.
    #[test]
    fn with_others_present_the_regression_is_on_what_is_lost_without_each_n_gram() {
        let players = 8;
        let sample = probe_sample(Graph::line(players)).unwrap();
        let game = table(&sample);
        let all = (1_u64 << players) - 1;
        let values = Method::CShapleyPresent.scores(&probe, &sample, 0).unwrap().values;
        let mut slopes = vec![0.0; players];
        for length in 1..=MAX_LENGTH {
            // The weight is 1 / (C(8, s) s (8 − s)).
            let weight = 1.0 / ([8.0, 28.0, 56.0, 70.0][length - 1] * (length * (players - length)) as f64);
            for first in 0..=players - length {
                let taken = ((1_u64 << length) - 1) << first;
                let lost = game.value(all)[0] - game.value(all & !taken)[0];
                let residual = values[first..first + length].iter().sum::<f64>() - lost;
                slopes[first..first + length].iter_mut().for_each(|slope| *slope += weight * residual);
            }
        }
        assert!(slopes.iter().all(|slope| slope.abs() < 1e-12), "{slopes:?}");
        let absent = Method::CShapley.scores(&probe, &sample, 0).unwrap().values;
        assert!(values.iter().zip(&absent).any(|(one, other)| (one - other).abs() > 1e-3));
    }
}
