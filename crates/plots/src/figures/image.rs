//! Image plot of one row: its segments, coloured by their values.

use super::colour_bar::{ColourBar, End, Ramp, pixel};
use super::options::Options;
use super::words::value_in_words;
use super::{labels, numbers};
use crate::error::PlotError;
use apportion_results::Medium;

use crate::explained::Explained;
use crate::scene::{Anchor, FONT, Picture, Rgb, Scene, Shape, digits, shortened, signed};

const TOP: f64 = 34.0;
const LEFT: f64 = 12.0;
/// Space on the right for the colour bar.
const RIGHT: f64 = 84.0;
/// Maximum height.
const MAX_HEIGHT: f64 = 480.0;
/// Maximum number of pixels on a side. Larger images are downsampled by skipping pixels.
const MAX_PIXELS: usize = 1024;
/// Opacity of the largest value on the image.
const OPAQUE: f64 = 0.8;

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let Some(Medium::Image { width, height, segments, pixels }) = &explained.heading.medium else {
        let why = "the results contain no image; use results of explain-image";
        return Err(PlotError::Nothing { kind: "image", why });
    };
    let row = options.place_of_row(explained)?;
    let output = options.output;
    let values: Vec<f64> =
        (0..explained.players()).map(|player| explained.value(row, player, output)).collect();
    let most = values.iter().map(|value| value.abs()).fold(0.0, f64::max);

    let mut scene = Scene::new(options.width, format!("Image: {}", value_in_words(explained, output)));
    let prediction = digits(explained.prediction(row, output), 5);
    let head = format!("{}: prediction {prediction}", explained.row_name(row));
    scene.heading((12.0, 14.0), shortened(&head, options.width - 24.0, FONT + 1.5), Anchor::Start);
    let (across, down) = (*width as f64, *height as f64);
    let scale = ((options.width - LEFT - RIGHT - 12.0) / across).min(MAX_HEIGHT / down);
    let size = (scale * across, scale * down);
    let (columns, rows) = ((*width).min(MAX_PIXELS), (*height).min(MAX_PIXELS));
    let colour = |place: usize| {
        let (x, y) = ((place % columns) * width / columns, (place / columns) * height / rows);
        let at = y * width + x;
        let value = values.get(segments[at] as usize).copied().unwrap_or(0.0);
        let share = if most > 0.0 { value / most } else { 0.0 };
        blended(pixels.get(at).copied(), share)
    };
    let picture = Picture { width: columns, height: rows, pixels: (0..columns * rows).map(colour).collect() };
    scene.shapes.push(Shape::Picture { at: (LEFT, TOP), size, picture });
    let label = value_in_words(explained, output);
    let ends = [-most, most].map(|end| End::Signed(end, 2));
    let bar = ColourBar { ramp: Ramp::Signs, ends, label: &label };
    bar.draw(&mut scene, (LEFT + size.0 + 12.0, TOP), (RIGHT - 4.0, size.1.clamp(54.0, 220.0)));

    let caption = caption(explained, (row, output));
    scene.caption(TOP + size.1.max(60.0) + 10.0, &caption);
    let told =
        |&player: &usize| format!("{} {}", labels::of_player(explained, player), signed(values[player], 3));
    let first: Vec<String> = explained.by_size(row, output).iter().take(3).map(told).collect();
    scene.description = format!(
        "An image of {width} × {height} pixels in {} segments; the most important: {}. {caption}",
        explained.players(),
        first.join(", ")
    );
    scene.table = numbers::of_row(explained, row, output);
    Ok(scene)
}

/// Blends the colour of a value from −1 to 1 with a grey of the pixel's lightness. If the pixel is not known,
/// returns the colour itself.
fn blended(under: Option<Rgb>, share: f64) -> [u8; 4] {
    let [red, green, blue, opaque] = pixel(share);
    let Some(under) = under.map(|under| under.map(f64::from)) else { return [red, green, blue, opaque] };
    // Source: ITU-R BT.601, luma. The grey is lightened, so that colours are visible on black.
    let luma = 0.299 * under[0] + 0.587 * under[1] + 0.114 * under[2];
    let grey = 100.0 + 0.6 * luma;
    let opacity = OPAQUE * f64::from(opaque) / 255.0;
    let [red, green, blue] =
        [red, green, blue].map(|over| (grey + opacity * (f64::from(over) - grey)).round() as u8);
    [red, green, blue, 255]
}

fn caption(explained: &Explained, (row, output): (usize, usize)) -> String {
    let mut caption = format!(
        "From the base value {} to the prediction {}. ",
        digits(explained.base(row, output), 4),
        digits(explained.prediction(row, output), 4)
    );
    if explained.are_estimates() {
        let players = explained.players();
        let unsure = (0..players).filter(|&player| explained.is_sign_unsure(row, player, output)).count();
        caption.push_str(&format!(
            "Values are estimates: for {unsure} of {players} segments the 95% confidence interval contains \
             zero, or the error is unknown. "
        ));
    }
    caption.trim_end().to_owned()
}
