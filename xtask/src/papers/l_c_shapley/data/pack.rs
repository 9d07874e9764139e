//! Texts and images of the data directory, and the networks that lie there.

use anyhow::{Context, Result, ensure};

use super::image_set::ImageSet;
use super::text_set::{Sentence, TextSet, class, is_test};
use crate::reproduce::datasets::Library;
use crate::reproduce::source::{Source, how_to_get};
use crate::reproduce::trained::Input;

/// Two files of data, and the network that lies beside them.
pub(crate) struct Files {
    data: [Source; 2],
    model: Source,
}

/// Of names and hashes.
const fn files([one, other, model]: [[&'static str; 2]; 3]) -> Files {
    const fn source([file, sha256]: [&'static str; 2]) -> Source {
        Source { file, sha256 }
    }
    Files { data: [source(one), source(other)], model: source(model) }
}

impl Files {
    /// The data, or none if one of the two files is not there.
    ///
    /// # Errors
    ///
    /// If a file is there but is not the one known.
    fn read(&self, library: &Library) -> Result<Option<[Vec<u8>; 2]>> {
        let [one, other] = [library.find(&self.data[0])?, library.find(&self.data[1])?];
        Ok(one.zip(other).map(|(one, other)| [one, other]))
    }

    /// The network that lies in the data directory, an ONNX file; or none.
    ///
    /// # Errors
    ///
    /// If the file is there but is not the one known.
    pub(crate) fn network(&self, library: &Library) -> Result<Option<Vec<u8>>> {
        library.find(&self.model)
    }

    /// The line for those who lack it.
    pub(crate) fn how_to_get_it(&self) -> String {
        how_to_get(&[&self.data[0], &self.data[1], &self.model])
    }
}

/// Texts that the harness knows.
pub(crate) struct KnownTexts {
    /// The name that figures and tables show.
    pub(crate) title: &'static str,
    /// Texts, and those of them in the training part.
    rows: (usize, usize),
    /// Tokens of the vocabulary.
    vocabulary_size: usize,
    /// Token ids that the network takes: longer texts are cut off, shorter ones padded.
    pub(crate) width: usize,
    pub(crate) classes: &'static [&'static str],
    tokens: fn(&str) -> Vec<String>,
    /// The texts and the vocabulary, and a network.
    pub(crate) files: Files,
}

/// Sentences of film reviews (Pang and Lee, 2005), and a network with one convolution.
pub(crate) static RT_POLARITY: KnownTexts = KnownTexts {
    title: "Movie reviews",
    rows: (10_662, 9_600),
    vocabulary_size: 5_000,
    width: 48,
    classes: &["negative", "positive"],
    tokens: between_blanks,
    files: files([
        ["rt_polarity.csv", "ffe4b3805952dbf0365beb453caaa81cdb1f88ca8eeb28d4e0e5684c25edb3d8"],
        ["rt_polarity_vocab.txt", "fcb2f36fa3fa542968a101c249fe8c391123be16637a2abe45a1a0ee3fcc431d"],
        ["rt_polarity_conv.onnx", "2a8e9676e02aed1fa88a3d486f093211a71728777f7dec69879a0f928a15dd1d"],
    ]),
};

/// News in four classes (Zhang, Zhao and LeCun, 2015), and a network on the mean of the words.
pub(crate) static AG_NEWS: KnownTexts = KnownTexts {
    title: "AG news",
    rows: (7_600, 6_000),
    vocabulary_size: 5_000,
    width: 64,
    classes: &["World", "Sports", "Business", "Sci/Tech"],
    tokens: runs_of_letters_and_digits,
    files: files([
        ["ag_news.csv", "e806f43cc784c0c001a84643c9e495f25fbfaf93df5051d58998c45cbb44b4b2"],
        ["ag_news_vocab.txt", "3100247e42ad447183a54010fe5f85e0267d040f7c8a368648df93c689d3dbd2"],
        ["ag_news_bag.onnx", "50530b99b92f121ad4e3dac0ec0d7bb5b2a8a289bd2f370331faf1aff3205ff6"],
    ]),
};

/// Images that the harness knows.
pub(crate) struct KnownImages {
    /// The name that figures and tables show.
    pub(crate) title: &'static str,
    /// Images of the training part, and of the test part.
    pub(crate) rows: (usize, usize),
    /// Channels, and pixels of a side.
    shape: (usize, usize),
    classes: &'static [&'static str],
    /// The training part and the test part, and a network.
    pub(crate) files: Files,
}

/// The digits 3 and 8 (LeCun, Cortes and Burges), and a convolutional network.
pub(crate) static MNIST38: KnownImages = KnownImages {
    title: "MNIST 3/8",
    rows: (2_000, 500),
    shape: (1, 28),
    classes: &["3", "8"],
    files: files([
        ["mnist38_train.csv", "a470cac74d8edf120ab7835384eec4739250474817fb048df30cd2eff065f820"],
        ["mnist38_test.csv", "a3a3ca5afdadda2c2293bd5f6c6eac0b4d03ffb56566a8958255550d51013bbf"],
        ["mnist38_cnn.onnx", "358fedb82dc98b2b3b1d90a5529e561fc936a8f0e8f12fa456b37e9a1dbcdbd7"],
    ]),
};

/// Photographs of deer and horses (Krizhevsky, 2009), and a convolutional network.
pub(crate) static CIFAR_DEER_HORSE: KnownImages = KnownImages {
    title: "CIFAR-10 deer/horse",
    rows: (600, 200),
    shape: (3, 32),
    classes: &["deer", "horse"],
    files: files([
        ["cifar_deer_horse_train.csv", "7bf5e62277dcc328efe9852e9300843f03eec34a1b1cdf393113b1e6af05bef0"],
        ["cifar_deer_horse_test.csv", "5cc1296bca6ac4e8684c925c9e011d68631d6b60276625161190dacafff054c2"],
        ["cifar_cnn.onnx", "657c66803f56d12db4d61c801a418fa55e5cf6517ac6865044189206f1a1fe40"],
    ]),
};

/// Images in memory.
pub(crate) struct PackImages {
    /// Images that the network has not seen.
    pub(crate) test: ImageSet,
    /// What stands in for absent pixels: the mean of all pixels of the training part.
    pub(crate) reference: f64,
}

impl KnownTexts {
    /// The texts, or none if one of their files is not there.
    ///
    /// # Errors
    ///
    /// If a file is there but is not the one known.
    pub(crate) fn read(&self, library: &Library) -> Result<Option<TextSet>> {
        let Some([data, vocabulary]) = self.files.read(library)? else { return Ok(None) };
        let set = self.parse(&data, &vocabulary);
        set.with_context(|| format!("cannot read {}", self.files.data[0].file)).map(Some)
    }

    /// What a network has to be trained on: the texts, and the vocabulary if it takes tokens.
    pub(crate) fn trained_on(&self, input: Input) -> Vec<&Source> {
        self.files.data.iter().take(if input == Input::Tokens { 2 } else { 1 }).collect()
    }

    fn parse(&self, data: &[u8], vocabulary: &[u8]) -> Result<TextSet> {
        let vocabulary: Vec<String> = std::str::from_utf8(vocabulary)?.lines().map(str::to_owned).collect();
        ensure!(
            vocabulary.len() == self.vocabulary_size,
            "the vocabulary has {} tokens, not {}",
            vocabulary.len(),
            self.vocabulary_size
        );
        let mut sentences = Vec::with_capacity(self.rows.0);
        for record in csv::Reader::from_reader(data).records() {
            let record = record?;
            ensure!(record.len() == 4, "a row has {} columns, not 4", record.len());
            let id = |cell: &str| cell.parse::<usize>().with_context(|| format!("{cell:?} is no token id"));
            sentences.push(Sentence {
                text: record[1].to_owned(),
                tokens: (self.tokens)(&record[1]),
                ids: record[2].split_ascii_whitespace().map(id).collect::<Result<_>>()?,
                target: class(&record[3])?,
                is_test: is_test(&record[0])?,
            });
        }
        let set = TextSet { vocabulary, sentences, classes: self.classes }.checked()?;
        let rows = (set.sentences.len(), set.train().count());
        ensure!(rows == self.rows, "there are {} texts, {} of them to train on", rows.0, rows.1);
        Ok(set)
    }
}

impl KnownImages {
    /// The images, or none if one of their files is not there.
    ///
    /// # Errors
    ///
    /// If a file is there but is not the one known.
    pub(crate) fn read(&self, library: &Library) -> Result<Option<PackImages>> {
        let Some([train, test]) = self.files.read(library)? else { return Ok(None) };
        let read = |bytes: &[u8], rows: usize, part: usize| {
            ImageSet::read(bytes, rows, self.shape, 255.0, self.classes)
                .with_context(|| format!("cannot read {}", self.files.data[part].file))
        };
        let reference = read(&train, self.rows.0, 0)?.mean();
        Ok(Some(PackImages { test: read(&test, self.rows.1, 1)?, reference }))
    }

    /// What a network has to be trained on and tested.
    pub(crate) fn trained_on(&self) -> [&Source; 2] {
        self.files.data.each_ref()
    }

    /// The shape of an image: channels, rows, columns.
    pub(crate) fn row(&self) -> [usize; 3] {
        let (channels, side) = self.shape;
        [channels, side, side]
    }
}

/// Tokens as the source of the reviews separates them.
fn between_blanks(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Runs of `a` to `z` and digits of the lower-cased text.
fn runs_of_letters_and_digits(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|character: char| !character.is_ascii_lowercase() && !character.is_ascii_digit())
        .filter(|run| !run.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The data directory of this machine, if there is one; what is not in it is not tested.
    fn library() -> Library {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Library::new(None, &workspace).unwrap()
    }

    #[test]
    fn texts_are_as_many_as_known_and_ids_are_those_of_their_tokens() {
        for known in [&RT_POLARITY, &AG_NEWS] {
            let Some(set) = known.read(&library()).unwrap() else { continue };
            assert_eq!(set.sentences.len(), known.rows.0);
            let positions: std::collections::HashMap<&str, usize> =
                set.vocabulary.iter().enumerate().map(|(id, token)| (token.as_str(), id)).collect();
            for sentence in &set.sentences {
                for (token, &id) in sentence.tokens.iter().zip(&sentence.ids) {
                    assert_eq!(positions.get(token.as_str()).copied().unwrap_or(1), id, "{token}");
                }
            }
            for class in 0..known.classes.len() {
                let share = set.test().filter(|sentence| sentence.target == class).count() as f64
                    / set.test().count() as f64;
                assert!((share * known.classes.len() as f64 - 1.0).abs() < 0.15, "{}: {share}", known.title);
            }
        }
    }

    #[test]
    fn reference_pixels_are_the_means_of_the_training_parts() {
        // Those of truth/mnist38_cnn.json and truth/cifar_cnn.json, which were computed by other means.
        for (known, reference) in
            [(&MNIST38, 0.146_146_204_765_886_36), (&CIFAR_DEER_HORSE, 0.453_443_834_224_601_16)]
        {
            let Some(images) = known.read(&library()).unwrap() else { continue };
            assert!((images.reference - reference).abs() < 1e-14, "{}", images.reference);
            assert_eq!(images.test.len(), known.rows.1);
            assert_eq!(images.test.columns(), known.shape.0 * known.shape.1 * known.shape.1);
            assert_eq!(2 * images.test.targets.iter().sum::<usize>(), known.rows.1);
            assert!((images.test.mean() - images.reference).abs() > 1e-3, "not the mean of the test part");
        }
    }

    #[test]
    fn what_is_missing_is_none_and_says_how_to_get_it() {
        let empty = tempfile::tempdir().unwrap();
        let library = Library::new(Some(empty.path()), empty.path()).unwrap();
        assert!(RT_POLARITY.read(&library).unwrap().is_none());
        assert!(CIFAR_DEER_HORSE.read(&library).unwrap().is_none());
        assert_eq!(
            AG_NEWS.files.how_to_get_it(),
            "not embedded: put ag_news.csv (SHA-256 e806f43cc784…), ag_news_vocab.txt (SHA-256 3100247e42ad…) and ag_news_bag.onnx \
             (SHA-256 50530b99b92f…) into a folder and name it with --data or APPORTION_DATA"
        );
        assert!(MNIST38.files.how_to_get_it().contains("mnist38_train.csv"));
    }

    #[test]
    fn another_file_under_a_known_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rt_polarity_vocab.txt"), "<pad>\n<unk>\n").unwrap();
        let library = Library::new(Some(folder.path()), folder.path()).unwrap();
        let message = RT_POLARITY.read(&library).err().unwrap().to_string();
        assert!(message.contains("rt_polarity_vocab.txt"), "{message}");
    }

    #[test]
    fn texts_of_other_shapes_are_refused() {
        let vocabulary = vec!["x"; 4_998].join("\n");
        let vocabulary = format!("<pad>\n<unk>\n{vocabulary}");
        let error = |rows: &str, vocabulary: &str| {
            let data = format!("split,text,ids,target\n{rows}\n");
            format!("{:#}", RT_POLARITY.parse(data.as_bytes(), vocabulary.as_bytes()).unwrap_err())
        };
        assert!(error("train,a b,2 3,1", "<pad>\n<unk>").contains("2 tokens, not 5000"));
        assert!(error("train,a b,2,1", &vocabulary).contains("2 tokens, but 1 ids"));
        assert!(error("train,a b,2 5000,1", &vocabulary).contains("beyond the vocabulary"));
        assert!(error("train,a b,2 x,1", &vocabulary).contains("no token id"));
        assert!(error("train,a b,2 3,2", &vocabulary).contains("class 2"));
        assert!(error("dev,a b,2 3,1", &vocabulary).contains("neither train nor test"));
        assert!(error("train,a b,2 3,1", &vocabulary).contains("there are 1 texts"));
    }

    #[test]
    fn news_are_cut_at_all_that_is_no_letter_or_digit() {
        assert_eq!(
            runs_of_letters_and_digits("Monday #39;s U.S.-backed É2"),
            ["monday", "39", "s", "u", "s", "backed", "2"]
        );
        assert_eq!(between_blanks("it's fun , isn't"), ["it's", "fun", ",", "isn't"]);
    }
}
