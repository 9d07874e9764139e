//! Tables: CSV with a header and the target in the last column.

use anyhow::{Context, Result, ensure};

use super::{DataSet, Element, Samples, Task};
use crate::folders::Folders;

/// One out of `TEST_SHARE` rows belongs to the test part.
const TEST_SHARE: usize = 5;

/// Reads the table in `file`, with one fifth of its rows as test part.
///
/// # Errors
///
/// If the file does not exist, or is not a table of numbers.
pub(crate) fn table(folders: &Folders, file: &str, task: Task) -> Result<DataSet> {
    let (bytes, hash) = folders.read(file)?;
    let samples = parse(&bytes, task).with_context(|| format!("cannot read {file}"))?;
    let (train, test) = samples.split(TEST_SHARE);
    Ok(DataSet { task, train, test, vocabulary: 0, files: vec![hash] })
}

fn parse(bytes: &[u8], task: Task) -> Result<Samples> {
    let mut reader = csv::Reader::from_reader(bytes);
    let columns = reader.headers()?.len();
    ensure!(columns > 1, "the table contains no columns except the target");
    let (mut rows, mut targets) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record?;
        for (column, cell) in record.iter().enumerate() {
            let value: f32 = cell.parse().with_context(|| format!("{cell:?} is not a number"))?;
            ensure!(value.is_finite(), "{cell} is not finite");
            if column + 1 < columns { rows.push(f64::from(value)) } else { targets.push(f64::from(value)) }
        }
    }
    ensure!(targets.len() >= TEST_SHARE, "found {} rows, expected at least {TEST_SHARE}", targets.len());
    if let Task::Classes(classes) = task {
        check_classes(&targets, classes)?;
    }
    Ok(Samples { element: Element::Number, shape: vec![columns - 1], rows, targets })
}

/// Returns an error for targets that are not the index of a class.
pub(super) fn check_classes(targets: &[f64], classes: usize) -> Result<()> {
    let is_class = |target: f64| target.fract() == 0.0 && (0.0..classes as f64).contains(&target);
    match targets.iter().find(|&&target| !is_class(target)) {
        Some(target) => {
            anyhow::bail!("invalid target {target}; expected the index of one of {classes} classes")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_is_the_target() {
        let text = "a,b,target\n1,2,0\n3,4,1\n5,6,1\n7,8,0\n9,10,0\n";
        let samples = parse(text.as_bytes(), Task::Classes(2)).unwrap();
        assert_eq!((samples.row(1), samples.targets[1]), (&[3.0, 4.0][..], 1.0));
        let error = |text: &str| format!("{:#}", parse(text.as_bytes(), Task::Classes(2)).unwrap_err());
        assert!(error(&text.replace("4,1", "4,2")).contains("one of 2 classes"));
        assert!(error(&text.replace("4,1", "x,1")).contains("is not a number"));
        assert!(error("a,target\n1,0\n").contains("1 rows"));
    }
}
