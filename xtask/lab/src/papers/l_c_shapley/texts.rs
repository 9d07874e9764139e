//! Figure 2: the change of log-odds when words of texts are masked.

use anyhow::Result;

use super::curves::{artefact_output, panel};
use super::masking::{Measured, measure};
use super::method::Method;
use super::reading::Reading;
use super::subject::{AG_NEWS_BAG, AvailableSubjects, SENTENCES, texts};
use super::verdicts::{ahead, by_areas, not_behind, with_networks};
use crate::reproduce::catalogue::ArtefactOutput;
use crate::reproduce::session::Session;
use crate::reproduce::verdict::{Case, Claim};

/// Methods that L-Shapley and C-Shapley are compared with.
const RIVALS: [Method; 3] = [Method::KernelShap, Method::SampleShapley, Method::Lime];

/// Generates figure 2.
pub(super) fn fig2(session: &Session) -> Result<ArtefactOutput> {
    let found = texts(session)?;
    let all = (found.subjects.iter())
        .map(|subject| measure(session, subject, &Method::OF_TEXTS))
        .collect::<Result<Vec<_>>>()?;
    let panels = all.iter().map(|measured| panel(measured, "words")).collect();
    let mut notes = super::notes::notes(&found);
    notes.extend([
        "ag_news with an LSTM replaces Yahoo! Answers; if no character CNN is trained, a network on the \
         mean of embeddings, ag_news_bag, replaces it; IMDB: 100 test reviews, spread evenly (the paper \
         uses 1000)"
            .to_owned(),
        "LIME: exponential kernel of width 0.25 on the cosine distance, ridge penalty 1, as in the lime \
         package for texts; the number of removed words is drawn uniformly"
            .to_owned(),
    ]);
    Ok(artefact_output(
        &found,
        &all,
        ("Figure 2: words masked", panels, all.len()),
        claims(&found, &all),
        notes,
    ))
}

fn claims(found: &AvailableSubjects, all: &[Measured<'_>]) -> Vec<Claim> {
    Reading::ALL.into_iter().flat_map(|reading| claims_in(reading, found, all)).collect()
}

/// Returns the claims in one reading.
fn claims_in(reading: Reading, found: &AvailableSubjects, all: &[Measured<'_>]) -> Vec<Claim> {
    let (l_shapley, c_shapley) = (reading.l_shapley(), reading.c_shapley_on_texts());
    let both = [l_shapley, c_shapley];
    let of = |names: &[&str], methods: &[Method], rivals: &[Method]| -> Vec<Case> {
        let measured = all.iter().filter(|measured| names.contains(&measured.subject.name));
        measured
            .flat_map(|measured| methods.iter().flat_map(|&method| by_areas(measured, method, rivals)))
            .collect()
    };
    let favourable = |names: &[&str]| {
        let claim = not_behind(
            "L-Shapley and C-Shapley compare favorably with KernelSHAP, SampleShapley and LIME",
            "abstract; section 5.1",
            of(names, &both, &RIVALS),
        );
        reading.mark(claim)
    };
    let l_shapley_first = [&RIVALS[..], &[c_shapley]].concat();
    let lstm = of(&["ag_news_lstm"], &[c_shapley], &[&RIVALS[..], &[l_shapley]].concat());
    let lstm_claim =
        "on Yahoo! Answers with an LSTM C-Shapley outperforms the rest by a large margin (here: AG news)";
    let lstm_claim = match lstm.is_empty() {
        true => Claim::not_tested(lstm_claim, "section 5.1; figure 2", "no LSTM is there"),
        false => ahead(lstm_claim, "section 5.1; figure 2", lstm),
    };
    let both_ahead = |names: &[&str]| {
        let claim = ahead(
            "on AG news L-Shapley and C-Shapley both outperform the other algorithms",
            "section 5.1; figure 2",
            of(names, &both, &RIVALS),
        );
        reading.mark(claim)
    };
    let word_cnn = ahead(
        "on the word CNN L-Shapley achieves the best performance, the others slightly worse",
        "section 5.1; figure 2",
        of(&["imdb"], &[l_shapley], &l_shapley_first),
    );
    let mut claims = vec![
        with_networks(found, &["imdb", "imdb_word_cnn"], reading.mark(word_cnn)),
        with_networks(found, &["ag_news", "ag_news_char_cnn"], both_ahead(&["ag_news"])),
        with_networks(found, &["ag_news_lstm"], reading.mark(lstm_claim)),
        favourable(&["imdb", "ag_news", "ag_news_lstm"]),
        favourable(&[SENTENCES]).on_stand_ins(),
    ];
    if found.subject(AG_NEWS_BAG).is_some() {
        claims.push(with_networks(found, &[AG_NEWS_BAG], both_ahead(&[AG_NEWS_BAG]).on_stand_ins()));
    }
    claims
}
