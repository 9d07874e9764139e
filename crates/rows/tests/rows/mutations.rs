//! Checks that reading randomly changed files returns an error or rows, but never panics, aborts, or
//! allocates excessive memory.

use std::time::{Duration, Instant};

use apportion_rows::{RowOptions, Source};

use crate::common::{FEATURES, FixtureOptions, bytes};

/// SplitMix64. It draws the same changes in every run.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((number ^ number >> 31) % bound as u64) as usize
    }
}

/// Changes, removes or repeats a few bytes, or truncates the file.
fn mutate(bytes: &mut Vec<u8>, draws: &mut Draws) {
    for _ in 0..=draws.below(4) {
        let at = draws.below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        let end = (at + 1 + draws.below(16)).min(bytes.len());
        match draws.below(10) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            // These bytes are large when read as sizes.
            3 => bytes[at..end].fill(0xff),
            4 => bytes[at..end].fill(0x7f),
            5 => bytes[at..end].fill(0),
            6 => {
                for byte in &mut bytes[at..end] {
                    *byte = draws.below(256) as u8;
                }
            }
            7 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << draws.below(8);
                }
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = draws.below(256) as u8;
                }
            }
        }
        if bytes.is_empty() {
            return;
        }
    }
}

fn survives(names: &[&str], count: usize) {
    let asked = FixtureOptions::new();
    let features = |name: &str| if name.ends_with(".npy") { 7 } else { FEATURES.len() };
    survives_as(names, count, |name, _| asked.row_options(features(name)));
}

/// Checks the same as [`survives`], with options that may depend on the index of the change.
fn survives_as<'a>(names: &[&str], count: usize, wanted: impl Fn(&str, usize) -> RowOptions<'a>) {
    let mut draws = Draws(19);
    let mut read = 0;
    for name in names {
        let whole = bytes(name);
        for change in 0..count {
            let mut bytes = whole.clone();
            mutate(&mut bytes, &mut draws);
            let started = Instant::now();
            let result = Source::stream("mutated", &bytes[..]).read(&wanted(name, change));
            let took = started.elapsed();
            assert!(took < Duration::from_secs(10), "{name} took {took:?}");
            if let Ok(table) = result {
                read += 1;
                assert_eq!(table.values.len(), table.len() * table.columns);
            }
        }
    }
    // Some, but not all, of the changed files are still readable.
    assert!(read > 0 && read < names.len() * count, "{read}");
}

#[test]
fn mutated_texts_and_matrices_are_refused_or_read() {
    survives(&["table.csv", "table.csv.gz", "table.csv.zst", "numbers.npy"], 1000);
}

#[cfg(feature = "columnar")]
#[test]
fn mutated_parquet_files_are_refused_or_read() {
    let names =
        ["none.parquet", "snappy.parquet", "gzip.parquet", "brotli.parquet", "zstd.parquet", "lz4.parquet"];
    survives(
        &[&names[..], &["pages_v2.parquet", "pandas.parquet", "polars.parquet", "delta.parquet"]].concat(),
        400,
    );
}

#[cfg(feature = "columnar")]
#[test]
fn mutated_arrow_files_are_refused_or_read() {
    survives(
        &["plain.arrow", "zstd.arrow", "polars.arrow", "stream.arrows", "delta.arrows", "lz4.feather"],
        500,
    );
}

#[cfg(feature = "columnar")]
#[test]
fn mutated_decimals_days_and_times_are_refused_or_read_as_ids() {
    let names = ["x".to_owned()];
    let ids =
        ["decimal9", "decimal18", "decimal38", "decimal76", "day", "day64", "category", "ms", "us", "ns"];
    survives_as(&["ids.parquet", "ids.arrow"], 1000, |_, change| RowOptions {
        names: Some(&names),
        named_by: "the model",
        id: Some(ids[change % ids.len()]),
        ..RowOptions::default()
    });
}
