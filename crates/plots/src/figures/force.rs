//! Force plot of one row: positive values push the prediction up from the left, negative values push it down
//! from the right.

use super::labels::Label;
use super::occupied::{Area, OccupiedAreas};
use super::options::Options;
use super::words::value_in_words;
use super::{extent, labels, numbers, order};
use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::{
    Anchor, FONT, Mark, Paint, SMALL, Scale, Scene, Shape, digits, shortened, signed, width_of,
};

/// The top edge of the blocks.
const TOP: f64 = 88.0;
const BOTTOM: f64 = TOP + 28.0;
/// The length of a block's tip.
const TIP: f64 = 6.0;
/// The height of a line of names with their values.
const LINE: f64 = 34.0;
/// Maximum number of lines of names.
const LINES: usize = 3;
/// Maximum number of lines of whiskers.
const WHISKERS: usize = 6;
/// The height of a line of whiskers.
const WHISKER: f64 = 10.0;
const MARGIN: f64 = 24.0;

/// The value of one player, or the sum over several.
struct Block {
    name: Label,
    value: f64,
    half_width: f64,
    player: Option<usize>,
    /// The coordinates of both ends of the block: the end farther from the prediction, and the tip.
    ends: (f64, f64),
}

impl Block {
    fn middle(&self) -> f64 {
        0.5 * self.ends.0 + 0.5 * self.ends.1
    }

    fn paint(&self) -> Paint {
        Paint::of_sign(self.value)
    }
}

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let row = options.place_of_row(explained)?;
    let output = options.output;
    let (base, prediction) = (explained.base(row, output), explained.prediction(row, output));
    let blocks = blocks(explained, row, options);

    let with_interval = blocks.iter().filter(|block| block.half_width > 0.0 && block.player.is_some());
    let intervals = with_interval
        .flat_map(|block| [block.middle() - block.half_width, block.middle() + block.half_width]);
    let ends = blocks.iter().map(|block| block.ends.0);
    let mut extent = extent::min_and_max(ends.chain([base, prediction]).chain(intervals));
    for block in blocks.iter().filter(|block| block.player.is_none()) {
        extent = extent::with_sum(extent, block.middle(), block.half_width);
    }
    let scale = Scale::new(extent, (MARGIN, options.width - MARGIN));

    let mut scene = Scene::new(
        options.width,
        format!("{}: {}", explained.row_name(row), value_in_words(explained, output)),
    );
    let head = format!("{}: prediction {}", explained.row_name(row), digits(prediction, 5));
    scene.heading((12.0, 16.0), shortened(&head, options.width - 24.0, FONT + 1.5), Anchor::Start);
    scene.ticks_below(&scale, (TOP - 8.0, BOTTOM), TOP - 17.0);
    for block in &blocks {
        draw_block(&mut scene, block, &scale);
    }
    draw_ends(&mut scene, &scale, base, prediction);
    let below = draw_whiskers(&mut scene, &blocks, &scale);
    let (below, unnamed) = draw_names(&mut scene, &blocks, &scale, below);

    let caption = caption(explained, row, options, unnamed);
    scene.caption(below + 8.0, &caption);
    let most: Vec<String> = blocks
        .iter()
        .take(3)
        .map(|block| format!("{} {}", block.name.text, signed(block.value, 3)))
        .collect();
    scene.description = format!(
        "From the base value {} to the prediction {}: {}. {caption}",
        digits(base, 5),
        digits(prediction, 5),
        most.join(", ")
    );
    scene.table = numbers::of_row(explained, row, output);
    Ok(scene)
}

/// Returns the blocks by descending absolute value, with sums last. Blocks of the same sign are adjacent, and
/// the tip of the largest block of each sign is at the prediction.
fn blocks(explained: &Explained, row: usize, options: &Options) -> Vec<Block> {
    let output = options.output;
    let value = |player: usize| explained.value(row, player, output);
    let mut players = explained.by_size(row, output);
    // Zero values have no width.
    players.retain(|&player| value(player) != 0.0);
    let (told, rest) = order::split(&players, options.max_players(30));
    let mut blocks: Vec<Block> = told
        .iter()
        .map(|&player| Block {
            name: labels::with_input(explained, row, player),
            value: value(player),
            half_width: explained.half_width(row, player, output),
            player: Some(player),
            ends: (0.0, 0.0),
        })
        .collect();
    for is_up in [true, false] {
        let of_sign: Vec<usize> =
            rest.iter().copied().filter(|&player| (value(player) > 0.0) == is_up).collect();
        if !of_sign.is_empty() {
            blocks.push(Block {
                name: format!("{} others", of_sign.len()).into(),
                value: of_sign.iter().map(|&player| value(player)).sum(),
                // Errors of the values of a row are not independent, so their sum is used as a bound.
                half_width: of_sign.iter().map(|&player| explained.half_width(row, player, output)).sum(),
                player: None,
                ends: (0.0, 0.0),
            });
        }
    }
    let mut tips = [explained.prediction(row, output); 2];
    for block in &mut blocks {
        let tip = &mut tips[usize::from(block.value < 0.0)];
        block.ends = (*tip - block.value, *tip);
        *tip = block.ends.0;
    }
    blocks
}

fn draw_block(scene: &mut Scene, block: &Block, scale: &Scale) {
    let (end, tip) = (scale.place(block.ends.0), scale.place(block.ends.1));
    let ahead = if block.value < 0.0 { -TIP } else { TIP };
    let middle = 0.5 * (TOP + BOTTOM);
    let notch = [(end - ahead, TOP), (end, middle), (end - ahead, BOTTOM)];
    let points = vec![notch[0], (tip - ahead, TOP), (tip, middle), (tip - ahead, BOTTOM), notch[2], notch[1]];
    let says = labels::saying(&block.name.text, block.value, block.half_width);
    let mark = Mark { player: block.player, row: None, says };
    scene.shapes.push(Shape::Area { points, paint: block.paint(), opacity: 1.0, mark });
    // Between narrow blocks, the separators would hide everything else.
    if (tip - end).abs() > 2.5 {
        scene.line(notch, Paint::Paper, 1.2);
    }
}

/// Marks the base value and the prediction above the axis, and moves their labels apart if they would
/// overlap.
fn draw_ends(scene: &mut Scene, scale: &Scale, base: f64, prediction: f64) {
    let y = 42.0;
    let mut ends = [("base value", base), ("prediction", prediction)].map(|(name, number)| {
        let text = format!("{name} {}", digits(number, 4));
        let half = 0.5 * width_of(&text, SMALL) + 5.0;
        (scene.within(scale.place(number), half), half, text, scale.place(number))
    });
    let [first, second] = if ends[0].0 <= ends[1].0 { [0, 1] } else { [1, 0] };
    let overlap = ends[first].0 + ends[first].1 + ends[second].1 - ends[second].0;
    if overlap > 0.0 {
        let room = scene.width - ends[first].1 - ends[second].1 - 4.0;
        let left = (ends[first].0 - 0.5 * overlap).min(room - ends[second].1 + 4.0).max(ends[first].1 + 4.0);
        ends[second].0 = left + ends[first].1 + ends[second].1;
        ends[first].0 = left;
    }
    for (place, (x, _, text, at)) in ends.into_iter().enumerate() {
        let (paint, width) = if place == 1 { (Paint::Ink, 1.6) } else { (Paint::Muted, 1.2) };
        scene.line([(x, y + 8.0), (at, y + 19.0)], paint, 1.0);
        match place {
            1 => scene.line([(at, TOP - 8.0), (at, BOTTOM + 4.0)], paint, width),
            _ => scene.dashed([(at, TOP - 8.0), (at, BOTTOM + 4.0)], paint, width),
        }
        scene.text_of((x, y), text, SMALL, Anchor::Middle, paint);
    }
}

/// Draws the interval of each block as a line below the block, as far as there is space. Returns the y
/// coordinate of the bottom.
fn draw_whiskers(scene: &mut Scene, blocks: &[Block], scale: &Scale) -> f64 {
    let mut taken = OccupiedAreas::default();
    let mut below = BOTTOM;
    for block in blocks.iter().filter(|block| block.half_width > 0.0) {
        let middle = scale.place(block.middle());
        let half = 0.5
            * (scale.place(block.middle() + block.half_width)
                - scale.place(block.middle() - block.half_width));
        let x = (middle - half.max(1.0), middle + half.max(1.0));
        for line in 0..WHISKERS {
            let y = BOTTOM + 9.0 + line as f64 * WHISKER;
            let area = Area { x: (x.0 - 3.0, x.1 + 3.0), y: (y - 4.0, y + 4.0) };
            if taken.try_reserve(&[area]) {
                scene.whisker(x, y, (4.0, scene.width - 4.0));
                below = below.max(y + 4.0);
                break;
            }
        }
    }
    below
}

/// Writes names with their values below the largest blocks, as far as there is space. Returns the y
/// coordinate of the bottom, and the number of blocks without a name.
fn draw_names(scene: &mut Scene, blocks: &[Block], scale: &Scale, top: f64) -> (f64, usize) {
    let mut taken = OccupiedAreas::default();
    let (mut below, mut unnamed) = (top, 0);
    for block in blocks {
        let room = (0.3 * scene.width).min(220.0);
        let name = block.name.shortened(room, SMALL);
        let value = value_in(room, block);
        let half = 0.5 * width_of(&name, SMALL).max(width_of(&value, SMALL));
        let at = scale.place(block.middle());
        // Try a position below the middle of the block, then positions next to the leader line.
        let places = [0.0, half - 8.0, 8.0 - half].map(|moved| scene.within(at + moved, half));
        let ways = (0..LINES).flat_map(|line| places.map(|x| (line, x)));
        let free = ways.into_iter().find(|&(line, x)| {
            let y = top + 12.0 + line as f64 * LINE;
            let text = Area { x: (x - half - 4.0, x + half + 4.0), y: (y, y + LINE - 4.0) };
            let leader = Area { x: (at - 2.0, at + 2.0), y: (top, y) };
            taken.try_reserve(&[text, leader])
        });
        if let Some((line, x)) = free {
            let y = top + 12.0 + line as f64 * LINE;
            // The line starts in the middle of the block, so that it is clear which block it belongs to.
            scene.line([(at, BOTTOM - 6.0), (at, y + 1.0)], block.paint(), 1.0);
            scene.text_of((x, y + 8.0), name, SMALL, Anchor::Middle, Paint::Ink);
            scene.text_of((x, y + 22.0), value, SMALL, Anchor::Middle, block.paint());
            below = below.max(y + LINE);
        }
        unnamed += usize::from(free.is_none());
    }
    (below, unnamed)
}

/// Returns the value of a block with its interval, with as many digits as fit.
fn value_in(room: f64, block: &Block) -> String {
    let with_error = [4, 3, 2].map(|count| labels::with_error(block.value, block.half_width, count));
    let alone = signed(block.value, 3);
    with_error.into_iter().find(|text| width_of(text, SMALL) <= room).unwrap_or(alone)
}

fn caption(explained: &Explained, row: usize, options: &Options, unnamed: usize) -> String {
    let output = options.output;
    let mut halves = (0..explained.players()).map(|player| explained.half_width(row, player, output));
    let mut caption = match (explained.are_estimates(), halves.any(|half| half > 0.0)) {
        (true, true) => "Lines below the blocks: 95% confidence intervals of the values.".to_owned(),
        (true, false) => "The errors of the values are unknown.".to_owned(),
        (false, _) => "Values are exact.".to_owned(),
    };
    let left = explained.left_undivided(row, output);
    if !explained.heading.is_efficient && left != 0.0 {
        caption.push_str(&format!(" {} of the prediction is unattributed.", signed(left, 3)));
    }
    if unnamed > 0 {
        caption.push_str(&format!(" Blocks too small for a name: {unnamed}."));
    }
    caption
}
