//! Groups from data: hierarchical clustering of experiment 2a's predictors, with each measure of dependence.

use anyhow::{Result, bail};
use apportion::games::Rows;
use apportion_partitions::{ClusteredFeatures, Cut, Dendrogram, Dependence, FeatureClustering};
use serde::{Deserialize, Serialize};

use super::experiment::{Setting, two_a};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Colour, Figure, Mark, Panel, palette};
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::report::{Table, table};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;
use crate::reproduce::verdict::{By, Case, Claim, Test};

/// Sample sizes, starting with the number of rows of D.
const ROWS: [usize; 3] = [100, 300, 1000];

/// Sample sizes used for verdicts.
const JUDGED: [usize; 2] = [100, 1000];

/// Sample size of the dendrograms in the figure.
const DRAWN: usize = 1000;

/// Measures of dependence; the paper uses the last one.
const MEASURES: [(Dependence, &str); 4] = [
    (Dependence::AbsoluteSpearman, "Spearman's |ρ|"),
    (Dependence::mutual_information(), "mutual information, bins"),
    (Dependence::nearest_neighbours(), "mutual information, neighbours"),
    (Dependence::MaximalInformation, "maximal information coefficient"),
];

/// Version of the stored results. It is increased when their meaning changes, so that old checkpoints are not
/// reused.
const PROTOCOL: u32 = 1;

/// Checkpoint key of the groups found in one sample.
#[derive(Serialize)]
struct ClusteringKey {
    measure: &'static str,
    rows: usize,
    sample: usize,
    /// Height of the cut; `None` if it is determined by significance.
    cut: Option<f64>,
}

/// Groups found in one sample.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Groups {
    dendrogram: Dendrogram,
    /// Height of the dendrogram above which dependence is no longer significant.
    height: f64,
    /// Groups found by cutting the dendrogram at `height`.
    automatic: Vec<Vec<usize>>,
    /// Groups found by cutting the dendrogram into the true number of groups.
    into_groups: Vec<Vec<usize>>,
}

/// Groups found with one measure of dependence at one sample size, for each sample.
struct SampledGroups {
    measure: &'static str,
    rows: usize,
    samples: Vec<Groups>,
}

/// Finds groups in samples from the distribution of experiment 2a, and draws the dendrograms of one of them.
pub(super) fn partition(session: &Session) -> Result<ArtefactOutput> {
    let setting = Setting::new(two_a(), 6, session.seed)?;
    let wanted = setting.partition.groups();
    let mut all = Vec::new();
    for (dependence, measure) in MEASURES {
        // Checkpoint keys contain a digest of the clustering of a small sample.
        let probe = clustered(&setting, dependence, None, 60, 1)?;
        let numbers = probe.dependence.values().iter().copied().chain([height(&probe)?]);
        let method = Digest::from_numbers(numbers);
        for rows in ROWS {
            all.push(sample_groups(session, &setting, (dependence, measure), &method, rows)?);
        }
    }
    let judged = all.iter().filter(|found| JUDGED.contains(&found.rows));
    let mut notes = super::notes::notes(session)[..2].to_vec();
    notes.push(format!(
        "{} samples from the distribution of experiment 2a for each number of rows; average linkage; \
         automatic: cut where dependence is not significant at 5 % or is below 0.1",
        session.runs
    ));
    notes.push("the paper clusters on the maximal information coefficient".to_owned());
    Ok(ArtefactOutput {
        data: data(&all, wanted),
        figure: Some(figure(&all)),
        tables: vec![table(&all, wanted)],
        claims: judged.map(|found| claim(found, wanted)).collect(),
        notes,
        datasets: Vec::new(),
    })
}

fn sample_groups(
    session: &Session,
    setting: &Setting,
    (dependence, measure): (Dependence, &'static str),
    method: &Digest,
    rows: usize,
) -> Result<SampledGroups> {
    let seed_of = |sample: usize| derive_seed(&("partition", rows, sample, session.seed));
    let cell = |sample, cut| {
        let drawn = setting.fresh(rows, seed_of(sample)?)?;
        let drawn = Digest::from_numbers(drawn.as_rows().values().iter().copied());
        let key = ClusteringKey { measure, rows, sample, cut };
        let made_of = Ingredients::new("clustering", PROTOCOL, session.seed, &drawn, method);
        anyhow::Ok(Cell { key, made_of, with: () })
    };
    let of_cell = |cell: &Cell<ClusteringKey, ()>, cut| {
        clustered(setting, dependence, cut, rows, seed_of(cell.key.sample)?)
    };
    // The height at which dependence is no longer significant depends only on the number of rows, so it is
    // computed once.
    let height = session.results(&[cell(0, None)?], |cell| height(&of_cell(cell, None)?))?[0];
    let cells = (0..session.runs).map(|sample| cell(sample, Some(height))).collect::<Result<Vec<_>>>()?;
    let samples = session.results(&cells, |cell| {
        let clustered = of_cell(cell, Some(Cut::Height(height)))?;
        Ok(Groups {
            height,
            automatic: clustered.partition.groups().to_vec(),
            into_groups: clustered.dendrogram.cut_into(setting.partition.len())?.groups().to_vec(),
            dendrogram: clustered.dendrogram,
        })
    })?;
    Ok(SampledGroups { measure, rows, samples })
}

/// Clusters the predictors in a sample. Without a given `cut`, the height of the cut is determined by
/// significance.
fn clustered(
    setting: &Setting,
    dependence: Dependence,
    cut: Option<Cut>,
    rows: usize,
    seed: u64,
) -> Result<ClusteredFeatures> {
    let sample = setting.fresh(rows, seed)?;
    let rows = Rows::new(sample.as_rows().values(), setting.predictors());
    Ok(FeatureClustering { dependence, cut, ..Default::default() }.fit(rows)?)
}

/// Returns the height at which the dendrogram was cut.
fn height(clustered: &ClusteredFeatures) -> Result<f64> {
    match clustered.cut {
        Cut::Height(height) => Ok(height),
        Cut::Groups(_) => bail!("expected a cut at a height, found a number of groups"),
    }
}

/// Formats groups, e.g. `{1,2} {3} {4,5,6}`.
fn in_words(groups: &[Vec<usize>]) -> String {
    let group = |members: &Vec<usize>| {
        let names: Vec<String> = members.iter().map(|member| (member + 1).to_string()).collect();
        format!("{{{}}}", names.join(","))
    };
    groups.iter().map(group).collect::<Vec<_>>().join(" ")
}

impl SampledGroups {
    /// Returns the share of the samples in which the groups returned by `groups` equal `wanted`.
    fn share(&self, wanted: &[Vec<usize>], groups: impl Fn(&Groups) -> &[Vec<usize>]) -> f64 {
        let right = self.samples.iter().filter(|sample| groups(sample) == wanted).count();
        right as f64 / self.samples.len() as f64
    }
}

fn claim(found: &SampledGroups, wanted: &[Vec<usize>]) -> Claim {
    let right = found.samples.iter().filter(|sample| sample.automatic == wanted).count();
    let others: Vec<String> = (found.samples.iter().enumerate())
        .filter(|(_, sample)| sample.automatic != wanted)
        .take(4)
        .map(|(at, sample)| format!("sample {at} has {}", in_words(&sample.automatic)))
        .collect();
    let mut name = format!("{right} of {} samples", found.samples.len());
    if !others.is_empty() {
        name.push_str(&format!(": {}", others.join(", ")));
    }
    By::Counts.in_all(
        &format!(
            "automatic grouping finds {} on {} rows, by {}",
            in_words(wanted),
            found.rows,
            found.measure
        ),
        "target of this project; experiment 2a",
        "all samples; it agrees if the groups are those of the paper in more than four of five",
        [Case::new(name, Test::share_above(right, found.samples.len(), 0.8))],
    )
}

fn table(all: &[SampledGroups], wanted: &[Vec<usize>]) -> Table {
    table!("Share of the samples in which the groups are those of the paper", [for found in all;]
        "measure" => found.measure,
        "rows" => found.rows,
        "automatic" => found.share(wanted, |sample| &sample.automatic),
        "cut into three" => found.share(wanted, |sample| &sample.into_groups),
        "first sample, automatic" => in_words(&found.samples[0].automatic),
    )
}

fn data(all: &[SampledGroups], wanted: &[Vec<usize>]) -> Table {
    table!("data", [for found in all; for (at, sample) in found.samples.iter().enumerate();]
        "measure" => found.measure,
        "rows" => found.rows,
        "sample" => at,
        "automatic" => in_words(&sample.automatic),
        "automatic_right" => usize::from(sample.automatic == wanted),
        "cut_into_three" => in_words(&sample.into_groups),
    )
}

const COLOURS: [Colour; 6] =
    [palette::BLUE, palette::VERMILION, palette::GREEN, palette::PURPLE, palette::ORANGE, palette::SKY];

/// Draws the dendrograms of the first sample.
fn figure(all: &[SampledGroups]) -> Figure {
    let drawn = all.iter().filter(|found| found.rows == DRAWN);
    let panels = drawn.map(|found| {
        let first = &found.samples[0];
        let order = leaves_in_order(&first.dendrogram);
        let mut marks = branches(first, &order);
        let ends = [-0.5, order.len() as f64 - 0.5].map(|x| (x, first.height));
        marks.push(Mark::Dashes { colour: palette::BLACK, points: ends.to_vec() });
        let ticks = order.iter().enumerate().map(|(at, leaf)| (at as f64, format!("X{}", leaf + 1)));
        Panel {
            title: found.measure.to_owned(),
            x: Axis::linear("").with_ticks(ticks.collect()),
            y: Axis::linear("1 − dependence"),
            marks,
        }
    });
    Figure {
        title: "Dendrograms of experiment 2a's predictors".to_owned(),
        panels: panels.collect(),
        columns: 2,
        legend: Vec::new(),
        note: format!(
            "{DRAWN} rows, average linkage; dashes: where dependence is no longer significant; colours: \
             groups of several."
        ),
    }
}

/// Returns the features from left to right, in an order without crossing branches.
fn leaves_in_order(dendrogram: &Dendrogram) -> Vec<usize> {
    let features = dendrogram.features();
    let mut members: Vec<Vec<usize>> = (0..features).map(|feature| vec![feature]).collect();
    for merge in dendrogram.merges() {
        let [first, second] = merge.children;
        members.push([members[first].clone(), members[second].clone()].concat());
    }
    members.pop().unwrap_or_default()
}

/// Draws a bracket for each merge, in the colour of its group if it lies within one.
fn branches(found: &Groups, order: &[usize]) -> Vec<Mark> {
    let group_of = |leaf: usize| found.automatic.iter().position(|group| group.contains(&leaf));
    let mut places = vec![0.0; order.len()];
    order.iter().enumerate().for_each(|(at, &leaf)| places[leaf] = at as f64);
    // The position and height of each cluster, and the index of its group if it lies within one.
    let mut clusters: Vec<(f64, f64, Option<usize>)> =
        places.iter().enumerate().map(|(leaf, &at)| (at, 0.0, group_of(leaf))).collect();
    let mut marks = Vec::new();
    for merge in found.dendrogram.merges() {
        let [first, second] = merge.children.map(|child| clusters[child]);
        let group = first.2.filter(|_| first.2 == second.2);
        let corners =
            vec![(first.0, first.1), (first.0, merge.height), (second.0, merge.height), (second.0, second.1)];
        let colour = group.map_or(palette::BLACK, |group| COLOURS[group % COLOURS.len()]);
        marks.push(Mark::Curve { colour, points: corners });
        clusters.push((0.5 * (first.0 + second.0), merge.height, group));
    }
    marks
}
