//! Games made of another game.

/// The part of an `impl Game` that is the inner game's own where the players are others: what a coalition costs, and what chance decides.
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

/// The part of an adapter's `impl Game` that is the inner game's own: an adapter changes values, not their shape or cost.
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
