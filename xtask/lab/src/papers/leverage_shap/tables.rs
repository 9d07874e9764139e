//! Tables 1, 2 and 4: our errors next to the errors of the authors' runs, which the paper prints.

use anyhow::Result;

use super::authors::{Authors, authors};
use super::axes::{Along, Curves, Metric, TABLE_MULTIPLE};
use super::contender::Contender::{
    self, LeverageShap, LeverageShapDeterministic, OptimizedKernelShap, PermutationShap,
};
use super::notes::{NOTES, all_datasets};
use super::printed;
use super::sweep::{by_sample_size, experiment, is_of_paper, of_paper, on_the_authors_runs};
use crate::comparison::{Centre, Compete, MULTIPLES, covers_all, picked};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::{Entry, Table, notes, row, significant, table};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Summary;
use crate::reproduce::verdict::{By, Case, Claim, Needed, Resamples, Test};

/// The errors in tables 1 and 4, at m = 10n.
struct Errors {
    ours: Compared,
    theirs: Compared,
    data: Table,
    table: Table,
}

/// Errors of one source of runs: ours or the authors'.
struct Compared {
    datasets: Vec<DatasetErrors>,
}

/// Errors on one dataset, by contender.
struct DatasetErrors {
    title: String,
    /// Whether claims are judged on the dataset: the paper uses it, and 10n evaluations do not cover all
    /// coalitions.
    is_judged: bool,
    /// The errors of each contender, by run.
    errors: Vec<(Contender, Vec<f64>)>,
}

fn errors(session: &Session, contenders: &[Contender], caption: &str) -> Result<Errors> {
    let experiment = experiment(session, &all_datasets())?;
    let authors = authors()?;
    let mut data = Table::new("data", ["dataset", "estimator", "runs_by", "run", "evaluations", "error"]);
    let columns = ["dataset", "estimator"].into_iter();
    let statistics = ["mean", "1st quartile", "median", "3rd quartile"].into_iter();
    let mut table = Table::new(caption, columns.chain(statistics.flat_map(|name| [name, "authors"])));
    let mut datasets = Vec::new();
    for (dataset, series) in experiment.datasets.iter().enumerate() {
        let known = series.known;
        let budget = TABLE_MULTIPLE * known.players;
        let mut errors = Vec::new();
        let estimates = experiment.estimates_on(dataset, contenders, budget)?;
        for (&contender, estimates) in contenders.iter().zip(estimates) {
            let mut sample = Vec::new();
            for (instance, estimate) in series.instances.iter().zip(&estimates) {
                let error = instance.relative_error(&estimate.values);
                sample.push(error);
                data.push(row![
                    known.name,
                    contender.title(),
                    "this project",
                    instance.run,
                    estimate.evaluations,
                    error
                ]);
            }
            let theirs = printed::column(known.name).and_then(|column| authors.errors(contender, column));
            let theirs = theirs.map(|errors| Summary::from_sample(errors).named());
            let mut row = vec![Entry::from(known.heading()), Entry::from(contender.title())];
            for (statistic, (_, ours)) in Summary::from_sample(&sample).named().into_iter().enumerate() {
                row.push(Entry::from(ours));
                row.push(Entry::from(theirs.map(|theirs| theirs[statistic].1)));
            }
            table.push(row);
            errors.push((contender, sample));
        }
        datasets.push(DatasetErrors {
            title: known.title.to_owned(),
            is_judged: is_of_paper(known) && !covers_all(budget, known.players),
            errors,
        });
    }
    let theirs = Compared::of_authors(authors, contenders);
    for dataset in &theirs.datasets {
        for (contender, sample) in &dataset.errors {
            for (run, &error) in sample.iter().enumerate() {
                let title = dataset.title.as_str();
                data.push(row![title, contender.title(), "the authors", run, Entry::ABSENT, error]);
            }
        }
    }
    Ok(Errors { ours: Compared { datasets }, theirs, data, table })
}

/// Number of statistics in the tables: mean and quartiles.
const STATISTICS: usize = 4;

fn statistic(sample: &[f64], which: usize) -> (&'static str, f64) {
    Summary::from_sample(sample).named()[which]
}

impl DatasetErrors {
    fn errors(&self, contender: Contender) -> Option<&[f64]> {
        self.errors.iter().find(|errors| errors.0 == contender).map(|errors| errors.1.as_slice())
    }

    /// Tests that a statistic of the errors of `one` is below the same statistic for `other`, by resampling
    /// the runs.
    fn is_below(&self, which: usize, one: Contender, other: Contender) -> Option<Test> {
        let (one, other) = (self.errors(one)?, self.errors(other)?);
        let ratio = |runs: &[usize]| {
            statistic(&picked(one, runs), which).1 / statistic(&picked(other, runs), which).1
        };
        Some(Resamples::draw(one.len(), ratio).below(1.0))
    }

    /// Returns the title of the contender with the smallest value of a statistic.
    fn least(&self, which: usize) -> &'static str {
        let value = |errors: &(Contender, Vec<f64>)| statistic(&errors.1, which).1;
        let best = self.errors.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
        best.map_or("", |best| best.0.title())
    }
}

impl Compared {
    /// Collects the authors' runs on all datasets of the paper.
    fn of_authors(authors: &Authors, contenders: &[Contender]) -> Self {
        let of = |column: usize| {
            let players = authors.players(column);
            let errors = contenders
                .iter()
                .filter_map(|&contender| Some((contender, authors.errors(contender, column)?.to_vec())));
            DatasetErrors {
                title: authors.heading(column),
                is_judged: !covers_all(TABLE_MULTIPLE * players, players),
                errors: errors.collect(),
            }
        };
        Self { datasets: (0..printed::DATASETS.len()).map(of).collect() }
    }

    /// Returns a case for each dataset with 10n < 2^n and each statistic: whether, in all pairs, the first
    /// contender has a smaller value than the second.
    fn cases(&self, pairs: &[(Contender, Contender)]) -> Vec<Case> {
        let judged = self.datasets.iter().filter(|dataset| dataset.is_judged);
        judged
            .flat_map(|dataset| {
                (0..STATISTICS).map(move |which| {
                    let tests = pairs.iter().filter_map(|&(one, other)| dataset.is_below(which, one, other));
                    let name = statistic(&dataset.errors[0].1, which).0;
                    let name = format!("{}, {name} (least: {})", dataset.title, dataset.least(which));
                    Case::new(name, Test::all(tests))
                })
            })
            .collect()
    }

    /// Returns the claim that Leverage SHAP has the smallest value of each statistic.
    fn leverage_is_best(&self, claim: &str, source: &str) -> Claim {
        let rivals = Contender::OF_PAPER.into_iter().filter(|&rival| rival != LeverageShap);
        let there = |rival: &Contender| self.datasets.iter().any(|dataset| dataset.errors(*rival).is_some());
        let pairs: Vec<_> = rivals.filter(there).map(|rival| (LeverageShap, rival)).collect();
        By::Resampling.in_all(
            claim,
            source,
            "a dataset with 10n < 2^n and a statistic; it agrees if Leverage SHAP has less than each of the \
             others",
            self.cases(&pairs),
        )
        .and(&self.means(&[LeverageShap]))
        .prints(printed::means(&[LeverageShap]))
    }

    /// Returns the claim that each statistic of the error increases from one contender to the next, in the
    /// given order.
    fn ordered(&self, claim: &str, source: &str, order: &[Contender]) -> Claim {
        let pairs: Vec<_> = order.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let names: Vec<&str> = order.iter().map(|contender| contender.title()).collect();
        let case = format!(
            "a dataset with 10n < 2^n and a statistic; it agrees if the errors ascend in the order {}",
            names.join(", ")
        );
        Claim::over_cases(claim, source, &case, By::Resampling, Needed::All, self.cases(&pairs))
            .and(&self.means(order))
            .prints(printed::means(order))
    }

    /// Lists the mean errors of these contenders on the paper's datasets.
    fn means(&self, contenders: &[Contender]) -> String {
        let of = |&contender: &Contender| {
            let judged = self.datasets.iter().filter(|dataset| dataset.is_judged);
            let means = judged.filter_map(|dataset| {
                let mean = Summary::from_sample(dataset.errors(contender)?).mean;
                Some(format!("{} {}", dataset.title, significant(mean)))
            });
            format!("{}: {}", contender.title(), means.collect::<Vec<_>>().join(", "))
        };
        format!("means of {}", contenders.iter().map(of).collect::<Vec<_>>().join("; "))
    }
}

/// Generates table 1: the three main estimators.
pub(crate) fn table1(session: &Session) -> Result<ArtefactOutput> {
    let errors = errors(
        session,
        &Contender::MAIN,
        "Mean and quartiles of the error at m = 10n, in our runs and in the authors' runs",
    )?;
    let claims = |errors: &Compared| {
        vec![
            errors.leverage_is_best(
                "except for ties, Leverage SHAP gives the best performance across all settings",
                "caption of table 1",
            ),
            errors.ordered(
                "Leverage SHAP is followed by Optimized Kernel SHAP and then Kernel SHAP",
                "section 5",
                &[LeverageShap, OptimizedKernelShap, Contender::KernelShap],
            ),
        ]
    };
    Ok(output(errors, claims))
}

/// Generates table 4: all estimators.
pub(crate) fn table4(session: &Session) -> Result<ArtefactOutput> {
    let errors = errors(
        session,
        Contender::ALL,
        "Mean and quartiles of the error at m = 10n, in our runs and in the authors' runs",
    )?;
    let claims = |errors: &Compared| {
        vec![
            errors.leverage_is_best("Leverage SHAP continues to give the best performance", "appendix G"),
            errors.ordered(
                "Leverage SHAP notably outperforms Permutation SHAP",
                "appendix G",
                &[LeverageShap, PermutationShap],
            ),
        ]
    };
    let mut made = output(errors, claims);
    made.notes.extend(notes![
        "the paper prints no row for Leverage SHAP w/o Bernoulli; the authors' runs have it",
    ]);
    Ok(made)
}

fn output(errors: Errors, claims: impl Fn(&Compared) -> Vec<Claim>) -> ArtefactOutput {
    let mut all = claims(&errors.ours);
    all.extend(claims(&errors.theirs).into_iter().map(on_the_authors_runs));
    let mut notes = NOTES.map(str::to_owned).to_vec();
    notes.extend(notes![
        "the columns \"authors\" are computed from the authors' runs, which reproduce the numbers printed in \
         the paper exactly; their NHANES has 79 features, ours 18",
    ]);
    ArtefactOutput {
        data: errors.data,
        figure: None,
        tables: vec![errors.table],
        claims: all,
        notes,
        datasets: all_datasets(),
    }
}

/// Generates table 2: average error of Leverage SHAP divided by the average error of Optimized Kernel SHAP.
pub(crate) fn table2(session: &Session) -> Result<ArtefactOutput> {
    let experiment = experiment(session, &all_datasets())?;
    let contenders = [OptimizedKernelShap, LeverageShap, LeverageShapDeterministic];
    let curves = by_sample_size(&experiment, &contenders, Metric::Error)?;
    let theirs = authors()?.curves(Along::SampleSize, Metric::Error, &contenders, Centre::Mean);
    let names: Vec<&str> = experiment.datasets.iter().map(|series| series.known.name).collect();
    let mut notes = NOTES.map(str::to_owned).to_vec();
    notes.extend(notes![
        "entries with m ≥ 2^n, where both estimators are exact, are left out of the averages, as in the \
         paper",
        "the authors' runs reproduce the ratios printed in the paper exactly; their NHANES has 79 features, \
         ours 18",
    ]);
    let mut claims = ratio_claims(&of_paper(&experiment, &curves));
    claims.extend(ratio_claims(&theirs).into_iter().map(on_the_authors_runs));
    let judged = curves.only(|panel| is_of_paper(experiment.datasets[panel].known), Contender::ALL);
    claims.push(target(&judged));
    let caption = |what: &str| {
        format!("Ratio of the {what} errors (table 2), with the ratio in the authors' runs in brackets")
    };
    Ok(ArtefactOutput {
        data: ratio_data(&curves, &theirs, &names),
        figure: None,
        tables: vec![
            ratio_table((&curves, &theirs), &names, &caption("average"), Centre::Mean),
            ratio_table((&curves, &theirs), &names, &caption("median"), Centre::Median),
        ],
        claims,
        notes,
        datasets: all_datasets(),
    })
}

/// The pair of contenders in table 2: the error of the first is divided by the error of the second.
const RATIO: (Contender, Contender) = (LeverageShap, OptimizedKernelShap);

/// The pair of contenders for this project's target: the first is the default of the library.
const TARGET: (Contender, Contender) = (LeverageShapDeterministic, OptimizedKernelShap);

/// Returns the error ratio in the authors' runs on a dataset. The panel of a dataset is its column in the
/// paper's tables.
fn ratio_of_authors(theirs: &Curves, name: &str, level: usize, centre: Centre) -> Option<f64> {
    theirs.ratio_of((printed::column(name)?, level), RATIO, centre)
}

/// Creates a table with one row per dataset and one column per sample size; `names` contains the name of each
/// panel's dataset.
fn ratio_table((curves, theirs): (&Curves, &Curves), names: &[&str], caption: &str, centre: Centre) -> Table {
    let open: Vec<(usize, usize)> = curves.open_places().collect();
    let levels = curves.levels.iter().map(|level| level.label.clone());
    let mut table = Table::new(caption, std::iter::once("dataset".to_owned()).chain(levels));
    for (panel, title) in curves.panels.iter().enumerate() {
        let mut row = vec![Entry::from(title.as_str())];
        for level in 0..curves.levels.len() {
            let ours = if open.contains(&(panel, level)) {
                curves.ratio_of((panel, level), RATIO, centre).map_or("–".to_owned(), significant)
            } else {
                "exact".to_owned()
            };
            let beside = ratio_of_authors(theirs, names[panel], level, centre);
            let beside = beside.map_or(String::new(), |ratio| format!(" ({})", significant(ratio)));
            row.push(Entry::from(format!("{ours}{beside}")));
        }
        table.push(row);
    }
    table
}

fn ratio_data(curves: &Curves, theirs: &Curves, names: &[&str]) -> Table {
    let open: Vec<(usize, usize)> = curves.open_places().collect();
    table!("data", [
        for (panel, &name) in names.iter().enumerate();
        for (level, known) in curves.levels.iter().enumerate();
        let place = (panel, level);
    ]
        "dataset" => name,
        "m" => known.label.as_str(),
        "ratio_of_means" => curves.ratio_of(place, RATIO, Centre::Mean),
        "ratio_of_medians" => curves.ratio_of(place, RATIO, Centre::Median),
        "exact" => if open.contains(&place) { "no" } else { "yes" },
        "paper" => printed::column(name).map(|column| printed::RATIOS[column][level]),
        "authors_ratio_of_means" => ratio_of_authors(theirs, name, level, Centre::Mean),
        "authors_ratio_of_medians" => ratio_of_authors(theirs, name, level, Centre::Median),
    )
}

/// Returns the error ratio of the given runs, averaged over `places`.
fn average_ratio(
    curves: &Curves,
    pair: (Contender, Contender),
    places: &[(usize, usize)],
    centre: Centre,
    runs: &[usize],
) -> f64 {
    let of = |place, contender| {
        centre.centre(&Summary::from_sample(&picked(curves.errors(place, contender), runs)))
    };
    let ratios = places.iter().map(|&place| of(place, pair.0) / of(place, pair.1));
    ratios.sum::<f64>() / places.len() as f64
}

/// An average of ratios, with its bootstrap distribution.
struct Average {
    what: &'static str,
    ratio: Resamples,
}

impl Average {
    fn new(
        curves: &Curves,
        pair: (Contender, Contender),
        what: &'static str,
        places: &[(usize, usize)],
        centre: Centre,
    ) -> Option<Self> {
        let runs = places.iter().map(|&place| curves.errors(place, pair.0).len()).min()?;
        let ratio = Resamples::draw(runs, |runs| average_ratio(curves, pair, places, centre, runs));
        Some(Self { what, ratio })
    }

    /// Returns the case that the average is below `limit`.
    fn below(&self, limit: f64) -> Case {
        let name = format!("{} at most {limit} ({})", self.what, significant(self.ratio.value));
        Case::new(name, self.ratio.below(limit))
    }
}

fn ratio_claims(curves: &Curves) -> Vec<Claim> {
    let open: Vec<(usize, usize)> = curves.open_places().collect();
    let means = Average::new(curves, RATIO, "the average ratio of means", &open, Centre::Mean);
    let reduction = means.iter().flat_map(|means| {
        let at_least = format!("at least 0.4 ({})", significant(means.ratio.value));
        [means.below(1.0), means.below(0.6), Case::new(at_least, means.ratio.above(0.4))]
    });
    let reduction: Vec<Case> = reduction.collect();
    vec![
        By::Resampling
            .in_all(
                "on average Leverage SHAP has 50.2 % of the error of Optimized Kernel SHAP, roughly a 50 % \
             reduction",
                "caption of table 2",
                "a bound of the average ratio of mean errors over the entries with m < 2^n: below 1, at most \
             0.6, at least 0.4",
                reduction,
            )
            .prints(printed::AVERAGE_RATIO.to_string()),
        By::Resampling
            .in_all(
                "Leverage SHAP has the smaller average error in every entry",
                "table 2",
                "a dataset and sample size with m < 2^n; it agrees if the ratio of means is below 1",
                curves.summary_cases(open, RATIO, [|summary| summary.mean; 2], 1.0),
            )
            .prints(printed::ratios()),
    ]
}

/// Returns the claim on this project's target for the library's default.
fn target(curves: &Curves) -> Claim {
    let open: Vec<(usize, usize)> = curves.open_places().collect();
    let at_table: Vec<(usize, usize)> =
        open.iter().copied().filter(|place| MULTIPLES[place.1] == TABLE_MULTIPLE).collect();
    let averages = [
        ("the average ratio of means", &open, Centre::Mean),
        ("means at 10n", &at_table, Centre::Mean),
        ("medians", &open, Centre::Median),
        ("medians at 10n", &at_table, Centre::Median),
    ];
    let averages = averages
        .into_iter()
        .filter_map(|(what, places, centre)| Average::new(curves, TARGET, what, places, centre));
    By::Resampling.in_all(
        "the error of Leverage SHAP with deterministic counts is at most 0.75 of Optimized Kernel SHAP's",
        "target of this project",
        "an average of the ratios, of means or of medians, over all entries with m < 2^n or over those at m \
         = 10n",
        averages.map(|average| average.below(0.75)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{Level, Point};
    use crate::reproduce::verdict::Verdict;

    /// Creates two panels with sample sizes 5n … 160n. The errors of the runs alternate between one and three
    /// times the given error; the second panel covers all coalitions from 20n.
    fn curves(leverage: f64, optimized: f64, runs: usize) -> Curves {
        let errors =
            |scale: f64| (0..runs).map(|run| if run % 2 == 0 { scale } else { 3.0 * scale }).collect();
        let points = (0..2).flat_map(|panel| {
            (0..6).flat_map(move |level| {
                let scales = [
                    (LeverageShap, leverage),
                    (LeverageShapDeterministic, leverage),
                    (OptimizedKernelShap, optimized),
                ];
                scales.map(|(contender, scale)| {
                    Point::new(panel, contender, level, panel == 1 && level >= 2, errors(scale)).unwrap()
                })
            })
        });
        Curves {
            panels: vec!["Diabetes (n = 10)".to_owned(), "IRIS (n = 4)".to_owned()],
            points: points.collect(),
            levels: MULTIPLES
                .map(|multiple| Level {
                    label: format!("{multiple}n"),
                    x: multiple as f64,
                    tick: String::new(),
                })
                .to_vec(),
            centre: Centre::Mean,
        }
    }

    fn text(entry: &Entry) -> String {
        serde_json::to_value(entry).unwrap().to_string()
    }

    #[test]
    fn entries_of_table_2_are_leverage_shap_over_optimized_kernel_shap() {
        let theirs =
            authors().unwrap().curves(Along::SampleSize, Metric::Error, Contender::ALL, Centre::Mean);
        // The errors are 1, 3 and 2, 6, with means 2 and 4.
        let ours = curves(1.0, 2.0, 2);
        let table = ratio_table((&ours, &theirs), &["diabetes", "iris"], "", Centre::Mean);
        assert_eq!(text(&table.rows[0][1]), "\"0.500 (0.314)\"");
        assert_eq!(text(&table.rows[0][6]), "\"0.500 (1.00)\"");
        assert_eq!(text(&table.rows[1][2]), "\"0.500 (1.00)\"");
        assert_eq!(text(&table.rows[1][3]), "\"exact (1.00)\"");
        let others = curves(1.0, 4.0, 2);
        let medians = ratio_table((&others, &theirs), &["added", "added"], "", Centre::Median);
        assert_eq!(
            (text(&medians.rows[0][1]), text(&medians.rows[1][1])),
            ("\"0.250\"".into(), "\"0.250\"".into())
        );
        let data = ratio_data(&ours, &theirs, &["diabetes", "iris"]);
        let row: Vec<String> = data.rows[0].iter().take(6).map(text).collect();
        assert_eq!(row, ["\"diabetes\"", "\"5n\"", "0.5", "0.5", "\"no\"", "0.314"]);
    }

    #[test]
    fn averages_of_table_2_are_of_open_entries_and_of_the_runs_drawn() {
        let curves = curves(1.0, 2.0, 4);
        let open: Vec<_> = curves.open_places().collect();
        assert_eq!(open.len(), 8);
        assert_eq!(average_ratio(&curves, RATIO, &open, Centre::Mean, &[0, 1, 2, 3]), 0.5);
        let one = curves.only(|panel| panel == 0, &[LeverageShap]);
        assert!(average_ratio(&one, RATIO, &[], Centre::Mean, &[0]).is_nan());
    }

    #[test]
    fn the_claims_of_table_2_follow_the_ratio() {
        let verdicts = |leverage, optimized| {
            let curves = curves(leverage, optimized, 40);
            let claims = ratio_claims(&curves).into_iter().chain([target(&curves)]);
            claims.map(|claim| claim.verdict).collect::<Vec<_>>()
        };
        use Verdict::{DoesNotHold, Holds, HoldsPartly};
        assert_eq!(verdicts(1.0, 2.0), [Holds, Holds, Holds]);
        assert_eq!(verdicts(2.0, 1.0), [DoesNotHold, DoesNotHold, DoesNotHold]);
        assert_eq!(verdicts(0.7, 1.0), [HoldsPartly, Holds, Holds]);
        let few = ratio_claims(&curves(1.0, 2.0, 1));
        assert!(few.iter().all(|claim| claim.verdict == Verdict::NotTested));
    }

    #[test]
    fn statistics_are_those_of_the_columns() {
        let sample = [1.0, 2.0, 3.0, 4.0, 10.0];
        let all = [0, 1, 2, 3].map(|which| statistic(&sample, which));
        assert_eq!(all, [("mean", 4.0), ("1st quartile", 2.0), ("median", 3.0), ("3rd quartile", 4.0)]);
    }
}
