//! Tests of programs that end, hang, or close their streams.

use std::time::{Duration, Instant};

use apportion_program::ProgramError;

use crate::common::{FIRST, line_of, options, predictions, refusal, runs, shell, start};

/// Returns a server that answers each row with `$x`, and runs `what` before it answers batch `at`, but only
/// once per directory `folder`.
fn once(folder: &std::path::Path, at: usize, what: &str) -> String {
    let mark = folder.join("done");
    let mark = mark.display();
    shell("echo $x", &format!("[ $batch = {at} ] && [ ! -e {mark} ] && {{ : > {mark}; {what}; }}; echo"))
}

const ROWS: [f64; 12] = [3.0, 0.0, 4.0, 0.0, 5.0, 0.0, 6.0, 0.0, 7.0, 0.0, 8.0, 0.0];
const VALUES: [f64; 6] = [3.0, 4.0, 5.0, 6.0, 7.0, 8.0];

#[test]
fn a_command_that_is_not_there_is_named_by_the_shell() {
    let error = refusal("no-such-program-anywhere --port 3", &options());
    let ProgramError::Ended { hint, said, .. } = &error else { panic!("{error}") };
    assert!(hint.contains("not found") && said.contains("no-such-program-anywhere"), "{error}");
}

#[test]
fn a_program_that_dies_at_the_start_is_quoted() {
    let error =
        refusal("echo loading; echo 'Traceback:' >&2; echo \"KeyError: 'age'\" >&2; exit 3", &options());
    // The invalid output may be detected before the end of the program.
    assert!(matches!(error, ProgramError::Ended { .. } | ProgramError::NotNumbers { .. }), "{error}");
    let error = refusal("echo 'Traceback:' >&2; echo \"KeyError: 'age'\" >&2; exit 3", &options());
    let text = error.to_string();
    assert!(text.contains("(exit status: 3) before it returned the outputs of batch 1"), "{text}");
    assert!(text.ends_with("its standard error ends with: Traceback: / KeyError: 'age'"), "{text}");
}

#[test]
fn a_program_that_answers_one_batch_and_ends_is_told_to_go_on() {
    let error = refusal("read header; read count; read row; echo 1; echo", &options());
    let text = error.to_string();
    assert!(text.contains("outputs of batch 2: the program must process batch after batch"), "{text}");
}

#[test]
fn a_process_that_dies_is_started_again_and_asked_the_same() {
    for death in ["exit 9", "kill -9 $$", "kill -TERM $$", "exec 1>&-; sleep 1000", "printf 5; exit 0"] {
        let folder = tempfile::tempdir().unwrap();
        let program = start(&once(folder.path(), 4, death), &options().batch_rows(2)).unwrap();
        assert_eq!(predictions(&program, &ROWS).unwrap(), VALUES, "{death}");
        assert_eq!(program.restarts(), 1, "{death}");
    }
}

#[test]
fn without_restarts_it_is_an_error_and_the_program_can_be_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = once(folder.path(), 4, "echo 'out of memory' >&2; kill -9 $$");
    let program = start(&server, &options().batch_rows(2).restarts(0)).unwrap();
    let error = predictions(&program, &ROWS).unwrap_err().to_string();
    assert!(error.contains("signal: 9") && error.contains("batch 4"), "{error}");
    assert!(error.ends_with("out of memory"), "{error}");
    assert_eq!(predictions(&program, &ROWS).unwrap(), VALUES);
}

#[test]
fn a_program_that_dies_of_a_row_is_given_up_after_the_restarts() {
    let server = shell("[ $x = 5 ] && exit 4; echo $x", "echo");
    let program = start(&server, &options().batch_rows(1).restarts(2)).unwrap();
    let error = predictions(&program, &ROWS).unwrap_err();
    let ProgramError::Again { restarts: 2, last } = &error else { panic!("{error}") };
    assert!(matches!(**last, ProgramError::Ended { .. }), "{error}");
    assert!(error.to_string().starts_with("the program failed again after 2 restarts: "), "{error}");
    assert_eq!(predictions(&program, &ROWS[..4]).unwrap(), VALUES[..2]);
}

#[test]
fn restarts_are_counted_for_each_batch() {
    let server = shell("echo $x", "[ $batch = 4 ] && exit 1; echo");
    let program = start(&server, &options().batch_rows(1)).unwrap();
    assert_eq!(predictions(&program, &ROWS).unwrap(), VALUES);
    // Each process answers three batches; the first process answered the batches of the trial.
    assert_eq!(program.restarts(), 2);
}

#[test]
fn a_program_that_hangs_is_killed_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("id");
    let command = format!("sleep 1000 & echo $! > {}; wait", file.display());
    let begun = Instant::now();
    let error = refusal(&command, &options().timeout(Duration::from_millis(300)));
    let ProgramError::Hung { rows: 0, expected: 1, hint, .. } = error else { panic!("{error}") };
    assert!(hint.contains("flush"), "{hint}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let id = line_of(&file);
    // It takes a moment until a killed process is gone.
    let gone = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !runs(&id)
    });
    assert!(gone, "{id}");
}

#[test]
fn a_process_that_hangs_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = once(folder.path(), 3, "sleep 1000");
    let program = start(&server, &options().batch_rows(2).timeout(Duration::from_secs(3))).unwrap();
    assert_eq!(predictions(&program, &ROWS).unwrap(), VALUES);
    assert_eq!(program.restarts(), 1);
}

#[test]
fn a_missing_empty_line_is_told() {
    let server = shell("echo $x", ":");
    let error = refusal(&server, &options().timeout(Duration::from_secs(2))).to_string();
    assert!(
        error.contains("(rows received: 1 of 1); the empty line after the batch may be missing"),
        "{error}"
    );
}

#[test]
fn a_slow_program_has_the_time_for_each_batch() {
    let server = shell("echo $x", "sleep 0.7; echo");
    let program = start(&server, &options().batch_rows(2).timeout(Duration::from_secs(2))).unwrap();
    assert_eq!(predictions(&program, &ROWS).unwrap(), VALUES);
    assert_eq!(program.restarts(), 0);
}

#[test]
fn closed_streams_are_told_apart() {
    for (closed, stream) in [("0<&-", "input"), ("1>&-", "output")] {
        let server =
            shell("echo $x", &format!("[ $batch = 2 ] && {{ echo; exec {closed}; sleep 1000; }}; echo"));
        // Make each batch larger than a pipe buffer. Otherwise it could be written completely before the
        // stream is closed.
        let program = start(&server, &options().restarts(0).batch_rows(40_000)).unwrap();
        let rows = [1.0, 2.0].repeat(120_000);
        let error = predictions(&program, &rows).unwrap_err();
        assert!(
            matches!(error, ProgramError::Closed { stream: told, .. } if told == stream),
            "{closed}: {error}"
        );
    }
}

#[test]
fn what_a_program_started_in_the_background_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("id");
    let path = file.display();
    // The background processes have or do not have open streams, ignore signals, are started from a subshell
    // that has ended, or remain after a failure.
    for (background, ending) in [
        (format!("sleep 1000 & echo $! > {path}"), ""),
        (format!("sleep 1000 >/dev/null 2>&1 </dev/null & echo $! > {path}"), ""),
        (format!("(trap '' HUP TERM INT; exec sleep 1000) >/dev/null 2>&1 & echo $! > {path}"), ""),
        (format!("(sleep 1000 >/dev/null 2>&1 & echo $! > {path})"), ""),
        (format!("(nohup sleep 1000 >/dev/null 2>&1 & echo $! > {path})"), "; exit 3"),
    ] {
        let _ = std::fs::remove_file(&file);
        let program = start(&format!("{background}; {FIRST}{ending}"), &options()).unwrap();
        assert_eq!(predictions(&program, &ROWS).unwrap(), VALUES);
        let id = line_of(&file);
        assert!(runs(&id), "{background}");
        drop(program);
        // It takes a moment until a killed process is gone.
        let gone = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            !runs(&id)
        });
        assert!(gone, "{background}");
    }
}

#[test]
fn a_process_ends_with_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("id");
    for after in ["", "; sleep 1000"] {
        let command = format!("echo $$ > {}; {}{after}", file.display(), FIRST);
        let program = start(&command, &options()).unwrap();
        let id = line_of(&file);
        assert!(runs(&id));
        drop(program);
        assert!(!runs(&id), "{after}");
    }
}
