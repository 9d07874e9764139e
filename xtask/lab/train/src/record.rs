//! `index.json`: the trained networks and their origin. It is read by `cargo xtask reproduce`.

use std::path::Path;

use anyhow::{Context, Result};

use crate::files::write_atomically;

#[path = "../../src/reproduce/trained/record.rs"]
mod entries;

use entries::VERSION;
pub(crate) use entries::{Entry, FileHash, Index, Input};

/// Name of the index file, next to the networks.
const INDEX: &str = "index.json";

impl Index {
    /// Reads the index of a directory; empty if the file does not exist.
    ///
    /// # Errors
    ///
    /// If it is not an index of this version.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(INDEX);
        if !path.is_file() {
            return Ok(Self { version: VERSION, networks: Vec::new() });
        }
        let given =
            || format!("{} is not a valid index with version {VERSION}; remove the file", path.display());
        let index: Self =
            serde_json::from_slice(&std::fs::read(&path).with_context(given)?).with_context(given)?;
        anyhow::ensure!(index.version == VERSION, given());
        Ok(index)
    }

    /// Adds an entry, replacing one with the same name.
    pub(crate) fn put(&mut self, entry: Entry) {
        self.networks.retain(|other| other.name != entry.name);
        self.networks.push(entry);
        self.networks.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Writes the index of a directory.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        write_atomically(&folder.join(INDEX), json.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, seed: u64) -> Entry {
        let file = FileHash { file: format!("{name}.onnx"), sha256: "ab".to_owned() };
        Entry {
            name: name.to_owned(),
            dataset: "pima".to_owned(),
            architecture: String::new(),
            input: Input::Columns,
            row: vec![8],
            outputs: 1,
            parameters: 1,
            seed,
            trained_on: 10,
            tested_on: 5,
            measure: "accuracy".to_owned(),
            score: 0.5,
            file: file.clone(),
            data: vec![file],
        }
    }

    #[test]
    fn a_network_trained_anew_takes_the_place_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut index = Index::read(folder.path()).unwrap();
        [entry("b", 0), entry("a", 0), entry("b", 1)].into_iter().for_each(|entry| index.put(entry));
        index.write(folder.path()).unwrap();
        let read = Index::read(folder.path()).unwrap();
        assert_eq!(read.networks, [entry("a", 0), entry("b", 1)]);
    }

    #[test]
    fn a_file_that_is_no_index_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(INDEX), "{\"version\": 2, \"networks\": []}").unwrap();
        assert!(Index::read(folder.path()).unwrap_err().to_string().contains("version 1"));
    }
}
