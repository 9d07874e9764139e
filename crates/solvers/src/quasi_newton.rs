//! Minimization of a smooth function within bounds.

/// The number of previous steps from which the curvature is estimated.
const MEMORY: usize = 8;
/// The minimum decrease of the function in a step, as a fraction of the decrease that the gradient predicts.
const SUFFICIENT: f64 = 1e-4;
/// The maximum number of times that a step is shortened.
const MAX_HALVINGS: usize = 12;
/// The relative decrease of the function below which the minimization stops.
const CHANGE: f64 = 1e-7;

/// Minimizes `objective`, which returns the value and the gradient at a point. Starts at `start`, and limits
/// each variable to its `bounds`. Takes at most `steps` steps of the limited-memory BFGS method. A variable
/// at a bound is fixed while a descent step would leave the bounds. Returns the best point.
///
/// # Source
///
/// Nocedal, *Updating Quasi-Newton Matrices with Limited Storage*, Mathematics of Computation 1980.
pub fn minimize(
    start: &[f64],
    bounds: &[(f64, f64)],
    steps: usize,
    mut objective: impl FnMut(&[f64]) -> (f64, Vec<f64>),
) -> Vec<f64> {
    let clamp = |point: Vec<f64>| -> Vec<f64> {
        point.iter().zip(bounds).map(|(value, &(low, high))| value.clamp(low, high)).collect()
    };
    let mut point = clamp(start.to_vec());
    let (mut value, mut gradient) = objective(&point);
    let mut pairs: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for _ in 0..steps {
        let is_free: Vec<bool> = point
            .iter()
            .zip(bounds)
            .zip(&gradient)
            .map(|((&at, &(low, high)), &slope)| !(at <= low && slope > 0.0 || at >= high && slope < 0.0))
            .collect();
        let free = |numbers: &[f64]| -> Vec<f64> {
            numbers.iter().zip(&is_free).map(|(&number, &free)| if free { number } else { 0.0 }).collect()
        };
        let slope = free(&gradient);
        let mut direction = free(&descent(&slope, &pairs));
        if dot(&direction, &slope) >= 0.0 {
            pairs.clear();
            direction = descent(&slope, &pairs);
        }
        let mut length = if pairs.is_empty() { 1.0 / norm(&slope).max(1.0) } else { 1.0 };
        let mut found = None;
        for _ in 0..MAX_HALVINGS {
            let next = clamp(point.iter().zip(&direction).map(|(at, step)| at + length * step).collect());
            let moved: Vec<f64> = next.iter().zip(&point).map(|(next, at)| next - at).collect();
            let (next_value, next_gradient) = objective(&next);
            if next_value <= value + SUFFICIENT * dot(&moved, &gradient) {
                found = Some((next, moved, next_value, next_gradient));
                break;
            }
            length *= 0.5;
        }
        let Some((next, moved, next_value, next_gradient)) = found else { break };
        let change: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(next, at)| next - at).collect();
        if dot(&moved, &change) > 1e-12 * norm(&moved) * norm(&change) {
            pairs.push((moved, change));
            if pairs.len() > MEMORY {
                pairs.remove(0);
            }
        }
        let is_done = value - next_value <= CHANGE * (1.0 + value.abs());
        (point, value, gradient) = (next, next_value, next_gradient);
        if is_done {
            break;
        }
    }
    point
}

/// Returns the direction `−H g` for the gradient g. H is the estimate of the inverse Hessian from `pairs` of
/// a step and the resulting change of the gradient.
fn descent(gradient: &[f64], pairs: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|slope| -slope).collect();
    let mut shares = Vec::with_capacity(pairs.len());
    for (step, change) in pairs.iter().rev() {
        let share = dot(step, &direction) / dot(step, change);
        add(&mut direction, -share, change);
        shares.push(share);
    }
    if let Some((step, change)) = pairs.last() {
        let scale = dot(step, change) / dot(change, change);
        direction.iter_mut().for_each(|entry| *entry *= scale);
    }
    for ((step, change), share) in pairs.iter().zip(shares.iter().rev()) {
        let other = dot(change, &direction) / dot(step, change);
        add(&mut direction, share - other, step);
    }
    direction
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's function, whose minimum is at (1, 1).
    fn rosenbrock(point: &[f64]) -> (f64, Vec<f64>) {
        let (x, y) = (point[0], point[1]);
        let (a, b) = (1.0 - x, y - x * x);
        (a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x * b, 200.0 * b])
    }

    #[test]
    fn a_curved_valley_is_followed_to_its_end() {
        let found = minimize(&[-1.2, 1.0], &[(-5.0, 5.0); 2], 200, rosenbrock);
        assert!(found.iter().all(|value| (value - 1.0).abs() < 1e-3), "{found:?}");
    }

    #[test]
    fn a_minimum_outside_the_bounds_is_reached_at_the_bound() {
        // For x ≤ ½, the minimum is at (½, ¼).
        let found = minimize(&[-1.2, 1.0], &[(-5.0, 0.5), (-5.0, 5.0)], 200, rosenbrock);
        assert!((found[0] - 0.5).abs() < 1e-9 && (found[1] - 0.25).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn a_start_outside_the_bounds_is_moved_inside() {
        let square = |point: &[f64]| (point[0] * point[0], vec![2.0 * point[0]]);
        assert_eq!(minimize(&[9.0], &[(2.0, 4.0)], 50, square), vec![2.0]);
        assert_eq!(minimize(&[9.0], &[(2.0, 4.0)], 0, square), vec![4.0]);
    }
}
