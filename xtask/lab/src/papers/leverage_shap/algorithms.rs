//! Algorithms 1 and 3 of the paper, as printed and as corrected, with operation counts for Lemma J.1.

use apportion::games::{Purpose, stream};
use rand::RngExt as _;

use crate::comparison::MULTIPLES;
use crate::reproduce::report::significant;
use crate::reproduce::verdict::Claim;

/// Numbers of players for which operations are counted. For each of them, the number of coalitions of any
/// size fits in 128 bits.
const PLAYERS: [usize; 4] = [12, 25, 50, 100];

/// Returns the claims about the algorithms, each for the printed and the corrected version.
pub(super) fn claims(seed: u64) -> Vec<Claim> {
    let mut claims = Text::BOTH.map(combo_claim).to_vec();
    claims.extend(Text::BOTH.map(evaluations_claim));
    claims.extend(Text::BOTH.map(|text| time_claim(text, seed)));
    claims
}

/// The version of an algorithm: as printed, or corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Printed,
    Corrected,
}

impl Text {
    const BOTH: [Self; 2] = [Self::Printed, Self::Corrected];

    fn reading(self, correction: &str) -> String {
        match self {
            Self::Printed => "as printed".to_owned(),
            Self::Corrected => format!("with {correction}"),
        }
    }
}

/// Returns the binomial coefficient C(n, k).
fn choose(n: usize, k: usize) -> u128 {
    if k > n {
        return 0;
    }
    (0..k as u128).fold(1, |product, i| product * (n as u128 - i) / (i + 1))
}

/// Computes algorithm 3: returns the members (numbered from 1) of the coalition with a given index (from 0)
/// among all coalitions of `size` out of `players` players, and the number of iterations of the inner loop.
///
/// The paper prints the count C(n − s − 1, k − 1) in line 6 and the start s + 1 in line 10; the correct count
/// and start are C(n − j, k − 1) and j + 1.
fn combo(text: Text, players: usize, size: usize, mut index: u128) -> (Vec<usize>, usize) {
    let (mut members, mut left, mut start, mut rounds) = (Vec::new(), size, 1, 0);
    for _ in 0..size {
        for player in start..=players {
            rounds += 1;
            // Once no member is left to choose, the printed version evaluates C(·, −1), which is 0.
            let count = match text {
                _ if left == 0 => 0,
                Text::Printed if players < size + 1 => 0,
                Text::Printed => choose(players - size - 1, left - 1),
                Text::Corrected => choose(players - player, left - 1),
            };
            if index < count {
                members.push(player);
                left -= 1;
                start = match text {
                    Text::Printed => size + 1,
                    Text::Corrected => player + 1,
                };
                break;
            }
            index -= count;
        }
    }
    // In the paper, the coalition is a bit vector z; the printed version sets some bits twice and in
    // arbitrary order.
    members.sort_unstable();
    members.dedup();
    (members, rounds)
}

/// Returns all coalitions of `size` among `players` in lexicographic order.
fn in_order(players: usize, size: usize) -> Vec<Vec<usize>> {
    let members =
        |mask: u32| (1..=players).filter(|player| mask >> (player - 1) & 1 == 1).collect::<Vec<_>>();
    let mut all: Vec<Vec<usize>> =
        (0..1_u32 << players).filter(|mask| mask.count_ones() as usize == size).map(members).collect();
    all.sort();
    all
}

/// Maximum number of players for which all coalitions of algorithm 3 are compared with the enumeration.
const ENUMERATED: usize = 8;

/// Returns the number of incorrect coalitions that algorithm 3 returns for one size, and the number of all
/// coalitions of that size.
fn wrong(text: Text, players: usize, size: usize) -> (usize, usize) {
    let all = in_order(players, size);
    let is_wrong =
        |(index, want): &(usize, &Vec<usize>)| combo(text, players, size, *index as u128).0 != **want;
    (all.iter().enumerate().filter(is_wrong).count(), all.len())
}

fn combo_claim(text: Text) -> Claim {
    let sizes = (2..=ENUMERATED).flat_map(|players| (1..players).map(move |size| (players, size)));
    let counts = sizes.map(|(players, size)| wrong(text, players, size));
    let (false_ones, all) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let [small, large] = [(5, 2), (6, 3)].map(|(players, size)| wrong(text, players, size));
    Claim::fact(
        "algorithm 3 computes the i-th combination in lexicographic order",
        "algorithm 3",
        &format!("it does for every size and index with n ≤ {ENUMERATED}, indices from 0"),
        Some(false_ones == 0),
        format!(
            "{false_ones} of {all} are wrong; {} of {} at n = 5, s = 2, {} of {} at n = 6, s = 3",
            small.0, small.1, large.0, large.1
        ),
    )
    .read_as(&text.reading("C(n − j, k − 1) in line 6 and j + 1 in line 10"))
}

/// Returns the expected number of evaluations, `min(C(n,s), 2c)` summed over the sizes s.
fn expected(players: usize, twice_c: f64, sizes: impl Iterator<Item = usize>) -> f64 {
    sizes.map(|size| twice_c.min(choose(players, size) as f64)).sum()
}

/// Finds 2c by bisection, so that the sum over the sizes in line 2 of algorithm 1, or in equation 12, is `m`
/// − 2. Also returns the number of steps.
fn twice_c(text: Text, players: usize, m: usize) -> (f64, usize) {
    let last = match text {
        Text::Printed => players / 2,
        Text::Corrected => players - 1,
    };
    let (mut low, mut high) = (0.0, choose(players, players / 2) as f64);
    let wanted = (m - 2) as f64;
    let mut steps = 0;
    loop {
        let middle = (low + high) / 2.0;
        let here = expected(players, middle, 1..=last);
        steps += 1;
        if (here - wanted).abs() < 1e-6 * wanted || steps == 1000 {
            return (middle, steps);
        }
        if here < wanted { low = middle } else { high = middle }
    }
}

fn evaluations_claim(text: Text) -> Claim {
    let spent = |players: usize| {
        let m = 10 * players;
        let (twice_c, _) = twice_c(text, players, m);
        (expected(players, twice_c, 1..=players - 1) + 2.0) / m as f64
    };
    let shares = PLAYERS.map(|players| (players, spent(players)));
    let words: Vec<String> = shares
        .iter()
        .map(|(players, share)| format!("{} of m at n = {players}", significant(*share)))
        .collect();
    Claim::fact(
        "c of algorithm 1 is such that m evaluations are expected",
        "algorithm 1, line 2",
        "with it 2 + Σ_{s=1}^{n−1} min(C(n,s), 2c) is m = 10n to 0.1 %",
        Some(shares.iter().all(|(_, share)| (share - 1.0).abs() < 1e-3)),
        words.join(", "),
    )
    .read_as(&text.reading("the sum of equation 12, over s = 1 … n − 1"))
}

/// Returns the number of operations of algorithm 1, excluding evaluations, for `m` expected evaluations;
/// coalitions come from the corrected algorithm 3.
fn operations(text: Text, players: usize, m: usize, seed: u64) -> f64 {
    let (twice_c, steps) = twice_c(Text::Corrected, players, m);
    let mut rng = stream(seed, Purpose::Experiment, (players * 1000 + m) as u64);
    let mut rounds = 0;
    let mut rows = 2;
    for size in 1..=players / 2 {
        let is_middle = 2 * size == players;
        let all = choose(players, size);
        // The number of pairs is the expected number, rounded. Algorithm 2 draws it from a binomial
        // distribution.
        let pairs = (twice_c.min(all as f64) / if is_middle { 2.0 } else { 1.0 }).round() as usize;
        rows += 2 * pairs;
        for _ in 0..pairs {
            rounds += combo(Text::Corrected, players, size, rng.random_range(0..all)).1;
            if is_middle {
                let index = rng.random_range(0..choose(players - 1, size - 1));
                rounds += combo(Text::Corrected, players - 1, size - 1, index).1;
            }
        }
    }
    let weights = match text {
        // Line 4 initializes W, a square matrix with one row per coalition.
        Text::Printed => rows * rows,
        Text::Corrected => rows,
    };
    let n = players;
    // The terms are the operations of line 2, line 3, lines 4 and 7, line 6, and lines 10 and 11, then those
    // of the sums of the normal equations and of their factorization.
    let all = steps * n + rounds + weights + rows * n + rows * n + rows * n * n + n * n * n;
    all as f64
}

fn time_claim(text: Text, seed: u64) -> Claim {
    let per_unit = |players: usize, multiple: usize| {
        let m = multiple * players;
        operations(text, players, m, seed) / (m * players * players) as f64
    };
    let grid = PLAYERS.map(|players| MULTIPLES.map(|multiple| per_unit(players, multiple)));
    let first = grid[0][0];
    let largest = grid.iter().flatten().copied().fold(0.0, f64::max);
    let words: Vec<String> = PLAYERS
        .iter()
        .zip(&grid)
        .map(|(players, row)| {
            let (first, last) = (row[0], row[row.len() - 1]);
            format!("{} to {} at n = {players}", significant(first), significant(last))
        })
        .collect();
    Claim::fact(
        "algorithm 1 runs in time O(m'n² + T), T being the time of m' evaluations",
        "lemma J.1",
        "the number of its operations except evaluations, divided by m'n², is never larger than at the \
         smallest n and m (n = 12 … 100, m = 5n … 160n)",
        Some(largest <= first),
        format!("operations over m'n², from m = 5n to 160n: {}", words.join(", ")),
    )
    .read_as(&text.reading("W as its diagonal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corrected_text_enumerates_all_coalitions_and_the_printed_one_does_not() {
        for players in 2..=ENUMERATED {
            for size in 1..players {
                let (false_ones, all) = wrong(Text::Corrected, players, size);
                assert_eq!((false_ones, all as u128), (0, choose(players, size)), "{players}, {size}");
            }
        }
        assert_eq!(wrong(Text::Printed, 5, 2), (8, 10));
        assert_eq!(wrong(Text::Printed, 6, 3), (20, 20));
    }

    #[test]
    fn rounds_of_the_inner_loop_are_at_most_the_players() {
        for (players, size) in [(8, 3), (30, 15), (100, 40)] {
            let all = choose(players, size);
            for index in [0, all / 3, all - 1] {
                let (members, rounds) = combo(Text::Corrected, players, size, index);
                assert!(members.len() == size && rounds <= players, "{players}, {size}: {rounds}");
                assert_eq!(rounds, members[size - 1], "each player up to the last member once");
            }
        }
    }

    #[test]
    fn twice_c_solves_its_equation() {
        // n = 10 and 2c = 6: 6 evaluations for each of 9 sizes, but line 2 sums over 5 sizes only.
        let (twice_c, _) = twice_c(Text::Corrected, 10, 56);
        assert!((twice_c - 6.0).abs() < 1e-4, "{twice_c}");
        let (printed, _) = super::twice_c(Text::Printed, 10, 32);
        assert!((printed - 6.0).abs() < 1e-4, "{printed}");
    }

    #[test]
    fn operations_are_of_the_order_of_the_lemma_only_without_the_square_matrix() {
        let per_unit = |text, m: usize| operations(text, 20, m, 0) / (m * 400) as f64;
        let growth = |text| per_unit(text, 3200) / per_unit(text, 400);
        assert!(growth(Text::Corrected) < 1.0, "{}", growth(Text::Corrected));
        assert!(growth(Text::Printed) > 2.0, "{}", growth(Text::Printed));
    }
}
