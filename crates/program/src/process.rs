//! A process that runs a shell command.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time that a process has to exit after its standard input or output was closed, before it is killed.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// Maximum number of bytes kept from the end of a process's standard error.
const KEPT: usize = 4096;
/// Maximum number of lines of standard error in a message.
const STDERR_TAIL_LINES: usize = 3;
/// Maximum number of characters of a line in a message.
const TOLD_OF_A_LINE: usize = 300;

/// IDs of the running processes of all programs.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// Whether [`end_all`] was called.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Kills all programs that this process runs, with all processes that they started. No new programs can be
/// started afterwards. Callers that wait for an answer receive
/// [`ProgramError::Stopped`](crate::ProgramError::Stopped).
///
/// Call this function from interrupt handlers, because interrupts do not reach the programs themselves.
pub fn end_all() {
    // Set the flag first: otherwise a process started concurrently would not be killed.
    ENDED.store(true, Ordering::SeqCst);
    let running = std::mem::take(&mut *RUNNING.lock().unwrap_or_else(PoisonError::into_inner));
    running.into_iter().for_each(kill_with_all);
}

/// Returns whether [`end_all`] was called.
pub(crate) fn were_ended() -> bool {
    ENDED.load(Ordering::SeqCst)
}

/// A process with all processes that it started. On Unix, no process of the process group outlives this
/// value.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    status: Option<ExitStatus>,
    /// The last bytes that the process wrote to standard error.
    errors: Arc<Mutex<Vec<u8>>>,
    listener: Option<JoinHandle<()>>,
}

/// The standard input and output of a process.
pub(crate) struct Pipes {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
}

impl Process {
    /// Runs a command with the shell.
    pub(crate) fn start(command: &str) -> io::Result<(Self, Pipes)> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if were_ended() {
            return Err(io::Error::other("all programs were stopped"));
        }
        let mut child =
            shell(command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        running.push(child.id());
        drop(running);
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let errors = Arc::default();
        let mut process = Self { child, status: None, errors, listener: None };
        let Some(((input, output), stderr)) = pipes else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let errors = Arc::clone(&process.errors);
        process.listener = Some(
            thread::Builder::new().name("program-errors".into()).spawn(move || listen(stderr, &errors))?,
        );
        Ok((process, Pipes { input, output }))
    }

    /// Returns the exit status if the process ends within `limit`.
    pub(crate) fn status_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_micros(200);
        loop {
            if self.status.is_none() && has_ended(&mut self.child) {
                // Kill the background processes that the process started. This must happen before `wait`,
                // after which the system may reuse its ID, which is also the ID of its group.
                kill_with_all(self.child.id());
                self.status = self.child.wait().ok();
                self.forget();
            }
            if self.status.is_some() || Instant::now() >= deadline {
                return self.status;
            }
            thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(20));
        }
    }

    /// Kills the process and all processes that it started.
    pub(crate) fn kill(&mut self) {
        if self.status_within(Duration::ZERO).is_none() {
            kill_all(&mut self.child);
            self.status = self.child.wait().ok();
            self.forget();
        }
    }

    /// Removes an ended process from the list, because its ID may be reused by another process.
    fn forget(&self) {
        if self.status.is_some() {
            let id = self.child.id();
            RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|&running| running != id);
        }
    }

    /// Returns the last lines of standard error for a message. Waits up to half a second for the end of
    /// standard error.
    pub(crate) fn error_output(&mut self) -> String {
        let deadline = Instant::now() + Duration::from_millis(500);
        while self.listener.as_ref().is_some_and(|listener| !listener.is_finished())
            && Instant::now() < deadline
        {
            thread::sleep(Duration::from_millis(1));
        }
        stderr_tail(&self.errors.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Process {
    /// Waits for the process to exit after the end of its standard input, and kills it if it does not.
    fn drop(&mut self) {
        if self.status_within(GRACE).is_none() {
            self.kill();
        }
    }
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt;

    let mut shell = Command::new("sh");
    // Start a separate process group, so that all processes that the shell starts can be killed, and keyboard
    // interrupts do not reach them.
    shell.arg("-c").arg(command).process_group(0);
    shell
}

#[cfg(windows)]
fn shell(command: &str) -> Command {
    use std::os::windows::process::CommandExt;

    let mut shell = Command::new("cmd");
    // Pass the command unchanged, including quotes.
    shell.raw_arg("/C").raw_arg(command);
    shell
}

/// Returns whether a process has ended, without reaping it: its ID must remain valid until its group is
/// killed.
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

/// Kills a process and all processes that it started.
fn kill_all(child: &mut Child) {
    kill_with_all(child.id());
    // Kill the process itself as well, in case killing its group failed. Ignore errors: the process may have
    // ended in the meantime.
    let _ = child.kill();
}

/// Kills the process with this ID and all processes that it started. Errors are ignored, because the process
/// may already have ended.
#[cfg(unix)]
fn kill_with_all(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(id, Signal::KILL);
    }
}

#[cfg(windows)]
fn kill_with_all(id: u32) {
    let _ = Command::new("taskkill").args(["/T", "/F", "/PID", &id.to_string()]).output();
}

/// Forwards the program's standard error to the standard error of this process, and keeps the last bytes.
fn listen(mut stderr: ChildStderr, errors: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    loop {
        match stderr.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                // Ignore errors: the standard error of this process may be closed.
                let _ = io::stderr().write_all(&piece[..count]);
                let mut kept = errors.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&piece[..count]);
                let beyond = kept.len().saturating_sub(KEPT);
                kept.drain(..beyond);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Formats the last non-empty lines, with control characters escaped.
fn stderr_tail(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let mut lines: Vec<&str> =
        text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(STDERR_TAIL_LINES).collect();
    lines.reverse();
    if lines.is_empty() {
        return "its standard error is empty".to_owned();
    }
    let lines: Vec<String> = lines.into_iter().map(shown).collect();
    format!("its standard error ends with: {}", lines.join(" / "))
}

/// Formats a line for a message: truncated, with control characters escaped.
pub(crate) fn shown(line: &str) -> String {
    let mut shown = String::new();
    for (index, character) in line.chars().enumerate() {
        match character {
            _ if index == TOLD_OF_A_LINE => {
                shown.push('…');
                break;
            }
            character if character.is_control() => shown.extend(character.escape_default()),
            character => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told_in_one() {
        assert_eq!(stderr_tail(b""), "its standard error is empty");
        assert_eq!(stderr_tail(b"\n \n"), "its standard error is empty");
        let told = stderr_tail(b"one\ntwo\n\n  three\x1b[1m\r\nfo\xffur\n");
        assert_eq!(told, "its standard error ends with: two / three\\u{1b}[1m / fo\u{fffd}ur");
        assert_eq!(shown(&"ü".repeat(400)), "ü".repeat(300) + "…");
    }
}
