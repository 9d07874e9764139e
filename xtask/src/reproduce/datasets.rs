//! Datasets and the models trained on them, known by name, shape and SHA-256.
//!
//! Four are embedded in this program (iris, diabetes, and the generated correlated60 and independent60). The others come from a data
//! directory. What is not there is skipped by name, with a line that says how to get it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use apportion::Ensemble;
use flate2::read::GzDecoder;

use super::Usage;
use super::store::sha256;

/// A file with the hash of its (unpacked) bytes.
struct Source {
    file: &'static str,
    sha256: &'static str,
}

/// A dataset that the harness knows.
pub(crate) struct Known {
    /// The name in reports and cells.
    pub(crate) name: &'static str,
    /// The name that figures and tables show.
    pub(crate) title: &'static str,
    /// Features `n`: the players.
    pub(crate) players: usize,
    rows: usize,
    data: Source,
    model: Source,
    /// The two files, gzipped.
    embedded: Option<(&'static [u8], &'static [u8])>,
    /// What a report must say about it; may be empty.
    pub(crate) remark: &'static str,
}

macro_rules! embedded {
    ($name:literal) => {
        Some((
            include_bytes!(concat!("../../data/", $name, ".csv.gz")),
            include_bytes!(concat!("../../data/", $name, "_xgb.json.gz")),
        ))
    };
}

/// All of them, in the order of the papers' tables. The models are XGBoost regressors of 100 trees of depth 4.
pub(crate) static KNOWN: [Known; 8] = [
    Known {
        name: "iris",
        title: "IRIS",
        players: 4,
        rows: 150,
        data: Source {
            file: "iris.csv",
            sha256: "0ba79ae755c686ee02dfe1d2943772a46ded2433c4fde6dd7ad3b01c41ff5d3d",
        },
        model: Source {
            file: "iris_xgb.json",
            sha256: "e3058802acb550ca83a7c35ba445de8dd9fd8c54aa22fb28559a68bb43adc049",
        },
        embedded: embedded!("iris"),
        remark: "",
    },
    Known {
        name: "california",
        title: "California",
        players: 8,
        rows: 20640,
        data: Source {
            file: "california.csv",
            sha256: "26bc921c5bc0a41a17021fd72d782a8d2c9ef4a6fa5bfcbd0f22be8bda2eb993",
        },
        model: Source {
            file: "california_xgb.json",
            sha256: "7f5b4606320f5ef0806d9dcdafd5bb08273154053a7e51c0ccc2a2d3ce5652f5",
        },
        embedded: None,
        remark: "",
    },
    Known {
        name: "diabetes",
        title: "Diabetes",
        players: 10,
        rows: 442,
        data: Source {
            file: "diabetes.csv",
            sha256: "08779b698e32fc83ab9ac1f20196760b3347fc986927f652310d1a8b865219e8",
        },
        model: Source {
            file: "diabetes_xgb.json",
            sha256: "a33ae965d12232ca464bbdbc29aeb97360b60e5f16c2419d6389cbd8ca767fe6",
        },
        embedded: embedded!("diabetes"),
        remark: "",
    },
    Known {
        name: "adult",
        title: "Adult",
        players: 12,
        rows: 32561,
        data: Source {
            file: "adult.csv",
            sha256: "aaab5bc78e1ed11db1ae02ee1006a0933c7a2c96fe1a08ae8ed712374c1b9230",
        },
        model: Source {
            file: "adult_xgb.json",
            sha256: "32283b5bb8da5be923c06b8d13f329b4b799b7fc3402d9a51db2e4451daac318",
        },
        embedded: None,
        remark: "",
    },
    Known {
        name: "correlated60",
        title: "Correlated",
        players: 60,
        rows: 1000,
        data: Source {
            file: "correlated60.csv",
            sha256: "90d7a577afa341d3f4fd84a2eea0eaf8137468374d34bd1483886fa061fb4b8c",
        },
        model: Source {
            file: "correlated60_xgb.json",
            sha256: "d964771456b1023a7c13407fbc9c6bb467b40ccad52a725290974e19e48028ad",
        },
        embedded: embedded!("correlated60"),
        remark: "",
    },
    Known {
        name: "independent60",
        title: "Independent",
        players: 60,
        rows: 1000,
        data: Source {
            file: "independent60.csv",
            sha256: "0d5ecf9517bbf40858de0e0c3813a024b0d64eadd70daa158b02195e559e918c",
        },
        model: Source {
            file: "independent60_xgb.json",
            sha256: "decf02d75529c3c47d14acf0504d99f2c0b94becd36146e196fa27372b4889e0",
        },
        embedded: embedded!("independent60"),
        remark: "",
    },
    Known {
        name: "nhanes18",
        title: "NHANES18",
        players: 18,
        rows: 9932,
        data: Source {
            file: "nhanes.csv",
            sha256: "0e3a3798214b033235af43346c701a03b88ec7dcde9cf3f1992d358b2f037f56",
        },
        model: Source {
            file: "nhanes_xgb.json",
            sha256: "a3b28266d6ec228bf35394b3b4f1dac509756bd04c6a6db5d93751f99385c5ff",
        },
        embedded: None,
        remark: "nhanes18 has 18 of the 79 features of the paper's NHANES: the other columns could not be had, so its numbers are \
                 those of another, smaller game",
    },
    Known {
        name: "communities",
        title: "Communities",
        players: 101,
        rows: 1994,
        data: Source {
            file: "communities.csv",
            sha256: "e3b6c170fd83aca5befac080729a7df31a84dd0d97d8f57e901391cd1f81f44f",
        },
        model: Source {
            file: "communities_xgb.json",
            sha256: "94934f77b808cdd6a915e27d3c9563561928d64751a9e2c3397a993a2b11fe2c",
        },
        embedded: None,
        remark: "",
    },
];

/// A dataset in memory, with its model.
pub(crate) struct Dataset {
    pub(crate) known: &'static Known,
    /// Rows × players, row-major; the target is left out.
    features: Vec<f64>,
    /// The column means: the baseline.
    pub(crate) means: Vec<f64>,
    pub(crate) model: Ensemble,
}

impl Dataset {
    pub(crate) fn rows(&self) -> usize {
        self.features.len() / self.known.players
    }

    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.features[index * self.known.players..(index + 1) * self.known.players]
    }
}

impl Known {
    pub(crate) fn data_sha256(&self) -> &'static str {
        self.data.sha256
    }

    pub(crate) fn model_sha256(&self) -> &'static str {
        self.model.sha256
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Title and number of players, as panels show it.
    pub(crate) fn heading(&self) -> String {
        format!("{} (n = {})", self.title, self.players)
    }

    /// The line for those who lack it.
    pub(crate) fn how_to_get_it(&self) -> String {
        format!(
            "not embedded: put {} (SHA-256 {}…) and {} (SHA-256 {}…) into a folder and name it with --data or APPORTION_DATA",
            self.data.file,
            &self.data.sha256[..12],
            self.model.file,
            &self.model.sha256[..12]
        )
    }
}

/// Where datasets come from, and those already read.
pub(crate) struct Library {
    folder: Option<PathBuf>,
    read: Mutex<BTreeMap<&'static str, Option<Arc<Dataset>>>>,
}

impl Library {
    /// The library in `folder` (`--data`), else in `$APPORTION_DATA`, else in `data` or `../shared` beside the workspace.
    ///
    /// # Errors
    ///
    /// [`Usage`] if a folder was named that is not there.
    pub(crate) fn new(folder: Option<&Path>, workspace: &Path) -> Result<Self> {
        let named = folder.map(|folder| ("--data", folder.to_owned())).or_else(|| {
            std::env::var_os("APPORTION_DATA").map(|folder| ("APPORTION_DATA", PathBuf::from(folder)))
        });
        let folder = match named {
            Some((how, folder)) if !folder.is_dir() => {
                bail!(Usage(format!("{how} names {}, which is no folder", folder.display())))
            }
            Some((_, folder)) => Some(folder),
            None => [workspace.join("data"), workspace.join("../shared")]
                .into_iter()
                .find(|folder| folder.is_dir()),
        };
        Ok(Self { folder, read: Mutex::default() })
    }

    /// The dataset, or none if it is not there.
    ///
    /// # Errors
    ///
    /// If a file is there but is not the one known.
    pub(crate) fn get(&self, known: &'static Known) -> Result<Option<Arc<Dataset>>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = read.get(known.name) {
            return Ok(found.clone());
        }
        let found = match self.bytes(known)? {
            Some((data, model)) => Some(Arc::new(parse(known, &data, &model)?)),
            None => None,
        };
        read.insert(known.name, found.clone());
        Ok(found)
    }

    /// The unpacked bytes of data and model.
    fn bytes(&self, known: &Known) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        if let Some((data, model)) = known.embedded {
            return Ok(Some((unpack(data)?, unpack(model)?)));
        }
        match (self.find(&known.data)?, self.find(&known.model)?) {
            (Some(data), Some(model)) => Ok(Some((data, model))),
            _ => Ok(None),
        }
    }

    fn find(&self, source: &Source) -> Result<Option<Vec<u8>>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        for folder in [folder.clone(), folder.join("data"), folder.join("models")] {
            for (name, packed) in [(source.file.to_owned(), false), (format!("{}.gz", source.file), true)] {
                let path = folder.join(name);
                if !path.is_file() {
                    continue;
                }
                let bytes =
                    std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let bytes = if packed {
                    unpack(&bytes).with_context(|| format!("cannot unpack {}", path.display()))?
                } else {
                    bytes
                };
                let given = sha256(&bytes);
                ensure!(
                    given == source.sha256,
                    "{} has SHA-256 {given}, but the known {} has {}; replace the file or take it away",
                    path.display(),
                    source.file,
                    source.sha256
                );
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn parse(known: &'static Known, data: &[u8], model: &[u8]) -> Result<Dataset> {
    let features = read_features(known, data).with_context(|| format!("cannot read {}", known.data.file))?;
    let model = Ensemble::from_bytes(model).with_context(|| format!("cannot read {}", known.model.file))?;
    let rows = features.len() / known.players;
    let means = (0..known.players)
        .map(|column| features.iter().skip(column).step_by(known.players).sum::<f64>() / rows as f64)
        .collect();
    Ok(Dataset { known, features, means, model })
}

/// All columns but the last, which is the target.
fn read_features(known: &Known, data: &[u8]) -> Result<Vec<f64>> {
    let mut reader = csv::Reader::from_reader(data);
    let mut features = Vec::with_capacity(known.rows * known.players);
    for record in reader.records() {
        let record = record?;
        ensure!(
            record.len() == known.players + 1,
            "a row has {} columns, not {}",
            record.len(),
            known.players + 1
        );
        for cell in record.iter().take(known.players) {
            features.push(cell.parse::<f64>().with_context(|| format!("{cell:?} is no number"))?);
        }
    }
    ensure!(
        features.len() == known.rows * known.players,
        "there are {} rows, not {}",
        features.len() / known.players,
        known.rows
    );
    Ok(features)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> &'static Known {
        KNOWN.iter().find(|known| known.name == name).unwrap()
    }

    #[test]
    fn embedded_datasets_are_the_files_known_by_their_hashes() {
        let embedded: Vec<&Known> = KNOWN.iter().filter(|known| known.embedded.is_some()).collect();
        assert_eq!(embedded.len(), 4);
        for known in embedded {
            let (data, model) = known.embedded.unwrap();
            assert_eq!(sha256(&unpack(data).unwrap()), known.data.sha256, "{}", known.name);
            assert_eq!(sha256(&unpack(model).unwrap()), known.model.sha256, "{}", known.name);
        }
    }

    #[test]
    fn a_missing_dataset_is_none_and_says_how_to_get_it() {
        let empty = tempfile::tempdir().unwrap();
        let library = Library::new(Some(empty.path()), empty.path()).unwrap();
        assert!(library.get(known("california")).unwrap().is_none());
        assert_eq!(library.get(known("iris")).unwrap().unwrap().rows(), 150);
        assert!(known("california").how_to_get_it().contains("california_xgb.json"));
    }

    #[test]
    fn another_file_under_a_known_name_is_an_error_that_names_both_hashes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(folder.path().join("data/adult.csv"), "a,target\n1,2\n").unwrap();
        let library = Library::new(Some(folder.path()), folder.path()).unwrap();
        let message = library.get(known("adult")).err().unwrap().to_string();
        assert!(message.contains(known("adult").data.sha256), "{message}");
        assert!(message.contains(&sha256(b"a,target\n1,2\n")), "{message}");
    }

    #[test]
    fn a_named_folder_that_is_not_there_is_an_error_of_use() {
        let error = Library::new(Some(Path::new("/no/such/folder")), Path::new(".")).err().unwrap();
        assert!(error.is::<Usage>());
    }
}
