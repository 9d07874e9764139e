//! Where results go: standard output, or a file that appears whole or not at all.
//!
//! A file is written under a name of its own in the same folder, brought to the disk, and renamed. What was there before stays until then.
//! The temporary file is locked while its process lives, so that the next run can tell what a killed one has left behind and takes it away.

use std::fmt;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

use crate::failure::Usage;

/// Names of temporary files: this, letters and digits, and [`END`].
const BEGINNING: &str = ".apportion-";
const END: &str = ".part";
/// Letters and digits in the name of a temporary file.
const LETTERS: usize = 12;
/// Times that a temporary file is made anew because another run took it for a left-over.
const ATTEMPTS: usize = 100;
/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

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
        /// Its name as it was given.
        given: PathBuf,
    },
    /// A pipe or a device, which cannot be renamed over.
    Special(PathBuf),
}

impl Destination {
    /// The destination that `--out` names, which must not be one of the `inputs`.
    pub(crate) fn new(out: Option<&Path>, inputs: &[&Path]) -> Result<Self> {
        match out {
            Some(given) => Self::of_option("--out", given, inputs),
            None => Self::standard(inputs),
        }
    }

    /// The destination that `option` names, which must not be one of the `inputs`. `-` is standard output, for `--out` alone: nothing else
    /// goes among the results.
    pub(crate) fn of_option(option: &str, given: &Path, inputs: &[&Path]) -> Result<Self> {
        if [Path::new("-"), Path::new("/dev/stdout")].contains(&given) {
            if option != "--out" {
                let says = format!(
                    "{option} {}: results go to standard output; give the name of a file",
                    given.display()
                );
                return Err(Usage(says).into());
            }
            return Self::standard(inputs);
        }
        if is_opened_already(given) {
            return Ok(Self::Special(given.to_owned()));
        }
        let is_link = fs::symlink_metadata(given).is_ok_and(|metadata| metadata.is_symlink());
        let path = match fs::canonicalize(given) {
            Ok(path) => path,
            Err(_) if is_link && fs::metadata(given).is_err() => {
                bail!("{option} {} is a link that leads nowhere; give the name of a file", given.display())
            }
            Err(_) => given.to_owned(),
        };
        if inputs.iter().any(|input| is_same(input, &path)) {
            bail!("{option} {} is a file that is read; give another name", given.display());
        }
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                bail!("{option} {} is a folder; give the name of a file", given.display())
            }
            Ok(metadata) if !metadata.is_file() => return Ok(Self::Special(path)),
            Ok(metadata) if metadata.permissions().readonly() => {
                bail!(
                    "{option} {} is a file that is protected from writing; give another name, or lift the protection",
                    given.display()
                )
            }
            _ => {}
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).to_owned();
        if path.file_name().is_none() || !folder.is_dir() {
            bail!(
                "{option} {}: there is no folder {}; make it, or give another name",
                given.display(),
                folder.display()
            );
        }
        take_left_overs_away(&folder);
        new_file(&folder, false).with_context(|| {
            format!(
                "{option} {}: no file can be made in the folder {}; give a name in another folder",
                given.display(),
                folder.display()
            )
        })?;
        Ok(Self::File { path, folder, given: given.to_owned() })
    }

    /// Standard output, which must not be led into one of the `inputs`.
    fn standard(inputs: &[&Path]) -> Result<Self> {
        if let Some(input) = inputs.iter().find(|input| is_standard_output(input)) {
            bail!("standard output goes into {}, which is a file that is read", input.display());
        }
        Ok(Self::Standard)
    }

    /// Whether both are the same file.
    pub(crate) fn is_file_of(&self, other: &Self) -> bool {
        let folder_of = |folder: &Path| fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        match (self, other) {
            (Self::File { path, folder, .. }, Self::File { path: other, folder: others, .. }) => {
                let are_named_alike =
                    path.file_name() == other.file_name() && folder_of(folder) == folder_of(others);
                are_named_alike || is_same(path, other)
            }
            _ => false,
        }
    }

    /// The file that is replaced, where there is one.
    pub(crate) fn replaces(&self) -> Option<&Path> {
        match self {
            Self::File { path, given, .. } => path.exists().then_some(given),
            Self::Standard | Self::Special(_) => None,
        }
    }

    /// Whether it is the file `path`, by whatever name.
    pub(crate) fn is_path(&self, path: &Path) -> bool {
        matches!(self, Self::File { path: own, .. } if is_same(own, path))
    }

    /// Begins to write. Nothing is seen of it in a file before [`Sink::finish`].
    pub(crate) fn open(&self) -> Result<Sink> {
        let says = || format!("cannot write {}", self.name());
        let open = match self {
            Self::Standard => Open::Standard(io::stdout()),
            Self::Special(path) => {
                // What is opened already may be a file that others write to as well.
                let file = File::options().append(is_opened_already(path)).write(true).open(path);
                Open::Special(file.with_context(says)?)
            }
            Self::File { path, folder, .. } => {
                let before = fs::metadata(path).ok();
                let file = new_file(folder, before.is_some()).with_context(says)?;
                Open::File(Box::new(Temporary { file, path: path.clone(), folder: folder.clone(), before }))
            }
        };
        let out = Named { open, name: self.name() };
        Ok(Sink { out: BufWriter::with_capacity(BUFFER, out) })
    }

    /// Writes what `write` writes. A file is left as it was where that fails.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        let mut sink = self.open()?;
        write(&mut sink)?;
        sink.finish()
    }

    /// What messages call it.
    fn name(&self) -> String {
        match self {
            Self::Standard => "to standard output".to_owned(),
            Self::File { given: path, .. } | Self::Special(path) => path.display().to_string(),
        }
    }
}

/// A destination that is being written to. Where it is dropped before [`Self::finish`], a file is left as it was.
#[derive(Debug)]
pub(crate) struct Sink {
    out: BufWriter<Named>,
}

impl Sink {
    /// Ends what is written. A file then has its name, and the mode and the owner of the one that it replaces.
    pub(crate) fn finish(self) -> Result<()> {
        let mut out = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        out.flush()?;
        let Named { open, name } = out;
        match open {
            Open::File(temporary) => temporary.persist().map_err(|error| Failed::of(&name, error).into()),
            Open::Standard(_) | Open::Special(_) => Ok(()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// What is open, and what messages call it.
#[derive(Debug)]
struct Named {
    open: Open,
    name: String,
}

#[derive(Debug)]
enum Open {
    Standard(io::Stdout),
    Special(File),
    File(Box<Temporary>),
}

impl Named {
    fn out(&mut self) -> &mut dyn Write {
        match &mut self.open {
            Open::Standard(out) => out,
            Open::Special(file) => file,
            // Not by its own name, which is nobody's matter.
            Open::File(temporary) => temporary.file.as_file_mut(),
        }
    }

    fn failed(&self, error: io::Error) -> io::Error {
        if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) {
            return error;
        }
        let is_gone = matches!(self.open, Open::Standard(_)) && error.kind() == io::ErrorKind::BrokenPipe;
        if is_gone { io::Error::new(error.kind(), ReaderIsGone) } else { Failed::of(&self.name, error) }
    }
}

impl Write for Named {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out().write(bytes).map_err(|error| self.failed(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out().flush().map_err(|error| self.failed(error))
    }
}

/// A file under a name of its own, which takes the place of `path`.
#[derive(Debug)]
struct Temporary {
    file: NamedTempFile,
    path: PathBuf,
    folder: PathBuf,
    /// The file that is replaced, as it was in the beginning.
    before: Option<Metadata>,
}

impl Temporary {
    fn persist(self) -> io::Result<()> {
        let Self { file, path, folder, before } = self;
        if let Some(before) = fs::metadata(&path).ok().or(before) {
            keep_owner_and_mode(file.as_file(), &before)?;
        }
        on_disk(file.as_file())?;
        file.persist(&path).map_err(|failed| failed.error)?;
        on_disk_of_folder(&folder)
    }
}

/// A failure with the name of what could not be written.
#[derive(Debug)]
struct Failed {
    name: String,
    error: io::Error,
}

impl Failed {
    fn of(name: &str, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), Self { name: name.to_owned(), error })
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, error } = self;
        write!(f, "cannot write {name}: {error}")?;
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                f.write_str("; make room, or write to another place")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Failed {}

/// Whoever read standard output does so no more, as `head` does.
#[derive(Debug)]
struct ReaderIsGone;

impl fmt::Display for ReaderIsGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads standard output any more")
    }
}

impl std::error::Error for ReaderIsGone {}

/// Whether `error` says that the reader of standard output went away: nothing that has to be said, and to whom.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<ReaderIsGone>())
    })
}

/// A locked file of a name of its own, taken away unless it is renamed; for its owner alone where it `is_private`.
fn new_file(folder: &Path, is_private: bool) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(BEGINNING).rand_bytes(LETTERS).suffix(END);
    #[cfg(unix)]
    {
        // The process's mask is taken off.
        let mode = if is_private { 0o600 } else { 0o666 };
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = is_private;
    for _ in 0..ATTEMPTS {
        let file = builder.tempfile_in(folder)?;
        // Before it was locked, another run may have taken it for a left-over. Where nothing can be locked, nothing is taken away either.
        let is_ours = !matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
        if is_ours && is_still(file.path(), file.as_file()) {
            return Ok(file);
        }
    }
    Err(io::Error::other("other runs take temporary files away"))
}

/// Takes away the temporary files in `folder` that no running process has locked. What cannot be taken away is left.
fn take_left_overs_away(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !is_temporary_name(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::options().write(true).open(&path) else { continue };
        // Locked until it is away, so that whoever has just made it notices.
        if file.try_lock().is_ok() && is_still(&path, &file) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_temporary_name(name: &str) -> bool {
    let letters = name.strip_prefix(BEGINNING).and_then(|rest| rest.strip_suffix(END));
    letters.is_some_and(|letters| {
        letters.len() == LETTERS && letters.bytes().all(|letter| letter.is_ascii_alphanumeric())
    })
}

/// Whether `path` still is the name of the open `file`.
fn is_still(path: &Path, file: &File) -> bool {
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(named), Ok(open)) => are_one(&named, &open).unwrap_or(true),
        _ => false,
    }
}

/// Whether two names are of one file, through links of any kind.
fn is_same(path: &Path, other: &Path) -> bool {
    let are_one_file = match (fs::metadata(path), fs::metadata(other)) {
        (Ok(metadata), Ok(other)) => are_one(&metadata, &other),
        _ => None,
    };
    are_one_file.unwrap_or_else(|| {
        let path = fs::canonicalize(path);
        path.is_ok_and(|path| fs::canonicalize(other).is_ok_and(|other| other == path))
    })
}

/// Whether both are of one file, where the system tells.
#[cfg(unix)]
fn are_one(metadata: &Metadata, other: &Metadata) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()) == (other.dev(), other.ino()))
}

#[cfg(not(unix))]
fn are_one(_: &Metadata, _: &Metadata) -> Option<bool> {
    None
}

/// Whether standard output goes into the file `path`.
#[cfg(unix)]
fn is_standard_output(path: &Path) -> bool {
    use std::os::fd::AsFd;
    let Ok(standard) = io::stdout().as_fd().try_clone_to_owned() else { return false };
    match (File::from(standard).metadata(), fs::metadata(path)) {
        (Ok(standard), Ok(input)) => standard.is_file() && are_one(&standard, &input) == Some(true),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_standard_output(_: &Path) -> bool {
    false
}

/// Whether `path` stands for a file that this process has open, which is written on and not replaced.
fn is_opened_already(path: &Path) -> bool {
    path == Path::new("/dev/stderr")
        || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
}

/// Gives `file` the mode of the one that it replaces, and its owner and group as far as this process may.
#[cfg(unix)]
fn keep_owner_and_mode(file: &File, before: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    if own.gid() != before.gid() {
        let _ = fchown(file, None, Some(before.gid()));
    }
    if own.uid() != before.uid() {
        let _ = fchown(file, Some(before.uid()), None);
    }
    file.set_permissions(fs::Permissions::from_mode(before.mode() & 0o777))
}

#[cfg(not(unix))]
fn keep_owner_and_mode(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Waits until `file` is on the disk, on file systems that can tell.
fn on_disk(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            Ok(())
        }
        result => result,
    }
}

/// Waits until the new name is on the disk. A folder that cannot be opened is brought there by the system, later.
#[cfg(unix)]
fn on_disk_of_folder(folder: &Path) -> io::Result<()> {
    File::open(folder).map_or(Ok(()), |folder| on_disk(&folder))
}

#[cfg(not(unix))]
fn on_disk_of_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

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
        assert_eq!(entries(folder.path()), ["results.json"]);
    }

    #[test]
    fn what_is_written_over_time_is_seen_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        fs::write(&path, "before").unwrap();
        let destination = Destination::new(Some(&path), &[]).unwrap();
        let mut sink = destination.open().unwrap();
        for line in 0..100_000 {
            writeln!(sink, "{line}").unwrap();
        }
        sink.flush().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before");
        sink.finish().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.lines().eq((0..100_000).map(|line| line.to_string())));

        let mut dropped = destination.open().unwrap();
        dropped.write_all(&[b'x'; 3 * BUFFER]).unwrap();
        drop(dropped);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(entries(folder.path()), ["results.csv"]);
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

    #[cfg(unix)]
    #[test]
    fn links_do_not_hide_a_file_that_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("model.json"), "{}").unwrap();
        fs::hard_link(at("model.json"), at("hard")).unwrap();
        std::os::unix::fs::symlink(at("hard"), at("soft")).unwrap();
        std::os::unix::fs::symlink(at("nothing"), at("dangling")).unwrap();
        let model = at("model.json");
        for name in ["hard", "soft"] {
            let refusal = Destination::new(Some(&at(name)), &[&model]).unwrap_err().to_string();
            assert!(refusal.contains("is a file that is read"), "{refusal}");
        }
        let refusal = Destination::new(Some(&at("dangling")), &[]).unwrap_err().to_string();
        assert!(refusal.contains("leads nowhere"), "{refusal}");
        let one = Destination::new(Some(&at("model.json")), &[]).unwrap();
        assert!(one.is_file_of(&Destination::new(Some(&at("hard")), &[]).unwrap()));
        assert!(!one.is_file_of(&Destination::new(Some(&at("other")), &[]).unwrap()));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_keeps_its_mode_and_what_is_protected_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        for kept in [0o600, 0o640, 0o666] {
            fs::write(&path, "before").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            let destination = Destination::new(Some(&path), &[]).unwrap();
            let mut sink = destination.open().unwrap();
            sink.write_all(b"after").unwrap();
            let Open::File(temporary) = &sink.out.get_ref().open else { panic!("it is a file") };
            let private = temporary.file.as_file().metadata().unwrap().permissions().mode();
            assert_eq!(private & 0o077, 0, "nobody else reads it meanwhile");
            sink.finish().unwrap();
            assert_eq!((fs::read(&path).unwrap().as_slice(), mode()), (b"after".as_slice(), kept));
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let refusal = Destination::new(Some(&path), &[]).unwrap_err().to_string();
        assert!(refusal.contains("protected from writing"), "{refusal}");
    }

    #[test]
    fn left_overs_are_taken_away_and_files_of_running_processes_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let running = new_file(folder.path(), false).unwrap();
        let running_name = running.path().file_name().unwrap().to_string_lossy().into_owned();
        assert!(is_temporary_name(&running_name), "{running_name}");
        fs::write(at(".apportion-abcDEF012345.part"), "left").unwrap();
        let others = [".apportion-notes", ".apportion-abcDEF012345", "apportion-abcDEF012345.part"];
        for name in others {
            fs::write(at(name), "a user's").unwrap();
        }
        Destination::new(Some(&at("results.json")), &[]).unwrap();
        let mut kept: Vec<String> = others.iter().map(ToString::to_string).collect();
        kept.push(running_name);
        kept.sort();
        assert_eq!(entries(folder.path()), kept);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_told_with_what_to_do() {
        let destination = Destination::new(Some(Path::new("/dev/full")), &[]).unwrap();
        let says = format!("{:#}", destination.write(|out| Ok(out.write_all(b"x")?)).unwrap_err());
        assert!(says.starts_with("cannot write /dev/full: No space left on device"), "{says}");
        assert!(says.ends_with("; make room, or write to another place"), "{says}");
    }
}
