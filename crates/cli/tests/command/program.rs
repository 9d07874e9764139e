//! `--predict`: programs instead of model files. The programs are shell scripts, which do not run on Windows.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{bytes, json, numbers, run, text};

/// Returns a program for a·b + c + d²e that runs the command `before` before each batch; `$batch` is the
/// batch number.
fn server(before: &str) -> String {
    format!(
        "read header; batch=0; while read count; do batch=$((batch + 1)); {before}; \
         while [ $count -gt 0 ]; do IFS=, read a b c d e; echo $((a * b + c + d * d * e)); \
         count=$((count - 1)); done; echo; done"
    )
}

/// A directory with files of integer rows and background rows.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let rows: String = (0..12)
            .map(|row| format!("{},{},{},{},7,{}\n", row % 5, 3 - row, row, row % 3, row % 4))
            .collect();
        fs::write(folder.path().join("rows.csv"), format!("a,b,c,d,target,e\n{rows}")).unwrap();
        fs::write(folder.path().join("background.csv"), "e,d,c,b,a\n2,1,4,1,3\n0,0,1,2,5\n").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn arguments(&self, command: &str, program: &str, more: &[&str]) -> Vec<String> {
        let mut arguments = vec![command.to_owned(), "--predict".to_owned(), program.to_owned()];
        arguments.extend(["--rows".to_owned(), self.path("rows.csv").to_str().unwrap().to_owned()]);
        if command == "explain" {
            let background = self.path("background.csv").to_str().unwrap().to_owned();
            arguments.extend(["--background".to_owned(), background]);
        }
        arguments.extend(more.iter().map(|&argument| argument.to_owned()));
        arguments
    }

    /// Runs the command, which must fail, and returns its exit status and its message.
    fn failure(&self, command: &str, program: &str, more: &[&str]) -> (i32, String) {
        let output = run(&self.arguments(command, program, more));
        assert!(!output.status.success() && output.stdout.is_empty());
        let says = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), says.lines().last().unwrap_or_default().to_owned())
    }
}

/// Returns the Shapley values of a·b + c + d²e for the row `x` with the single background row `z`. The values
/// of d and e follow from the four coalitions of these two features.
fn shapley(x: [f64; 5], z: [f64; 5]) -> [f64; 5] {
    let term = |d: f64, e: f64| d * d * e;
    let half = |gain: f64, other: f64| (gain + other) / 2.0;
    [
        (x[0] - z[0]) * (x[1] + z[1]) / 2.0,
        (x[1] - z[1]) * (x[0] + z[0]) / 2.0,
        x[2] - z[2],
        half(term(x[3], z[4]) - term(z[3], z[4]), term(x[3], x[4]) - term(z[3], x[4])),
        half(term(z[3], x[4]) - term(z[3], z[4]), term(x[3], x[4]) - term(x[3], z[4])),
    ]
}

#[test]
fn values_of_a_program_are_those_of_its_function() {
    let case = Case::new();
    let results = json(&case.arguments("explain", &server(":"), &["--method", "exact"]));
    assert_eq!(results["features"], serde_json::json!(["a", "b", "c", "d", "e"]));
    assert_eq!((&results["game"], &results["value"]), (&"marginal".into(), &"shapley".into()));
    for (row, explained) in results["explanations"].as_array().unwrap().iter().enumerate() {
        let r = row as f64;
        let x = [r % 5.0, 3.0 - r, r, r % 3.0, r % 4.0];
        let against = [[3.0, 1.0, 4.0, 1.0, 2.0], [5.0, 2.0, 1.0, 0.0, 0.0]].map(|z| shapley(x, z));
        for (feature, value) in numbers(&explained["values"]).into_iter().enumerate() {
            let expected = (against[0][feature] + against[1][feature]) / 2.0;
            assert!(
                (value - expected).abs() < 1e-12 * expected.abs().max(1.0),
                "{row}, {feature}: {value} {expected}"
            );
        }
        assert_eq!(explained["prediction"], x[0] * x[1] + x[2] + x[3] * x[3] * x[4]);
    }
}

#[test]
fn batches_workers_and_threads_change_no_byte() {
    let case = Case::new();
    let explain = |more: &[&str]| {
        let estimate = ["--method", "leverage-shap", "--budget", "16", "--seed", "3"];
        bytes(&case.arguments("explain", &server(":"), &[&estimate[..], more].concat()))
    };
    let expected = explain(&[]);
    for more in [
        &["--predict-batch", "1"][..],
        &["--predict-batch", "5", "--predict-workers", "3", "--threads", "4"],
        &["--threads", "1", "--predict-timeout", "20.5"],
    ] {
        assert_eq!(explain(more), expected, "{more:?}");
    }
    // Each process of this program exits at its ninth batch.
    let dying = server("[ $batch = 9 ] && exit 3");
    let estimate = ["--method", "leverage-shap", "--budget", "16", "--seed", "3", "--predict-batch", "5"];
    assert_eq!(bytes(&case.arguments("explain", &dying, &estimate)), expected);
}

#[test]
fn outputs_have_the_names_that_the_program_gives_them() {
    let case = Case::new();
    let two = "echo '# no, yes'; read header; while read count; do \
               while [ $count -gt 0 ]; do IFS=, read a b c; echo $a,$b; count=$((count - 1)); done; \
               echo; done";
    let predicted = text(&case.arguments("predict", two, &["--format", "csv", "--select", "1,4"]));
    assert_eq!(predicted, "row,prediction no,prediction yes\n1,1.0,2.0\n4,4.0,-1.0\n");
    let explained = json(&case.arguments("explain", two, &["--class", "yes", "--select", "1"]));
    assert_eq!(explained["class"], "yes");
    assert!((numbers(&explained["explanations"][0]["values"])[1] - 0.5).abs() < 1e-12);
}

#[cfg(feature = "columnar")]
#[test]
fn a_program_may_speak_arrow() {
    let case = Case::new();
    let arguments =
        case.arguments("predict", "cat", &["--predict-format", "arrow", "--select", "2", "--format", "csv"]);
    assert_eq!(
        text(&arguments),
        "row,prediction a,prediction b,prediction c,prediction d,prediction e\n2,2.0,1.0,2.0,2.0,2.0\n"
    );
}

#[test]
fn a_run_whose_program_dies_goes_on_from_its_checkpoint_to_the_same_bytes() {
    let case = Case::new();
    let estimate = [
        "--method",
        "leverage-shap",
        "--budget",
        "16",
        "--predict-batch",
        "8",
        "--predict-restarts",
        "0",
        "--threads",
        "1",
    ];
    let ill = case.path("ill");
    for death in
        ["echo 'no memory left' >&2; exit 5", "sleep 1000", "kill -9 $$", "echo oops", "echo 1; echo"]
    {
        // The program fails while a directory exists. It does not depend on a file, because the checkpoint
        // requires the same command and the same contents of the files that the command names.
        let program = server(&format!("[ -e {} ] && [ $batch = 20 ] && {{ {death}; }}", ill.display()));
        let expected = text(&case.arguments("explain", &program, &estimate));
        let checkpoint = case.path("checkpoint");
        let file = checkpoint.to_str().unwrap();
        fs::create_dir(&ill).unwrap();
        let with = [&estimate[..], &["--checkpoint", file, "--predict-timeout", "5"]].concat();
        let (status, says) = case.failure("explain", &program, &with);
        assert_eq!(status, 1, "{says}");
        assert!(says.contains("the program"), "{death}: {says}");
        assert!(finished(&checkpoint) > 0, "{death}: nothing was kept");
        let resume = [&estimate[..], &["--resume", file]].concat();
        let (_, says) = case.failure("explain", &server("true"), &resume);
        assert!(says.contains("model"), "another program: {says}");
        fs::remove_dir(&ill).unwrap();
        assert_eq!(text(&case.arguments("explain", &program, &resume)), expected, "{death}");
        fs::remove_file(&checkpoint).unwrap();
    }
}

/// Returns the size of a checkpoint in bytes.
fn finished(checkpoint: &Path) -> u64 {
    fs::metadata(checkpoint).map_or(0, |file| file.len())
}

#[test]
fn what_a_program_does_wrong_is_said_in_a_line() {
    let case = Case::new();
    for (program, says) in [
        ("no-such-program".to_owned(), "command not found"),
        ("echo \"KeyError: 'a'\" >&2; exit 3".to_owned(), "KeyError: 'a'"),
        (
            "sleep 1000".to_owned(),
            "within 1 s and was killed (rows received: 0 of 1); the program may not flush",
        ),
        ("echo 1; sleep 1000".to_owned(), "the empty line after the batch may be missing"),
        (
            "echo loading the model; sleep 1000".to_owned(),
            "line 1 of the program's output is \"loading the model\"",
        ),
        // The message reports either too many outputs or outputs before the rows were read, whichever is
        // detected first.
        ("yes ''".to_owned(), "; the program must "),
        ("echo nan; echo; sleep 1000".to_owned(), "output 0 of row 0 is NaN"),
    ] {
        let (status, told) = case.failure("explain", &program, &["--predict-timeout", "1"]);
        assert_eq!(status, 1, "{told}");
        assert!(told.contains(says) && told.contains("--predict"), "{program}: {told}");
    }
}

#[test]
fn what_does_not_go_with_a_program_is_refused() {
    let case = Case::new();
    for (more, says) in [
        (&["--output", "probability"][..], "--output probability requires a tree ensemble"),
        (&["--game", "path-dependent"], "--game path-dependent requires a tree ensemble"),
        (&["--kernel", "walk"], "requires a tree ensemble"),
        (&["--method", "tree"], "requires a tree ensemble"),
        (&["--interactions"], "--interactions requires a tree ensemble"),
        (&["--model", "model.json"], "cannot be used with"),
        (&["--predict-workers", "0"], "0"),
        (&["--predict-batch", "0"], "0"),
        (&["--predict-timeout", "0"], "≥ 0.001"),
        (&["--predict-format", "xml"], "xml"),
    ] {
        let output = run(&case.arguments("explain", &server(":"), more));
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}: {told}");
        assert!(told.contains(says), "{more:?}: {told}");
    }
    let rows = case.path("rows.csv");
    let output = run(&["explain", "--rows", rows.to_str().unwrap()]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("--model <FILE>"), "{told}");
}

/// A program whose output is a sum of terms for certain strings in the features city, code, day, price and
/// flag, and a term for the combination of a city and a code.
const OF_TEXTS: &str = "read header; while read count; do while [ $count -gt 0 ]; do \
     IFS=, read city code day price flag; \
     v=0; rome=0; [ \"$city\" = Rome ] && rome=1; seven=0; [ \"$code\" = 007 ] && seven=1; \
     v=$((rome + 2 * seven + 32 * rome * seven)); \
     [ \"$day\" = 2024-01-31 ] && v=$((v + 4)); [ \"$price\" = 1.50 ] && v=$((v + 8)); \
     [ \"$flag\" = True ] && v=$((v + 16)); \
     [ \"$city\" = NA ] && v=$((v + 64)); echo $v; count=$((count - 1)); done; echo; done";

/// Returns the output of `OF_TEXTS` for a row of strings.
fn of_texts(row: [&str; 5]) -> f64 {
    let is = |at: usize, text: &str| f64::from(u8::from(row[at] == text));
    let (rome, seven) = (is(0, "Rome"), is(1, "007"));
    let sum = rome + 2.0 * seven + 32.0 * rome * seven + 4.0 * is(2, "2024-01-31") + 8.0 * is(3, "1.50");
    sum + 16.0 * is(4, "True") + 64.0 * is(0, "NA")
}

/// Returns Shapley values of [`of_texts`] by definition, with the mean over background rows.
fn shapley_of_texts(row: [&str; 5], background: &[[&str; 5]]) -> [f64; 5] {
    let worth = |mask: usize| {
        let mixed = |other: &[&str; 5]| {
            of_texts(std::array::from_fn(|at| if mask >> at & 1 == 1 { row[at] } else { other[at] }))
        };
        background.iter().map(mixed).sum::<f64>() / background.len() as f64
    };
    // A coalition with s other features has the Shapley weight 1 / (5 · C(4, s)).
    let weight = [1.0 / 5.0, 1.0 / 20.0, 1.0 / 30.0, 1.0 / 20.0, 1.0 / 5.0];
    std::array::from_fn(|player| {
        let others = (0..32usize).filter(|mask| mask >> player & 1 == 0);
        others
            .map(|mask| weight[mask.count_ones() as usize] * (worth(mask | 1 << player) - worth(mask)))
            .sum()
    })
}

#[test]
fn a_program_reads_the_cells_as_the_file_has_them() {
    let case = Case::new();
    let rows = [
        ["Rome", "007", "2024-01-31", "1.50", "True"],
        ["Oslo", "7", "2024-02-01", "2.25", "False"],
        ["NA", "007", "2024-01-31", "2.00", "True"],
        ["Rome", "0012", "31.1.2024", "1.50", "False"],
    ];
    let background =
        [["Rome", "7", "2024-01-31", "2.00", "False"], ["Bern", "007", "1.2.2024", "1.50", "True"]];
    let write = |name: &str, rows: &[[&str; 5]]| {
        let lines: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        fs::write(case.path(name), format!("city,code,day,price,flag\n{lines}")).unwrap();
    };
    write("rows.csv", &rows);
    write("background.csv", &background);
    let exact = ["--method", "exact"];
    let results = json(&case.arguments("explain", OF_TEXTS, &exact));
    for (explained, row) in results["explanations"].as_array().unwrap().iter().zip(rows) {
        assert_eq!(explained["prediction"], of_texts(row), "{row:?}");
        let expected = shapley_of_texts(row, &background);
        for (value, expected) in numbers(&explained["values"]).into_iter().zip(expected) {
            assert!((value - expected).abs() < 1e-12, "{row:?}: {value}, not {expected}");
        }
        // Strings are shown as strings, and numbers as numbers.
        let price: f64 = row[3].parse().unwrap();
        let flag = f64::from(u8::from(row[4] == "True"));
        assert_eq!(explained["input"], serde_json::json!([row[0], row[1], row[2], price, flag]));
    }
    // Batches and processes do not affect the results.
    let split = [&exact[..], &["--predict-batch", "3", "--predict-workers", "2"]].concat();
    assert_eq!(json(&case.arguments("explain", OF_TEXTS, &split))["explanations"], results["explanations"]);
    let predicted = text(&case.arguments("predict", OF_TEXTS, &["--format", "csv"]));
    for (line, row) in predicted.lines().skip(1).zip(rows) {
        assert_eq!(line.split(',').nth(1).unwrap().parse::<f64>().unwrap(), of_texts(row), "{row:?}");
    }
    // Strings can be compared for equality, but have no means or distances.
    json(&case.arguments("explain", OF_TEXTS, &["--game", "frequency", "--fallback", "marginal"]));
    for (more, says) in [
        (&["--game", "gaussian"][..], "--game gaussian requires numbers, but \"city\" contains strings"),
        (&["--game", "empirical"], "use --game marginal or --game frequency"),
        (&["--value", "owen", "--groups", "auto"], "--groups auto requires numbers"),
    ] {
        let (_, told) = case.failure("explain", OF_TEXTS, more);
        assert!(told.contains(says), "{told}");
    }
    // A column whose first rows are numbers must not contain strings.
    write("background.csv", &[["Rome", "7", "x", "cheap", "True"]]);
    let (_, told) = case.failure("explain", OF_TEXTS, &[]);
    assert!(
        told.contains("\"price\": \"cheap\" is text in a column whose first rows contain numbers"),
        "{told}"
    );
}

#[test]
fn a_program_reads_infinite_values_and_quoted_texts() {
    let case = Case::new();
    fs::write(case.path("rows.csv"), "a,b\n-inf,\"x, y\"\n3,z\n").unwrap();
    // The program returns a different number for each row that arrives unchanged.
    let program = "read header; while read count; do while [ $count -gt 0 ]; do read line; v=0; \
                   [ \"$line\" = '-inf,\"x, y\"' ] && v=1; [ \"$line\" = 3,z ] && v=2; echo $v; \
                   count=$((count - 1)); done; echo; done";
    let predicted = text(&case.arguments("predict", program, &["--format", "csv"]));
    assert_eq!(predicted, "row,prediction\n0,1.0\n1,2.0\n");
    let background = case.path("rows.csv");
    let explained = json(&["explain", "--predict", program, "--rows", background.to_str().unwrap()]);
    assert_eq!(explained["explanations"][0]["input"], serde_json::json!(["-Infinity", "x, y"]));
    let broken = "a,b\n1,\"two\nlines\"\n";
    fs::write(case.path("rows.csv"), broken).unwrap();
    let (_, told) = case.failure("predict", program, &[]);
    assert!(told.contains("\"two\\nlines\", which has a line break"), "{told}");
}

#[test]
fn results_of_a_program_hold_no_number_that_is_not_there() {
    let case = Case::new();
    let results = json(&case.arguments("explain", &server(":"), &["--method", "exact", "--select", "0"]));
    assert!(results.get("rounds").is_none());
    assert!(matches!(results["explanations"][0]["base"], Value::Number(_)));
}

/// Starts a run whose program hangs at its 20th batch, and waits for that to happen. Returns the run and the
/// id of the program's process, which is in the file `id`.
#[cfg(unix)]
fn hanging(case: &Case, more: &[&str]) -> (std::process::Child, String) {
    let id = case.path("id");
    let program = server(&format!("[ $batch = 20 ] && {{ echo $$ > {}; sleep 1000; }}", id.display()));
    let estimate = ["--method", "leverage-shap", "--budget", "16", "--predict-batch", "8", "--threads", "1"];
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_apportion"))
        .args(case.arguments("explain", &program, &[&estimate[..], more].concat()))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    loop {
        match fs::read_to_string(&id) {
            Ok(number) if number.ends_with('\n') => return (child, number.trim().to_owned()),
            _ => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_program_at_once_and_keeps_what_was_done() {
    let case = Case::new();
    let checkpoint = case.path("checkpoint");
    let keep = ["--checkpoint", checkpoint.to_str().unwrap()];
    for (more, status, says) in
        [(&[][..], 130, ""), (&keep[..], 1, "error: interrupted; to continue, pass --resume")]
    {
        let (child, id) = hanging(&case, more);
        let begun = std::time::Instant::now();
        let send = |signal: &str, id: &str| {
            std::process::Command::new("sh")
                .args(["-c", &format!("kill -{signal} {id} 2>/dev/null")])
                .status()
                .unwrap()
        };
        send("INT", &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{stderr}");
        assert!(stderr.contains(says), "{stderr}");
        // A killed process takes a moment to disappear.
        let gone = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            !send("0", &id).success()
        });
        assert!(gone, "{more:?}");
        fs::remove_file(case.path("id")).unwrap();
    }
    assert!(finished(&checkpoint) > 0);
}

#[test]
fn restarts_are_told() {
    let case = Case::new();
    let mark = case.path("mark");
    let once = format!("[ $batch = 4 ] && [ ! -e {0} ] && {{ : > {0}; exit 1; }}", mark.display());
    let output =
        run(&case.arguments("explain", &server(&once), &["--method", "leverage-shap", "--budget", "16"]));
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("restarted once"));
}

/// Returns a program that computes `more` from `$a`, after reading all rows of a batch. `$sum` is the sum of
/// column a, and `$batch` is the batch number.
fn batchwise(more: &str) -> String {
    format!(
        "read header; batch=0; while read count; do batch=$((batch + 1)); sum=0; all=''; i=0; \
         while [ $i -lt $count ]; do IFS=, read a b c; sum=$((sum + a)); all=\"$all $a\"; \
         i=$((i + 1)); done; \
         for a in $all; do echo $(({more})); done; echo; done"
    )
}

#[test]
fn programs_whose_outputs_depend_on_the_batch_are_refused() {
    let case = Case::new();
    for (more, says) in [
        ("a * count - sum", "output 0 of the row \"0,3,0,0,0\" is 0 alone and -"),
        ("sum", "in a batch of 8 rows; the program must be deterministic"),
        ("a + (count > 1)", "is 0 alone and 1 in a batch of 8 rows"),
        ("a + (batch > 1)", "is 0 alone and 1 in a batch of 8 rows"),
        ("a + (batch > 5)", "the program must be deterministic"),
    ] {
        for command in ["predict", "explain"] {
            let (status, message) =
                case.failure(command, &batchwise(more), &["--out", case.path("r.json").to_str().unwrap()]);
            assert_eq!(status, 1);
            assert!(message.contains(says), "{command}, {more}: {message}");
            assert!(!case.path("r.json").exists());
        }
    }
}

#[test]
fn programs_whose_outputs_change_during_a_run_are_refused_at_its_end() {
    let case = Case::new();
    // The run has five batches before its end: three at the start, one with all rows, and one with a single
    // row.
    let (_, message) = case.failure(
        "predict",
        &batchwise("a + (batch > 5)"),
        &["--out", case.path("r.json").to_str().unwrap()],
    );
    let says = "output 0 of the row \"0,3,0,0,0\" is 0 alone and 1 alone at the end of the run";
    assert!(message.contains(says), "{message}");
    assert!(!case.path("r.json").exists());
}

#[test]
fn outputs_that_may_have_decimal_commas_are_noted_once() {
    let case = Case::new();
    let says = |program: &str| {
        let output = run(&case.arguments("predict", program, &[]));
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let outputs = |cells: &str| server(":").replace("$((a * b + c + d * d * e))", cells);
    let noted = says(&outputs("$c,25"));
    assert_eq!(
        noted
            .matches("note: the program returns 2 outputs per row, separated by commas, as in \"0,25\"")
            .count(),
        1
    );
    for program in [outputs("$c.0,0.25"), outputs("$c"), format!("echo '# a, b'; {}", outputs("$c,25"))] {
        assert!(!says(&program).contains("separated by commas"), "{program}");
    }
}

#[test]
fn a_report_shows_the_program_by_its_name_alone() {
    let case = Case::new();
    let page = case.path("page.html");
    let secret = format!("TOKEN='s3cret 1' PASSWORD=s3cret sh -c '{}' s3cret", server(":"));
    let report = ["--report", page.to_str().unwrap(), "--select", "0-1"];
    bytes(&case.arguments("explain", &secret, &report));
    let shown = fs::read_to_string(&page).unwrap();
    assert!(!shown.contains("s3cret") && shown.contains("sh …") && shown.contains("--show-command"));
    bytes(&case.arguments("explain", &secret, &[&report[..], &["--show-command"]].concat()));
    assert!(fs::read_to_string(&page).unwrap().contains("PASSWORD=s3cret"));
    let (status, _) = case.failure("explain", &secret, &["--show-command"]);
    assert_eq!(status, 2);
}
