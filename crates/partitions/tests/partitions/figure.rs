//! Figures of dendrograms.

use apportion_partitions::{Cut, Dendrogram, Linkage, PartitionsError};
use apportion_plots::{Cell, Dress, Paint, Scene, Shape};

use crate::dendrogram::{random_matrix, small};

/// Returns the texts of a figure in the order of their lines.
fn texts(figure: &Scene) -> Vec<&str> {
    let texts = figure.shapes.iter().filter_map(|shape| match shape {
        Shape::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Returns the paints and the largest x coordinates of the brackets of merges.
fn brackets(figure: &Scene) -> Vec<(Paint, f64)> {
    let brackets = figure.shapes.iter().filter_map(|shape| match shape {
        Shape::Line { points, paint, .. } if points.len() == 4 => Some((*paint, points[1].0)),
        _ => None,
    });
    brackets.collect()
}

#[test]
fn the_figure_names_all_features_and_draws_all_merges_at_their_heights() {
    let figure = small().figure(None).unwrap();
    for name in small().names() {
        assert_eq!(texts(&figure).iter().filter(|text| *text == name).count(), 1, "{name}");
    }
    let brackets = brackets(&figure);
    assert!(brackets.len() == 3 && brackets.iter().all(|bracket| bracket.0 == Paint::Ink));
    let [first, second, last] = [0, 1, 2].map(|merge: usize| brackets[merge].1);
    assert!(((last - second) - 1.5 * (second - first)).abs() < 1e-9, "heights 0.25, 0.5 and 0.875");
    assert!(!figure.shapes.iter().any(|shape| matches!(shape, Shape::Line { is_dashed: true, .. })));
    let svg = small().to_svg(None).unwrap();
    assert_eq!(svg, figure.svg(Dress::Colours));
    assert!(svg.starts_with("<svg") && svg.contains(">s&lt;1&gt;&amp;&quot;2&quot;</text>"));
}

#[test]
fn a_cut_is_a_dashed_line_and_each_group_has_a_colour() {
    let figure = small().figure(Some(Cut::Groups(2))).unwrap();
    let brackets = brackets(&figure);
    assert_eq!(
        brackets.iter().map(|bracket| bracket.0).collect::<Vec<_>>(),
        [Paint::Series(0), Paint::Series(1), Paint::Ink]
    );
    let cut = figure.shapes.iter().find_map(|shape| match shape {
        Shape::Line { points, is_dashed: true, .. } => Some(points[0].0),
        _ => None,
    });
    assert_eq!(cut, Some(0.5 * (brackets[1].1 + brackets[2].1)), "halfway between the merges");
    let leaves = figure.shapes.iter().filter_map(|shape| match shape {
        Shape::Dots { paint, .. } => Some(*paint),
        _ => None,
    });
    let (one, other) = (Paint::Series(0), Paint::Series(1));
    assert_eq!(leaves.collect::<Vec<_>>(), [one, one, other, other]);
    assert!(figure.description.ends_with("the cut into 2 groups."), "{}", figure.description);
    let refused = PartitionsError::Groups { actual: 5, features: 4 };
    assert_eq!(small().to_svg(Some(Cut::Groups(5))), Err(refused));
    // There is no line for a cut beyond the axis.
    let beyond = small().figure(Some(Cut::Height(5.0))).unwrap();
    assert!(!beyond.shapes.iter().any(|shape| matches!(shape, Shape::Line { is_dashed: true, .. })));
}

#[test]
fn the_table_of_the_figure_contains_the_merges() {
    let table = small().figure(None).unwrap().table;
    assert_eq!(table.columns, ["merge", "first", "second", "height", "features"]);
    assert_eq!(table.lines[0], ["merge 0".into(), "age".into(), "bmi".into(), 0.25.into(), 2.0.into()]);
    let last: [Cell; 5] = ["merge 2".into(), "merge 0".into(), "merge 1".into(), 0.875.into(), 4.0.into()];
    assert_eq!(table.lines[2], last);
}

#[test]
fn control_characters_of_names_are_drawn_as_escapes() {
    let named = small().with_names(["a\u{1b}[31m", "b\0\n", "c\u{ffff}", "naïve 😀"]).unwrap();
    let figure = named.to_svg(None).unwrap();
    for name in ["a\\u{1b}[31m", "b\\u{0}\\u{a}", "c\\u{ffff}", "naïve 😀"] {
        assert_eq!(figure.matches(&format!(">{name}</text>")).count(), 1, "{name}");
    }
    assert!(figure.chars().all(|letter| !(letter.is_control() || letter == '\u{ffff}')));
}

#[test]
fn figures_of_one_and_of_many_features_have_every_name() {
    for features in [1, 2, 130] {
        let names: Vec<String> = (0..features).map(|feature| format!("feature {feature}")).collect();
        let dendrogram =
            Dendrogram::new(&random_matrix(features, 9), Linkage::Single).with_names(&names).unwrap();
        for cut in [None, Some(Cut::Groups(1)), Some(Cut::Groups(features)), Some(Cut::Height(5.0))] {
            let figure = dendrogram.figure(cut).unwrap();
            let texts = texts(&figure);
            assert!(names.iter().all(|name| texts.contains(&name.as_str())));
            assert!(!figure.description.is_empty() && figure.table.lines.len() == features - 1);
        }
    }
}

#[test]
fn long_names_are_shortened() {
    let long = "a_name_of_a_column_that_is_far_too_long_for_a_figure_".repeat(4);
    let named = small().with_names(["a", "b", "c", &long]).unwrap();
    let figure = named.figure(None).unwrap();
    assert!(figure.width < 1100.0 && texts(&figure).iter().any(|text| text.contains('…')));
}
