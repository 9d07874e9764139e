//! Tests reading rows in blocks, from pipes, and from highly compressed files.

use std::io::Read;

use apportion_rows::{RowOptions, RowsError, Source};

use crate::common::{bits, bytes, full_message, read};

fn two<'a>() -> RowOptions<'a> {
    RowOptions { named_by: "the model", count: Some(2), ..RowOptions::default() }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    flate2::read::GzEncoder::new(content, flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

/// A reader that returns one byte at a time, like a slow pipe.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let end = into.len().min(1);
        self.0.read(&mut into[..end])
    }
}

#[test]
fn blocks_hold_the_rows_one_after_the_other() {
    let mut text = "\r\n\"a\nfirst\",b,target\r\n".to_owned();
    let mut wanted = Vec::new();
    for row in 0..150_000 {
        text.push_str(&format!("{row}.5,{},\"line\n{row}\"\r\n", if row % 7 == 0 { "" } else { "2" }));
        wanted.extend([f64::from(row) + 0.5, if row % 7 == 0 { f64::NAN } else { 2.0 }]);
    }
    let (mut values, mut blocks) = (Vec::new(), 0);
    let notes = Source::stream("rows", text.as_bytes()).each_block(&two(), |block| {
        blocks += 1;
        values.extend_from_slice(&block.values);
        Ok::<_, RowsError>(())
    });
    assert_eq!(notes.unwrap(), [""; 0]);
    assert!(blocks > 2, "{blocks}");
    assert_eq!(bits(&values), bits(&wanted));
    assert_eq!(bits(&read(text.as_bytes(), &two()).unwrap().values), bits(&wanted));
}

#[test]
fn faults_are_named_by_their_row_and_line_far_into_a_file() {
    let mut text = "a,b\n".to_owned();
    (0..400_000).for_each(|row| text.push_str(&format!("{row},1\n")));
    for end in ["x,1\n", "1\n", "1,1e999\n"] {
        let message = full_message(&read(format!("{text}{end}").as_bytes(), &two()).unwrap_err());
        assert!(message.contains("row 400000 (line 400002)"), "{message}");
    }
}

#[test]
fn a_quote_that_is_never_closed_is_refused_far_into_a_stream() {
    let mut text = "a,b,target\n".to_owned();
    (0..100_000).for_each(|row| text.push_str(&format!("{row},1,\"line\n{row}\"\n")));
    let wanted = [(0..100_000).flat_map(|row| [f64::from(row), 1.0]).collect(), vec![7.0, 8.0]].concat();
    assert_eq!(read(format!("{text}7,8,\"\"\"\"").as_bytes(), &two()).unwrap().values, wanted);
    for opened in ["7,8,\"oops", "7,8,\"oops\"\"", "\"7,8,oops"] {
        for rest in ["", "\n", &"\n9,1,fine".repeat(100_000)] {
            let message =
                full_message(&read(format!("{text}{opened}{rest}").as_bytes(), &two()).unwrap_err());
            assert!(message.contains("line 200002: unclosed quote"), "{message}");
        }
    }
}

#[test]
fn what_the_receiver_says_ends_the_reading() {
    let mut blocks = 0;
    let error = Source::stream("rows", &b"a,b\n1,2\n"[..]).each_block(&two(), |_| {
        blocks += 1;
        Err(Box::<dyn std::error::Error>::from("enough"))
    });
    assert_eq!((error.unwrap_err().to_string(), blocks), ("enough".to_owned(), 1));
}

#[test]
fn a_slow_pipe_gives_what_a_file_gives() {
    let text = b"a;b\n1;NA\nTrue;3\n";
    for content in [text.to_vec(), gzip(text)] {
        let table = Source::stream("standard input", Slow(&content)).read(&two()).unwrap();
        assert_eq!(bits(&table.values), bits(&[1.0, f64::NAN, 1.0, 3.0]));
    }
    #[cfg(feature = "columnar")]
    for name in ["snappy.parquet", "stream.arrows"] {
        let names = ["i64".to_owned()];
        let wanted = RowOptions { names: Some(&names), named_by: "the model", ..RowOptions::default() };
        let table = Source::stream("standard input", Slow(&bytes(name))).read(&wanted).unwrap();
        assert_eq!(table.values, read(&bytes("table.csv"), &wanted).unwrap().values);
    }
    assert_eq!(bytes("table.csv")[..4], *b"who,");
}

#[test]
fn what_is_packed_too_well_is_refused_until_it_is_allowed() {
    let content = [&b"a,b\n"[..], &b"0,0\n".repeat(100_000)].concat();
    let packed = gzip(&content);
    let tight = RowOptions { unpacked_limit: Some(content.len() as u64 - 1), ..two() };
    let message = full_message(&read(&packed, &tight).unwrap_err());
    assert!(message.contains("--unpacked-limit"), "{message}");
    let wide = RowOptions { unpacked_limit: Some(content.len() as u64), ..two() };
    assert_eq!(read(&packed, &wide).unwrap().len(), 100_000);
    assert_eq!(read(&packed, &two()).unwrap().len(), 100_000);
}

#[test]
fn packed_content_that_is_cut_off_is_refused() {
    for (packed, says) in [(bytes("table.csv.gz"), "gzip data"), (bytes("table.csv.zst"), "zstd data")] {
        for end in [4, 40, packed.len() / 2, packed.len() - 1] {
            let wanted = RowOptions { ignored: vec!["x"], ..RowOptions::default() };
            let message = full_message(&read(&packed[..end], &wanted).unwrap_err());
            assert!(message.contains(says) && message.contains("truncated or corrupt"), "{end}: {message}");
        }
    }
}

/// A reader that returns some bytes, and then an error instead of the end.
#[cfg(feature = "columnar")]
struct NoMore<'a>(&'a [u8]);

#[cfg(feature = "columnar")]
impl Read for NoMore<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(into) {
            Ok(0) => Err(std::io::Error::other("read past the end")),
            read => read,
        }
    }
}

#[cfg(feature = "columnar")]
#[test]
fn batches_of_an_arrow_stream_are_handed_over_as_they_come() {
    use apportion_rows::{ArrowColumn, ArrowKind, ArrowWriter};

    let mut writer = ArrowWriter::stream(Vec::new(), [("y", ArrowKind::Float64)], &[]).unwrap();
    writer.write(&[ArrowColumn::float64([1.5])]).unwrap();
    let begun = std::mem::take(writer.sink());
    // A message with one row is short.
    assert!(begun.len() < 512, "{}", begun.len());
    let mut values = Vec::new();
    let read = Source::stream("a pipe", NoMore(&begun)).each_block(&RowOptions::default(), |block| {
        values.append(&mut block.values);
        Ok::<_, RowsError>(())
    });
    assert_eq!(values, [1.5]);
    assert!(full_message(&read.unwrap_err()).contains("read past the end"));
}
