//! Fuzzes Parquet files.

#![no_main]

mod check;

use apportion_rows::{ParquetColumn, ParquetKind, ParquetWriter};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(table) = check::check(bytes, true)
        && let Some(names) = check::writable(&table)
    {
        let kinds = names
            .iter()
            .map(|name| (name.as_str(), ParquetKind::Float64))
            .chain([("who wrote", ParquetKind::Text)]);
        let mut writer = ParquetWriter::new(Vec::new(), kinds, &[]).expect("writing to memory succeeds");
        let column =
            |column| ParquetColumn::Float64((0..table.len()).map(|row| table.row(row)[column]).collect());
        let ids = ParquetColumn::Text((0..table.len()).map(|_| Some("we".to_owned())).collect());
        let columns: Vec<ParquetColumn> = (0..table.columns).map(column).chain([ids]).collect();
        writer.write(&columns).expect("columns of equal length");
        check::reads_back(&table, &writer.finish().expect("writing to memory succeeds"));
    }
});
