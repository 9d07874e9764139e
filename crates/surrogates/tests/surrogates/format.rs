//! The file format: what is written reads back, and changed bytes are refused or harmless.

use std::sync::OnceLock;

use apportion_games::{Background, Rows};
use apportion_surrogates::{LearningRows, Surrogate};
use apportion_values::Semivalue;
use proptest::prelude::*;

use super::common::numbers;

/// Learns from numbers, codes, missing and infinite values.
fn learned() -> Surrogate {
    let mut rows = numbers(3 * 400, 5);
    for (at, row) in rows.chunks_mut(3).enumerate() {
        row[1] = (at % 4) as f64;
        row[2] = [row[2], f64::NAN, f64::INFINITY, row[2]][at % 4];
    }
    let targets: Vec<f64> = rows
        .chunks(3)
        .flat_map(|row| [row[0] * row[1], if row[2].is_finite() { row[2] } else { 2.0 }])
        .collect();
    let background = Background::rows(rows[..9].to_vec(), 3).unwrap();
    let is_categorical = &[false, true, false];
    let learning = LearningRows { rows: Rows::new(&rows, 3), targets: &targets, outputs: 2, is_categorical };
    Surrogate::learn(learning, &background, &targets[..6], 1).unwrap()
}

#[test]
fn what_is_written_reads_back() {
    let surrogate = learned();
    let bytes = surrogate.to_bytes();
    let read = Surrogate::from_bytes(&bytes).unwrap();
    assert_eq!(read, surrogate);
    assert_eq!(read.to_bytes(), bytes);
    let text = String::from_utf8(bytes).unwrap();
    for (old, new) in [
        ("\"version\":1", "\"version\":2"),
        ("apportion-surrogate", "other"),
        ("\"outputs\":2", "\"outputs\":3"),
        ("\"base\":[", "\"base\":[0.5,"),
        ("\"nodes\":[[", "\"nodes\":[[9"),
        ("\"values\":[", "\"values\":[1.5,"),
        ("\"background\":\"", "\"background\":\"g"),
    ] {
        assert!(text.contains(old), "{old}");
        let error = Surrogate::from_bytes(text.replacen(old, new, 1).as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with("invalid surrogate file: "), "{old}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_bytes_are_refused_or_harmless(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(b"0123456789-.,[]truefalse".to_vec())),
            1..4,
        ),
    ) {
        static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
        let mut bytes = BYTES.get_or_init(|| learned().to_bytes()).clone();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(read) = Surrogate::from_bytes(&bytes) {
            let rows = [0.5, 1.0, f64::NAN, -1e300, 7.0, f64::INFINITY];
            let rows = Rows::new(&rows, 3);
            if read.features() == 3 {
                prop_assert_eq!(read.predict(rows).unwrap().len(), 2 * read.outputs());
                let background = Background::rows(vec![0.25; 6], 3).unwrap();
                prop_assert!(read.values(Semivalue::Shapley, &background, rows).is_err());
            }
        }
    }
}
