//! Two-step Shapley values: one regression for the groups, and one for the members of each group alone.

use apportion_games::{Game, Partition, QuotientGame, SubGame};

use super::estimate::{CombinedParts, Estimate};
use super::parts::{Part, min_evaluations_of, seed_of_part, split, split_growing};
use crate::error::Result;
use crate::regression::leverage_shap::LeverageShap;
use crate::run::Estimator;
use crate::support::StandardErrors;

/// Returns the indices of the groups with several members.
fn large_groups(partition: &Partition) -> impl Iterator<Item = usize> {
    (0..partition.len()).filter(|&group| partition.group(group).len() > 1)
}

/// Returns the regression for the groups, and the regressions for the members of each group.
fn parts(partition: &Partition) -> Vec<Part> {
    let members = large_groups(partition).map(|group| Part::of_players(partition.group(group).len()));
    std::iter::once(Part::of_players(partition.len())).chain(members).collect()
}

/// Returns the minimum number of evaluations in addition to v(∅) and v(N): those for the regressions, and one
/// for v(S_j) of each group with several members.
pub(super) fn min_evaluations(partition: &Partition) -> usize {
    min_evaluations_of(&parts(partition)) + large_groups(partition).count()
}

/// Estimates the values of all players from `total` evaluations in addition to v(∅) and v(N). `game` caches
/// evaluations.
pub(super) fn estimate(
    game: &dyn Game,
    partition: &Partition,
    total: usize,
    standard_errors: StandardErrors,
    grows: bool,
    seed: u64,
) -> Result<Estimate> {
    let regression = LeverageShap::default().with_standard_errors(standard_errors);
    let (parts, total) = (parts(partition), total - large_groups(partition).count());
    let (regression, shares) = if grows {
        (regression.growing(), split_growing(&parts, &vec![0; parts.len()], total))
    } else {
        (Box::new(regression) as Box<dyn Estimator>, split(&parts, total))
    };
    let quotient_game = QuotientGame::new(game, partition)?;
    let quotient =
        Estimate::from(regression.estimate_seen(&quotient_game, shares[0] + 2, seed_of_part(seed, 0))?);

    let mut gathered = CombinedParts::new(partition.players(), game.outputs());
    gathered.note(&quotient.diagnostics);
    let groups: Vec<(usize, &[usize])> = partition.groups().iter().map(Vec::as_slice).enumerate().collect();
    gathered.share(&quotient, &groups);
    for (group, share) in large_groups(partition).zip(&shares[1..]) {
        let members = partition.group(group);
        let alone = SubGame::new(game, members)?;
        let mut explanation =
            regression.estimate_seen(&alone, share + 2, seed_of_part(seed, 1 + group as u64))?;
        // Subtract equal shares of the value v(S_j) − v(∅) from the members' values in the game of their
        // group.
        for player in explanation.values.chunks_exact_mut(game.outputs()) {
            for ((value, full), base) in player.iter_mut().zip(&explanation.prediction).zip(&explanation.base)
            {
                *value -= (full - base) / members.len() as f64;
            }
        }
        let estimate = Estimate::from(explanation);
        gathered.note(&estimate.diagnostics);
        gathered.add(&estimate, members);
    }
    Ok(gathered.finish())
}
