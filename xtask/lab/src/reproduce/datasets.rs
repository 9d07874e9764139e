//! Datasets and the models trained on them, identified by name, shape and SHA-256.
//!
//! All tables are embedded in this program, with their models (except compas, which has none). Texts and
//! images of the papers are read from a data directory; missing files are skipped, with a line on how to get
//! them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use apportion::Ensemble;
use flate2::read::GzDecoder;

use super::source::Source;
use super::store::sha256;
use super::trained::{self, NetworkRequirements, Trained};
use xtask::Usage;

/// A known dataset.
pub(crate) struct KnownDataset {
    /// Name in reports and checkpoints.
    pub(crate) name: &'static str,
    /// Name in figures and tables.
    pub(crate) title: &'static str,
    /// Number of features `n`: the players.
    pub(crate) players: usize,
    rows: usize,
    data: Source,
    model: Source,
    /// The gzipped data and the gzipped model; the latter is empty if there is no model.
    packed: (&'static [u8], &'static [u8]),
    /// Remark for reports; may be empty.
    pub(crate) remark: &'static str,
}

/// Embeds a gzipped file of `xtask/lab/data`.
macro_rules! bytes {
    ("") => {
        &[]
    };
    ($file:tt) => {
        include_bytes!(concat!("../../data/", $file, ".gz"))
    };
}

/// Declares datasets by name, title, numbers of players and rows, data and model with their hashes, and an
/// optional remark.
macro_rules! known {
    ($($name:literal $title:literal $players:literal $rows:literal,
       $data:tt $data_sha256:literal, $model:tt $model_sha256:literal $(, $remark:literal)?;)*) => {
        &[$(KnownDataset {
            name: $name,
            title: $title,
            players: $players,
            rows: $rows,
            data: Source { file: $data, sha256: $data_sha256 },
            model: Source { file: $model, sha256: $model_sha256 },
            packed: (bytes!($data), bytes!($model)),
            remark: concat!($($remark)?),
        }),*]
    };
}

/// All known datasets. compas has no model; the others have XGBoost regressors with 100 trees of depth 4.
pub(crate) static KNOWN: &[KnownDataset] = known! {
    "iris" "IRIS" 4 150,
        "iris.csv" "0ba79ae755c686ee02dfe1d2943772a46ded2433c4fde6dd7ad3b01c41ff5d3d",
        "iris_xgb.json" "e3058802acb550ca83a7c35ba445de8dd9fd8c54aa22fb28559a68bb43adc049";
    "california" "California" 8 20640,
        "california.csv" "26bc921c5bc0a41a17021fd72d782a8d2c9ef4a6fa5bfcbd0f22be8bda2eb993",
        "california_xgb.json" "7f5b4606320f5ef0806d9dcdafd5bb08273154053a7e51c0ccc2a2d3ce5652f5";
    "diabetes" "Diabetes" 10 442,
        "diabetes.csv" "08779b698e32fc83ab9ac1f20196760b3347fc986927f652310d1a8b865219e8",
        "diabetes_xgb.json" "a33ae965d12232ca464bbdbc29aeb97360b60e5f16c2419d6389cbd8ca767fe6";
    "adult" "Adult" 12 32561,
        "adult.csv" "aaab5bc78e1ed11db1ae02ee1006a0933c7a2c96fe1a08ae8ed712374c1b9230",
        "adult_xgb.json" "32283b5bb8da5be923c06b8d13f329b4b799b7fc3402d9a51db2e4451daac318";
    "correlated60" "Correlated" 60 1000,
        "correlated60.csv" "90d7a577afa341d3f4fd84a2eea0eaf8137468374d34bd1483886fa061fb4b8c",
        "correlated60_xgb.json" "d964771456b1023a7c13407fbc9c6bb467b40ccad52a725290974e19e48028ad";
    "independent60" "Independent" 60 1000,
        "independent60.csv" "0d5ecf9517bbf40858de0e0c3813a024b0d64eadd70daa158b02195e559e918c",
        "independent60_xgb.json" "decf02d75529c3c47d14acf0504d99f2c0b94becd36146e196fa27372b4889e0";
    "nhanes18" "NHANES18" 18 9932,
        "nhanes.csv" "0e3a3798214b033235af43346c701a03b88ec7dcde9cf3f1992d358b2f037f56",
        "nhanes_xgb.json" "a3b28266d6ec228bf35394b3b4f1dac509756bd04c6a6db5d93751f99385c5ff",
        "nhanes18 has 18 of the 79 features of the paper's NHANES, because the other columns are not \
         available, so its results are for a different, smaller game";
    "communities" "Communities" 101 1994,
        "communities.csv" "e3b6c170fd83aca5befac080729a7df31a84dd0d97d8f57e901391cd1f81f44f",
        "communities_xgb.json" "94934f77b808cdd6a915e27d3c9563561928d64751a9e2c3397a993a2b11fe2c";
    "pima" "Pima diabetes" 8 768,
        "pima.csv" "c05572f43fbf58a3eb4ec5abb17f2ce45fe4466625599f15b47508e7e66bf0ec",
        "pima_xgb.json" "620b970611bbf72748a83a31416845e9c5ffc7bdc4c2cc8c6503f548948e5922";
    "bank" "Bank marketing" 16 4521,
        "bank.csv" "25e4869cb579fca4e0ca5a7562efe5400085e146269423e736e5bd378da6af77",
        "bank_xgb.json" "2971c5b8144e8b51b201e43a870a9d6ea37cb96fcae91f05c178961011a3a050";
    "bank_full" "Bank marketing, all rows" 16 45211,
        "bank_full.csv" "fe951e399e746ce8fd3874a077e4c8c014a3f68a72d7e033152b2fc6b9efafa4",
        "bank_full_xgb.json" "7ec122028aa0c724772703776fad03160a210e853db2ce9bcfc7a57523b0f925";
    "german" "German credit" 20 1000,
        "german.csv" "5e67c5677dfa4d239468f148f05af4586e4c1ab3d3ce52ad1cbd2f9591a18cff",
        "german_xgb.json" "8f066610fed0e3b0e9c3261b9fb1dec6281a179e6400525916050b029a3904a3";
    "brca" "BRCA" 100 572,
        "brca.csv" "4b1e6b93ee16a2e76b63e4a5a632ea78df2f7d21363f58bd7cf27151e6d2c507",
        "brca_xgb.json" "f59686b241c0293c42cfb1b201a18e8513767ef3cc0696500d20601d18282429";
    "tuandromd" "TUANDROMD" 241 4464,
        "tuandromd.csv" "875df2a5d5488d7f3d4fb21acb063c21d4b53cf9ff80c963e98d5f28fb634399",
        "tuandromd_xgb.json" "83f23a7b804298f182b0210bff92c1c13d0a73a66e1af658796e3ece88660132";
    "compas" "COMPAS" 7 21921,
        "compas.csv" "3df426987dbe6ac15104af9aebcd5b5d47489efba7b396c9e1e493ade66886ff",
        "" "",
        "compas comes without a model, so this program trains one";
};

/// Returns the dataset with this name.
///
/// # Panics
///
/// If the name is unknown.
pub(crate) fn known_dataset(name: &str) -> &'static KnownDataset {
    match KNOWN.iter().find(|known| known.name == name) {
        Some(known) => known,
        None => panic!("unknown dataset {name:?}"),
    }
}

/// A dataset in memory, with its model.
pub(crate) struct Dataset<M = Ensemble> {
    pub(crate) known: &'static KnownDataset,
    /// Feature values, rows × players, row-major.
    features: Vec<f64>,
    /// Feature names.
    pub(crate) names: Vec<String>,
    /// The target, stored in the last column of the file.
    pub(crate) target: Vec<f64>,
    /// Column means: the baseline.
    pub(crate) means: Vec<f64>,
    pub(crate) model: M,
}

impl<M> Dataset<M> {
    pub(crate) fn rows(&self) -> usize {
        self.features.len() / self.known.players
    }

    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.features[index * self.known.players..(index + 1) * self.known.players]
    }
}

#[cfg(test)]
impl KnownDataset {
    /// Creates a dataset without files, but with the given hashes.
    pub(crate) fn for_tests(name: &'static str, data: &'static str, model: &'static str) -> &'static Self {
        Box::leak(Box::new(Self {
            name,
            title: name,
            players: 10,
            rows: 0,
            data: Source { file: "", sha256: data },
            model: Source { file: "", sha256: model },
            packed: (&[], &[]),
            remark: "",
        }))
    }
}

impl KnownDataset {
    pub(crate) fn data_sha256(&self) -> &'static str {
        self.data.sha256
    }

    pub(crate) fn model_sha256(&self) -> &'static str {
        self.model.sha256
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns title and number of players, for panel titles.
    pub(crate) fn heading(&self) -> String {
        format!("{} (n = {})", self.title, self.players)
    }

    /// Returns a description of the same data with a network trained by us instead of trees. It is leaked,
    /// since all known datasets are `'static`.
    fn with_network(&self, name: &'static str, network: &Trained) -> &'static Self {
        let text = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let (title, sha256) = (text(format!("{}, our network", self.title)), network.sha256().to_owned());
        let model = Source { file: name, sha256: text(sha256) };
        Box::leak(Box::new(Self { name, title, model, packed: (self.packed.0, &[]), remark: "", ..*self }))
    }
}

/// Data and network directories, and a cache of the datasets read so far.
pub(crate) struct Library {
    folders: Vec<PathBuf>,
    /// Directories of networks trained by us.
    networks: Vec<PathBuf>,
    read: Mutex<BTreeMap<&'static str, Arc<Dataset>>>,
}

impl Library {
    /// Creates the library from `folder` (`--data`). The default is `$APPORTION_DATA` or, if that is not set,
    /// the directories `data` in the workspace and `shared` next to it. Trained networks are searched for in
    /// the subdirectories `networks` of these directories, of `data` in the workspace, and of `xtask/lab`.
    ///
    /// # Errors
    ///
    /// [`Usage`] if a given directory does not exist.
    pub(crate) fn new(folder: Option<&Path>, workspace: &Path) -> Result<Self> {
        let named = folder.map(|folder| ("--data", folder.to_owned())).or_else(|| {
            std::env::var_os("APPORTION_DATA").map(|folder| ("APPORTION_DATA", PathBuf::from(folder)))
        });
        let home = workspace.join("data");
        let folders = match named {
            Some((how, folder)) if !folder.is_dir() => {
                bail!(Usage(format!("{how} is not a directory: {}", folder.display())))
            }
            Some((_, folder)) => vec![folder],
            None => vec![home.clone(), workspace.join("../shared")],
        };
        let given = workspace.join("xtask/lab");
        let networks = folders.iter().chain([&home, &given]).map(|folder| folder.join("networks")).collect();
        Ok(Self { folders, networks, read: Mutex::default() })
    }

    /// Creates the library of the embedded datasets and the networks in the repository only.
    pub(crate) fn embedded() -> Self {
        let networks = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("networks")];
        Self { folders: Vec::new(), networks, read: Mutex::default() }
    }

    /// Returns the dataset with its trees.
    ///
    /// # Errors
    ///
    /// If its model is not an ensemble of trees.
    pub(crate) fn get(&self, known: &'static KnownDataset) -> Result<Arc<Dataset>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = read.get(known.name) {
            return Ok(Arc::clone(found));
        }
        let dataset = Arc::new(parse(known, |model| Ok(Ensemble::from_bytes(model)?))?);
        read.insert(known.name, Arc::clone(&dataset));
        Ok(dataset)
    }

    /// Returns the network trained by us on a dataset, or a line with the reason why it is not available.
    #[cfg_attr(not(feature = "onnx"), expect(dead_code, reason = "only builds with networks read them"))]
    pub(crate) fn trained_on(
        &self,
        known: &KnownDataset,
        name: &'static str,
    ) -> std::result::Result<Trained, String> {
        let (data, row) = ([&known.data], [known.players]);
        self.trained(&NetworkRequirements {
            name,
            data: &data,
            input: trained::Input::Columns,
            row: &row,
            outputs: 1,
        })
    }

    /// Returns a network trained by us, or a line with the reason why it is not available.
    pub(crate) fn trained(&self, expected: &NetworkRequirements<'_>) -> std::result::Result<Trained, String> {
        trained::find(&self.networks, expected)
    }

    /// Returns the decompressed bytes of a file of the data directory, or `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or has a different hash.
    pub(crate) fn find(&self, source: &Source) -> Result<Option<Vec<u8>>> {
        let within = |folder: &PathBuf| [folder.clone(), folder.join("data"), folder.join("models")];
        for folder in self.folders.iter().flat_map(within) {
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
                    "{} has SHA-256 {given}, but the expected {} has {}; replace or remove the file",
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

/// Decompresses a gzipped file; empty input yields empty output.
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl KnownDataset {
    /// Returns the dataset without a model.
    ///
    /// # Errors
    ///
    /// If the embedded file cannot be read.
    pub(crate) fn without_model(&'static self) -> Result<Dataset<()>> {
        parse(self, |_| Ok(()))
    }

    /// Returns the dataset with `model`, which is a network trained by us, and with the name of this network.
    ///
    /// # Errors
    ///
    /// If the embedded file cannot be read.
    #[cfg_attr(not(feature = "onnx"), expect(dead_code, reason = "only builds with networks read them"))]
    pub(crate) fn with_trained<M>(
        &'static self,
        name: &'static str,
        network: &Trained,
        model: M,
    ) -> Result<Arc<Dataset<M>>> {
        let Dataset { features, names, target, means, .. } = self.without_model()?;
        let known = self.with_network(name, network);
        Ok(Arc::new(Dataset { known, features, names, target, means, model }))
    }
}

fn parse<M>(known: &'static KnownDataset, read_model: impl Fn(&[u8]) -> Result<M>) -> Result<Dataset<M>> {
    let (data, model) = (unpack(known.packed.0)?, unpack(known.packed.1)?);
    let (names, features, target) =
        read_table(known, &data).with_context(|| format!("cannot read {}", known.data.file))?;
    let model = read_model(&model).with_context(|| format!("cannot read {}", known.model.file))?;
    let rows = features.len() / known.players;
    let means = (0..known.players)
        .map(|column| features.iter().skip(column).step_by(known.players).sum::<f64>() / rows as f64)
        .collect();
    Ok(Dataset { known, features, names, target, means, model })
}

/// Reads a table: the names of all columns except the last, their values row by row, and the last column,
/// which is the target.
fn read_table(known: &KnownDataset, data: &[u8]) -> Result<(Vec<String>, Vec<f64>, Vec<f64>)> {
    let mut reader = csv::Reader::from_reader(data);
    let names = reader.headers()?.iter().take(known.players).map(str::to_owned).collect();
    let mut features = Vec::with_capacity(known.rows * known.players);
    let mut target = Vec::with_capacity(known.rows);
    let number = |cell: &str| cell.parse::<f64>().with_context(|| format!("{cell:?} is not a number"));
    for record in reader.records() {
        let record = record?;
        ensure!(
            record.len() == known.players + 1,
            "wrong number of columns in a row: {}, expected {}",
            record.len(),
            known.players + 1
        );
        for cell in record.iter().take(known.players) {
            features.push(number(cell)?);
        }
        target.push(number(&record[known.players])?);
    }
    ensure!(
        features.len() == known.rows * known.players,
        "found {} rows, expected {}",
        features.len() / known.players,
        known.rows
    );
    Ok((names, features, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_datasets_are_the_files_known_by_their_hashes() {
        for known in KNOWN {
            let (data, model) = known.packed;
            assert_eq!(sha256(&unpack(data).unwrap()), known.data.sha256, "{}", known.name);
            if !known.model.file.is_empty() {
                assert_eq!(sha256(&unpack(model).unwrap()), known.model.sha256, "{}", known.name);
            }
        }
    }

    #[test]
    fn all_tables_are_there_without_a_data_directory() {
        let library = Library::embedded();
        for known in KNOWN {
            assert_eq!(known.without_model().unwrap().rows(), known.rows, "{}", known.name);
            assert_eq!(library.get(known).is_ok(), !known.model.file.is_empty(), "{}", known.name);
        }
    }

    #[test]
    fn a_missing_file_is_none_and_its_line_says_how_to_get_it() {
        let source = Source { file: "photographs.csv", sha256: "0123456789abcdef" };
        assert!(Library::embedded().find(&source).unwrap().is_none());
        assert!(
            crate::reproduce::source::how_to_get(&[&source])
                .contains("photographs.csv (SHA-256 0123456789ab…)")
        );
    }

    #[test]
    fn another_file_under_a_known_name_is_an_error_that_names_both_hashes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(folder.path().join("data/photographs.csv"), "a,target\n1,2\n").unwrap();
        let library = Library::new(Some(folder.path()), folder.path()).unwrap();
        let source = Source { file: "photographs.csv", sha256: "0123456789abcdef" };
        let message = library.find(&source).err().unwrap().to_string();
        assert!(message.contains(source.sha256), "{message}");
        assert!(message.contains(&sha256(b"a,target\n1,2\n")), "{message}");
    }

    #[test]
    fn without_a_named_folder_data_of_its_own_and_shared_ones_are_looked_through() {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().join("workspace");
        std::fs::create_dir_all(workspace.join("data/networks")).unwrap();
        std::fs::create_dir_all(root.path().join("shared/data")).unwrap();
        std::fs::write(root.path().join("shared/data/a.csv"), "a").unwrap();
        let library = Library::new(None, &workspace).unwrap();
        let source = Source { file: "a.csv", sha256: Box::leak(sha256(b"a").into_boxed_str()) };
        // A data directory set in the environment would take precedence over both directories.
        if std::env::var_os("APPORTION_DATA").is_none() {
            assert_eq!(library.find(&source).unwrap().unwrap(), b"a");
        }
    }

    #[test]
    fn networks_that_come_with_the_repository_are_found_in_either_way() {
        let folder = tempfile::tempdir().unwrap();
        for library in [Library::embedded(), Library::new(Some(folder.path()), &xtask::workspace()).unwrap()]
        {
            assert!(library.networks.iter().any(|folder| folder.join("pima_mlp.onnx").is_file()));
        }
    }

    #[test]
    fn a_named_folder_that_is_not_there_is_an_error_of_use() {
        let error = Library::new(Some(Path::new("/no/such/folder")), Path::new(".")).err().unwrap();
        assert!(error.is::<Usage>());
    }
}
