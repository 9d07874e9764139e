//! Adapters that wrap a game.

/// Forwards the methods of `Game` that do not depend on the players (outputs, cost and scenarios) to the
/// inner game.
macro_rules! cost_of_inner_game {
    () => {
        fn outputs(&self) -> usize {
            self.game.outputs()
        }

        fn rows_per_coalition(&self) -> usize {
            self.game.rows_per_coalition()
        }

        fn parallel(&self) -> bool {
            self.game.parallel()
        }

        fn scenarios(&self) -> usize {
            self.game.scenarios()
        }

        fn scenario_weights(&self) -> Option<&[f64]> {
            self.game.scenario_weights()
        }
    };
}

/// Forwards all methods of `Game` except `values` to the inner game, for adapters that change neither the
/// shape nor the cost.
macro_rules! shape_of_inner_game {
    () => {
        fn players(&self) -> usize {
            self.game.players()
        }

        cost_of_inner_game!();
    };
}

mod cached;
mod centred;
mod counted;

pub use cached::Cached;
pub use centred::Centred;
pub use counted::Counted;
