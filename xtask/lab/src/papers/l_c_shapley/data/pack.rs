//! Text and image datasets in the data directory, and the networks stored with them.

use anyhow::{Context, Result, ensure};

use super::image_set::ImageSet;
use super::text_set::{Sentence, TextSet, class, is_test};
use super::vocabulary::{ids, vocabulary, words};
use crate::reproduce::datasets::{Library, unpack};
use crate::reproduce::source::{Source, how_to_get};
use crate::reproduce::trained::Input;

/// Data files, and an optional network next to them.
pub(crate) struct Files {
    data: &'static [Source],
    model: Option<Source>,
}

impl Files {
    /// Reads the data, or returns `None` if one of the files does not exist.
    ///
    /// # Errors
    ///
    /// If a file exists but has a different hash.
    fn read(&self, library: &Library) -> Result<Option<Vec<Vec<u8>>>> {
        self.data.iter().map(|source| library.find(source)).collect()
    }

    /// Reads the ONNX network in the data directory, if it exists.
    ///
    /// # Errors
    ///
    /// If the file exists but has a different hash.
    pub(crate) fn network(&self, library: &Library) -> Result<Option<Vec<u8>>> {
        self.model.as_ref().map_or(Ok(None), |model| library.find(model))
    }

    /// Returns instructions for getting the files.
    pub(crate) fn how_to_get_it(&self) -> String {
        how_to_get(&self.data.iter().chain(&self.model).collect::<Vec<_>>())
    }
}

/// A known text dataset.
pub(crate) struct KnownTexts {
    /// Name of the dataset in figures and tables.
    pub(crate) title: &'static str,
    /// Number of texts in total, and in the training part.
    rows: (usize, usize),
    /// Number of tokens in the vocabulary.
    vocabulary_size: usize,
    /// Number of token IDs in the input of the network. Longer film reviews lose their start, as in the
    /// authors' code, and longer news lose their end. Shorter texts are padded.
    pub(crate) width: usize,
    pub(crate) classes: &'static [&'static str],
    ids: Ids,
    /// Files of the texts and the vocabulary, and a network.
    pub(crate) files: Files,
}

/// The origin of the token IDs of a dataset.
enum Ids {
    /// The IDs are in the file, and another file contains the vocabulary. The function splits texts into
    /// tokens.
    Given(fn(&str) -> Vec<String>),
    /// Tokens are [`words`]; long texts are truncated to their last words. The vocabulary consists of the
    /// most frequent words of the training part.
    Frequent,
}

/// Film reviews (Maas et al., 2011).
pub(crate) static IMDB: KnownTexts = KnownTexts {
    title: "IMDB reviews",
    rows: (50_000, 25_000),
    vocabulary_size: 5_000,
    width: 400,
    classes: &["negative", "positive"],
    ids: Ids::Frequent,
    files: Files {
        data: &[Source {
            file: "imdb.csv",
            sha256: "582a71885bcf55a0f887a012b95de74279397f8514cd55e632e80a9c1994f867",
        }],
        model: None,
    },
};

/// News in four classes (Zhang, Zhao and LeCun, 2015), and a network whose input is the mean of the word
/// embeddings.
pub(crate) static AG_NEWS: KnownTexts = KnownTexts {
    title: "AG news",
    rows: (7_600, 6_000),
    vocabulary_size: 5_000,
    width: 64,
    classes: &["World", "Sports", "Business", "Sci/Tech"],
    ids: Ids::Given(runs_of_letters_and_digits),
    files: Files {
        data: &[
            Source {
                file: "ag_news.csv",
                sha256: "e806f43cc784c0c001a84643c9e495f25fbfaf93df5051d58998c45cbb44b4b2",
            },
            Source {
                file: "ag_news_vocab.txt",
                sha256: "3100247e42ad447183a54010fe5f85e0267d040f7c8a368648df93c689d3dbd2",
            },
        ],
        model: Some(Source {
            file: "ag_news_bag.onnx",
            sha256: "50530b99b92f121ad4e3dac0ec0d7bb5b2a8a289bd2f370331faf1aff3205ff6",
        }),
    },
};

/// A known image dataset.
pub(crate) struct KnownImages {
    /// Name of the dataset in figures and tables.
    pub(crate) title: &'static str,
    /// Number of images in the training part and in the test part.
    pub(crate) rows: (usize, usize),
    /// Number of channels, and side length in pixels.
    shape: (usize, usize),
    classes: &'static [&'static str],
    /// Value of absent pixels: the mean of all pixels of the training part.
    reference: f64,
    /// Files of the training part and the test part.
    pub(crate) files: Files,
    /// The gzipped test part, if embedded.
    packed: Option<&'static [u8]>,
}

/// The digits 3 and 8 (LeCun, Cortes and Burges).
pub(crate) static MNIST38: KnownImages = KnownImages {
    title: "MNIST 3/8",
    rows: (11_982, 1_984),
    shape: (1, 28),
    classes: &["3", "8"],
    reference: 0.14574227791321803,
    files: Files {
        data: &[
            Source {
                file: "mnist38_full_train.npy",
                sha256: "07465dad525492f6d2aaf6f9edfbf8d783edee6200071d2837447276ca1f77be",
            },
            Source {
                file: "mnist38_full_test.npy",
                sha256: "80fb769154f94cffa784cdb64200ad65ccfbd3236edfde1b7fd6aac7d0a9c3c5",
            },
        ],
        model: None,
    },
    packed: Some(include_bytes!("../../../../data/mnist38_full_test.npy.gz")),
};

/// Photographs of deer and horses (Krizhevsky, 2009).
pub(crate) static CIFAR_DEER_HORSE: KnownImages = KnownImages {
    title: "CIFAR-10 deer/horse",
    rows: (10_000, 2_000),
    shape: (3, 32),
    classes: &["deer", "horse"],
    reference: 0.45224965769777326,
    files: Files {
        data: &[
            Source {
                file: "cifar_deer_horse_full_train.npy",
                sha256: "af804338ebf111f76ef168a23f624a53e592f9ec8393b802ea1df6cad76f188a",
            },
            Source {
                file: "cifar_deer_horse_full_test.npy",
                sha256: "db714e96eb87057206fe6de1c1e7678ffd1896d1fc4c72f49cc7936d67a9184d",
            },
        ],
        model: None,
    },
    packed: None,
};

/// The images of a dataset, in memory.
pub(crate) struct PackImages {
    /// Images that the network was not trained on.
    pub(crate) test: ImageSet,
    /// Value of absent pixels.
    pub(crate) reference: f64,
}

impl KnownTexts {
    /// Reads the texts, or returns `None` if one of their files does not exist.
    ///
    /// # Errors
    ///
    /// If a file exists but has a different hash.
    pub(crate) fn read(&self, library: &Library) -> Result<Option<TextSet>> {
        let Some(files) = self.files.read(library)? else { return Ok(None) };
        let set = self.parse(&files[0], files.get(1).map_or(&[], Vec::as_slice));
        set.with_context(|| format!("cannot read {}", self.files.data[0].file)).map(Some)
    }

    /// Returns the files that a network must have been trained on: the texts, and the vocabulary if its input
    /// is tokens.
    pub(crate) fn trained_on(&self, input: Input) -> Vec<&Source> {
        self.files.data.iter().take(if input == Input::Tokens { 2 } else { 1 }).collect()
    }

    fn parse(&self, data: &[u8], vocabulary: &[u8]) -> Result<TextSet> {
        let records = csv::Reader::from_reader(data).into_records().collect::<Result<Vec<_>, _>>()?;
        let columns = if matches!(self.ids, Ids::Given(_)) { 4 } else { 3 };
        let mut sentences = Vec::with_capacity(self.rows.0);
        for record in records {
            ensure!(
                record.len() == columns,
                "wrong number of columns in a row: {}, expected {columns}",
                record.len()
            );
            let id =
                |cell: &str| cell.parse::<usize>().with_context(|| format!("{cell:?} is not a token ID"));
            let (tokens, ids) = match self.ids {
                Ids::Frequent => (words(&record[1]), Vec::new()),
                Ids::Given(tokens) => {
                    (tokens(&record[1]), record[2].split_ascii_whitespace().map(id).collect::<Result<_>>()?)
                }
            };
            sentences.push(Sentence {
                text: record[1].to_owned(),
                tokens,
                ids,
                target: class(&record[columns - 1])?,
                is_test: is_test(&record[0])?,
            });
        }
        let vocabulary: Vec<String> = match self.ids {
            Ids::Given(_) => std::str::from_utf8(vocabulary)?.lines().map(str::to_owned).collect(),
            Ids::Frequent => {
                let train = sentences.iter().filter(|sentence| !sentence.is_test);
                let known =
                    self::vocabulary(train.map(|sentence| &sentence.tokens[..]), self.vocabulary_size);
                {
                    let ids = ids(&known);
                    for sentence in &mut sentences {
                        sentence.tokens.drain(..sentence.tokens.len().saturating_sub(self.width));
                        sentence.ids = ids(&sentence.tokens);
                    }
                }
                known
            }
        };
        ensure!(
            vocabulary.len() == self.vocabulary_size,
            "the vocabulary has {} tokens, expected {}",
            vocabulary.len(),
            self.vocabulary_size
        );
        let set = TextSet { vocabulary, sentences, classes: self.classes }.checked()?;
        let rows = (set.sentences.len(), set.train().count());
        ensure!(
            rows == self.rows,
            "found {} texts ({} for training), expected {} ({} for training)",
            rows.0,
            rows.1,
            self.rows.0,
            self.rows.1
        );
        Ok(set)
    }
}

impl KnownImages {
    /// Reads the test part, or returns `None` if it is neither embedded nor in the data directory.
    ///
    /// # Errors
    ///
    /// If a file exists but has a different hash.
    pub(crate) fn read(&self, library: &Library) -> Result<Option<PackImages>> {
        let [_, source] = self.trained_on();
        let test = match self.packed {
            Some(packed) => Some(unpack(packed)?),
            None => library.find(source)?,
        };
        let Some(test) = test else { return Ok(None) };
        let test = self.parse(&test, self.rows.1).with_context(|| format!("cannot read {}", source.file))?;
        Ok(Some(PackImages { test, reference: self.reference }))
    }

    fn parse(&self, bytes: &[u8], rows: usize) -> Result<ImageSet> {
        ImageSet::from_bytes(bytes, rows, self.shape, self.classes)
    }

    /// Returns the files that a network must have been trained and tested on.
    pub(crate) fn trained_on(&self) -> [&Source; 2] {
        [&self.files.data[0], &self.files.data[1]]
    }

    /// Returns the shape of an image: channels, rows, columns.
    pub(crate) fn row(&self) -> [usize; 3] {
        let (channels, side) = self.shape;
        [channels, side, side]
    }
}

/// Splits the lower-cased text into runs of `a` to `z` and digits.
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

    /// Returns the data directory of this machine. Tests skip data that does not exist.
    fn library() -> Library {
        let workspace = xtask::workspace();
        Library::new(None, &workspace).unwrap()
    }

    #[test]
    fn texts_are_as_many_as_known_and_ids_are_those_of_their_tokens() {
        for known in [&IMDB, &AG_NEWS] {
            let Some(set) = known.read(&library()).unwrap() else { continue };
            assert_eq!(set.sentences.len(), known.rows.0);
            let positions: std::collections::HashMap<&str, usize> =
                set.vocabulary.iter().enumerate().map(|(id, token)| (token.as_str(), id)).collect();
            for sentence in set.sentences.iter().step_by(7) {
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
        for known in [&MNIST38, &CIFAR_DEER_HORSE] {
            let Some(train) = library().find(&known.files.data[0]).unwrap() else { continue };
            let train = known.parse(&train, known.rows.0).unwrap();
            assert!((train.mean() - known.reference).abs() < 1e-14, "{}", train.mean());
            let test = known.read(&library()).unwrap().unwrap().test;
            assert!((test.mean() - known.reference).abs() > 1e-4, "the mean of the test part");
        }
    }

    #[test]
    fn digits_are_embedded_and_are_the_file_known_by_its_hash() {
        let file = unpack(MNIST38.packed.unwrap()).unwrap();
        assert_eq!(crate::reproduce::store::sha256(&file), MNIST38.files.data[1].sha256);
        let test = MNIST38.read(&Library::embedded()).unwrap().unwrap().test;
        assert_eq!((test.len(), test.columns()), (1_984, 784));
        assert_eq!(test.targets.iter().sum::<usize>(), 974);
    }

    #[test]
    fn what_is_missing_is_none_and_says_how_to_get_it() {
        let empty = tempfile::tempdir().unwrap();
        let library = Library::new(Some(empty.path()), empty.path()).unwrap();
        assert!(IMDB.read(&library).unwrap().is_none());
        assert!(CIFAR_DEER_HORSE.read(&library).unwrap().is_none());
        assert_eq!(
            AG_NEWS.files.how_to_get_it(),
            "not embedded; put ag_news.csv (SHA-256 e806f43cc784…), ag_news_vocab.txt (SHA-256 \
             3100247e42ad…) and ag_news_bag.onnx (SHA-256 50530b99b92f…) into a directory, and pass its \
             path with --data or APPORTION_DATA"
        );
        assert!(MNIST38.files.how_to_get_it().contains("mnist38_full_train.npy"));
    }

    #[test]
    fn another_file_under_a_known_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("imdb.csv"), "split,text,target\n").unwrap();
        let library = Library::new(Some(folder.path()), folder.path()).unwrap();
        let message = IMDB.read(&library).err().unwrap().to_string();
        assert!(message.contains("imdb.csv"), "{message}");
    }

    #[test]
    fn texts_of_other_shapes_are_refused() {
        let vocabulary = vec!["x"; 4_998].join("\n");
        let vocabulary = format!("<pad>\n<unk>\n{vocabulary}");
        let error = |rows: &str, vocabulary: &str| {
            let data = format!("split,text,ids,target\n{rows}\n");
            format!("{:#}", AG_NEWS.parse(data.as_bytes(), vocabulary.as_bytes()).unwrap_err())
        };
        assert!(error("train,a b,2 3,1", "<pad>\n<unk>").contains("2 tokens, expected 5000"));
        assert!(error("train,a b,2,1", &vocabulary).contains("2 tokens, but 1 IDs"));
        assert!(error("train,a b,2 5000,1", &vocabulary).contains("beyond the vocabulary"));
        assert!(error("train,a b,2 x,1", &vocabulary).contains("not a token ID"));
        assert!(error("train,a b,2 3,4", &vocabulary).contains("class 4"));
        assert!(error("dev,a b,2 3,1", &vocabulary).contains("invalid split \"dev\""));
        assert!(error("train,a b,2 3,1", &vocabulary).contains("found 1 texts"));
        let frequent = |rows: &str| format!("{:#}", IMDB.parse(rows.as_bytes(), &[]).unwrap_err());
        assert!(frequent("s,t,i,c\ntrain,a b,2 3,1\n").contains("columns in a row: 4, expected 3"));
        assert!(frequent("s,t,c\ntrain,a b,1\n").contains("4 tokens, expected 5000"));
    }

    #[test]
    fn news_are_cut_at_all_that_is_no_letter_or_digit() {
        assert_eq!(
            runs_of_letters_and_digits("Monday #39;s U.S.-backed É2"),
            ["monday", "39", "s", "u", "s", "backed", "2"]
        );
    }
}
