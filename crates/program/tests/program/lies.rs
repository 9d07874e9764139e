//! Programs that run, and answer what is no answer.

use apportion_games::Model;
use apportion_program::{Column, Program, ProgramError, ProgramOptions};

use crate::common::{FIRST, columns, options, predictions, refusal, shell, start};

/// The error of a server that answers two batches as it should, and does `then` in the third, which has three rows.
fn third(then: &str) -> ProgramError {
    let server =
        shell(":", &format!("case $batch in 1) echo 1;; 2) echo 1; echo 1;; *) {then};; esac; echo"));
    let program = start(&server, &options()).unwrap();
    let error = predictions(&program, &[0.0; 6]).unwrap_err();
    assert_eq!(program.restarts(), 0, "{error}");
    error
}

#[test]
fn too_few_and_too_many_rows_are_refused_at_once() {
    for (then, count) in [(":", 0), ("echo 1; echo 1", 2), ("echo 1; echo 1; echo 1; echo 1", 4)] {
        let error = third(then);
        assert!(
            matches!(error, ProgramError::RowCount { given, wanted: 3, at_least: false, .. } if given == count),
            "{then}: {error}"
        );
    }
}

#[test]
fn a_program_that_never_stops_writing_is_refused() {
    let error = third("while :; do echo 1; done");
    assert!(
        matches!(error, ProgramError::RowCount { given: 4097, at_least: true, wanted: 3, .. }),
        "{error}"
    );
    let error = refusal("yes ''", &options());
    // It may be seen that the rows were not read before it is that their answers are not there.
    let is_told =
        matches!(error, ProgramError::RowCount { given: 0, wanted: 1, .. } | ProgramError::Unasked { .. });
    assert!(is_told, "{error}");
    let error = refusal("tr '\\0' x < /dev/zero", &options());
    assert!(matches!(error, ProgramError::NotNumbers { line: 1, .. }), "{error}");
}

#[test]
fn text_is_refused_with_its_line() {
    for (text, line) in [("Loading the model", 6), ("[1 2]", 6), ("nothing", 6), ("1;2", 6)] {
        let error = third(&format!("echo '{text}'"));
        let ProgramError::NotNumbers { line: at, text: told } = &error else { panic!("{error}") };
        assert_eq!((*at, told.as_str()), (line, text));
    }
}

#[test]
fn outputs_that_are_not_finite_are_refused_with_their_row() {
    for value in ["nan", "inf", "-Infinity", "1e999"] {
        let error = third(&format!("echo 1; echo 1; echo {value}"));
        assert!(matches!(error, ProgramError::NotFinite { row: 2, output: 0, .. }), "{error}");
    }
    let program = start(FIRST, &options().batch_rows(2)).unwrap();
    let rows = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
    assert_eq!(predictions(&program, &rows).unwrap(), [1.0; 3]);
}

#[test]
fn the_number_of_outputs_is_that_of_the_first_answer() {
    let error = third("echo 1,2; echo 1,2; echo 1,2");
    assert!(matches!(error, ProgramError::LineWidth { line: 6, given: 2, wanted: 1 }), "{error}");
    let error = refusal(&format!("echo '# yes, no'; {FIRST}"), &options());
    assert!(matches!(error, ProgramError::Outputs { given: 1, wanted: 2, .. }), "{error}");
}

#[test]
fn an_answer_to_nothing_is_refused_with_the_next_batch() {
    let twice = "[ $batch -gt 2 ] && { echo; echo 1; }; echo";
    let program = start(&shell("echo 1", twice), &options()).unwrap();
    assert_eq!(predictions(&program, &[0.0; 2]).unwrap(), [1.0]);
    let error = predictions(&program, &[0.0; 4]).unwrap_err();
    assert!(matches!(error, ProgramError::Unasked { .. } | ProgramError::RowCount { .. }), "{error}");
}

#[test]
fn a_program_that_draws_or_counts_is_no_function() {
    let error = refusal(&shell("n=$((n + 1)); echo $n", "echo"), &options());
    assert!(matches!(error, ProgramError::NotAFunction { output: 0, alone: 1.0, .. }), "{error}");
    let error = refusal(&shell("echo $count", "echo"), &options());
    assert!(error.to_string().contains("1 alone and 2 in a batch of two"), "{error}");
}

#[test]
fn options_and_rows_that_make_no_sense_are_refused_before_anything_is_started() {
    let refused = |command: &str, options: ProgramOptions| match start(command, &options).unwrap_err() {
        ProgramError::Options { problem } => problem,
        error => panic!("{error}"),
    };
    assert!(refused(" ", options()).contains("empty"));
    assert!(refused("a\0b", options()).contains("character 0"));
    assert!(refused(FIRST, options().batch_rows(0)).contains("batch of 0 rows"));
    assert!(refused(FIRST, options().workers(0)).contains("0 workers"));
    assert!(refused(FIRST, options().timeout(std::time::Duration::ZERO)).contains("time-out"));
    assert!(Program::start(FIRST, &columns(), &[1.0, 2.0, 3.0], &options()).is_err());
    assert!(Program::start(FIRST, &[Column::new("a\nb")], &[1.0], &options()).is_err());
}

#[test]
fn a_game_says_which_coalition_the_program_failed_on() {
    use apportion_games::{Background, Coalitions, Game, MarginalGame};

    let server = shell("[ $x = 9 ] && echo oops || echo $x", "echo");
    let program = start(&server, &options()).unwrap();
    let background = Background::baseline(vec![0.0, 0.0]).unwrap();
    let model: &dyn Model = &program;
    let game = MarginalGame::new(model, &[9.0, 1.0], &background).unwrap();
    let error = game.values(&Coalitions::from_masks(2, [0b01]), &mut [0.0]).unwrap_err().to_string();
    assert!(error.contains("coalition") && error.contains("\"oops\""), "{error}");
}
