//! Tests summaries: their statistics are exact, and their bytes are the same for any parts in any order, and
//! equal to the bytes that Python wrote.

use std::collections::BTreeMap;
use std::io::Read;

use apportion_results::{Batch, Moments, Summary, SummaryError, SummaryHeading};
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;

/// A case of the fixture: its name, the number of rows, the names of players and outputs, the number of
/// inputs, and the function that returns the number at a row and a column.
struct Case {
    name: &'static str,
    rows: usize,
    players: Vec<String>,
    outputs: Option<Vec<String>>,
    inputs: usize,
    number: fn(usize, usize) -> f64,
}

/// Returns a small integer times a power of two.
fn number(row: usize, column: usize) -> f64 {
    let mantissa = (row * 7919 + column * 104_729 + row * row * 31) % 10_007;
    (mantissa as f64 - 5003.0) * 2_f64.powi(((row * 5 + column * 3) % 41) as i32 - 20)
}

fn extreme(row: usize, column: usize) -> f64 {
    let (tiny, huge) = (5e-324, f64::MAX);
    let all = [tiny, -tiny, huge, -huge, -0.0, 0.0, f64::MIN_POSITIVE, 1e308, 1.0, -3.5e-310];
    all[(row * 3 + column) % 10]
}

fn cases() -> Vec<Case> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let case = |name, rows, players: &[&str], outputs: Option<&[&str]>, inputs| Case {
        name,
        rows,
        players: names(players),
        outputs: outputs.map(names),
        inputs,
        number,
    };
    vec![
        case("one player", 1200, &["x"], None, 0),
        case("two players and inputs", 40, &["größe", "\u{1f600}\n\"\\\u{7f}/"], None, 3),
        Case {
            players: (0..129).map(|place| format!("f{place}")).collect(),
            ..case("many players", 3, &[], None, 0)
        },
        case("three outputs", 20, &["a", "b"], Some(&["x", "y", "z"]), 2),
        case("one named output", 2, &["a"], Some(&["only"]), 1),
        Case { number: extreme, ..case("extremes", 30, &["a", "b"], None, 1) },
        case("no rows", 0, &["a", "b"], None, 1),
    ]
}

impl Case {
    fn heading(&self) -> SummaryHeading {
        SummaryHeading {
            value: "shapley".to_owned(),
            interactions: false,
            game: "marginal".to_owned(),
            method: "exact".to_owned(),
            players: self.players.clone(),
            outputs: self.outputs.clone(),
            seed: u64::MAX,
            inputs: self.inputs,
        }
    }

    fn batch(&self, rows: std::ops::Range<usize>) -> Batch {
        let outputs = self.outputs.as_ref().map_or(1, Vec::len);
        let each = |first: usize, count: usize| -> Vec<f64> {
            let of_row = |row| (first..first + count).map(move |column| (self.number)(row, column));
            rows.clone().flat_map(of_row).collect()
        };
        let input = |row: usize, place: usize| match (row + place) % 7 {
            0 => f64::NAN,
            _ => (self.number)(row, 500 + place),
        };
        Batch {
            rows: rows.clone().map(|row| row as u64).collect(),
            base: each(100, outputs),
            predictions: each(200, outputs),
            values: each(0, self.players.len() * outputs),
            inputs: rows.flat_map(|row| (0..self.inputs).map(move |place| input(row, place))).collect(),
            ..Batch::default()
        }
    }

    /// Returns the summary of the rows in parts of `size` rows, merged in reverse.
    fn in_parts(&self, size: usize) -> Summary {
        let mut whole = Summary::new();
        for start in (0..self.rows.max(1)).step_by(size).rev() {
            let mut part = Summary::new();
            part.add(&self.heading(), &self.batch(start..(start + size).min(self.rows))).unwrap();
            whole.merge(&part).unwrap();
        }
        whole
    }
}

/// Returns the summaries that Python wrote, by name.
fn fixture() -> BTreeMap<String, String> {
    let packed = include_bytes!("../fixtures/summaries.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn bytes_are_those_that_python_wrote() {
    let mut fixture = fixture();
    assert_eq!(fixture.remove("empty").unwrap(), text(&Summary::new()));
    for case in cases() {
        let expected = fixture.remove(case.name).unwrap();
        for size in [usize::MAX / 2, 1, 7] {
            let summary = case.in_parts(size.min(case.rows.max(1)));
            assert!(text(&summary) == expected, "{} in parts of {size}", case.name);
            let read = Summary::from_bytes(expected.as_bytes()).unwrap();
            assert_eq!(read, summary, "{}", case.name);
            assert!(text(&read) == expected, "{}", case.name);
        }
    }
    assert!(fixture.is_empty());
}

fn text(summary: &Summary) -> String {
    String::from_utf8(summary.to_bytes()).unwrap()
}

/// Returns a number as an integer in units of 2^−1200.
fn exact(number: f64) -> BigInt {
    let bits = number.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let mantissa = if exponent == 0 { fraction } else { fraction + (1 << 52) };
    let size = BigInt::from(mantissa) << (exponent.max(1) + 1200 - 1075);
    if number < 0.0 { -size } else { size }
}

/// Returns whether a double is the one nearest to the square root of `square`, in units of 2^−2400.
fn is_root(found: f64, square: &BigUint) -> bool {
    // Compute the root with 700 additional bits, about 200 digits.
    let root = BigInt::from((square << 1400_u32).sqrt());
    let distance = |number: f64| ((exact(number) << 700_u32) - &root).magnitude().clone();
    let (below, above) = (found.next_down(), found.next_up());
    found >= 0.0
        && (found == 0.0 || distance(found) <= distance(below))
        && (!above.is_finite() || distance(found) <= distance(above))
}

/// Checks the moments against their definition, with integers.
fn check(numbers: &[f64], moments: &Moments) {
    let count = numbers.len();
    let mean_is = |found: f64, sum: BigInt| {
        let distance = |number: f64| (exact(number) * count - &sum).magnitude().clone();
        let (below, above) = (found.next_down(), found.next_up());
        [below, above].iter().all(|other| !other.is_finite() || distance(found) <= distance(*other))
    };
    let all: Vec<BigInt> = numbers.iter().map(|&number| exact(number)).collect();
    let sizes: Vec<BigInt> = all.iter().map(|number| number.magnitude().clone().into()).collect();
    assert_eq!(moments.count(), count as u64);
    assert!(mean_is(moments.mean(), all.iter().sum()), "{numbers:?}");
    assert!(mean_is(moments.mean_absolute(), sizes.iter().sum()), "{numbers:?}");
    for (found, all) in [(moments.deviation(), all), (moments.deviation_of_absolute(), sizes)] {
        // The variance is Σ (n x − Σx)² / (n² (n − 1)), in units of 2^−2400.
        let sum: BigInt = all.iter().sum();
        let squares: BigInt = all.iter().map(|x| x * count - &sum).map(|x| &x * &x).sum();
        let variance = squares.magnitude() / (count * count * (count - 1).max(1));
        match found.is_finite() {
            true => assert!(is_root(found, &variance), "{found} of {numbers:?}"),
            false => assert!(variance >= BigUint::from(1_u8) << (2048 + 2400_u32), "{numbers:?}"),
        }
    }
    let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
    assert_eq!(moments.min(), numbers.iter().copied().fold(min, f64::min));
    assert_eq!(moments.max(), numbers.iter().copied().fold(max, f64::max));
}

fn moments_of(numbers: &[f64]) -> Moments {
    let mut moments = [Moments::default()];
    Moments::add_rows(&mut moments, numbers).unwrap();
    let [moments] = moments;
    moments
}

#[test]
fn moments_are_exact_about_a_large_mean() {
    for shift in [0.0, 1e8, -1e8, 1e15, 1e16] {
        for scale in [1.0, 1e-150, 1e150, 1e-300] {
            let numbers: Vec<f64> = (0..60).map(|row| (number(row, 3) * 1e-6 + shift) * scale).collect();
            check(&numbers, &moments_of(&numbers));
        }
    }
}

#[test]
fn moments_of_few_and_of_extreme_numbers_are_exact() {
    let extremes: Vec<f64> = (0..10).map(|row| extreme(row, 0)).collect();
    check(&extremes, &moments_of(&extremes));
    for &one in &extremes {
        check(&[one], &moments_of(&[one]));
        for &other in &extremes {
            check(&[one, other, 3.0], &moments_of(&[one, other, 3.0]));
            check(&[one, other], &moments_of(&[one, other]));
        }
    }
    let none = moments_of(&[]);
    assert!(none.mean().is_nan() && none.mean_absolute().is_nan() && none.deviation().is_nan());
    assert!(none.min() == f64::INFINITY && none.max() == f64::NEG_INFINITY);
    assert_eq!(moments_of(&[3.0, 5.0]).deviation(), 2_f64.sqrt());
    assert_eq!(moments_of(&[1.7e308, -1.7e308]).deviation(), f64::INFINITY);
    assert_eq!(moments_of(&[1.7e308, -1.7e308]).deviation_of_absolute(), 0.0);
    assert_eq!(moments_of(&[5e-324, 1.5e-323]).deviation(), 5e-324);
    let zeros = moments_of(&[-0.0, -0.0]);
    assert_eq!([zeros.min(), zeros.max(), zeros.mean()].map(f64::to_bits), [0; 3]);
}

#[test]
fn rows_added_at_once_or_in_parallel_are_those_added_one_by_one() {
    for (rows, width, number) in [
        (1, 3, number as fn(usize, usize) -> f64),
        (31, 9, extreme),
        (32, 8, extreme),
        (600, 37, number),
        (33, 300, number),
        (5, 300, extreme),
    ] {
        let numbers: Vec<f64> =
            (0..rows).flat_map(|row| (0..width).map(move |column| number(row, column))).collect();
        let mut expected = vec![Moments::default(); width];
        for row in numbers.chunks(width) {
            Moments::add_rows(&mut expected, row).unwrap();
        }
        let (mut at_once, mut in_parallel) =
            (vec![Moments::default(); width], vec![Moments::default(); width]);
        Moments::add_rows(&mut at_once, &numbers).unwrap();
        Moments::add_rows_in_parallel(&mut in_parallel, &numbers).unwrap();
        assert!(at_once == expected && in_parallel == expected, "{rows} × {width}");
        for (column, moments) in at_once.iter().enumerate().step_by(17) {
            let column: Vec<f64> = numbers.iter().copied().skip(column).step_by(width).collect();
            check(&column, moments);
        }
    }
    // Test rows without columns.
    Moments::add_rows(&mut [], &[]).unwrap();
    Moments::add_rows_in_parallel(&mut [], &[]).unwrap();
}

#[test]
fn rows_with_numbers_that_are_not_finite_change_nothing() {
    let case = &cases()[1];
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut summary = case.in_parts(10);
        let before = summary.to_bytes();
        let mut batch = case.batch(0..4);
        batch.values[5] = wrong;
        assert_eq!(summary.add(&case.heading(), &batch), Err(SummaryError::NotFinite));
        assert_eq!(summary.to_bytes(), before);
        let mut moments = [Moments::default(), Moments::default()];
        assert_eq!(Moments::add_rows(&mut moments, &batch.values), Err(SummaryError::NotFinite));
        let mut many = vec![0.0; 200];
        many[150] = wrong;
        assert_eq!(Moments::add_rows(&mut moments, &many), Err(SummaryError::NotFinite));
        assert_eq!(Moments::add_rows_in_parallel(&mut moments, &many), Err(SummaryError::NotFinite));
    }
}

#[test]
fn rows_that_do_not_match_are_rejected() {
    let case = &cases()[1];
    let mut summary = case.in_parts(10);
    let before = summary.clone();
    let other = SummaryHeading { seed: 3, inputs: 0, ..case.heading() };
    let batch = Batch { inputs: Vec::new(), ..case.batch(0..4) };
    let error = summary.add(&other, &batch).unwrap_err().to_string();
    let expected = format!(
        "cannot merge summaries with different options (seed: {} and 3); compute both summaries with the \
         same options",
        u64::MAX
    );
    assert_eq!(error, expected);
    let mut others = Summary::new();
    others.add(&other, &batch).unwrap();
    assert_eq!(summary.merge(&others).unwrap_err().to_string(), expected);
    let error = summary.add(&case.heading(), &batch).unwrap_err().to_string();
    assert!(error.starts_with("wrong number of inputs: "), "{error}");
    assert!(error.contains(", expected 12 (rows: 4, "), "{error}");
    assert_eq!(summary, before);
    summary.merge(&Summary::new()).unwrap();
    assert_eq!(summary, before);
}

#[test]
fn quantiles_and_densities_are_those_of_the_numbers() {
    let case = &cases()[3];
    let summary = case.in_parts(6);
    let batch = case.batch(0..case.rows);
    for (player, output) in [(0, 0), (0, 2), (1, 1)] {
        let mut values: Vec<f64> =
            batch.values.iter().copied().skip(player * 3 + output).step_by(6).collect();
        values.sort_by(f64::total_cmp);
        for share in [0.0, 0.01, 0.3, 0.5, 0.77, 1.0] {
            let expected = values[((share * 20.0_f64).ceil() as usize).max(1) - 1];
            let found = summary.quantile(share, player, output);
            assert!((found - expected).abs() <= expected.abs() / 256.0, "{found} {expected}");
        }
        let bins: Vec<_> = summary.density(player, output).collect();
        assert!(bins.windows(2).all(|pair| pair[0].1 < pair[1].0));
        for (low, high, count) in bins {
            let is_in = |value: &&f64| low <= **value && **value <= high;
            assert_eq!(values.iter().filter(is_in).count() as u64, count);
        }
    }
    assert!(cases()[6].in_parts(1).quantile(0.5, 0, 0).is_nan());
}

#[test]
fn the_sample_contains_whole_rows() {
    let case = &cases()[3];
    let (sample, all) = (case.in_parts(6).sample(), case.batch(0..case.rows));
    assert_eq!(sample.len(), 20);
    let row = |batch: &Batch, row: usize| -> Vec<u64> {
        let arrays = [&batch.base, &batch.predictions, &batch.values, &batch.inputs];
        arrays.iter().flat_map(|numbers| batch.of_row(numbers, row)).map(|x| (x + 0.0).to_bits()).collect()
    };
    let sorted = |batch: &Batch| {
        let mut rows: Vec<_> = (0..batch.len()).map(|place| row(batch, place)).collect();
        rows.sort();
        rows
    };
    assert_eq!(sorted(&sample), sorted(&all));
    assert_eq!(cases()[0].in_parts(100).sample().len(), 1000);
    assert!(Summary::new().sample().is_empty());
}

#[test]
fn the_first_format_is_read() {
    // The first format stores sums of rounded squares, in units of 2^−1127.
    let case = &cases()[3];
    let second: serde_json::Value = serde_json::from_str(&text(&case.in_parts(20))).unwrap();
    let of_squares = |squares: &str| {
        let mut first = second.clone();
        first["format"] = 1.into();
        first["parts"][0][1][3] = squares.into();
        Summary::from_bytes(first.to_string().as_bytes())
    };
    let values = case.batch(0..20).values;
    let squares = values.iter().skip(3).step_by(6).map(|value| exact(value * value));
    // `exact` is in units of 2^−1200.
    let sum = squares.sum::<BigInt>() >> (1200_u32 - 1127);
    let read = of_squares(&format!("{sum:#x}")).unwrap();
    let expected = case.in_parts(20);
    let (found, expected) = (read.moments(1, 0), expected.moments(1, 0));
    assert_eq!((found.mean(), found.max()), (expected.mean(), expected.max()));
    assert!((found.deviation() / expected.deviation() - 1.0).abs() < 1e-10);
    let mut infinite = of_squares("inf").unwrap();
    assert_eq!(infinite.moments(1, 0).deviation(), f64::INFINITY);
    assert_eq!(Summary::from_bytes(&infinite.to_bytes()).unwrap(), infinite);
    assert!(text(&infinite).contains("\"format\":2") && text(&infinite).contains("\"inf\""));
    infinite.merge(&case.in_parts(3)).unwrap();
    assert_eq!(infinite.moments(1, 0).deviation_of_absolute(), f64::INFINITY);
    assert_eq!(infinite.moments(1, 0).mean(), expected.mean());
    // Because of rounding, a sum of squares may be smaller than the square of the sum allows.
    assert_eq!(of_squares("0x0").unwrap().moments(1, 0).deviation(), 0.0);
}

#[test]
fn bytes_of_other_versions_and_of_no_summary_are_rejected() {
    let error = |bytes: &[u8]| Summary::from_bytes(bytes).unwrap_err().to_string();
    for format in [-1, 0, 3] {
        let version = env!("CARGO_PKG_VERSION");
        let expected = format!(
            "unsupported summary format {format}: apportion {version} reads formats 1 to 2; use the version \
             that wrote it"
        );
        assert_eq!(error(format!("{{\"format\":{format}}}").as_bytes()), expected);
    }
    let case = &cases()[3];
    let written = text(&case.in_parts(20));
    let swapped = |old: &str, new: &str| {
        assert!(written.contains(old), "{old}");
        written.replacen(old, new, 1)
    };
    let sum = written.split('"').find(|part| part.starts_with("-0x")).unwrap();
    let sample = written.split("\"sample\":[\"").nth(1).unwrap();
    let changed = [
        String::new(),
        "{}".to_owned(),
        "[1]".to_owned(),
        "{\"format\":1}".to_owned(),
        "{\"format\":\"2\"}".to_owned(),
        written[..written.len() - 9].to_owned(),
        swapped("\"about\":", "\"abut\":"),
        swapped("\"seed\":", "\"sed\":"),
        swapped("\"rows\":20", "\"rows\":21"),
        swapped("\"rows\":20", "\"rows\":18446744073709551615"),
        swapped("[\"a\",\"b\"]", "[\"a\"]"),
        swapped("[\"x\",\"y\",\"z\"]", "[\"x\",\"y\"]"),
        swapped("\"inputs\":2", "\"inputs\":18446744073709551615"),
        swapped("[[20,", "[[19,"),
        swapped("[[20,", "[[1.5,"),
        swapped(sum, &sum[1..]),
        swapped(sum, &format!("{sum}1")),
        swapped(sum, "0xg"),
        swapped(sum, ""),
        // This sum is larger than any sum of doubles.
        swapped(sum, &format!("-0x{}", "f".repeat(600))),
        swapped(sample, &sample[8..]),
        swapped(&sample[..3], "***"),
        swapped("\"rows\":20,\"sample\":[\"", "\"rows\":20,\"sample\":[\"\",\""),
    ];
    for (place, bytes) in changed.iter().enumerate() {
        assert!(error(bytes.as_bytes()).starts_with("invalid summary ("), "{place}");
    }
}

/// Generates numbers of all magnitudes, including zeros of both signs.
fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -1e3..1e3_f64,
        1 => Just(0.0),
        1 => Just(-0.0),
        2 => prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_and_any_order_of_merges_have_the_same_bytes(
        values in prop::collection::vec(numbers(), 0..120),
        players in 1_usize..4,
        cuts in prop::collection::vec(0_usize..120, 0..8),
        order in prop::collection::vec(any::<prop::sample::Index>(), 10),
    ) {
        let rows = values.len() / players;
        let names = (0..players).map(|player| player.to_string()).collect();
        let heading = SummaryHeading { players: names, inputs: 1, ..SummaryHeading::default() };
        let batch = |rows: std::ops::Range<usize>| Batch {
            rows: rows.clone().map(|row| row as u64).collect(),
            base: vec![0.5; rows.len()],
            predictions: rows.clone().map(|row| row as f64).collect(),
            values: values[rows.start * players..rows.end * players].to_vec(),
            inputs: vec![f64::NAN; rows.len()],
            ..Batch::default()
        };
        let mut whole = Summary::new();
        whole.add(&heading, &batch(0..rows)).unwrap();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(rows)).chain([0, rows]).collect();
        cuts.sort_unstable();
        let mut parts: Vec<Summary> = Vec::new();
        for pair in cuts.windows(2) {
            let mut part = Summary::new();
            part.add(&heading, &batch(pair[0]..pair[1])).unwrap();
            parts.push(Summary::from_bytes(&part.to_bytes()).unwrap());
        }
        for choice in order {
            let part = parts.remove(choice.index(parts.len()));
            match parts.is_empty() {
                true => parts.push(part),
                false => {
                    let other = choice.index(parts.len());
                    parts[other].merge(&part).unwrap();
                }
            }
        }
        prop_assert_eq!(parts.len(), 1);
        prop_assert!(parts[0].to_bytes() == whole.to_bytes());
        prop_assert_eq!(&parts[0], &whole);
        for player in 0..players {
            let of_player = values[..rows * players].iter().copied().skip(player).step_by(players);
            let of_player: Vec<f64> = of_player.collect();
            if rows > 0 {
                check(&of_player, whole.moments(player, 0));
            }
        }
    }

    #[test]
    fn changed_bytes_never_panic(
        case in 0_usize..7,
        format in 1..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4), 1..6),
    ) {
        let case = &cases()[case];
        let (second, asked) = ("\"format\":2", format!("\"format\":{format}"));
        let mut bytes = text(&case.in_parts(1000)).replacen(second, &asked, 1).into_bytes();
        for (place, byte, kind) in changes {
            // A byte can be removed from a text of one byte, and then nothing is left to change.
            if bytes.is_empty() {
                break;
            }
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes[place] = b"0123456789abcdef\"[],{}:-+=pinfxnull"[usize::from(byte) % 34],
                2 => {
                    bytes.remove(place);
                }
                _ => bytes.truncate(place.max(1)),
            }
        }
        if let Ok(mut read) = Summary::from_bytes(&bytes) {
            // If the bytes are valid, all results can be computed without a panic.
            prop_assert_eq!(&Summary::from_bytes(&read.to_bytes()).unwrap(), &read);
            let heading = read.heading().cloned().unwrap_or_default();
            for player in 0..heading.players.len() {
                for output in 0..heading.output_count() {
                    read.moments(player, output).deviation_of_absolute();
                    read.moments(player, output).mean();
                    read.quantile(0.3, player, output);
                }
            }
            let _ = read.sample();
            let same = read.clone();
            read.merge(&same).unwrap();
        }
    }
}
