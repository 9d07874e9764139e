//! Table 1: data sets and models.

use anyhow::Result;

use super::subject::{Subject, images, texts};
use crate::reproduce::catalogue::Made;
use crate::reproduce::report::{Entry, Table, notes, row};
use crate::reproduce::session::Session;

/// A row that the paper prints.
struct Printed {
    data: &'static str,
    classes: usize,
    /// Samples to train on, and to test.
    samples: [usize; 2],
    words: f64,
    model: &'static str,
    parameters: usize,
    accuracy: f64,
}

const PRINTED: [Printed; 3] = [
    Printed {
        data: "IMDB Review",
        classes: 2,
        samples: [25_000, 25_000],
        words: 325.6,
        model: "WordCNN",
        parameters: 351_002,
        accuracy: 0.901,
    },
    Printed {
        data: "AG's News",
        classes: 4,
        samples: [120_000, 7_600],
        words: 43.3,
        model: "CharCNN",
        parameters: 11_337_988,
        accuracy: 0.9009,
    },
    Printed {
        data: "Yahoo! Answers",
        classes: 10,
        samples: [1_400_000, 60_000],
        words: 108.4,
        model: "LSTM",
        parameters: 7_146_166,
        accuracy: 0.7084,
    },
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
    let mut found = texts(session)?;
    let images = images(session)?;
    found.subjects.extend(images.subjects);
    found.skipped.extend(images.skipped);
    let mut own = Table::new("Here: accuracy by running the model on all test samples", COLUMNS);
    for subject in &found.subjects {
        own.push(row(subject)?);
    }
    let mut printed = Table::new("Printed", COLUMNS);
    for row in PRINTED {
        printed.push(row![
            row.data,
            row.classes,
            row.samples[0],
            row.samples[1],
            row.words,
            row.model,
            row.parameters,
            row.accuracy
        ]);
    }
    let mut notes = notes![
        "the paper's data and models are not to be had; others stand in for them. Of images the paper prints, in section 5.2: MNIST 3 and 8, \
         12 000 images to train on and 1000 to test, 99.7 %; CIFAR-10 deer and horse, 10 000 and 2000, 96.1 %",
        "average words: tokens of the test samples before they are cut to the length that a network takes; parameters of networks that lie in \
         the data directory: the size of the file in numbers of four bytes, an upper bound",
    ];
    let tables = [Some(own.clone()), Some(printed), found.trained()].into_iter().flatten().collect();
    notes.extend(found.skipped);
    Ok(Made {
        data: Table { caption: "data".to_owned(), ..own },
        figure: None,
        tables,
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
