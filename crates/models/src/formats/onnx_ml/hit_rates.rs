//! Detection of node hit rates that can be used as training cover.

/// Maximum difference between the hit rate of a node and the sum of the hit rates of its children, relative
/// to the hit rate of the node. Hit rates are sums rounded to `f32`.
const TOLERANCE: f64 = 1e-3;

/// Returns whether the hit rates of a tree's nodes behave like counts of rows: they must be positive, and the
/// hit rates of two children must add up to the hit rate of their parent.
pub(super) fn add_up(
    nodes: usize,
    number: impl Fn(usize) -> f64,
    children: impl Fn(usize) -> Option<[usize; 2]>,
) -> bool {
    (0..nodes).all(|node| {
        let own = number(node);
        let sum = children(node).map_or(own, |children| children.iter().map(|&child| number(child)).sum());
        own > 0.0 && own.is_finite() && (sum - own).abs() <= TOLERANCE * own
    })
}
