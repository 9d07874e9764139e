//! Tests decimals, dates and times as IDs, which are strings with all digits.

use std::sync::Arc;

use apportion_rows::RowOptions;
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int96,
    Int96Type,
};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::common::{bytes, full_message, read};

const FILES: [&str; 2] = ["ids.parquet", "ids.arrow"];

fn features(names: &[String]) -> RowOptions<'_> {
    RowOptions { names: Some(names), named_by: "the model", ..RowOptions::default() }
}

#[test]
fn decimals_days_and_times_are_the_ids_of_the_text() {
    let names = ["x".to_owned()];
    let text = String::from_utf8(bytes("ids.csv")).unwrap();
    let columns: Vec<&str> = text.lines().next().unwrap().split(',').skip(1).collect();
    assert_eq!(columns.len(), 11);
    for column in columns {
        let wanted = RowOptions { id: Some(column), ..features(&names) };
        let table = read(text.as_bytes(), &wanted).unwrap();
        for name in FILES {
            let columnar = read(&bytes(name), &wanted);
            let columnar =
                columnar.unwrap_or_else(|error| panic!("{name}, {column}: {}", full_message(&error)));
            assert_eq!((&columnar.ids, &columnar.values), (&table.ids, &table.values), "{name}, {column}");
        }
    }
}

#[test]
fn decimals_are_the_features_of_the_text() {
    for column in ["decimal9", "decimal18", "decimal38", "decimal76"] {
        let names = [column.to_owned()];
        let table = read(&bytes("ids.csv"), &features(&names)).unwrap();
        assert!(table.values[3].is_nan());
        for name in FILES {
            let columnar = read(&bytes(name), &features(&names)).unwrap();
            for row in 0..3 {
                let (given, wanted) = (columnar.values[row], table.values[row]);
                assert!((given / wanted - 1.0).abs() < 1e-15, "{name}, {column}: {given} and {wanted}");
            }
        }
    }
}

#[test]
fn days_times_and_durations_are_no_features_and_some_are_no_ids() {
    for (column, says) in [
        ("day", "dates"),
        ("day64", "dates"),
        ("category", "dates"),
        ("s", "times"),
        ("us", "times"),
        ("hour", "times of day"),
        ("duration", "durations"),
    ] {
        let names = [column.to_owned()];
        for name in FILES {
            let message = full_message(&read(&bytes(name), &features(&names)).unwrap_err());
            let wanted = format!("column {column:?} contains {says}, not numbers or categories");
            assert!(message.contains(&wanted) && message.contains("--ignore"), "{name}: {message}");
        }
    }
    let names = ["x".to_owned()];
    for (column, says) in [
        ("hour", "column \"hour\" contains times of day, which cannot be used as --id; convert it to text"),
        ("duration", "column \"duration\" contains durations, which cannot be used as --id"),
        ("decimal60", "row 0, column 12 \"decimal60\": decimals of more than 38 digits cannot be used"),
    ] {
        let wanted = RowOptions { id: Some(column), ..features(&names) };
        for name in FILES {
            let message = full_message(&read(&bytes(name), &wanted).unwrap_err());
            assert!(message.contains(says) && !message.contains("--ignore"), "{name}: {message}");
        }
    }
    // Features are rounded, like any other number.
    let names = ["decimal60".to_owned()];
    FILES
        .iter()
        .for_each(|name| assert_eq!(read(&bytes(name), &features(&names)).unwrap().values, [1e59; 4]));
}

#[test]
fn decimals_of_any_bytes_and_times_of_96_bits_are_ids() {
    let schema = "message rows {
        required fixed_len_byte_array(3) short (DECIMAL(6, 2));
        required binary bytes (DECIMAL(38, 2));
        required int96 old;
        required double x;
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let short = [[0, 0, 5], [1, 0, 0]].map(|bytes| FixedLenByteArray::from(bytes.to_vec()));
    write::<FixedLenByteArrayType>(&mut group, &short);
    let long = 1_234_567_890_123_456_789_012i128.to_be_bytes();
    write::<ByteArrayType>(&mut group, &[long.to_vec(), vec![0xfb]].map(ByteArray::from));
    // INT96 stores the nanoseconds of the day, lowest bits first, and then the Julian day.
    let nanos = 43_200_000_000_001u64;
    write::<Int96Type>(
        &mut group,
        &[vec![nanos as u32, (nanos >> 32) as u32, 2_460_341], vec![0, 0, 2_440_588]].map(Int96::from),
    );
    write::<DoubleType>(&mut group, &[1.0, 2.0]);
    group.close().unwrap();
    writer.close().unwrap();

    let names = ["x".to_owned()];
    for (column, texts) in [
        ("short", ["0.05", "655.36"]),
        ("bytes", ["12345678901234567890.12", "-0.05"]),
        ("old", ["2024-01-31T12:00:00.000000001", "1970-01-01T00:00:00"]),
    ] {
        let wanted = RowOptions { id: Some(column), weight: Some("short"), ..features(&names) };
        let table = read(&file, &wanted).unwrap();
        assert_eq!(table.ids.unwrap().values, texts);
        assert_eq!((table.values, table.weights), (vec![1.0, 2.0], Some(vec![0.05, 655.36])));
    }
    let names = ["old".to_owned()];
    assert!(full_message(&read(&file, &features(&names)).unwrap_err()).contains("\"old\" contains times"));
}

fn write<T: DataType>(group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>, cells: &[T::T]) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(cells, None, None).unwrap();
    column.close().unwrap();
}
