//! Tests that the outputs of correct programs are returned unchanged.

use apportion_games::{Background, MarginalGame, Model, Rows};
use apportion_program::{Column, Program};
use apportion_values::{Semivalue, enumerate};

use crate::common::{FIRST, bits, first, options, predictions, random_rows, shell, start};

#[test]
fn numbers_go_and_come_with_all_their_bits_in_batches_of_any_size() {
    let rows = random_rows(700);
    for batch in [1, 2, 7, 699, 700, 4096] {
        let program = start(FIRST, &options().batch_rows(batch)).unwrap();
        assert_eq!(bits(&predictions(&program, &rows).unwrap()), bits(&first(&rows)), "{batch}");
        assert!(predictions(&program, &[]).unwrap().is_empty());
        assert_eq!(program.restarts(), 0);
    }
}

#[test]
fn a_batch_that_fills_both_pipes_many_times_is_answered() {
    let rows = random_rows(20_000);
    let program = start(FIRST, &options().batch_rows(20_000)).unwrap();
    assert_eq!(bits(&predictions(&program, &rows).unwrap()), bits(&first(&rows)));
}

#[test]
fn threads_and_workers_give_the_same_bits() {
    let rows = random_rows(300);
    for workers in [1, 2, 5] {
        let program = start(FIRST, &options().workers(workers).batch_rows(10)).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (program, rows) = (&program, &rows);
                scope.spawn(move || {
                    for start in (0..20).map(|turn| (7 * turn + 40 * thread) % 250) {
                        let rows = &rows[2 * start..2 * (start + 33)];
                        assert_eq!(bits(&predictions(program, rows).unwrap()), bits(&first(rows)));
                    }
                });
            }
        });
    }
}

#[test]
fn workers_work_at_the_same_time() {
    // Each process waits until the other has started.
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display();
    let meet = format!(": > {folder}/$$; while [ $(ls {folder} | wc -l) -lt 2 ]; do sleep 0.01; done");
    let server = shell(&format!("[ $x = 7 ] && {{ {meet}; }}; echo $x"), "echo");
    let program = start(&server, &options().workers(2).restarts(0)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(predictions(&program, &[7.0, 4.0]).unwrap(), [7.0]));
        }
    });
}

#[test]
fn outputs_have_names_where_the_program_says_so() {
    let server = shell("echo $x,$y", "echo");
    let program = start(&format!("echo '# no, a \"maybe\"'; {server}"), &options()).unwrap();
    assert_eq!(program.output_count(), 2);
    assert_eq!(program.output_names().unwrap(), ["no", "a \"maybe\""]);
    assert_eq!(predictions(&program, &[3.0, 4.0, 5.0, 6.0]).unwrap(), [3.0, 4.0, 5.0, 6.0]);
    assert!(start(&server, &options()).unwrap().output_names().is_none());
}

#[test]
fn words_are_read_as_words() {
    let columns =
        [Column::new("x"), Column::with_categories("colour", vec!["red".into(), "light blue".into()])];
    let server =
        shell("case $y in red) echo 1;; 'light blue') echo 2;; '') echo 3;; *) echo 4;; esac", "echo");
    let program = Program::start(&server, &columns, Rows::new(&[0.0, 0.0], 2), &options()).unwrap();
    let rows = [0.5, 1.0, 0.5, 0.0, 0.5, f64::NAN];
    assert_eq!(predictions(&program, &rows).unwrap(), [2.0, 1.0, 3.0]);
    assert!(predictions(&program, &[0.5, 2.0]).unwrap_err().to_string().contains("expected 0 to 1"));
}

#[test]
fn a_game_of_a_program_is_that_of_its_function() {
    let program = start(&shell("echo $((x * y + x))", "echo"), &options().batch_rows(3)).unwrap();
    assert_eq!((program.features(), program.outputs(), program.rows_per_call()), (Some(2), 1, 3));
    let background = Background::rows([0.0, 1.0, 2.0, 3.0, -1.0, 0.0, 4.0, 8.0], 2).unwrap();
    let function = |row: &[f64]| row[0] * row[1] + row[0];
    let shapley = |model: &dyn Model| {
        let game = MarginalGame::new(model, &[3.0, -2.0], &background).unwrap();
        enumerate(&game, Semivalue::Shapley).unwrap()
    };
    assert_eq!(bits(&shapley(&program).values), bits(&shapley(&function).values));
    let mut out = [0.0];
    let error = program.predict(Rows::new(&[1.0], 1), &mut out).unwrap_err();
    assert!(error.is::<apportion_games::GameError>(), "{error}");
}
