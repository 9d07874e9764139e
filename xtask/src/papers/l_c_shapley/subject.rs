//! What is explained: the test samples of a data set, and the model that tells their classes apart.

use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::games::{Adjacency, Graph};
use apportion::media::{
    ChannelOrder, Image, Layout, Masked, Outputs, PixelScale, Reference, Score, ScoredGame, Segmentation,
    Text,
};
use apportion::{Game, Model, Rows};

use super::data::bag_of_words::BagOfWords;
use super::data::digits::digits;
use super::data::image_set::ImageSet;
use super::data::network::SmallNetwork;
use super::data::pack::{AG_NEWS, CIFAR_DEER_HORSE, KnownImages, KnownTexts, MNIST38, RT_POLARITY};
use super::data::sentences::{TABLE_2, sentences, tokens};
use super::data::text_set::{PADDING, Sentence, TextSet};
use super::networks;
use crate::reproduce::cli::Preset;
use crate::reproduce::ingredients::Digest;
use crate::reproduce::session::Session;
use crate::reproduce::store::sha256;

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
    /// Numbers that were learnt, or, of a network in a file, an upper bound by the size of the file.
    pub(super) parameters: usize,
    /// Samples that the model was trained on.
    pub(super) trained_on: usize,
    pub(super) classes: &'static [&'static str],
    pub(super) model: AnyModel,
    /// Whether it is embedded in this program.
    is_embedded: bool,
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
        /// Token ids that the model takes, where it does not take any number of them.
        width: Option<usize>,
        /// The id of a token.
        id: Box<dyn Fn(&str) -> usize + Send + Sync>,
    },
    Images {
        set: ImageSet,
        /// What stands in for absent pixels.
        reference: f64,
    },
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
    /// Appends a subject, or says why it is not there.
    fn push(&mut self, session: &Session, name: &str, subject: Result<Subject, String>) {
        match subject {
            Ok(subject) => self.subjects.push(subject),
            Err(how) => {
                let line = format!("{name}: skipped; {how}");
                session.say_once(&line);
                self.skipped.push(line);
            }
        }
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

/// The name of the embedded texts.
pub(super) const SENTENCES: &str = "sentences";

/// The name of the embedded images.
pub(super) const DIGITS: &str = "digits38";

/// The texts: those of the data directory, and the embedded ones.
pub(super) fn texts(session: &Session) -> Result<Found> {
    let mut found = Found { subjects: Vec::new(), skipped: Vec::new() };
    let models = [(&RT_POLARITY, "word convolution"), (&AG_NEWS, "mean of embeddings")];
    for (known, model_title) in models {
        let subject = texts_of_pack(session, known, model_title)?;
        found.push(session, known.name, subject);
    }
    found.subjects.push(embedded_texts()?);
    Ok(found)
}

/// The images: those of the data directory, and the embedded ones.
pub(super) fn images(session: &Session) -> Result<Found> {
    let mut found = Found { subjects: Vec::new(), skipped: Vec::new() };
    for known in [&MNIST38, &CIFAR_DEER_HORSE] {
        let subject = images_of_pack(session, known)?;
        found.push(session, known.name, subject);
    }
    found.subjects.push(embedded_images()?);
    Ok(found)
}

fn texts_of_pack(
    session: &Session,
    known: &'static KnownTexts,
    model_title: &'static str,
) -> Result<Result<Subject, String>> {
    if !networks::CAN_READ {
        return Ok(Err(NO_NETWORKS.to_owned()));
    }
    let Some(pack) = known.read(&session.library)? else { return Ok(Err(known.how_to_get_it())) };
    let parameters = pack.model.len() / 4;
    let model = networks::network(&pack.model).with_context(|| format!("the network of {}", known.name))?;
    Subject::of_texts(known.name, known.title, model_title, parameters, model, pack.set, Some(known.width))
        .map(Ok)
}

fn images_of_pack(session: &Session, known: &'static KnownImages) -> Result<Result<Subject, String>> {
    if !networks::CAN_READ {
        return Ok(Err(NO_NETWORKS.to_owned()));
    }
    let Some(pack) = known.read(&session.library)? else { return Ok(Err(known.how_to_get_it())) };
    let model = networks::network(&pack.model).with_context(|| format!("the network of {}", known.name))?;
    Subject {
        name: known.name,
        title: known.title,
        model_title: "convolutions",
        parameters: pack.model.len() / 4,
        trained_on: known.rows.0,
        classes: pack.test.classes,
        model,
        is_embedded: false,
        inputs: Inputs::Images { set: pack.test, reference: pack.reference },
        outputs: Vec::new(),
        fingerprint: String::new(),
    }
    .with_outputs()
    .map(Ok)
}

fn embedded_texts() -> Result<Subject> {
    let set = sentences()?;
    let model = BagOfWords::train(&set)?;
    let parameters = model.weights.len() + 1;
    let model: AnyModel = Box::new(model);
    let mut subject =
        Subject::of_texts(SENTENCES, "Embedded sentences", "bag of words", parameters, model, set, None)?;
    subject.is_embedded = true;
    Ok(subject)
}

fn embedded_images() -> Result<Subject> {
    let digits = digits()?;
    Subject {
        name: DIGITS,
        title: "Digits 3/8, 8 × 8",
        model_title: "small convolutions",
        parameters: DIGITS_PARAMETERS,
        trained_on: digits.train.len(),
        classes: digits.test.classes,
        model: Box::new(SmallNetwork::embedded()?),
        is_embedded: true,
        inputs: Inputs::Images { reference: digits.train.mean(), set: digits.test },
        outputs: Vec::new(),
        fingerprint: String::new(),
    }
    .with_outputs()
}

impl Subject {
    fn of_texts(
        name: &'static str,
        title: &'static str,
        model_title: &'static str,
        parameters: usize,
        model: AnyModel,
        set: TextSet,
        width: Option<usize>,
    ) -> Result<Self> {
        let (trained_on, classes) = (set.train().count(), set.classes);
        let sentences = set.test().cloned().collect();
        let id = Box::new(move |token: &str| set.id(token));
        let (outputs, fingerprint) = (Vec::new(), String::new());
        let inputs = Inputs::Texts { sentences, width, id };
        Self {
            name,
            title,
            model_title,
            parameters,
            trained_on,
            classes,
            model,
            is_embedded: false,
            inputs,
            outputs,
            fingerprint,
        }
        .with_outputs()
    }

    /// Asks the model about every test sample.
    fn with_outputs(mut self) -> Result<Self> {
        let mut bytes = Vec::new();
        for index in 0..self.len() {
            let row = self.row(index)?;
            let outputs = predict(self.model.as_ref(), &row, 1)?;
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
    /// The preset quick takes fewer where evaluations are dear: for 30 runs 30 texts and 12 images of the data directory, and up to 100
    /// embedded samples.
    pub(super) fn chosen(&self, session: &Session) -> Vec<usize> {
        let runs = session.runs;
        let wanted = match session.preset {
            Preset::Paper => runs,
            Preset::Quick if self.is_embedded => (10 * runs).div_ceil(3),
            Preset::Quick if self.is_image() => (2 * runs).div_ceil(5),
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
                let text = self.text(&sentences[index].tokens, &sentences[index].ids)?;
                Ok(self.masked_text(&text)?.explicand().to_vec())
            }
        }
    }

    /// A text as the model sees it: what is beyond its width is cut off.
    fn text(&self, tokens: &[String], ids: &[usize]) -> Result<Text> {
        let text = Text::from_tokens(tokens, ids)?;
        Ok(match self.inputs {
            Inputs::Texts { width: Some(width), .. } => text.truncated(width),
            _ => text,
        })
    }

    fn masked_text(&self, text: &Text) -> Result<Masked> {
        let width = match self.inputs {
            Inputs::Texts { width: Some(width), .. } => width,
            _ => text.tokens().len(),
        };
        Ok(text.masked(width, PADDING)?)
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

    /// The sentence of Table 2, in the words and with the vocabulary of this data set; none where these are images.
    pub(super) fn table_2(&self) -> Option<Result<Sample>> {
        let Inputs::Texts { id, .. } = &self.inputs else { return None };
        let tokens = tokens(TABLE_2);
        let ids: Vec<usize> = tokens.iter().map(|token| id(token)).collect();
        Some(self.text(&tokens, &ids).and_then(|text| self.sample_of_text(text)))
    }

    fn sample_of_text(&self, text: Text) -> Result<Sample> {
        let masked = self.masked_text(&text)?;
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
