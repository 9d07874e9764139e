//! Networks trained by `cargo xtask train`. A network is used if it exists, matches the hash in its index,
//! and accepts the input of the reproduction. Otherwise it is skipped, with the reason and instructions for
//! getting it.

mod record;

use std::path::{Path, PathBuf};

pub(crate) use record::{Entry, Input};
use record::{Index, VERSION};

use super::report::{Table, table};
use super::source::Source;
use super::store::sha256;

/// The requirements that a trained network must meet to be used.
pub(crate) struct NetworkRequirements<'a> {
    pub(crate) name: &'static str,
    /// Files that the network must have been trained on.
    pub(crate) data: &'a [&'a Source],
    pub(crate) input: Input,
    /// Shape of an input row.
    pub(crate) row: &'a [usize],
    pub(crate) outputs: usize,
}

/// A network trained by us.
#[derive(Debug, Clone)]
pub(crate) struct Trained {
    pub(crate) entry: Entry,
    /// Contents of the ONNX file.
    pub(crate) bytes: Vec<u8>,
}

impl Trained {
    /// Returns the SHA-256 of the file.
    pub(crate) fn sha256(&self) -> &str {
        &self.entry.file.sha256
    }
}

/// Returns the command that trains a network.
pub(crate) fn how_to_train(name: &str) -> String {
    format!("cargo xtask train {name}")
}

/// Returns the network from the first of the `folders` whose index lists it.
///
/// # Errors
///
/// A line with the reason why the network is not available, and how to get it.
pub(crate) fn find(folders: &[PathBuf], wanted: &NetworkRequirements<'_>) -> Result<Trained, String> {
    let how = how_to_train(wanted.name);
    for folder in folders.iter().filter(|folder| folder.join("index.json").is_file()) {
        let index = read(folder).map_err(|problem| {
            format!("{} {problem}: remove it, then run {how}", folder.join("index.json").display())
        })?;
        if let Some(entry) = index.networks.into_iter().find(|entry| entry.name == wanted.name) {
            return checked(folder, entry, wanted).map_err(|problem| format!("{problem}: {how}"));
        }
    }
    Err(format!("not trained yet: {how}"))
}

fn read(folder: &Path) -> Result<Index, String> {
    let bytes =
        std::fs::read(folder.join("index.json")).map_err(|error| format!("cannot be read ({error})"))?;
    let index: Index = serde_json::from_slice(&bytes)
        .map_err(|error| format!("is not a valid index of networks ({error})"))?;
    if index.version != VERSION {
        return Err(format!("has version {}, expected {VERSION}", index.version));
    }
    Ok(index)
}

fn checked(folder: &Path, entry: Entry, wanted: &NetworkRequirements<'_>) -> Result<Trained, String> {
    let Entry { input, row, outputs, .. } = &entry;
    if (*input, &row[..], *outputs) != (wanted.input, wanted.row, wanted.outputs) {
        return Err(format!(
            "the network expects rows of shape {row:?} with {input:?} and has {outputs} outputs; expected \
             shape {:?} with {:?} and {} outputs",
            wanted.row, wanted.input, wanted.outputs
        ));
    }
    for source in wanted.data {
        match entry.data.iter().find(|data| data.file == source.file) {
            Some(data) if data.sha256 == source.sha256 => (),
            Some(data) => {
                return Err(format!(
                    "the network was trained on {} with SHA-256 {}, expected {}",
                    source.file, data.sha256, source.sha256
                ));
            }
            None => return Err(format!("the network was not trained on {}", source.file)),
        }
    }
    // The name in the index is untrusted: use its last component only.
    let Some(name) = Path::new(&entry.file.file).file_name() else {
        return Err(format!("the index contains the invalid file name {:?}", entry.file.file));
    };
    let path = folder.join(name);
    let bytes = std::fs::read(&path).map_err(|error| format!("cannot read {} ({error})", path.display()))?;
    let given = sha256(&bytes);
    if given != entry.file.sha256 {
        let stated = &entry.file.sha256;
        return Err(format!("{} has SHA-256 {given}, but the index specifies {stated}", path.display()));
    }
    Ok(Trained { entry, bytes })
}

/// Creates a table of the training data, training and scores of networks, next to the scores printed in the
/// paper.
pub(crate) fn table<'a>(networks: impl IntoIterator<Item = (&'a Entry, &'static str)>) -> Option<Table> {
    let table = table!("Networks of our own training (cargo xtask train)", [for (entry, printed) in networks;]
        "network" => entry.name.clone(),
        "layers" => entry.architecture.clone(),
        "parameters" => entry.parameters,
        "seed" => entry.seed as usize,
        "trained on" => entry.trained_on,
        "tested on" => entry.tested_on,
        "measure" => entry.measure.clone(),
        "score" => entry.score,
        "paper" => printed,
    );
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: Source = Source { file: "pima.csv", sha256: "c0" };

    const WANTED: NetworkRequirements<'_> = NetworkRequirements {
        name: "pima_mlp",
        data: &[&DATA],
        input: Input::Columns,
        row: &[8],
        outputs: 1,
    };

    /// Creates a directory with a network file of these bytes, and an index in which `old` is replaced with
    /// `new`.
    fn folder(bytes: &[u8], (old, new): (&str, &str)) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let index = format!(
            concat!(
                r#"{{"version": 1, "networks": [{{"name": "pima_mlp", "dataset": "pima", "#,
                r#""architecture": "two layers", "input": "columns",
            "row": [8], "outputs": 1, "parameters": 10, "seed": 3, "trained_on": 615, "tested_on": 153, "#,
                r#""measure": "accuracy",
            "score": 0.75, "file": {{"file": "pima_mlp.onnx", "sha256": "{}"}}, "#,
                r#""data": [{{"file": "pima.csv", "sha256": "c0"}}]}}]}}"#
            ),
            sha256(b"network")
        );
        assert!(index.contains(old));
        std::fs::write(folder.path().join("index.json"), index.replace(old, new)).unwrap();
        std::fs::write(folder.path().join("pima_mlp.onnx"), bytes).unwrap();
        folder
    }

    fn load(folder: &Path) -> Result<Trained, String> {
        find(&[folder.join("none"), folder.to_owned()], &WANTED)
    }

    #[test]
    fn a_network_is_found_with_what_made_it() {
        let folder = folder(b"network", ("", ""));
        let trained = load(folder.path()).unwrap();
        assert_eq!((trained.entry.seed, trained.entry.score, &trained.bytes[..]), (3, 0.75, &b"network"[..]));
        assert_eq!(table([(&trained.entry, "none")]).unwrap().rows.len(), 1);
        assert!(table([]).is_none());
    }

    #[test]
    fn what_is_not_as_wanted_is_left_out_with_the_reason_and_how_to_get_it() {
        let refusals = [
            (b"another", ("", ""), "has SHA-256"),
            (b"network", ("\"row\": [8]", "\"row\": [9]"), "shape [9] with Columns"),
            (b"network", ("\"columns\"", "\"tokens\""), "shape [8] with Tokens"),
            (b"network", ("\"outputs\": 1", "\"outputs\": 2"), "has 2 outputs"),
            (b"network", ("\"c0\"", "\"c1\""), "trained on pima.csv with SHA-256 c1, expected c0"),
            (b"network", ("\"file\": \"pima.csv\"", "\"file\": \"a.csv\""), "not trained on pima.csv"),
            (b"network", ("pima_mlp.onnx", "gone.onnx"), "cannot read"),
            (b"network", ("\"version\": 1", "\"version\": 2"), "has version 2, expected 1"),
            (b"network", ("\"seed\": 3", "\"seed\": -3"), "not a valid index of networks"),
            (b"network", ("\"name\": \"pima_mlp\"", "\"name\": \"other\""), "not trained yet"),
        ];
        for (bytes, change, why) in refusals {
            let folder = folder(bytes, change);
            let refusal = load(folder.path()).unwrap_err();
            assert!(refusal.contains(why) && refusal.ends_with("cargo xtask train pima_mlp"), "{refusal}");
        }
        assert_eq!(find(&[], &WANTED).unwrap_err(), "not trained yet: cargo xtask train pima_mlp");
    }
}
