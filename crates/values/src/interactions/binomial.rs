//! Signs, binomial coefficients and Bernoulli numbers, and enumeration of small coalitions.

/// Returns `C(n, k)`, which is exact for n ≤ 54, and infinity if the number overflows.
pub(super) fn binomial(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    let few = k.min(n - k);
    // Each intermediate product is a binomial coefficient, so each division is exact unless the numerator was
    // rounded.
    (1..=few).fold(1.0, |choose, i| choose * (n - few + i) as f64 / i as f64)
}

/// Returns (−1)^count.
pub(super) fn sign(count: usize) -> f64 {
    if count.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// Returns the number of coalitions in a game of `players` with at most `order` members, including the empty
/// coalition; saturates at `usize::MAX`.
pub(super) fn coalitions_up_to(players: usize, order: usize) -> usize {
    let count: f64 = (0..=order.min(players)).map(|size| binomial(players, size)).sum();
    if count < 9e15 { count as usize } else { usize::MAX }
}

/// Numerators and denominators of the Bernoulli numbers B_0, B_2, B_4, …, B_24.
const EVEN: [(f64, f64); 13] = [
    (1.0, 1.0),
    (1.0, 6.0),
    (-1.0, 30.0),
    (1.0, 42.0),
    (-1.0, 30.0),
    (5.0, 66.0),
    (-691.0, 2730.0),
    (7.0, 6.0),
    (-3617.0, 510.0),
    (43867.0, 798.0),
    (-174_611.0, 330.0),
    (854_513.0, 138.0),
    (-236_364_091.0, 2730.0),
];

/// Returns the Bernoulli number B_j, with B_1 = −½. The relative error is below 1e-13 for j ≤ 64.
pub(super) fn bernoulli(j: usize) -> f64 {
    match j {
        1 => -0.5,
        _ if j % 2 == 1 => 0.0,
        _ => match EVEN.get(j / 2) {
            Some((numerator, denominator)) => numerator / denominator,
            // For larger j, |B_j| = 2 j! ζ(j) / (2π)^j. Eight terms of the series of ζ(j) are exact up to
            // rounding.
            None => {
                let product = (1..=j).fold(2.0, |product, i| product * i as f64 / std::f64::consts::TAU);
                let zeta: f64 = (1..=8).map(|i| f64::from(i).powi(-(j as i32))).sum();
                if j % 4 == 2 { product * zeta } else { -product * zeta }
            }
        },
    }
}

/// Calls `each` with every sublist of `members` that has `least` to `most` elements, in lexicographic order.
/// `chosen` is a buffer and must be empty.
pub(super) fn for_each_subset(
    members: &[usize],
    (least, most): (usize, usize),
    chosen: &mut Vec<usize>,
    each: &mut impl FnMut(&[usize]),
) {
    if chosen.len() >= least {
        each(chosen);
    }
    if chosen.len() == most {
        return;
    }
    for (at, &member) in members.iter().enumerate() {
        chosen.push(member);
        for_each_subset(&members[at + 1..], (least, most), chosen, each);
        chosen.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bernoulli_numbers_satisfy_their_recursion() {
        // Tests Σ_{j ≤ q} C(q+1, j) B_j = 0, relative to the largest term, because the terms of the sum
        // cancel.
        for q in 1..64 {
            let terms: Vec<f64> = (0..=q).map(|j| binomial(q + 1, j) * bernoulli(j)).collect();
            let largest = terms.iter().fold(0.0f64, |largest, term| term.abs().max(largest));
            let sum: f64 = terms.iter().sum();
            assert!(sum.abs() <= 1e-12 * largest, "{q}: {sum} of {largest}");
        }
    }

    #[test]
    fn subsets_are_all_of_those_sizes() {
        let mut found = Vec::new();
        for_each_subset(&[3, 5, 8, 9], (1, 2), &mut Vec::new(), &mut |subset| found.push(subset.to_vec()));
        assert_eq!(found.len() + 1, coalitions_up_to(4, 2));
        assert!(found.contains(&vec![5, 9]) && !found.contains(&vec![]));
        assert_eq!(coalitions_up_to(3, 7), 8);
        assert_eq!(coalitions_up_to(1 << 40, 40), usize::MAX);
    }
}
