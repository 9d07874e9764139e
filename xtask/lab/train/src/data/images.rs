//! Images: bytes of pixels row by row, with the channels of each pixel together, and the class.

use anyhow::{Context, Result, ensure};

use super::byte_matrix::byte_matrix;
use super::table::check_classes;
use super::{DataSet, Element, Samples, Task};
use crate::folders::Folders;

/// Reads the images of two classes in the files `train` and `test`, with `channels` channels and `side` ×
/// `side` pixels.
///
/// # Errors
///
/// If a file does not exist, or is not a table of pixels.
pub(crate) fn images(
    folders: &Folders,
    [train, test]: [&str; 2],
    channels: usize,
    side: usize,
) -> Result<DataSet> {
    let mut files = Vec::new();
    let mut part = |file: &str| {
        let (bytes, hash) = folders.read(file)?;
        files.push(hash);
        parse(&bytes, channels, side).with_context(|| format!("cannot read {file}"))
    };
    let (train, test) = (part(train)?, part(test)?);
    Ok(DataSet { task: Task::Classes(2), train, test, vocabulary: 0, files })
}

/// Divides pixels by the value of white, and reorders them channel by channel.
fn parse(bytes: &[u8], channels: usize, side: usize) -> Result<Samples> {
    let columns = channels * side * side;
    let (mut rows, mut targets) = (Vec::new(), Vec::new());
    for row in byte_matrix(bytes, columns + 1)? {
        for channel in 0..channels {
            let pixels = row[..columns].iter().skip(channel).step_by(channels);
            rows.extend(pixels.map(|&pixel| f64::from((f64::from(pixel) / 255.0) as f32)));
        }
        targets.push(f64::from(row[columns]));
    }
    ensure!(!targets.is_empty(), "the file contains no images");
    check_classes(&targets, 2)?;
    Ok(Samples { element: Element::Number, shape: vec![channels, side, side], rows, targets })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(rows: usize, columns: usize, elements: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
    }

    #[test]
    fn channels_come_one_after_the_other() {
        let samples = parse(&file(1, 9, &[0, 255, 0, 255, 51, 0, 0, 0, 1]), 2, 2).unwrap();
        assert_eq!(samples.row(0), [0.0, 0.0, f64::from(0.2_f32), 0.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(samples.targets, [1.0]);
        let error = |file: &[u8]| format!("{:#}", parse(file, 1, 1).unwrap_err());
        assert!(error(&file(1, 2, &[1, 2])).contains("one of 2 classes"));
        assert!(error(&file(0, 2, &[])).contains("no images"));
    }
}
