//! Boosted trees on coalition bits as a surrogate.

use apportion_games::Coalitions;
use apportion_values::Semivalue;

use super::boosted_trees::{BoostedTrees, Boosting, Growth, Rows};
use super::interface::{FittedSurrogate, Surrogate};
use crate::setters::setters;

/// Gradient-boosted trees with squared loss, which split on the presence of a player in the coalition. Every
/// node is split, up to a maximum depth.
///
/// The values of a tree are computed from its leaves. Consider a leaf with value v that is reached if the
/// players A are present and the players B are absent. It contributes `v M(|A| − 1, |B|)` to each player in
/// A, and `−v M(|A|, |B| − 1)` to each player in B, where M are the moments of the semivalue.
///
/// Fitting to m coalitions of n players takes `O(trees · depth · m n)` time, in single precision.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct TreeSurrogate {
    /// The number of trees; defaults to 100.
    pub trees: usize,
    /// The maximum number of splits on a path; defaults to 6.
    pub depth: usize,
    /// The learning rate: a factor for the contribution of each tree; defaults to 0.3.
    pub rate: f64,
    /// The penalty on squared leaf values; defaults to 1.
    pub penalty: f64,
}

impl Default for TreeSurrogate {
    /// Returns the defaults of XGBoost.
    fn default() -> Self {
        Self { trees: 100, depth: 6, rate: 0.3, penalty: 1.0 }
    }
}

setters!(TreeSurrogate {
    with_trees => trees: usize,
    with_depth => depth: usize,
    with_rate => rate: f64,
    with_penalty => penalty: f64,
});

impl Surrogate for TreeSurrogate {
    fn fit(&self, coalitions: &Coalitions, values: &[f64]) -> Option<Box<dyn FittedSurrogate>> {
        let players = coalitions.players();
        let boosting = Boosting { trees: self.trees, depth: self.depth, rate: self.rate };
        let growth = Growth { penalty: self.penalty as f32, ..Growth::XGBOOST };
        let trees = BoostedTrees::fit_grown(&rows(coalitions), values, boosting, growth);
        Some(Box::new(FittedTrees { players, trees }))
    }
}

/// Converts coalitions to rows for the trees.
pub(crate) fn rows(coalitions: &Coalitions) -> Rows {
    let players = coalitions.players();
    let signs = coalitions.iter().flat_map(|coalition| {
        (0..players).map(move |player| if coalition.contains(player) { 1.0 } else { -1.0 })
    });
    Rows::of_signs(players, signs)
}

struct FittedTrees {
    players: usize,
    trees: BoostedTrees,
}

impl FittedSurrogate for FittedTrees {
    fn predict(&self, coalitions: &Coalitions) -> Vec<f64> {
        coalitions.iter().map(|coalition| self.trees.predict(|player| coalition.contains(player))).collect()
    }

    fn values(&self, value: &Semivalue) -> Vec<f64> {
        self.trees.semivalue(self.players, |present, absent| value.moment(present, absent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::boosted_trees::Growth;
    use apportion_games::{Game, SumOfUnanimity, TabulatedGame};
    use apportion_values::enumerate;

    /// Returns some coalitions of a game, their values, and all coalitions.
    fn sample(players: usize) -> (Coalitions, Vec<f64>, Coalitions) {
        let game = SumOfUnanimity::random(players, 4 * players, 5, 3);
        let all = Coalitions::from_masks(players, 0..1 << players);
        let some = Coalitions::from_masks(players, (0..1u64 << players).filter(|mask| mask * 11 % 7 < 4));
        let mut values = vec![0.0; some.len()];
        game.values(&some, &mut values).unwrap();
        (some, values, all)
    }

    #[test]
    fn values_are_those_of_the_game_that_trees_predict() {
        for players in [1, 2, 3, 6, 9] {
            let (some, values, all) = sample(players);
            let fitted = TreeSurrogate::default().with_trees(20).fit(&some, &values).unwrap();
            let said = TabulatedGame::new(fitted.predict(&all), 1).unwrap();
            for value in [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::beta_shapley(4.0, 1.0).unwrap()]
            {
                let want = enumerate(&said, value.clone()).unwrap().values;
                for (got, want) in fitted.values(&value).iter().zip(&want) {
                    assert!((got - want).abs() < 1e-10, "{players} players, {value}: {got} for {want}");
                }
            }
        }
    }

    #[test]
    fn trees_grown_by_gain_keep_to_their_leaves_and_rows_and_to_their_spectrum() {
        let (some, values, all) = sample(9);
        let boosting = Boosting { trees: 30, depth: 10, rate: 0.1 };
        for (most, min_rows) in [(31, 20), (4, 1), (1, 1), (31, 200)] {
            let growth = Growth { penalty: 0.0, min_rows, max_leaves: Some(most) };
            let trees = BoostedTrees::fit_grown(&rows(&some), &values, boosting, growth);
            let spectrum = trees.spectrum();
            for coalition in all.iter() {
                let contains = |player: usize| coalition.contains(player);
                let want = trees.predict(contains);
                let got: f64 = spectrum.iter().map(|(product, c)| c * product.sign(contains)).sum();
                assert!((got - want).abs() < 1e-9, "{got} for {want}");
            }
            let has_split = spectrum.iter().any(|(product, _)| product.len() > 0);
            assert_eq!(has_split, most > 1 && min_rows < 200);
        }
    }

    #[test]
    fn enough_leaves_by_gain_are_every_node_down_to_the_depth() {
        let (some, values, all) = sample(7);
        let boosting = Boosting { trees: 5, depth: 4, rate: 0.3 };
        let by_gain = Growth { max_leaves: Some(16), ..Growth::XGBOOST };
        let [want, got] = [Growth::XGBOOST, by_gain]
            .map(|growth| BoostedTrees::fit_grown(&rows(&some), &values, boosting, growth));
        for coalition in all.iter() {
            let [want, got] = [&want, &got].map(|trees| trees.predict(|player| coalition.contains(player)));
            assert!((want - got).abs() < 1e-4 * (1.0 + want.abs()), "{got} for {want}");
        }
    }
}
