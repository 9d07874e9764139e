//! The laws of conditional games, fitted on data.

use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::Rows;
use apportion::games::{ConditionalLaw, CopulaLaw, EmpiricalLaw, FrequencyLaw, GaussianLaw};

use crate::args::{Explain, Game};
use crate::failure::Usage;

/// Rows per coalition where none are asked for.
const DRAWS: usize = 500;

/// The law of the game that is asked for, fitted on the rows that `data` gives; none for games that have no law.
pub(crate) fn law(
    args: &Explain,
    game: Game,
    columns: usize,
    data: impl FnOnce() -> Result<Vec<f64>>,
) -> Result<Option<Arc<dyn ConditionalLaw>>> {
    // At most 2^24.
    let draws = args.draws.map_or(DRAWS, |draws| draws as usize);
    if args.draws.is_some() && !matches!(game, Game::Gaussian | Game::Copula | Game::Empirical) {
        let says =
            format!("--draws is for the games gaussian, copula and empirical; {} has none", game.name());
        return Err(Usage(says).into());
    }
    if matches!(game, Game::Marginal | Game::PathDependent) {
        return Ok(None);
    }
    let data = data()?;
    let rows = Rows::new(&data, columns);
    let law: Result<Arc<dyn ConditionalLaw>, _> = match game {
        Game::Gaussian => GaussianLaw::fit(rows, draws, args.seed).map(|law| Arc::new(law) as _),
        Game::Copula => CopulaLaw::fit(rows, draws, args.seed).map(|law| Arc::new(law) as _),
        Game::Empirical => {
            EmpiricalLaw::fit(rows).and_then(|law| law.with_most_rows(draws)).map(|law| Arc::new(law) as _)
        }
        _ => FrequencyLaw::fit(rows).map(|law| Arc::new(law) as _),
    };
    let says = || format!("the law of --game {} cannot be fitted", game.name());
    law.map(Some).with_context(says)
}
