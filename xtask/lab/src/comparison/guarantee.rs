//! Guarantees of the form: with probability 1 − δ, `m = O(n log(n/δ) + n/(εδ))` evaluations are enough for an
//! excess of ε.
//!
//! Such a bound is judged by its shape. On datasets, ε must decrease at least like `1/m`, and the constant
//! `ε δ m / n` must be at most 1. On [games of one family](super::growing), whose runs are comparable, ε must
//! grow at most like `1/δ`, and at equal m/n, ε must grow neither with n nor with the part of the game that
//! the regression fits. Estimators without the guarantee may also pass. If all of them pass, the check
//! provides no evidence for the theorem.

use anyhow::Result;

use super::claims::picked;
use super::contender::Compete;
use super::experiment::{Estimate, Experiment, Run, Setting};
use super::growing::{self, Growing, Grows};
use super::noise::Noise;
use super::sweep::{MULTIPLES, covers_all};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::{quantile, slope};
use crate::reproduce::verdict::{By, Case, Claim, Needed, Resamples, Verdict, are_contradicted};

/// Probabilities with which the guarantee may fail, chosen to be observable with few runs.
const DELTAS: [f64; 3] = [0.5, 0.25, 0.1];

/// Maximum amount by which a slope in m may exceed −1; slopes are inaccurate because there are few sample
/// sizes and runs.
const SLACK: f64 = 0.2;

/// Maximum slope in the growing quantity. The theorem rules out a factor log n, whose slope from 32 to 256
/// players is `ln(ln 256 / ln 32) / ln 8` = 0.23; the limit is half of this slope.
const GROWTH_SLACK: f64 = 0.11;

/// A theorem with a guarantee of the form in the module documentation.
pub(crate) struct Guarantee<'a> {
    pub(crate) claim: &'a str,
    pub(crate) source: &'a str,
}

/// Functions that measure the excess ε of an estimate.
pub(crate) struct Excess<Here, Growing> {
    /// A function that measures ε on a dataset; runs without an excess are skipped.
    pub(crate) on_datasets: Here,
    /// A function that measures ε on a game of the growing family.
    pub(crate) on_growing: Growing,
}

/// Excesses of one contender on one dataset.
struct Excesses {
    title: String,
    /// For each sample size m: m/n, and the excesses of the runs that have an excess for every m.
    levels: Vec<(f64, Vec<f64>)>,
}

impl Excesses {
    fn runs(&self) -> usize {
        self.levels.first().map_or(0, |level| level.1.len())
    }

    /// Returns the slope of log ε in log m, where ε is the median of the excess over the given runs.
    fn slope_in_m(&self, runs: &[usize]) -> f64 {
        let point =
            |(multiple, excesses): &(f64, Vec<f64>)| (multiple.ln(), quantiles(excesses, runs)[0].ln());
        slope(&self.levels.iter().map(point).collect::<Vec<_>>())
    }

    /// Returns the maximum of ε δ m / n over all sample sizes and δ.
    fn constant(&self, runs: &[usize]) -> f64 {
        let at = |(multiple, excesses): &(f64, Vec<f64>)| {
            let by_delta = DELTAS.into_iter().zip(quantiles(excesses, runs));
            by_delta.map(|(delta, excess)| excess * delta * multiple).fold(0.0, f64::max)
        };
        self.levels.iter().map(at).fold(0.0, f64::max)
    }
}

/// Returns the 1 − δ quantile of the excess over the given runs, for each δ.
fn quantiles(excesses: &[f64], runs: &[usize]) -> [f64; DELTAS.len()] {
    let mut here = picked(excesses, runs);
    here.sort_by(f64::total_cmp);
    DELTAS.map(|delta| quantile(&here, 1.0 - delta))
}

/// Returns the mean of log ε over the given runs.
fn mean_log(excesses: &[f64], runs: &[usize]) -> f64 {
    picked(excesses, runs).into_iter().map(f64::ln).sum::<f64>() / runs.len() as f64
}

/// Excesses of one contender on growing games.
struct Growth {
    /// For each step: the value of the growing quantity, and the excesses, indexed by m, then by run.
    steps: Vec<(usize, Vec<Vec<f64>>)>,
}

impl Growth {
    fn runs(&self) -> usize {
        self.steps.first().map_or(0, |step| step.1[0].len())
    }

    /// Returns the slope of the mean log ε in the log of the growing quantity, averaged over m.
    fn slope(&self, runs: &[usize]) -> f64 {
        let at = |level: usize| {
            let point = |(step, levels): &(usize, Vec<Vec<f64>>)| {
                ((*step as f64).ln(), mean_log(&levels[level], runs))
            };
            slope(&self.steps.iter().map(point).collect::<Vec<_>>())
        };
        let levels = self.steps.first().map_or(0, |step| step.1.len());
        (0..levels).map(at).sum::<f64>() / levels as f64
    }

    /// Returns the slope of log ε in log δ, averaged over steps and m.
    fn slope_in_delta(&self, runs: &[usize]) -> f64 {
        let at = |excesses: &Vec<f64>| {
            let by_delta = DELTAS.into_iter().zip(quantiles(excesses, runs));
            slope(&by_delta.map(|(delta, excess)| (delta.ln(), excess.ln())).collect::<Vec<_>>())
        };
        let slopes: Vec<f64> = self.steps.iter().flat_map(|(_, levels)| levels.iter().map(at)).collect();
        slopes.iter().sum::<f64>() / slopes.len() as f64
    }
}

/// Returns the cases that test the shape of the bound, and a description of the measured numbers.
fn shape(all: &[Excesses], growths: &[(Grows, Growth)]) -> (Vec<Case>, String) {
    let (mut cases, mut words) = (Vec::new(), Vec::new());
    if all.is_empty() {
        return (cases, "no dataset".to_owned());
    }
    let mut add = |name: String, statistic: &Resamples, test| {
        words.push(format!("{name} {:.2}", statistic.value));
        cases.push(Case::new(name, test));
    };
    for one in all {
        if one.levels.len() > 1 {
            let in_m = Resamples::draw(one.runs(), |runs| one.slope_in_m(runs));
            add(format!("{}, slope in m", one.title), &in_m, in_m.below(SLACK - 1.0));
        }
        let constant = Resamples::draw(one.runs(), |runs| one.constant(runs));
        add(format!("{}, constant", one.title), &constant, constant.below(1.0));
    }
    for (grows, growth) in growths {
        let in_steps = Resamples::draw(growth.runs(), |runs| growth.slope(runs));
        let name = match grows {
            Grows::Players => "growing games, slope in n",
            Grows::AdditivePart => "growing games, slope in the additive part",
        };
        add(name.to_owned(), &in_steps, in_steps.below(GROWTH_SLACK));
        if *grows == Grows::Players {
            let in_delta = Resamples::draw(growth.runs(), |runs| growth.slope_in_delta(runs));
            add("growing games, slope in δ".to_owned(), &in_delta, in_delta.above(-1.0));
        }
    }
    (cases, words.join(", "))
}

impl Guarantee<'_> {
    /// Returns the claim about `subject`, compared with `rivals`, for m = 5n … 160n with m < 2^n on the
    /// datasets accepted by `judged`.
    pub(crate) fn claim<R: Run>(
        &self,
        experiment: &Experiment<'_, R>,
        judged: impl Fn(&str) -> bool,
        (subject, rivals): (R::Contender, &[R::Contender]),
        excess: &Excess<
            impl Fn(&R, R::Contender, &Estimate) -> Result<Option<f64>>,
            impl Fn(&Growing, &[f64]) -> f64,
        >,
    ) -> Result<Claim> {
        let session = experiment.session();
        let games =
            [Grows::Players, Grows::AdditivePart].map(|grows| Ok((grows, growing::games(session, grows)?)));
        let games = games.into_iter().collect::<Result<Vec<_>>>()?;
        let of = |contender: R::Contender| {
            let on_datasets = excesses(experiment, &judged, contender, &excess.on_datasets)?;
            let mut growths = Vec::new();
            for (grows, steps) in &games {
                growths.push((*grows, growth(session, steps, contender, &excess.on_growing)?));
            }
            anyhow::Ok(shape(&on_datasets, &growths))
        };
        let own = of(subject)?;
        let others = rivals
            .iter()
            .map(|&rival| Ok((rival.title(), of(rival)?)))
            .collect::<Result<Vec<(&str, _)>>>()?;
        Ok(self.judge(subject.title(), own, others))
    }

    fn judge(
        &self,
        subject: &str,
        (own, words): (Vec<Case>, String),
        others: Vec<(&str, (Vec<Case>, String))>,
    ) -> Claim {
        let case = format!(
            "a slope or a constant; it agrees if, on each dataset (m < 2^n), the slope of log ε in log m is \
             below {:.1}, with the median as ε, and ε δ m / n is at most 1; if, on sums of 6n unanimity \
             games, n = {:?}, the slope of log ε in log δ is above −1 and the slope in log n is below \
             {GROWTH_SLACK}; and if, on such sums with {} players and an additive part of ±c, c = {:?}, the \
             slope in log c is below the same limit (each at equal m/n = {:?}). δ = 0.5, 0.25, 0.1; ε is the \
             quantile 1 − δ over the runs, or the geometric mean if no δ is named. If no case contradicts \
             the estimators without the guarantee, there is no verdict",
            SLACK - 1.0,
            Grows::Players.steps(),
            Grows::Players.steps()[0],
            Grows::AdditivePart.steps(),
            growing::MULTIPLES
        );
        let is_contradicted = are_contradicted(&own);
        let (mut beside, mut failing) = (Vec::new(), Vec::new());
        for (title, (cases, words)) in others {
            beside.push(format!("{title}: {words}"));
            if are_contradicted(&cases) {
                failing.push(title);
            }
        }
        let claim = Claim::over_cases(self.claim, self.source, &case, By::Resampling, Needed::All, own)
            .and(&format!("{subject}: {words}; beside it {}", beside.join("; ")));
        if claim.verdict != Verdict::NotTested && !is_contradicted && failing.is_empty() {
            let why = format!("every other estimator passes the check, too. It is: {}", claim.rule);
            return Claim::vacuous(self.claim, self.source, &why, claim.evidence);
        }
        let failing = if failing.is_empty() { "none".to_owned() } else { failing.join(", ") };
        claim.and(&format!("of these do not pass: {failing}"))
    }
}

/// Returns the excesses of a contender at all sample sizes below 2^n, without noise.
fn excesses<R: Run>(
    experiment: &Experiment<'_, R>,
    judged: impl Fn(&str) -> bool,
    contender: R::Contender,
    excess: impl Fn(&R, R::Contender, &Estimate) -> Result<Option<f64>>,
) -> Result<Vec<Excesses>> {
    let mut all = Vec::new();
    for (dataset, series) in experiment.datasets.iter().enumerate() {
        let players = series.known.players;
        let open = MULTIPLES.into_iter().filter(|multiple| !covers_all(multiple * players, players));
        let multiples: Vec<usize> = if judged(series.known.name) { open.collect() } else { Vec::new() };
        let settings: Vec<Setting<R::Contender>> = multiples
            .iter()
            .map(|multiple| Setting { dataset, contender, budget: multiple * players, noise: Noise::NONE })
            .collect();
        let mut by_run = vec![Vec::new(); series.instances.len()];
        for estimates in experiment.estimates(&settings)? {
            for ((instance, estimate), run) in series.instances.iter().zip(&estimates).zip(&mut by_run) {
                run.extend(excess(instance, contender, estimate)?);
            }
        }
        by_run.retain(|run| run.len() == multiples.len());
        if multiples.is_empty() || by_run.is_empty() {
            continue;
        }
        let level =
            |(at, multiple): (usize, usize)| (multiple as f64, by_run.iter().map(|run| run[at]).collect());
        all.push(Excesses {
            title: series.known.title.to_owned(),
            levels: multiples.into_iter().enumerate().map(level).collect(),
        });
    }
    Ok(all)
}

/// Returns the excesses of a contender on the growing games.
fn growth<C: Compete>(
    session: &Session,
    steps: &[growing::Step],
    contender: C,
    excess: impl Fn(&Growing, &[f64]) -> f64,
) -> Result<Growth> {
    let of = |step: &growing::Step| {
        let mut levels = vec![Vec::new(); growing::MULTIPLES.len()];
        for (game, estimates) in step.games.iter().zip(step.estimates(session, contender)?) {
            for (level, estimate) in levels.iter_mut().zip(&estimates) {
                level.push(excess(game, estimate));
            }
        }
        Ok((step.step, levels))
    };
    Ok(Growth { steps: steps.iter().map(of).collect::<Result<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates 40 runs around `centre` whose 0.9 quantile is about `tail` times the median.
    fn runs(centre: f64, tail: f64) -> Vec<f64> {
        (0..40).map(|run| centre * tail.powf((f64::from(run) - 19.5) / 16.0)).collect()
    }

    /// Creates excesses `scale · (m/n)^slope`.
    fn excesses(scale: f64, slope: f64, tail: f64) -> Excesses {
        let level = |multiple: usize| (multiple as f64, runs(scale * (multiple as f64).powf(slope), tail));
        Excesses { title: "a dataset".to_owned(), levels: MULTIPLES.map(level).to_vec() }
    }

    /// Creates excesses proportional to a power of the growing quantity.
    fn growth(grows: Grows, power: f64, tail: f64) -> (Grows, Growth) {
        let levels = |step: usize| {
            growing::MULTIPLES.map(|m| runs((step as f64).powf(power) / m as f64, tail)).to_vec()
        };
        (grows, Growth { steps: grows.steps().map(|step| (step, levels(step))).to_vec() })
    }

    struct Shape {
        excesses: Vec<Excesses>,
        in_players: f64,
        in_additive_part: f64,
        tail: f64,
    }

    impl Shape {
        fn new(excesses: Excesses) -> Self {
            Self { excesses: vec![excesses], in_players: 0.0, in_additive_part: 0.0, tail: 2.0 }
        }

        fn cases(&self) -> (Vec<Case>, String) {
            let growths = [(Grows::Players, self.in_players), (Grows::AdditivePart, self.in_additive_part)];
            shape(&self.excesses, &growths.map(|(grows, power)| growth(grows, power, self.tail)))
        }
    }

    fn verdict(own: &Shape, rival: &Shape) -> Verdict {
        let guarantee = Guarantee { claim: "", source: "" };
        guarantee.judge("own", own.cases(), vec![("rival", rival.cases())]).verdict
    }

    #[test]
    fn a_bound_is_judged_by_its_shape_beside_those_without_it() {
        let good = || Shape::new(excesses(1.0, -1.0, 2.0));
        let flat = Shape::new(excesses(0.1, -0.5, 2.0));
        assert_eq!(verdict(&good(), &flat), Verdict::Holds);
        assert_eq!(verdict(&good(), &good()), Verdict::Vacuous, "everybody passes");
        // Each case violates one requirement: the decrease in m, the growth in 1/δ, the constant, and the
        // growth in n and in the additive part.
        let bad = [
            Shape::new(excesses(0.1, -0.5, 2.0)),
            Shape { tail: 20.0, ..good() },
            Shape::new(excesses(100.0, -1.0, 2.0)),
            Shape { in_players: 1.0, ..good() },
            Shape { in_additive_part: 2.0, ..good() },
        ];
        for (at, bad) in bad.iter().enumerate() {
            assert_ne!(verdict(bad, &flat), Verdict::Holds, "{at}");
            assert_eq!(verdict(&good(), bad), Verdict::Holds, "{at}");
        }
        assert_eq!(verdict(&Shape { excesses: Vec::new(), ..good() }, &good()), Verdict::NotTested);
    }

    #[test]
    fn the_numbers_of_a_shape_are_those_it_was_made_of() {
        let each: Vec<usize> = (0..40).collect();
        let one = excesses(3.0, -1.5, 2.0);
        assert!((one.slope_in_m(&each) + 1.5).abs() < 1e-12);
        let growth = growth(Grows::Players, 0.7, 2.0).1;
        assert!((growth.slope(&each) - 0.7).abs() < 1e-12);
        // From δ = 0.5 to 0.1, ε grows by about the factor `tail`: a slope of −ln 2 / ln 5.
        assert!((growth.slope_in_delta(&each) + 2f64.ln() / 5f64.ln()).abs() < 0.1);
    }
}
