//! How much each player matters over all rows.

use super::{Options, labels, order, value_in_words};
use crate::error::PlotError;
use crate::explained::Explained;
use crate::scene::{Anchor, Mark, Paint, SMALL, Scale, Scene, Table, digits, width_of};

const LINE: f64 = 26.0;
const TOP: f64 = 34.0;
const HALF: f64 = 8.0;
/// Of the normal law: 95 % lie within so many standard errors.
const NORMAL: f64 = 1.959_963_984_540_054;

pub(super) fn scene(explained: &Explained, options: &Options) -> Result<Scene, PlotError> {
    let output = options.output;
    let players = explained.by_importance(output);
    let (told, rest) = order::split(&players, options.most_players);
    let names: Vec<String> = told.iter().map(|&player| labels::of_player(explained, player)).collect();
    let others = (!rest.is_empty()).then(|| format!("{} others", rest.len()));
    let sizes: Vec<f64> = told.iter().map(|&player| size(explained, player, output)).collect();
    let halves: Vec<f64> = told.iter().map(|&player| half_width(explained, player, output)).collect();

    let room = labels::room(names.iter().chain(&others).map(String::as_str), options.width);
    let label = sizes.iter().map(|&size| width_of(&digits(size, 4), SMALL)).fold(30.0, f64::max) + 14.0;
    let rest_size: f64 = rest.iter().map(|&player| size(explained, player, output)).sum();
    let known = |half: f64| if half.is_nan() { 0.0 } else { half };
    let largest = sizes.iter().zip(&halves).map(|(size, &half)| size + known(half)).fold(rest_size, f64::max);
    let scale = Scale::new((0.0, largest), (room, options.width - label));

    let mut scene = Scene::new(
        options.width,
        format!("Importance: mean size of the {}", value_in_words(explained, output)),
    );
    let lines = told.len() + others.iter().len();
    let bottom = TOP + lines as f64 * LINE;
    scene.heading((12.0, 14.0), "What matters", Anchor::Start);
    scene.axis_below(&scale, (TOP, bottom), &format!("mean |{}|", value_in_words(explained, output)));
    for (place, &player) in told.iter().enumerate() {
        let y = TOP + (place as f64 + 0.5) * LINE;
        let (size, half) = (sizes[place], halves[place]);
        let says = format!("{}: {}{}", names[place], digits(size, 5), in_words(half));
        draw(&mut scene, (size, half), y, &scale, (Paint::Series(0), Mark::of_player(player, says)));
        labels::name(&mut scene, room, y, &names[place]);
    }
    if let Some(others) = &others {
        let y = TOP + (told.len() as f64 + 0.5) * LINE;
        let says = Mark::saying(format!("{others}: {} together", digits(rest_size, 5)));
        draw(&mut scene, (rest_size, 0.0), y, &scale, (Paint::Missing, says));
        labels::name(&mut scene, room, y, others);
    }
    let caption = caption(explained);
    scene.height = bottom + 42.0;
    scene.height += scene.paragraph((12.0, bottom + 42.0), options.width - 24.0, &caption) + 6.0;
    let most: Vec<String> =
        names.iter().zip(&sizes).take(3).map(|(name, &size)| format!("{name} {}", digits(size, 3))).collect();
    scene.description =
        format!("The most important of {} features: {}. {caption}", players.len(), most.join(", "));
    scene.table = table(explained, &players, output);
    Ok(scene)
}

/// The mean of |φ| over all rows.
fn size(explained: &Explained, player: usize, output: usize) -> f64 {
    explained.summary.value(player, output, explained.outputs()).mean_size
}

/// Half the width of the 95 % interval of the mean of |φ|: that of the mean over rows like these, and the mean half width of the values in full,
/// because errors of rows with one seed are not independent. Of one row there is the error of its value alone.
fn half_width(explained: &Explained, player: usize, output: usize) -> f64 {
    let of_rows = match explained.summary.rows {
        0 | 1 => 0.0,
        _ => NORMAL * explained.summary.value(player, output, explained.outputs()).error_of_mean_size(),
    };
    of_rows + explained.summary.half_widths[player * explained.outputs() + output]
}

fn in_words(half: f64) -> String {
    match half {
        0.0 => String::new(),
        half if half.is_nan() => ", error unknown".to_owned(),
        half => format!(" ± {}", digits(half, 2)),
    }
}

fn draw(scene: &mut Scene, (size, half): (f64, f64), y: f64, scale: &Scale, (paint, mark): (Paint, Mark)) {
    let (left, right) = (scale.place(0.0), scale.place(size));
    scene.rectangle((left, y - HALF), ((right - left).max(1.0), 2.0 * HALF), paint, mark);
    let mut end = right;
    if half > 0.0 {
        let whisker = (scale.place((size - half).max(0.0)), scale.place(size + half));
        scene.whisker(whisker, y);
        end = whisker.1;
    }
    scene.text_of((end + 6.0, y), digits(size, 4), SMALL, Anchor::Start, Paint::Ink);
}

/// What the whiskers are.
fn caption(explained: &Explained) -> String {
    let rows = explained.summary.rows;
    match (rows, explained.are_estimates()) {
        (0 | 1, false) => "Of one row; its values are exact.".to_owned(),
        (0 | 1, true) => "Of one row; whiskers are the 95 % intervals of its values.".to_owned(),
        (rows, false) => format!(
            "Over {rows} rows. Values are exact; whiskers are the 95 % interval of the mean for rows like these."
        ),
        (rows, true) => format!(
            "Over {rows} rows. Whiskers are the 95 % interval of the mean for rows like these, and beyond it the mean error of the \
             estimates in full."
        ),
    }
}

fn table(explained: &Explained, players: &[usize], output: usize) -> Table {
    let columns = [
        "feature",
        "mean |value|",
        "half width of the 95 % interval",
        "mean",
        "standard deviation",
        "least",
        "greatest",
    ];
    let mut table = Table::new(columns);
    for &player in players {
        let spread = explained.summary.value(player, output, explained.outputs());
        table.push([
            explained.heading.players[player].clone().into(),
            spread.mean_size.into(),
            half_width(explained, player, output).into(),
            spread.mean.into(),
            spread.deviation().into(),
            spread.least.into(),
            spread.greatest.into(),
        ]);
    }
    table
}
