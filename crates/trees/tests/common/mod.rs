//! Models made up for tests, and the slow and obvious ways to compute what the crate computes.

#![allow(dead_code, unreachable_pub)] // every test binary uses its own part
#![allow(clippy::unwrap_used)]

#[path = "../../../models/tests/common/mod.rs"]
mod files;
pub mod lightgbm;

use std::path::PathBuf;

use apportion_games::{Partition, Rows};
use apportion_models::Link;
use apportion_values::Semivalue;
use serde_json::{Value, json};

pub use self::files::*;

/// A model file, or what a library says of one. The crate that reads them has them.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/fixtures").join(name)
}

impl Random {
    /// Features in up to `groups` groups of random sizes, in random order.
    pub fn partition(&mut self, features: usize, groups: usize) -> Partition {
        let mut members = vec![Vec::new(); groups];
        for feature in 0..features {
            let group = self.below(groups);
            let place = self.below(members[group].len() + 1);
            members[group].insert(place, feature);
        }
        members.retain(|members| !members.is_empty());
        Partition::new(features, members).unwrap()
    }
}

impl TreeSpec {
    /// The path-dependent expectation of the tree where the `present` features are those of `row`, by its definition.
    pub fn path_dependent(&self, row: &[f64], present: impl Fn(usize) -> bool + Copy) -> f64 {
        self.expectation(0, &self.covers(), row, present)
    }

    fn expectation(
        &self,
        node: usize,
        cover: &[f32],
        row: &[f64],
        present: impl Fn(usize) -> bool + Copy,
    ) -> f64 {
        if self.left[node] == -1 {
            return f64::from(self.number[node]);
        }
        let children = [self.left[node] as usize, self.right[node] as usize];
        let feature = self.feature[node];
        if present(feature) {
            let child = children[usize::from(!self.goes_left(node, row[feature]))];
            return self.expectation(child, cover, row, present);
        }
        let share = |child: usize| match f64::from(cover[node]) {
            0.0 => 0.5,
            own => f64::from(cover[child]) / own,
        };
        children.map(|child| share(child) * self.expectation(child, cover, row, present)).iter().sum()
    }
}

/// The same model as [`document`] has, in the format of our own, behind a link.
pub fn linked_document(
    trees: &[TreeSpec],
    features: usize,
    base_margins: &[f32],
    link: Option<Link>,
) -> Value {
    let link = link.map(|link| {
        let mut document = json!({"name": link.name()});
        match link {
            Link::Logistic { steepness } => document["steepness"] = json!(steepness),
            Link::HalfPower { unit } => document["unit"] = json!(unit),
            _ => {}
        }
        document
    });
    let tree = |tree: &TreeSpec| {
        let sets = tree.set.iter().enumerate().filter_map(|(node, set)| set.as_ref().map(|set| (node, set)));
        let rule = |(node, set)| json!({"node": node, "categories": set, "side": "right"});
        json!({
            "output": tree.output,
            "left": tree.left,
            "right": tree.right,
            "feature": tree.feature,
            "threshold": tree.number,
            "value": tree.number,
            "default_left": tree.default_left.iter().map(|&left| u8::from(left)).collect::<Vec<_>>(),
            "cover": tree.covers(),
            "rules": sets.map(rule).collect::<Vec<_>>(),
        })
    };
    let mut document = json!({
        "format": "apportion-trees",
        "version": 1,
        "width": "single",
        "features": features,
        "base_margins": base_margins,
        "operator": "<",
        "trees": trees.iter().map(tree).collect::<Vec<_>>(),
    });
    if let Some(link) = link {
        document["link"] = link;
    }
    document
}

/// The values of the marginal game from their definition: every coalition of `players` is a row of the model. Features that are not
/// listed must not matter. Features × outputs, row-major.
pub fn by_enumeration(
    value: Semivalue,
    trees: &[TreeSpec],
    outputs: usize,
    players: &[usize],
    explicand: &[f64],
    background: Rows<'_>,
    weights: &[f64],
) -> Vec<f64> {
    let worth = |coalition: usize| -> Vec<f64> {
        let mut worth = vec![0.0; outputs];
        for (row, weight) in background.iter().zip(weights) {
            let mut mixture = row.to_vec();
            for (position, &player) in players.iter().enumerate() {
                if coalition >> position & 1 == 1 {
                    mixture[player] = explicand[player];
                }
            }
            for tree in trees {
                worth[tree.output] += weight * tree.predict(&mixture);
            }
        }
        worth
    };
    let worths: Vec<Vec<f64>> = (0..1 << players.len()).map(worth).collect();
    let mut values = vec![0.0; explicand.len() * outputs];
    for (position, &player) in players.iter().enumerate() {
        for coalition in (0..1usize << players.len()).filter(|coalition| coalition >> position & 1 == 0) {
            let weight = value.coefficient(players.len(), coalition.count_ones() as usize);
            for output in 0..outputs {
                let gain = worths[coalition | 1 << position][output] - worths[coalition][output];
                values[player * outputs + output] += weight * gain;
            }
        }
    }
    values
}

/// The same values as sums over leaves: for every leaf and background row, which path features only one of the two rows satisfies.
pub fn by_leaves(
    value: Semivalue,
    trees: &[TreeSpec],
    outputs: usize,
    explicand: &[f64],
    background: Rows<'_>,
    weights: &[f64],
) -> Vec<f64> {
    let mut values = vec![0.0; explicand.len() * outputs];
    for tree in trees {
        let mut open = vec![(0usize, Vec::<(usize, bool)>::new())];
        while let Some((node, path)) = open.pop() {
            if tree.left[node] != -1 {
                for (child, left) in [(tree.left[node], true), (tree.right[node], false)] {
                    let mut longer = path.clone();
                    longer.push((node, left));
                    open.push((child as usize, longer));
                }
                continue;
            }
            let mut features: Vec<usize> = path.iter().map(|&(split, _)| tree.feature[split]).collect();
            features.sort_unstable();
            features.dedup();
            let satisfies = |row: &[f64], feature: usize| {
                path.iter().all(|&(split, left)| {
                    tree.feature[split] != feature || tree.goes_left(split, row[feature]) == left
                })
            };
            for (row, weight) in background.iter().zip(weights) {
                let passes = |feature: &usize| (satisfies(explicand, *feature), satisfies(row, *feature));
                if features.iter().any(|feature| passes(feature) == (false, false)) {
                    continue;
                }
                let own: Vec<usize> =
                    features.iter().copied().filter(|f| passes(f) == (true, false)).collect();
                let rest: Vec<usize> =
                    features.iter().copied().filter(|f| passes(f) == (false, true)).collect();
                let leaf = weight * f64::from(tree.number[node]);
                for &feature in &own {
                    values[feature * outputs + tree.output] += leaf * value.moment(own.len() - 1, rest.len());
                }
                for &feature in &rest {
                    values[feature * outputs + tree.output] -= leaf * value.moment(own.len(), rest.len() - 1);
                }
            }
        }
    }
    values
}
