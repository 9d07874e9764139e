//! Groups plot: the importance of groups and nested groups.

use super::options::Options;
use super::size_bar::{self, SizeBar};
use super::words::{of_sample, rows_in_words, value_in_words};
use super::{labels, legend, mean, order};
use crate::error::PlotError;
use apportion_results::Member;

use crate::explained::Explained;
use crate::scene::{Anchor, FONT, Mark, Paint, Scale, Scene, Table, digits, shortened, width_of};

const TOP: f64 = 30.0;
const LINE: f64 = 22.0;
const HALF: f64 = 7.0;
const LEFT: f64 = 12.0;
/// Indentation of the members of a group.
const INDENT: f64 = 16.0;
/// Maximum depth of nested groups. A deeper group is drawn as a single line.
const MAX_DEPTH: usize = 8;
/// Maximum number of lines.
const MAX_LINES: usize = 150;
const OF_GROUP: Paint = Paint::Series(1);
const OF_FEATURE: Paint = Paint::Series(0);

/// A line of the figure.
struct Line {
    name: String,
    /// The label: the name and, for a group, the names of its first players.
    said: String,
    depth: usize,
    /// The players whose values are summed.
    players: Vec<usize>,
    is_group: bool,
    /// The index of the line of the enclosing group.
    parent: Option<usize>,
    /// The mean of |Σφ|, and the half-width of its interval.
    size: (f64, f64),
}

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    if explained.heading.groups.is_empty() {
        let why = "the results contain no groups; explain with groups (`--groups`)";
        return Err(PlotError::Nothing { kind: "groups", why });
    }
    let output = options.output;
    let mut tree = Tree { explained, output, most: options.max_players(20), lines: Vec::new(), left_out: 0 };
    tree.add(&explained.heading.groups, 0, None);
    let Tree { lines, left_out, .. } = tree;

    let start = |line: &Line| LEFT + line.depth as f64 * INDENT;
    let widest = lines.iter().map(|line| start(line) + width_of(&line.name, FONT)).fold(60.0, f64::max);
    let room = (widest + 12.0).min(0.5 * options.width);
    let label = size_bar::room(lines.iter().map(|line| line.size), 4);
    let ends = (room, options.width - label);
    // Exclude the errors of groups from the scale: they are sums, which may be much larger than all values.
    let with_error = |line: &Line| if line.is_group { (line.size.0, 0.0) } else { line.size };
    let of_groups = lines.iter().filter(|line| line.is_group && !line.size.1.is_nan());
    let ends_of_groups = of_groups.map(|line| line.size.0 + line.size.1);
    let (scale, _) = size_bar::scale(lines.iter().map(with_error), ends_of_groups, ends);
    let mut scene =
        Scene::new(options.width, format!("Groups: mean |{}|", value_in_words(explained, output)));
    scene.heading((12.0, 14.0), "Group importance", Anchor::Start);
    let entries = [(OF_GROUP, "group: |sum of its values|"), (OF_FEATURE, "feature: |value|")]
        .map(|(paint, text)| (paint, text.to_owned()));
    let top = legend::draw(&mut scene, TOP, &entries) + 8.0;
    let bottom = top + lines.len() as f64 * LINE;
    let axis = format!("mean |{}| over rows", value_in_words(explained, output));
    scene.axis_below(&scale, (top, bottom), &axis);
    let height = |place: usize| top + (place as f64 + 0.5) * LINE;
    for (place, line) in lines.iter().enumerate() {
        let y = height(place);
        if let Some(parent) = line.parent {
            let x = start(line) - 0.6 * INDENT;
            scene.line([(x, height(parent) + 8.0), (x, y), (x + 0.45 * INDENT, y)], Paint::Muted, 1.0);
        }
        let name = shortened(&line.name, room - 8.0 - start(line), FONT);
        scene.text((start(line), y), name, Anchor::Start, Paint::Ink);
        draw_bar(&mut scene, line, y, &scale);
    }

    let mut caption = caption(explained, left_out);
    if lines.iter().any(|line| line.size.0 + line.size.1 > scale.range().1) {
        caption.push_str(" Open-ended whiskers extend beyond the axis.");
    }
    scene.caption(bottom + 42.0, &caption);
    let mut first: Vec<&Line> = lines.iter().filter(|line| line.depth == 0).collect();
    first.sort_by(|a, b| b.size.0.total_cmp(&a.size.0));
    let most: Vec<String> =
        first.iter().take(3).map(|line| format!("{} {}", line.name, digits(line.size.0, 3))).collect();
    scene.description = format!("The most important groups: {}. {caption}", most.join(", "));
    scene.table = table(explained, &lines);
    Ok(scene)
}

/// The lines of the figure under construction.
struct Tree<'a> {
    explained: &'a Explained,
    output: usize,
    /// Maximum number of members of a group that are shown separately.
    most: usize,
    lines: Vec<Line>,
    left_out: usize,
}

impl Tree<'_> {
    /// Adds the members of a group by descending importance, each followed by its own members.
    fn add(&mut self, members: &[Member], depth: usize, parent: Option<usize>) {
        let mut found: Vec<(Line, &Member)> = members
            .iter()
            .map(|member| {
                let players = players_of(self.explained, member);
                (self.line(member, players, depth, parent), member)
            })
            .collect();
        found.sort_by(|a, b| b.0.size.0.total_cmp(&a.0.size.0));
        let places: Vec<usize> = (0..found.len()).collect();
        let (told, rest) = order::split(&places, self.most);
        let (told, rest) = (told.len(), rest.len());
        let others = found.split_off(told);
        for (line, member) in found {
            if self.lines.len() == MAX_LINES {
                self.left_out += 1;
                continue;
            }
            let place = self.lines.len();
            let is_one_player = line.players.len() == 1;
            self.lines.push(line);
            if let Member::Group(members) = member
                && !is_one_player
                && depth + 1 < MAX_DEPTH
            {
                self.add(members, depth + 1, Some(place));
            }
        }
        if rest > 0 {
            let players: Vec<usize> = others.into_iter().flat_map(|(line, _)| line.players).collect();
            let size = size(self.explained, &players, self.output);
            let name = format!("{rest} others");
            self.lines.push(Line { said: name.clone(), name, depth, players, is_group: true, parent, size });
        }
    }

    fn line(&self, member: &Member, players: Vec<usize>, depth: usize, parent: Option<usize>) -> Line {
        let explained = self.explained;
        let name = match (member, &players[..]) {
            // A group with a single player has the name of this player.
            (_, &[player]) => labels::of_player(explained, player),
            (Member::Feature(name), _) => crate::explained::shown(name).into_owned(),
            (Member::Group(_), players) => format!("group of {}", players.len()),
        };
        let size = size(explained, &players, self.output);
        let said = match players.len() {
            0 | 1 => name.clone(),
            count => {
                let first: Vec<String> =
                    players.iter().take(6).map(|&player| labels::of_player(explained, player)).collect();
                format!("{name} ({}{})", first.join(", "), if count > 6 { ", …" } else { "" })
            }
        };
        Line { name, said, depth, is_group: players.len() > 1, players, parent, size }
    }
}

/// Returns the players whose features all belong to `member`, and those that it lists by name.
fn players_of(explained: &Explained, member: &Member) -> Vec<usize> {
    let heading = &explained.heading;
    let mut is_in = vec![false; heading.features.len()];
    let mut players: Vec<usize> = Vec::new();
    let mut left = vec![member];
    while let Some(member) = left.pop() {
        match member {
            Member::Group(members) => left.extend(members),
            Member::Feature(name) => match heading.features.iter().position(|feature| feature == name) {
                Some(feature) => is_in[feature] = true,
                None => players.extend(heading.players.iter().position(|player| player == name)),
            },
        }
    }
    let is_within =
        |features: &Vec<usize>| !features.is_empty() && features.iter().all(|&feature| is_in[feature]);
    players.extend((0..heading.players.len()).filter(|&player| is_within(&heading.members[player])));
    players.sort_unstable();
    players.dedup();
    players
}

/// Returns the mean of |Σφ| over the kept rows, and the half-width of its interval. The half-width is the sum
/// of the half-width due to sampling rows and the mean over the rows of the summed half-widths of the values,
/// because the errors of values of a row, and of rows with the same seed, are not independent.
fn size(explained: &Explained, players: &[usize], output: usize) -> (f64, f64) {
    let rows = 0..explained.rows();
    let sums: Vec<f64> = rows
        .clone()
        .map(|row| players.iter().map(|&player| explained.value(row, player, output)).sum::<f64>().abs())
        .collect();
    let halves =
        rows.map(|row| players.iter().map(|&player| explained.half_width(row, player, output)).sum());
    let halves: Vec<f64> = halves.collect();
    let (size, half) = mean::with_half_width(sums.into_iter());
    (size, half + mean::with_half_width(halves.into_iter()).0)
}

fn draw_bar(scene: &mut Scene, line: &Line, y: f64, scale: &Scale) {
    if line.players.is_empty() {
        return;
    }
    let (size, half) = line.size;
    let paint = if line.is_group { OF_GROUP } else { OF_FEATURE };
    let says = format!("{}: {}{}", line.said, digits(size, 5), labels::error_in_words(half));
    let player = if line.is_group { None } else { line.players.first().copied() };
    let mark = Mark { player, row: None, says };
    SizeBar { size, half_width: half, y, half: HALF, digits: 4 }.draw(scene, scale, paint, mark);
}

fn caption(explained: &Explained, left_out: usize) -> String {
    let mut caption = match explained.is_sample() {
        false => format!("Over {}. ", rows_in_words(explained.summary.rows)),
        true => of_sample(explained, "Means use"),
    };
    caption.push_str(match (explained.rows(), explained.are_estimates()) {
        (1, false) => "Values are exact.",
        (1, true) => "Whiskers: 95% confidence intervals of its values, summed within groups.",
        (_, false) => "Values are exact. Whiskers: 95% confidence interval of the mean over similar rows.",
        (_, true) => {
            "Whiskers: 95% confidence interval of the mean over similar rows, plus the mean estimation error."
        }
    });
    if left_out > 0 {
        caption.push_str(&format!(" {left_out} more groups or features are not shown."));
    }
    caption
}

fn table(explained: &Explained, lines: &[Line]) -> Table {
    let mut table =
        Table::new(["group or feature", "depth", "features", "mean |sum of values|", "95% CI half-width"]);
    for line in lines {
        let names: Vec<&str> =
            line.players.iter().map(|&player| explained.heading.players[player].as_str()).collect();
        table.push([
            line.name.clone().into(),
            (line.depth as f64).into(),
            names.join(", ").into(),
            line.size.0.into(),
            line.size.1.into(),
        ]);
    }
    table
}
