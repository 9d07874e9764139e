//! Compares splits on table columns with the computation of all steps, followed by the test.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::rc::Rc;

use super::*;
use crate::common::Random;
use crate::ensemble::Width;
use crate::formats::onnx_ml::decision::Mode;

const MODES: [Mode; 7] =
    [Mode::AtMost, Mode::Less, Mode::AtLeast, Mode::More, Mode::Equal, Mode::Unequal, Mode::Member];

fn number(random: &mut Random) -> f64 {
    match random.below(8) {
        0 => f64::from(f32::from_bits(random.next() as u32)),
        1 => 1e30,
        2 => 0.0,
        _ => f64::from((random.below(41) as f32 - 20.0) * 0.1),
    }
}

fn step(random: &mut Random) -> Step {
    let operations = [
        Operation::Add,
        Operation::Subtract,
        Operation::SubtractFrom,
        Operation::Multiply,
        Operation::Divide,
    ];
    match random.below(9) {
        0 => Step::Single,
        1 => Step::Whole,
        2 => Step::Clip { lowest: -0.5, highest: 1.25 },
        3 => Step::Fill(number(random)),
        _ => {
            let operation = operations[random.below(5)];
            let constant = match number(random) {
                constant if !constant.is_finite() || operation == Operation::Divide && constant == 0.0 => {
                    -0.7
                }
                constant => constant,
            };
            let element = if random.chance(70) { Element::Single } else { Element::Double };
            Step::Arithmetic { operation, constant, element }
        }
    }
}

fn region_holds(region: &Region, x: f64) -> bool {
    match region {
        Region::Below(threshold) => x < *threshold,
        Region::From(threshold) => x >= *threshold,
        Region::Inside(rule) => rule.goes_left(x, false),
        Region::Outside(rule) => !rule.goes_left(x, false),
    }
}

/// Returns numbers at the ends of a region, next to them, and elsewhere.
fn candidates(region: &Region, grid: Grid, random: &mut Random) -> Vec<f64> {
    let mut numbers: Vec<f64> = (0..20).map(|_| number(random)).filter(|number| !number.is_nan()).collect();
    numbers.extend([f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::from(f32::MAX), -f64::from(f32::MAX)]);
    match region {
        Region::Below(threshold) | Region::From(threshold) => numbers.push(*threshold),
        Region::Inside(rule) | Region::Outside(rule) => match rule {
            crate::ensemble::Rule::Between { lowest, highest } => numbers.extend([*lowest, *highest]),
            crate::ensemble::Rule::Exactly(points) => numbers.extend(points.iter().take(5)),
            _ => {}
        },
    }
    let (first, last) = grid.ends();
    let near = |number: f64| {
        let place = grid.place(number);
        (place - 2..=place + 2)
            .filter(move |place| (first..=last).contains(place))
            .map(move |place| grid.number(place))
    };
    numbers.into_iter().flat_map(near).collect()
}

#[test]
fn splits_of_the_table_hold_when_tests_of_the_prepared_column_do() {
    let (mut checked, mut refused, mut constant) = (0, 0, 0);
    for seed in 0..6000 {
        let random = &mut Random(seed);
        let grid = Grid(if random.chance(50) { Width::Single } else { Width::Double });
        let mut chain = Prepared::Chain(Chain::new(3, Element::Double));
        for _ in 0..1 + random.below(4) {
            chain = chain.after(step(random), Element::Single).unwrap();
        }
        let Prepared::Chain(plain) = &chain else { unreachable!() };
        // Use thresholds that equal the value for some number.
        let threshold = match plain.value(f64::from(number(random) as f32)) {
            value if value.is_nan() || random.chance(20) => 0.5,
            value => value,
        };
        let decision = Decision {
            mode: MODES[random.below(7)],
            feature: 0,
            number: threshold,
            members: vec![threshold, 1.0, -0.5],
            missing_true: random.chance(50),
        };
        let Ok(split) = chain.split(&decision, grid) else {
            refused += 1;
            continue;
        };
        constant += usize::from(split.region.is_constant());
        assert_eq!(split.feature, 3);
        assert_eq!(split.missing_holds, decision.holds(plain.value(f64::NAN)), "{seed}");
        for x in candidates(&split.region, grid, random) {
            checked += 1;
            let expected = decision.holds(plain.value(x));
            assert_eq!(
                region_holds(&split.region, x),
                expected,
                "{seed}: {x} after {:?} by {decision:?}: {:?}",
                plain.steps(),
                split.region
            );
        }
    }
    assert!(checked > 300_000 && refused < 1500 && constant < 4500, "{checked} {refused} {constant}");
}

#[test]
fn pieces_have_the_values_of_the_numbers_that_they_are_for() {
    let grid = Grid(Width::Single);
    for seed in 0..1000 {
        let random = &mut Random(seed);
        let mut chain = Chain::new(0, Element::Single);
        for _ in 0..random.below(3) {
            chain = chain.after(step(random), Element::Single).unwrap();
        }
        let values: Vec<(f64, f64)> = (0..random.below(5))
            .map(|_| (chain.value(f64::from(number(random) as f32)), random.below(3) as f64))
            .filter(|pair| !pair.0.is_nan())
            .collect();
        let Ok(pieces) = chain.encoded(&values, 9.0, 7.0, Element::Single, grid) else { continue };
        let encode = |x: f64| match chain.value(x) {
            value if value.is_nan() => 7.0,
            value => values.iter().find(|pair| pair.0 == value).map_or(9.0, |pair| pair.1),
        };
        assert_eq!(pieces.missing(), encode(f64::NAN), "{seed}");
        for _ in 0..50 {
            let x = f64::from(number(random) as f32);
            if x.is_nan() {
                continue;
            }
            let found = pieces.ends(grid).find(|&(end, _)| x < end || end == f64::INFINITY).unwrap().1;
            assert_eq!(found, encode(x), "{seed}: {x} after {:?}", chain.steps());
        }
    }
}

#[test]
fn categories_have_the_values_of_their_encoders() {
    let mut texts = Texts::default();
    let table = |pairs: &[(&str, f64)]| -> HashMap<Rc<str>, Datum> {
        pairs.iter().map(|&(text, number)| (Rc::from(text), Datum::Number(number))).collect()
    };
    let encoded = Cases::new(1)
        .encoded(
            &table(&[("a", 0.0), ("b", 1.0), ("c", 2.0)]),
            Some(&Datum::Number(-1.0)),
            &mut texts,
            Element::Other,
        )
        .unwrap();
    let words = texts.categories();
    for mode in MODES {
        for number in [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0] {
            let decision =
                Decision { mode, feature: 0, number, members: vec![number, 2.0], missing_true: false };
            let split = encoded.split(&decision).unwrap();
            for (text, value) in [("a", 0.0), ("b", 1.0), ("c", 2.0), ("d", -1.0)] {
                let code = words.code_of_text(text).unwrap_or(crate::Categories::NO_CATEGORY);
                assert_eq!(
                    region_holds(&split.region, code),
                    decision.holds(value),
                    "{mode:?} {number} {text}"
                );
            }
        }
    }
    // A text column that is not encoded does not have numeric values.
    assert!(Cases::new(1).numbers().is_err());
}
