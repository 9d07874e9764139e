//! Subjects of explanations: the test samples of a dataset, and a classifier.

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
use crate::reproduce::trained::{self, Entry, Input, NetworkRequirements, Trained, how_to_train};

/// A model of any type.
pub(super) type AnyModel = Box<dyn Model + Send>;

/// A dataset with its model.
pub(super) struct Subject {
    /// Name in checkpoints and tables.
    pub(super) name: &'static str,
    /// Name in figures.
    pub(super) title: &'static str,
    /// Name of the model.
    pub(super) model_title: &'static str,
    /// For a network trained by us, its index entry, and the accuracy that the paper prints for its network.
    pub(super) trained: Option<(Entry, &'static str)>,
    /// Number of trained parameters; for a network in a file, an upper bound from the file size.
    pub(super) parameters: usize,
    /// Number of training samples.
    pub(super) trained_on: usize,
    pub(super) classes: &'static [&'static str],
    pub(super) model: AnyModel,
    /// Whether the dataset is embedded in this program instead of read from the data directory.
    is_embedded: bool,
    /// Number of test samples in figures with the preset `paper`.
    explained: usize,
    inputs: Inputs,
    /// A hash of all test samples and the model.
    pub(super) fingerprint: String,
}

/// The test samples, and how they are converted to inputs of the model.
enum Inputs {
    Texts {
        sentences: Vec<Sentence>,
        /// The input that the model expects.
        reading: Reading,
        /// Maps a token to its ID.
        id: Box<dyn Fn(&str) -> usize + Send + Sync>,
    },
    Images {
        set: ImageSet,
        /// Value of absent pixels.
        reference: f64,
    },
}

/// Input of a text model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Token IDs of the whole text, of any length.
    AllTokens,
    /// A fixed number of token IDs.
    Tokens(usize),
    /// A fixed number of character IDs.
    Characters(usize),
}

/// One explicand with its players.
pub(super) struct Sample {
    pub(super) masked: Masked,
    pub(super) graph: Arc<Graph>,
    /// Index of the predicted class, whose log-probability is explained.
    pub(super) class: usize,
    /// Outputs of the model for the sample.
    pub(super) outputs: Vec<f64>,
    pub(super) shown: Shown,
}

impl Sample {
    /// Returns the game of the log-probability of the predicted class.
    pub(super) fn game<'a>(&'a self, model: &'a dyn Model) -> Result<impl Game + 'a> {
        let score = Score::LogProbability { class: self.class };
        Ok(ScoredGame::new(self.masked.game(model)?, Outputs::Logits, score)?)
    }
}

/// A sample in the form that figures and tables show.
pub(super) enum Shown {
    Text(Text),
    Image(Image, Segmentation),
}

/// Available datasets, and a line for each missing one.
pub(super) struct AvailableSubjects {
    pub(super) subjects: Vec<Subject>,
    pub(super) skipped: Vec<String>,
}

impl AvailableSubjects {
    /// Prints why the dataset or network `name` is missing, and records the message.
    fn skip(&mut self, session: &Session, name: &str, how: &str) {
        let line = format!("{name}: skipped; {how}");
        session.say_once(&line);
        self.skipped.push(line);
    }

    /// Returns the messages about the missing datasets among `names`.
    pub(super) fn skipped(&self, names: &[&str]) -> Vec<&str> {
        let is_of = |line: &&str| names.iter().any(|name| line.starts_with(&format!("{name}: ")));
        self.skipped.iter().map(String::as_str).filter(is_of).collect()
    }

    /// Returns the table of networks trained by us.
    pub(super) fn trained(&self) -> Option<Table> {
        let entries = self.subjects.iter().filter_map(|subject| subject.trained.as_ref());
        trained::table(entries.map(|(entry, printed)| (entry, *printed)))
    }

    /// Returns the subject with this name.
    pub(super) fn subject(&self, name: &str) -> Option<&Subject> {
        self.subjects.iter().find(|subject| subject.name == name)
    }
}

/// Instructions for getting networks in a build without support for them.
const NO_NETWORKS: &str = "this build does not support neural networks; run cargo xtask-onnx reproduce \
                           l-c-shapley";

/// Number of parameters of the embedded network: 8 feature maps with 9 weights and a bias each, then 128
/// weights and a bias.
const DIGITS_PARAMETERS: usize = 8 * (9 + 1) + 128 + 1;

/// Name of the news dataset with the network in the data directory.
pub(super) const AG_NEWS_BAG: &str = "ag_news_bag";

/// Name of the embedded texts.
pub(super) const SENTENCES: &str = "sentences";

/// Name of the embedded images.
pub(super) const DIGITS: &str = "digits38";

/// A network used in the reproduction, and the network that replaces it if it was not trained.
struct Kind {
    /// Name of the network in the command `cargo xtask train`.
    network: &'static str,
    /// Name of the subject.
    name: &'static str,
    title: &'static str,
    /// Accuracy that the paper prints for its network.
    printed: &'static str,
    /// Names of the subject and of the model for the network in the data directory.
    given: Option<(&'static str, &'static str)>,
    /// Number of test samples in figures with the preset `paper`: 1,000 as in the paper, or as many as can be
    /// explained in an hour.
    explained: usize,
}

/// The text datasets, each with the way its texts are read and the network that classifies them.
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
            explained: 200,
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
            explained: 200,
        },
    ),
];

/// The image datasets, each with the network that classifies them.
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
            explained: 20,
        },
    ),
];

/// Returns the text datasets in the data directory, and the embedded sentences.
pub(super) fn texts(session: &Session) -> Result<AvailableSubjects> {
    let mut found = AvailableSubjects { subjects: Vec::new(), skipped: Vec::new() };
    for (known, reading, kind) in &ON_TEXTS {
        let (input, width) = match *reading {
            Reading::Characters(width) => (Input::Characters, width),
            Reading::Tokens(width) => (Input::Tokens, width),
            Reading::AllTokens => (Input::Tokens, 0),
        };
        let (data, row) = (known.trained_on(input), [width]);
        let outputs = if known.classes.len() == 2 { 1 } else { known.classes.len() };
        let wanted = NetworkRequirements { name: kind.network, data: &data, input, row: &row, outputs };
        let read = || known.read(&session.library);
        if let Some((had, set)) = of_pack(session, &mut found, kind, &wanted, &known.files, read)? {
            // Networks in the data directory expect tokens.
            let reading = if had.trained.is_some() { *reading } else { Reading::Tokens(known.width) };
            found.subjects.push(Subject::of_texts(had, known.title, set, reading, false)?);
        }
    }
    found.subjects.push(embedded_texts()?);
    Ok(found)
}

/// Returns the image datasets in the data directory, and the embedded digits.
pub(super) fn images(session: &Session) -> Result<AvailableSubjects> {
    let mut found = AvailableSubjects { subjects: Vec::new(), skipped: Vec::new() };
    for (known, kind) in &ON_IMAGES {
        let (data, row) = (known.trained_on(), known.row());
        let wanted = NetworkRequirements {
            name: kind.network,
            data: &data,
            input: Input::Pixels,
            row: &row,
            outputs: 1,
        };
        let read = || known.read(&session.library);
        if let Some((had, pack)) = of_pack(session, &mut found, kind, &wanted, &known.files, read)? {
            let PackImages { test, reference } = pack;
            found.subjects.push(Subject::of_images(had, known.title, known.rows.0, test, reference, false)?);
        }
    }
    found.subjects.push(embedded_images()?);
    Ok(found)
}

/// Reads a dataset and its network from the data directory. If either is missing, the dataset is skipped with
/// a message.
fn of_pack<S>(
    session: &Session,
    found: &mut AvailableSubjects,
    kind: &Kind,
    wanted: &NetworkRequirements<'_>,
    files: &Files,
    read: impl FnOnce() -> Result<Option<S>>,
) -> Result<Option<(LoadedNetwork, S)>> {
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

/// A loaded network with its metadata.
struct LoadedNetwork {
    name: &'static str,
    title: &'static str,
    parameters: usize,
    model: AnyModel,
    trained: Option<(Entry, &'static str)>,
    explained: usize,
    /// SHA-256 of the network file, or `None` for embedded models.
    file: Option<String>,
}

/// Returns the network trained by us, or else the network in the data directory, or else `None`. Records a
/// message for each missing network.
fn network(
    session: &Session,
    found: &mut AvailableSubjects,
    kind: &Kind,
    wanted: &NetworkRequirements<'_>,
    files: &Files,
) -> Result<Option<LoadedNetwork>> {
    match session.library.trained(wanted).and_then(|network| loaded(&network, wanted)) {
        Ok((model, entry)) => {
            let (name, title, parameters, file) =
                (kind.name, kind.title, entry.parameters, Some(entry.file.sha256.clone()));
            let (trained, explained) = (Some((entry, kind.printed)), kind.explained);
            return Ok(Some(LoadedNetwork { name, title, parameters, model, trained, explained, file }));
        }
        Err(why) => found.skip(session, kind.network, &why),
    }
    let Some((name, title)) = kind.given else { return Ok(None) };
    let Some(bytes) = files.network(&session.library)? else {
        found.skip(session, name, &files.how_to_get_it());
        return Ok(None);
    };
    let model = networks::network(&bytes).with_context(|| format!("cannot load the network of {name}"))?;
    let (parameters, explained, file) = (bytes.len() / 4, kind.explained, Some(sha256(&bytes)));
    Ok(Some(LoadedNetwork { name, title, parameters, model, trained: None, explained, file }))
}

/// Loads a network trained by us as a model, with its index entry.
fn loaded(network: &Trained, wanted: &NetworkRequirements<'_>) -> Result<(AnyModel, Entry), String> {
    let how = how_to_train(wanted.name);
    let model = networks::network(&network.bytes).map_err(|error| format!("{error:#}: {how}"))?;
    let (features, outputs) = (wanted.row.iter().product::<usize>(), wanted.outputs);
    if (model.features(), model.outputs()) != (Some(features), outputs) {
        return Err(format!("expected a network with {features} inputs and {outputs} outputs: {how}"));
    }
    Ok((model, network.entry.clone()))
}

fn embedded_texts() -> Result<Subject> {
    let set = sentences()?;
    let model = BagOfWords::train(&set)?;
    let parameters = model.weights.len() + 1;
    let had = LoadedNetwork {
        name: SENTENCES,
        title: "bag of words",
        parameters,
        model: Box::new(model),
        trained: None,
        explained: usize::MAX,
        file: None,
    };
    Subject::of_texts(had, "Embedded sentences", set, Reading::AllTokens, true)
}

fn embedded_images() -> Result<Subject> {
    let Digits { train, test } = digits()?;
    let had = LoadedNetwork {
        name: DIGITS,
        title: "small convolutions",
        parameters: DIGITS_PARAMETERS,
        model: Box::new(SmallNetwork::embedded()?),
        trained: None,
        explained: usize::MAX,
        file: None,
    };
    Subject::of_images(had, "Digits 3/8, 8 × 8", train.len(), test, train.mean(), true)
}

impl Subject {
    fn of_texts(
        had: LoadedNetwork,
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
        had: LoadedNetwork,
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
        had: LoadedNetwork,
        title: &'static str,
        trained_on: usize,
        classes: &'static [&'static str],
        inputs: Inputs,
        is_embedded: bool,
    ) -> Result<Self> {
        let LoadedNetwork { name, title: model_title, parameters, model, trained, explained, file } = had;
        let mut subject = Self {
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
            fingerprint: String::new(),
        };
        subject.fingerprint = subject.hash(file)?;
        Ok(subject)
    }

    /// Returns a hash of all test samples and the model. A model in a file is identified by the hash of the
    /// file, since predictions of a large network would take minutes; an embedded model is identified by its
    /// predictions.
    fn hash(&self, file: Option<String>) -> Result<String> {
        let mut bytes = Vec::new();
        for index in 0..self.len() {
            let row = self.row(index)?;
            let outputs = match file {
                Some(_) => Vec::new(),
                None => predict(self.model.as_ref(), &row, 1)?,
            };
            bytes.extend(row.iter().chain(&outputs).flat_map(|number| number.to_bits().to_le_bytes()));
        }
        bytes.extend(file.into_iter().flat_map(String::into_bytes));
        Ok(sha256(&bytes)[..16].to_owned())
    }

    /// Returns a digest of a test sample and its game.
    pub(super) fn played(&self, index: usize) -> Result<Digest> {
        let sample = self.sample(index)?;
        let game = Digest::of_game(&sample.game(self.model.as_ref())?)?;
        let explicand = Digest::from_numbers(sample.masked.explicand().iter().copied());
        Ok(Digest::joined([&game, &explicand]))
    }

    /// Returns a panel title: the dataset, the model and the number of samples.
    pub(super) fn heading(&self, samples: usize) -> String {
        let our = if self.trained.is_some() { "our " } else { "" };
        format!("{}, {our}{} ({samples})", self.title, self.model_title)
    }

    /// Returns the number of test samples.
    pub(super) fn len(&self) -> usize {
        match &self.inputs {
            Inputs::Texts { sentences, .. } => sentences.len(),
            Inputs::Images { set, .. } => set.len(),
        }
    }

    /// Returns whether explaining a single sample takes seconds.
    pub(super) fn is_dear(&self) -> bool {
        self.is_image() && !self.is_embedded
    }

    pub(super) fn is_image(&self) -> bool {
        matches!(self.inputs, Inputs::Images { .. })
    }

    /// Returns the number of values per pixel; 1 for texts.
    pub(super) fn channels(&self) -> usize {
        match &self.inputs {
            Inputs::Texts { .. } => 1,
            Inputs::Images { set, .. } => set.channels,
        }
    }

    /// Returns the value of absent pixels, or `None` for texts.
    pub(super) fn reference(&self) -> Option<f64> {
        match self.inputs {
            Inputs::Texts { .. } => None,
            Inputs::Images { reference, .. } => Some(reference),
        }
    }

    /// Returns the true class of a test sample.
    pub(super) fn target(&self, index: usize) -> usize {
        match &self.inputs {
            Inputs::Texts { sentences, .. } => sentences[index].target,
            Inputs::Images { set, .. } => set.targets[index],
        }
    }

    /// Returns the predicted class of a test sample.
    pub(super) fn class(&self, index: usize) -> Result<usize> {
        let outputs = predict(self.model.as_ref(), &self.row(index)?, 1)?;
        Ok(Outputs::Logits.predicted_class(&outputs)?)
    }

    /// Returns the share of correctly predicted test samples.
    pub(super) fn accuracy(&self) -> Result<f64> {
        let indices: Vec<usize> = (0..self.len()).collect();
        let is_right = |&index: &usize| Ok::<_, anyhow::Error>(self.class(index)? == self.target(index));
        let right = parallel::try_map(&indices, is_right)?.into_iter().filter(|&right| right).count();
        Ok(right as f64 / self.len() as f64)
    }

    /// Returns the mean number of tokens of the test samples, or `None` for images.
    pub(super) fn mean_tokens(&self) -> Option<f64> {
        match &self.inputs {
            Inputs::Texts { sentences, .. } => {
                let tokens: usize = sentences.iter().map(|sentence| sentence.tokens.len()).sum();
                Some(tokens as f64 / sentences.len() as f64)
            }
            Inputs::Images { .. } => None,
        }
    }

    /// Returns the indices of the test samples used in figures, spread evenly over all test samples.
    ///
    /// The preset `paper` uses a thousand samples, as in the paper, or fewer if that would take hours. The
    /// preset `quick` uses fewer if evaluations are expensive: for 30 runs, 30 texts and 12 images of the
    /// data directory, and up to 100 embedded samples. An explicit number of runs is used as the number of
    /// texts and images of the data directory.
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

    /// Returns the input row of the model for a test sample.
    fn row(&self, index: usize) -> Result<Vec<f64>> {
        match &self.inputs {
            Inputs::Images { set, .. } => Ok(set.image(index).to_vec()),
            Inputs::Texts { sentences, .. } => {
                let (_, masked) = self.text(&sentences[index].tokens, &sentences[index].ids)?;
                Ok(masked.explicand().to_vec())
            }
        }
    }

    /// Returns a text truncated to the width of the model, and its words as players.
    fn text(&self, tokens: &[String], ids: &[usize]) -> Result<(Text, Masked)> {
        let text = Text::from_tokens(tokens, ids)?;
        let Inputs::Texts { reading, .. } = self.inputs else {
            anyhow::bail!("{} is a dataset of images, expected texts", self.name)
        };
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

    /// Returns the test sample with this index.
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

    /// Returns the sentence of Table 2 with the tokens and the vocabulary of this dataset, or `None` for
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

/// Returns the predictions of a model for `count` rows.
pub(super) fn predict(model: &dyn Model, rows: &[f64], count: usize) -> Result<Vec<f64>> {
    let mut outputs = vec![0.0; count * model.outputs()];
    model
        .predict(Rows::new(rows, rows.len() / count), &mut outputs)
        .map_err(|error| anyhow::anyhow!("cannot evaluate the model: {error}"))?;
    Ok(outputs)
}
