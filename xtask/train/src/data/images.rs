//! Images: CSV of pixels from 0 to 255 row by row, the channels of each together, and the class.

use anyhow::{Context, Result, ensure};

use super::table::check_classes;
use super::{DataSet, Element, Samples, Task};
use crate::folders::Folders;

/// The images of two classes in the files `train` and `test`, of `channels` channels and `side` × `side` pixels.
///
/// # Errors
///
/// If a file is not there, or is no table of pixels.
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

/// A pixel becomes its share of white; channels come one after the other.
fn parse(bytes: &[u8], channels: usize, side: usize) -> Result<Samples> {
    let columns = channels * side * side;
    let (mut rows, mut targets) = (Vec::new(), Vec::new());
    for record in csv::Reader::from_reader(bytes).records() {
        let record = record?;
        ensure!(record.len() == columns + 1, "a row has {} columns, not {}", record.len(), columns + 1);
        for channel in 0..channels {
            for cell in record.iter().take(columns).skip(channel).step_by(channels) {
                let value: f64 = cell.parse().with_context(|| format!("{cell:?} is no number"))?;
                ensure!((0.0..=255.0).contains(&value), "a pixel is {value}, not within 0 to 255");
                rows.push(f64::from((value / 255.0) as f32));
            }
        }
        targets.push(record[columns].parse().with_context(|| format!("{:?} is no class", &record[columns]))?);
    }
    ensure!(!targets.is_empty(), "there is no image");
    check_classes(&targets, 2)?;
    Ok(Samples { element: Element::Number, shape: vec![channels, side, side], rows, targets })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_come_one_after_the_other() {
        let samples = parse(b"r,g,r,g,r,g,r,g,target\n0,255,0,255,51,0,0,0,1\n", 2, 2).unwrap();
        assert_eq!(samples.row(0), [0.0, 0.0, f64::from(0.2_f32), 0.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(samples.targets, [1.0]);
        let error = |bytes: &[u8]| format!("{:#}", parse(bytes, 1, 1).unwrap_err());
        assert!(error(b"x,target\n256,0\n").contains("a pixel is 256"));
        assert!(error(b"x,target\n1,2\n").contains("none of the 2 classes"));
        assert!(error(b"x,y,target\n1,2,1\n").contains("3 columns"));
    }
}
