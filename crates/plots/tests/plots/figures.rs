//! Tests every kind of figure for random results.

use apportion_plots::{Kind, Options, PlotError, Shape};
use proptest::prelude::*;

use crate::common::results::Results;
use crate::common::scenes;

/// Generates inputs, some of them infinite.
fn inputs(count: usize) -> impl Strategy<Value = Vec<f64>> {
    let infinite = prop_oneof![8 => Just(0.0), 1 => Just(f64::INFINITY), 1 => Just(f64::NEG_INFINITY)];
    let both = (numbers(count, true), prop::collection::vec(infinite, count));
    both.prop_map(|(numbers, infinite)| numbers.iter().zip(infinite).map(|(a, b)| a + b).collect())
}

/// Generates numbers of all magnitudes, including zero and, optionally, missing ones.
fn numbers(count: usize, are_missing: bool) -> impl Strategy<Value = Vec<f64>> {
    let size = prop_oneof![
        4 => -1.0..1.0_f64,
        1 => Just(0.0),
        1 => -1e299..1e299_f64,
        1 => -1e-300..1e-300_f64,
        u32::from(are_missing) => Just(f64::NAN),
    ];
    prop::collection::vec(size, count)
}

fn results() -> impl Strategy<Value = Results> {
    (1..7_usize, 1..7_usize, 1..3_usize, any::<bool>()).prop_flat_map(
        |(players, rows, outputs, is_estimated)| {
            let count = players * rows * outputs;
            let name = prop_oneof!["[a-z]{1,12}", "\\PC{0,30}", any::<String>()];
            (
                prop::collection::vec(name, players),
                numbers(count, false),
                numbers(if is_estimated { count } else { 0 }, true),
                inputs(players * rows),
                prop::collection::vec((0..1_000_000_u64, prop::option::of(0.0..10.0_f64)), 0..5),
                any::<(bool, String)>(),
            )
                .prop_map(
                    move |(names, values, std_errors, inputs, interim_checks, (is_efficient, text))| {
                        let names: Vec<&str> = names.iter().map(String::as_str).collect();
                        let std_errors = std_errors.into_iter().map(f64::abs).collect();
                        let interim_checks = interim_checks.into_iter().chain([(7, Some(0.5))]).collect();
                        Results {
                            values,
                            std_errors,
                            inputs,
                            interim_checks,
                            is_efficient,
                            text,
                            ..Results::new(&names, rows, outputs)
                        }
                    },
                )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_kind_is_drawn_of_all_results(results in results(), width in 200.0..2000.0_f64) {
        for kind in Kind::ALL {
            let explained = results.explained(kind);
            let mut options = Options::default();
            options.width = width;
            options.output = results.outputs.len() - 1;
            let scene = kind.lay_out(&explained, &options).unwrap();
            prop_assert_eq!(scenes::check(&scene), Ok(()), "{}", kind);
        }
    }
}

#[test]
fn kinds_are_known_by_their_names() {
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    let known = Kind::ALL.map(Kind::name).join(", ");
    assert_eq!("violin".parse::<Kind>(), Err(PlotError::UnknownKind { name: "violin".to_owned(), known }));
}

#[test]
fn what_results_lack_is_said() {
    // Results for a waterfall plot have neither interactions nor a text nor an image.
    let mut results = Results::new(&["a", "b", "c"], 3, 1);
    results.interim_checks.clear();
    let explained = results.explained(Kind::Waterfall);
    for kind in [Kind::Interactions, Kind::Network, Kind::Convergence, Kind::Text, Kind::Image] {
        match kind.lay_out(&explained, &Options::default()) {
            Err(PlotError::Nothing { kind: named, .. }) => assert_eq!(named, kind.name()),
            other => panic!("{kind}: {other:?}"),
        }
    }
}

#[test]
fn what_is_asked_for_and_not_there_is_refused() {
    let explained = Results::new(&["a", "b"], 3, 2).explained(Kind::Waterfall);
    for kind in Kind::ALL {
        let mut options = Options::default();
        options.output = 2;
        assert!(matches!(kind.lay_out(&explained, &options), Err(PlotError::UnknownOutput { .. })), "{kind}");
        let mut options = Options::default();
        options.player = Some(2);
        assert!(matches!(kind.lay_out(&explained, &options), Err(PlotError::UnknownPlayer { .. })), "{kind}");
    }
    let mut options = Options::default();
    options.row = Some(3);
    for kind in [Kind::Waterfall, Kind::Force, Kind::Decision, Kind::Convergence] {
        assert!(matches!(kind.lay_out(&explained, &options), Err(PlotError::UnknownRow { .. })), "{kind}");
    }
}

#[test]
fn every_width_has_a_figure() {
    let results = Results::new(&["a", "b", "c"], 5, 1).estimated();
    for (asked, expected) in [(f64::NAN, 720.0), (f64::INFINITY, 4000.0), (-1.0, 280.0), (500.0, 500.0)] {
        for kind in Kind::ALL {
            let mut options = Options::default();
            options.width = asked;
            let scene = kind.lay_out(&results.explained(kind), &options).unwrap();
            assert_eq!((scene.width, scenes::check(&scene)), (expected, Ok(())), "{kind}");
        }
    }
}

/// Points 5 and 2 of the polygon of a block are its end and its tip.
#[test]
fn blocks_of_a_force_plot_meet_at_the_prediction_and_are_as_long_as_their_values() {
    let mut results = Results::new(&["a", "b", "c", "d"], 1, 1);
    results.values = vec![2.0, -1.0, 1.0, -0.5];
    let scene = Kind::Force.lay_out(&results.explained(Kind::Force), &Options::default()).unwrap();
    let blocks: Vec<(f64, f64)> = scene
        .shapes
        .iter()
        .filter_map(|shape| match shape {
            Shape::Area { points, .. } => Some((points[5].0, points[2].0)),
            _ => None,
        })
        .collect();
    // The blocks are sorted by descending absolute value: a, b, c, d.
    let lengths: Vec<f64> = blocks.iter().map(|(end, tip)| tip - end).collect();
    let pixels = lengths[0] / 2.0;
    for (length, value) in lengths.iter().zip([2.0, -1.0, 1.0, -0.5]) {
        assert!((length - value * pixels).abs() < 1e-6, "{lengths:?}");
    }
    assert!((blocks[0].1 - blocks[1].1).abs() < 1e-9, "the largest of both signs meet");
    assert!((blocks[2].1 - blocks[0].0).abs() < 1e-9 && (blocks[3].1 - blocks[1].0).abs() < 1e-9);
}
