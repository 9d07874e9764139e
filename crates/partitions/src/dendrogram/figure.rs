//! The dendrogram as a figure: one leaf per line, with names on the left and the height increasing to the
//! right.

use apportion_plots::{
    Anchor, Cell, Dress, Marker, Paint, Scale, Scene, Table, digits, shortened, shown, width_of,
};

use super::{Cut, Dendrogram};
use crate::error::PartitionsError;

// All lengths are in CSS pixels.
const LEAF: f64 = 20.0;
const WIDTH: f64 = 640.0;
const MARGIN: f64 = 16.0;
/// Height of the axis below the leaves.
const AXIS: f64 = 44.0;
const FONT: f64 = 13.0;
/// Maximum width of a name; longer names are shortened.
const NAME: f64 = 320.0;
/// Number of colours of groups. The last colour of [`Paint::Series`] is omitted because it is almost black,
/// like clusters that are not part of a group.
const COLOURS: usize = 5;

impl Dendrogram {
    /// Lays out the dendrogram as a figure, with names at the leaves, merges at their height 1 − dependence,
    /// and the merges as its table. If there is a `cut`, a dashed line marks it, and every group of two or
    /// more features has a separate colour (five colours that repeat).
    ///
    /// # Errors
    ///
    /// The errors of [`cut`](Self::cut).
    pub fn figure(&self, cut: Option<Cut>) -> Result<Scene, PartitionsError> {
        let done = cut.map_or(Ok(0), |cut| self.merges_below(cut))?;
        let line = cut.map(|cut| match cut {
            Cut::Height(height) => height,
            Cut::Groups(_) => self.height_after(done),
        });
        let names: Vec<String> = self.leaves.iter().map(|name| shortened(&shown(name), NAME, FONT)).collect();
        let left = MARGIN + names.iter().map(|name| width_of(name, FONT)).fold(0.0, f64::max) + 10.0;
        let (top, bottom) = (MARGIN, MARGIN + LEAF * self.features() as f64);
        let scale = Scale::new((0.0, 1.0), (left, left + WIDTH));
        let mut scene = Scene::new(left + WIDTH + 2.0 * MARGIN, "Dendrogram");
        scene.height = bottom + AXIS;
        scene.axis_below(&scale, (top, bottom), "height = 1 − dependence");
        let rows = self.rows();
        let paints = self.paints(&rows, done);
        for (at, merge) in self.merges.iter().enumerate() {
            let [first, second] = merge.children;
            let x = scale.place(merge.height);
            let corners = [
                (scale.place(self.height(first)), rows[first]),
                (x, rows[first]),
                (x, rows[second]),
                (scale.place(self.height(second)), rows[second]),
            ];
            scene.line(corners, paints[self.features() + at], 2.0);
        }
        for (feature, name) in names.into_iter().enumerate() {
            scene.dots([(left, rows[feature])], Marker::Circle, 3.0, paints[feature]);
            scene.text_of((left - 8.0, rows[feature]), name, FONT, Anchor::End, Paint::Ink);
        }
        if let Some(height) = line.filter(|height| (0.0..=1.0).contains(height)) {
            let x = scale.place(height);
            scene.dashed([(x, top), (x, bottom)], Paint::Ink, 1.2);
        }
        scene.description = self.description(cut.map(|_| self.features() - done));
        scene.table = self.table();
        Ok(scene)
    }

    /// Draws the [figure](Self::figure) as an SVG document.
    ///
    /// # Errors
    ///
    /// The errors of [`cut`](Self::cut).
    pub fn to_svg(&self, cut: Option<Cut>) -> Result<String, PartitionsError> {
        Ok(self.figure(cut)?.svg(Dress::Colours))
    }

    /// Describes the figure for screen readers.
    fn description(&self, groups: Option<usize>) -> String {
        let counted =
            |count: usize, name: &str| format!("{count} {name}{}", if count == 1 { "" } else { "s" });
        let mut text = format!("Hierarchical clustering of {}.", counted(self.features(), "feature"));
        if let (Some(first), Some(last)) = (self.merges.first(), self.merges.last()) {
            let [first, last] = [first, last].map(|merge| digits(merge.height, 3));
            text += &format!(" They are merged at heights from {first} to {last}.");
        }
        if let Some(groups) = groups {
            text += &format!(" A dashed line marks the cut into {}.", counted(groups, "group"));
        }
        text
    }

    /// Returns the merges, with the name of a feature or the number of an earlier merge for each child.
    fn table(&self) -> Table {
        let child = |child: usize| match child.checked_sub(self.features()) {
            None => Cell::Text(self.leaves[child].clone()),
            Some(merge) => Cell::Text(format!("merge {merge}")),
        };
        let lines = self.merges.iter().enumerate().map(|(at, merge)| {
            let [first, second] = merge.children.map(child);
            let number = format!("merge {at}");
            vec![number.into(), first, second, merge.height.into(), (merge.size as f64).into()]
        });
        let columns = ["merge", "first", "second", "height", "features"].map(str::to_owned);
        Table { columns: columns.into(), lines: lines.collect() }
    }

    /// Returns a height between the last of the first `done` merges and the next merge.
    fn height_after(&self, done: usize) -> f64 {
        let height = |merge: usize| self.merges.get(merge).map(|merge| merge.height);
        let below = done.checked_sub(1).and_then(height).unwrap_or(0.0);
        0.5 * (below + height(done).unwrap_or(1.0))
    }

    /// Returns the height of a cluster, 0 for a feature.
    fn height(&self, cluster: usize) -> f64 {
        cluster.checked_sub(self.features()).map_or(0.0, |merge| self.merges[merge].height)
    }

    /// Returns the vertical position of each cluster: the line of a leaf, or the middle between its children.
    fn rows(&self) -> Vec<f64> {
        let mut rows = vec![0.0; self.features()];
        for (line, leaf) in self.leaves_in_order().into_iter().enumerate() {
            rows[leaf] = MARGIN + LEAF * (line as f64 + 0.5);
        }
        for merge in &self.merges {
            let [first, second] = merge.children;
            rows.push(0.5 * (rows[first] + rows[second]));
        }
        rows
    }

    /// Returns the colour of each cluster: the colour of its group if it is below the cut and in a group of
    /// several features, otherwise the colour of text.
    fn paints(&self, rows: &[f64], done: usize) -> Vec<Paint> {
        let features = self.features();
        let mut paints = vec![Paint::Ink; rows.len()];
        let mut outermost = vec![true; features + done];
        for child in self.merges[..done].iter().flat_map(|merge| merge.children) {
            outermost[child] = false;
        }
        let mut groups: Vec<usize> =
            (features..features + done).filter(|&cluster| outermost[cluster]).collect();
        groups.sort_by(|&one, &other| rows[one].total_cmp(&rows[other]));
        for (at, group) in groups.into_iter().enumerate() {
            paints[group] = Paint::Series((at % COLOURS) as u8);
        }
        for (at, merge) in self.merges[..done].iter().enumerate().rev() {
            for child in merge.children {
                paints[child] = paints[features + at];
            }
        }
        paints
    }

    /// Returns the leaves in an order in which merges do not cross. In each merge, the cluster that contains
    /// the feature with the smallest index is on top.
    fn leaves_in_order(&self) -> Vec<usize> {
        let features = self.features();
        let mut first: Vec<usize> = (0..features).collect();
        for merge in &self.merges {
            let [one, other] = merge.children;
            first.push(first[one].min(first[other]));
        }
        let mut leaves = Vec::with_capacity(features);
        let mut waiting = vec![first.len() - 1];
        while let Some(cluster) = waiting.pop() {
            match cluster.checked_sub(features) {
                None => leaves.push(cluster),
                Some(merge) => {
                    let mut children = self.merges[merge].children;
                    children.sort_by_key(|&child| std::cmp::Reverse(first[child]));
                    waiting.extend(children);
                }
            }
        }
        leaves
    }
}
