//! Figure 3: the change of log-odds when pixels of images are masked, and the pixels of misclassified digits.

use anyhow::Result;

use super::curves::{artefact_output, panel};
use super::gallery::{SALIENCY, misclassified};
use super::masking::{Measured, measure};
use super::method::Method;
use super::reading::Reading;
use super::subject::{AvailableSubjects, DIGITS, images};
use super::verdicts::{ahead, by_areas, with_networks};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::Claim;

/// Methods that C-Shapley is compared with.
const RIVALS: [Method; 3] = [Method::KernelShap, Method::SampleShapley, Method::Saliency];

/// Generates figure 3.
pub(super) fn fig3(session: &Session) -> Result<ArtefactOutput> {
    let found = images(session)?;
    let all = (found.subjects.iter())
        .map(|subject| measure(session, subject, &Method::OF_IMAGES))
        .collect::<Result<Vec<_>>>()?;
    let mut panels: Vec<_> = all.iter().map(|measured| panel(measured, "pixels")).collect();
    for subject in found.subjects.iter().filter(|subject| subject.channels() == 1) {
        panels.extend(misclassified(session, subject)?);
    }
    let mut notes = super::notes::notes(&found);
    notes.extend([
        "every pixel is a player, with all its channels; mnist38 and cifar_deer_horse: 200 and 50 test \
         images of the paper's datasets, or N with --runs N (the paper uses 1000); the network for CIFAR-10 \
         has a third of the filters of the paper's network; digits38: 8 × 8 pixels, embedded"
            .to_owned(),
        SALIENCY.to_owned(),
    ]);
    Ok(artefact_output(&found, &all, ("Figure 3: pixels masked", panels, 3), claims(&found, &all), notes))
}

fn claims(found: &AvailableSubjects, all: &[Measured<'_>]) -> Vec<Claim> {
    let of = |wanted: &[&str], method: Method, rivals: &[Method]| -> Vec<_> {
        let measured = all.iter().filter(|measured| wanted.contains(&measured.subject.name));
        measured.flat_map(|measured| by_areas(measured, method, rivals)).collect()
    };
    let of_paper = ["mnist38", "cifar_deer_horse"];
    let names = [&of_paper[..], &["mnist38_cnn", "cifar_deer_horse_cnn"]].concat();
    let mut claims = Vec::new();
    for reading in Reading::ALL {
        let own = reading.c_shapley_on_images();
        let paper = ahead(
            "C-Shapley consistently outperforms the other methods on MNIST and CIFAR-10",
            "section 5.2; figure 3",
            of(&of_paper, own, &RIVALS),
        );
        let digits = ahead(
            "C-Shapley outperforms the other methods on digits of 8 × 8 pixels, too",
            "this project, beside section 5.2",
            of(&[DIGITS], own, &RIVALS),
        );
        claims.extend([reading.mark(with_networks(found, &names, paper)), reading.mark(digits)]);
    }
    claims.extend([
        ahead(
            "the weights of section 4.3.2 hold C-Shapley back: with equal ones it is ahead of itself",
            "this project, beside section 5.2",
            of(&of_paper, Method::EqualWeights, &[Method::CShapley]),
        ),
        ahead(
            "the empty image holds C-Shapley back: squares that are taken away from the whole image are \
             ahead of those alone",
            "this project, beside section 5.2",
            of(&of_paper, Method::TakenAway, &[Method::EqualWeights]),
        ),
    ]);
    claims
}
