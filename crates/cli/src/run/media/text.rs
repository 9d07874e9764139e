//! `apportion explain-text`: attributions of a network's prediction for a text to its tokens or words.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use apportion::games::Graph;
use apportion::media::{Case, Splitting, Text, Tokenizer, Vocabulary};
use apportion_files::Destination;
use serde_json::json;

use super::division::divide;
use crate::messages;
use crate::parse::format::Format;
use crate::parse::media::{ExplainText, Players, Split, TextFormat};
use crate::read::network;
use crate::write::write_all;

/// The maximum number of unknown words in a note.
const MAX_SHOWN_WORDS: usize = 8;

pub(crate) fn run(args: &ExplainText) -> Result<()> {
    let started = Instant::now();
    let options = args.division.check()?;
    let inputs = [Some(args.network.model.as_path()), Some(args.vocab.as_path()), args.text_file.as_deref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    let destination = Destination::new(args.out.as_deref(), &inputs)?;
    let vocabulary = vocabulary(args)?;
    let text = text(args, &vocabulary)?;
    let network = network::read(&args.network)?;
    if !network.takes_whole_numbers() {
        bail!(
            "the model does not accept text: its input {} expects fractional numbers, not token ids, which \
             are integers; use apportion explain-image, or apportion explain for tables",
            network.input_name()
        );
    }
    if let Some(rows) = network.vocabulary_size() {
        vocabulary
            .check_size(rows)
            .with_context(|| format!("--vocab {} does not match the model", args.vocab.display()))?;
    }
    let &[width] = network.row_shape() else {
        bail!(
            "the model expects rows of shape {:?}, but a text is a row of token ids; use a network whose \
             input is [batch, tokens]",
            network.row_shape()
        );
    };
    let text = if args.truncate { text.truncated(width) } else { text };
    let unknown = unknown_words(&text, &vocabulary)?;
    let masked = text
        .masked(width, vocabulary.padding())
        .context("the text is too long for the model; pass --truncate to truncate it")?;
    let graph = Graph::line(text.players().len());
    let divided = divide(&args.division, &options, &network, &masked, graph, started)?;
    if let Some(unknown) = unknown {
        messages::note(unknown);
    }

    let names = (0..text.players().len()).map(|player| text.words(player)).collect();
    let tokens: Vec<_> = text
        .tokens()
        .iter()
        .map(|token| {
            let (start, end) = (token.range.start, token.range.end);
            json!({
                "text": &text.source()[token.range.clone()],
                "start": start,
                "end": end,
                "id": token.id,
                "known": token.known
            })
        })
        .collect();
    let about =
        vec![("text", json!(text.source())), ("tokens", json!(tokens)), ("players", json!(text.players()))];
    let format = match args.format {
        TextFormat::Json => Some(Format::Json),
        TextFormat::Csv => Some(Format::Csv),
        TextFormat::Npy => Some(Format::Npy),
        TextFormat::Table => Some(Format::Table),
        TextFormat::Terminal | TextFormat::Html => None,
    };
    divided.finish(&args.division, |divided| {
        let scores = divided.shown();
        match format {
            Some(format) => {
                let (results, block) = divided.values(&args.division, "text", names, Vec::new(), about)?;
                write_all(&destination, format, &results, &block, || Ok(()))
            }
            None if args.format == TextFormat::Html => {
                let fragment = text.to_html(&scores)?;
                destination.write(|out| Ok(writeln!(out, "{fragment}")?))
            }
            None => {
                let coloured = text.to_terminal(&scores)?;
                let legend = divided.legend(&args.division);
                destination.write(|out| Ok(writeln!(out, "{coloured}\n{legend}")?))
            }
        }
    })
}

/// Returns a note about tokens that are not in the vocabulary, or an error if the vocabulary contains no
/// token of the text.
fn unknown_words(text: &Text, vocabulary: &Vocabulary) -> Result<Option<String>> {
    let mut unknown: Vec<&str> = Vec::new();
    for token in text.tokens().iter().filter(|token| !token.known) {
        let word = &text.source()[token.range.clone()];
        if !unknown.contains(&word) {
            unknown.push(word);
        }
    }
    if unknown.is_empty() {
        return Ok(None);
    }
    let shown =
        unknown.iter().take(MAX_SHOWN_WORDS).map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
    let more = if unknown.len() > MAX_SHOWN_WORDS { ", …" } else { "" };
    if text.tokens().iter().all(|token| !token.known) {
        bail!(
            "no token of the text is in the vocabulary (unknown: {shown}{more}); use a different --vocab or \
             --split, or --keep-case if the vocabulary contains capital letters"
        );
    }
    let stands_in = vocabulary.unknown().and_then(|id| vocabulary.token(id)).unwrap_or_default();
    Ok(Some(format!("words that are not in the vocabulary are replaced by {stands_in}: {shown}{more}")))
}

/// Reads the vocabulary, with the special tokens that the options specify.
fn vocabulary(args: &ExplainText) -> Result<Vocabulary> {
    let says = || format!("cannot read the vocabulary from {}", args.vocab.display());
    let bytes = std::fs::read(&args.vocab).with_context(says)?;
    let mut vocabulary = Vocabulary::from_bytes(&bytes).with_context(says)?;
    if let Some(token) = &args.padding {
        vocabulary = vocabulary.with_padding(token).context("--padding")?;
    }
    if let Some(token) = &args.unknown {
        vocabulary = vocabulary.with_unknown(token).context("--unknown")?;
    }
    Ok(vocabulary)
}

/// Reads the text and splits it into tokens and players.
fn text(args: &ExplainText, vocabulary: &Vocabulary) -> Result<Text> {
    let source = match (&args.text, &args.text_file) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the text from {}", path.display()))?,
        (None, None) => String::new(),
    };
    let tokenizer = Tokenizer::default()
        .with_splitting(match args.split {
            Split::Punctuation => Splitting::Punctuation,
            Split::Blanks => Splitting::Blanks,
            Split::Words => Splitting::Words,
        })
        .with_case(if args.keep_case { Case::AsWritten } else { Case::Lower });
    let text = Text::new(source, vocabulary, tokenizer)?;
    Ok(match args.players {
        Players::Tokens => text,
        Players::Words => text.by_words(),
    })
}
