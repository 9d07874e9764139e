//! A running process of a program, which answers batches of rows.

use std::collections::VecDeque;
use std::io::Write;
use std::process::{ChildStdin, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use apportion_games::Rows;

use crate::answers::{self, Answer, End};
use crate::error::{Batch, ProgramError};
use crate::options::ProgramOptions;
use crate::process::{GRACE, Pipes, Process};
use crate::requests::Requests;

/// Maximum number of batches that were sent to a process and not yet answered: the current batch and the next
/// one.
const AHEAD: usize = 2;
/// Maximum number of queued events. The threads wait while the queue is full.
const WAITING: usize = 8;

/// A running process, with one thread that writes to it and another thread that reads from it, so that
/// writing and reading do not block each other.
pub(crate) struct Child {
    /// The batches to write. Dropping this sender closes the standard input of the process. Dropping
    /// `process` waits for the process to end, so this field must be dropped first and is declared first.
    batches: Sender<Vec<u8>>,
    events: Receiver<Event>,
    process: Process,
    answers: VecDeque<Answer>,
    /// The reason why the output ended, until it is reported. Answers received before the end are returned
    /// first.
    end: Option<End>,
    /// Number of rows of the current answer received so far.
    came: Arc<AtomicUsize>,
    /// Three counts of batches: batches sent to the writer thread, batches written to the pipe (from which
    /// the process may have read them), and answered batches.
    sent: usize,
    written: usize,
    answered: usize,
    timeout: Duration,
}

enum Event {
    /// A batch was written.
    Written,
    /// The process has stopped reading.
    NotRead,
    Answer(Answer),
    End(End),
}

impl Child {
    /// Starts the command. If the command itself fails, the first batch reports the error.
    pub(crate) fn start(
        command: &str,
        requests: &Requests,
        options: &ProgramOptions,
    ) -> Result<Self, ProgramError> {
        let failed = |source| ProgramError::Start { command: command.to_owned(), source };
        let (process, Pipes { input, output }) = Process::start(command).map_err(failed)?;
        let (batches, to_write) = mpsc::channel();
        let (events, seen) = mpsc::sync_channel(WAITING);
        let came = Arc::new(AtomicUsize::new(0));
        let (head, writing) = (requests.head().to_vec(), events.clone());
        let thread = |name: &str| thread::Builder::new().name(name.to_owned());
        thread("program-input").spawn(move || write(input, &head, &to_write, &writing)).map_err(failed)?;
        let (format, most, rows) = (options.format, options.batch_rows, Arc::clone(&came));
        let reading = move || {
            let mut receive = |answer| events.send(Event::Answer(answer)).is_ok();
            let end = answers::read(format, output, most, &rows, &mut receive);
            // An error means that the receiver was dropped and no longer needs the event.
            let _ = events.send(Event::End(end));
        };
        thread("program-output").spawn(reading).map_err(failed)?;
        Ok(Self {
            batches,
            events: seen,
            process,
            answers: VecDeque::new(),
            end: None,
            came,
            sent: 0,
            written: 0,
            answered: 0,
            timeout: options.timeout,
        })
    }

    /// Requests the outputs for rows in batches of `batch_rows`, sending the next batch while the current
    /// batch is being answered. Passes each answer to `receive`, with the index of its first row.
    ///
    /// After an error, the process must not be used again.
    pub(crate) fn request(
        &mut self,
        requests: &Requests,
        rows: Rows<'_>,
        batch_rows: usize,
        receive: &mut dyn FnMut(usize, Batch, Answer) -> Result<(), ProgramError>,
    ) -> Result<(), ProgramError> {
        self.check_silence()?;
        let (mut asked, mut pending) = (0, VecDeque::new());
        loop {
            while asked < rows.len() && pending.len() < AHEAD {
                let end = rows.len().min(asked + batch_rows);
                // If the writer has stopped, an event reports the reason.
                let _ = self.batches.send(requests.batch(rows.slice(asked..end))?);
                self.sent += 1;
                pending.push_back(asked..end);
                asked = end;
            }
            let Some(range) = pending.pop_front() else { return Ok(()) };
            let answer = self.answer(range.len())?;
            let batch = Batch(self.answered);
            if answer.rows != range.len() {
                let (actual, expected) = (answer.rows, range.len());
                return Err(ProgramError::RowCount { batch, actual, at_least: false, expected });
            }
            receive(range.start, batch, answer)?;
        }
    }

    /// Returns an error if the program wrote anything after the last requested answer.
    fn check_silence(&mut self) -> Result<(), ProgramError> {
        let batch = Batch(self.answered + 1);
        let end = match self.end.take().map_or_else(|| self.events.try_recv(), |end| Ok(Event::End(end))) {
            Ok(Event::Answer(_)) | Ok(Event::End(End::TooMany)) => {
                return Err(ProgramError::Unasked { batch });
            }
            Ok(Event::End(end)) => end,
            Ok(Event::Written | Event::NotRead) | Err(_) => return Ok(()),
        };
        Err(self.error(end, batch, 0))
    }

    /// Waits for the next answer and returns it. `wanted` is the expected number of rows, for error messages.
    fn answer(&mut self, wanted: usize) -> Result<Answer, ProgramError> {
        let batch = Batch(self.answered + 1);
        let mut deadline = Instant::now() + self.timeout;
        let mut is_read = true;
        loop {
            // Accept an answer only if its batch was written before.
            if self.written > self.answered
                && let Some(answer) = self.answers.pop_front()
            {
                self.answered += 1;
                return Ok(answer);
            }
            if self.answers.len() > self.sent - self.answered {
                return Err(ProgramError::Unasked { batch });
            }
            // The answer may arrive before the `Written` event of its batch.
            if (self.answers.is_empty() || !is_read)
                && let Some(end) = self.end.take()
            {
                return Err(self.error(end, batch, wanted));
            }
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Event::Written) => self.written += 1,
                Ok(Event::NotRead) => {
                    // The process may be about to exit, or may have answered before it stopped reading.
                    is_read = false;
                    deadline = deadline.min(Instant::now() + GRACE);
                }
                Ok(Event::Answer(answer)) => self.answers.push_back(answer),
                Ok(Event::End(end)) => {
                    self.end = Some(end);
                    deadline = deadline.min(Instant::now() + GRACE);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended("output", batch)),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(match self.end.take() {
                        Some(end) => self.error(end, batch, wanted),
                        None if !is_read => self.ended("input", batch),
                        None if !self.answers.is_empty() => ProgramError::Unasked { batch },
                        None => self.hung(batch, wanted),
                    });
                }
            }
        }
    }

    /// Converts the end of the output to an error. The process should have answered `batch` with `expected`
    /// rows.
    fn error(&mut self, end: End, batch: Batch, expected: usize) -> ProgramError {
        match end {
            End::Fault(error) => error,
            End::TooMany => {
                let actual = self.came.load(Ordering::Relaxed) + 1;
                ProgramError::RowCount { batch, actual, at_least: true, expected }
            }
            End::Closed => self.ended("output", batch),
        }
    }

    /// Returns the error for a process that closed its input or output instead of answering `batch`.
    fn ended(&mut self, stream: &'static str, batch: Batch) -> ProgramError {
        match self.process.status_within(GRACE) {
            Some(status) => ProgramError::Ended {
                status: status.to_string(),
                batch,
                hint: hint(status),
                said: self.process.error_output(),
            },
            None => {
                self.process.kill();
                ProgramError::Closed { stream, batch, said: self.process.error_output() }
            }
        }
    }

    fn hung(&mut self, batch: Batch, expected: usize) -> ProgramError {
        self.process.kill();
        let rows = self.came.load(Ordering::Relaxed);
        let hint = match rows {
            0 if self.answered == 0 => "; the program may not flush its output",
            rows if rows == expected => "; the empty line after the batch may be missing",
            _ => "",
        };
        ProgramError::Hung {
            batch,
            limit: self.timeout,
            rows,
            expected,
            hint,
            said: self.process.error_output(),
        }
    }

    /// Kills the process and all processes that it started.
    pub(crate) fn kill(mut self) {
        self.process.kill();
    }
}

fn hint(status: ExitStatus) -> &'static str {
    match status.code() {
        Some(0) => ": the program must process batch after batch until its standard input ends",
        Some(126) => ": the command is not executable (set its permission with chmod +x)",
        Some(127) => ": command not found (check its name and path)",
        _ => "",
    }
}

/// Writes the head, then each batch as it arrives, until the channel is closed.
fn write(mut input: ChildStdin, head: &[u8], batches: &Receiver<Vec<u8>>, events: &SyncSender<Event>) {
    let mut is_read = input.write_all(head).is_ok();
    for batch in batches {
        is_read = is_read && input.write_all(&batch).and_then(|()| input.flush()).is_ok();
        let event = if is_read { Event::Written } else { Event::NotRead };
        if events.send(event).is_err() {
            return;
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// Returns a process that writes nothing, with the given events in its queue.
    fn child_of(events: Vec<Event>) -> Child {
        let (process, _) = Process::start("sleep 1000").unwrap();
        let (batches, to_write) = mpsc::channel();
        let (sender, seen) = mpsc::sync_channel(WAITING);
        events.into_iter().for_each(|event| sender.send(event).unwrap());
        // Keep the channels open, as if both threads were running.
        std::mem::forget((to_write, sender));
        Child {
            batches,
            events: seen,
            process,
            answers: VecDeque::new(),
            end: None,
            came: Arc::default(),
            sent: 1,
            written: 0,
            answered: 0,
            timeout: Duration::from_secs(30),
        }
    }

    fn answer() -> Event {
        Event::Answer(Answer { values: vec![1.0], rows: 1, ..Answer::default() })
    }

    #[test]
    fn an_answer_counts_whichever_thread_is_heard_first() {
        for events in [
            vec![Event::Written, answer(), Event::End(End::Closed)],
            vec![answer(), Event::Written, Event::End(End::Closed)],
            vec![answer(), Event::End(End::Closed), Event::Written],
        ] {
            let mut child = child_of(events);
            assert_eq!(child.answer(1).unwrap().values, [1.0]);
            let error = child.check_silence().unwrap_err();
            assert!(matches!(error, ProgramError::Closed { stream: "output", .. }), "{error}");
        }
    }

    #[test]
    fn an_answer_to_what_was_not_read_is_none() {
        let mut child = child_of(vec![answer(), Event::End(End::Closed), Event::NotRead]);
        let error = child.answer(1).unwrap_err();
        assert!(matches!(error, ProgramError::Closed { stream: "output", .. }), "{error}");
    }
}
