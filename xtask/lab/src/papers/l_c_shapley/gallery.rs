//! Figures 4 and 5: images in which the pixels that each method ranks highest are masked.

use anyhow::{Context, Result};
use apportion::media::{Image, Reference, masked_picture};

use super::masking::{Measured, SHOWN, around_active, count, measure, ranked, scores};
use super::method::Method;
use super::subject::{AvailableSubjects, DIGITS, Shown, Subject, images};
use super::verdicts::{advantage, ahead_by};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::figure::{Axis, Figure, Mark, Panel, Picture, Side, palette};
use crate::reproduce::report::{Table, notes, row};
use crate::reproduce::session::Session;
use crate::reproduce::statistics::Measurement;
use crate::reproduce::verdict::{Case, Claim};

/// The methods whose masked images form the rows below the original images.
const METHODS: [Method; 4] = [Method::CShapley, Method::KernelShap, Method::SampleShapley, Method::Saliency];

/// Number of images per class.
const OF_CLASS: usize = 4;

/// Width and height of a picture, in pixels.
const CELL: f64 = 70.0;
/// Gap between pictures, in pixels.
const GAP: f64 = 8.0;
/// Width of the column of names, in pixels.
const NAMES: f64 = 96.0;

/// Scale of the pictures in separate files: number of their pixels per pixel of the image, in each direction.
const FACTOR: usize = 8;

/// Generates figure 4: digits.
pub(super) fn fig4(session: &Session) -> Result<ArtefactOutput> {
    let found = images(session)?;
    let subject = found
        .subject("mnist38")
        .or_else(|| found.subject(DIGITS))
        .context("the embedded digits are missing")?;
    let title = format!("Figure 4: {} with the top pixels masked", subject.title);
    let note = "Masked pixels: red where activated, blue where not.";
    let (figure, data) = gallery(session, subject, &SHOWN, &title, note)?;
    let measured = measure(session, subject, &METHODS)?;
    let mut notes = notes(&found);
    if subject.name == DIGITS {
        notes.push("digits of 8 × 8 pixels replace MNIST, which is not available".to_owned());
    }
    Ok(ArtefactOutput {
        data,
        figure: Some(figure),
        tables: vec![near_table(&measured)?],
        claims: SHOWN.iter().enumerate().map(|(at, &percent)| concentrated(&measured, at, percent)).collect(),
        notes,
        datasets: Vec::new(),
    })
}

/// Generates figure 5: photographs.
pub(super) fn fig5(session: &Session) -> Result<ArtefactOutput> {
    let found = images(session)?;
    let claim =
        "C-Shapley and Saliency yield the most interpretable results; C-Shapley masks parts of head and body";
    let (why, figure, data) = match found.subject("cifar_deer_horse") {
        None => ("the photographs or the network are not there", None, data_table()),
        Some(subject) => {
            let title = format!("Figure 5: {} with the top pixels masked", subject.title);
            let note = "Masked pixels are grey: they have the mean of all pixels.";
            let (figure, data) = gallery(session, subject, &SHOWN[1..], &title, note)?;
            ("what is interpretable people must say: see the figure", Some(figure), data)
        }
    };
    Ok(ArtefactOutput {
        data,
        figure,
        tables: Vec::new(),
        claims: vec![Claim::not_tested(claim, "section 5.2; figure 5", why)],
        notes: notes(&found),
        datasets: Vec::new(),
    })
}

/// Returns the first correctly predicted test images of each class: at most [`OF_CLASS`] per class, and at
/// most the session's number of runs.
fn columns(session: &Session, subject: &Subject) -> Result<Vec<usize>> {
    let most = OF_CLASS.min(session.runs);
    let mut columns = Vec::new();
    for class in 0..subject.classes.len() {
        let mut taken = 0;
        for index in 0..subject.len() {
            if taken < most && subject.target(index) == class && subject.class(index)? == class {
                columns.push(index);
                taken += 1;
            }
        }
    }
    Ok(columns)
}

/// Creates a panel for each share of masked pixels and the table of masked pixels, and writes each picture to
/// a separate file.
fn gallery(
    session: &Session,
    subject: &Subject,
    shares: &[usize],
    title: &str,
    note: &str,
) -> Result<(Figure, Table)> {
    let columns = columns(session, subject)?;
    let scores = scores(session, subject, &METHODS, &columns)?;
    let reference = Reference::Value(subject.reference().context("the dataset contains no images")?);
    let mut data = data_table();
    let mut panels = Vec::new();
    for &percent in shares {
        let mut marks = Vec::new();
        let names = ["Original"].into_iter().chain(METHODS.map(Method::title));
        for (row, name) in names.enumerate() {
            let at = (0.0, (row as f64 + 0.5) * (CELL + GAP));
            marks.push(Mark::Words { text: name.to_owned(), at, side: Side::Right });
        }
        for (column, &index) in columns.iter().enumerate() {
            let Shown::Image(image, segmentation) = subject.sample(index)?.shown else { continue };
            marks.push(cell(&image, 0, column));
            session
                .leave(format!("{}-{index}-original.png", subject.name), image.enlarged(FACTOR)?.to_png()?);
            for (row, method) in METHODS.into_iter().enumerate() {
                let order = ranked(&scores[row][column]);
                let masked = &order[..count(percent, order.len())];
                let picture = masked_picture(&image, &segmentation, masked, &reference)?;
                marks.push(cell(&picture, row + 1, column));
                let slug = method.title().to_lowercase();
                session.leave(
                    format!("{}-{index}-{slug}-{percent}.png", subject.name),
                    picture.enlarged(FACTOR)?.to_png()?,
                );
                for (rank, pixel) in masked.iter().enumerate() {
                    data.push(row![
                        subject.name,
                        index,
                        subject.classes[subject.target(index)],
                        method.title(),
                        percent,
                        rank,
                        pixel / image.width(),
                        pixel % image.width(),
                        scores[row][column][*pixel]
                    ]);
                }
            }
        }
        let (width, height) =
            (NAMES + columns.len() as f64 * (CELL + GAP), (METHODS.len() + 1) as f64 * (CELL + GAP));
        panels.push(Panel {
            title: format!("{percent} % of the pixels masked"),
            x: Axis::blank(width, 0.0, width),
            y: Axis::blank(height, height, 0.0),
            marks,
        });
    }
    let figure =
        Figure { title: title.to_owned(), panels, columns: 1, legend: Vec::new(), note: note.to_owned() };
    Ok((figure, data))
}

fn data_table() -> Table {
    Table::new(
        "data",
        ["dataset", "sample", "class", "method", "percent masked", "rank", "row", "column", "score"],
    )
}

/// Returns an image as a picture at its position in the grid of the figure.
fn cell(image: &Image, row: usize, column: usize) -> Mark {
    let (left, top) = (NAMES + column as f64 * (CELL + GAP), row as f64 * (CELL + GAP) + GAP / 2.0);
    Mark::Picture { picture: picture(image), from: (left, top), to: (left + CELL, top + CELL) }
}

/// Converts an image to a picture for figures.
pub(super) fn picture(image: &Image) -> Picture {
    let byte = |value: f64| (255.0 * value).round() as u8;
    let rgb = image.to_rgb();
    let pixels = rgb
        .pixels()
        .as_chunks()
        .0
        .iter()
        .map(|&[red, green, blue]| [byte(red), byte(green), byte(blue), 255]);
    Picture { width: image.width(), height: image.height(), pixels: pixels.collect() }
}

/// Returns, for each sample, the share of masked pixels that are activated or next to an activated pixel.
fn near(measured: &Measured<'_>, method: Method, at: usize) -> Vec<f64> {
    let outcomes = measured.curve(method).map(|curve| curve.outcomes.as_slice()).unwrap_or_default();
    outcomes.iter().filter_map(|outcome| outcome.near.get(at).copied()).collect()
}

fn concentrated(measured: &Measured<'_>, at: usize, percent: usize) -> Claim {
    let own = near(measured, Method::CShapley, at);
    let rivals = [Method::KernelShap, Method::SampleShapley, Method::Saliency];
    let cases: Vec<Case> = rivals
        .into_iter()
        .map(|rival| {
            let advantages: Vec<f64> =
                own.iter().zip(near(measured, rival, at)).map(|(own, other)| own - other).collect();
            advantage(&format!("{}: C-Shapley than {}", measured.subject.name, rival.title()), &advantages)
        })
        .collect();
    ahead_by(
        &format!(
            "the pixels picked by C-Shapley concentrate around and inside the digits ({percent} % masked)"
        ),
        "section 5.2; figure 4",
        "a dataset and another method; it agrees if the share of the masked pixels that are activated (at \
         least half white) or next to an activated pixel is higher on the same sample",
        cases,
    )
}

fn near_table(measured: &Measured<'_>) -> Result<Table> {
    let columns = ["method", "percent masked", "samples", "share on or next to the digit", "standard error"];
    let mut table = Table::new(
        format!("Share of masked pixels on or next to an activated pixel, {}", measured.subject.name),
        columns,
    );
    for (at, percent) in SHOWN.into_iter().enumerate() {
        for method in METHODS {
            let shares = near(measured, method, at);
            let mean = Measurement::mean(&shares);
            table.push(row![method.title(), percent, shares.len(), mean.value, mean.known_error()]);
        }
    }
    let mut shares = Vec::new();
    for &index in &measured.samples {
        if let Shown::Image(image, _) = &measured.subject.sample(index)?.shown {
            let around = around_active(image);
            shares.push(around.iter().filter(|is_near| **is_near).count() as f64 / around.len() as f64);
        }
    }
    let mean = Measurement::mean(&shares);
    table.push(row!["of all pixels", 100, shares.len(), mean.value, mean.known_error()]);
    Ok(table)
}

fn notes(found: &AvailableSubjects) -> Vec<String> {
    let mut notes = super::notes::notes(found);
    notes.push(SALIENCY.to_owned());
    notes.extend(notes![
        "columns: the first correctly predicted test images of each class; individual pictures: \
         DATASET-SAMPLE-METHOD-PERCENT.png next to this report",
    ]);
    notes
}

/// Note on saliency in reports on images.
pub(super) const SALIENCY: &str = "Saliency: since the model is a black box, gradients of log P(ŷ | x) are \
                                   computed by central differences, with two predictions for each value of a \
                                   pixel; for several channels, the derivative with the largest absolute \
                                   value is used";

/// Creates the panel of misclassified digits, in which the pixels ranked highest by C-Shapley are masked.
/// Returns `None` if all digits are classified correctly.
pub(super) fn misclassified(session: &Session, subject: &Subject) -> Result<Option<Panel>> {
    let mut found = Vec::new();
    for class in 0..subject.classes.len() {
        for index in 0..subject.len() {
            if subject.target(index) == class && subject.class(index)? != class {
                found.push(index);
                break;
            }
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    let scores = scores(session, subject, &[Method::CShapley], &found)?.concat();
    let reference = Reference::Value(subject.reference().context("the dataset contains no images")?);
    let (width, height, side) = (260.0, 184.0, 116.0);
    let mut marks = Vec::new();
    for (place, (&index, scores)) in found.iter().zip(&scores).enumerate() {
        let Shown::Image(image, segmentation) = subject.sample(index)?.shown else { continue };
        let order = ranked(scores);
        let masked = &order[..count(SHOWN[0], order.len())];
        let shown = masked_picture(&image, &segmentation, masked, &reference)?;
        let left = width / 2.0 + (place as f64 - found.len() as f64 / 2.0) * (side + GAP) + GAP / 2.0;
        marks.push(Mark::Picture {
            picture: picture(&shown),
            from: (left, 8.0),
            to: (left + side, 8.0 + side),
        });
        let (is, taken) = (subject.classes[subject.target(index)], subject.classes[subject.class(index)?]);
        let at = (left + side / 2.0, side + 24.0);
        marks.push(Mark::Label {
            text: format!("{is} taken for {taken}"),
            at,
            size: 12.0,
            colour: palette::BLACK,
        });
        session
            .leave(format!("{}-{index}-misclassified.png", subject.name), shown.enlarged(FACTOR)?.to_png()?);
    }
    let at = (width / 2.0, side + 46.0);
    let legend = format!("top {} % by C-Shapley; red: activated", SHOWN[0]);
    marks.push(Mark::Label { text: legend, at, size: 11.0, colour: palette::BLACK });
    Ok(Some(Panel {
        title: format!("{}, misclassified", subject.title),
        x: Axis::blank(width, 0.0, width),
        y: Axis::blank(height, height, 0.0),
        marks,
    }))
}
