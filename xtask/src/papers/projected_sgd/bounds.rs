//! The bounds of the error of stochastic gradients (section 4.2), with their constants, beside the errors that are made. Not a figure of the
//! paper.
//!
//! # Notation
//!
//! `F(φ) = Σ_S w_S (x·φ − y_S)²` over K, the plane Σφ = c within ‖φ‖ ≤ D; |y| ≤ C; `E‖∇‖² ≤ B²` for the stochastic gradient at every point of K;
//! μ the strong convexity of F, κ = B/μ; T steps.
//!
//! ```text
//! γ_t = 2/(μ(t+1)), weighted average    E‖φ̄ − φ*‖² ≤ 4κ²/T
//! γ_t = 2D/(B√t), uniform average       E‖φ̄ − φ*‖² ≤ 6Dκ/√T                          (printed: 4)
//! γ < 1/μ, last iterate                 E‖φ_T − φ*‖² ≤ (1 − γμ)^T ‖φ_0 − φ*‖² + γB²/μ
//! ```
//!
//! On games known whole, with C the largest |y| and D a tenth more than ‖φ*‖. Errors and bounds are in units of D².

use anyhow::Result;
use apportion::estimators::{
    FullBudget, GradientLaw, IterateSet, OptimizedMonteCarlo, Orders, ProjectedGradient,
};
use apportion::games::{Purpose, TabulatedGame, stream};
use apportion::values::enumerate;
use apportion::{Estimator, Semivalue};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::task::{PairGame, Pairs, Task};
use super::theory::{GradientBounds, StepRule, weights};
use crate::comparison::{squared_distance, squared_norm};
use crate::reproduce::catalogue::Made;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Style, looks, palette};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::report::{Table, notes, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::{mean, slope};
use crate::reproduce::store::derive_seed;
use crate::reproduce::verdict::{By, Case, Claim, Resamples, Test, Verdict, are_contradicted};

const PLAYERS: [usize; 3] = [4, 8, 12];

/// T.
const STEPS: [usize; 5] = [256, 1024, 4096, 16384, 65536];

/// Constant steps in units of 1/μ.
const CONSTANTS: [f64; 3] = [0.02, 0.005, 0.00125];

/// How much larger D is than the norm that it bounds.
const ROOM: f64 = 1.1;

/// How much flatter than the bound a slope in T may be.
const SLACK: f64 = 0.2;

/// How far from 1 the slope of what a constant step leaves in the step may be.
const PROPORTION: f64 = 0.2;

/// Points of K at which gradients are looked at, beside φ* and φ_0.
const POINTS: usize = 8;

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Inverse,
    SquareRoot,
    /// The number of the step in [`CONSTANTS`].
    Constant(usize),
    /// Optimized Monte Carlo at the same evaluations.
    Orders,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Inverse,
        Self::SquareRoot,
        Self::Constant(0),
        Self::Constant(1),
        Self::Constant(2),
        Self::Orders,
    ];

    fn title(self) -> String {
        match self {
            Self::Inverse => "2/(μ(t+1))".to_owned(),
            Self::SquareRoot => "2D/(B√t)".to_owned(),
            Self::Constant(which) => format!("{}/μ, last iterate", CONSTANTS[which]),
            Self::Orders => "optimized Monte Carlo".to_owned(),
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Inverse => looks::GRADIENT_INVERSE,
            Self::SquareRoot => looks::GRADIENT_SQUARE_ROOT,
            Self::Constant(_) => looks::GRADIENT_CONSTANT_LAST,
            Self::Orders => looks::RANDOM_ORDERS,
        }
    }

    fn estimator(self, known: &Known) -> Box<dyn Estimator> {
        let published = match self {
            Self::Inverse => ProjectedGradient::inverse(),
            Self::SquareRoot => ProjectedGradient::square_root(known.bounds.square_root_step()),
            Self::Constant(which) => {
                ProjectedGradient::constant(CONSTANTS[which] / known.bounds.strong_convexity())
            }
            Self::Orders => {
                let orders = OptimizedMonteCarlo::default().with_orders(Orders::Independent);
                return Box::new(orders.with_full_budget(FullBudget::Sample));
            }
        };
        Box::new(
            published
                .with_set(IterateSet::Ball(known.norm))
                .with_value_bound(Some(known.value))
                .with_full_budget(FullBudget::Sample),
        )
    }

    /// The bound of the mean squared error, in units of D²; none for what the theory says nothing of.
    fn bound(self, known: &Known, steps: usize) -> Option<f64> {
        let rule = match self {
            Self::Inverse => StepRule::Inverse,
            Self::SquareRoot => StepRule::SquareRoot,
            Self::Constant(which) => StepRule::Constant {
                step: CONSTANTS[which] / known.bounds.strong_convexity(),
                start: known.start,
            },
            Self::Orders => return None,
        };
        Some(known.bounds.expected_error(rule, steps as f64) / known.norm.powi(2))
    }
}

/// A game known whole.
struct Known {
    game: TabulatedGame,
    truth: Vec<f64>,
    /// D.
    norm: f64,
    /// C.
    value: f64,
    /// ‖φ_0 − φ*‖².
    start: f64,
    bounds: GradientBounds,
}

impl Known {
    fn draw(players: usize, pair: usize, seed: u64) -> Result<Self> {
        let drawn = PairGame::draw(Task::Regression, players, Pairs::Shown, pair, seed)?;
        let game = TabulatedGame::from_game(&drawn)?;
        let truth = enumerate(&game, Semivalue::Shapley)?.values;
        let values = game.values_in_order();
        let value = values.iter().map(|value| (value - values[0]).abs()).fold(0.0, f64::max);
        let norm = ROOM * squared_norm(&truth).sqrt();
        let mean = truth.iter().sum::<f64>() / players as f64;
        let start = truth.iter().map(|value| (value - mean).powi(2)).sum();
        let bounds = GradientBounds { players, norm, value, law: GradientLaw::Importance };
        Ok(Self { game, truth, norm, value, start, bounds })
    }

    fn players(&self) -> usize {
        self.truth.len()
    }

    fn digest(&self) -> Digest {
        Digest::of(self.game.values_in_order().iter().copied())
    }

    /// The largest `E‖∇‖²` of the importance law among some points of K, by all coalitions, over B².
    fn largest_gradient(&self, pair: usize, seed: u64) -> Result<f64> {
        let n = self.players();
        let centre = self.truth.iter().sum::<f64>() / n as f64;
        let radius = (self.norm.powi(2) - n as f64 * centre * centre).max(0.0).sqrt();
        let mut points = vec![self.truth.clone(), vec![centre; n]];
        let mut rng = stream(derive_seed(&("points", n, pair, seed))?, Purpose::Experiment, 0);
        for _ in 0..POINTS {
            let drawn: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut rng)).collect();
            let mean = drawn.iter().sum::<f64>() / n as f64;
            let along: Vec<f64> = drawn.iter().map(|value| value - mean).collect();
            let length = squared_norm(&along).sqrt();
            points.push(along.iter().map(|value| centre + radius * value / length).collect());
        }
        let most = points.iter().map(|point| self.gradient_square(point)).fold(0.0, f64::max);
        Ok(most / self.bounds.gradient_norm().powi(2))
    }

    /// `Σ_S p_S ‖2 (w_S/p_S) (x·φ − y_S) x‖²`, with p_S in proportion to `w_S √l (D √l + C)`.
    fn gradient_square(&self, point: &[f64]) -> f64 {
        let n = self.players();
        let values = self.game.values_in_order();
        let weights = weights(n);
        let bound = |size: usize| {
            weights[size] * (size as f64).sqrt() * (self.norm * (size as f64).sqrt() + self.value)
        };
        let masks = || 1..values.len() - 1;
        let total: f64 = masks().map(|mask| bound(mask.count_ones() as usize)).sum();
        masks()
            .map(|mask| {
                let size = mask.count_ones() as usize;
                let fitted: f64 =
                    (0..n).filter(|player| mask >> player & 1 == 1).map(|player| point[player]).sum();
                let residual = fitted - (values[mask] - values[0]);
                let probability = bound(size) / total;
                4.0 * weights[size].powi(2) / probability * residual.powi(2) * size as f64
            })
            .sum()
    }
}

/// The least and the largest eigenvalue of the Hessian of F along the plane, by its form `2 Σ_S w_S (x·u)²` on an orthonormal basis.
///
/// By symmetry the Hessian is `(a − b) I + b 11ᵀ`, so that its off-diagonal entries along the plane are zero; that is looked at, too.
fn curvatures(players: usize) -> (f64, f64) {
    let weights = weights(players);
    let basis: Vec<Vec<f64>> = (1..players)
        .map(|last| {
            let length = ((last * (last + 1)) as f64).sqrt();
            (0..players)
                .map(|player| match player.cmp(&last) {
                    std::cmp::Ordering::Less => 1.0 / length,
                    std::cmp::Ordering::Equal => -(last as f64) / length,
                    std::cmp::Ordering::Greater => 0.0,
                })
                .collect()
        })
        .collect();
    let entry = |one: &[f64], other: &[f64]| -> f64 {
        (1..(1_usize << players) - 1)
            .map(|mask| {
                let along = |vector: &[f64]| -> f64 {
                    (0..players).filter(|player| mask >> player & 1 == 1).map(|player| vector[player]).sum()
                };
                2.0 * weights[mask.count_ones() as usize] * along(one) * along(other)
            })
            .sum()
    };
    // Gershgorin: eigenvalues are within the sums of the other entries of their rows.
    basis.iter().enumerate().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (at, one)| {
        let others = basis.iter().enumerate().filter(|(other, _)| *other != at);
        let away: f64 = others.map(|(_, other)| entry(one, other).abs()).sum();
        let own = entry(one, one);
        (low.min(own - away), high.max(own + away))
    })
}

/// What tells a run of every length on one game from others.
#[derive(Serialize)]
struct RunKey {
    players: usize,
    pair: usize,
    kind: Kind,
    steps: [usize; 5],
}

/// ‖φ̂ − φ*‖²/D² by T.
#[derive(Serialize, Deserialize)]
struct Errors(Vec<f64>);

fn errors(cell: &Cell<RunKey, &Known>) -> Result<Errors> {
    let (RunKey { players, pair, kind, .. }, known) = (&cell.key, cell.with);
    let seed = derive_seed(&("bounds", players, pair, kind, cell.made_of.seed))?;
    let estimator = kind.estimator(known);
    let error = |steps: usize| -> Result<f64> {
        let explanation = estimator.estimate(&known.game, steps + 2, seed)?;
        Ok(squared_distance(&explanation.values, &known.truth) / known.norm.powi(2))
    };
    Ok(Errors(STEPS.into_iter().map(error).collect::<Result<_>>()?))
}

/// All runs of one kind in games of one size.
struct Series {
    players: usize,
    kind: Kind,
    /// By game, by T.
    errors: Vec<Vec<f64>>,
    /// Those of the theory; empty where it says nothing.
    bounds: Vec<Vec<f64>>,
}

impl Series {
    fn games(&self) -> Vec<usize> {
        (0..self.errors.len()).collect()
    }

    fn mean(numbers: &[Vec<f64>], games: &[usize], level: usize) -> f64 {
        games.iter().map(|&game| numbers[game][level]).sum::<f64>() / games.len() as f64
    }

    /// Of ln mean error in ln T.
    fn slope(&self, games: &[usize]) -> f64 {
        let point = |(level, steps): (usize, &usize)| {
            ((*steps as f64).ln(), Self::mean(&self.errors, games, level).ln())
        };
        slope(&STEPS.iter().enumerate().map(point).collect::<Vec<_>>())
    }

    /// The largest mean over the games of the error in units of its bound.
    fn largest_share(&self) -> f64 {
        (0..STEPS.len()).map(|level| mean(&self.shares(level))).fold(0.0, f64::max)
    }

    fn shares(&self, level: usize) -> Vec<f64> {
        self.errors.iter().zip(&self.bounds).map(|(error, bound)| error[level] / bound[level]).collect()
    }

    /// That errors are within their bounds on average, after any number of steps.
    fn is_bounded(&self) -> Test {
        Test::all((0..STEPS.len()).map(|level| Test::mean_below(&self.shares(level), 1.0)))
    }

    fn falls_as(&self, power: f64) -> Test {
        Resamples::of(self.errors.len(), |games| self.slope(games)).below(SLACK - power)
    }
}

/// Errors beside their bounds.
pub(super) fn bounds(session: &Session) -> Result<Made> {
    let games: Vec<Vec<Known>> = PLAYERS
        .into_iter()
        .map(|players| (0..session.runs).map(|pair| Known::draw(players, pair, session.seed)).collect())
        .collect::<Result<_>>()?;
    let played: Vec<Vec<Digest>> =
        games.iter().map(|of_size| of_size.iter().map(Known::digest).collect()).collect();
    let mut cells = Vec::new();
    for ((players, of_size), played) in PLAYERS.into_iter().zip(&games).zip(&played) {
        for kind in Kind::ALL {
            for ((pair, known), played) in of_size.iter().enumerate().zip(played) {
                // On the game itself, as the ball is its own.
                let estimator = kind.estimator(known);
                let answer = estimator.estimate(&known.game, STEPS[0] + 2, 1)?;
                let method = Digest::of_data(&(estimator.name(), estimator.settings(), answer))?;
                // The truth is enumerated from the game.
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
            let bounds = |known: &Known| STEPS.iter().map(|&steps| kind.bound(known, steps)).collect();
            let bounds = of_size.iter().map_while(bounds).collect();
            all.push(Series { players, kind, errors, bounds });
        }
    }
    let gradients = of_gradients(&games, session.seed)?;
    Ok(Made {
        data: data(&all),
        figure: Some(figure(&all)),
        tables: vec![constants(&games, &gradients), table(&all)],
        claims: claims(&all, &gradients),
        notes: notes![
            "the paper's simulated regression task with few features, so that games are known whole: C is the largest |v(S)|, D is 1.1 ‖φ*‖; \
             iterates are projected on Σφ = v(M), ‖φ‖ ≤ D; importance sampling; one coalition a step",
            "constants are the corrected ones: F has the Hessian 2XᵀWX, so that μ = 2(1 − 1/d), where 1 − 1/d is printed; κ = B/μ, where 4 times \
             that (by the printed μ: 2 times) is printed, so that the printed 4κ²/T is 16 times as large; for steps as 1/√t the sums of the paper's \
             source come to 3DB/√T, where 2DB/√T is printed",
        ],
        datasets: Vec::new(),
    })
}

/// The largest `E‖∇‖²/B²` of each size.
fn of_gradients(games: &[Vec<Known>], seed: u64) -> Result<Vec<f64>> {
    let of_size = |of_size: &Vec<Known>| -> Result<f64> {
        let shares = of_size.iter().enumerate().map(|(pair, known)| known.largest_gradient(pair, seed));
        Ok(shares.collect::<Result<Vec<f64>>>()?.into_iter().fold(0.0, f64::max))
    };
    games.iter().map(of_size).collect()
}

fn claims(all: &[Series], gradients: &[f64]) -> Vec<Claim> {
    let curvatures: Vec<(usize, (f64, f64))> =
        (3..=8).map(|players| (players, curvatures(players))).collect();
    let is = |wanted: &dyn Fn(f64) -> f64| {
        curvatures.iter().all(|&(players, (low, high))| {
            let wanted = wanted(players as f64);
            (low - wanted).abs() < 1e-9 && (high - wanted).abs() < 1e-9
        })
    };
    let seen: Vec<String> = (curvatures.iter())
        .map(|(players, (low, high))| {
            format!("d = {players}: {} to {}", significant(*low), significant(*high))
        })
        .collect();
    let convex = |claim: &str, source: &str, rule: &str, wanted: &dyn Fn(f64) -> f64| {
        Claim::fact(
            claim,
            source,
            rule,
            Some(is(wanted)),
            format!("eigenvalues along the plane, {}", seen.join("; ")),
        )
    };
    let shares: Vec<String> =
        PLAYERS.iter().zip(gradients).map(|(d, share)| format!("d = {d}: {}", significant(*share))).collect();
    vec![
        convex(
            "F is strongly convex with μ = 1 − 1/d, its condition number is 1",
            "section 4.2",
            "all eigenvalues of the Hessian of F along the plane are 1 − 1/d, to 1e-9",
            &|d| 1.0 - 1.0 / d,
        ),
        convex(
            "F is strongly convex with μ = 2(1 − 1/d), its condition number is 1",
            "this project, in place of section 4.2",
            "all eigenvalues of the Hessian of F along the plane are 2(1 − 1/d), to 1e-9",
            &|d| 2.0 * (1.0 - 1.0 / d),
        ),
        Claim::fact(
            "E‖∇‖² ≤ B² in K, with importance sampling",
            "section 4.2",
            "it is so at φ*, φ_0 and points on the edge of K, by all coalitions",
            Some(gradients.iter().all(|share| *share <= 1.0)),
            format!("largest E‖∇‖²/B², {}", shares.join("; ")),
        ),
        rate(all, "with steps 2/(μ(t+1)) the mean squared error is at most 4κ²/T", Kind::Inverse, 1.0),
        rate(all, "with steps 2D/(B√t) the mean squared error is at most 6Dκ/√T", Kind::SquareRoot, 0.5),
        constant_steps(all),
    ]
}

/// The bound of a rule that goes to zero as a power of 1/T, beside what does not know of it.
fn rate(all: &[Series], claim: &str, kind: Kind, power: f64) -> Claim {
    let of = |kind: Kind| all.iter().filter(move |series| series.kind == kind);
    let words =
        |series: &Series| format!("d = {}: slope {:.2}", series.players, series.slope(&series.games()));
    let falls = |series: &Series| Case::new(words(series), series.falls_as(power));
    let mut cases: Vec<Case> = of(kind).map(falls).collect();
    cases.extend(of(kind).map(|series| {
        let share = significant(series.largest_share());
        Case::new(format!("d = {}: at most {share} of the bound", series.players), series.is_bounded())
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
        "section 4.2, constants corrected",
        &format!(
            "a number of features, and the slope or the bound; it agrees if the slope of ln mean error in ln T is below {:.1}, or if the mean \
             over games of the error in units of its bound is below 1 at every T. Where no other method contradicts the slope, there is no verdict",
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

/// The bound of constant steps: what is left in the end is in proportion to the step.
fn constant_steps(all: &[Series]) -> Claim {
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
        let slope = Resamples::of(of_size[0].errors.len(), floors);
        cases.push(Case::new(
            format!("d = {players}: slope in γ {:.2}", slope.value),
            Test::all([slope.above(1.0 - PROPORTION), slope.below(1.0 + PROPORTION)]),
        ));
        let share = of_size.iter().map(|series| series.largest_share()).fold(0.0, f64::max);
        cases.push(Case::new(
            format!("d = {players}: at most {} of the bound", significant(share)),
            Test::all(of_size.iter().map(|series| series.is_bounded())),
        ));
    }
    By::Resampling.in_all(
        "with a constant step the mean squared error of the last iterate is at most (1 − γμ)^T ‖φ_0 − φ*‖² + γB²/μ",
        "section 4.2, constants corrected",
        &format!(
            "a number of features, and the bound or what is left in the end; it agrees if the mean over games of the error in units of its bound is \
             below 1 at every T and γ, or if the slope of ln error in ln γ, its mean over games, after {} and {} steps is within {PROPORTION} of 1",
            STEPS[STEPS.len() - 2],
            STEPS[STEPS.len() - 1]
        ),
        cases,
    )
}

fn constants(games: &[Vec<Known>], gradients: &[f64]) -> Table {
    let average =
        |games: &[Known], of: &dyn Fn(&Known) -> f64| mean(&games.iter().map(of).collect::<Vec<f64>>());
    let norm = |games: &[Known], law: GradientLaw| {
        average(games, &|known| GradientBounds { law, ..known.bounds }.gradient_norm() / known.norm)
    };
    table!("Constants, means over the games", [
        for ((players, games), gradient) in PLAYERS.into_iter().zip(games).zip(gradients);
    ]
        "d" => players,
        "D/C, mean" => average(games, &|known| known.norm / known.value),
        "μ" => games.first().map(|known| known.bounds.strong_convexity()),
        "B/D, uniform" => norm(games, GradientLaw::Uniform),
        "B/D, importance" => norm(games, GradientLaw::Importance),
        "B/D, centred*" => norm(games, GradientLaw::Centred),
        "κ/D" => average(games, &|known| known.bounds.condition() / known.norm),
        "largest E‖∇‖²/B²" => *gradient,
        "T for 0.01 D² by 4κ²/T" => average(games, &|known| 4.0 * (known.bounds.condition() / known.norm).powi(2) / 0.01),
    )
}

fn table(all: &[Series]) -> Table {
    table!("Mean squared errors beside their bounds", [
        for series in all;
        for (level, steps) in STEPS.into_iter().enumerate();
        let (games, bounded) = (series.games(), !series.bounds.is_empty());
    ]
        "d" => series.players,
        "step" => series.kind.title(),
        "T" => steps,
        "mean error / D²" => Series::mean(&series.errors, &games, level),
        "its bound / D²" => bounded.then(|| Series::mean(&series.bounds, &games, level)),
        "largest error / bound of a game" => bounded.then(|| series.shares(level).into_iter().fold(0.0, f64::max)),
        "slope in T" => series.slope(&games),
    )
}

fn figure(all: &[Series]) -> Figure {
    let kinds = [Kind::Inverse, Kind::SquareRoot, Kind::Constant(0), Kind::Constant(2)];
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
            marks.push(Mark::Dashes { colour: palette::BLACK, points: points(series, &series.bounds) });
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
        title: "Mean squared error of stochastic gradients beside the bounds of section 4.2".to_owned(),
        panels: PLAYERS
            .into_iter()
            .flat_map(|d| kinds.map(|kind| (kind, d)))
            .map(|(k, d)| panel(k, d))
            .collect(),
        columns: kinds.len(),
        legend: vec![
            (Kind::Inverse.title(), Kind::Inverse.style()),
            (Kind::SquareRoot.title(), Kind::SquareRoot.style()),
            ("constant, last iterate".to_owned(), Kind::Constant(0).style()),
            (Kind::Orders.title(), Kind::Orders.style()),
        ],
        note: "Dashes: the bounds, with corrected constants. Means over the games.".to_owned(),
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
        "bound" => series.bounds.get(game).map(|bounds| bounds[level]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_gradients_are_those_of_drawn_coalitions() {
        let known = Known::draw(4, 0, 3).unwrap();
        let point = [0.3, -0.2, 0.5, 0.1];
        // ‖E∇‖² ≤ E‖∇‖², where E∇ = 2 Σ w_S (x·φ − y) x; and the two are equal only if all gradients are alike.
        let (values, weights) = (known.game.values_in_order(), weights(4));
        let mut gradient = [0.0; 4];
        for mask in 1..15_usize {
            let members: Vec<usize> = (0..4).filter(|player| mask >> player & 1 == 1).collect();
            let fitted: f64 = members.iter().map(|&player| point[player]).sum();
            let factor = 2.0 * weights[members.len()] * (fitted - values[mask] + values[0]);
            members.iter().for_each(|&player| gradient[player] += factor);
        }
        assert!(known.gradient_square(&point) > squared_norm(&gradient));
        // Twice the residuals are four times the squares.
        let zero = [0.0; 4];
        let doubled =
            Known { game: TabulatedGame::new(values.iter().map(|v| 2.0 * v).collect(), 1).unwrap(), ..known };
        let ratio = doubled.gradient_square(&zero) / Known::draw(4, 0, 3).unwrap().gradient_square(&zero);
        assert!((ratio - 4.0).abs() < 1e-12, "{ratio}");
    }

    #[test]
    fn eigenvalues_along_the_plane_are_all_alike() {
        for players in 3..8 {
            let (low, high) = curvatures(players);
            let wanted = 2.0 * (1.0 - 1.0 / players as f64);
            assert!((low - wanted).abs() < 1e-12 && (high - wanted).abs() < 1e-12, "{players}: {low} {high}");
        }
    }

    #[test]
    fn games_are_within_their_constants() {
        let known = Known::draw(6, 1, 0).unwrap();
        let values = known.game.values_in_order();
        assert!(values.iter().all(|value| (value - values[0]).abs() <= known.value));
        assert!(squared_norm(&known.truth).sqrt() < known.norm);
        let share = known.largest_gradient(1, 0).unwrap();
        assert!(share > 0.0 && share <= 1.0, "{share}");
    }
}
