//! Destinations of results: standard output, or a file that is written atomically.
//!
//! A file is written to a temporary file in the same directory, synced to disk, and renamed. Until then, an
//! existing file at this path is unchanged. The temporary file is locked during the lifetime of its process,
//! so that the next run can detect and delete the temporary files of killed runs.

use std::fmt;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::FileError;

/// Prefix of the names of temporary files. It is followed by random letters and digits, and [`END`].
const BEGINNING: &str = ".apportion-";
const END: &str = ".part";
/// Number of random letters and digits in the name of a temporary file.
const LETTERS: usize = 12;
/// Maximum number of attempts to create a temporary file, if other runs delete it as a left-over.
const ATTEMPTS: usize = 100;
/// Size of the write buffer in bytes.
const BUFFER: usize = 1 << 16;

/// A destination of results. It is created before any computation, so that an invalid path is reported
/// immediately.
#[derive(Debug, Clone)]
pub enum Destination {
    /// Standard output.
    Standard,
    /// A file, which is written under a temporary name in `directory` and renamed when it is complete.
    File {
        /// The path of the file, with links resolved.
        path: PathBuf,
        /// The directory of the file.
        directory: PathBuf,
        /// The name of the file in messages: an option and the path as given, or the path alone.
        what: String,
        /// The path as given.
        given: PathBuf,
    },
    /// A descriptor, a pipe or a device. It is written to directly, not replaced.
    Special(PathBuf),
}

impl Destination {
    /// Returns the destination set with `--out`, which must not be one of the `inputs`; standard output if
    /// `out` is `None`.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the destination cannot be written or is an input, or if standard output is redirected
    /// to an input.
    pub fn new(out: Option<&Path>, inputs: &[&Path]) -> Result<Self, FileError> {
        match out {
            Some(given) => Self::from_option("--out", given, inputs),
            None => Self::standard(inputs),
        }
    }

    /// Returns the destination set with an option of the command, which must not be one of the `inputs`. `-`
    /// is standard output, for `--out` only, because other output must not be mixed with the results.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new), and [`FileError::StandardOutput`] if an option other than `--out`
    /// specifies standard output.
    pub fn from_option(option: &str, given: &Path, inputs: &[&Path]) -> Result<Self, FileError> {
        let what = format!("{option} {}", given.display());
        if given == Path::new("-") || descriptor(given) == Some(1) {
            return match option {
                "--out" => Self::standard(inputs),
                _ => Err(FileError::StandardOutput { what }),
            };
        }
        Self::named(what, given, inputs)
    }

    /// Returns the destination with this path, which must not be one of the `inputs`. Error messages prefix
    /// the path with `what`, unless `what` is empty.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the path is an input, a directory or a broken link, if its directory does not exist,
    /// or if the system rejects it.
    pub fn file(what: &str, given: &Path, inputs: &[&Path]) -> Result<Self, FileError> {
        let space = if what.is_empty() { "" } else { " " };
        Self::named(format!("{what}{space}{}", given.display()), given, inputs)
    }

    fn named(what: String, given: &Path, inputs: &[&Path]) -> Result<Self, FileError> {
        if inputs.iter().any(|input| is_same(input, given)) {
            return Err(FileError::Input { what });
        }
        if descriptor(given).is_some() {
            return match fs::metadata(given) {
                Ok(_) => Ok(Self::Special(given.to_owned())),
                Err(source) => Err(FileError::NotWritable { what, source }),
            };
        }
        let path = match fs::canonicalize(given) {
            Ok(path) => path,
            Err(_) if fs::symlink_metadata(given).is_ok_and(|metadata| metadata.is_symlink()) => {
                return Err(FileError::BrokenLink { what });
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                given.to_owned()
            }
            Err(source) => return Err(FileError::NotWritable { what, source }),
        };
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return Err(FileError::Directory { what }),
            Ok(metadata) if !metadata.is_file() => return Ok(Self::Special(path)),
            Ok(metadata) => check_writable(&path, &metadata)
                .map_err(|source| FileError::NotWritable { what: what.clone(), source })?,
            Err(_) => {}
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new(".")).to_owned();
        if path.file_name().is_none() || !directory.is_dir() {
            return Err(FileError::NoDirectory { what, directory });
        }
        take_left_overs_away(&directory);
        if let Err(source) = new_file(&directory, false) {
            return Err(FileError::NotWritable { what, source });
        }
        Ok(Self::File { path, directory, what, given: given.to_owned() })
    }

    /// Returns standard output, which must not be redirected to one of the `inputs`.
    fn standard(inputs: &[&Path]) -> Result<Self, FileError> {
        if let Some(input) = inputs.iter().find(|input| is_standard_output(input)) {
            let input = if is_standard_input(input) {
                "the file of standard input".to_owned()
            } else {
                input.display().to_string()
            };
            return Err(FileError::StandardOutputIsInput { input });
        }
        Ok(Self::Standard)
    }

    /// Returns whether a path names a descriptor of this process, such as `/dev/fd/3`. Other processes may
    /// write to the same file.
    pub fn is_descriptor(path: &Path) -> bool {
        descriptor(path).is_some()
    }

    /// Returns whether both destinations are the same file.
    pub fn is_file_of(&self, other: &Self) -> bool {
        let directory_of =
            |directory: &Path| fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        match (self, other) {
            (Self::File { path, directory, .. }, Self::File { path: other, directory: others, .. }) => {
                let have_same_name =
                    path.file_name() == other.file_name() && directory_of(directory) == directory_of(others);
                have_same_name || is_same(path, other)
            }
            _ => false,
        }
    }

    /// Returns the path, as given, of an existing file that will be replaced; `None` if no file will be
    /// replaced.
    pub fn replaces(&self) -> Option<&Path> {
        match self {
            Self::File { path, given, .. } => path.exists().then_some(given),
            Self::Standard | Self::Special(_) => None,
        }
    }

    /// Returns whether the destination is the file `path`, under any name.
    pub fn is_path(&self, path: &Path) -> bool {
        matches!(self, Self::File { path: own, .. } if is_same(own, path))
    }

    /// Opens the destination for writing. An existing file does not change before [`Sink::finish`].
    ///
    /// # Errors
    ///
    /// [`FileError::Write`] if the destination cannot be written.
    pub fn open(&self) -> Result<Sink, FileError> {
        let failed = |error| Failed::wrap(&self.name(), error);
        let open = match self {
            Self::Standard => Open::Standard(io::stdout()),
            Self::Special(path) => {
                // An open descriptor may refer to a file that other processes write to as well.
                let file = File::options().append(descriptor(path).is_some()).write(true).open(path);
                Open::Special(file.map_err(failed)?)
            }
            Self::File { path, directory, .. } => {
                let before = fs::metadata(path).ok();
                let file = new_file(directory, before.is_some()).map_err(failed)?;
                Open::File(Box::new(Temporary {
                    file,
                    path: path.clone(),
                    directory: directory.clone(),
                    before,
                }))
            }
        };
        let out = NamedOutput { open, name: self.name() };
        Ok(Sink { out: BufWriter::with_capacity(BUFFER, out) })
    }

    /// Opens the destination, calls `write`, and completes the file. If `write` fails, an existing file is
    /// not changed.
    ///
    /// # Errors
    ///
    /// The errors of `write`, and [`FileError::Write`].
    pub fn write<E: From<FileError>>(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut sink = self.open()?;
        write(&mut sink)?;
        Ok(sink.finish()?)
    }

    /// Returns the name of the destination for messages about writing.
    fn name(&self) -> String {
        match self {
            Self::Standard => "to standard output".to_owned(),
            Self::File { given: path, .. } | Self::Special(path) => path.display().to_string(),
        }
    }

    /// Returns the name of the destination for messages about invalid options: the option, and the path as
    /// given.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::File { what, .. } => what.clone(),
            _ => self.name(),
        }
    }
}

/// A destination that is open for writing. If it is dropped before [`Self::finish`], an existing file is not
/// changed.
#[derive(Debug)]
pub struct Sink {
    out: BufWriter<NamedOutput>,
}

impl Sink {
    /// Completes writing. The file then appears under its path, with the mode and the owner of the file that
    /// it replaces.
    ///
    /// # Errors
    ///
    /// [`FileError::Write`]. In this case, an existing file is not changed.
    pub fn finish(self) -> Result<(), FileError> {
        self.finish_as(false).map(drop)
    }

    /// Completes writing, and returns the file, which stays locked as long as it is open. If `is_new`, it
    /// must not replace an existing file.
    pub(crate) fn finish_as(self, is_new: bool) -> Result<Option<File>, FileError> {
        let mut out = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        out.flush()?;
        let NamedOutput { open, name } = out;
        match open {
            Open::File(temporary) => {
                Ok(Some(temporary.persist(is_new).map_err(|error| Failed::wrap(&name, error))?))
            }
            Open::Standard(_) | Open::Special(_) => Ok(None),
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

/// The open destination, and its name in messages.
#[derive(Debug)]
struct NamedOutput {
    open: Open,
    name: String,
}

#[derive(Debug)]
enum Open {
    Standard(io::Stdout),
    Special(File),
    File(Box<Temporary>),
}

impl NamedOutput {
    fn out(&mut self) -> &mut dyn Write {
        match &mut self.open {
            Open::Standard(out) => out,
            Open::Special(file) => file,
            // Bypass `NamedTempFile`, whose errors contain the temporary name.
            Open::File(temporary) => temporary.file.as_file_mut(),
        }
    }

    fn failed(&self, error: io::Error) -> io::Error {
        if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) {
            return error;
        }
        let is_gone = matches!(self.open, Open::Standard(_)) && error.kind() == io::ErrorKind::BrokenPipe;
        if is_gone { io::Error::new(error.kind(), ReaderIsGone) } else { Failed::wrap(&self.name, error) }
    }
}

impl Write for NamedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out().write(bytes).map_err(|error| self.failed(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out().flush().map_err(|error| self.failed(error))
    }
}

/// A temporary file that will replace `path`.
#[derive(Debug)]
struct Temporary {
    file: NamedTempFile,
    path: PathBuf,
    directory: PathBuf,
    /// The metadata of the replaced file when writing started.
    before: Option<Metadata>,
}

impl Temporary {
    fn persist(self, is_new: bool) -> io::Result<File> {
        let Self { file, path, directory, before } = self;
        if let Some(before) = fs::metadata(&path).ok().or(before) {
            keep_owner_and_mode(file.as_file(), &before)?;
        }
        on_disk(file.as_file())?;
        let persisted = if is_new { file.persist_noclobber(&path) } else { file.persist(&path) };
        let file = persisted.map_err(|failed| failed.error)?;
        on_disk_of_directory(&directory)?;
        Ok(file)
    }
}

/// An I/O error, with the name of the destination.
#[derive(Debug)]
struct Failed {
    name: String,
    error: io::Error,
}

impl Failed {
    fn wrap(name: &str, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), Self { name: name.to_owned(), error })
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, error } = self;
        write!(f, "cannot write {name}: {error}")?;
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                f.write_str("; free some space, or choose another path")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// The error for a standard output that was closed by its reader, such as `head`.
#[derive(Debug)]
struct ReaderIsGone;

impl fmt::Display for ReaderIsGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("standard output was closed by its reader")
    }
}

impl std::error::Error for ReaderIsGone {}

/// Returns whether `error` is, or is caused by, a standard output that its reader, such as `head`, has
/// closed. In this case, nothing can be written there.
pub fn is_closed_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let io = match error.downcast_ref() {
            Some(FileError::Write(io)) => Some(io),
            _ => error.downcast_ref::<io::Error>(),
        };
        if io.and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<ReaderIsGone>()) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Creates a locked temporary file, which is deleted unless it is renamed. If `is_private` is set, only its
/// owner can access it.
fn new_file(directory: &Path, is_private: bool) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(BEGINNING).rand_bytes(LETTERS).suffix(END);
    #[cfg(unix)]
    {
        // The umask of the process is applied to this mode.
        let mode = if is_private { 0o600 } else { 0o666 };
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = is_private;
    for _ in 0..ATTEMPTS {
        let file = builder.tempfile_in(directory).map_err(without_temporary_name)?;
        // Before the file was locked, another run may have deleted it as a left-over. On file systems without
        // locks, left-overs are not deleted either.
        let is_ours = !matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
        if is_ours && is_still(file.path(), file.as_file()) {
            return Ok(file);
        }
    }
    Err(io::Error::other("another run keeps deleting the temporary file"))
}

/// Returns the error of the system without the name of the temporary file, which would be confusing.
fn without_temporary_name(error: io::Error) -> io::Error {
    #[cfg(unix)]
    if error.raw_os_error().is_none() {
        use rustix::io::Errno;
        let number = match error.kind() {
            io::ErrorKind::NotFound => Errno::NOENT,
            io::ErrorKind::PermissionDenied => Errno::ACCESS,
            io::ErrorKind::ReadOnlyFilesystem => Errno::ROFS,
            io::ErrorKind::StorageFull => Errno::NOSPC,
            io::ErrorKind::QuotaExceeded => Errno::DQUOT,
            io::ErrorKind::NotADirectory => Errno::NOTDIR,
            _ => return error,
        };
        return io::Error::from_raw_os_error(number.raw_os_error());
    }
    error
}

/// Deletes the temporary files in `directory` that no running process has locked. Files that cannot be
/// deleted are skipped.
fn take_left_overs_away(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !is_temporary_name(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = File::options().write(true).open(&path) else { continue };
        // Keep the lock until the file is deleted, so that a run that has just created the file notices the
        // deletion.
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

/// Returns whether `path` still refers to the open `file`.
pub(crate) fn is_still(path: &Path, file: &File) -> bool {
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(named), Ok(open)) => are_one(&named, &open).unwrap_or(true),
        _ => false,
    }
}

/// Returns whether an input and a path are the same file, also through links of any kind. The input may be
/// standard input, `-`.
fn is_same(input: &Path, path: &Path) -> bool {
    let are_one_file = match (metadata_of_input(input), fs::metadata(path)) {
        (Ok(metadata), Ok(other)) => {
            if is_kept(&other) {
                are_one(&metadata, &other)
            } else {
                Some(false)
            }
        }
        _ => None,
    };
    are_one_file.unwrap_or_else(|| {
        let input = fs::canonicalize(input);
        input.is_ok_and(|input| fs::canonicalize(path).is_ok_and(|path| path == input))
    })
}

/// Returns whether reading and writing the same file would interfere. Character devices (such as terminals)
/// and sockets may be both an input and an output.
fn is_kept(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        !kind.is_char_device() && !kind.is_socket()
    }
    #[cfg(not(unix))]
    metadata.is_file()
}

fn is_standard_input(input: &Path) -> bool {
    input == Path::new("-") || descriptor(input) == Some(0)
}

#[cfg(unix)]
fn metadata_of_input(input: &Path) -> io::Result<Metadata> {
    use std::os::fd::AsFd;
    match is_standard_input(input) {
        true => File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata(),
        false => fs::metadata(input),
    }
}

#[cfg(not(unix))]
fn metadata_of_input(input: &Path) -> io::Result<Metadata> {
    fs::metadata(input)
}

/// Returns whether both files are the same. Returns `None` if the system does not provide this information.
#[cfg(unix)]
fn are_one(metadata: &Metadata, other: &Metadata) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()) == (other.dev(), other.ino()))
}

#[cfg(not(unix))]
fn are_one(_: &Metadata, _: &Metadata) -> Option<bool> {
    None
}

/// Returns whether standard output is redirected to the file `path`.
#[cfg(unix)]
fn is_standard_output(path: &Path) -> bool {
    use std::os::fd::AsFd;
    let Ok(standard) = io::stdout().as_fd().try_clone_to_owned() else { return false };
    match (File::from(standard).metadata(), metadata_of_input(path)) {
        (Ok(standard), Ok(input)) => standard.is_file() && are_one(&standard, &input) == Some(true),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_standard_output(_: &Path) -> bool {
    false
}

/// Returns the number of the descriptor of this process that `path` names, if any. A descriptor is written to
/// directly, not replaced.
fn descriptor(path: &Path) -> Option<u32> {
    let standard = [("/dev/stdin", 0), ("/dev/stdout", 1), ("/dev/stderr", 2)];
    if let Some((_, number)) = standard.into_iter().find(|(name, _)| path == Path::new(name)) {
        return Some(number);
    }
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let directory = fs::canonicalize(path.parent()?).ok()?;
    let is_of_descriptors = |known: &str| fs::canonicalize(known).is_ok_and(|known| known == directory);
    ["/dev/fd", "/proc/self/fd"].into_iter().any(is_of_descriptors).then_some(number)
}

/// Returns an error for a file that is read-only or cannot be opened for writing. The read-only flag is
/// tested separately, because the system lets root write to a read-only file.
fn check_writable(path: &Path, metadata: &Metadata) -> io::Result<()> {
    if metadata.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    match File::options().write(true).open(path) {
        // The executable of a running program can be replaced, although it cannot be written.
        Err(error) if error.kind() != io::ErrorKind::ExecutableFileBusy => Err(error),
        _ => Ok(()),
    }
}

/// Copies the mode of the replaced file to `file`, and its owner and group if this process is allowed to.
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

/// Syncs `file` to disk, on file systems that support it.
fn on_disk(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            Ok(())
        }
        result => result,
    }
}

/// Syncs the directory to disk, and thereby the new name of a file. If the directory cannot be opened, the
/// system syncs it later.
#[cfg(unix)]
fn on_disk_of_directory(directory: &Path) -> io::Result<()> {
    File::open(directory).map_or(Ok(()), |directory| on_disk(&directory))
}

#[cfg(not(unix))]
fn on_disk_of_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Written = Result<(), FileError>;

    fn entries(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_and_nothing_is_left_behind_by_a_failure() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.json");
        let destination = Destination::new(Some(&path), &[]).unwrap();
        let failed = destination.write(|out| {
            out.write_all(b"half")?;
            Err(FileError::from(io::Error::other("no more")))
        });
        assert!(failed.unwrap_err().to_string().contains("no more"));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

        destination.write(|out| -> Written { Ok(out.write_all(b"whole")?) }).unwrap();
        destination.write(|_| -> Written { Err(io::Error::other("again").into()) }).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(entries(directory.path()), ["results.json"]);
    }

    #[test]
    fn what_is_written_over_time_is_seen_when_it_is_finished() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.csv");
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
        assert_eq!(entries(directory.path()), ["results.csv"]);
    }

    #[test]
    fn a_directory_a_file_that_is_read_and_a_place_that_is_not_there_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join("model.json");
        fs::write(&input, "{}").unwrap();
        let refusal = |path: &Path| Destination::new(Some(path), &[&input]).unwrap_err().to_string();
        assert!(refusal(directory.path()).contains("is a directory"));
        assert!(refusal(&input).contains("would overwrite an input file"));
        assert!(refusal(&directory.path().join("none/results.json")).contains("does not exist"));
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_hide_a_file_that_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("model.json"), "{}").unwrap();
        fs::hard_link(at("model.json"), at("hard")).unwrap();
        std::os::unix::fs::symlink(at("hard"), at("soft")).unwrap();
        std::os::unix::fs::symlink(at("nothing"), at("dangling")).unwrap();
        let model = at("model.json");
        for name in ["hard", "soft"] {
            let refusal = Destination::new(Some(&at(name)), &[&model]).unwrap_err().to_string();
            assert!(refusal.contains("would overwrite an input file"), "{refusal}");
        }
        let refusal = Destination::new(Some(&at("dangling")), &[]).unwrap_err().to_string();
        assert!(refusal.contains("is a broken symbolic link"), "{refusal}");
        let one = Destination::new(Some(&at("model.json")), &[]).unwrap();
        assert!(one.is_file_of(&Destination::new(Some(&at("hard")), &[]).unwrap()));
        assert!(!one.is_file_of(&Destination::new(Some(&at("other")), &[]).unwrap()));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_keeps_its_mode_and_what_is_protected_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.json");
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
        assert!(refusal.contains("cannot be written: permission denied"), "{refusal}");
    }

    #[test]
    fn left_overs_are_taken_away_and_files_of_running_processes_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let running = new_file(directory.path(), false).unwrap();
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
        assert_eq!(entries(directory.path()), kept);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_told_with_what_to_do() {
        let destination = Destination::new(Some(Path::new("/dev/full")), &[]).unwrap();
        let says = destination.write(|out| -> Written { Ok(out.write_all(b"x")?) }).unwrap_err().to_string();
        assert!(says.starts_with("cannot write /dev/full: No space left on device"), "{says}");
        assert!(says.ends_with("; free some space, or choose another path"), "{says}");
    }
}
