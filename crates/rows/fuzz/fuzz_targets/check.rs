//! Checks shared by all targets.

use std::io::{Read, Write};
use std::panic::set_hook;
use std::sync::{LazyLock, Once};

use apportion_models::{Categories, Category, UnknownCategory};
use apportion_rows::{RowOptions, RowsError, Sentinel, Source, Table};

/// The names of the columns of the fixtures; those with categories are at the end.
const OF_FIXTURES: [&str; 13] =
    ["money", "f64", "f32", "f16", "i8", "i64", "u16", "u32", "flag", "colour", "category", "large", "code"];
/// Maximum size in bytes of inputs that are also read in small pieces. Reading in pieces is slow, and larger
/// inputs do not test anything else.
const MAX_SLOW_BYTES: usize = 4096;

struct Fixtures {
    of_fixtures: Vec<String>,
    two: Vec<String>,
    rewritten: Vec<String>,
    numbered: Vec<String>,
    colours: Categories,
    codes: Categories,
    others: Categories,
    missing: Vec<Sentinel>,
}

static KNOWN: LazyLock<Fixtures> = LazyLock::new(|| {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let text = |text: &str| Category::Text(text.to_owned());
    let colours = ["green", "a long word that is not in its view", "blue"].map(text).to_vec();
    let mixed = vec![text("a"), text("1.0"), Category::Number(2.0), text("True"), text("NA")];
    Fixtures {
        of_fixtures: names(&OF_FIXTURES),
        two: names(&["b", "a"]),
        rewritten: names(&["a_b", "c"]),
        numbered: names(&["f0", "f1"]),
        colours: Categories::new(colours, UnknownCategory::Missing),
        codes: Categories::new([7.0, 5.0, 6.0].map(Category::Number).to_vec(), UnknownCategory::Refused),
        others: Categories::new(mixed, UnknownCategory::NoCategory),
        missing: ["-999", "unknown", "1e3"]
            .map(|text| text.parse().expect("any text is a sentinel"))
            .to_vec(),
    }
});

/// Returns several sets of reading options; each option is set in some of them.
pub fn row_options() -> Vec<RowOptions<'static>> {
    let known = &*KNOWN;
    let words = |feature| match feature {
        9..12 => Some(&known.colours),
        12 => Some(&known.codes),
        _ => None,
    };
    vec![
        RowOptions::default(),
        RowOptions {
            names: Some(&known.of_fixtures),
            named_by: "the model",
            categories: (0..OF_FIXTURES.len()).map(words).collect(),
            id: Some("who"),
            weight: Some("u32"),
            ignored: vec!["day", "list", "group", "nothing"],
            ..RowOptions::default()
        },
        RowOptions {
            names: Some(&known.two),
            named_by: "the model",
            categories: vec![Some(&known.others)],
            target: Some("0"),
            id: Some("a"),
            weight: Some("w"),
            missing: &known.missing,
            ..RowOptions::default()
        },
        RowOptions {
            named_by: "the rows file",
            count: Some(2),
            categories: vec![None, Some(&known.others), Some(&known.codes)],
            id: Some("1"),
            weight: Some("2"),
            ignored: vec!["3", "c"],
            missing: &known.missing,
            separator: Some(b';'),
            named_columns_required: true,
            ..RowOptions::default()
        },
        RowOptions {
            names: Some(&known.rewritten),
            named_by: "the model",
            names_are_rewritten: true,
            target: Some("target"),
            id: Some("0"),
            weight: Some("1"),
            separator: Some(b'\t'),
            decimal_comma: true,
            unpacked_limit: Some(1 << 16),
            ..RowOptions::default()
        },
        RowOptions {
            names: Some(&known.numbered),
            named_by: "the model",
            count: Some(2),
            categories: vec![Some(&known.codes), Some(&known.colours)],
            ..RowOptions::default()
        },
    ]
}

/// Checks that reading does not panic. Also checks that it returns the same rows if the input is read at
/// once, in blocks, from a slow pipe or, for columnar formats, from a file in parts. Returns the rows with
/// the default options.
pub fn check(bytes: &[u8], is_columnar: bool) -> Option<Table> {
    tell_own_panics();
    let mut first = None;
    for (index, wanted) in row_options().iter().enumerate() {
        let at_once = Source::stream("bytes", bytes).read(wanted);
        let in_blocks = by_blocks(Source::stream("bytes", bytes), wanted);
        same(&at_once, &in_blocks, "in blocks");
        if bytes.len() <= MAX_SLOW_BYTES {
            let slowly = Source::stream("bytes", Slow(bytes)).read(wanted);
            // For compressed data with two errors, the sizes of the pieces determine which one is found
            // first.
            let are_refused = at_once.is_err() && slowly.is_err();
            if !(is_packed(bytes) && are_refused && (is_damaged(&at_once) || is_damaged(&slowly))) {
                same(&at_once, &slowly, "slowly");
            }
        }
        if is_columnar && index < 2 {
            let mut file = tempfile::NamedTempFile::new().expect("a temporary directory");
            file.write_all(bytes).expect("room for a file");
            let source = Source::open(file.path()).expect("a file that was written");
            // Messages contain the name of the file, which differs each time.
            let from_file = source.read(wanted).map_err(cause);
            same(&at_once.as_ref().map_err(cause).cloned(), &from_file, "from a file");
        }
        if let Ok(table) = at_once {
            sound(&table, wanted);
            first = (index == 0).then_some(table).or(first);
        }
    }
    first
}

/// Aborts on panics in this crate. The crate converts panics of third-party decoders to errors, but must not
/// hide its own panics.
fn tell_own_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = Source::stream("bytes", &[0x28, 0xb5, 0x2f, 0xfd][..]).read(&RowOptions::default());
        set_hook(Box::new(|panic| {
            let file = panic.location().map_or("", |location| location.file());
            if file.contains("crates/rows") || file.contains("fuzz_targets") || !file.contains("/registry/") {
                eprintln!("{panic}");
                std::process::abort();
            }
        }));
    });
}

fn by_blocks(source: Source<'_>, wanted: &RowOptions<'_>) -> Result<Table, RowsError> {
    let mut all = Table::default();
    let (mut ids, mut weights) = (Vec::new(), Vec::new());
    let notes = source.each_block(wanted, |block| {
        let rows = block.values.len() / block.columns.max(1);
        assert!(block.ids.is_empty() || block.columns == 0 || block.ids.len() == rows);
        assert!(block.weights.is_empty() || block.columns == 0 || block.weights.len() == rows);
        all.columns = block.columns;
        all.names.clone_from(&block.names);
        all.values.append(&mut block.values);
        ids.append(&mut block.ids);
        weights.append(&mut block.weights);
        Ok::<_, RowsError>(())
    })?;
    all.notes = notes;
    all.ids = (!ids.is_empty()).then_some(apportion_rows::Ids { name: None, values: ids });
    all.weights = (!weights.is_empty()).then_some(weights);
    Ok(all)
}

fn same<E: std::fmt::Debug>(one: &Result<Table, E>, other: &Result<Table, E>, how: &str) {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            assert!(bits(&one.values) == bits(&other.values), "different values {how}");
            let ids = |table: &Table| table.ids.as_ref().map(|ids| ids.values.clone());
            assert!(ids(one) == ids(other) && one.weights == other.weights, "different IDs or weights {how}");
            assert!(one.notes == other.notes, "different notes {how}");
            // Without rows, no block contains the names.
            assert!(
                one.values.is_empty() || (one.names == other.names && one.columns == other.columns),
                "{how}"
            );
        }
        (Err(one), Err(other)) => assert_eq!(format!("{one:?}"), format!("{other:?}"), "{how}"),
        _ => panic!("only one of two ways succeeds, {how}: {one:?}, {other:?}"),
    }
}

/// Returns whether bytes begin like gzip or zstd.
pub fn is_packed(bytes: &[u8]) -> bool {
    // The last test recognizes a skippable frame of zstd.
    bytes.starts_with(b"\x1f\x8b")
        || bytes.starts_with(b"\x28\xb5\x2f\xfd")
        || bytes.get(1..4) == Some(b"\x2a\x4d\x18")
}

fn is_damaged(read: &Result<Table, RowsError>) -> bool {
    read.as_ref().is_err_and(|error| cause(error).starts_with("Damaged"))
}

/// Returns the cause, without the name of the file.
fn cause(error: impl std::borrow::Borrow<RowsError>) -> String {
    match error.borrow() {
        RowsError::In { source, .. } => format!("{source:?}"),
        error => format!("{error:?}"),
    }
}

/// Checks the invariants of a table.
fn sound(table: &Table, wanted: &RowOptions<'_>) {
    assert!(table.columns == 0 || table.values.len().is_multiple_of(table.columns));
    let rows = table.len();
    if table.columns > 0 {
        assert!(rows > 0, "a table without rows");
        assert!(table.ids.as_ref().is_none_or(|ids| ids.values.len() == rows));
        assert!(table.weights.as_ref().is_none_or(|weights| weights.len() == rows));
    }
    assert!(table.weights.iter().flatten().all(|weight| weight.is_finite() && *weight >= 0.0));
    assert!(wanted.count.is_none_or(|count| count == table.columns));
    assert!(wanted.names.is_none_or(|names| names.len() == table.columns));
    assert!(table.names.as_ref().is_none_or(|names| names.len() == table.columns));
}

/// Returns the bits of values, with the same bits for all NaN, so that they can be compared.
pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect()
}

/// A reader that returns a few bytes at a time, like a slow pipe.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let end = into.len().min(1 + self.0.len() % 7);
        self.0.read(&mut into[..end])
    }
}

/// Returns the column names of a table, if it is small enough to write and every format can store the names.
#[allow(dead_code, reason = "not every target writes")]
pub fn writable(table: &Table) -> Option<Vec<String>> {
    let names = table.names.clone()?;
    // Text formats trim names. By default, a target and an index would be excluded.
    let is_plain = |name: &String| {
        name.trim() == name
            && name != "target"
            && !name.starts_with("__index")
            && !name.contains('\0')
            && name != "who wrote"
    };
    (table.columns > 0 && table.values.len() <= 10_000 && names.iter().all(is_plain)).then_some(names)
}

/// Checks that rows are read as they were written.
#[allow(dead_code, reason = "not every target writes")]
pub fn reads_back(table: &Table, written: &[u8]) {
    let wanted = RowOptions { id: Some("who wrote"), named_columns_required: true, ..RowOptions::default() };
    let again = Source::stream("written", written).read(&wanted).expect("written rows are readable");
    assert!(bits(&again.values) == bits(&table.values), "values differ from those written");
    assert_eq!(again.names, table.names);
}

/// Checks that compressing a file does not change the result, except if the limit of decompressed bytes is
/// exceeded.
#[allow(dead_code, reason = "not every target compresses")]
pub fn packed_is_plain(plain: &[u8], packed: &[u8]) {
    for wanted in row_options().iter().filter(|wanted| wanted.unpacked_limit.is_none()) {
        let of_plain = Source::stream("bytes", plain).read(wanted).map_err(cause);
        let of_packed = Source::stream("bytes", packed).read(wanted).map_err(cause);
        // Messages about the limit differ, because they contain the compressed size.
        let is_limit =
            |read: &Result<Table, String>| read.as_ref().is_err_and(|error| error.starts_with("TooLarge"));
        if !is_limit(&of_plain) || !is_limit(&of_packed) {
            same(&of_plain, &of_packed, "packed");
        }
    }
}
