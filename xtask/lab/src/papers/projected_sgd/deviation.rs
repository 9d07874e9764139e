//! The high-probability bounds of appendix 8.2, derived from the deviation inequality of section 4.2, and
//! corrected bounds that do hold.
//!
//! # As printed
//!
//! `E[Z] ≤ A` implies `P(Z ≥ A(2 + 4a)) ≤ 2 exp(−a²)`; with Z = ‖φ̄ − φ*‖² and A its printed bound,
//! `P(Z ≥ ε) ≤ 2 exp(−(ε/A − 2)²/16)`.
//!
//! The inequality is false (see [`counterexample`](super::counterexample)). Its source proves it for
//! projected gradients with steps proportional to 1/√t, if every gradient has a norm of at most B, and not
//! for arbitrary random variables. It holds for Z with `E exp(Z²/A²) ≤ e`, by Markov's inequality:
//! `P(Z ≥ A(2 + 4a)) ≤ exp(1 − (2 + 4a)²) ≤ 2 exp(−a²)`.
//!
//! # What holds
//!
//! Let `Δ_t = ‖φ_t − φ*‖²`, g_t the gradient drawn at φ_{t−1}, and
//! `M_t = (∇F(φ_{t−1}) − g_t)·(φ_{t−1} − φ*)`. With importance sampling, ‖g_t‖ ≤ B for every coalition, not
//! only on average. `Δ_t ≤ Δ_{t−1} − 2γ_t g_t·(φ_{t−1} − φ*) + γ_t² B²` then implies in every run
//!
//! ```text
//! γ_t = 2D/(B√t):      Σ_{t≤T} (F(φ_{t−1}) − F(φ*))   ≤ 3DB√T  + Σ_{t≤T} M_t
//! γ_t = 2/(μ(t+1)):    Σ_{t≤T} t (F(φ_{t−1}) − F(φ*)) ≤ TB²/μ + Σ_{t≤T} t M_t
//! ```
//!
//! M_t has mean 0 given the past and lies in an interval of length 4DB, so by the Azuma–Hoeffding inequality
//! `P(Σ c_t M_t ≥ s) ≤ exp(−s²/(8 D²B² Σ c_t²))`. Since F(φ̄) is at most the weighted mean, and ‖φ̄ − φ*‖² ≤
//! (2/μ)(F(φ̄) − F(φ*)):
//!
//! ```text
//! γ_t = 2D/(B√t):      P(‖φ̄ − φ*‖² ≥ (6 + 4√2 a) Dκ/√T)             ≤ exp(−a²)
//! γ_t = 2/(μ(t+1)):    P(‖φ̄ − φ*‖² ≥ 4κ²/T + 8√(2/3) a Dκ/√T)       ≤ exp(−a²)
//! ```
//!
//! for any μ for which F is μ-strongly convex, with κ = B/μ. (The averages of the paper are over φ_0 to φ_T
//! and φ_1 to φ_T: one more term, which increases neither bound.) The first bound is below the printed bound
//! for the same rule, so the printed bound is true. The second bound decreases like exp(−ε²T). The printed
//! bound for that rule decreases like exp(−ε²T²), and cannot hold.

use anyhow::Result;

use super::counterexample::{AlikeDraws, DiscreteDistribution, log_of_bound};
use super::descent::PrintedRule;
use super::known_game::KnownGame;
use super::markov;
use super::tails::{MAX_ERROR, STEPS, Tail, tails};
use super::theory::Constants;
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, palette, styles};
use crate::reproduce::report::{Table, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// The values of `a` for the printed bounds.
const DEVIATIONS: [f64; 4] = [1.0, 1.5, 2.0, 3.0];

/// The values of `a` for the bounds that hold.
const OWN_DEVIATIONS: [f64; 3] = [0.5, 1.0, 1.5];

/// Numbers of steps T in the event that all draws agree, for the rule whose printed bound fails.
const INVERSE_STEPS: [usize; 4] = [1 << 14, 1 << 17, 1 << 20, 1 << 23];
/// Numbers of steps T in the event that all draws agree, for a rule whose printed bound holds.
const SQUARE_ROOT_STEPS: [usize; 2] = [1 << 14, 1 << 20];

/// Sizes of constant steps γ, in units of 1/μ. Each run takes 1/γ steps.
const CONSTANTS: [f64; 4] = [5e-3, 5e-4, 5e-5, 5e-6];

/// Values of ε/A at which bounds are compared, starting where the printed bound is below 1.
const RATIOS: [f64; 6] = [6.0, 8.0, 12.0, 20.0, 100.0, 10_000.0];

pub(super) fn deviation(session: &Session) -> Result<ArtefactOutput> {
    let tails = tails(session)?;
    let one_step = DiscreteDistribution::of_one_step()?;
    let alike = Alike::all()?;
    Ok(ArtefactOutput {
        data: alike.table("data"),
        figure: Some(figure(&one_step, &alike)),
        tables: vec![
            inequality(&one_step),
            alike.table(
                "Two players, all T draws the same: the logarithm (base 10) of its probability and \
                of its bound by appendix 8.2",
            ),
            shares(&tails),
        ],
        claims: vec![
            of_any_number(&one_step),
            alike.judge(
                "with steps 2/(μ(t+1)) P(‖φ̄ − φ*‖² ≥ ε) is at most 2 exp(−(εT/(4κ²) − 2)²/16) for all ε",
                PrintedRule::Inverse,
                &tails,
            ),
            square_root(&tails, &alike),
            alike.judge(
                "with a constant step P(‖φ_T − φ*‖² ≥ ε) is at most 2 exp(−(ε/(ρ^T ‖φ_0 − φ*‖² + γB²/μ) − \
                 2)²/16) for all ε",
                PrintedRule::Constant(0.0),
                &tails,
            ),
            own(
                "with steps 2D/(B√t) P(‖φ̄ − φ*‖² ≥ (6 + 4√2 a) Dκ/√T) is at most exp(−a²)",
                &tails,
                PrintedRule::SquareRoot,
            ),
            own(
                "with steps 2/(μ(t+1)) P(‖φ̄ − φ*‖² ≥ 4κ²/T + 8√(2/3) a Dκ/√T) is at most exp(−a²)",
                &tails,
                PrintedRule::Inverse,
            ),
        ],
        notes: {
            let mut notes = markov::notes(&tails);
            notes.push(
                "what holds instead of the deviation inequality is the Azuma–Hoeffding inequality: with \
                 importance sampling every gradient, and not only the mean of their squares, is bounded by \
                 B. For steps proportional to 1/√t it gives a stronger result than appendix 8.2 prints; for \
                 steps proportional to 1/t it gives a tail like exp(−ε²T), not exp(−ε²T²)"
                    .to_owned(),
            );
            notes
        },
        datasets: Vec::new(),
    })
}

fn printed(a: f64) -> f64 {
    2.0 * (-a * a).exp()
}

fn of_any_number(one_step: &DiscreteDistribution) -> Claim {
    let seen: Vec<String> = DEVIATIONS
        .iter()
        .map(|&a| {
            format!(
                "a = {a}: {} of two points, {} of a step, {} is said",
                significant(DiscreteDistribution::of_two_points(a).beyond(a)),
                significant(one_step.beyond(a)),
                significant(printed(a))
            )
        })
        .collect();
    let holds = |a: f64| {
        DiscreteDistribution::of_two_points(a).beyond(a) <= printed(a) && one_step.beyond(a) <= printed(a)
    };
    Claim::fact(
        "E[Z] ≤ A implies P(Z ≥ A(2 + 4a)) ≤ 2 exp(−a²), for all a and A",
        "section 4.2, appendix 8.2",
        "this is true for a Z that is A(2 + 4a) with probability 1/(2 + 4a) and 0 otherwise, and for the \
         squared error of the paper's algorithm after one step in a game in which one coalition of four of \
         eight players has the value 1 and all others 0 (A = E[Z], exact over all coalitions)",
        Some(DEVIATIONS.into_iter().all(holds)),
        seen.join("; "),
    )
}

/// The events in which all draws agree, for each step rule.
struct Alike(Vec<AlikeDraws>);

impl Alike {
    fn all() -> Result<Self> {
        let inverse = INVERSE_STEPS.map(|steps| (PrintedRule::Inverse, steps));
        let square_root = SQUARE_ROOT_STEPS.map(|steps| (PrintedRule::SquareRoot, steps));
        // γ = 2 · size, since μ = 1/2 with two players.
        let constant = CONSTANTS.map(|size| (PrintedRule::Constant(size), (0.5 / size).round() as usize));
        let all = inverse.into_iter().chain(square_root).chain(constant);
        Ok(Self(all.map(|(rule, steps)| AlikeDraws::after(rule, steps)).collect::<Result<_>>()?))
    }

    fn draws(&self, rule: PrintedRule) -> impl Iterator<Item = &AlikeDraws> {
        self.0.iter().filter(move |event| markov::is_alike(event.rule, rule))
    }

    fn judge(&self, claim: &str, rule: PrintedRule, tails: &[Tail]) -> Claim {
        let words = |event: &AlikeDraws| {
            format!(
                "T = {}: P at least 10^{:.0} that the error is {}, {} is said",
                event.steps,
                event.log_of_probability(),
                significant(event.error),
                if event.error < 2.0 * event.bound {
                    "nothing".to_owned()
                } else {
                    format!("at most 10^{:.0}", event.log_of_bound())
                }
            )
        };
        let seen: Vec<String> = self.draws(rule).map(words).collect();
        let above: usize =
            measured(tails, rule).filter(|of| of.count as f64 > of.limit * of.runs as f64).count();
        Claim::fact(
            claim,
            "appendix 8.2",
            "in a game of two players, v({1}) = v({2}) = 1 and v(M) = 0, the probability 2^(1−T) that all T \
             draws are the same is no larger than the bound at the error that this leads to, κ being the \
             largest that is printed",
            Some(self.draws(rule).all(AlikeDraws::is_bounded)),
            seen.join("; "),
        )
        .and(&format!(
            "of {} shares of runs with 3 and 4 features {above} are above the bound",
            measured(tails, rule).count()
        ))
    }

    fn table(&self, caption: &str) -> Table {
        table!(caption, [
            for event in &self.0;
        ]
            "step" => event.rule.title(),
            "T" => event.steps,
            "ε, the error" => event.error,
            "A" => event.bound,
            "log10 P" => event.log_of_probability(),
            "log10 bound" => event.log_of_bound(),
        )
    }
}

/// The share of runs with an error of at least ε, and the bound on this share.
struct Share {
    title: String,
    players: usize,
    rule: PrintedRule,
    steps: usize,
    a: f64,
    /// ε, in units of D².
    error: f64,
    count: usize,
    runs: usize,
    /// Upper bound on the share.
    limit: f64,
}

/// Returns the shares at ε = A(2 + 4a), as long as errors can be that large and the bound is below 1.
fn measured(tails: &[Tail], rule: PrintedRule) -> impl Iterator<Item = Share> {
    let at = |tail: &Tail, level: usize, a: f64| {
        let error = tail.bound(level) * (2.0 + 4.0 * a);
        share(tail, level, a, error, printed(a))
    };
    each(tails, rule, &DEVIATIONS, at)
}

/// Returns the shares at the ε of the bounds that hold.
fn measured_by_own(tails: &[Tail], rule: PrintedRule) -> impl Iterator<Item = Share> {
    let at = |tail: &Tail, level: usize, a: f64| {
        let error = own_limit(&tail.known, tail.rule, STEPS[level] as f64, a) / tail.known.norm.powi(2);
        share(tail, level, a, error, (-a * a).exp())
    };
    each(tails, rule, &OWN_DEVIATIONS, at)
}

fn each(
    tails: &[Tail],
    rule: PrintedRule,
    deviations: &[f64],
    at: impl Fn(&Tail, usize, f64) -> Share,
) -> impl Iterator<Item = Share> {
    let mut shares = Vec::new();
    for tail in tails.iter().filter(|tail| markov::is_alike(tail.rule, rule)) {
        for level in 0..STEPS.len() {
            shares.extend(deviations.iter().map(|&a| at(tail, level, a)));
        }
    }
    shares.into_iter().filter(|share| share.error <= MAX_ERROR && share.limit < 1.0)
}

fn share(tail: &Tail, level: usize, a: f64, error: f64, limit: f64) -> Share {
    Share {
        title: format!("{}, a = {a}", tail.title(level)),
        players: tail.known.players(),
        rule: tail.rule,
        steps: STEPS[level],
        a,
        error,
        count: tail.exceeding(level, error),
        runs: tail.runs(),
        limit,
    }
}

impl Share {
    fn case(self) -> Case {
        let test = Test::share_above(self.count, self.runs, self.limit).opposite();
        Case::new(format!("{}: {} of {}", self.title, self.count, self.runs), test)
    }
}

/// Returns `(6 + 4√2 a) Dκ/√T` with κ for the smallest eigenvalue, or `4κ²/T + 8√(2/3) a Dκ/√T` with the
/// printed μ, which determines the steps.
fn own_limit(known: &KnownGame, rule: PrintedRule, steps: f64, a: f64) -> f64 {
    let root = steps.sqrt();
    match rule {
        PrintedRule::SquareRoot => {
            let condition = known.bounds.condition(Constants::Corrected);
            (6.0 + 4.0 * 2f64.sqrt() * a) * known.norm * condition / root
        }
        _ => {
            let condition = known.bounds.condition(Constants::Printed);
            4.0 * condition.powi(2) / steps + 8.0 * (2.0 / 3.0f64).sqrt() * a * known.norm * condition / root
        }
    }
}

/// Returns whether the bound that holds is below the printed bound for steps proportional to 1/√t, at ε = A
/// times each ratio.
///
/// `A = 4Dκ/√T` with the printed μ is `8Dκ/√T` with the smallest eigenvalue, so that T, D and κ cancel: at
/// `ε = rA` the bound that holds is `exp(−a²)` with `6 + 4√2 a = 8 r`.
fn follows() -> bool {
    RATIOS.into_iter().all(|ratio| {
        let a = (8.0 * ratio - 6.0) / (4.0 * 2f64.sqrt());
        -a * a / std::f64::consts::LN_10 <= log_of_bound(ratio)
    })
}

fn square_root(tails: &[Tail], alike: &Alike) -> Claim {
    let rule = PrintedRule::SquareRoot;
    let mut cases: Vec<Case> = measured(tails, rule).map(Share::case).collect();
    cases.push(Case::new("it follows from what holds, at every ε", Test::certain(follows())));
    cases.push(Case::new(
        "two players, all draws the same",
        Test::certain(alike.draws(rule).all(AlikeDraws::is_bounded)),
    ));
    By::Counts.in_all(
        "with steps 2D/(B√t) P(‖φ̄ − φ*‖² ≥ ε) is at most 2 exp(−(ε√T/(4Dκ) − 2)²/16) for all ε",
        "appendix 8.2",
        "a number of features, a T and an ε = A(2 + 4a) that an error can reach, and it agrees if the share \
         of runs with an error of at least ε is below the bound; or the event that all draws are the same; \
         or whether the bound follows from what was shown in another way",
        cases,
    )
}

fn own(claim: &str, tails: &[Tail], rule: PrintedRule) -> Claim {
    By::Counts.in_all(
        claim,
        "this project, in place of appendix 8.2",
        "a number of features, a T and an a; it agrees if the share of runs with an error of at least that \
         is below exp(−a²)",
        measured_by_own(tails, rule).map(Share::case),
    )
}

fn inequality(one_step: &DiscreteDistribution) -> Table {
    table!("P(Z ≥ A(2 + 4a)), A = E[Z]", [
        for a in DEVIATIONS;
        let two_points = DiscreteDistribution::of_two_points(a).beyond(a);
    ]
        "a" => a,
        "two points" => two_points,
        "a step in a game of one coalition" => one_step.beyond(a),
        "printed: 2 exp(−a²)" => printed(a),
        "Markov: 1/(2 + 4a)" => 1.0 / (2.0 + 4.0 * a),
    )
}

fn shares(tails: &[Tail]) -> Table {
    let rules = [PrintedRule::Inverse, PrintedRule::SquareRoot, PrintedRule::Constant(0.0)];
    let of_paper =
        rules.into_iter().flat_map(|rule| measured(tails, rule)).map(|share| ("appendix 8.2", share));
    let of_own =
        rules[..2].iter().flat_map(|&rule| measured_by_own(tails, rule)).map(|share| ("what holds", share));
    table!("Share of the runs with an error of at least ε", [
        for (bound, share) in of_paper.chain(of_own);
    ]
        "bound" => bound,
        "d" => share.players,
        "step" => share.rule.title(),
        "T" => share.steps,
        "a" => share.a,
        "ε / D²" => share.error,
        "runs" => share.runs,
        "share" => share.count as f64 / share.runs as f64,
        "at most" => share.limit,
    )
}

fn figure(one_step: &DiscreteDistribution, alike: &Alike) -> Figure {
    let grid: Vec<f64> = (0..=60).map(|at| 0.05 * f64::from(at)).collect();
    let curve = |of: &dyn Fn(f64) -> f64| grid.iter().map(|&a| (a, of(a))).collect::<Vec<_>>();
    let first = Panel {
        title: "E[Z] ≤ A, and Z ≥ A(2 + 4a)".to_owned(),
        x: Axis::linear("a"),
        y: Axis::log("probability", f64::MIN_POSITIVE),
        marks: vec![
            Mark::Dashes { colour: palette::BLACK, points: curve(&printed) },
            Mark::Curve {
                colour: palette::VERMILION,
                points: curve(&|a| DiscreteDistribution::of_two_points(a).beyond(a)),
            },
            Mark::Curve { colour: palette::BLUE, points: curve(&|a| one_step.beyond(a)) },
        ],
    };
    let of_rule = |title: &str, rule: PrintedRule| {
        let points = |of: &dyn Fn(&AlikeDraws) -> f64| -> Vec<(f64, f64)> {
            let said = alike
                .draws(rule)
                .filter(|event| event.error >= 2.0 * event.bound && event.log_of_bound() < 0.0);
            said.map(|event| (event.steps as f64, -of(event))).collect()
        };
        Panel {
            title: title.to_owned(),
            x: Axis::log("T", f64::MIN_POSITIVE),
            y: Axis::log("−log10 of the probability", f64::MIN_POSITIVE),
            marks: vec![
                Mark::Dashes { colour: palette::BLACK, points: points(&AlikeDraws::log_of_bound) },
                Mark::Line {
                    style: styles::GRADIENT_INVERSE,
                    points: points(&AlikeDraws::log_of_probability),
                },
            ],
        }
    };
    Figure {
        title: "The deviation inequality and the bounds of appendix 8.2".to_owned(),
        panels: vec![
            first,
            of_rule("2/(μ(t+1)), all T draws the same", PrintedRule::Inverse),
            of_rule("γ = 1/T, all T draws the same", PrintedRule::Constant(0.0)),
        ],
        columns: 3,
        legend: Vec::new(),
        note: "Dashes: what is printed. Left, red: two points; blue: the error after one step. Right, below \
            the dashes: more probable than the bound allows."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::theory::weights;
    use super::*;
    use crate::comparison::{squared_distance, squared_norm};
    use apportion::games::{Purpose, stream};
    use rand::RngExt;

    use super::super::descent::Descent;

    /// Returns the objective F at a point.
    fn objective(known: &KnownGame, point: &[f64]) -> f64 {
        let (values, weights) = (known.game.values_in_order(), weights(point.len()));
        let of_mask = |mask: usize| {
            let fitted: f64 = (0..point.len()).filter(|i| mask >> i & 1 == 1).map(|i| point[i]).sum();
            weights[mask.count_ones() as usize] * (fitted - (values[mask] - values[0])).powi(2)
        };
        (1..values.len() - 1).map(of_mask).sum()
    }

    /// Returns the stochastic gradient for a drawn coalition.
    fn draw_gradient(known: &KnownGame, point: &[f64], mask: usize) -> Vec<f64> {
        let size = mask.count_ones() as usize;
        let values = known.game.values_in_order();
        let fitted: f64 = (0..point.len()).filter(|i| mask >> i & 1 == 1).map(|i| point[i]).sum();
        let factor = 2.0 * weights(point.len())[size] / known.probabilities()[size];
        let of_player =
            |i: usize| if mask >> i & 1 == 1 { factor * (fitted - (values[mask] - values[0])) } else { 0.0 };
        (0..point.len()).map(of_player).collect()
    }

    #[test]
    fn what_holds_stands_on_inequalities_that_hold_in_every_run() {
        let known = KnownGame::draw(3, 1, 5).unwrap();
        let descent = Descent::new(&known);
        let (players, masks) = (3, 1..7_usize);
        let (norm, gradient_norm) = (known.norm, known.bounds.gradient_norm());
        let convexity = known.bounds.strong_convexity(Constants::Corrected);
        let least = objective(&known, &known.truth);
        let mut rng = stream(2, Purpose::Experiment, 0);
        for run in 0..40 {
            for rule in [PrintedRule::Inverse, PrintedRule::SquareRoot] {
                let mut point = vec![known.total() / 3.0; players];
                let (mut left, mut martingale) = (0.0, 0.0);
                for step in 1..=60_usize {
                    // In each of the first six runs, every step draws the same coalition; the other runs draw
                    // from all coalitions.
                    let mask = if run < 6 { run + 1 } else { rng.random_range(masks.clone()) };
                    let weight = if rule == PrintedRule::Inverse { step as f64 } else { 1.0 };
                    let away: Vec<f64> = point.iter().zip(&known.truth).map(|(x, y)| x - y).collect();
                    let along =
                        |gradient: &[f64]| gradient.iter().zip(&away).map(|(g, x)| g * x).sum::<f64>();
                    let own = draw_gradient(&known, &point, mask);
                    assert!(squared_norm(&own).sqrt() <= gradient_norm * (1.0 + 1e-12));
                    assert!(along(&own).abs() <= 2.0 * norm * gradient_norm);
                    let mean: f64 = masks
                        .clone()
                        .map(|mask| {
                            known.probabilities()[mask.count_ones() as usize]
                                * along(&draw_gradient(&known, &point, mask))
                        })
                        .sum();
                    left += weight * (objective(&known, &point) - least);
                    martingale += weight * (mean - along(&own));
                    // The step for the smallest eigenvalue is half the printed step.
                    let length =
                        rule.length(&known, step) * if rule == PrintedRule::Inverse { 0.5 } else { 1.0 };
                    descent.step(&mut point, mask, length);
                    let bound = match rule {
                        PrintedRule::Inverse => step as f64 * gradient_norm.powi(2) / convexity,
                        _ => 3.0 * norm * gradient_norm * (step as f64).sqrt(),
                    };
                    assert!(
                        left <= bound + martingale + 1e-9,
                        "{rule:?}, {step}: {left} {bound} {martingale}"
                    );
                }
                assert!(squared_distance(&point, &known.truth) <= MAX_ERROR * norm.powi(2));
            }
        }
    }

    /// The test enumerates all sequences of draws in a game with two players.
    #[test]
    fn no_bound_that_holds_is_exceeded_by_the_distribution_of_all_draws() {
        let known = KnownGame::draw(2, 0, 4).unwrap();
        let descent = Descent::new(&known);
        let steps = 10_usize;
        for rule in [PrintedRule::Inverse, PrintedRule::SquareRoot] {
            let errors: Vec<f64> = (0..1_u32 << steps)
                .map(|draws| {
                    let mut point = vec![known.total() / 2.0; 2];
                    let mut average = point.clone();
                    for step in 1..=steps {
                        let mask = 1 + (draws >> (step - 1) & 1) as usize;
                        descent.step(&mut point, mask, rule.length(&known, step));
                        for (average, value) in average.iter_mut().zip(&point) {
                            *average += rule.weight(step) * (value - *average);
                        }
                    }
                    squared_distance(&average, &known.truth)
                })
                .collect();
            for a in [0.0, 0.5, 1.0, 2.0] {
                let limit = own_limit(&known, rule, steps as f64, a);
                let share =
                    errors.iter().filter(|error| **error >= limit).count() as f64 / errors.len() as f64;
                assert!(share <= (-a * a).exp(), "{rule:?}, a = {a}: {share}");
            }
        }
    }

    #[test]
    fn the_printed_bound_for_steps_as_the_square_root_follows() {
        assert!(follows());
    }
}
