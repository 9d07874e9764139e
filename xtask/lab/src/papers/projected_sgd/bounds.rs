//! The bounds on the error of stochastic gradients (section 4.2), with their constants, next to the observed
//! errors. This is not a figure of the paper.
//!
//! # Notation
//!
//! `F(φ) = Σ_S w_S (x·φ − y_S)²` on K, the part of the plane Σφ = c with ‖φ‖ ≤ D; |y| ≤ C; `E‖∇‖² ≤ B²` for
//! the stochastic gradient at every point of K; μ the strong convexity of F; κ = B/μ; T steps.
//!
//! ```text
//! γ_t = 2/(μ(t+1)), weighted average    E‖φ̄ − φ*‖² ≤ 4κ²/T
//! γ_t = 2D/(B√t), uniform average       E‖φ̄ − φ*‖² ≤ 4Dκ/√T
//! γ < 1/μ, last iterate                 E‖φ_T − φ*‖² ≤ (1 − γμ)^T ‖φ_0 − φ*‖² + γB²/μ
//! ```
//!
//! The printed bounds use μ = 1 − 1/d, and are judged as printed. The bounds for the smallest eigenvalue of
//! the Hessian, μ = 2 (1 − 1/d), with 6Dκ/√T instead of 4Dκ/√T, are smaller; they are judged in addition, as
//! claims of this project ([`Constants`]).
//!
//! All coalition values of the games are known. C is the largest |y|, and D is 10% larger than ‖φ*‖. Errors
//! and bounds are in units of D².

use anyhow::Result;
use apportion::Estimator;
use apportion::estimators::{
    FullBudget, GradientDistribution, IterateSet, OptimizedMonteCarlo, Orders, ProjectedGradient,
};
use serde::{Deserialize, Serialize};

use super::descent::{Descent, PrintedRule};
use super::hessian::Spectrum;
use super::known_game::KnownGame;
use super::theory::{Constants, GradientBounds, StepRule};
use crate::comparison::squared_distance;
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Style, palette, styles};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::report::{Table, notes, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::{mean, slope};
use crate::reproduce::store::derive_seed;
use crate::reproduce::verdict::{By, Case, Claim, Resamples, Test, Verdict, are_contradicted};

const PLAYERS: [usize; 3] = [4, 8, 12];

/// The numbers of steps T.
const STEPS: [usize; 5] = [256, 1024, 4096, 16384, 65536];

/// Sizes of constant steps in units of 1/μ, with the corrected μ.
const CONSTANTS: [f64; 3] = [0.02, 0.005, 0.00125];

/// Maximum amount by which a slope in T may exceed the slope of the bound.
const SLACK: f64 = 0.2;

/// Maximum deviation from 1 of the slope of the log of the remaining error against the log of the size of a
/// constant step.
const PROPORTION: f64 = 0.2;

/// The estimator used in a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// Inverse steps with the printed μ, which are twice as long as the steps of [`Self::Inverse`].
    PrintedInverse,
    Inverse,
    SquareRoot,
    /// A constant step, given by its index in [`CONSTANTS`].
    Constant(usize),
    /// Optimized Monte Carlo with the same number of evaluations.
    Orders,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::PrintedInverse,
        Self::Inverse,
        Self::SquareRoot,
        Self::Constant(0),
        Self::Constant(1),
        Self::Constant(2),
        Self::Orders,
    ];

    fn title(self) -> String {
        match self {
            Self::PrintedInverse => "2/(μ(t+1)), μ = 1 − 1/d".to_owned(),
            Self::Inverse => "2/(μ(t+1)), μ = 2(1 − 1/d)".to_owned(),
            Self::SquareRoot => "2D/(B√t)".to_owned(),
            Self::Constant(which) => format!("{}/μ, last iterate", CONSTANTS[which]),
            Self::Orders => "optimized Monte Carlo".to_owned(),
        }
    }

    fn style(self) -> Style {
        match self {
            Self::PrintedInverse | Self::Inverse => styles::GRADIENT_INVERSE,
            Self::SquareRoot => styles::GRADIENT_SQUARE_ROOT,
            Self::Constant(_) => styles::GRADIENT_CONSTANT_LAST,
            Self::Orders => styles::RANDOM_ORDERS,
        }
    }

    /// Returns the library's estimator, or `None` for steps that it does not support.
    fn estimator(self, known: &KnownGame) -> Option<Box<dyn Estimator>> {
        let published = match self {
            Self::PrintedInverse => return None,
            Self::Inverse => ProjectedGradient::inverse(),
            Self::SquareRoot => ProjectedGradient::square_root(known.bounds.square_root_step()),
            Self::Constant(which) => ProjectedGradient::constant(constant_step(which, known)),
            Self::Orders => {
                let orders = OptimizedMonteCarlo::default().with_orders(Orders::Independent);
                return Some(Box::new(orders.with_full_budget(FullBudget::Sample)));
            }
        };
        Some(Box::new(
            published
                .with_set(IterateSet::Ball(known.norm))
                .with_value_bound(Some(known.value))
                .with_full_budget(FullBudget::Sample),
        ))
    }

    /// Returns the squared error after each number of steps T in `lengths`, in units of D².
    fn errors(self, known: &KnownGame, lengths: &[usize], seed: u64) -> Result<Vec<f64>> {
        let Some(estimator) = self.estimator(known) else {
            return Ok(Descent::new(known).errors(PrintedRule::Inverse, lengths, seed));
        };
        let error = |&steps: &usize| -> Result<f64> {
            let explanation = estimator.estimate(&known.game, steps + 2, seed)?;
            Ok(squared_distance(&explanation.values, &known.truth) / known.norm.powi(2))
        };
        lengths.iter().map(error).collect()
    }

    /// Returns a digest of the method, computed from its results.
    fn digest(self, known: &KnownGame) -> Result<Digest> {
        match self.estimator(known) {
            // Use the estimate for the game itself, since the ball K of the estimator depends on the game.
            Some(estimator) => {
                let answer = estimator.estimate(&known.game, STEPS[0] + 2, 1)?;
                Digest::of_data(&(estimator.name(), estimator.settings(), answer))
            }
            None => Digest::of_data(&self.errors(known, &STEPS[..1], 1)?),
        }
    }

    /// Returns the bound on the mean squared error in units of D², or `None` if the theory gives no bound for
    /// these constants.
    fn bound(self, known: &KnownGame, steps: usize, constants: Constants) -> Option<f64> {
        let rule = match (self, constants) {
            (Self::PrintedInverse, Constants::Printed) | (Self::Inverse, Constants::Corrected) => {
                StepRule::Inverse
            }
            (Self::SquareRoot, _) => StepRule::SquareRoot,
            (Self::Constant(which), _) => {
                StepRule::Constant { step: constant_step(which, known), start: known.start }
            }
            _ => return None,
        };
        Some(known.bounds.expected_error(rule, steps as f64, constants) / known.norm.powi(2))
    }
}

/// Returns the constant step γ with this index in [`CONSTANTS`].
fn constant_step(which: usize, known: &KnownGame) -> f64 {
    CONSTANTS[which] / known.bounds.strong_convexity(Constants::Corrected)
}

/// Checkpoint key of the errors in one game, for all numbers of steps.
#[derive(Serialize)]
struct RunKey {
    players: usize,
    pair: usize,
    kind: Kind,
    steps: [usize; 5],
}

/// Squared errors `‖φ̂ − φ*‖²/D²`, by T.
#[derive(Serialize, Deserialize)]
struct Errors(Vec<f64>);

fn errors(cell: &Cell<RunKey, &KnownGame>) -> Result<Errors> {
    let RunKey { players, pair, kind, .. } = cell.key;
    let seed = derive_seed(&("bounds", players, pair, kind, cell.made_of.seed))?;
    Ok(Errors(kind.errors(cell.with, &STEPS, seed)?))
}

/// All runs of one estimator in the games of one size.
struct Series {
    players: usize,
    kind: Kind,
    /// Errors, indexed by game, then by T.
    errors: Vec<Vec<f64>>,
    /// Bounds as printed, indexed by game, then by T; empty if there are none.
    printed: Vec<Vec<f64>>,
    /// Bounds with corrected constants, indexed by game, then by T.
    corrected: Vec<Vec<f64>>,
}

impl Series {
    fn games(&self) -> Vec<usize> {
        (0..self.errors.len()).collect()
    }

    fn mean(numbers: &[Vec<f64>], games: &[usize], level: usize) -> f64 {
        games.iter().map(|&game| numbers[game][level]).sum::<f64>() / games.len() as f64
    }

    /// Returns the slope of the log mean error in ln T.
    fn slope(&self, games: &[usize]) -> f64 {
        let point = |(level, steps): (usize, &usize)| {
            ((*steps as f64).ln(), Self::mean(&self.errors, games, level).ln())
        };
        slope(&STEPS.iter().enumerate().map(point).collect::<Vec<_>>())
    }

    fn bounds(&self, constants: Constants) -> &[Vec<f64>] {
        match constants {
            Constants::Printed => &self.printed,
            Constants::Corrected => &self.corrected,
        }
    }

    /// Returns the ratio of error to bound, averaged over the games, for the T with the largest ratio.
    fn largest_share(&self, constants: Constants) -> f64 {
        (0..STEPS.len()).map(|level| mean(&self.shares(level, constants))).fold(0.0, f64::max)
    }

    fn shares(&self, level: usize, constants: Constants) -> Vec<f64> {
        let bounds = self.bounds(constants);
        self.errors.iter().zip(bounds).map(|(error, bound)| error[level] / bound[level]).collect()
    }

    /// Tests that errors are within their bounds on average, after any number of steps.
    fn is_bounded(&self, constants: Constants) -> Test {
        Test::all((0..STEPS.len()).map(|level| Test::mean_below(&self.shares(level, constants), 1.0)))
    }

    fn falls_as(&self, power: f64) -> Test {
        Resamples::draw(self.errors.len(), |games| self.slope(games)).below(SLACK - power)
    }
}

/// Generates the comparison of errors with their bounds.
pub(super) fn bounds(session: &Session) -> Result<ArtefactOutput> {
    let games: Vec<Vec<KnownGame>> = PLAYERS
        .into_iter()
        .map(|players| (0..session.runs).map(|pair| KnownGame::draw(players, pair, session.seed)).collect())
        .collect::<Result<_>>()?;
    let played: Vec<Vec<Digest>> =
        games.iter().map(|of_size| of_size.iter().map(KnownGame::digest).collect()).collect();
    let mut cells = Vec::new();
    for ((players, of_size), played) in PLAYERS.into_iter().zip(&games).zip(&played) {
        for kind in Kind::ALL {
            for ((pair, known), played) in of_size.iter().enumerate().zip(played) {
                let method = kind.digest(known)?;
                // The exact values are enumerated from the game and thus need no separate digest.
                cells.push(Cell {
                    key: RunKey { players, pair, kind, steps: STEPS },
                    made_of: Ingredients::new("bounds", 1, session.seed, played, &method),
                    with: known,
                });
            }
        }
    }
    let mut found = session.results(&cells, errors)?.into_iter();
    let mut all = Vec::new();
    for (players, of_size) in PLAYERS.into_iter().zip(&games) {
        for kind in Kind::ALL {
            let errors = found.by_ref().take(session.runs).map(|errors| errors.0).collect();
            let bounds = |constants: Constants| -> Vec<Vec<f64>> {
                let of_game =
                    |known| STEPS.iter().map(|&steps| kind.bound(known, steps, constants)).collect();
                of_size.iter().map_while(of_game).collect()
            };
            let (printed, corrected) = (bounds(Constants::Printed), bounds(Constants::Corrected));
            all.push(Series { players, kind, errors, printed, corrected });
        }
    }
    let gradients = of_gradients(&games, session.seed)?;
    Ok(ArtefactOutput {
        data: data(&all),
        figure: Some(figure(&all)),
        tables: vec![constants(&games, &gradients), table(&all)],
        claims: claims(&all, &games, &gradients),
        notes: notes![
            "the paper's simulated regression task with few features, so that all coalition values are \
             known: C is the largest |v(S)|, D is 1.1 ‖φ*‖; iterates are projected on Σφ = v(M), ‖φ‖ ≤ D; \
             importance sampling; one coalition per step",
            "F has the Hessian 2XᵀWX, whose smallest eigenvalue is 2(1 − 1/d); the paper prints 1 − 1/d. F \
             is strongly convex with any μ up to the smallest eigenvalue, so the printed μ is valid, but the \
             bounds with it are larger than necessary",
            "claims of the paper are judged as printed: μ = 1 − 1/d, steps with this μ, and κ = B/μ. The sum \
             printed for κ is twice B/μ, so bounds with this sum are even larger, and hold if these bounds \
             do",
            "for steps proportional to 1/√t, the sums in the paper's source give 3DB/√T, where 2DB/√T is \
             printed; 3DB/√T implies 6Dκ/√T with κ = B/(2(1 − 1/d)), which is 3Dκ/√T with the printed μ: the \
             printed 4Dκ/√T is true, but does not follow from the printed steps",
        ],
        datasets: Vec::new(),
    })
}

/// Returns the largest `E‖∇‖²/B²` for each size.
fn of_gradients(games: &[Vec<KnownGame>], seed: u64) -> Result<Vec<f64>> {
    let of_size = |of_size: &Vec<KnownGame>| -> Result<f64> {
        let shares = of_size.iter().enumerate().map(|(pair, known)| known.largest_gradient(pair, seed));
        Ok(shares.collect::<Result<Vec<f64>>>()?.into_iter().fold(0.0, f64::max))
    };
    games.iter().map(of_size).collect()
}

fn claims(all: &[Series], games: &[Vec<KnownGame>], gradients: &[f64]) -> Vec<Claim> {
    let shares: Vec<String> =
        PLAYERS.iter().zip(gradients).map(|(d, share)| format!("d = {d}: {}", significant(*share))).collect();
    let mut claims = convexity().to_vec();
    claims.extend([
        Claim::fact(
            "E‖∇‖² ≤ B² in K, with importance sampling",
            "section 4.2",
            "this is true at φ*, φ_0 and points on the edge of K, over all coalitions",
            Some(gradients.iter().all(|share| *share <= 1.0)),
            format!("largest E‖∇‖²/B², {}", shares.join("; ")),
        ),
        sum_for_condition(games),
        rate(
            all,
            "with steps 2/(μ(t+1)) the mean squared error is at most 4κ²/T",
            Kind::PrintedInverse,
            1.0,
            Constants::Printed,
        ),
        rate(
            all,
            "with steps 2D/(B√t) the mean squared error is at most 4Dκ/√T",
            Kind::SquareRoot,
            0.5,
            Constants::Printed,
        ),
        constant_steps(all, Constants::Printed),
        rate(
            all,
            "by the smallest eigenvalue: with steps 2/(μ(t+1)) the mean squared error is at most 4κ²/T",
            Kind::Inverse,
            1.0,
            Constants::Corrected,
        ),
        rate(
            all,
            "by the smallest eigenvalue: with steps 2D/(B√t) the mean squared error is at most 6Dκ/√T",
            Kind::SquareRoot,
            0.5,
            Constants::Corrected,
        ),
        constant_steps(all, Constants::Corrected),
    ]);
    claims
}

/// Judges the statements on μ in section 4.2 and appendix 8.1.
fn convexity() -> [Claim; 4] {
    let spectra: Vec<(f64, Spectrum)> =
        (2..=8_usize).map(|players| (players as f64, Spectrum::new(players))).collect();
    let seen = |of: &dyn Fn(Spectrum) -> f64| {
        let words = |&(d, spectrum): &(f64, Spectrum)| format!("d = {d}: {}", significant(of(spectrum)));
        spectra.iter().map(words).collect::<Vec<_>>().join("; ")
    };
    let are = |is: &dyn Fn(f64, Spectrum) -> bool| Some(spectra.iter().all(|&(d, spectrum)| is(d, spectrum)));
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    let printed = |d: f64| 1.0 - 1.0 / d;
    [
        Claim::fact(
            "F is μ-strongly convex with μ = 1 − 1/d",
            "sections 4.1 and 4.2",
            "the smallest eigenvalue of the Hessian of F, found from F by second differences, is at least 1 \
             − 1/d",
            are(&|d, spectrum| spectrum.smallest() >= printed(d) - 1e-9),
            format!("smallest eigenvalues, {}", seen(&Spectrum::smallest)),
        ),
        Claim::fact(
            "1 − 1/d is the smallest eigenvalue of the Hessian of F",
            "section 4.2, appendix 8.1",
            "the smallest eigenvalue of the Hessian of F, found from F by second differences, is 1 − 1/d, to \
             1e-9",
            are(&|d, spectrum| near(spectrum.smallest(), printed(d))),
            format!("smallest eigenvalues, {}", seen(&Spectrum::smallest)),
        ),
        Claim::fact(
            "of XᵀWX all eigenvalues but one are a − c = 1 − 1/d, and the last is larger",
            "section 4.2, appendix 8.1",
            "half the Hessian of F has the eigenvalue 1 − 1/d along the plane, to 1e-9, and no smaller one \
             across it",
            are(&|d, spectrum| {
                near(spectrum.along / 2.0, printed(d)) && spectrum.across >= spectrum.along - 1e-9
            }),
            format!("half the eigenvalue across the plane, {}", seen(&|spectrum| spectrum.across / 2.0)),
        ),
        Claim::fact(
            "2(1 − 1/d) is the smallest eigenvalue of the Hessian of F, and the only one along the plane",
            "this project, in place of section 4.2",
            "the eigenvalue along the plane and the smallest are 2(1 − 1/d), to 1e-9",
            are(&|d, spectrum| {
                near(spectrum.along, 2.0 * printed(d)) && near(spectrum.smallest(), 2.0 * printed(d))
            }),
            format!("eigenvalues along the plane, {}", seen(&|spectrum| spectrum.along)),
        ),
    ]
}

/// Judges whether the sum printed for κ equals B/μ with the printed B and μ.
fn sum_for_condition(games: &[Vec<KnownGame>]) -> Claim {
    let ratios: Vec<f64> = games
        .iter()
        .flatten()
        .map(|known| known.bounds.printed_condition() / known.bounds.condition(Constants::Printed))
        .collect();
    let (low, high) =
        ratios.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &ratio| (low.min(ratio), high.max(ratio)));
    Claim::fact(
        "κ = B/μ is 4 Σ_l d (√l D + C) / (√l (d − l))",
        "section 4.2",
        "the sum is B/μ with B and μ as printed, to 1e-9, in all games",
        (!ratios.is_empty()).then_some((low - 1.0).abs() < 1e-9 && (high - 1.0).abs() < 1e-9),
        format!("the sum over B/μ: {} to {}", significant(low), significant(high)),
    )
}

/// Returns where a bound is stated: in the paper, or in this project.
fn source(constants: Constants) -> &'static str {
    match constants {
        Constants::Printed => "section 4.2",
        Constants::Corrected => "this project, in place of section 4.2",
    }
}

/// Judges the bound of a rule whose error decreases like a power of 1/T. Methods without this bound are
/// reported for comparison; if the errors of all these methods decrease as fast, there is no verdict.
fn rate(all: &[Series], claim: &str, kind: Kind, power: f64, constants: Constants) -> Claim {
    let of = |kind: Kind| all.iter().filter(move |series| series.kind == kind);
    let words =
        |series: &Series| format!("d = {}: slope {:.2}", series.players, series.slope(&series.games()));
    let falls = |series: &Series| Case::new(words(series), series.falls_as(power));
    let mut cases: Vec<Case> = of(kind).map(falls).collect();
    cases.extend(of(kind).map(|series| {
        let share = significant(series.largest_share(constants));
        Case::new(
            format!("d = {}: at most {share} of the bound", series.players),
            series.is_bounded(constants),
        )
    }));
    let rivals = [Kind::Constant(0), Kind::Orders];
    let (mut beside, mut failing) = (Vec::new(), Vec::new());
    for rival in rivals {
        let slopes: Vec<String> = of(rival).map(words).collect();
        beside.push(format!("{}: {}", rival.title(), slopes.join(", ")));
        if are_contradicted(&of(rival).map(falls).collect::<Vec<_>>()) {
            failing.push(rival.title());
        }
    }
    let evidence = format!("beside it {}", beside.join("; "));
    let judged = By::Resampling.in_all(
        claim,
        source(constants),
        &format!(
            "a number of features, and the slope or the bound; it agrees if the slope of ln mean error in ln \
             T is below {:.1}, or if the mean over games of the error in units of its bound is below 1 at \
             every T. Where no other method contradicts the slope, there is no verdict",
            SLACK - power
        ),
        cases,
    )
    .and(&evidence);
    if judged.verdict == Verdict::Holds && failing.is_empty() {
        return Claim::vacuous(claim, &judged.source, "every other method falls as fast", judged.evidence);
    }
    let failing = if failing.is_empty() { "none".to_owned() } else { failing.join(", ") };
    judged.and(&format!("not as fast: {failing}"))
}

/// Judges the bound for constant steps: the remaining error is proportional to the step.
fn constant_steps(all: &[Series], constants: Constants) -> Claim {
    let mut cases = Vec::new();
    for players in PLAYERS {
        let of_size: Vec<&Series> = all
            .iter()
            .filter(|series| series.players == players && matches!(series.kind, Kind::Constant(_)))
            .collect();
        let floors = |games: &[usize]| {
            let of_game = |series: &Series, game: usize| {
                series.errors[game].iter().rev().take(2).map(|error| error.ln()).sum::<f64>() / 2.0
            };
            let left = |series: &&Series| {
                games.iter().map(|&game| of_game(series, game)).sum::<f64>() / games.len() as f64
            };
            slope(&CONSTANTS.iter().map(|step| step.ln()).zip(of_size.iter().map(left)).collect::<Vec<_>>())
        };
        let slope = Resamples::draw(of_size[0].errors.len(), floors);
        cases.push(Case::new(
            format!("d = {players}: slope in γ {:.2}", slope.value),
            Test::all([slope.above(1.0 - PROPORTION), slope.below(1.0 + PROPORTION)]),
        ));
        let share = of_size.iter().map(|series| series.largest_share(constants)).fold(0.0, f64::max);
        cases.push(Case::new(
            format!("d = {players}: at most {} of the bound", significant(share)),
            Test::all(of_size.iter().map(|series| series.is_bounded(constants))),
        ));
    }
    By::Resampling.in_all(
        match constants {
            Constants::Printed => {
                "with a constant step the mean squared error of the last iterate is at \
                most (1 − γμ)^T ‖φ_0 − φ*‖² + γB²/μ"
            }
            Constants::Corrected => {
                "by the smallest eigenvalue: with a constant step the mean squared error \
                of the last iterate is at most (1 − γμ)^T ‖φ_0 − φ*‖² + γB²/μ"
            }
        },
        source(constants),
        &format!(
            "a number of features, and the bound or the remaining error; it agrees if the mean over games \
             of the error in units of its bound is below 1 at every T and γ, or if the mean over games of \
             the slope of ln error in ln γ after {} and {} steps is within {PROPORTION} of 1",
            STEPS[STEPS.len() - 2],
            STEPS[STEPS.len() - 1]
        ),
        cases,
    )
}

fn constants(games: &[Vec<KnownGame>], gradients: &[f64]) -> Table {
    let average = |games: &[KnownGame], of: &dyn Fn(&KnownGame) -> f64| {
        mean(&games.iter().map(of).collect::<Vec<f64>>())
    };
    let norm = |games: &[KnownGame], distribution: GradientDistribution| {
        average(games, &|known| GradientBounds { distribution, ..known.bounds }.gradient_norm() / known.norm)
    };
    table!("Constants, means over the games", [
        for ((players, games), gradient) in PLAYERS.into_iter().zip(games).zip(gradients);
    ]
        "d" => players,
        "D/C, mean" => average(games, &|known| known.norm / known.value),
        "μ, printed" => games.first().map(|known| known.bounds.strong_convexity(Constants::Printed)),
        "μ, smallest eigenvalue" =>
            games.first().map(|known| known.bounds.strong_convexity(Constants::Corrected)),
        "B/D, uniform" => norm(games, GradientDistribution::Uniform),
        "B/D, importance" => norm(games, GradientDistribution::Importance),
        "B/D, centred*" => norm(games, GradientDistribution::Centred),
        "κ/D, sum printed" => average(games, &|known| known.bounds.printed_condition() / known.norm),
        "κ/D, B over the printed μ" =>
            average(games, &|known| known.bounds.condition(Constants::Printed) / known.norm),
        "κ/D, B over the smallest eigenvalue" =>
            average(games, &|known| known.bounds.condition(Constants::Corrected) / known.norm),
        "largest E‖∇‖²/B²" => *gradient,
        "T for 0.01 D² by 4κ²/T, smallest eigenvalue" => average(games, &|known| {
            4.0 * (known.bounds.condition(Constants::Corrected) / known.norm).powi(2) / 0.01
        }),
    )
}

fn table(all: &[Series]) -> Table {
    table!("Mean squared errors and their bounds", [
        for series in all;
        for (level, steps) in STEPS.into_iter().enumerate();
        let games = series.games();
        let mean_bound = |constants| {
            let bounds = series.bounds(constants);
            (!bounds.is_empty()).then(|| Series::mean(bounds, &games, level))
        };
        let largest = |constants| {
            let bounds = series.bounds(constants);
            (!bounds.is_empty()).then(|| series.shares(level, constants).into_iter().fold(0.0, f64::max))
        };
    ]
        "d" => series.players,
        "step" => series.kind.title(),
        "T" => steps,
        "mean error / D²" => Series::mean(&series.errors, &games, level),
        "printed bound / D²" => mean_bound(Constants::Printed),
        "corrected bound / D²" => mean_bound(Constants::Corrected),
        "largest error / printed bound of a game" => largest(Constants::Printed),
        "largest error / corrected bound of a game" => largest(Constants::Corrected),
        "slope in T" => series.slope(&games),
    )
}

fn figure(all: &[Series]) -> Figure {
    let kinds = [Kind::PrintedInverse, Kind::SquareRoot, Kind::Constant(0), Kind::Constant(2)];
    let panel = |kind: Kind, players: usize| {
        let of = |kind: Kind| all.iter().find(move |series| series.kind == kind && series.players == players);
        let points = |series: &Series, numbers: &[Vec<f64>]| -> Vec<(f64, f64)> {
            let point = |(level, steps): (usize, &usize)| {
                (*steps as f64, Series::mean(numbers, &series.games(), level))
            };
            STEPS.iter().enumerate().map(point).collect()
        };
        let mut marks = Vec::new();
        if let Some(series) = of(kind) {
            marks.push(Mark::Dashes { colour: palette::BLACK, points: points(series, &series.printed) });
            if !series.corrected.is_empty() {
                marks.push(Mark::Dashes { colour: palette::GREY, points: points(series, &series.corrected) });
            }
            marks.push(Mark::Line { style: kind.style(), points: points(series, &series.errors) });
        }
        if let Some(series) = of(Kind::Orders) {
            marks.push(Mark::Line { style: Kind::Orders.style(), points: points(series, &series.errors) });
        }
        Panel {
            title: format!("{}, d = {players}", kind.title()),
            x: Axis::log("steps T", f64::MIN_POSITIVE),
            y: Axis::log("mean squared error / D²", f64::MIN_POSITIVE),
            marks,
        }
    };
    Figure {
        title: "Mean squared error of stochastic gradients, with the bounds of section 4.2".to_owned(),
        panels: PLAYERS
            .into_iter()
            .flat_map(|d| kinds.map(|kind| (kind, d)))
            .map(|(k, d)| panel(k, d))
            .collect(),
        columns: kinds.len(),
        legend: vec![
            (Kind::PrintedInverse.title(), Kind::PrintedInverse.style()),
            (Kind::SquareRoot.title(), Kind::SquareRoot.style()),
            ("constant, last iterate".to_owned(), Kind::Constant(0).style()),
            (Kind::Orders.title(), Kind::Orders.style()),
        ],
        note: "Dashes: the bounds, black as printed, grey with corrected constants. Means over the games."
            .to_owned(),
    }
}

fn data(all: &[Series]) -> Table {
    table!("data", [
        for series in all;
        for (game, errors) in series.errors.iter().enumerate();
        for (level, steps) in STEPS.into_iter().enumerate();
    ]
        "d" => series.players,
        "step" => series.kind.title(),
        "T" => steps,
        "game" => game,
        "squared_error" => errors[level],
        "printed_bound" => series.printed.get(game).map(|bounds| bounds[level]),
        "corrected_bound" => series.corrected.get(game).map(|bounds| bounds[level]),
    )
}
