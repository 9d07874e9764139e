//! Styles of estimators in the figures of the laboratory. Styles are assigned by index, since the names of
//! the estimators are not known beforehand.

use crate::reproduce::figure::{Colour, Marker, Style, palette};

const COLOURS: [Colour; 8] = [
    palette::GREEN,
    palette::ORANGE,
    palette::BLUE,
    palette::VERMILION,
    palette::PURPLE,
    palette::SKY,
    palette::BLACK,
    palette::GREY,
];

const MARKERS: [Marker; 6] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross, Marker::Wedge];

/// Maximum number of distinguishable estimators.
pub(crate) const MAX_ESTIMATORS: usize = COLOURS.len() * MARKERS.len();

/// Maximum number of estimators in a figure with bands, which need different colours.
pub(crate) const MAX_BANDED_ESTIMATORS: usize = COLOURS.len();

/// Returns the style of the estimator with this index. The styles of all indices below [`MAX_ESTIMATORS`]
/// differ.
pub(crate) fn style_of(place: usize) -> Style {
    let (round, colour) = (place / COLOURS.len(), place % COLOURS.len());
    Style { colour: COLOURS[colour], marker: Some(MARKERS[(colour + round) % MARKERS.len()]) }
}

/// Number of panels per row.
pub(crate) const COLUMNS: usize = 3;

/// Maximum number of characters of the dataset name above a panel.
const TITLE: usize = 28;
/// Maximum number of characters of a name in the legend of a figure with one panel. Figures with several
/// panels are wider and allow longer names.
const NAME: usize = 30;

/// Returns the title of the panel of a dataset.
pub(crate) fn title(dataset: &str, players: usize) -> String {
    format!("{} (n = {players})", shortened(dataset, TITLE))
}

/// Returns the entries of a legend below `panels` panels, with names shortened to fit.
pub(crate) fn legend(entries: impl Iterator<Item = (String, Style)>, panels: usize) -> Vec<(String, Style)> {
    let room = NAME * panels.clamp(1, COLUMNS);
    let mut legend: Vec<(String, Style)> = Vec::new();
    for (place, (name, style)) in entries.enumerate() {
        let short = shortened(&name, room);
        // Names that become equal when shortened are distinguished by their index.
        let is_taken = legend.iter().any(|(other, _)| *other == short);
        legend.push((if is_taken { format!("{}: {short}", place + 1) } else { short }, style));
    }
    legend
}

/// Shortens text to at most `most` characters by removing its middle.
fn shortened(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.to_owned();
    }
    let front = (most - 1).div_ceil(2);
    let back = characters.len() - (most - 1 - front);
    characters[..front].iter().chain(&['…']).chain(&characters[back..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_ends_and_stay_apart() {
        assert_eq!(shortened("abcdefgh", 8), "abcdefgh");
        assert_eq!(shortened("abcdefghi", 8), "abcd…ghi");
        let names = ["x", "y"].map(|middle| format!("{}{middle}{0}", "a".repeat(20)));
        let legend = |panels| legend(names.iter().map(|name| (name.clone(), style_of(0))), panels);
        assert_eq!(legend(2).into_iter().map(|entry| entry.0).collect::<Vec<_>>(), names);
        let short = legend(1);
        assert!(short[0].0.chars().count() == NAME && short[1].0 == format!("2: {}", short[0].0));
    }

    #[test]
    fn no_two_are_alike() {
        let looks: Vec<Style> = (0..MAX_ESTIMATORS).map(style_of).collect();
        for (at, style_of) in looks.iter().enumerate() {
            assert!(!looks[..at].contains(style_of), "{at}");
        }
    }
}
