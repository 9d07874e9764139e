//! What is asked of which method on which games.

use anyhow::{Context, Result};
use apportion::estimators::{Anytime, Estimator, methods};
use apportion::games::SumOfUnanimity;
use apportion::{Method, Semivalue, Until};

use crate::reproduce::cli::Preset;
use crate::reproduce::ingredients::Digest;
use crate::reproduce::session::Session;

/// Relative errors in the Euclidean norm that are asked for.
pub(super) const TOLERANCES: [f64; 3] = [0.1, 0.03, 0.01];

/// The method that the target is about: the default for Shapley values.
pub(super) const DEFAULT: Method = Method::By(&methods::LEVERAGE_SHAP);

/// The method for Banzhaf values.
const BANZHAF: Method = Method::By(&methods::KERNEL_BANZHAF_WITHOUT_REPLACEMENT);

/// All methods that are run: one name for each estimator, so no permutations beside optimized Monte Carlo.
pub(super) const METHODS: [Method; 7] = [
    DEFAULT,
    BANZHAF,
    Method::By(&methods::KERNEL_SHAP_PAIRED),
    Method::By(&methods::OPTIMIZED_MONTE_CARLO),
    Method::By(&methods::MONTE_CARLO),
    Method::By(&methods::STRATIFIED),
    Method::By(&methods::SGD),
];

/// Games of more players are wide: their models take longest, so that there are fewer runs.
const WIDE: usize = 30;

/// Runs on a game of `players`.
pub(super) fn runs_on(session: &Session, players: usize) -> usize {
    if players > WIDE { session.runs.div_ceil(5) } else { session.runs }
}

/// The value that `method` estimates.
pub(super) fn value(method: Method) -> Semivalue {
    if method == BANZHAF { Semivalue::Banzhaf } else { Semivalue::Shapley }
}

/// What `method` is asked for on a game of `players`: less where it would take the budget, and that long.
pub(super) fn tolerances(session: &Session, method: Method, players: usize) -> &'static [f64] {
    let (is_wide, is_paper) = (players > WIDE, session.preset == Preset::Paper);
    let count = match method.name() {
        "stratified" | "sgd" => usize::from(!is_wide),
        _ if is_wide && method == DEFAULT => 2 + usize::from(is_paper),
        _ if is_wide && method == BANZHAF => 1 + usize::from(is_paper),
        _ if is_wide => 1,
        _ if method == DEFAULT || method == BANZHAF => 3,
        "monte-carlo" => 1 + 2 * usize::from(is_paper),
        _ => 2 + usize::from(is_paper),
    };
    &TOLERANCES[..count]
}

/// What is asked for.
pub(super) fn until(tolerance: f64) -> Until {
    Until::relative(tolerance)
}

/// The confidence that is asked for.
pub(super) fn confidence() -> f64 {
    until(1.0).confidence
}

/// A method with its estimator and its [`digest`].
pub(super) struct Contender {
    pub(super) method: Method,
    pub(super) estimator: Box<dyn Estimator>,
    pub(super) digest: Digest,
}

impl Contender {
    pub(super) fn new(method: Method) -> Result<Self> {
        let estimator = method
            .estimator(&value(method).into())
            .with_context(|| format!("{method} does not estimate {}", value(method)))?;
        let digest = digest(&*estimator)?;
        Ok(Self { method, estimator, digest })
    }
}

/// What the estimator and the rules for looks and bounds are, by what comes of a game with a few interactions, of one in which samples hardly
/// vary, and of one in which nothing does among pairs of coalitions.
fn digest(estimator: &dyn Estimator) -> Result<Digest> {
    let few = SumOfUnanimity::random(12, 30, 3, 1);
    let rare = SumOfUnanimity::new(12, 0.0, [((0..10).collect(), 1.0)])?;
    let alone = (0..12).map(|player| ([player].into_iter().collect(), 1.0));
    let pair = SumOfUnanimity::new(12, 0.0, alone.chain([([0, 1].into_iter().collect(), 1.0)]))?;
    let mut explanations = Vec::new();
    for game in [few, rare, pair] {
        for tolerance in [0.1, 0.03] {
            explanations.push(Anytime::new(estimator, &game, 1)?.run_until(&until(tolerance))?.clone());
        }
    }
    Ok(Digest::joined([&Digest::of_estimator(estimator)?, &Digest::of_data(&explanations)?]))
}
