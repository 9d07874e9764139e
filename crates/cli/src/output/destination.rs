//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Where results go. Made before the work starts, so that a wrong name costs no time.
#[derive(Debug)]
pub(crate) enum Destination {
    /// Standard output.
    Standard,
    /// A file, written under another name in `folder` and renamed when it is whole.
    File {
        /// Its name, links resolved.
        path: PathBuf,
        /// The folder it is in.
        folder: PathBuf,
    },
    /// A pipe or a device, which cannot be renamed over.
    Special(PathBuf),
}

impl Destination {
    /// The destination that `--out` names, which must not be one of the `inputs`.
    pub(crate) fn new(out: Option<&Path>, inputs: &[&Path]) -> Result<Self> {
        out.map_or(Ok(Self::Standard), |given| Self::of_option("--out", given, inputs))
    }

    /// The destination that `option` names, which must not be one of the `inputs`.
    pub(crate) fn of_option(option: &str, given: &Path, inputs: &[&Path]) -> Result<Self> {
        let path = fs::canonicalize(given).unwrap_or_else(|_| given.to_owned());
        if inputs.iter().any(|input| fs::canonicalize(input).is_ok_and(|input| input == path)) {
            bail!("{option} {} is a file that is read; give another name", given.display());
        }
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                bail!("{option} {} is a folder; give the name of a file", given.display())
            }
            Ok(metadata) if !metadata.is_file() => return Ok(Self::Special(path)),
            _ => {}
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).to_owned();
        if path.file_name().is_none() || !folder.is_dir() {
            bail!("{option} {}: there is no folder {}", given.display(), folder.display());
        }
        Ok(Self::File { path, folder })
    }

    /// Whether both are the same file.
    pub(crate) fn is_file_of(&self, other: &Self) -> bool {
        let folder_of = |folder: &Path| fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        match (self, other) {
            (Self::File { path, folder }, Self::File { path: other, folder: others }) => {
                path.file_name() == other.file_name() && folder_of(folder) == folder_of(others)
            }
            _ => false,
        }
    }

    /// Writes what `write` writes. A file is left as it was where that fails.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        match self {
            Self::Standard => buffered(io::stdout().lock(), write).context("cannot write to standard output"),
            Self::Special(path) => {
                let file = File::options().write(true).open(path);
                let file = file.with_context(|| format!("cannot open {}", path.display()))?;
                buffered(file, write).with_context(|| format!("cannot write {}", path.display()))
            }
            Self::File { path, folder } => {
                let says = || format!("cannot write {}", path.display());
                let mut file = new_file(folder).with_context(says)?;
                buffered(&mut file, write).with_context(says)?;
                file.persist(path).map_err(|failed| failed.error).with_context(says)?;
                Ok(())
            }
        }
    }
}

/// A file of a name of its own, taken away unless it is renamed.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".apportion-");
    // As any new file, and not for its owner alone; the process's mask is taken off.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn buffered(out: impl Write, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(out);
    write(&mut out)?;
    Ok(out.flush()?)
}

/// Whether `error` says that the reader of standard output went away, as `head` does: no failure of ours.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_and_nothing_is_left_behind_by_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let destination = Destination::new(Some(&path), &[]).unwrap();
        let failed = destination.write(|out| {
            out.write_all(b"half")?;
            bail!("no more")
        });
        assert!(format!("{:#}", failed.unwrap_err()).contains("no more"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        destination.write(|out| Ok(out.write_all(b"whole")?)).unwrap();
        destination.write(|_| bail!("again")).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_a_file_that_is_read_and_a_place_that_is_not_there_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("model.json");
        fs::write(&input, "{}").unwrap();
        let refusal = |path: &Path| Destination::new(Some(path), &[&input]).unwrap_err().to_string();
        assert!(refusal(folder.path()).contains("is a folder"));
        assert!(refusal(&input).contains("is a file that is read"));
        assert!(refusal(&folder.path().join("none/results.json")).contains("there is no folder"));
    }
}
