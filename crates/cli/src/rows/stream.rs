//! Rows in bounded memory: a file is read piece by piece, and its rows are handed over in blocks.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::bufread::MultiGzDecoder;

use super::columns::Wanted;
use super::table::check_start;
use super::{csv, npy};

/// Bytes that are read at a time, and rows are cut from.
const PIECE: usize = 1 << 20;

/// Reads the features that `wanted` asks for from a file, and hands them to `receive` in blocks of whole rows, row-major.
/// Returns what the reader of the results should know.
///
/// Memory does not grow with the number of rows, but for `.npy` in Fortran order, whose rows are all over the file.
pub(crate) fn each_block(
    path: &Path,
    wanted: &Wanted<'_>,
    mut receive: impl FnMut(&[f64]) -> Result<()>,
) -> Result<Vec<String>> {
    let mut failed = None;
    let mut hand_over = |values: &[f64]| match receive(values) {
        Ok(()) => true,
        Err(error) => {
            failed = Some(error);
            false
        }
    };
    let streamed = stream(path, wanted, &mut hand_over);
    match failed {
        // What the receiver says is no matter of reading.
        Some(error) => Err(error),
        None => streamed.with_context(|| format!("cannot read rows from {}", path.display())),
    }
}

fn stream(path: &Path, wanted: &Wanted<'_>, receive: &mut dyn FnMut(&[f64]) -> bool) -> Result<Vec<String>> {
    let mut file = BufReader::with_capacity(PIECE, File::open(path)?);
    let packed = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let mut bytes: Box<dyn BufRead> = if packed {
        Box::new(BufReader::with_capacity(PIECE, MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    };
    let damaged =
        || if packed { "the gzipped data is truncated or damaged" } else { "the file cannot be read" };
    let start = bytes.fill_buf().with_context(damaged)?;
    check_start(start)?;
    if start.starts_with(npy::MAGIC) {
        npy::stream(&mut bytes, wanted, receive)
    } else {
        stream_csv(&mut Pieces { bytes, rest: Vec::new(), damaged: damaged() }, wanted, receive)
    }
}

fn stream_csv(
    pieces: &mut Pieces,
    wanted: &Wanted<'_>,
    receive: &mut dyn FnMut(&[f64]) -> bool,
) -> Result<Vec<String>> {
    let mut reader = None;
    let mut values = Vec::new();
    while let Some(piece) = pieces.next()? {
        let (reader, piece) = match &mut reader {
            Some(reader) => (reader, &piece[..]),
            None => {
                let (header, rest) = csv::split_header(&piece);
                (reader.insert(csv::Reader::new(header, wanted)?), rest)
            }
        };
        values.clear();
        reader.read(piece, &mut values)?;
        if !values.is_empty() && !receive(&values) {
            break;
        }
    }
    let Some(reader) = reader else { bail!("the file is empty; give CSV with a header, or a .npy matrix") };
    reader.finish()?;
    Ok(reader.notes().to_vec())
}

/// A text cut where lines end.
struct Pieces {
    bytes: Box<dyn BufRead>,
    /// The beginning of a line whose end is not read yet.
    rest: Vec<u8>,
    damaged: &'static str,
}

impl Pieces {
    /// The next piece: whole lines. `None` at the end.
    fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let mut piece = std::mem::take(&mut self.rest);
        loop {
            let read = (&mut self.bytes).take(PIECE as u64).read_to_end(&mut piece).context(self.damaged)?;
            if read == 0 {
                return Ok((!piece.is_empty()).then_some(piece));
            }
            let end = csv::line_ends(&piece).last();
            if let Some(end) = end.filter(|&end| !is_empty_text(&piece[..end])) {
                self.rest = piece.split_off(end);
                return Ok(Some(piece));
            }
        }
    }
}

/// Whether there is nothing but line ends: no header can be split off.
fn is_empty_text(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    const WANTED: Wanted<'_> =
        Wanted { names: None, named_by: "the model", count: Some(2), target: None, target_required: false };

    fn file(name: &str, bytes: &[u8]) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("apportion-stream-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn streamed(path: &Path) -> Result<(Vec<f64>, usize)> {
        let (mut values, mut blocks) = (Vec::new(), 0);
        each_block(path, &WANTED, |block| {
            blocks += 1;
            values.extend_from_slice(block);
            Ok(())
        })?;
        Ok((values, blocks))
    }

    #[test]
    fn blocks_hold_what_the_whole_file_holds() {
        let mut text = "\r\n\"a\nfirst\",b,target\r\n".to_owned();
        for row in 0..150_000 {
            text.push_str(&format!("{row}.5,{},\"line\n{row}\"\r\n", if row % 7 == 0 { "" } else { "2" }));
        }
        let path = file("long.csv", text.as_bytes());
        let whole = rows::read(&path, &WANTED).unwrap();
        let (values, blocks) = streamed(&path).unwrap();
        assert_eq!(values.len(), 300_000);
        assert!(blocks > 2, "{blocks}");
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&values), bits(&whole.values));
    }

    #[test]
    fn faults_are_named_as_in_a_whole_file() {
        let mut text = "a,b\n".to_owned();
        (0..400_000).for_each(|row| text.push_str(&format!("{row},1\n")));
        for (name, end) in [("word.csv", "x,1\n"), ("ragged.csv", "1\n"), ("infinite.csv", "1,1e999\n")] {
            let path = file(name, format!("{text}{end}").as_bytes());
            let [whole, blocks] = [rows::read(&path, &WANTED).unwrap_err(), streamed(&path).unwrap_err()]
                .map(|error| format!("{error:#}"));
            assert_eq!(whole, blocks);
            assert!(blocks.contains("row 400000 (line 400002)"), "{blocks}");
        }
        for bytes in [&b""[..], b"a,b\n", b"\n\n", b"PK\x03\x04", b"\x1f\x8b\x08\x00"] {
            assert!(streamed(&file("bad.csv", bytes)).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn what_the_receiver_says_ends_the_reading() {
        let path = file("short.csv", b"a,b\n1,2\n");
        let error = each_block(&path, &WANTED, |_| bail!("enough")).unwrap_err();
        assert_eq!(error.to_string(), "enough");
    }
}
