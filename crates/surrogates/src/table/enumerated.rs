//! Exact values of rows with few features that differ from the background.

use apportion_estimators::Explanation;
use apportion_games::{Background, Coalition, MarginalGame, Model, SubGame};
use apportion_values::{Attributions, Semivalue, SolutionConcept, enumerate};

use super::correct::METHOD;
use super::hybrids::active_features;
use crate::error::Result;

/// Returns the exact values of a row, by enumeration of its active features.
pub(crate) fn enumerated<M: Model + ?Sized>(
    model: &M,
    row: &[f64],
    background: &Background,
) -> Result<Explanation> {
    let game = MarginalGame::new(model, row, background)?;
    let active = active_features(row, background);
    let outputs = model.outputs();
    let null = Coalition::from_members(
        row.len(),
        (0..row.len()).filter(|feature| !active.contains(&(*feature as u32))),
    );
    let attributions = if active.is_empty() {
        let sub = SubGame::new(&game, &[0])?;
        let found = enumerate(&sub, Semivalue::Shapley)?;
        let values = vec![0.0; row.len() * outputs];
        Attributions::for_players(row.len(), values, found.base, found.predictions)
    } else {
        let sub = SubGame::without(&game, null.view());
        let found = enumerate(&sub, Semivalue::Shapley)?;
        let mut values = vec![0.0; row.len() * outputs];
        for (own, &feature) in found.values.chunks_exact(outputs).zip(&active) {
            values[feature as usize * outputs..][..outputs].copy_from_slice(own);
        }
        Attributions::for_players(row.len(), values, found.base, found.predictions)
    };
    let costs = (1 << active.len(), background.len());
    Ok(Explanation::exact(METHOD, SolutionConcept::from(Semivalue::Shapley), attributions, costs))
}
