//! Text plot of one row: its words on a background coloured by their values.

use super::colour_bar::{ColourBar, End, Ramp};
use super::options::Options;
use super::words::value_in_words;
use super::{labels, numbers};
use crate::error::PlotError;
use apportion_results::Medium;

use crate::explained::{Explained, shown};
use crate::scene::{Anchor, FONT, Mark, Paint, Scene, Shape, digits, shortened, signed, width_of};

const TOP: f64 = 40.0;
const LEFT: f64 = 16.0;
/// Space on the right for the colour bar.
const RIGHT: f64 = 80.0;
const SIZE: f64 = 15.0;
const LINE: f64 = 28.0;
/// Half the height of the background of words.
const HALF: f64 = 11.0;
/// Opacity of the largest value. It must leave text legible.
const OPAQUE: f64 = 0.5;
/// Maximum number of lines.
const MAX_LINES: usize = 400;

/// Adjacent text in a line that belongs to the same player, or to no player.
struct Fragment {
    player: Option<usize>,
    text: String,
    line: usize,
    /// The start and end of the fragment, relative to the start of the line.
    x: (f64, f64),
}

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let Some(Medium::Text { text, spans }) = &explained.heading.medium else {
        let why = "the results contain no text; use results of explain-text";
        return Err(PlotError::Nothing { kind: "text", why });
    };
    let row = options.place_of_row(explained)?;
    let output = options.output;
    let room = options.width - LEFT - RIGHT - 12.0;
    let (fragments, lines, is_whole) = flow(text, spans, room);
    let sizes = (0..explained.players()).map(|player| explained.value(row, player, output).abs());
    let most = sizes.fold(0.0, f64::max);

    let mut scene = Scene::new(options.width, format!("Text: {}", value_in_words(explained, output)));
    let prediction = digits(explained.prediction(row, output), 5);
    let head = format!("{}: prediction {prediction}", explained.row_name(row));
    scene.heading((12.0, 14.0), shortened(&head, options.width - 24.0, FONT + 1.5), Anchor::Start);
    let is_leftwards = is_leftwards(text);
    for fragment in &fragments {
        let (from, to) = fragment.x;
        // Lines of right-to-left scripts start on the right.
        let left = if is_leftwards { LEFT + room - to } else { LEFT + from };
        let y = TOP + (fragment.line as f64 + 0.5) * LINE;
        if let Some(player) = fragment.player {
            draw_ground(&mut scene, explained, (row, player, output), most, (left, y), to - from);
        }
        scene.text_of((left, y), fragment.text.clone(), SIZE, Anchor::Start, Paint::Ink);
    }
    let height = lines as f64 * LINE;
    let label = value_in_words(explained, output);
    let ends = [-most, most].map(|end| End::Signed(end, 2));
    let bar = ColourBar { ramp: Ramp::Grounds(OPAQUE), ends, label: &label };
    bar.draw(&mut scene, (options.width - RIGHT, TOP + 3.0), (RIGHT - 4.0, height.clamp(54.0, 200.0)));

    let caption = caption(explained, (row, output), is_whole);
    scene.caption(TOP + height.max(60.0) + 10.0, &caption);
    let told = |&player: &usize| {
        format!(
            "{} {}",
            labels::of_player(explained, player),
            signed(explained.value(row, player, output), 3)
        )
    };
    let first: Vec<String> = explained.by_size(row, output).iter().take(3).map(told).collect();
    scene.description = format!("Most important: {}. {caption}", first.join(", "));
    scene.table = numbers::of_row(explained, row, output);
    Ok(scene)
}

/// Breaks the text into lines of the available width. Returns the fragments, the number of lines, and whether
/// the text is complete.
fn flow(text: &str, spans: &[(usize, usize)], room: f64) -> (Vec<Fragment>, usize, bool) {
    let mut flow = Flow { fragments: Vec::new(), room, x: 0.0, line: 0, spaces: String::new() };
    let mut players: Vec<usize> =
        (0..spans.len()).filter(|&player| spans[player].0 < spans[player].1).collect();
    players.sort_by_key(|&player| spans[player]);
    let mut at = 0;
    for player in players {
        let (from, to) = spans[player];
        flow.add(&text[at..from], None);
        flow.add(&text[from..to], Some(player));
        at = to;
    }
    flow.add(&text[at..], None);
    (flow.fragments, flow.line.min(MAX_LINES - 1) + 1, flow.line < MAX_LINES)
}

/// The layout so far, with the position of the next word.
struct Flow {
    fragments: Vec<Fragment>,
    room: f64,
    x: f64,
    line: usize,
    /// White space since the last word.
    spaces: String,
}

impl Flow {
    /// Adds a piece of text that belongs to one player or to no player, word by word.
    fn add(&mut self, piece: &str, player: Option<usize>) {
        let mut is_begun = false;
        for part in piece.split_inclusive(char::is_whitespace) {
            let word = part.trim_end_matches(char::is_whitespace);
            if !word.is_empty() {
                self.add_word(&shown(word), player, is_begun);
                is_begun = true;
            }
            match part[word.len()..].chars().next() {
                Some('\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}') => self.next_line(),
                Some(space) if self.x > 0.0 => self.add_space(space),
                _ => {}
            }
            if self.line >= MAX_LINES {
                return;
            }
        }
    }

    fn add_word(&mut self, word: &str, player: Option<usize>, is_begun: bool) {
        let wide = width_of(word, SIZE);
        if self.x > 0.0 && self.x + wide > self.room {
            self.next_line();
        }
        if wide <= self.room {
            return self.place(word, wide, player, is_begun);
        }
        // Break a word that is wider than a line.
        let mut part = String::new();
        for letter in word.chars() {
            let with_it = width_of(&part, SIZE) + width_of(letter.encode_utf8(&mut [0; 4]), SIZE);
            if with_it > self.room && !part.is_empty() {
                self.place(&part, width_of(&part, SIZE), player, false);
                self.next_line();
                if self.line >= MAX_LINES {
                    return;
                }
                part.clear();
            }
            part.push(letter);
        }
        self.place(&part, width_of(&part, SIZE), player, false);
    }

    /// Places a word, and merges it with the preceding fragment if that belongs to the same piece.
    fn place(&mut self, word: &str, wide: f64, player: Option<usize>, is_begun: bool) {
        if self.line >= MAX_LINES {
            return;
        }
        let (from, line) = (self.x, self.line);
        self.x += wide;
        match self.fragments.last_mut() {
            Some(last) if is_begun && last.line == line && last.player == player => {
                last.text.push_str(&self.spaces);
                last.text.push_str(word);
                last.x.1 = self.x;
            }
            _ => self.fragments.push(Fragment { player, text: word.to_owned(), line, x: (from, self.x) }),
        }
        self.spaces.clear();
    }

    fn add_space(&mut self, space: char) {
        let spaces = if space == '\t' { "    " } else { " " };
        self.x += width_of(spaces, SIZE);
        self.spaces.push_str(spaces);
    }

    fn next_line(&mut self) {
        self.x = 0.0;
        self.line += 1;
        self.spaces.clear();
    }
}

/// Returns whether the first letter belongs to a right-to-left script: Hebrew, Arabic and related scripts.
fn is_leftwards(text: &str) -> bool {
    let runs_left = |letter: char| {
        matches!(
            u32::from(letter),
            0x590..0x900 | 0xfb1d..0xfe00 | 0xfe70..0xff00 | 0x10800..0x11000 | 0x1e800..0x1f000
        )
    };
    text.chars().find(|letter| letter.is_alphabetic()).is_some_and(runs_left)
}

/// Draws the background of a word, with a dashed line below if the sign of its value is uncertain.
fn draw_ground(
    scene: &mut Scene,
    explained: &Explained,
    (row, player, output): (usize, usize, usize),
    most: f64,
    (left, y): (f64, f64),
    wide: f64,
) {
    let (value, half) = (explained.value(row, player, output), explained.half_width(row, player, output));
    let says = labels::saying(&labels::of_player(explained, player), value, half);
    scene.shapes.push(Shape::Rectangle {
        at: (left - 1.0, y - HALF),
        size: (wide + 2.0, 2.0 * HALF),
        paint: Paint::of_sign(value),
        opacity: if most > 0.0 { OPAQUE * value.abs() / most } else { 0.0 },
        mark: Mark::of_player(player, says),
    });
    if explained.is_sign_unsure(row, player, output) {
        scene.dashed([(left, y + HALF), (left + wide, y + HALF)], Paint::Muted, 1.0);
    }
}

fn caption(explained: &Explained, (row, output): (usize, usize), is_whole: bool) -> String {
    let mut caption = format!(
        "From the base value {} to the prediction {}. ",
        digits(explained.base(row, output), 4),
        digits(explained.prediction(row, output), 4)
    );
    if (0..explained.players()).any(|player| explained.is_sign_unsure(row, player, output)) {
        caption.push_str(
            "Dashes mark words whose 95% confidence interval contains zero, or whose error is unknown. ",
        );
    } else if explained.are_estimates() {
        caption.push_str("No 95% confidence interval contains zero. ");
    }
    if !is_whole {
        caption.push_str("The end of the text is not shown. ");
    }
    caption.trim_end().to_owned()
}
