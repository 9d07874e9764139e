//! Whether the popularity of nodes is a training cover.

/// How far those of two children may be from that of their parent, relative to it: sums rounded to `f32`.
const TOLERANCE: f64 = 1e-3;

/// Whether the numbers of a tree's nodes are positive and those of two children add up to their parent's, as counts of rows do.
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
