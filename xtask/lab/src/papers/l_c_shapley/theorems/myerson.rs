//! Section 4.2: whether C-Shapley of order d equals the Myerson value.
//!
//! # Notation
//!
//! U is a connected set of u players, i one of them, and B(U) the set of b players outside U adjacent to it.
//!
//! # The coefficient
//!
//! The Myerson value is the Shapley value of `v^G(S) = Σ_{C ∈ components(S)} v(C)`. In a random permutation,
//! i completes a component U if all players of U \ i come before i, and all players of B(U) after it: among
//! these u + b players, the members of U \ i come first and i next.
//!
//! ```text
//! φ_i = Σ_{U ∋ i connected} (u − 1)! b! / (u + b)! [v(U) − Σ_{C ∈ components(U \ i)} v(C)]
//! equation 6:                2 / ((u + 2) (u + 1) u), which is that of b = 2
//! ```
//!
//! The coefficient decreases with b, so equation 6 is correct for sets with two neighbours outside, and for
//! no other number of neighbours. The set of all players has no neighbours outside.

use anyhow::Result;
use apportion::Semivalue;
use apportion::games::{Coalition, Graph, GraphRestrictedGame, SumOfUnanimity, TabulatedGame};
use apportion::values::{Coefficients, GraphValue, enumerate};

use crate::reproduce::report::{Table, significant, table};
use crate::reproduce::verdict::Claim;

/// Tolerance for rounding errors of values near 1.
pub(super) const ROUNDING: f64 = 1e-12;

/// Results for one graph, over all games in which disconnected sets are additive.
pub(super) struct Compared {
    graph: &'static str,
    players: usize,
    /// Maximum difference between C-Shapley of order d, with the coefficients of equation 6, and the Myerson
    /// value, over the games v^G for v that is 1 for one coalition and 0 for all others.
    printed: f64,
    /// Maximum difference if the coefficients use the actual number of neighbours of each connected set.
    counted: f64,
    /// Number of connected sets, of connected sets with two neighbours outside, and of connected sets whose
    /// coefficient agrees with equation 6.
    connected: usize,
    with_two: usize,
    agreeing: usize,
    /// Whether the sets with two neighbours outside and the sets with the coefficient of equation 6 are the
    /// same.
    are_those: bool,
}

/// Compares C-Shapley of order d with the Myerson value on graphs with few players.
pub(super) fn compare() -> Result<Vec<Compared>> {
    let star = Graph::from_edges(5, (1..5).map(|leaf| (0, leaf)))?;
    let ring = Graph::from_edges(7, (0..7).map(|node| (node, (node + 1) % 7)))?;
    let grid = Graph::grid(2, 3, Default::default());
    let graphs = [
        ("a pair", Graph::line(2)),
        ("a line", Graph::line(7)),
        ("a ring", ring),
        ("a grid", grid),
        ("a star", star),
    ];
    graphs.into_iter().map(|(name, graph)| compare_on(name, &graph)).collect()
}

fn compare_on(name: &'static str, graph: &Graph) -> Result<Compared> {
    let players = graph.nodes();
    let masks = 1 << players;
    // The game has one output per coalition, with value 1 for that coalition only.
    let mut units = vec![0.0; masks * masks];
    (0..masks).for_each(|mask| units[mask * masks + mask] = 1.0);
    let units = TabulatedGame::new(units, masks)?;
    let game = GraphRestrictedGame::new(&units, graph)?;
    let myerson = enumerate(&game, Semivalue::Shapley)?.values;
    let furthest = |coefficients| -> Result<f64> {
        let value = GraphValue::c_shapley(players).with_coefficients(coefficients);
        let values = value.enumerate(&game, graph)?.values;
        Ok(values.iter().zip(&myerson).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max))
    };
    let (mut connected, mut with_two, mut agreeing, mut are_those) = (0, 0, 0, true);
    for mask in 1..masks {
        let members: Vec<usize> = (0..players).filter(|player| mask >> player & 1 == 1).collect();
        let set = Coalition::from_members(players, members.iter().copied());
        if !graph.is_connected(set.view()) {
            continue;
        }
        let has_two = graph.boundary(set.view()).view().size() == 2;
        // If v is 1 for U only, v^G is 1 for the sets that have U as a component, so the value of a member of
        // U is the coefficient of U.
        let agrees = (myerson[members[0] * masks + mask] - equation_six(members.len())).abs() <= ROUNDING;
        connected += 1;
        with_two += usize::from(has_two);
        agreeing += usize::from(agrees);
        are_those &= agrees == has_two;
    }
    Ok(Compared {
        graph: name,
        players,
        printed: furthest(Coefficients::Printed)?,
        counted: furthest(Coefficients::Neighbourhood)?,
        connected,
        with_two,
        agreeing,
        are_those,
    })
}

/// Returns the coefficient of a connected set with `size` players in equation 6.
fn equation_six(size: usize) -> f64 {
    let u = size as f64;
    2.0 / ((u + 2.0) * (u + 1.0) * u)
}

/// Returns the values of a player in a game of two players whose joint value is 1: the value by equation 6,
/// and the Myerson value.
fn counterexample() -> Result<[f64; 2]> {
    let (game, pair) = (SumOfUnanimity::unanimity(2, [0, 1])?, Graph::line(2));
    let printed = GraphValue::c_shapley(2).with_coefficients(Coefficients::Printed);
    let values = [printed, GraphValue::myerson()].map(|value| value.enumerate(&game, &pair));
    let [printed, myerson] = values;
    Ok([printed?.values[0], myerson?.values[0]])
}

pub(super) fn claims(all: &[Compared]) -> Result<Vec<Claim>> {
    let furthest = |of: fn(&Compared) -> f64| {
        let words = |one: &Compared| format!("{} of {}: {}", one.graph, one.players, significant(of(one)));
        all.iter().map(words).collect::<Vec<_>>().join("; ")
    };
    let is_myerson = |of: fn(&Compared) -> f64| Some(all.iter().all(|one| of(one) <= ROUNDING));
    let rule = "the two differ by at most 1e-12 in every game in which disconnected sets add up, on every \
        graph here";
    let [printed, myerson] = counterexample()?.map(significant);
    let sets = |one: &Compared| {
        let Compared { graph, players, connected, with_two, agreeing, .. } = one;
        format!(
            "{graph} of {players}: {agreeing} of {connected} connected sets, {with_two} with two neighbours"
        )
    };
    Ok(vec![
        Claim::fact(
            "C-Shapley of order d is exactly the Myerson value",
            "section 4.2; equation 6",
            rule,
            is_myerson(|one| one.printed),
            format!(
                "two players next to each other, worth 1 together and 0 alone: equation 6 gives each \
                 {printed}, the Myerson value {myerson}; largest differences where one coalition is worth 1: \
                 {}",
                furthest(|one| one.printed)
            ),
        ),
        Claim::fact(
            "C-Shapley of order d is exactly the Myerson value if a connected set of u players with b \
             neighbours outside has the coefficient (u − 1)! b!/(u + b)!",
            "this project, in place of section 4.2",
            rule,
            is_myerson(|one| one.counted),
            format!("largest differences: {}", furthest(|one| one.counted)),
        ),
        Claim::fact(
            "equation 6 has the Myerson value's coefficient for connected sets with exactly two neighbours \
             outside, and for no others",
            "this project, beside lemma 1 of appendix B",
            "this is true for every connected set of every graph here, to 1e-12",
            Some(all.iter().all(|one| one.are_those)),
            all.iter().map(sets).collect::<Vec<_>>().join("; "),
        ),
    ])
}

pub(super) fn table(all: &[Compared]) -> Table {
    table!("C-Shapley of order d and the Myerson value, in games in which disconnected sets are additive", [
        for one in all;
    ]
        "graph" => one.graph,
        "players" => one.players,
        "largest difference, equation 6" => one.printed,
        "largest difference, neighbours counted" => one.counted,
        "connected sets" => one.connected,
        "with two neighbours outside" => one.with_two,
        "with the coefficient of equation 6" => one.agreeing,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns, for each set, the share of all permutations in which it is the component of player 0 when
    /// this player joins.
    fn shares(graph: &Graph) -> Vec<f64> {
        let players = graph.nodes();
        let mut orders = vec![Vec::new()];
        for _ in 0..players {
            let longer = |order: &Vec<usize>| {
                let order = order.clone();
                let rest = (0..players).filter(|player| !order.contains(player)).collect::<Vec<_>>();
                rest.into_iter().map(move |player| [order.clone(), vec![player]].concat())
            };
            orders = orders.iter().flat_map(longer).collect();
        }
        let mut shares = vec![0.0; 1 << players];
        for order in &orders {
            let place = order.iter().position(|&player| player == 0).unwrap();
            let mut component = 1_usize;
            loop {
                let next = order[..place].iter().filter(|&&player| {
                    graph.neighbours(player).iter().any(|other| component >> other & 1 == 1)
                });
                let grown = next.fold(component, |set, player| set | 1 << player);
                if grown == component {
                    break;
                }
                component = grown;
            }
            shares[component] += 1.0 / orders.len() as f64;
        }
        shares
    }

    #[test]
    fn the_coefficient_is_the_share_of_orders_in_which_a_set_becomes_a_component() {
        let star = Graph::from_edges(5, (1..5).map(|leaf| (0, leaf))).unwrap();
        let mut twos = 0;
        for graph in [Graph::line(5), Graph::grid(2, 3, Default::default()), star] {
            let factorial = |n: usize| (1..=n).product::<usize>() as f64;
            for (mask, share) in shares(&graph).into_iter().enumerate().filter(|(_, share)| *share > 0.0) {
                let set = Coalition::from_members(
                    graph.nodes(),
                    (0..graph.nodes()).filter(|node| mask >> node & 1 == 1),
                );
                let (u, b) = (set.view().size(), graph.boundary(set.view()).view().size());
                let expected = factorial(u - 1) * factorial(b) / factorial(u + b);
                assert!((share - expected).abs() < 1e-12, "{mask:b}: {share} {expected}");
                assert_eq!((share - equation_six(u)).abs() < 1e-12, b == 2, "{mask:b}");
                twos += usize::from(b == 2);
            }
        }
        assert!(twos > 3);
    }

    #[test]
    fn a_pair_is_a_counterexample() {
        // Equation 6 gives 1/3 times 0 for the player alone, plus 2/24 times 1 for the pair. The Myerson
        // value is one half.
        let [printed, myerson] = counterexample().unwrap();
        assert!((printed - 1.0 / 12.0).abs() < 1e-15 && (myerson - 0.5).abs() < 1e-15);
    }
}
