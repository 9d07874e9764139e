//! Exact values of rows with few players that differ from the background.

use apportion_estimators::Explanation;
use apportion_games::{Background, MarginalGame, Model, QuotientGame, SubGame};
use apportion_values::{Attributions, enumerate};

use super::correct::METHOD;
use super::players::RegressionValue;
use crate::error::Result;

/// Returns the exact values of a row, by enumeration of the coalitions of its players.
pub(crate) fn enumerated<M: Model + ?Sized>(
    model: &M,
    row: &[f64],
    background: &Background,
    value: &RegressionValue,
) -> Result<Explanation> {
    let game = MarginalGame::new(model, row, background)?;
    let players = value.players(row, background);
    let outputs = model.outputs();
    let results = value.value.check(row.len())?;
    let mut values = vec![0.0; results * outputs];
    // If the row has no players, the game of feature 0, which is a null player, provides the base value and
    // the prediction.
    let features: Vec<usize> = match players.len() {
        0 => vec![0],
        count => (0..count).flat_map(|player| players.features(player)).map(|&f| f as usize).collect(),
    };
    let sub = SubGame::new(&game, &features)?;
    let found = match players.partition() {
        Some(groups) => enumerate(&QuotientGame::new(&sub, &groups)?, value.semivalue.clone())?,
        None => enumerate(&sub, value.semivalue.clone())?,
    };
    for (own, &result) in found.values.chunks_exact(outputs).zip(&players.results) {
        values[result as usize * outputs..][..outputs].copy_from_slice(own);
    }
    let attributions = Attributions::for_players(results, values, found.base, found.predictions);
    let costs = (1 << players.len(), background.len());
    Ok(Explanation::exact(METHOD, value.value.concept(), attributions, costs))
}
