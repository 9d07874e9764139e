//! Catalogue of the papers and their artefacts, with selection by name.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::figure::Figure;
use super::report::Table;
use super::session::Session;
use super::verdict::Claim;
use xtask::Usage;

/// A paper and its reproducible artefacts.
pub(crate) struct Paper {
    /// Name of the paper on the command line.
    pub(crate) name: &'static str,
    pub(crate) citation: &'static str,
    /// BibTeX entry; empty if there is nothing to cite.
    pub(crate) bibtex: &'static str,
    /// Number of runs per setting in the paper.
    pub(crate) runs: usize,
    /// Reduced number of runs for the quick preset.
    pub(crate) quick_runs: usize,
    pub(crate) artefacts: &'static [Artefact],
}

/// A figure or table of a paper.
pub(crate) struct Artefact {
    /// Name, such as `fig3`, `table1` or `steps`. Several papers may have artefacts with the same name.
    pub(crate) name: &'static str,
    pub(crate) shows: &'static str,
    pub(crate) make: fn(&Session) -> Result<ArtefactOutput>,
    /// The comparison in a figure that shows error over budget; `None` for other artefacts.
    pub(crate) contest: Option<Contest>,
}

/// The comparison in a figure of error over budget. It is stored as options of the laboratory, which can run
/// the comparison on any dataset.
pub(crate) struct Contest {
    /// The estimated value, `shapley` or `banzhaf`.
    pub(crate) value: &'static str,
    /// The estimators of the paper, by method name in the library.
    pub(crate) estimators: &'static str,
    pub(crate) budgets: &'static str,
}

/// Creates an artefact without a contest.
pub(crate) const fn artefact(
    name: &'static str,
    shows: &'static str,
    make: fn(&Session) -> Result<ArtefactOutput>,
) -> Artefact {
    Artefact { name, shows, make, contest: None }
}

impl Artefact {
    /// Adds the comparison that the artefact shows.
    pub(crate) const fn comparing(self, contest: Contest) -> Self {
        Self { contest: Some(contest), ..self }
    }
}

/// Output of an artefact.
pub(crate) struct ArtefactOutput {
    /// All numbers that the figure and the tables are based on.
    pub(crate) data: Table,
    pub(crate) figure: Option<Figure>,
    /// Tables of our numbers next to the paper's.
    pub(crate) tables: Vec<Table>,
    pub(crate) claims: Vec<Claim>,
    /// Conventions, and departures from the paper, that readers of the report must know.
    pub(crate) notes: Vec<String>,
    /// Names of the required datasets, whether available or not.
    pub(crate) datasets: Vec<&'static str>,
}

impl ArtefactOutput {
    /// Appends the panels, data and tables of another output, whose data has the same columns. Everything
    /// else is taken from `self`.
    pub(crate) fn followed_by(mut self, other: Self) -> Self {
        other.data.rows.into_iter().for_each(|row| self.data.push(row));
        self.tables.extend(other.tables);
        if let (Some(figure), Some(others)) = (&mut self.figure, other.figure) {
            figure.panels.extend(others.panels);
            // Only one of the notes may need an addition, e.g. that values below a threshold count as zero.
            if others.note.starts_with(&figure.note) {
                figure.note = others.note;
            }
        }
        self
    }
}

/// Returns the artefacts selected by `names`, in the order of the catalogue, without duplicates.
///
/// # Errors
///
/// [`Usage`] for an unknown name.
pub(crate) fn select(
    papers: &'static [Paper],
    names: &[String],
) -> Result<Vec<(&'static Paper, Vec<&'static Artefact>)>> {
    let mentions = |name: &str, paper: &Paper, artefact: &Artefact| {
        name == "all"
            || name == paper.name
            || name == artefact.name
            || name.split_once('/').is_some_and(|(of, which)| of == paper.name && which == artefact.name)
    };
    for name in names {
        let known = papers.iter().any(|p| p.artefacts.iter().any(|a| mentions(name, p, a)));
        if !known {
            bail!(Usage(format!("unknown figure or table {name:?}; available:\n{}  all", list(papers))));
        }
    }
    let wanted = |paper: &'static Paper| {
        let artefacts = paper.artefacts.iter();
        artefacts.filter(|artefact| names.iter().any(|name| mentions(name, paper, artefact))).collect()
    };
    let selected = papers.iter().map(|paper| (paper, wanted(paper)));
    Ok(selected.filter(|(_, artefacts): &(_, Vec<_>)| !artefacts.is_empty()).collect())
}

/// Lists all artefacts, one per line.
pub(crate) fn list(papers: &[Paper]) -> String {
    let mut text = String::new();
    for paper in papers {
        let _ = writeln!(text, "{}: {}", paper.name, paper.citation);
        for artefact in paper.artefacts {
            let _ =
                writeln!(text, "  {:<26} {}", format!("{}/{}", paper.name, artefact.name), artefact.shows);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &Session) -> Result<ArtefactOutput> {
        bail!("not made in this test")
    }

    static PAPERS: [Paper; 2] = [
        Paper {
            name: "one",
            citation: "First",
            bibtex: "",
            runs: 2,
            quick_runs: 1,
            artefacts: &[artefact("fig1", "", nothing), artefact("fig2", "", nothing)],
        },
        Paper {
            name: "two",
            citation: "Second",
            bibtex: "",
            runs: 2,
            quick_runs: 1,
            artefacts: &[artefact("fig2", "", nothing)],
        },
    ];

    fn names(what: &[&str]) -> Vec<String> {
        let what: Vec<String> = what.iter().map(|&name| name.to_owned()).collect();
        let selected = select(&PAPERS, &what).unwrap();
        selected
            .iter()
            .flat_map(|(p, artefacts)| artefacts.iter().map(|a| format!("{}/{}", p.name, a.name)))
            .collect()
    }

    #[test]
    fn a_figure_means_that_figure_of_every_paper() {
        assert_eq!(names(&["fig2"]), ["one/fig2", "two/fig2"]);
        assert_eq!(names(&["two/fig2", "one"]), ["one/fig1", "one/fig2", "two/fig2"]);
        assert_eq!(names(&["all", "fig1"]).len(), 3);
    }

    #[test]
    fn an_unknown_name_is_an_error_of_use_that_lists_what_there_is() {
        for name in ["fig99", "one/fig9", "three", "two/fig1"] {
            let error = select(&PAPERS, &[name.to_owned()]).err().unwrap();
            assert!(error.is::<Usage>() && error.to_string().contains("two/fig2"), "{error}");
        }
    }
}
