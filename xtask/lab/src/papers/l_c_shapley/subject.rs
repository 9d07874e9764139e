//! What is explained: the test samples of a data set, and the model that tells their classes apart.

use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::games::{Adjacency, Graph, parallel};
use apportion::media::{
    ChannelOrder, Image, Layout, Masked, Outputs, PixelScale, Reference, Score, ScoredGame, Segmentation,
    Text,
};
use apportion::{Background, Game, Model, Rows};

use super::data::bag_of_words::BagOfWords;
use super::data::digits::{Digits, digits};
use super::data::image_set::ImageSet;
use super::data::network::SmallNetwork;
use super::data::pack::{
    AG_NEWS, CIFAR_DEER_HORSE, Files, IMDB, KnownImages, KnownTexts, MNIST38, PackImages,
};
use super::data::sentences::{TABLE_2, sentences, tokens};
use super::data::spelling::{Spelling, WIDTH};
use super::data::text_set::{PADDING, Sentence, TextSet};
use super::networks;
use crate::reproduce::cli::Preset;
use crate::reproduce::ingredients::Digest;
use crate::reproduce::report::Table;
use crate::reproduce::session::Session;
use crate::reproduce::store::sha256;
use crate::reproduce::trained::{self, Entry, Input, Trained, Wanted, how_to_train};

/// A model of any kind.
pub(super) type AnyModel = Box<dyn Model + Send>;

/// A data set with its model.
pub(super) struct Subject {
    /// The name in cells and tables.
    pub(super) name: &'static str,
    /// The name that figures show.
    pub(super) title: &'static str,
    /// What the model is.
    pub(super) model_title: &'static str,
    /// What is on record of a network of our own training, and what the paper prints of its own.
    pub(super) trained: Option<(Entry, &'static str)>,
    /// Numbers that were learnt, or, of a network in a file, an upper bound by the size of the file.
    pub(super) parameters: usize,
    /// Samples that the model was trained on.
    pub(super) trained_on: usize,
    pub(super) classes: &'static [&'static str],
    pub(super) model: AnyModel,
    /// Whether it is embedded in this program.
    is_embedded: bool,
    /// Test samples that figures of the preset paper are about.
    explained: usize,
    inputs: Inputs,
    /// Outputs of the model, logits, for each test sample.
    outputs: Vec<Vec<f64>>,
    /// A hash of all test samples and of what the model says of them.
    pub(super) fingerprint: String,
}

/// Test samples.
enum Inputs {
    Texts {
        sentences: Vec<Sentence>,
        /// What the model takes.
        reading: Reading,
        /// The id of a token.
        id: Box<dyn Fn(&str) -> usize + Send + Sync>,
    },
    Images {
        set: ImageSet,
        /// What stands in for absent pixels.
        reference: f64,
    },
}

/// What a model takes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Its token ids, any number of them.
    AllTokens,
    /// So many token ids.
    Tokens(usize),
    /// So many ids of characters.
    Characters(usize),
}

/// One explicand with its players.
pub(super) struct Sample {
    pub(super) masked: Masked,
    pub(super) graph: Arc<Graph>,
    /// The class that the model predicts, whose log-probability is explained.
    pub(super) class: usize,
    /// The outputs of the model.
    pub(super) outputs: Vec<f64>,
    pub(super) shown: Shown,
}

impl Sample {
    /// The game of the log-probability of its class.
    pub(super) fn game<'a>(&'a self, model: &'a dyn Model) -> Result<impl Game + 'a> {
        let score = Score::LogProbability { class: self.class };
        Ok(ScoredGame::new(self.masked.game(model)?, Outputs::Logits, score)?)
    }
}

/// A sample as people see it.
pub(super) enum Shown {
    Text(Text),
    Image(Image, Segmentation),
}

/// Data sets that are there, and a line for each that is not.
pub(super) struct Found {
    pub(super) subjects: Vec<Subject>,
    pub(super) skipped: Vec<String>,
}

impl Found {
    /// Says why something is not there.
    fn skip(&mut self, session: &Session, name: &str, how: &str) {
        let line = format!("{name}: skipped; {how}");
        session.say_once(&line);
        self.skipped.push(line);
    }

    /// The lines on those of these names that are not there.
    pub(super) fn skipped(&self, names: &[&str]) -> Vec<&str> {
        let is_of = |line: &&str| names.iter().any(|name| line.starts_with(&format!("{name}: ")));
        self.skipped.iter().map(String::as_str).filter(is_of).collect()
    }

    /// What is on record of the networks of our own training.
    pub(super) fn trained(&self) -> Option<Table> {
        let entries = self.subjects.iter().filter_map(|subject| subject.trained.as_ref());
        trained::table(entries.map(|(entry, printed)| (entry, *printed)))
    }

    /// The subject of this name.
    pub(super) fn subject(&self, name: &str) -> Option<&Subject> {
        self.subjects.iter().find(|subject| subject.name == name)
    }
}

/// How networks are had in a build that reads none.
const NO_NETWORKS: &str = "this build reads no neural networks: cargo xtask-onnx reproduce l-c-shapley";

/// Of the embedded network: 8 maps of 9 weights and a bias each, and 128 weights and a bias behind them.
const DIGITS_PARAMETERS: usize = 8 * (9 + 1) + 128 + 1;

/// The name of the news with the network that lies in the data directory.
pub(super) const AG_NEWS_BAG: &str = "ag_news_bag";

/// The name of the embedded texts.
pub(super) const SENTENCES: &str = "sentences";

/// The name of the embedded images.
pub(super) const DIGITS: &str = "digits38";

/// A network that a reproduction wants, and what stands in where nobody has trained it.
struct Kind {
    /// Its name for `cargo xtask train`.
    network: &'static str,
    /// The subject's name.
    name: &'static str,
    title: &'static str,
    /// What the paper prints of its own.
    printed: &'static str,
    /// The subject's name and title of the model with the network that lies in the data directory.
    given: Option<(&'static str, &'static str)>,
    /// Test samples that figures of the preset paper are about: the paper's thousand, or as many as take an
    /// hour.
    explained: usize,
}

/// The networks on texts.
static ON_TEXTS: [(&KnownTexts, Reading, Kind); 3] = [
    (
        &IMDB,
        Reading::Tokens(IMDB.width),
        Kind {
            network: "imdb_word_cnn",
            name: "imdb",
            title: "word CNN",
            printed: "0.901",
            given: None,
            explained: 100,
        },
    ),
    (
        &AG_NEWS,
        Reading::Characters(WIDTH),
        Kind {
            network: "ag_news_char_cnn",
            name: "ag_news",
            title: "character CNN",
            printed: "0.901 (AG news, 120 000 texts to train on)",
            given: Some((AG_NEWS_BAG, "mean of embeddings")),
            explained: 1_000,
        },
    ),
    (
        &AG_NEWS,
        Reading::Tokens(AG_NEWS.width),
        Kind {
            network: "ag_news_lstm",
            name: "ag_news_lstm",
            title: "LSTM",
            printed: "0.708 (Yahoo! Answers)",
            given: None,
            explained: 1_000,
        },
    ),
];

/// The networks on images.
static ON_IMAGES: [(&KnownImages, Kind); 2] = [
    (
        &MNIST38,
        Kind {
            network: "mnist38_cnn",
            name: "mnist38",
            title: "CNN",
            printed: "0.997",
            given: None,
            explained: 200,
        },
    ),
    (
        &CIFAR_DEER_HORSE,
        Kind {
            network: "cifar_deer_horse_cnn",
            name: "cifar_deer_horse",
            title: "CNN",
            printed: "0.961",
            given: None,
            explained: 50,
        },
    ),
];

/// The texts: those of the data directory, and the embedded ones.
pub(super) fn texts(session: &Session) -> Result<Found> {
    let mut found = Found { subjects: Vec::new(), skipped: Vec::new() };
    for (known, reading, kind) in &ON_TEXTS {
        let (input, width) = match *reading {
            Reading::Characters(width) => (Input::Characters, width),
            Reading::Tokens(width) => (Input::Tokens, width),
            Reading::AllTokens => (Input::Tokens, 0),
        };
        let (data, row) = (known.trained_on(input), [width]);
        let outputs = if known.classes.len() == 2 { 1 } else { known.classes.len() };
        let wanted = Wanted { name: kind.network, data: &data, input, row: &row, outputs };
        let read = || known.read(&session.library);
        if let Some((had, set)) = of_pack(session, &mut found, kind, &wanted, &known.files, read)? {
            // Networks that lie in the data directory take tokens.
            let reading = if had.trained.is_some() { *reading } else { Reading::Tokens(known.width) };
            found.subjects.push(Subject::of_texts(had, known.title, set, reading, false)?);
        }
    }
    found.subjects.push(embedded_texts()?);
    Ok(found)
}

/// The images: those of the data directory, and the embedded ones.
pub(super) fn images(session: &Session) -> Result<Found> {
    let mut found = Found { subjects: Vec::new(), skipped: Vec::new() };
    for (known, kind) in &ON_IMAGES {
        let (data, row) = (known.trained_on(), known.row());
        let wanted = Wanted { name: kind.network, data: &data, input: Input::Pixels, row: &row, outputs: 1 };
        let read = || known.read(&session.library);
        if let Some((had, pack)) = of_pack(session, &mut found, kind, &wanted, &known.files, read)? {
            let PackImages { test, reference } = pack;
            found.subjects.push(Subject::of_images(had, known.title, known.rows.0, test, reference, false)?);
        }
    }
    found.subjects.push(embedded_images()?);
    Ok(found)
}

/// What there is of the data directory, with its network; what is not there is skipped by name.
fn of_pack<S>(
    session: &Session,
    found: &mut Found,
    kind: &Kind,
    wanted: &Wanted<'_>,
    files: &Files,
    read: impl FnOnce() -> Result<Option<S>>,
) -> Result<Option<(Had, S)>> {
    if !networks::CAN_READ {
        found.skip(session, kind.name, NO_NETWORKS);
        return Ok(None);
    }
    let Some(set) = read()? else {
        found.skip(session, kind.name, &files.how_to_get_it());
        return Ok(None);
    };
    Ok(network(session, found, kind, wanted, files)?.map(|had| (had, set)))
}

/// A network with what is known of it.
struct Had {
    name: &'static str,
    title: &'static str,
    parameters: usize,
    model: AnyModel,
    trained: Option<(Entry, &'static str)>,
    explained: usize,
}

/// The network of our own training, else the one that lies in the data directory, else none. What is not
/// there is skipped by name.
fn network(
    session: &Session,
    found: &mut Found,
    kind: &Kind,
    wanted: &Wanted<'_>,
    files: &Files,
) -> Result<Option<Had>> {
    match session.library.trained(wanted).and_then(|network| loaded(&network, wanted)) {
        Ok((model, entry)) => {
            let (name, title, parameters) = (kind.name, kind.title, entry.parameters);
            let (trained, explained) = (Some((entry, kind.printed)), kind.explained);
            return Ok(Some(Had { name, title, parameters, model, trained, explained }));
        }
        Err(why) => found.skip(session, kind.network, &why),
    }
    let Some((name, title)) = kind.given else { return Ok(None) };
    let Some(bytes) = files.network(&session.library)? else {
        found.skip(session, name, &files.how_to_get_it());
        return Ok(None);
    };
    let model = networks::network(&bytes).with_context(|| format!("the network of {name}"))?;
    let (parameters, explained) = (bytes.len() / 4, kind.explained);
    Ok(Some(Had { name, title, parameters, model, trained: None, explained }))
}

/// A network that was trained here as a model, with its record.
fn loaded(network: &Trained, wanted: &Wanted<'_>) -> Result<(AnyModel, Entry), String> {
    let how = how_to_train(wanted.name);
    let model = networks::network(&network.bytes).map_err(|error| format!("{error:#}: {how}"))?;
    let (features, outputs) = (wanted.row.iter().product::<usize>(), wanted.outputs);
    if (model.features(), model.outputs()) != (Some(features), outputs) {
        return Err(format!("it does not take {features} inputs or has not {outputs} outputs: {how}"));
    }
    Ok((model, network.entry.clone()))
}

fn embedded_texts() -> Result<Subject> {
    let set = sentences()?;
    let model = BagOfWords::train(&set)?;
    let parameters = model.weights.len() + 1;
    let had = Had {
        name: SENTENCES,
        title: "bag of words",
        parameters,
        model: Box::new(model),
        trained: None,
        explained: usize::MAX,
    };
    Subject::of_texts(had, "Embedded sentences", set, Reading::AllTokens, true)
}

fn embedded_images() -> Result<Subject> {
    let Digits { train, test } = digits()?;
    let had = Had {
        name: DIGITS,
        title: "small convolutions",
        parameters: DIGITS_PARAMETERS,
        model: Box::new(SmallNetwork::embedded()?),
        trained: None,
        explained: usize::MAX,
    };
    Subject::of_images(had, "Digits 3/8, 8 × 8", train.len(), test, train.mean(), true)
}

impl Subject {
    fn of_texts(
        had: Had,
        title: &'static str,
        set: TextSet,
        reading: Reading,
        is_embedded: bool,
    ) -> Result<Self> {
        let (trained_on, classes) = (set.train().count(), set.classes);
        let sentences = set.test().cloned().collect();
        let id = Box::new(move |token: &str| set.id(token));
        let inputs = Inputs::Texts { sentences, reading, id };
        Self::new(had, title, trained_on, classes, inputs, is_embedded)
    }

    fn of_images(
        had: Had,
        title: &'static str,
        trained_on: usize,
        set: ImageSet,
        reference: f64,
        is_embedded: bool,
    ) -> Result<Self> {
        let classes = set.classes;
        Self::new(had, title, trained_on, classes, Inputs::Images { set, reference }, is_embedded)
    }

    fn new(
        had: Had,
        title: &'static str,
        trained_on: usize,
        classes: &'static [&'static str],
        inputs: Inputs,
        is_embedded: bool,
    ) -> Result<Self> {
        let Had { name, title: model_title, parameters, model, trained, explained } = had;
        let (outputs, fingerprint) = (Vec::new(), String::new());
        Self {
            name,
            title,
            model_title,
            trained,
            parameters,
            trained_on,
            classes,
            model,
            is_embedded,
            explained,
            inputs,
            outputs,
            fingerprint,
        }
        .with_outputs()
    }

    /// Asks the model about every test sample.
    fn with_outputs(mut self) -> Result<Self> {
        let indices: Vec<usize> = (0..self.len()).collect();
        let all = parallel::try_map(&indices, |&index| -> Result<_> {
            let row = self.row(index)?;
            let outputs = predict(self.model.as_ref(), &row, 1)?;
            Ok((row, outputs))
        })?;
        let mut bytes = Vec::new();
        for (row, outputs) in all {
            for number in row.iter().chain(&outputs) {
                bytes.extend_from_slice(&number.to_bits().to_le_bytes());
            }
            self.outputs.push(outputs);
        }
        self.fingerprint = sha256(&bytes)[..16].to_owned();
        Ok(self)
    }

    /// A test sample as it is explained, by what came of probing its game.
    pub(super) fn played(&self, index: usize) -> Result<Digest> {
        let sample = self.sample(index)?;
        let game = Digest::of_game(&sample.game(self.model.as_ref())?)?;
        let explicand = Digest::of(sample.masked.explicand().iter().copied());
        Ok(Digest::joined([&game, &explicand]))
    }

    /// Title, model and, in brackets, number of samples, as panels show it.
    pub(super) fn heading(&self, samples: usize) -> String {
        let our = if self.trained.is_some() { "our " } else { "" };
        format!("{}, {our}{} ({samples})", self.title, self.model_title)
    }

    /// Test samples.
    pub(super) fn len(&self) -> usize {
        match &self.inputs {
            Inputs::Texts { sentences, .. } => sentences.len(),
            Inputs::Images { set, .. } => set.len(),
        }
    }

    /// Whether one sample takes seconds.
    pub(super) fn is_dear(&self) -> bool {
        self.is_image() && !self.is_embedded
    }

    pub(super) fn is_image(&self) -> bool {
        matches!(self.inputs, Inputs::Images { .. })
    }

    /// Numbers of a pixel; of texts 1.
    pub(super) fn channels(&self) -> usize {
        match &self.inputs {
            Inputs::Texts { .. } => 1,
            Inputs::Images { set, .. } => set.channels,
        }
    }

    /// What stands in for absent pixels; none of texts.
    pub(super) fn reference(&self) -> Option<f64> {
        match self.inputs {
            Inputs::Texts { .. } => None,
            Inputs::Images { reference, .. } => Some(reference),
        }
    }

    /// The true class of a test sample.
    pub(super) fn target(&self, index: usize) -> usize {
        match &self.inputs {
            Inputs::Texts { sentences, .. } => sentences[index].target,
            Inputs::Images { set, .. } => set.targets[index],
        }
    }

    /// The class that the model predicts.
    pub(super) fn class(&self, index: usize) -> Result<usize> {
        Ok(Outputs::Logits.predicted_class(&self.outputs[index])?)
    }

    /// The share of the test samples whose class is predicted.
    pub(super) fn accuracy(&self) -> Result<f64> {
        let mut right = 0;
        for index in 0..self.len() {
            right += usize::from(self.class(index)? == self.target(index));
        }
        Ok(right as f64 / self.len() as f64)
    }

    /// The mean number of tokens of the test samples; none of images.
    pub(super) fn mean_tokens(&self) -> Option<f64> {
        match &self.inputs {
            Inputs::Texts { sentences, .. } => {
                let tokens: usize = sentences.iter().map(|sentence| sentence.tokens.len()).sum();
                Some(tokens as f64 / sentences.len() as f64)
            }
            Inputs::Images { .. } => None,
        }
    }

    /// The test samples that figures are about, spread evenly over all.
    ///
    /// The preset paper takes a thousand, as the paper does, or fewer where that takes hours. The preset
    /// quick takes fewer where evaluations are dear: for 30 runs 30 texts and 12 images of the data
    /// directory, and up to 100 embedded samples. A number of runs that was asked for is the number of texts
    /// and images of the data directory.
    pub(super) fn chosen(&self, session: &Session) -> Vec<usize> {
        let runs = session.runs;
        let wanted = match session.preset {
            Preset::Paper if !session.runs_are_asked => self.explained,
            Preset::Paper => runs,
            Preset::Quick if self.is_embedded => (10 * runs).div_ceil(3),
            Preset::Quick if self.is_image() && !session.runs_are_asked => (2 * runs).div_ceil(5),
            Preset::Quick => runs,
        };
        let count = wanted.min(self.len());
        (0..count).map(|place| place * self.len() / count).collect()
    }

    /// The row of a test sample, as the model takes it.
    fn row(&self, index: usize) -> Result<Vec<f64>> {
        match &self.inputs {
            Inputs::Images { set, .. } => Ok(set.image(index).to_vec()),
            Inputs::Texts { sentences, .. } => {
                let (_, masked) = self.text(&sentences[index].tokens, &sentences[index].ids)?;
                Ok(masked.explicand().to_vec())
            }
        }
    }

    /// A text as the model sees it, what is beyond its width cut off; and its words as players.
    fn text(&self, tokens: &[String], ids: &[usize]) -> Result<(Text, Masked)> {
        let text = Text::from_tokens(tokens, ids)?;
        let Inputs::Texts { reading, .. } = self.inputs else { anyhow::bail!("{} are images", self.name) };
        Ok(match reading {
            Reading::AllTokens => {
                let masked = text.masked(text.tokens().len(), PADDING)?;
                (text, masked)
            }
            Reading::Tokens(width) => {
                let text = text.truncated(width);
                let masked = text.masked(width, PADDING)?;
                (text, masked)
            }
            Reading::Characters(width) => {
                let Spelling { row, words } = Spelling::new(tokens, width);
                let absent = Background::baseline(vec![PADDING as f64; width])?;
                (text.truncated(words.len()), Masked::new(row, absent, words)?)
            }
        })
    }

    /// A test sample.
    pub(super) fn sample(&self, index: usize) -> Result<Sample> {
        match &self.inputs {
            Inputs::Texts { sentences, .. } => {
                self.sample_of_text(self.text(&sentences[index].tokens, &sentences[index].ids)?)
            }
            Inputs::Images { set, reference } => {
                let side = set.side;
                let layout = Layout::new(side, side, set.channels, ChannelOrder::First)?;
                let row = set.image(index);
                let pixels = (0..side * side).flat_map(|pixel| {
                    (0..set.channels)
                        .map(move |channel| row[layout.feature(pixel / side, pixel % side, channel)])
                });
                let image = Image::new(side, side, set.channels, pixels.collect::<Vec<f64>>())?;
                let segmentation = Segmentation::pixels(side, side)?;
                let reference = Reference::Value(*reference);
                let masked = image.masked(&layout, &PixelScale::default(), &segmentation, &reference)?;
                let graph = Graph::grid(side, side, Adjacency::Four);
                self.finished(masked, graph, Shown::Image(image, segmentation))
            }
        }
    }

    /// The sentence of Table 2, in the words and with the vocabulary of this data set; none where these are
    /// images.
    pub(super) fn table_2(&self) -> Option<Result<Sample>> {
        let Inputs::Texts { id, .. } = &self.inputs else { return None };
        let tokens = tokens(TABLE_2);
        let ids: Vec<usize> = tokens.iter().map(|token| id(token)).collect();
        Some(self.text(&tokens, &ids).and_then(|text| self.sample_of_text(text)))
    }

    fn sample_of_text(&self, (text, masked): (Text, Masked)) -> Result<Sample> {
        let graph = Graph::line(text.players().len());
        self.finished(masked, graph, Shown::Text(text))
    }

    fn finished(&self, masked: Masked, graph: Graph, shown: Shown) -> Result<Sample> {
        let outputs = predict(self.model.as_ref(), masked.explicand(), 1)?;
        let class = Outputs::Logits.predicted_class(&outputs)?;
        Ok(Sample { masked, graph: Arc::new(graph), class, outputs, shown })
    }
}

/// What a model says of `count` rows.
pub(super) fn predict(model: &dyn Model, rows: &[f64], count: usize) -> Result<Vec<f64>> {
    let mut outputs = vec![0.0; count * model.outputs()];
    model
        .predict(Rows::new(rows, rows.len() / count), &mut outputs)
        .map_err(|error| anyhow::anyhow!("the model: {error}"))?;
    Ok(outputs)
}
