//! Table 1: data sets and models.

use anyhow::Result;

use super::subject::{Found, Subject, images, texts};
use crate::reproduce::catalogue::Made;
use crate::reproduce::report::{Entry, Table};
use crate::reproduce::session::Session;

/// The rows that the paper prints: data set, classes, train samples, test samples, average number of words, model, parameters, accuracy.
const PRINTED: [(&str, usize, usize, usize, f64, &str, usize, f64); 3] = [
    ("IMDB Review", 2, 25_000, 25_000, 325.6, "WordCNN", 351_002, 0.901),
    ("AG's News", 4, 120_000, 7_600, 43.3, "CharCNN", 11_337_988, 0.9009),
    ("Yahoo! Answers", 10, 1_400_000, 60_000, 108.4, "LSTM", 7_146_166, 0.7084),
];

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

/// Table 1.
pub(super) fn table1(session: &Session) -> Result<Made> {
    let Found { mut subjects, mut skipped } = texts(session)?;
    let images = images(session)?;
    subjects.extend(images.subjects);
    skipped.extend(images.skipped);
    let mut own = Table::new("Here: accuracy by running the model on all test samples", COLUMNS);
    for subject in &subjects {
        own.push(row(subject)?);
    }
    let mut printed = Table::new("Printed", COLUMNS);
    for (name, classes, train, test, words, model, parameters, accuracy) in PRINTED {
        printed.push(vec![
            name.into(),
            classes.into(),
            train.into(),
            test.into(),
            words.into(),
            model.into(),
            parameters.into(),
            accuracy.into(),
        ]);
    }
    let mut notes = vec![
        "the paper's data and models are not to be had; others stand in for them. Of images the paper prints, in section 5.2: MNIST 3 and 8, \
         12 000 images to train on and 1000 to test, 99.7 %; CIFAR-10 deer and horse, 10 000 and 2000, 96.1 %"
            .to_owned(),
        "average words: tokens of the test samples before they are cut to the length that a network takes; parameters of networks in files: \
         the size of the file in numbers of four bytes, an upper bound"
            .to_owned(),
    ];
    notes.extend(skipped);
    Ok(Made {
        data: Table { caption: "data".to_owned(), ..own.clone() },
        figure: None,
        tables: vec![own, printed],
        claims: Vec::new(),
        notes,
        datasets: Vec::new(),
    })
}

fn row(subject: &Subject) -> Result<Vec<Entry>> {
    Ok(vec![
        subject.name.into(),
        subject.classes.len().into(),
        subject.trained_on.into(),
        subject.len().into(),
        subject.mean_tokens().into(),
        subject.model_title.into(),
        subject.parameters.into(),
        subject.accuracy()?.into(),
    ])
}
