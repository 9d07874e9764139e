//! Converts patterns of features to patterns of groups.

use crate::engine::histograms::Histograms;
use crate::engine::paths::Paths;
use apportion_models::tree::Node;

/// Computes the paths of a tree for groups as players, and converts the histograms of features to histograms
/// of groups. Returns `None` if a path has too many groups; such a path also has too many features.
pub(crate) fn of_groups(
    nodes: &[Node],
    (paths, histograms): &(Paths, Histograms),
    group_of: &[u32],
) -> Option<(Paths, Histograms)> {
    let grouped_paths = Paths::new(nodes, group_of)?;
    let mut grouped = Histograms::empty(nodes.len());
    for (leaf, _) in nodes.iter().enumerate().filter(|(_, node)| node.is_leaf()) {
        // A row passes the tests of a group iff it passes the tests of all its features.
        let features = paths.features(leaf);
        let members: Vec<u64> = grouped_paths
            .features(leaf)
            .iter()
            .map(|&group| {
                let of_group =
                    features.iter().enumerate().filter(|(_, feature)| group_of[**feature as usize] == group);
                of_group.map(|(bit, _)| 1 << bit).sum()
            })
            .collect();
        let pattern = |pattern: u64| -> u64 {
            members
                .iter()
                .enumerate()
                .map(|(bit, &members)| u64::from(pattern & members == members) << bit)
                .sum()
        };
        let mut patterns: Vec<(u64, f64)> =
            histograms.at(leaf).iter().map(|&(of_features, weight)| (pattern(of_features), weight)).collect();
        // A stable sort keeps the order in which the weights of a pattern are summed.
        patterns.sort_by_key(|&(pattern, _)| pattern);
        let equal = patterns.chunk_by(|(a, _), (b, _)| a == b);
        grouped.set(leaf, equal.map(|equal| (equal[0].0, equal.iter().map(|(_, weight)| weight).sum())));
    }
    Some((grouped_paths, grouped))
}
