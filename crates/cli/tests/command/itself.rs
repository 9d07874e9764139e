//! Information about the command: methods, version, completions and manual pages. Also, how it ends if its
//! output cannot be written.

use std::fs::File;
use std::process::Output;

use assert_cmd::Command;

use crate::support::{on, run, text};

fn diabetes(more: &[&str]) -> Vec<String> {
    on("explain", "diabetes_xgb.json.gz", "diabetes.csv.gz", more)
}

fn with(variable: &str, value: &str, arguments: &[String]) -> Output {
    Command::cargo_bin("apportion").unwrap().env(variable, value).args(arguments).output().unwrap()
}

#[test]
fn methods_are_listed_with_what_they_compute_and_by_value() {
    let all = text(&["methods"]);
    let of = |method: &str| {
        let mut from = all.lines().skip_while(|line| line.split_whitespace().next() != Some(method));
        from.nth(1).unwrap().trim().to_owned()
    };
    assert_eq!(of("leverage-shap"), "values: shapley");
    assert_eq!(of("exact"), "values: all");
    assert_eq!(of("nested-permutation"), "values: shapley, owen, two-step, quotient-shapley");
    let owen = text(&["methods", "--value", "owen"]);
    let names: Vec<&str> = owen.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(
        names.contains(&"leverage") && names.contains(&"tree") && !names.contains(&"kernel-shap"),
        "{owen}"
    );
    // The listed methods are accepted, and others are rejected.
    for method in ["leverage", "kernel-shap"] {
        let options = ["--select", "0", "--value", "owen", "--groups", "age,sex,bmi;bp,s1,s2;s3,s4,s5,s6"];
        let output = run(&diabetes(&[&options[..], &["--method", method]].concat()));
        assert_eq!(output.status.success(), names.contains(&method), "{method}");
    }
}

#[test]
fn the_version_has_one_line_or_says_what_was_built() {
    let short = text(&["-V"]);
    assert_eq!(short, format!("apportion {}\n", env!("CARGO_PKG_VERSION")));
    let long = text(&["--version"]);
    let mut lines = long.lines();
    assert_eq!(lines.next().map(|line| format!("{line}\n")), Some(short));
    assert!(lines.next().unwrap().starts_with("commit: "));
    assert_eq!(lines.next().unwrap().contains("columnar"), cfg!(feature = "columnar"));
}

#[test]
fn shells_and_manuals_know_every_command_and_option() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = text(&["completions", shell]);
        for word in ["compile-background", "background-select", "kernel-shap-paired"] {
            // There are too many methods to complete their names; a separate command lists them.
            assert_eq!(script.contains(word), word != "kernel-shap-paired", "{shell}: {word}");
        }
    }
    assert!(text(&["man"]).contains("apportion\\-explain(1)"));
    let page = text(&["man", "explain"]);
    assert!(page.contains(".TH apportion-explain 1") && page.contains("\\-\\-background\\-select"));
    let unknown = run(&["man", "explian"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("expected one of: explain, "));
}

/// Checks that a value of an environment variable causes a usage error whose message starts with `error`.
fn refuses_setting(variable: &str, value: &str, arguments: &[String], error: &str) {
    let output = with(variable, value, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{value}");
    assert!(stderr.starts_with(error), "{stderr}");
}

#[test]
fn threads_of_the_environment_are_within_the_limit() {
    let arguments = diabetes(&["--select", "0", "--game", "path-dependent"]);
    let expected = run(&arguments).stdout;
    for count in ["", "0", "2", "1024"] {
        let output = with("RAYON_NUM_THREADS", count, &arguments);
        assert!(output.status.success() && output.stdout == expected, "{count:?}");
    }
    for count in ["1025", "-1", "two", "99999999999999999999"] {
        let error = format!("error: invalid value {count:?} for RAYON_NUM_THREADS; expected a number");
        refuses_setting("RAYON_NUM_THREADS", count, &arguments, &error);
    }
}

#[test]
fn a_limit_of_memory_in_the_environment_is_a_number_of_bytes() {
    let arguments = diabetes(&["--select", "0", "--game", "path-dependent"]);
    for limit in ["", "8GB", "2000000000"] {
        assert!(with("APPORTION_MAX_MEMORY", limit, &arguments).status.success(), "{limit:?}");
    }
    for limit in ["-1", "plenty"] {
        let error = format!("error: invalid value {limit:?} for APPORTION_MAX_MEMORY;");
        refuses_setting("APPORTION_MAX_MEMORY", limit, &arguments, &error);
    }
}

#[test]
fn colours_are_for_terminals_and_for_who_wants_them() {
    let help = ["--help".to_owned()];
    let has_colours = |output: Output| output.stdout.contains(&0x1b);
    assert!(!has_colours(run(&help)));
    assert!(!has_colours(with("NO_COLOR", "1", &help)));
    assert!(!has_colours(with("CLICOLOR", "0", &help)));
    assert!(has_colours(with("CLICOLOR_FORCE", "1", &help)));
}

#[cfg(target_os = "linux")]
#[test]
fn full_outputs_end_with_status_1_and_what_to_do() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let program = assert_cmd::cargo::cargo_bin("apportion");
    let explain = diabetes(&["--select", "0", "--game", "path-dependent"]);
    let of_itself = ["methods", "man", "--help", "--version"].map(|argument| vec![argument.to_owned()]);
    for arguments in of_itself.into_iter().chain([explain]) {
        let output = std::process::Command::new(&program).args(&arguments).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        if !arguments[0].starts_with('-') {
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(
                stderr.contains("No space left on device") && stderr.contains("; free some space"),
                "{stderr}"
            );
        }
        // The work is done even if the messages cannot be written.
        let output = std::process::Command::new(&program).args(&arguments).stderr(full()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
    }
}
