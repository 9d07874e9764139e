//! Water filling: shares of a total that are proportional to weights, but limited by capacities.

/// Returns the shares `min(capacity_i, c · weight_i)`, with `c` chosen so that the shares sum to `total`.
///
/// If the capacities with positive weight do not sum to more than the total, the shares are bitwise equal to
/// these capacities. Every share that reaches its capacity is bitwise equal to it, too. A zero weight yields
/// a zero share. Capacities may be infinite. The solution is exact: the sum is piecewise linear in `c`, with
/// a breakpoint at `capacity_i / weight_i` for each share. Takes `O(n + k log k)` time, where `k` capacities
/// do not exceed the total.
///
/// ```
/// use apportion_samplers::water_fill;
///
/// assert_eq!(water_fill(&[1.0, 1.0, 2.0], &[2.0, f64::INFINITY, 100.0], 14.0), [2.0, 4.0, 8.0]);
/// ```
///
/// # Panics
///
/// If the number of capacities differs from the number of weights.
pub fn water_fill(weights: &[f64], capacities: &[f64], total: f64) -> Vec<f64> {
    assert_eq!(weights.len(), capacities.len(), "expected one capacity for each weight");
    // Sort by the value of c at which a share reaches its capacity. A capacity above the total is never
    // reached, because c·weight ≤ total.
    let corner = |index: &usize| capacities[*index] / weights[*index];
    let (mut small, large): (Vec<usize>, Vec<usize>) = (0..weights.len())
        .filter(|&index| weights[index] > 0.0)
        .partition(|&index| capacities[index] <= total);
    small.sort_by(|a, b| corner(a).total_cmp(&corner(b)));

    // Sum the weights of the unfilled shares from the end, because subtracting the weights of filled shares
    // would cancel digits.
    let mut weight_left: Vec<f64> = vec![0.0; small.len() + 1];
    weight_left[small.len()] = large.iter().map(|&index| weights[index]).sum();
    for (position, &index) in small.iter().enumerate().rev() {
        weight_left[position] = weight_left[position + 1] + weights[index];
    }
    let (mut filled, mut left) = (0, total);
    // Breakpoints are rounded, but whether all shares fit must not depend on the last digit of a breakpoint.
    let all_fit = large.is_empty() && small.iter().map(|&index| capacities[index]).sum::<f64>() <= total;
    while filled < small.len() && (all_fit || left >= corner(&small[filled]) * weight_left[filled]) {
        left -= capacities[small[filled]];
        filled += 1;
    }

    let mut shares = vec![0.0; weights.len()];
    for &index in &small[..filled] {
        shares[index] = capacities[index];
    }
    let c = left / weight_left[filled];
    for &index in small[filled..].iter().chain(&large) {
        shares[index] = (c * weights[index]).min(capacities[index]);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_the_total_or_to_all_capacities() {
        let (weights, capacities) = ([3.0, 0.0, 1.0, 2.0, 0.5], [10.0, 5.0, 1.0, 300.0, 4.0]);
        for total in [0.0, 0.5, 3.0, 17.0, 60.0, 314.0, 315.0, 1e300] {
            let shares = water_fill(&weights, &capacities, total);
            let expected = total.min(315.0);
            assert!((shares.iter().sum::<f64>() - expected).abs() <= 1e-12 * expected, "{total}: {shares:?}");
            assert!(
                shares.iter().zip(capacities).all(|(&share, capacity)| (0.0..=capacity).contains(&share))
            );
            assert_eq!(shares[1], 0.0);
        }
    }

    #[test]
    fn what_is_not_filled_is_in_proportion_to_the_weights() {
        let shares = water_fill(&[1.0, 2.0, 4.0], &[f64::INFINITY, 3.0, f64::INFINITY], 28.0);
        assert_eq!(shares, [5.0, 3.0, 20.0]);
    }
}
