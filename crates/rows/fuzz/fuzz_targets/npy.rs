//! Fuzzes NumPy matrices: the input itself, and the input as the numbers after a valid header.

#![no_main]

mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes, false);
    // Test the reader with as many numbers as the header declares.
    let Some((&kind, numbers)) = bytes.split_first() else { return };
    let (descr, width) = [
        ("<f8", 8),
        (">f8", 8),
        ("<f4", 4),
        (">f4", 4),
        ("<f2", 2),
        ("<i8", 8),
        (">u8", 8),
        ("<i4", 4),
        ("|u1", 1),
        ("|b1", 1),
    ][usize::from(kind) % 10];
    let columns = 1 + usize::from(kind) / 80;
    let rows = numbers.len() / (width * columns);
    if rows == 0 || rows > 4096 {
        return;
    }
    let read = |fortran: &str, numbers: &[u8]| {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({rows}, {columns}), }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(numbers);
        check::check(&file, false)
    };
    let numbers = &numbers[..rows * columns * width];
    let by_rows = read("False", numbers);
    let by_columns: Vec<u8> = (0..columns)
        .flat_map(|column| (0..rows).map(move |row| (row * columns + column) * width))
        .flat_map(|start| &numbers[start..start + width])
        .copied()
        .collect();
    let by_columns = read("True", &by_columns);
    let bits = |table: &Option<apportion_rows::Table>| table.as_ref().map(|table| check::bits(&table.values));
    assert!(bits(&by_rows) == bits(&by_columns), "the matrix differs in Fortran order");
});
