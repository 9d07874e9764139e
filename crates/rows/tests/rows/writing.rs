//! Checks that Arrow data is read as it was written, for any number of rows and batches.

use apportion_rows::{ArrowColumn, ArrowKind, ArrowWriter, RowOptions};
use proptest::prelude::*;

use crate::common::{bits, read};

const COLUMNS: [(&str, ArrowKind); 5] = [
    ("number", ArrowKind::Float64),
    ("who, ünd why", ArrowKind::Text),
    ("list", ArrowKind::Float64List(3)),
    ("count", ArrowKind::Int64),
    ("flag", ArrowKind::Boolean),
];

/// Creates batches of the given sizes; each row has a number, a string, a list, an integer and a boolean.
fn batches(sizes: &[usize], numbers: &mut impl Iterator<Item = f64>) -> Vec<[ArrowColumn; 5]> {
    let batch = |&size: &usize| {
        let ids: Vec<String> = (0..size).map(|row| "ü".repeat(row % 5)).collect();
        [
            ArrowColumn::float64(numbers.by_ref().take(size)),
            ArrowColumn::text(ids.iter().map(|id| Some(id.as_str()).filter(|id| !id.is_empty()))),
            ArrowColumn::float64_list(3, (0..3 * size).map(|at| if at == 4 { f64::NAN } else { at as f64 })),
            ArrowColumn::int64((0..size as i64).map(|row| row - 3)),
            ArrowColumn::boolean((0..size).map(|row| row % 3 == 0)),
        ]
    };
    sizes.iter().map(batch).collect()
}

fn written(file: bool, batches: &[[ArrowColumn; 5]]) -> Vec<u8> {
    let metadata = [("game", "marginal"), ("", "")];
    let mut writer = match file {
        true => ArrowWriter::file(Vec::new(), COLUMNS, &metadata).unwrap(),
        false => ArrowWriter::stream(Vec::new(), COLUMNS, &metadata).unwrap(),
    };
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn rows_come_back_with_their_bits(
        numbers in prop::collection::vec(
            prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL,
            300,
        ),
        holes in prop::collection::vec(any::<bool>(), 300),
        sizes in prop::collection::vec(0usize..70, 1..5),
        file in any::<bool>(),
    ) {
        let numbers: Vec<f64> =
            numbers.iter().zip(&holes).map(|(&number, &hole)| if hole { f64::NAN } else { number }).collect();
        let rows: usize = sizes.iter().sum();
        prop_assume!(rows > 0);
        let bytes = written(file, &batches(&sizes, &mut numbers.iter().copied()));
        let names = ["flag", "number", "count"].map(str::to_owned);
        let wanted = RowOptions {
            names: Some(&names),
            named_by: "the test",
            id: Some("who, ünd why"),
            ignored: vec!["list"],
            ..RowOptions::default()
        };
        let table = read(&bytes, &wanted).unwrap();
        let mut numbers = numbers.iter();
        let expected: Vec<f64> = sizes
            .iter()
            .flat_map(|&size| 0..size)
            .flat_map(|row| [f64::from(row % 3 == 0), *numbers.next().unwrap(), row as f64 - 3.0])
            .collect();
        prop_assert_eq!(bits(&table.values), bits(&expected));
        let ids = sizes.iter().flat_map(|&size| 0..size).map(|row| "ü".repeat(row % 5));
        prop_assert_eq!(table.ids.unwrap().values, ids.collect::<Vec<_>>());
    }
}

#[test]
fn a_stream_is_cut_off_where_its_file_is_not() {
    let batches = batches(&[3, 2], &mut (0..5).map(f64::from));
    let (stream, file) = (written(false, &batches), written(true, &batches));
    assert_eq!(file[8..8 + stream.len()], stream);
    let wanted = RowOptions { ignored: vec!["list", "who, ünd why"], ..RowOptions::default() };
    assert_eq!(read(&stream, &wanted).unwrap().len(), 5);
    for end in 0..file.len() {
        assert!(read(&file[..end], &wanted).is_err(), "{end}");
    }
}

#[test]
fn columns_that_are_not_those_of_the_table_are_refused() {
    let mut writer = ArrowWriter::stream(Vec::new(), COLUMNS, &[]).unwrap();
    let mut batch = batches(&[2], &mut [1.0, 2.0].into_iter()).remove(0);
    for columns in [&batch[..4], &[]] {
        assert_eq!(writer.write(columns).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    }
    batch[3] = ArrowColumn::int64([1]);
    let message = writer.write(&batch).unwrap_err().to_string();
    assert!(message.contains("(Int64, 1)"), "{message}");
    batch[3] = ArrowColumn::boolean([true, false]);
    assert!(writer.write(&batch).is_err());
}
