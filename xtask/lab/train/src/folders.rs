//! Directories of data files and networks.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;

use crate::files::sha256;
use crate::record::FileHash;

/// Directories that are searched for data files.
pub(crate) struct Folders {
    data: Vec<PathBuf>,
    /// Directory of networks.
    pub(crate) out: PathBuf,
}

impl Folders {
    /// Reads data from `data` (`--data`). The default is `$APPORTION_DATA` or, if that is not set, the
    /// directories `data` in the workspace and `shared` next to it. Networks are written to `out`. The
    /// default is the subdirectory `networks` of the given data directory or, if none is given,
    /// `data/networks` in the workspace.
    ///
    /// # Errors
    ///
    /// If `data` or the directory in `$APPORTION_DATA` does not exist.
    pub(crate) fn new(data: Option<PathBuf>, out: Option<PathBuf>) -> Result<Self> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let named = match data {
            Some(folder) => Some(("--data", folder)),
            None => {
                std::env::var_os("APPORTION_DATA").map(|folder| ("APPORTION_DATA", PathBuf::from(folder)))
            }
        };
        if let Some((how, folder)) = &named {
            ensure!(folder.is_dir(), "{how} is not a directory: {}", folder.display());
        }
        let home = workspace.join("data");
        let out = out.unwrap_or_else(|| named.as_ref().map_or(&home, |(_, folder)| folder).join("networks"));
        let data = match named {
            Some((_, folder)) => vec![folder],
            None => vec![home, workspace.join("../shared")],
        };
        Ok(Self { data, out })
    }

    /// Returns the decompressed bytes of a file, and their hash.
    ///
    /// # Errors
    ///
    /// If it is not in any of the directories, or cannot be read.
    pub(crate) fn read(&self, file: &str) -> Result<(Vec<u8>, FileHash)> {
        let folders = self.data.iter().flat_map(|folder| [folder.clone(), folder.join("data")]);
        for folder in folders {
            for (path, packed) in [(folder.join(file), false), (folder.join(format!("{file}.gz")), true)] {
                if !path.is_file() {
                    continue;
                }
                let bytes =
                    std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let bytes = if packed { unpack(&bytes) } else { Ok(bytes) };
                let bytes = bytes.with_context(|| format!("cannot unpack {}", path.display()))?;
                let hash = FileHash { file: file.to_owned(), sha256: sha256(&bytes) };
                return Ok((bytes, hash));
            }
        }
        bail!(
            "{file} not found; put the file into a directory, and pass the path of the directory with --data \
             or APPORTION_DATA"
        )
    }
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes)?;
    Ok(bytes)
}
