//! Estimators that are programs: a line protocol over standard input and output.
//!
//! The laboratory writes `{"players": n, "budget": m, "seed": s}`. The program may repeatedly write
//! `{"coalitions": ["0110", …]}`, with one character per player, and read `{"values": [v, …]}`. Finally it
//! writes `{"estimate": [φ, …]}`, or `{"refused": "why"}` if it does not support the budget or the number of
//! players. Every line is a JSON object. In a [`Pool`], the next task may follow. This module counts the
//! evaluations. The documentation for authors of programs is `docs/laboratory.md`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use apportion::Game;
use apportion::games::{Coalitions, GameError};
use serde::{Deserialize, Serialize};

use super::process::{Ending, Process};

/// Maximum number of characters of a line shown in a message.
const SHOWN: usize = 120;

/// Reason why a program returned no estimate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error("cannot start {command:?}")]
    Start { command: String, source: std::io::Error },
    #[error(
        "the program wrote nothing for {seconds} s ({last_words}); flush its output after every line, \
         or increase --time-limit"
    )]
    Silent { seconds: u64, last_words: String },
    #[error(
        "the program wrote {bytes} B without a line feed in {seconds} s ({last_words}); write a line feed \
         after every JSON object, or increase --time-limit"
    )]
    Unfinished { bytes: usize, seconds: u64, last_words: String },
    #[error(
        "the program ended ({status}; evaluations: {evaluations}; {last_words}) before it wrote an estimate; \
         write the estimate before the program ends"
    )]
    RunResult { status: String, evaluations: usize, last_words: String },
    #[error(
        "the program wrote {0} bytes without a line feed, more than a line for the whole budget \
         would need; write one JSON object per line, each terminated by a line feed"
    )]
    LongLine(usize),
    #[error(
        "the program wrote the invalid line {line:?} ({why}); expected {{\"coalitions\": [\"0110\", …]}}, \
         {{\"estimate\": [0.5, …]}} or {{\"refused\": \"why\"}} (write everything else to standard error)"
    )]
    Line { line: String, why: String },
    #[error(
        "the program requested the invalid coalition {given:?}; expected a string of length {players}, with \
         1 for each member and 0 for each other player"
    )]
    Coalition { given: String, players: usize },
    #[error("the program requested an empty list of coalitions; request at least one, or write the estimate")]
    Nothing,
    #[error(
        "the program requested {asked} evaluations, but the budget is {budget}; stop at the budget, which \
         includes repeated coalitions, v(∅) and v(N)"
    )]
    OverBudget { asked: usize, budget: usize },
    #[error("wrong number of values in the estimate: {given}, expected {wanted} (one per player)")]
    Length { given: usize, wanted: usize },
    #[error("the estimate contains a number that is not finite ({line:?}); write finite numbers only")]
    NotFinite { line: String },
    #[error(transparent)]
    Game(#[from] GameError),
}

/// The task of a program, which is the first line that it reads.
#[derive(Serialize)]
struct Task {
    players: usize,
    budget: usize,
    seed: u64,
}

/// A line written by a program.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum ProgramLine {
    Coalitions(Vec<String>),
    Estimate(Vec<f64>),
    Refused(String),
}

/// Result of a program for a task.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ProgramResult {
    /// The estimate, and the number of evaluations.
    Estimate(Vec<f64>, usize),
    /// The reason why the program does not support this budget or number of players.
    Refused(String),
}

/// The values of the requested coalitions, sent as the reply.
#[derive(Serialize)]
struct Answer {
    values: Vec<f64>,
}

/// Runs the program `command` on `game`, which must have one output, and returns its estimate with the number
/// of evaluations.
///
/// # Errors
///
/// If the program violates the protocol, or the game fails.
pub(crate) fn estimate(
    command: &str,
    game: &dyn Game,
    budget: usize,
    seed: u64,
    limit: Duration,
) -> Result<ProgramResult, ProgramError> {
    let mut process = start(command, max_line(game.players(), budget))?;
    let found = converse(&mut process, game, budget, seed, limit)?;
    process.end();
    Ok(found)
}

/// A program whose processes are kept for further tasks, so that a library that takes seconds to load is not
/// loaded for each of thousands of runs.
pub(crate) struct Pool {
    command: String,
    limit: Duration,
    idle: Mutex<Vec<Process>>,
}

impl Pool {
    /// Minimum of the limit on the bytes of a line. It allows a process to be reused for larger games and
    /// budgets than those of its first task.
    const MIN_LINE: usize = 1 << 24;

    pub(crate) fn new(command: &str, limit: Duration) -> Self {
        Self { command: command.to_owned(), limit, idle: Mutex::default() }
    }

    /// Same as [`estimate`], but reuses a process that has finished another task, if there is one that still
    /// runs. Otherwise, a new process is started.
    ///
    /// # Errors
    ///
    /// If the program violates the protocol, or the game fails.
    pub(crate) fn estimate(
        &self,
        game: &dyn Game,
        budget: usize,
        seed: u64,
    ) -> Result<ProgramResult, ProgramError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let max_line = max_line(game.players(), budget).max(Self::MIN_LINE);
        let waiting = idle().pop();
        if let Some(mut process) = waiting.filter(|process| process.max_line() >= max_line) {
            match converse(&mut process, game, budget, seed, self.limit) {
                Err(ProgramError::RunResult { evaluations: 0, .. }) => {}
                found => {
                    let found = found?;
                    idle().push(process);
                    return Ok(found);
                }
            }
        }
        let mut process = start(&self.command, max_line)?;
        let found = converse(&mut process, game, budget, seed, self.limit)?;
        idle().push(process);
        Ok(found)
    }
}

fn start(command: &str, max_line: usize) -> Result<Process, ProgramError> {
    Process::start(command, max_line)
        .map_err(|source| ProgramError::Start { command: command.to_owned(), source })
}

/// Sends a task to a process, and evaluates coalitions until the process returns an estimate.
fn converse(
    process: &mut Process,
    game: &dyn Game,
    budget: usize,
    seed: u64,
    limit: Duration,
) -> Result<ProgramResult, ProgramError> {
    let players = game.players();
    process.write(json(&Task { players, budget, seed }));
    let mut evaluations = 0;
    loop {
        let line = match process.read(limit) {
            Ok(line) => line,
            Err(ending) => return Err(unsaid(ending, process, limit, evaluations)),
        };
        match parse_line(&line)? {
            ProgramLine::Estimate(values) if values.len() != players => {
                return Err(ProgramError::Length { given: values.len(), wanted: players });
            }
            ProgramLine::Estimate(values) if values.iter().any(|value| !value.is_finite()) => {
                return Err(ProgramError::NotFinite { line: shown(&line) });
            }
            ProgramLine::Estimate(values) => return Ok(ProgramResult::Estimate(values, evaluations)),
            ProgramLine::Refused(reason) => {
                let reason = reason.replace(char::is_control, " ");
                return Ok(ProgramResult::Refused(shown(&reason)));
            }
            ProgramLine::Coalitions(asked) => {
                evaluations += asked.len();
                if evaluations > budget {
                    return Err(ProgramError::OverBudget { asked: evaluations, budget });
                }
                let batch = coalitions(players, &asked)?;
                let mut values = vec![0.0; batch.len()];
                game.values(&batch, &mut values)?;
                process.write(json(&Answer { values }));
            }
        }
    }
}

/// Returns the maximum number of bytes in a line: twice the length of a line that requests all evaluations of
/// the budget at once, or 64 bytes per player for the estimate, whichever is larger, plus a margin; at most
/// 1 GiB.
fn max_line(players: usize, budget: usize) -> usize {
    let coalitions = budget.saturating_mul(players.saturating_add(4));
    coalitions.saturating_mul(2).max(players.saturating_mul(64)).saturating_add(1 << 16).min(1 << 30)
}

/// Converts the reason why no line was received to an error.
fn unsaid(ending: Ending, process: &Process, limit: Duration, evaluations: usize) -> ProgramError {
    let last_words = process.last_words();
    match ending {
        Ending::Silent(0) => ProgramError::Silent { seconds: limit.as_secs(), last_words },
        Ending::Silent(bytes) => ProgramError::Unfinished { bytes, seconds: limit.as_secs(), last_words },
        Ending::RunResult(status) => ProgramError::RunResult { status, evaluations, last_words },
        Ending::LongLine(most) => ProgramError::LongLine(most),
    }
}

/// Formats a line for the program. The data consists of finite numbers, which JSON can always represent.
fn json(line: &impl Serialize) -> String {
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}

fn parse_line(line: &str) -> Result<ProgramLine, ProgramError> {
    serde_json::from_str(line).map_err(|error| {
        // JSON does not support these numbers, but the JSON encoders of Python and other languages write
        // them.
        if line.contains("\"estimate\"")
            && ["NaN", "nan", "Infinity", "inf"].iter().any(|word| line.contains(word))
        {
            ProgramError::NotFinite { line: shown(line) }
        } else {
            let keys = serde_json::from_str::<serde_json::Map<_, _>>(line).map_or(1, |object| object.len());
            let why = if keys == 1 { error.to_string() } else { format!("expected 1 key, found {keys}") };
            ProgramError::Line { line: shown(line), why }
        }
    })
}

fn coalitions(players: usize, asked: &[String]) -> Result<Coalitions, ProgramError> {
    if asked.is_empty() {
        return Err(ProgramError::Nothing);
    }
    let mut batch = Coalitions::with_capacity(players, asked.len());
    for text in asked {
        if text.len() != players || text.bytes().any(|byte| !b"01".contains(&byte)) {
            return Err(ProgramError::Coalition { given: shown(text), players });
        }
        batch.push_members(
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'1').map(|(player, _)| player),
        );
    }
    Ok(batch)
}

/// Returns the start of a line.
fn shown(line: &str) -> String {
    let line = line.trim_end();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// A game in which a coalition's value is its number of members, plus 1 if player 0 is a member.
    struct Sizes(usize);

    impl Game for Sizes {
        fn players(&self) -> usize {
            self.0
        }
        fn values(&self, batch: &Coalitions, out: &mut [f64]) -> Result<(), GameError> {
            for (value, coalition) in out.iter_mut().zip(batch.iter()) {
                *value = coalition.size() as f64 + f64::from(u8::from(coalition.contains(0)));
            }
            Ok(())
        }
    }

    fn run(command: &str) -> Result<ProgramResult, ProgramError> {
        estimate(command, &Sizes(3), 4, 7, Duration::from_secs(1))
    }

    fn message(command: &str) -> String {
        run(command).map_or_else(|error| error.to_string(), |_| "an estimate".to_owned())
    }

    #[test]
    fn coalitions_are_answered_in_their_order_and_counted() {
        // The shell script compares the lines that it reads with the expected ones, and returns an estimate
        // only if they are equal.
        let command = r#"read task; echo '{"coalitions": ["000", "100", "011"]}'; read answer
            case "$task$answer" in '{"players":3,"budget":4,"seed":7}{"values":[0.0,2.0,2.0]}')
            echo '{"coalitions": ["111"]}'; read answer; echo '{"estimate": [2, 1, 1e0]}';; esac"#;
        assert_eq!(run(command).unwrap(), ProgramResult::Estimate(vec![2.0, 1.0, 1.0], 4));
    }

    #[test]
    fn what_is_not_in_the_protocol_is_told_with_what_is() {
        for (command, expected) in [
            ("exit 3", "ended (exit status: 3; evaluations: 0; "),
            ("true", "ended (exit status: 0; evaluations: 0; it wrote nothing to standard error)"),
            ("printf 'one\\n\\n two\\n' >&2; false", "its standard error ends with \"one / two\""),
            ("sleep 20", "wrote nothing for 1 s ("),
            (r#"printf '{"estimate": [1, 2, 3]}'; sleep 20"#, "wrote 23 B without a line feed in 1 s ("),
            (r#"printf '{"estimate": [1, 2, 3]}'"#, "an estimate"),
            ("echo hello", "wrote the invalid line \"hello\""),
            (r#"echo '{"estimate": [1, 2, 3], "note": 1}'"#, "expected 1 key, found 2"),
            (r#"echo '{"estimates": [1]}'"#, "unknown variant `estimates`"),
            (r#"echo '{"estimate": [1, 2]}'"#, "values in the estimate: 2, expected 3"),
            (r#"echo '{"estimate": [1, NaN, 2]}'"#, "not finite"),
            (r#"echo '{"estimate": [1, 1e999, 2]}'"#, "number out of range"),
            (r#"echo '{"coalitions": []}'"#, "empty list of coalitions"),
            (r#"echo '{"coalitions": ["01"]}'"#, "invalid coalition \"01\"; expected a string of length 3"),
            (r#"echo '{"coalitions": ["012"]}'"#, "invalid coalition \"012\""),
            (
                r#"echo '{"coalitions": ["000", "001", "010", "011", "111"]}'"#,
                "requested 5 evaluations, but the budget is 4",
            ),
        ] {
            let message = message(command);
            assert!(message.contains(expected), "{command}: {message}");
        }
    }

    #[test]
    fn a_program_may_refuse_and_say_why() {
        let command = r#"echo '{"coalitions": ["000"]}'; echo '{"refused": "too few"}'"#;
        assert_eq!(run(command).unwrap(), ProgramResult::Refused("too few".to_owned()));
        assert!(message(r#"echo '{"refused": 3}'"#).contains("expected a string"));
        // The reason is joined into a single line and shortened.
        let long = format!(r#"echo '{{"refused": "a\\nb{}"}}'"#, "c".repeat(1000));
        let ProgramResult::Refused(reason) = run(&long).unwrap() else { panic!("it has refused") };
        assert!(reason.starts_with("a bc") && reason.chars().count() == SHOWN + 1, "{reason}");
    }

    #[test]
    fn what_a_program_leaves_behind_is_ended_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("alive");
        let alive = path.display();
        for last in [r#"echo '{"estimate": [1, 2, 3]}'"#, "exit 3"] {
            let _ = run(&format!(
                "(while sleep 0.05; do echo >> '{alive}'; done) >/dev/null 2>&1 & sleep 0.2; {last}"
            ));
            let size = || std::fs::metadata(&path).map_or(0, |file| file.len());
            std::thread::sleep(Duration::from_millis(100));
            let before = size();
            std::thread::sleep(Duration::from_millis(300));
            assert!(before > 0 && size() == before, "{last}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_refused_before_it_takes_memory() {
        for endless in [
            "cat /dev/zero",
            "tr '\\0' x < /dev/zero",
            "tr '\\0' ' ' < /dev/zero",
            "echo '{\"coalitions\": [\"000\"]}'; read answer; tr '\\0' 1 < /dev/zero",
            "printf '{\"estimate\": ['; \
             while :; do printf '1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, '; done",
        ] {
            let message = message(endless);
            assert!(message.contains("wrote 65728 bytes without a line feed"), "{endless}: {message}");
        }
    }

    #[test]
    fn a_line_may_have_the_whole_budget() {
        // The limit must allow spaces between coalitions, and numbers with many digits.
        let command = concat!(
            r#"echo '{"coalitions":    ["000",    "100",    "011",    "111"]}'; read answer
            echo '{"estimate": [1.00000000000000000000000000000000000, "#,
            r#"2.00000000000000000000000000, 1.000000000000000]}'"#
        );
        assert_eq!(run(command).unwrap(), ProgramResult::Estimate(vec![1.0, 2.0, 1.0], 4));
        assert_eq!(max_line(usize::MAX, usize::MAX), 1 << 30);
    }

    #[test]
    fn a_pool_keeps_a_program_that_waits_for_the_next_task_and_starts_one_that_has_ended_anew() {
        let folder = tempfile::tempdir().unwrap();
        let starts = folder.path().join("starts");
        let once = format!(r#"echo >> '{}'; read task; echo '{{"estimate": [1, 2, 3]}}'"#, starts.display());
        let serving = format!(
            r#"echo >> '{}'; while read task; do echo '{{"coalitions": ["111"]}}'; read answer
            case "$task" in *'"seed":9}}') echo '{{"refused": "no"}}';;
            *) echo '{{"estimate": [1, 2, 3]}}';; esac; done"#,
            starts.display()
        );
        for (command, started, evaluations) in [(once, 3, 0), (serving, 1, 1)] {
            let _ = std::fs::remove_file(&starts);
            let pool = Pool::new(&command, Duration::from_secs(5));
            for seed in 0..3 {
                let expected = ProgramResult::Estimate(vec![1.0, 2.0, 3.0], evaluations);
                assert_eq!(pool.estimate(&Sizes(3), 4, seed).unwrap(), expected);
            }
            assert_eq!(std::fs::read_to_string(&starts).unwrap().lines().count(), started);
            if started == 1 {
                let refused = ProgramResult::Refused("no".to_owned());
                assert_eq!(pool.estimate(&Sizes(3), 4, 9).unwrap(), refused);
            }
        }
    }

    #[test]
    fn a_program_that_never_reads_is_ended_by_the_budget() {
        let command = r#"while true; do echo '{"coalitions": ["000"]}'; done"#;
        assert!(matches!(run(command), Err(ProgramError::OverBudget { asked: 5, budget: 4 })));
    }
}
