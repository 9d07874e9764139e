//! A process that exchanges lines with this program.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::interrupt;

/// Time for a process to exit after its standard input is closed.
const GRACE: Duration = Duration::from_secs(2);

/// Time to wait for the rest of the standard error of a process after the process has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Number of bytes of standard error that are kept.
const KEPT: usize = 4096;
/// Number of lines of standard error that are shown.
const TOLD: usize = 3;

/// Reason why no line was received.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The timeout expired after this number of bytes of an incomplete line.
    Silent(usize),
    /// The process has ended; contains a description of how it ended.
    RunResult(String),
    /// A line is longer than this number of bytes.
    LongLine(usize),
}

/// A running process. Separate threads write to the process and read from it, so that full pipes cannot cause
/// a deadlock.
pub(crate) struct Process {
    child: Child,
    /// Whether the process is known to have ended, after which its ID may be reused by another process.
    has_ended: bool,
    /// Lines to write to standard input; dropping the sender closes it.
    input: Option<Sender<String>>,
    output: Receiver<io::Result<String>>,
    /// Number of bytes received so far of an incomplete line.
    unfinished: Arc<AtomicUsize>,
    /// The last bytes of the process's standard error.
    errors: Arc<Mutex<Vec<u8>>>,
    /// The thread that reads standard error.
    listener: JoinHandle<()>,
    /// Maximum number of bytes of a line.
    max_line: usize,
}

impl Process {
    /// Runs a shell command. Output lines of more than `max_line` bytes are rejected. The standard error of
    /// the command is passed on.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub(crate) fn start(command: &str, max_line: usize) -> io::Result<Self> {
        let mut shell = shell(command);
        let mut child =
            interrupt::start(shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let Some(((stdin, stdout), stderr)) = pipes else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let thread = |name: &str| thread::Builder::new().name(name.to_owned());
        let (input, to_write) = mpsc::channel();
        let (came, output) = mpsc::sync_channel(1);
        let errors: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = Arc::clone(&errors);
        let listener = thread("estimator-errors").spawn(move || listen(stderr, &kept))?;
        let unfinished: Arc<AtomicUsize> = Arc::default();
        let begun = Arc::clone(&unfinished);
        let process = Self {
            child,
            has_ended: false,
            input: Some(input),
            output,
            unfinished,
            errors,
            listener,
            max_line,
        };
        thread("estimator-input").spawn(move || write(stdin, &to_write))?;
        thread("estimator-output").spawn(move || read(stdout, max_line, &begun, &came))?;
        Ok(process)
    }

    /// Returns the maximum number of bytes of a line.
    pub(super) fn max_line(&self) -> usize {
        self.max_line
    }

    /// Returns the last lines that the process wrote to its standard error.
    pub(crate) fn last_words(&self) -> String {
        let deadline = Instant::now() + LAST_WORDS;
        while self.has_ended && !self.listener.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&errors);
        let mut lines: Vec<&str> =
            text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(TOLD).collect();
        lines.reverse();
        match lines.is_empty() {
            true => "it wrote nothing to standard error".to_owned(),
            false => format!("its standard error ends with {:?}", lines.join(" / ")),
        }
    }

    /// Writes a line, which must include its line end. If the process does not read the line, the next `read`
    /// returns the reason.
    pub(crate) fn write(&self, line: String) {
        if let Some(input) = &self.input {
            let _ = input.send(line);
        }
    }

    /// Reads the next line.
    ///
    /// # Errors
    ///
    /// If there is no line within `limit`.
    pub(crate) fn read(&mut self, limit: Duration) -> Result<String, Ending> {
        match self.output.recv_timeout(limit) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(error)) if error.kind() == io::ErrorKind::FileTooLarge => {
                Err(Ending::LongLine(self.max_line))
            }
            Ok(Err(error)) => Err(Ending::RunResult(error.to_string())),
            Err(RecvTimeoutError::Timeout) => Err(Ending::Silent(self.unfinished.load(Ordering::Relaxed))),
            Err(RecvTimeoutError::Disconnected) => Err(Ending::RunResult(self.end())),
        }
    }

    /// Waits up to two seconds for the process to exit, and returns a description of how it ended. If it
    /// exits in time, the processes that it started and left running are killed.
    pub(crate) fn end(&mut self) -> String {
        self.input = None;
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if has_ended(&mut self.child) {
                return self.end_all();
            }
            thread::sleep(Duration::from_millis(2));
        }
        "it closed its output and kept running".to_owned()
    }

    /// Kills the process and everything it has started, and returns a description of how the process ended.
    fn end_all(&mut self) -> String {
        interrupt::end(&mut self.child);
        self.has_ended = true;
        match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }
}

impl Drop for Process {
    /// Kills the process and everything it has started, if still running. It is not an error if the process
    /// has ended in the meantime.
    fn drop(&mut self) {
        self.input = None;
        if !self.has_ended {
            self.end_all();
        }
    }
}

fn write(mut input: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read(output: ChildStdout, max_line: usize, begun: &AtomicUsize, came: &SyncSender<io::Result<String>>) {
    let mut output = BufReader::new(output);
    loop {
        let said = match read_line(&mut output, max_line, begun) {
            Ok(line) if line.is_empty() => return,
            Ok(line) if line.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(line) => Ok(String::from_utf8_lossy(&line).into_owned()),
            Err(error) => Err(error),
        };
        let is_over = said.is_err();
        if came.send(said).is_err() || is_over {
            return;
        }
    }
}

/// Reads a line including its end, or the remaining bytes at the end of the stream; `begun` is set to the
/// number of bytes read so far.
fn read_line(output: &mut impl BufRead, max_line: usize, begun: &AtomicUsize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let piece = match output.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            piece => piece?,
        };
        let end = piece.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(piece.len(), |at| at + 1);
        if line.len() + taken > max_line {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        line.extend_from_slice(&piece[..taken]);
        output.consume(taken);
        if end.is_some() || taken == 0 {
            begun.store(0, Ordering::Relaxed);
            return Ok(line);
        }
        begun.store(line.len(), Ordering::Relaxed);
    }
}

/// Passes the standard error of a process on, and stores the last bytes of it.
fn listen(mut stderr: ChildStderr, errors: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut piece) {
        // Ignore errors: our standard error may be closed.
        let _ = io::stderr().write_all(&piece[..count]);
        let mut kept = errors.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&piece[..count]);
        let beyond = kept.len().saturating_sub(KEPT);
        kept.drain(..beyond);
    }
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt;

    let mut shell = Command::new("sh");
    // A separate process group allows us to kill everything that the shell starts.
    shell.arg("-c").arg(command).process_group(0);
    shell
}

#[cfg(windows)]
fn shell(command: &str) -> Command {
    use std::os::windows::process::CommandExt;

    let mut shell = Command::new("cmd");
    // Pass the command to the shell unchanged, including quotes.
    shell.raw_arg("/C").raw_arg(command);
    shell
}

/// Returns whether a child process has ended, without reaping it, so that its ID is not reused before its
/// process group is killed.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    id.is_some_and(|id| !matches!(waitid(WaitId::Pid(id), options), Ok(None)))
}

#[cfg(windows)]
fn has_ended(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(Some(_)))
}
