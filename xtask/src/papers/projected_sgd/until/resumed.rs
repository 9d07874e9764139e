//! A run that is stopped on the way, stored, read and resumed.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};
use apportion::estimators::{Anytime, Checkpoint, Estimator, EstimatorError};
use apportion::games::GameError;
use apportion::values::ValueError;
use apportion::{Explanation, Game, Until};

/// The same run, stopped after chunk `stop_at`, counted from 0, stored as JSON, read and resumed.
pub(super) fn interrupted(
    estimator: &dyn Estimator,
    game: &dyn Game,
    seed: u64,
    until: &Until,
    stop_at: usize,
) -> Result<Explanation> {
    let chunks = AtomicUsize::new(0);
    let mut first = Anytime::new(estimator, game, seed)?.watched(|_| {
        if chunks.fetch_add(1, Ordering::Relaxed) < stop_at {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    match first.run_until(until) {
        Err(
            EstimatorError::Game(GameError::Interrupted { .. })
            | EstimatorError::Value(ValueError::Game(GameError::Interrupted { .. })),
        ) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => bail!("a run with a chunk {stop_at} was over before it"),
    }
    let stored = serde_json::to_string(&first.checkpoint())?;
    let checkpoint: Checkpoint = serde_json::from_str(&stored)?;
    Ok(Anytime::resume(&checkpoint, estimator, game, seed)?.run_until(until)?.clone())
}

#[cfg(test)]
mod tests {
    use super::super::asked::{Contender, METHODS, until};
    use super::*;
    use apportion::games::SumOfUnanimity;

    #[test]
    fn an_interrupted_run_was_stopped_where_it_was_told_to_and_ends_with_the_same_bytes() {
        let game = SumOfUnanimity::random(16, 40, 3, 2);
        for method in METHODS {
            let contender = Contender::new(method).unwrap();
            let mut straight = Anytime::new(&*contender.estimator, &game, 5).unwrap();
            let wanted = straight.run_until(&until(0.1)).unwrap();
            let got = interrupted(&*contender.estimator, &game, 5, &until(0.1), 1).unwrap();
            assert_eq!(
                serde_json::to_string(&got).unwrap(),
                serde_json::to_string(wanted).unwrap(),
                "{method}"
            );
            let other = interrupted(&*contender.estimator, &game, 6, &until(0.1), 1).unwrap();
            assert_ne!(other.values, wanted.values, "{method}: another seed has other values");
            assert!(interrupted(&*contender.estimator, &game, 5, &until(0.1), usize::MAX).is_err());
        }
    }
}
