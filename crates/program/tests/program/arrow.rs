//! Tests of the Arrow format. `cat` answers each row with itself.

use apportion_games::Rows;
use apportion_program::{Column, Format, Program, ProgramError, ProgramOptions};

use crate::common::{bits, predictions, random_rows, refusal, start};

fn options() -> ProgramOptions {
    crate::common::options().format(Format::Arrow)
}

#[test]
fn numbers_go_and_come_with_all_their_bits() {
    let rows: Vec<f64> = random_rows(500).into_iter().filter(|value| !value.is_nan()).collect();
    for batch in [1, 3, 4096] {
        let program = start("cat", &options().batch_rows(batch)).unwrap();
        assert_eq!(program.output_names().unwrap(), ["x", "y"]);
        let rows = &rows[..rows.len() / 2 * 2];
        assert_eq!(bits(&predictions(&program, rows).unwrap()), bits(rows));
    }
}

#[test]
fn a_batch_that_fills_both_pipes_many_times_is_answered() {
    let rows: Vec<f64> = (0..400_000).map(f64::from).collect();
    let program = start("cat", &options().batch_rows(200_000)).unwrap();
    assert_eq!(predictions(&program, &rows).unwrap(), rows);
}

#[test]
fn an_output_may_be_called_target() {
    let columns = [Column::new("target"), Column::new("__index_level_0__x")];
    let program = Program::start("cat", &columns, Rows::new(&[1.0, 2.0], 2), &options()).unwrap();
    assert_eq!(program.predictions(Rows::new(&[3.0, 4.0], 2)).unwrap(), [3.0, 4.0]);
}

#[test]
fn missing_outputs_are_refused() {
    let program = start("cat", &options()).unwrap();
    let error = predictions(&program, &[1.0, 2.0, 3.0, f64::NAN]).unwrap_err();
    assert!(matches!(error, ProgramError::NotFinite { row: 1, output: 1, .. }), "{error}");
}

#[test]
fn what_is_no_stream_is_refused() {
    let error = refusal("echo Loading; cat", &options());
    assert!(matches!(&error, ProgramError::NotArrow { problem } if problem.contains("Load")), "{error}");
    let text = [Column::with_categories("w", vec!["a word".to_owned()])];
    let error = Program::start("cat", &text, Rows::new(&[0.0], 1), &options()).unwrap_err();
    assert!(matches!(&error, ProgramError::NotArrow { problem } if problem.contains("a word")), "{error}");
}

#[test]
fn a_stream_that_breaks_off_is_an_end() {
    for bytes in [0, 3, 100, 300] {
        let error = refusal(&format!("dd bs=1 count={bytes} 2>/dev/null"), &options());
        let ended = matches!(error, ProgramError::Ended { .. });
        assert!(ended, "{bytes}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("done");
    let once = format!("[ -e {0} ] && exec cat; : > {0}; dd bs=1 count=20000 2>/dev/null", mark.display());
    let program = start(&once, &options().batch_rows(100)).unwrap();
    let rows: Vec<f64> = (0..20_000).map(f64::from).collect();
    assert_eq!(predictions(&program, &rows).unwrap(), rows);
    assert_eq!(program.restarts(), 1);
}
