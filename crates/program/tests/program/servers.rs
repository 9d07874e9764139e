//! Tests of the servers in the documentation, run unchanged.

use std::process::Command;

use apportion_program::ProgramOptions;

use crate::common::{options, predictions, start};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/predict_program.md");

/// Returns the code block that follows a heading of the page.
fn server(heading: &str) -> String {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, code) = section.split_once("\n```").unwrap();
    let (_, code) = code.split_once('\n').unwrap();
    code.split_once("\n```").unwrap().0.to_owned()
}

/// Returns whether a command succeeds. If it fails, prints which test is skipped.
fn there(program: &str, arguments: &[&str], left_out: &str) -> bool {
    let ends_well =
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !ends_well {
        eprintln!("skipped, because {program} {arguments:?} fails: {left_out}");
    }
    ends_well
}

/// Tests a server whose model is x + 2y.
fn serves(command: &str, options: &ProgramOptions) {
    let program = start(command, &options.clone().batch_rows(3)).unwrap();
    let rows: Vec<f64> = (0..40).map(|at| f64::from(at) / 7.0).collect();
    let expected: Vec<f64> = rows.chunks(2).map(|row| row[0] + 2.0 * row[1]).collect();
    assert_eq!(predictions(&program, &rows).unwrap(), expected);
}

/// Creates a directory with a Python server and a `joblib` module that provides its model.
fn folder(server: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let model = "class Model:\n    def predict(self, table):\n        return table['x'].to_numpy() + 2 * \
        table['y'].to_numpy()\n\ndef load(path):\n    return Model()\n";
    std::fs::write(folder.path().join("joblib.py"), model).unwrap();
    std::fs::write(folder.path().join("server.py"), server).unwrap();
    folder
}

#[test]
fn the_server_in_plain_python_serves() {
    let code = server("Python without packages");
    assert!(code.contains("def predict"));
    if there("python3", &["-c", ""], "the server in plain Python") {
        let folder = folder(&code);
        serves(&format!("cd {} && python3 server.py", folder.path().display()), &options());
    }
}

#[test]
fn the_server_in_python_with_pandas_serves() {
    let code = server("Python, CSV");
    assert!(code.contains("joblib.load"));
    if there("python3", &["-c", "import pandas"], "the server with pandas") {
        let folder = folder(&code);
        serves(&format!("cd {} && python3 server.py", folder.path().display()), &options());
    }
}

#[cfg(feature = "arrow")]
#[test]
fn the_server_in_python_with_arrow_serves() {
    let code = server("Python, Arrow");
    assert!(code.contains("joblib.load"));
    if there("python3", &["-c", "import pandas, pyarrow"], "the server with pyarrow") {
        let folder = folder(&code);
        let options = options().format(apportion_program::Format::Arrow);
        serves(&format!("cd {} && python3 server.py", folder.path().display()), &options);
    }
}

#[test]
fn the_server_in_r_serves() {
    let code = server("R");
    if there("Rscript", &["--version"], "the server in R") {
        let folder = tempfile::tempdir().unwrap();
        let model = "model <- structure(list(), class = 'sum'); predict.sum <- function(object, table) \
            table$x + 2 * table$y";
        std::fs::write(
            folder.path().join("server.R"),
            code.replace("model <- readRDS(\"model.rds\")", model),
        )
        .unwrap();
        serves(&format!("cd {} && Rscript server.R", folder.path().display()), &options());
    }
}

#[test]
fn the_server_in_julia_serves() {
    let code = server("Julia");
    if there("julia", &["--version"], "the server in Julia") {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.jl"), code).unwrap();
        serves(&format!("cd {} && julia server.jl", folder.path().display()), &options());
    }
}
