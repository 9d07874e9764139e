//! Table 1: datasets and models.

use anyhow::Result;

use super::subject::{images, texts};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::report::{Table, notes, row};
use crate::reproduce::session::Session;

const COLUMNS: [&str; 8] = [
    "data set",
    "classes",
    "train samples",
    "test samples",
    "average words",
    "model",
    "parameters",
    "accuracy",
];

/// Generates table 1.
pub(super) fn table1(session: &Session) -> Result<ArtefactOutput> {
    let mut found = texts(session)?;
    let images = images(session)?;
    found.subjects.extend(images.subjects);
    found.skipped.extend(images.skipped);
    let mut own = Table::new("Models of this project: accuracy on all test samples", COLUMNS);
    for subject in &found.subjects {
        own.push(row![
            subject.name,
            subject.classes.len(),
            subject.trained_on,
            subject.len(),
            subject.mean_tokens(),
            subject.model_title,
            subject.parameters,
            subject.accuracy()?,
        ]);
    }
    let mut printed = Table::new("Printed", COLUMNS);
    printed.push(row!["IMDB Review", 2, 25_000, 25_000, 325.6, "WordCNN", 351_002, 0.901]);
    printed.push(row!["AG's News", 4, 120_000, 7_600, 43.3, "CharCNN", 11_337_988, 0.9009]);
    printed.push(row!["Yahoo! Answers", 10, 1_400_000, 60_000, 108.4, "LSTM", 7_146_166, 0.7084]);
    let mut notes = notes![
        "IMDB, MNIST and CIFAR-10 are the paper's data, with networks trained by this project; of AG news \
         only the test part is available, and Yahoo! Answers is not available at all. For images, section \
         5.2 of the paper prints: MNIST 3 and 8, 12 000 training images and 1000 test images, 99.7 %; \
         CIFAR-10 deer and horse, 10 000 and 2000, 96.1 %",
        "average words: tokens of the test samples before they are truncated to the input length of a \
         network; parameters of networks in the data directory: the file size divided by four bytes, an \
         upper bound",
    ];
    let tables = [Some(own.clone()), Some(printed), found.trained()].into_iter().flatten().collect();
    notes.extend(found.skipped);
    Ok(ArtefactOutput {
        data: Table { caption: "data".to_owned(), ..own },
        figure: None,
        tables,
        claims: Vec::new(),
        notes,
        datasets: Vec::new(),
    })
}
