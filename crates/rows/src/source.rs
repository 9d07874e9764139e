//! Sources of rows: files and other readers.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::allowance::{Allowance, CompressedReader, DecompressedReader};
#[cfg(feature = "columnar")]
use crate::columnar::Content;
use crate::encoding::Utf16;
use crate::error::{Result, RowsError};
use crate::format::{ARROW_ENOUGH, ENOUGH, Format, Packing, format, packing};
use crate::guard::{guarded, unguarded};
use crate::row_options::RowOptions;
use crate::table::{self, Block, Ids, RowReceiver, Table};
use crate::zstd::Frames;
use crate::{csv, npy};

/// The number of bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// A source of rows: CSV with a header, or a `.npy` matrix. With the feature `columnar`, also Parquet and
/// Arrow (files, including Feather, and streams). Sources may be compressed with gzip or zstd. The format is
/// detected from the content, not from the name.
pub struct Source<'a> {
    name: String,
    bytes: Box<dyn BufRead + 'a>,
    /// The file, if it supports random access.
    file: Option<File>,
}

impl<'a> Source<'a> {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`RowsError::In`] if the file cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let open = || -> std::io::Result<_> {
            let file = File::open(path)?;
            let is_file = file.metadata()?.is_file();
            Ok((file.try_clone()?, is_file.then_some(file)))
        };
        match open() {
            Ok((bytes, file)) => {
                Ok(Self { name, bytes: Box::new(BufReader::with_capacity(PIECE, bytes)), file })
            }
            Err(error) => Err(RowsError::In { name, source: Box::new(error.into()) }),
        }
    }

    /// Reads rows from `bytes`. Messages use `name` for the source.
    pub fn stream(name: &str, bytes: impl Read + 'a) -> Self {
        Self { name: name.to_owned(), bytes: Box::new(BufReader::with_capacity(PIECE, bytes)), file: None }
    }

    /// Reads all rows.
    ///
    /// # Errors
    ///
    /// [`RowsError::In`], which contains the error itself. A corrupt file causes an error, never a panic.
    /// Memory use is proportional to the size of the file (see [`RowOptions::unpacked_limit`]).
    pub fn read(self, options: &RowOptions<'_>) -> Result<Table> {
        let (mut values, mut ids, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let read = self.hand_over(options, &mut |block| {
            append(&mut values, &mut block.values);
            append(&mut ids, &mut block.ids);
            append(&mut weights, &mut block.weights);
            true
        })?;
        let table::Read { names, id, columns, absent, notes } = read;
        let ids = options
            .id
            .is_some()
            .then_some(Ids { name: id, values: ids })
            .filter(|ids| !ids.values.is_empty());
        let weights = options.weight.is_some().then_some(weights).filter(|weights| !weights.is_empty());
        Ok(Table { names, columns, values, ids, weights, absent, notes })
    }

    /// Calls `receive` with blocks of rows as they are read. Returns notes for the user. If there are no
    /// rows, and [`RowOptions::may_be_empty`] accepts that, `receive` is called once with an empty block.
    ///
    /// The batches of an Arrow stream are passed on one by one, without waiting for more.
    ///
    /// Memory use does not grow with the number of rows, with two exceptions. In a `.npy` file in Fortran
    /// order, each row is spread over the file, so the whole matrix is in memory. The metadata of Parquet and
    /// Arrow files is at the end, so such a file is read into memory if it is compressed as a whole or read
    /// from a stream.
    ///
    /// # Errors
    ///
    /// The same as [`Source::read`]. If `receive` returns an error, reading stops, and the error is returned
    /// unchanged.
    pub fn each_block<E: From<RowsError>>(
        self,
        options: &RowOptions<'_>,
        mut receive: impl FnMut(&mut Block) -> std::result::Result<(), E>,
    ) -> std::result::Result<Vec<String>, E> {
        let mut failed = None;
        let read = self.hand_over(options, &mut |block| {
            failed = receive(block).err();
            failed.is_none()
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(read?.notes),
        }
    }

    fn hand_over(self, options: &RowOptions<'_>, receive: &mut RowReceiver<'_>) -> Result<table::Read> {
        let Self { name, bytes, file } = self;
        let has_rows = Cell::new(false);
        // The receiver is not one of the guarded decoders.
        let mut receive = |block: &mut Block| {
            has_rows.set(true);
            unguarded(|| receive(block))
        };
        let read = unpack_and_read(bytes, file, options, &mut receive);
        // Rows without features are not passed on.
        let is_empty = |read: &table::Read| !has_rows.get() && read.columns > 0;
        let read = match read {
            Ok(read) if is_empty(&read) && !options.may_be_empty => {
                Err(RowsError::row("there are no rows; expected at least one"))
            }
            read => read,
        };
        let read = read.map_err(|source| RowsError::In { name, source: Box::new(source) })?;
        if is_empty(&read) {
            let (names, columns) = (read.names.clone(), read.columns);
            receive(&mut Block { names, columns, ..Block::default() });
        }
        Ok(read)
    }
}

fn append<T>(all: &mut Vec<T>, more: &mut Vec<T>) {
    if all.is_empty() { std::mem::swap(all, more) } else { all.append(more) }
}

fn unpack_and_read(
    mut bytes: Box<dyn BufRead + '_>,
    file: Option<File>,
    options: &RowOptions<'_>,
    receive: &mut RowReceiver<'_>,
) -> Result<table::Read> {
    let start = beginning(&mut bytes)?;
    let bytes = Cursor::new(start.clone()).chain(bytes);
    let allowance = Allowance::new(options.unpacked_limit);
    match packing(&start) {
        None => read(bytes, file, &start, options, receive),
        Some(Packing::Gzip) => {
            let packed = CompressedReader { bytes, allowance: allowance.clone() };
            let damaged = "the gzip data is truncated or corrupt";
            let unpacked = DecompressedReader { bytes: MultiGzDecoder::new(packed), allowance, damaged };
            read_unpacked(unpacked, options, receive)
        }
        Some(Packing::Zstd) => guarded("zstd data", || {
            let packed = CompressedReader { bytes, allowance: allowance.clone() };
            let damaged = "the zstd data is truncated or corrupt";
            read_unpacked(
                DecompressedReader { bytes: Frames::new(packed), allowance, damaged },
                options,
                receive,
            )
        }),
    }
}

fn read_unpacked(
    bytes: impl Read,
    options: &RowOptions<'_>,
    receive: &mut RowReceiver<'_>,
) -> Result<table::Read> {
    let mut bytes = BufReader::with_capacity(PIECE, bytes);
    let start = beginning(&mut bytes)?;
    read(Cursor::new(start.clone()).chain(bytes), None, &start, options, receive)
}

/// Reads the first bytes. For an Arrow stream, reads only the bytes that identify it, because its writer may
/// wait for a response to the first batch.
fn beginning(bytes: &mut dyn BufRead) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    bytes.take(ARROW_ENOUGH as u64).read_to_end(&mut start)?;
    if !matches!(format(&start), Ok(Format::ArrowStream)) {
        bytes.take((ENOUGH - start.len()) as u64).read_to_end(&mut start)?;
    }
    Ok(start)
}

/// Reads content that begins with `start` and is not compressed; `file` provides random access to it.
fn read(
    mut bytes: impl BufRead,
    file: Option<File>,
    start: &[u8],
    options: &RowOptions<'_>,
    receive: &mut RowReceiver<'_>,
) -> Result<table::Read> {
    #[cfg(feature = "columnar")]
    let content = || match file {
        Some(file) => Content::of_file(file),
        None => Content::read(&mut bytes),
    };
    #[cfg(not(feature = "columnar"))]
    drop(file);
    match format(start)? {
        Format::Csv => csv::read(&mut bytes, options, receive),
        Format::Utf16(endian) => {
            let mut text = BufReader::with_capacity(PIECE, Utf16::new(bytes, endian));
            let mut read = csv::read(&mut text, options, receive)?;
            read.notes.insert(0, endian.note());
            Ok(read)
        }
        Format::Npy => npy::read(&mut bytes, options, receive),
        #[cfg(feature = "columnar")]
        Format::Parquet => crate::columnar::parquet::read(content()?, options, receive),
        #[cfg(feature = "columnar")]
        Format::ArrowFile => crate::columnar::arrow::read_file(content()?, options, receive),
        #[cfg(feature = "columnar")]
        Format::ArrowStream => crate::columnar::arrow::read_stream(&mut bytes, options, receive),
        #[cfg(not(feature = "columnar"))]
        Format::Parquet => not_built("Parquet"),
        #[cfg(not(feature = "columnar"))]
        Format::ArrowFile | Format::ArrowStream => not_built("Arrow"),
    }
}

#[cfg(not(feature = "columnar"))]
fn not_built(what: &str) -> Result<table::Read> {
    let remedy = "rebuild with the feature columnar; ";
    Err(RowsError::Format { what: what.to_owned(), remedy })
}
