//! Fuzzes Arrow files (Feather, version 2).

#![no_main]

mod check;

use apportion_rows::{ArrowColumn, ArrowKind, ArrowWriter};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some(table) = check::check(bytes, true)
        && let Some(names) = check::writable(&table)
    {
        let kinds = names
            .iter()
            .map(|name| (name.as_str(), ArrowKind::Float64))
            .chain([("who wrote", ArrowKind::Text)]);
        let mut writer = ArrowWriter::file(Vec::new(), kinds, &[]).expect("writing to memory succeeds");
        let column = |column| ArrowColumn::float64((0..table.len()).map(|row| table.row(row)[column]));
        let ids = ArrowColumn::text((0..table.len()).map(|_| Some("we")));
        let columns: Vec<ArrowColumn> = (0..table.columns).map(column).chain([ids]).collect();
        writer.write(&columns).expect("columns of equal length");
        check::reads_back(&table, &writer.finish().expect("writing to memory succeeds"));
    }
});
