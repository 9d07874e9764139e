//! Generated models for tests, and slow direct implementations of the algorithms of the crate.

#![allow(dead_code, unreachable_pub)] // every test binary uses only some of the helpers
#![allow(clippy::unwrap_used)]

pub mod case;
#[path = "../../../../models/tests/models/common.rs"]
mod files;
pub mod lightgbm;

use std::path::PathBuf;

use apportion_games::{Hierarchy, Member, Partition};
use apportion_models::Link;
use serde_json::{Value, json};

pub use self::files::*;

/// Returns the path of a model file, or of a file with results of its library. These files belong to the
/// crate that reads models.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/fixtures").join(name)
}

impl Random {
    /// Returns a partition of the features into up to `groups` groups of random sizes, in random order.
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

    /// Returns a hierarchy of groups with at most `depth` levels. Groups are built from one to three nodes at
    /// a time, and often contain the most recent group.
    pub fn hierarchy(&mut self, features: usize, depth: usize) -> Hierarchy {
        let mut nodes: Vec<(Member, usize)> =
            (0..features).map(|feature| (Member::Player(feature), 1)).collect();
        for _ in 0..features {
            let mut group = Vec::new();
            for _ in 0..[1, 2, 2, 2, 3][self.below(5)].min(nodes.len()) {
                let at = if self.chance(50) { nodes.len() - 1 } else { self.below(nodes.len()) };
                group.push(nodes.remove(at));
            }
            let levels = group.iter().map(|(_, levels)| levels + 1).max().unwrap_or(1);
            if levels <= depth {
                nodes.push((Member::Group(group.into_iter().map(|(member, _)| member).collect()), levels));
            } else {
                nodes.splice(0..0, group);
            }
        }
        Hierarchy::new(features, nodes.into_iter().map(|(member, _)| member).collect()).unwrap()
    }
}

impl TreeSpec {
    /// Returns the path-dependent expectation of the tree if the `present` features have the values of `row`,
    /// by definition.
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

/// Returns the same model as [`document`] in Apportion's own format, with a link.
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
