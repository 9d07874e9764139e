//! Families of games whose Shapley values have a closed form: games designed to mislead samples, and smooth
//! ones.

use apportion::Game;
use apportion::games::{Airport, ClosedForm, CoalitionView, Coalitions, GameError, Glove, WeightedVoting};
use apportion::games::{Purpose, stream};
use rand::RngExt;

/// A game with its Shapley values.
pub(crate) struct SolvedGame {
    pub(crate) family: &'static str,
    /// Whether the game varies similarly everywhere, so that samples are representative.
    pub(crate) is_smooth: bool,
    pub(crate) game: Box<dyn Game>,
    pub(crate) shapley: Vec<f64>,
}

/// A game defined by a set function.
pub(crate) struct SetFunction<F> {
    pub(crate) players: usize,
    pub(crate) value: F,
}

impl<F: Fn(CoalitionView<'_>) -> f64 + Sync> Game for SetFunction<F> {
    fn players(&self) -> usize {
        self.players
    }
    fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
        out.iter_mut().zip(batch.iter()).for_each(|(value, row)| *value = (self.value)(row));
        Ok(())
    }
}

fn hard<F>(family: &'static str, players: usize, shapley: Vec<f64>, value: F) -> SolvedGame
where
    F: Fn(CoalitionView<'_>) -> f64 + Sync + 'static,
{
    assert_eq!(shapley.len(), players);
    SolvedGame { family, is_smooth: false, game: Box::new(SetFunction { players, value }), shapley }
}

fn textbook(family: &'static str, game: impl ClosedForm + 'static) -> SolvedGame {
    let shapley = game.shapley();
    SolvedGame { family, is_smooth: false, game: Box::new(game), shapley }
}

fn indicator(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Returns games that are designed to mislead samples, with `n ≥ 8` players.
pub(crate) fn hard_games(n: usize) -> Vec<SolvedGame> {
    let parts = n as f64;
    let mut rng = stream(n as u64, Purpose::Experiment, 1);
    let mut games = Vec::new();

    // One large voter, and n − 1 small ones that can only win together.
    let mut votes = vec![1; n];
    votes[0] = n as u64 - 2;
    games.push(textbook("apex voting", WeightedVoting::new(n as u64 - 1, votes).unwrap()));

    let votes: Vec<u64> = (0..n).map(|_| rng.random_range(1..=5)).collect();
    let majority = votes.iter().sum::<u64>() / 2 + 1;
    games.push(textbook("weighted majority", WeightedVoting::new(majority, votes).unwrap()));

    // v(S) = 1[0 ∈ S] max over the other players in S: the sum over the steps of the maximum of 1[0 ∈ S, S
    // intersects the top a].
    let worth: Vec<f64> =
        (0..n).map(|player| if player == 0 { 0.0 } else { 1.0 - 0.02 * player as f64 / parts }).collect();
    let mut shapley = vec![0.0; n];
    for top in 1..n {
        let step = worth[top] - worth.get(top + 1).unwrap_or(&0.0);
        let size = top as f64;
        shapley[0] += step * size / (size + 1.0);
        (1..=top).for_each(|player| shapley[player] += step / (size * (size + 1.0)));
    }
    let of = worth.clone();
    games.push(hard("veto times max", n, shapley, move |row| {
        if row.contains(0) { row.members().map(|player| of[player]).fold(0.0, f64::max) } else { 0.0 }
    }));

    // A coalition wins with a veto player and at least 1, 2 or 3 of the other players.
    for helpers in [1, 2, 3] {
        let mut shapley = vec![helpers as f64 / (parts * (parts - 1.0)); n];
        shapley[0] = 1.0 - helpers as f64 / parts;
        let family = ["veto and one helper", "veto and two helpers", "veto and three helpers"][helpers - 1];
        games.push(hard(family, n, shapley, move |row| indicator(row.contains(0) && row.size() > helpers)));
    }

    for missing in [1, 2] {
        let family = ["all but one", "all but two"][missing - 1];
        games.push(hard(family, n, vec![1.0 / parts; n], move |row| indicator(row.size() + missing >= n)));
    }
    // A coalition wins with all but at most one of the first half of the players.
    let half = n / 2;
    let shapley = (0..n).map(|player| indicator(player < half) / half as f64).collect();
    games.push(hard("all but one of a half", n, shapley, move |row| {
        indicator(row.members().filter(|&player| player < half).count() + 1 >= half)
    }));
    // A coalition wins with all players except the first, who is a null player.
    let shapley = (0..n).map(|player| indicator(player > 0) / (parts - 1.0)).collect();
    games.push(hard("unanimity of all but one player", n, shapley, move |row| {
        indicator(row.size() - usize::from(row.contains(0)) == n - 1)
    }));
    // A coalition wins with at least three of the first five players.
    let shapley = (0..n).map(|player| indicator(player < 5) / 5.0).collect();
    games.push(hard("three of five", n, shapley, |row| {
        indicator((0..5).filter(|&p| row.contains(p)).count() >= 3)
    }));

    games.push(textbook(
        "airport",
        Airport::new((1..=n).map(|cost| (cost * cost) as f64).collect::<Vec<_>>()).unwrap(),
    ));
    games.push(textbook(
        "linear airport",
        Airport::new((1..=n).map(|cost| cost as f64).collect::<Vec<_>>()).unwrap(),
    ));
    games.push(textbook("gloves", Glove::new(n / 2, n - n / 2).unwrap()));
    games.push(textbook("few left gloves", Glove::new(2, n - 2).unwrap()));

    // A fixed tree rooted at the source: the cost of each edge is shared among the players whose path
    // contains it.
    let parents: Vec<Option<usize>> =
        (0..n).map(|player| if player < 2 { None } else { Some(rng.random_range(0..player)) }).collect();
    let costs: Vec<f64> = (0..n).map(|_| rng.random_range(0.1..1.0)).collect();
    let path = |player: usize| std::iter::successors(Some(player), |&at| parents[at]).collect::<Vec<_>>();
    let mut users = vec![0.0; n];
    (0..n).for_each(|player| path(player).into_iter().for_each(|edge| users[edge] += 1.0));
    let shapley =
        (0..n).map(|player| path(player).into_iter().map(|edge| costs[edge] / users[edge]).sum()).collect();
    let (up, prices) = (parents.clone(), costs.clone());
    games.push(hard("spanning tree", n, shapley, move |row| {
        let mut is_used = vec![false; n];
        for player in row.members() {
            let mut at = Some(player);
            while let Some(edge) = at.filter(|&edge| !is_used[edge]) {
                is_used[edge] = true;
                at = up[edge];
            }
        }
        (0..n).filter(|&edge| is_used[edge]).map(|edge| prices[edge]).sum()
    }));

    // An additive game with a bonus if the first third of the players is present.
    let amounts: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let third = (n / 3).max(3);
    let shapley =
        (0..n).map(|player| amounts[player] + 2.0 * indicator(player < third) / third as f64).collect();
    let of = amounts.clone();
    games.push(hard("additive and a bonus for a third", n, shapley, move |row| {
        row.members().map(|player| of[player]).sum::<f64>()
            + 2.0 * indicator((0..third).all(|player| row.contains(player)))
    }));
    // An additive game with a bonus if t players are present and u others are absent: (t − 1)! u! / (t + u)!
    // for each of the former, and −t! (u − 1)! / (t + u)! for each of the latter.
    let shapley = (0..n)
        .map(|player| {
            amounts[player] + 3.0 * (indicator(player < 2) - indicator((2..4).contains(&player))) / 12.0
        })
        .collect();
    let of = amounts.clone();
    games.push(hard("additive and a bonus for two without two", n, shapley, move |row| {
        let bonus = row.contains(0) && row.contains(1) && !row.contains(2) && !row.contains(3);
        row.members().map(|player| of[player]).sum::<f64>() + 3.0 * indicator(bonus)
    }));
    // Additive, except for the coalition that contains only the first player.
    let shapley = (0..n)
        .map(|player| {
            amounts[player] + if player == 0 { 5.0 / parts } else { -5.0 / (parts * (parts - 1.0)) }
        })
        .collect();
    let of = amounts.clone();
    games.push(hard("additive except for one alone", n, shapley, move |row| {
        row.members().map(|player| of[player]).sum::<f64>()
            + 5.0 * indicator(row.size() == 1 && row.contains(0))
    }));
    // Additive, except for the coalition of all players but the last.
    let shapley = (0..n)
        .map(|player| {
            amounts[player] + if player + 1 == n { -5.0 / parts } else { 5.0 / (parts * (parts - 1.0)) }
        })
        .collect();
    let of = amounts.clone();
    games.push(hard("additive except for all without one", n, shapley, move |row| {
        row.members().map(|player| of[player]).sum::<f64>()
            + 5.0 * indicator(row.size() + 1 == n && !row.contains(n - 1))
    }));
    // Nearly additive: interactions of three neighbours are a thousand times smaller.
    let shapley = (0..n).map(|player| amounts[player] + 0.003 / 3.0).collect();
    let of = amounts.clone();
    games.push(hard("nearly additive", n, shapley, move |row| {
        let triples = (0..n)
            .filter(|&p| row.contains(p) && row.contains((p + 1) % n) && row.contains((p + 2) % n))
            .count();
        row.members().map(|player| of[player]).sum::<f64>() + 0.001 * triples as f64
    }));
    games.push(hard("additive", n, amounts.clone(), move |row| {
        row.members().map(|player| amounts[player]).sum()
    }));

    // ⌊w(S) / q⌋ is the sum of the voting games with quotas q, 2q, …
    let votes: Vec<u64> = (0..n).map(|_| rng.random_range(1..=4)).collect();
    let (total, quota) = (votes.iter().sum::<u64>(), 7);
    let mut shapley = vec![0.0; n];
    for steps in 1..=total / quota {
        let voting = WeightedVoting::new(steps * quota, votes.clone()).unwrap();
        shapley.iter_mut().zip(voting.shapley()).for_each(|(sum, part)| *sum += part);
    }
    games.push(hard("rounded down", n, shapley, move |row| {
        (row.members().map(|player| votes[player]).sum::<u64>() / quota) as f64
    }));
    // The parity of the first three players.
    let shapley = (0..n).map(|player| indicator(player < 3) / 3.0).collect();
    games.push(hard("parity of three", n, shapley, |row| {
        ((0..3).filter(|&p| row.contains(p)).count() % 2) as f64
    }));
    games
}

/// Returns smooth games with `n` players.
pub(crate) fn smooth_games(n: usize) -> Vec<SolvedGame> {
    let mut rng = stream(n as u64, Purpose::Experiment, 2);
    let smooth = |known: SolvedGame| SolvedGame { is_smooth: true, ..known };
    let mut games = Vec::new();
    games.push(smooth(textbook(
        "interactions of up to three",
        apportion::games::SumOfUnanimity::random(n, 3 * n, 3, n as u64),
    )));
    games.push(smooth(textbook(
        "interactions of up to six",
        apportion::games::SumOfUnanimity::random(n, 6 * n, 6, n as u64),
    )));
    // (Σ a)³: φ_i is the integral of the derivative of the multilinear extension.
    let amounts: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.5)).collect();
    let shapley = by_integral(n, |player, q| {
        // E[(a + X)³ − X³] = 3 a E X² + 3 a² E X + a³, where X is the sum over the other players, each
        // present with probability q.
        let others = || (0..n).filter(move |&other| other != player);
        let mean: f64 = others().map(|other| q * amounts[other]).sum();
        let variance: f64 = others().map(|other| q * (1.0 - q) * amounts[other].powi(2)).sum();
        let a = amounts[player];
        3.0 * a * (variance + mean * mean) + 3.0 * a * a * mean + a.powi(3)
    });
    let of = amounts.clone();
    games.push(smooth(hard("a cube", n, shapley, move |row| {
        row.members().map(|player| of[player]).sum::<f64>().powi(3)
    })));
    // The product of the members' factors.
    let factors: Vec<f64> = (0..n).map(|_| rng.random_range(-0.4..0.5f64).exp()).collect();
    let shapley = by_integral(n, |player, q| {
        (0..n)
            .map(|other| if other == player { factors[other] - 1.0 } else { 1.0 - q + q * factors[other] })
            .product()
    });
    games.push(smooth(hard("a product", n, shapley, move |row| {
        row.members().map(|player| factors[player]).product()
    })));
    games
}

/// Returns `∫ derivative(i, q) dq` over [0, 1] for each player, by Simpson's rule.
fn by_integral(n: usize, derivative: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    const STEPS: usize = 2000;
    let at = |player: usize, step: usize| derivative(player, step as f64 / STEPS as f64);
    (0..n)
        .map(|player| {
            let inner: f64 = (1..STEPS).map(|step| [2.0, 4.0][step % 2] * at(player, step)).sum();
            (at(player, 0) + inner + at(player, STEPS)) / (3 * STEPS) as f64
        })
        .collect()
}
