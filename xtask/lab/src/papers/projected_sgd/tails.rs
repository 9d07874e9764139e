//! Many runs of every step rule in one game for each number of players, to measure how often errors exceed
//! the high-probability bounds of section 4.2 and appendix 8.2.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::descent::{Descent, PrintedRule};
use super::known_game::KnownGame;
use super::theory::Constants;
use crate::reproduce::ingredients::{Cell, Digest, Ingredients};
use crate::reproduce::session::Session;
use crate::reproduce::store::derive_seed;

/// Numbers of players. They are small, so that within thousands of steps the bounds fall below the maximum
/// possible error.
const PLAYERS: [usize; 2] = [3, 4];

/// The numbers of steps T.
pub(super) const STEPS: [usize; 3] = [1024, 4096, 16384];

/// A constant step in units of 1/μ.
const CONSTANT: f64 = 0.00125;

/// Number of runs in each game, as a multiple of the session's number of runs.
const RUNS: usize = 10;

const RULES: [PrintedRule; 3] =
    [PrintedRule::Inverse, PrintedRule::SquareRoot, PrintedRule::Constant(CONSTANT)];

impl PrintedRule {
    pub(super) fn title(self) -> String {
        match self {
            Self::Inverse => "2/(μ(t+1))".to_owned(),
            Self::SquareRoot => "2D/(B√t)".to_owned(),
            Self::Constant(size) => format!("{size}/μ, last iterate"),
        }
    }
}

/// Errors of many runs of one rule in one game.
pub(super) struct Tail {
    pub(super) known: KnownGame,
    pub(super) rule: PrintedRule,
    /// Errors `‖φ̄ − φ*‖²/D²`, indexed by run, then by T.
    errors: Vec<Vec<f64>>,
}

impl Tail {
    /// Returns the errors after `STEPS[level]` steps.
    pub(super) fn errors(&self, level: usize) -> Vec<f64> {
        self.errors.iter().map(|run| run[level]).collect()
    }

    /// Returns the number of errors of at least `limit`.
    pub(super) fn exceeding(&self, level: usize, limit: f64) -> usize {
        self.errors.iter().filter(|run| run[level] >= limit).count()
    }

    pub(super) fn runs(&self) -> usize {
        self.errors.len()
    }

    /// Returns the printed bound on `E‖φ̄ − φ*‖²/D²`.
    pub(super) fn bound(&self, level: usize) -> f64 {
        let KnownGame { bounds, norm, .. } = &self.known;
        let rule = self.rule.of_bound(&self.known);
        bounds.expected_error(rule, STEPS[level] as f64, Constants::Printed) / norm.powi(2)
    }

    /// Formats a title, e.g. `d = 3, T = 1024`.
    pub(super) fn title(&self, level: usize) -> String {
        format!("d = {}, T = {}", self.known.players(), STEPS[level])
    }
}

/// Maximum possible error: the squared diameter of the ball, in units of D².
pub(super) const MAX_ERROR: f64 = 4.0;

#[derive(Serialize)]
struct RunKey {
    players: usize,
    rule: String,
    run: usize,
    steps: [usize; 3],
}

#[derive(Serialize, Deserialize)]
struct Errors(Vec<f64>);

/// Computes the runs in the first game of each size.
pub(super) fn tails(session: &Session) -> Result<Vec<Tail>> {
    let mut tails = Vec::new();
    for players in PLAYERS {
        for rule in RULES {
            let known = KnownGame::draw(players, 0, session.seed)?;
            let descent = Descent::new(&known);
            let method = Digest::of_data(&descent.errors(rule, &[64], 1))?;
            let cell = |run| Cell {
                key: RunKey { players, rule: rule.title(), run, steps: STEPS },
                made_of: Ingredients::new("tails", 1, session.seed, &known.digest(), &method),
                with: (),
            };
            let cells: Vec<_> = (0..RUNS * session.runs).map(cell).collect();
            let errors = session.results(&cells, |Cell { key: RunKey { run, .. }, .. }| {
                let seed = derive_seed(&("tails", players, rule.title(), run, session.seed))?;
                Ok(Errors(descent.errors(rule, &STEPS, seed)))
            })?;
            let errors = errors.into_iter().map(|errors| errors.0).collect();
            tails.push(Tail { known, rule, errors });
        }
    }
    Ok(tails)
}
