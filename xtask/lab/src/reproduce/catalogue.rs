//! What there is to reproduce, and how it is asked for.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::figure::Figure;
use super::report::Table;
use super::session::Session;
use super::verdict::Claim;
use xtask::Usage;

/// A paper with the artefacts that can be made again.
pub(crate) struct Paper {
    /// The name on the command line.
    pub(crate) name: &'static str,
    pub(crate) citation: &'static str,
    /// The entry for those who cite it; empty where there is nothing to cite.
    pub(crate) bibtex: &'static str,
    /// Runs per setting in the paper.
    pub(crate) runs: usize,
    /// Runs that are enough to see.
    pub(crate) quick_runs: usize,
    pub(crate) artefacts: &'static [Artefact],
}

/// A figure or table of a paper.
pub(crate) struct Artefact {
    /// `fig3`, `table1`: the same name in every paper means the figure of that number.
    pub(crate) name: &'static str,
    pub(crate) shows: &'static str,
    pub(crate) make: fn(&Session) -> Result<Made>,
    /// Of a figure of error over budget, what it compares.
    pub(crate) contest: Option<Contest>,
}

/// What a figure of error over budget compares, in the words of the laboratory, which makes it of anybody's datasets.
pub(crate) struct Contest {
    /// The value that is estimated.
    pub(crate) value: &'static str,
    /// The paper's estimators, by the names of the library's methods.
    pub(crate) estimators: &'static str,
    pub(crate) budgets: &'static str,
}

/// What is called `name`, shows this, and is made so.
pub(crate) const fn artefact(
    name: &'static str,
    shows: &'static str,
    make: fn(&Session) -> Result<Made>,
) -> Artefact {
    Artefact { name, shows, make, contest: None }
}

impl Artefact {
    /// With what it compares.
    pub(crate) const fn comparing(self, contest: Contest) -> Self {
        Self { contest: Some(contest), ..self }
    }
}

/// An artefact that was made.
pub(crate) struct Made {
    /// Every number behind it.
    pub(crate) data: Table,
    pub(crate) figure: Option<Figure>,
    /// Our numbers beside those of the paper.
    pub(crate) tables: Vec<Table>,
    pub(crate) claims: Vec<Claim>,
    /// What a reader must know: conventions, departures from the paper.
    pub(crate) notes: Vec<String>,
    /// Names of the datasets wanted, there or not.
    pub(crate) datasets: Vec<&'static str>,
}

impl Made {
    /// With the panels, data and tables of another, whose data has the same columns. Everything else is this one's.
    pub(crate) fn followed_by(mut self, other: Self) -> Self {
        other.data.rows.into_iter().for_each(|row| self.data.push(row));
        self.tables.extend(other.tables);
        if let (Some(figure), Some(others)) = (&mut self.figure, other.figure) {
            figure.panels.extend(others.panels);
            // The note of one says what the other need not: that something counts as zero.
            if others.note.starts_with(&figure.note) {
                figure.note = others.note;
            }
        }
        self
    }
}

/// The artefacts meant by `names`, in the order of the catalogue, each once.
///
/// # Errors
///
/// [`Usage`] for a name that means nothing.
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
            bail!(Usage(format!("there is no {name:?} to reproduce; there is\n{}  all", list(papers))));
        }
    }
    let wanted = |paper: &'static Paper| {
        let artefacts = paper.artefacts.iter();
        artefacts.filter(|artefact| names.iter().any(|name| mentions(name, paper, artefact))).collect()
    };
    let selected = papers.iter().map(|paper| (paper, wanted(paper)));
    Ok(selected.filter(|(_, artefacts): &(_, Vec<_>)| !artefacts.is_empty()).collect())
}

/// One line per artefact.
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

    fn nothing(_: &Session) -> Result<Made> {
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
