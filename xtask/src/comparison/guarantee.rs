//! Guarantees of the form: with probability 1 − δ, `m = O(n log(n/δ) + n/(εδ))` evaluations are enough for an excess of ε.
//!
//! Such a bound is judged on its shape: ε falls with m at least as `1/m`, grows with 1/δ at most as `1/δ`, at equal m/n does not grow with
//! n, and the constant of `ε δ m / n` is at most 1. An estimator without the guarantee may pass as well. Where all of them do, the check
//! tells nothing of the theorem.

use anyhow::Result;

use super::claims::picked;
use super::contender::Compete;
use super::experiment::{Estimate, Experiment, Run, Setting};
use super::noise::Noise;
use super::sweep::{MULTIPLES, covers_all};
use crate::reproduce::statistics::{quantile, slope};
use crate::reproduce::verdict::{By, Case, Claim, Needed, Resamples, Verdict, are_contradicted};

/// The probabilities with which the guarantee may fail: those that so few runs can show.
const DELTAS: [f64; 3] = [0.5, 0.25, 0.1];

/// How much flatter than −1 a slope in m may be: sample sizes are few, and runs too.
const SLACK: f64 = 0.2;

/// The largest part of all coalitions at which n are compared: beyond it draws without replacement are better the fewer players there are.
const SPARSE: f64 = 0.25;

/// A theorem of that form.
pub(crate) struct Guarantee<'a> {
    pub(crate) claim: &'a str,
    pub(crate) source: &'a str,
}

/// The excesses of one contender on one dataset.
struct Excesses {
    title: String,
    players: usize,
    /// m/n with the excess of every run that has one at all m, by m.
    levels: Vec<(f64, Vec<f64>)>,
}

impl Excesses {
    fn runs(&self) -> usize {
        self.levels.first().map_or(0, |level| level.1.len())
    }

    /// The quantile 1 − δ of the excess at each m, of some runs.
    fn quantiles(&self, delta: f64, runs: &[usize]) -> Vec<(f64, f64)> {
        let quantile_of = |(multiple, excesses): &(f64, Vec<f64>)| {
            let mut here = picked(excesses, runs);
            here.sort_by(f64::total_cmp);
            (*multiple, quantile(&here, 1.0 - delta))
        };
        self.levels.iter().map(quantile_of).collect()
    }

    /// The slope of log ε in log m, ε the median.
    fn slope_in_m(&self, runs: &[usize]) -> f64 {
        let points = self.quantiles(0.5, runs).into_iter().map(|(m, excess)| (m.ln(), excess.ln()));
        slope(&points.collect::<Vec<_>>())
    }

    /// The slope of log ε in log δ, its mean over m.
    fn slope_in_delta(&self, runs: &[usize]) -> f64 {
        let by_delta = DELTAS.map(|delta| self.quantiles(delta, runs));
        let at = |level: usize| {
            let points = DELTAS.iter().zip(&by_delta).map(|(d, quantiles)| (d.ln(), quantiles[level].1.ln()));
            slope(&points.collect::<Vec<_>>())
        };
        (0..self.levels.len()).map(at).sum::<f64>() / self.levels.len() as f64
    }

    /// The largest ε δ m / n.
    fn constant(&self, runs: &[usize]) -> f64 {
        let of = |delta: f64| {
            let quantiles = self.quantiles(delta, runs);
            quantiles.into_iter().map(|(multiple, excess)| excess * delta * multiple).fold(0.0, f64::max)
        };
        DELTAS.into_iter().map(of).fold(0.0, f64::max)
    }
}

/// The slope of log ε in log n at equal m/n, of some runs of each dataset, its mean over m/n; none of a single n.
fn slope_in_players(all: &[Excesses], runs: &[usize]) -> Option<f64> {
    let mut slopes = Vec::new();
    for multiple in MULTIPLES.map(|multiple| multiple as f64) {
        let mut points = Vec::new();
        for one in all {
            let is_sparse = multiple * one.players as f64 <= SPARSE * 2f64.powi(one.players as i32);
            let found = one.quantiles(0.5, runs).into_iter().find(|level| level.0 == multiple && is_sparse);
            points.extend(found.map(|(_, excess)| ((one.players as f64).ln(), excess.ln())));
        }
        if points.iter().any(|point| point.0 != points[0].0) {
            slopes.push(slope(&points));
        }
    }
    (!slopes.is_empty()).then(|| slopes.iter().sum::<f64>() / slopes.len() as f64)
}

/// The cases of the shape, and the numbers in words.
fn shape(all: &[Excesses]) -> (Vec<Case>, String) {
    let (mut cases, mut words) = (Vec::new(), Vec::new());
    let mut add = |name: String, value: f64, test| {
        words.push(format!("{name} {value:.2}"));
        cases.push(Case::new(name, test));
    };
    for one in all {
        let each: Vec<usize> = (0..one.runs()).collect();
        let resamples = |statistic: &dyn Fn(&[usize]) -> f64| Resamples::of(each.len(), statistic);
        if one.levels.len() > 1 {
            let in_m = resamples(&|runs| one.slope_in_m(runs));
            add(format!("{}, slope in m", one.title), one.slope_in_m(&each), in_m.below(SLACK - 1.0));
        }
        let in_delta = resamples(&|runs| one.slope_in_delta(runs));
        add(format!("{}, slope in δ", one.title), one.slope_in_delta(&each), in_delta.above(-1.0));
        let constant = resamples(&|runs| one.constant(runs));
        add(format!("{}, constant", one.title), one.constant(&each), constant.below(1.0));
    }
    let runs = all.iter().map(Excesses::runs).min().unwrap_or_default();
    let each: Vec<usize> = (0..runs).collect();
    match slope_in_players(all, &each) {
        Some(value) => {
            let statistic = |runs: &[usize]| slope_in_players(all, runs).unwrap_or(f64::NAN);
            add("slope in n".to_owned(), value, Resamples::of(runs, statistic).below(SLACK));
        }
        None => words.push("slope in n not seen: one n".to_owned()),
    }
    (cases, words.join(", "))
}

impl Guarantee<'_> {
    /// The claim about `subject`, beside `rivals`, at m = 5n … 160n with m < 2^n on the datasets that are `judged`. Runs without an
    /// `excess` are left out.
    pub(crate) fn claim<R: Run>(
        &self,
        experiment: &Experiment<'_, R>,
        judged: impl Fn(&str) -> bool,
        (subject, rivals): (R::Contender, &[R::Contender]),
        excess: impl Fn(&R, R::Contender, &Estimate) -> Result<Option<f64>>,
    ) -> Result<Claim> {
        let of = |contender: R::Contender| excesses(experiment, &judged, contender, &excess);
        let own = shape(&of(subject)?);
        let others = rivals
            .iter()
            .map(|&rival| Ok((rival.title(), shape(&of(rival)?))))
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
            "a slope or a constant; it agrees if the slope of log ε in log m is below {:.1}, that in log δ above −1, that in log n at equal \
             m/n (m up to 2^n/4) below {SLACK}, and ε δ m / n at most 1 (δ = 0.5, 0.25, 0.1, ε the quantile 1 − δ over the runs, m < 2^n). Where nothing speaks \
             against an estimator without the guarantee either, there is no verdict",
            SLACK - 1.0
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

/// The excesses of a contender at all sample sizes below 2^n, without noise.
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
            players,
            levels: multiples.into_iter().enumerate().map(level).collect(),
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Excesses `scale · (m/n)^slope` times a spread over 40 runs that is `tail` at the quantile 0.9 over the median.
    fn excesses(players: usize, scale: f64, slope: f64, tail: f64) -> Excesses {
        let level = |multiple: usize| {
            let of_run = |run: usize| {
                let spread = tail.powf((run as f64 - 19.5) / 16.0);
                scale * (multiple as f64).powf(slope) * spread
            };
            (multiple as f64, (0..40).map(of_run).collect())
        };
        Excesses { title: format!("n = {players}"), players, levels: MULTIPLES.map(level).to_vec() }
    }

    fn verdict(own: &[Excesses], rival: &[Excesses]) -> Verdict {
        let guarantee = Guarantee { claim: "", source: "" };
        guarantee.judge("own", shape(own), vec![("rival", shape(rival))]).verdict
    }

    #[test]
    fn a_bound_is_judged_by_its_shape_beside_those_without_it() {
        let good = || [excesses(10, 1.0, -1.0, 2.0), excesses(60, 1.0, -1.0, 2.0)];
        let flat = [excesses(10, 0.1, -0.5, 2.0), excesses(60, 0.1, -0.5, 2.0)];
        assert_eq!(verdict(&good(), &flat), Verdict::Holds);
        assert_eq!(verdict(&good(), &good()), Verdict::Vacuous, "everybody passes");
        // In m, in δ, in n, and by the constant.
        assert_ne!(verdict(&flat, &good()), Verdict::Holds);
        let heavy = [excesses(10, 0.01, -1.0, 20.0), excesses(60, 0.01, -1.0, 20.0)];
        assert_ne!(verdict(&heavy, &flat), Verdict::Holds);
        let growing = [excesses(10, 0.1, -1.0, 2.0), excesses(60, 0.6, -1.0, 2.0)];
        assert_ne!(verdict(&growing, &flat), Verdict::Holds);
        let large = [excesses(10, 100.0, -1.0, 2.0), excesses(60, 100.0, -1.0, 2.0)];
        assert_ne!(verdict(&large, &flat), Verdict::Holds);
        assert_eq!(verdict(&[], &good()), Verdict::NotTested);
    }

    #[test]
    fn the_numbers_of_a_shape_are_those_it_was_made_of() {
        let each: Vec<usize> = (0..40).collect();
        let one = excesses(10, 3.0, -1.5, 2.0);
        assert!((one.slope_in_m(&each) + 1.5).abs() < 1e-12);
        // From δ = 0.5 to 0.1 ε grows by about tail: a slope of −ln 2 / ln 5.
        assert!((one.slope_in_delta(&each) + 2f64.ln() / 5f64.ln()).abs() < 0.1);
        let both = [excesses(10, 1.0, -1.0, 2.0), excesses(60, 6.0, -1.0, 2.0)];
        assert!((slope_in_players(&both, &each).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(slope_in_players(&both[..1], &each), None);
    }
}
