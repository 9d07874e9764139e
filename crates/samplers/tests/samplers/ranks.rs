//! Tests binomial coefficients, ranking and unranking against enumeration and against big integers.

use apportion_games::Coalitions;
use apportion_samplers::{SamplerError, choose, ln_choose, rank, unrank};
use num_bigint::BigUint;

/// Returns the row of Pascal's triangle for `n`, as big integers.
fn pascal(n: usize) -> Vec<BigUint> {
    let mut row = vec![BigUint::from(1u8)];
    for k in 0..n {
        let next = &row[k] * BigUint::from(n - k) / BigUint::from(k + 1);
        row.push(next);
    }
    row
}

/// Returns the logarithm of a big integer, from its top 64 bits and their exponent.
fn ln(number: &BigUint) -> f64 {
    let shift = number.bits().saturating_sub(64);
    (u64::try_from(number >> shift).unwrap() as f64).ln() + shift as f64 * std::f64::consts::LN_2
}

/// Returns the rank by definition: for each skipped player, the number of coalitions with the same beginning
/// and that player next.
fn rank_in_big_integers(members: &[usize], players: usize) -> BigUint {
    let mut rank = BigUint::ZERO;
    let mut next = 0;
    for (position, &member) in members.iter().enumerate() {
        for skipped in next..member {
            rank += pascal(players - 1 - skipped).swap_remove(members.len() - 1 - position);
        }
        next = member + 1;
    }
    rank
}

#[test]
fn ranks_are_places_in_lexicographic_order_for_all_coalitions_of_up_to_ten_players() {
    for players in 1..=10 {
        let all = Coalitions::from_masks(players, 0..1 << players);
        for size in 0..=players {
            let mut lists: Vec<Vec<usize>> =
                all.iter().filter(|row| row.size() == size).map(|row| row.members().collect()).collect();
            lists.sort();
            assert_eq!(choose(players, size), Some(lists.len() as u128));
            for (place, list) in lists.iter().enumerate() {
                let coalition = unrank(players, size, place as u128).unwrap();
                assert!(
                    coalition.view().members().eq(list.iter().copied()),
                    "n = {players}, s = {size}, rank {place}"
                );
                assert_eq!(rank(coalition.view()), Some(place as u128));
            }
        }
    }
}

#[test]
fn ranks_agree_with_big_integers_to_the_limits_of_128_bits() {
    for (players, size) in [
        (60, 30),
        (67, 33),
        (100, 50),
        (125, 62),
        (130, 65),
        (131, 65),
        (140, 40),
        (200, 30),
        (1000, 15),
        (10_000, 10),
        (1000, 990),
    ] {
        let count = choose(players, size).unwrap();
        assert_eq!(BigUint::from(count), pascal(players)[size], "C({players}, {size})");
        for place in [0, 1, count / 7, count / 3 * 2 + 1, count / 2, count - 2, count - 1] {
            let coalition = unrank(players, size, place).unwrap();
            assert_eq!(coalition.view().size(), size);
            assert_eq!(rank(coalition.view()), Some(place), "n = {players}, s = {size}");
            if players <= 200 {
                let members: Vec<usize> = coalition.view().members().collect();
                assert_eq!(
                    rank_in_big_integers(&members, players),
                    BigUint::from(place),
                    "n = {players}, s = {size}"
                );
            }
        }
    }
}

#[test]
fn coefficients_are_exact_wherever_they_fit_128_bits() {
    for players in (0..=140).chain([200, 1000, 5000]) {
        for (size, exact) in pascal(players).iter().enumerate() {
            assert_eq!(choose(players, size), u128::try_from(exact).ok(), "C({players}, {size})");
        }
    }
}

#[test]
fn logarithms_of_coefficients_keep_fourteen_digits() {
    for players in [2, 31, 32, 33, 64, 200, 1000, 2000, 10_000] {
        let step = if players > 2000 { 50 } else { 1 };
        for (size, exact) in pascal(players).iter().enumerate().step_by(step) {
            let (given, expected) = (ln_choose(players, size), ln(exact));
            assert!(
                (given - expected).abs() <= 4e-15 * expected.max(1.0),
                "C({players}, {size}): {given} {expected}"
            );
        }
    }
    assert_eq!(ln_choose(3, 4), f64::NEG_INFINITY);
}

#[test]
fn ranks_that_do_not_exist_are_refused() {
    assert_eq!(unrank(5, 2, 10), Err(SamplerError::Rank { rank: 10, count: 10, players: 5, size: 2 }));
    assert_eq!(unrank(5, 6, 0), Err(SamplerError::Size { size: 6, players: 5 }));
    assert_eq!(unrank(1000, 500, 0), Err(SamplerError::RankWidth { players: 1000, size: 500 }));
    let half = apportion_games::Coalition::from_members(1000, 0..500);
    assert_eq!(rank(half.view()), None);
}
