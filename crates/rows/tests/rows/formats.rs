//! Tests files of all formats that contain the same rows.

use apportion_rows::{RowOptions, Source};

use crate::common::{FEATURES, FixtureOptions, bits, bytes, full_message, path, read};

/// Compressed text files with all features of the table.
const WHOLE: [&str; 2] = ["table.csv.gz", "table.csv.zst"];
#[cfg(feature = "columnar")]
const COLUMNAR: [&str; 13] = [
    "none.parquet",
    "snappy.parquet",
    "gzip.parquet",
    "brotli.parquet",
    "zstd.parquet",
    "lz4.parquet",
    "pages_v2.parquet",
    "pandas.parquet",
    "plain.arrow",
    "zstd.arrow",
    "stream.arrows",
    "delta.arrows",
    "lz4.feather",
];

#[test]
fn every_packing_of_a_text_gives_the_same_rows() {
    let asked = FixtureOptions::new();
    let wanted = asked.row_options(FEATURES.len());
    let table = Source::open(&path("table.csv")).unwrap().read(&wanted).unwrap();
    assert_eq!((table.len(), table.columns), (40, FEATURES.len()));
    assert_eq!(table.ids.as_ref().unwrap().values[39], "row 39");
    assert_eq!(table.notes.len(), 3, "{:?}", table.notes);
    assert!(table.notes.iter().all(|note| note.contains("\"red\"")), "{:?}", table.notes);
    for name in WHOLE {
        let packed =
            read(&bytes(name), &wanted).unwrap_or_else(|error| panic!("{name}: {}", full_message(&error)));
        assert_eq!(bits(&packed.values), bits(&table.values), "{name}");
        assert_eq!((&packed.ids, &packed.names, &packed.notes), (&table.ids, &table.names, &table.notes));
    }
}

#[test]
fn a_matrix_has_the_numbers_of_the_table() {
    let asked = FixtureOptions::new();
    let names: Vec<String> = ["f64", "f32", "f16", "i8", "i64", "u16", "u32"].map(str::to_owned).to_vec();
    let wanted = RowOptions {
        names: Some(&names),
        categories: Vec::new(),
        id: None,
        ..asked.row_options(FEATURES.len())
    };
    let table = read(&bytes("table.csv"), &wanted).unwrap();
    let matrix = read(&bytes("numbers.npy"), &RowOptions { ignored: Vec::new(), ..wanted }).unwrap();
    assert_eq!(bits(&matrix.values), bits(&table.values));
}

#[cfg(feature = "columnar")]
#[test]
fn every_columnar_file_gives_the_rows_of_the_text() {
    let asked = FixtureOptions::new();
    let wanted = asked.row_options(FEATURES.len());
    let table = read(&bytes("table.csv"), &wanted).unwrap();
    for name in COLUMNAR {
        let columnar = Source::open(&path(name)).unwrap().read(&wanted);
        let columnar = columnar.unwrap_or_else(|error| panic!("{name}: {}", full_message(&error)));
        assert_eq!(columnar.notes, table.notes, "{name}");
        assert_eq!((&columnar.ids, &columnar.names), (&table.ids, &table.names), "{name}");
        for (feature, wanted) in FEATURES.iter().enumerate() {
            let column = |values: &[f64]| {
                bits(&values.iter().skip(feature).step_by(FEATURES.len()).copied().collect::<Vec<_>>())
            };
            assert_eq!(column(&columnar.values), column(&table.values), "{name}, {wanted}");
        }
    }
}

#[test]
fn weights_are_numbers_of_every_format_and_set_aside_unless_they_are_a_feature() {
    let asked = FixtureOptions::new();
    let wanted = RowOptions { weight: Some("u32"), ..asked.row_options(FEATURES.len()) };
    let table = read(&bytes("table.csv"), &wanted).unwrap();
    let feature = FEATURES.iter().position(|&name| name == "u32").unwrap();
    let column: Vec<f64> = (0..table.len()).map(|row| table.row(row)[feature]).collect();
    assert_eq!(table.weights.as_ref(), Some(&column));
    #[cfg(feature = "columnar")]
    for name in COLUMNAR {
        let columnar = Source::open(&path(name)).unwrap().read(&wanted).unwrap();
        assert_eq!((&columnar.weights, &columnar.ids), (&table.weights, &table.ids), "{name}");
    }
    let all = RowOptions { weight: Some("w"), ..RowOptions::default() };
    let rows = read(b"a,w,b\n1,0.5,2\n3,2,4\n", &all).unwrap();
    assert_eq!((rows.values, rows.weights), (vec![1.0, 2.0, 3.0, 4.0], Some(vec![0.5, 2.0])));
    let lacks = read(b"a,b\n1,2\n", &all).unwrap();
    assert_eq!((lacks.columns, lacks.weights), (2, None));
    for cell in ["", "-1", "inf", "NaN", "heavy"] {
        let refused = read(format!("a,w\n1,1\n2,{cell}\n").as_bytes(), &all).unwrap_err();
        let said = full_message(&refused);
        assert!(said.contains("row 1") && said.contains("invalid weight"), "{said}");
    }
}

#[cfg(feature = "columnar")]
#[test]
fn polars_and_other_encodings_give_the_same_rows_but_for_columns_they_lack() {
    let asked = FixtureOptions::new();
    for (name, lacks) in [
        ("polars.parquet", &["f16"][..]),
        ("polars.arrow", &["f16"]),
        ("delta.parquet", &["category", "code"]),
    ] {
        let all = asked.row_options(FEATURES.len());
        let kept: Vec<usize> =
            (0..FEATURES.len()).filter(|&feature| !lacks.contains(&FEATURES[feature])).collect();
        let names: Vec<String> = kept.iter().map(|&feature| FEATURES[feature].to_owned()).collect();
        let categories = kept.iter().map(|&feature| all.categories[feature]).collect();
        let wanted = RowOptions { names: Some(&names), categories, ..all };
        let table = read(&bytes("table.csv"), &wanted).unwrap();
        let other =
            read(&bytes(name), &wanted).unwrap_or_else(|error| panic!("{name}: {}", full_message(&error)));
        assert_eq!(bits(&other.values), bits(&table.values), "{name}");
        assert_eq!(other.ids, table.ids, "{name}");
    }
}

#[cfg(feature = "columnar")]
#[test]
fn columns_that_are_neither_numbers_nor_words_are_refused_by_name() {
    for (column, says) in [("day", "dates"), ("list", "nested values"), ("group", "nested values")] {
        let names = [column.to_owned()];
        for name in ["snappy.parquet", "plain.arrow", "stream.arrows"] {
            let wanted = RowOptions { names: Some(&names), named_by: "the model", ..RowOptions::default() };
            let message = full_message(&read(&bytes(name), &wanted).unwrap_err());
            assert!(message.contains(&format!("column {column:?} contains {says}")), "{name}: {message}");
            assert!(message.contains("--ignore"), "{message}");
        }
    }
    let names = ["colour".to_owned()];
    let wanted = RowOptions { names: Some(&names), named_by: "the model", ..RowOptions::default() };
    for name in ["snappy.parquet", "plain.arrow"] {
        let message = full_message(&read(&bytes(name), &wanted).unwrap_err());
        assert!(message.contains("row 0") && message.contains("has no categories"), "{message}");
    }
}

#[cfg(feature = "columnar")]
#[test]
fn a_column_of_nothing_is_missing_everywhere() {
    let names = ["nothing".to_owned(), "u32".to_owned()];
    for name in ["snappy.parquet", "plain.arrow"] {
        let wanted = RowOptions { names: Some(&names), named_by: "the model", ..RowOptions::default() };
        let table = read(&bytes(name), &wanted).unwrap();
        assert!((0..40).all(|row| table.row(row)[0].is_nan() && table.row(row)[1] > 0.0), "{name}");
    }
}

#[test]
fn a_text_in_utf_16_is_the_same_table_with_a_note() {
    let asked = FixtureOptions::new();
    let wanted = asked.row_options(FEATURES.len());
    let plain = read(&bytes("table.csv"), &wanted).unwrap();
    let text = String::from_utf8(bytes("table.csv")).unwrap();
    for mark in ["", "\u{feff}"] {
        for little in [false, true] {
            let unit = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
            let encoded: Vec<u8> = format!("{mark}{text}").encode_utf16().flat_map(unit).collect();
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut packed, &encoded).unwrap();
            for content in [&encoded, &packed.finish().unwrap()] {
                let table = read(content, &wanted).unwrap_or_else(|error| panic!("{}", full_message(&error)));
                assert_eq!(bits(&table.values), bits(&plain.values));
                assert_eq!(table.ids, plain.ids);
                let name = if little { "UTF-16LE" } else { "UTF-16BE" };
                assert!(table.notes[0].contains(name), "{:?}", table.notes);
                assert_eq!(table.notes[1..], plain.notes);
            }
            let message = full_message(&read(&encoded[..encoded.len() - 1], &wanted).unwrap_err());
            assert!(message.contains("truncated"), "{message}");
        }
    }
}

/// Infinite values are read as numbers, in every format and in every column without categories.
#[test]
fn infinite_numbers_are_read() {
    let (infinite, wanted) = (f64::INFINITY, RowOptions::default());
    let csv = "a,b\ninf,-inf\n-Infinity,+inf\nINFINITY,1\n";
    let table = read(csv.as_bytes(), &wanted).unwrap();
    assert_eq!(table.values, [infinite, -infinite, -infinite, infinite, infinite, 1.0]);
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    npy.extend(format!("{header:<117}\n").bytes());
    let numbers = [f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, f32::INFINITY, f32::INFINITY, 1.0];
    npy.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    assert_eq!(read(&npy, &wanted).unwrap().values, table.values);
    let sentinels = ["inf".parse().unwrap()];
    let marked = RowOptions { missing: &sentinels, ..RowOptions::default() };
    for content in [csv.as_bytes(), &npy] {
        let values = read(content, &marked).unwrap().values;
        assert!(values[0].is_nan() && values[1] == -infinite && values[3].is_nan(), "{values:?}");
    }
    for cell in ["1e400", "-1e309", "179769313486231580793e300"] {
        let message = full_message(&read(format!("a,b\n1,{cell}\n").as_bytes(), &wanted).unwrap_err());
        assert!(message.contains("overflows float64"), "{message}");
    }
}
