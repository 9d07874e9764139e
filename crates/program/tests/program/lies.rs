//! Tests of programs that run, but whose answers are invalid.

use apportion_games::{Model, Rows};
use apportion_program::{Column, Program, ProgramError, ProgramOptions};

use crate::common::{FIRST, columns, options, predictions, refusal, shell, start};

/// Returns the error of a server that answers two batches correctly, and runs `then` in the third batch,
/// which has three rows.
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
            matches!(
                error,
                ProgramError::RowCount { actual, expected: 3, at_least: false, .. } if actual == count
            ),
            "{then}: {error}"
        );
    }
}

#[test]
fn a_program_that_never_stops_writing_is_refused() {
    let error = third("while :; do echo 1; done");
    assert!(
        matches!(error, ProgramError::RowCount { actual: 4097, at_least: true, expected: 3, .. }),
        "{error}"
    );
    let error = refusal("yes ''", &options());
    // Either problem may be detected first: the unread rows, or the missing answers.
    let is_told =
        matches!(error, ProgramError::RowCount { actual: 0, expected: 1, .. } | ProgramError::Unasked { .. });
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
    assert!(matches!(error, ProgramError::LineWidth { line: 6, actual: 2, expected: 1 }), "{error}");
    let error = refusal(&format!("echo '# yes, no'; {FIRST}"), &options());
    assert!(matches!(error, ProgramError::Outputs { actual: 1, expected: 2, .. }), "{error}");
}

#[test]
fn an_answer_to_nothing_is_refused_with_the_next_batch() {
    let twice = "[ $batch -gt 2 ] && { echo; echo 1; }; echo";
    let program = start(&shell("echo 1", twice), &options()).unwrap();
    // A fast program already causes the error in the same batch.
    let error = match predictions(&program, &[0.0; 2]) {
        Ok(first) => {
            assert_eq!(first, [1.0]);
            predictions(&program, &[0.0; 4]).unwrap_err()
        }
        Err(error) => error,
    };
    assert!(matches!(error, ProgramError::Unasked { .. } | ProgramError::RowCount { .. }), "{error}");
}

#[test]
fn a_program_that_draws_or_counts_is_no_function() {
    let error = refusal(&shell("n=$((n + 1)); echo $n", "echo"), &options());
    assert!(matches!(error, ProgramError::NotAFunction { output: 0, first: 1.0, .. }), "{error}");
    let error = refusal(&shell("echo $count", "echo"), &options());
    let says = "output 0 of the row \"1,2\" is 1 alone and 2 in a batch of 2 rows";
    assert!(error.to_string().starts_with(says), "{error}");
}

/// Returns a server that reads all rows of a batch, and then writes the result of `more` for each row. `more`
/// is an expression in `x`, in `sum` (the sum of x over the batch), in `count` and in `calls`.
fn batchwise(more: &str) -> String {
    format!(
        "read header; calls=0; while read count; do calls=$((calls + 1)); sum=0; all=''; i=0; \
         while [ $i -lt $count ]; do IFS=, read x y; sum=$((sum + x)); all=\"$all $x\"; i=$((i + 1)); done; \
         for x in $all; do echo $(({more})); done; echo; done"
    )
}

#[test]
fn outputs_that_depend_on_the_batch_are_refused_at_the_start() {
    let rows = [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 7.0, 0.0];
    let begun = |more: &str, rows: &[f64]| {
        Program::start(&batchwise(more), &columns(), Rows::new(rows, 2), &options())
    };
    for (more, first, second) in [
        // The outputs depend on the mean of the batch, the sum over the other rows, the sum over all rows,
        // the number of rows, and the number of calls.
        ("x * count - sum", 0.0, -9.0),
        ("sum - x", 0.0, 11.0),
        ("sum", 1.0, 12.0),
        ("x + 100 * (count > 2)", 1.0, 101.0),
        ("x + (calls > 1)", 1.0, 2.0),
    ] {
        let error = begun(more, &rows).unwrap_err();
        let ProgramError::NotAFunction { row, output: 0, first: was, second: is, at_end: false, .. } = &error
        else {
            panic!("{more}: {error}")
        };
        assert_eq!((row.as_str(), *was, *is), ("1,2", first, second), "{more}: {error}");
    }
    // The last row of the batch is compared as well.
    let error = begun("x + (count > 1 && x == 7)", &rows).unwrap_err();
    assert!(
        error.to_string().starts_with("output 0 of the row \"7,0\" is 8 in a batch of 3 rows and 7 alone")
    );
    begun("x", &rows).unwrap().finish().unwrap();
    assert!(begun("x", &[]).is_err());
}

#[test]
fn outputs_that_depend_on_the_batch_are_refused_in_the_run_if_the_start_had_one_row() {
    let program = start(&batchwise("x * count - sum"), &options()).unwrap();
    // For equal rows, the outputs do not show that they depend on the batch.
    assert_eq!(predictions(&program, &[3.0, 0.0, 3.0, 0.0]).unwrap(), [0.0, 0.0]);
    let error = predictions(&program, &[3.0, 0.0, 5.0, 0.0]).unwrap_err().to_string();
    assert!(
        error.starts_with("output 0 of the row \"5,0\" is 2 in a batch of 2 rows and 0 alone"),
        "{error}"
    );
    // With one row per batch, outputs cannot depend on other rows.
    let program = start(&batchwise("x * count - sum"), &options().batch_rows(1)).unwrap();
    assert_eq!(predictions(&program, &[3.0, 0.0, 5.0, 0.0]).unwrap(), [0.0, 0.0]);
    program.finish().unwrap();
}

#[test]
fn outputs_that_change_during_a_run_are_refused_at_its_end() {
    for more in
        ["x + calls / 5", "x + 10 * (calls > 5)", "x * (calls < 6)", "x - calls / 6", "x + (calls / 4) * y"]
    {
        let program = start(&batchwise(more), &options()).unwrap();
        assert_eq!(predictions(&program, &[1.0, 2.0]).unwrap(), [1.0], "{more}");
        for _ in 0..3 {
            predictions(&program, &[4.0, 0.0]).unwrap();
        }
        let error = program.finish().unwrap_err();
        assert!(
            matches!(error, ProgramError::NotAFunction { at_end: true, first: 1.0, .. }),
            "{more}: {error}"
        );
        assert!(error.to_string().contains("at the end of the run"), "{error}");
    }
    let program = start(&batchwise("x"), &options()).unwrap();
    predictions(&program, &[1.0, 2.0, 3.0, 4.0]).unwrap();
    program.finish().unwrap();
}

#[test]
fn a_first_answer_that_may_have_decimal_commas_is_reported() {
    let comma = |command: &str| start(command, &options()).unwrap().decimal_comma().map(str::to_owned);
    assert_eq!(comma(&shell("echo $x,25", "echo")).as_deref(), Some("1,25"));
    assert_eq!(comma(&shell("echo $x.5,0.25", "echo")), None);
    assert_eq!(comma(FIRST), None);
    assert_eq!(comma(&format!("echo '# a, b'; {}", shell("echo $x,25", "echo"))), None);
    let error = refusal(&shell("[ $batch = 1 ] && echo 5 || echo 5,25", "echo"), &options()).to_string();
    assert!(error.ends_with("commas separate outputs, so write decimals with a point"), "{error}");
}

#[test]
fn options_and_rows_that_make_no_sense_are_refused_before_anything_is_started() {
    let refused = |command: &str, options: ProgramOptions| match start(command, &options).unwrap_err() {
        ProgramError::Options { problem } => problem,
        error => panic!("{error}"),
    };
    assert!(refused(" ", options()).contains("empty"));
    assert!(refused("a\0b", options()).contains("NUL character"));
    assert!(refused(FIRST, options().batch_rows(0)).contains("batch size must be at least 1"));
    assert!(refused(FIRST, options().workers(0)).contains("number of workers"));
    assert!(refused(FIRST, options().timeout(std::time::Duration::ZERO)).contains("timeout"));
    assert!(Program::start(FIRST, &columns(), Rows::new(&[1.0, 2.0, 3.0], 3), &options()).is_err());
    assert!(Program::start(FIRST, &[Column::new("a\nb")], Rows::new(&[1.0], 1), &options()).is_err());
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
