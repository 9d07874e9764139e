//! Exact values by enumeration of all `2^n` coalitions.

use apportion_games::{Cached, Counted, Game};
use apportion_values::{Attributions, MAX_PLAYERS, Semivalue, Value, enumerate_many};

use crate::error::{EstimatorError, Result};
use crate::report::{Explanation, in_own_units};
use crate::run::{Estimator, check_budget};
use crate::support::FullBudget;

/// Returns the exact result if the budget covers all coalitions and `full_budget` does not request sampling,
/// or if there is a single player. Returns an error if the budget is too small. All sampling estimators call
/// this first.
pub(crate) fn exact_if_affordable(
    estimator: &dyn Estimator,
    game: &dyn Game,
    budget: usize,
    full_budget: FullBudget,
) -> Result<Option<Explanation>> {
    let value = estimator.value();
    let values = value.semivalue().map_or(&[][..], std::slice::from_ref);
    let exact = exact_many_if_affordable(estimator, values, game, budget, full_budget)?;
    Ok(exact.map(|mut explanations| explanations.swap_remove(0)))
}

/// Same as [`exact_if_affordable`], for `values` instead of the estimator's own value, in one pass.
pub(crate) fn exact_many_if_affordable(
    estimator: &dyn Estimator,
    values: &[Semivalue],
    game: &dyn Game,
    budget: usize,
    full_budget: FullBudget,
) -> Result<Option<Vec<Explanation>>> {
    check_budget(estimator, game, budget)?;
    let players = game.players();
    values.iter().try_for_each(|value| value.check_players(players))?;
    let affordable = players <= MAX_PLAYERS && budget >= 1 << players;
    if players == 1 || affordable && full_budget == FullBudget::Enumerate {
        return exact_as(estimator.name(), game, values).map(Some);
    }
    Ok(None)
}

/// Computes the exact `value` of `game` from all `2^n` coalitions in one pass (see
/// [`apportion_values::enumerate`]).
///
/// # Errors
///
/// [`EstimatorError::Value`] for zero players or more than 25; any error of the game.
pub fn exact(game: &dyn Game, value: Semivalue) -> Result<Explanation, EstimatorError> {
    in_own_units(game, |game| Ok(exact_as("exact", game, std::slice::from_ref(&value))?.swap_remove(0)))
}

/// Computes any [`Value`] exactly by enumeration (see [`Value::enumerate`]).
///
/// # Errors
///
/// Same as [`Value::enumerate`]. For values on graphs, use [`OnGraph`](crate::OnGraph).
pub fn exact_of(game: &dyn Game, value: &Value) -> Result<Explanation, EstimatorError> {
    if let Value::Semivalue(semivalue) = value {
        return exact(game, semivalue.clone());
    }
    in_own_units(game, |game| {
        let (counted, coalitions) = (Counted::new(game), value.coalitions(game.players()));
        let exact = match coalitions {
            Some(all) if value.concept().needs_partition() && all <= MAX_CACHED_COALITIONS => {
                value.enumerate(&Cached::new(&counted))?
            }
            _ => value.enumerate(&counted)?,
        };
        // The cast cannot truncate: all of these evaluations were made.
        let evaluations = counted.evaluations() as usize;
        // Linear values evaluate each coalition once.
        let distinct = coalitions.map_or(evaluations, |all| all.min(evaluations));
        let counts = (evaluations, game.rows_per_coalition());
        let explanation = Explanation::exact("exact", value.concept(), exact, counts);
        Ok(Explanation { distinct_coalitions: distinct, ..explanation })
    })
}

/// The maximum number of coalitions to cache, which take about a hundred bytes each. They are cached because
/// unions of groups recur.
pub(crate) const MAX_CACHED_COALITIONS: usize = 1 << 22;

/// Computes the same as [`exact`] for several values in one pass, under the name of the method whose budget
/// allows enumeration.
fn exact_as(method: &str, game: &dyn Game, values: &[Semivalue]) -> Result<Vec<Explanation>> {
    let enumerations = enumerate_many(game, values)?;
    let asked = (1usize << game.players(), game.rows_per_coalition());
    let explanation = |(found, value): (Attributions, &Semivalue)| {
        Explanation::exact(method, value.clone().into(), found, asked)
    };
    Ok(enumerations.into_iter().zip(values).map(explanation).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::{Partition, SumOfUnanimity};
    use apportion_values::{LinearValue, SolutionConcept, enumerate};

    #[test]
    fn an_explanation_gives_back_the_attributions_that_it_was_made_of() {
        let game = SumOfUnanimity::random(5, 9, 3, 1);
        let found = enumerate(&game, Semivalue::Banzhaf).unwrap();
        assert_eq!(exact(&game, Semivalue::Banzhaf).unwrap().attributions(), found);
    }

    #[test]
    #[should_panic(expected = "players of one row")]
    fn an_explanation_is_not_of_pairs() {
        let pairs = Attributions::for_pairs(1, vec![0.0], vec![0.0], vec![0.0]);
        Explanation::exact("exact", SolutionConcept::owen(), pairs, (1, 1));
    }

    #[test]
    fn distinct_coalitions_are_those_that_a_memory_would_hold() {
        let game = SumOfUnanimity::random(7, 20, 3, 1);
        let partition = Partition::new(7, vec![vec![0, 3], vec![1], vec![2, 4, 5, 6]]).unwrap();
        let linear = LinearValue::weighted_shapley(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
        let concepts = ["shapley", "owen", "banzhaf-owen", "two-step", "quotient-banzhaf"];
        let concepts = concepts.map(|name| name.parse::<SolutionConcept>().unwrap());
        for concept in concepts {
            let cached = Cached::new(&game);
            let groups = concept.needs_partition().then(|| partition.clone());
            let got =
                exact_of(&cached, &Value::from_concept(concept.clone(), groups, None).unwrap()).unwrap();
            assert_eq!(got.distinct_coalitions, cached.distinct(), "{concept}");
            assert_eq!(got.distinct_coalitions, got.evaluations, "{concept}");
        }
        let parents = [
            Some(7),
            Some(7),
            Some(8),
            Some(8),
            Some(9),
            Some(9),
            Some(10),
            Some(9),
            Some(10),
            Some(10),
            None,
        ];
        let levels = Value::owen_over(apportion_games::Hierarchy::from_parents(7, &parents).unwrap());
        let cached = Cached::new(&game);
        let got = exact_of(&cached, &levels).unwrap();
        assert_eq!((got.distinct_coalitions, got.evaluations), (cached.distinct(), cached.distinct()));
        assert_eq!((got.value, got.diagnostics.exact), (SolutionConcept::owen(), true));
        let got = exact_of(&game, &linear.into()).unwrap();
        assert_eq!((got.evaluations, got.distinct_coalitions), (128, 128));
    }
}
