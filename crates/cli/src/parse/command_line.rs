//! The command as it was typed, for display in a report.

use std::ffi::OsString;

/// The option whose value is a command line, which may contain passwords and tokens.
const PREDICT: &str = "--predict";

/// The option that shows the whole command.
const SHOW: &str = "--show-command";

/// The command that a report shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandLine {
    pub(crate) text: String,
    /// Whether the command of `--predict` is reduced to the name of its program.
    pub(crate) is_abridged: bool,
}

/// Formats arguments as for a Unix shell. The first one, the path of the program, is replaced with
/// `apportion`. The command of `--predict` is reduced to the name of its program, unless the arguments
/// include `--show-command`.
pub(crate) fn as_typed(arguments: &[OsString]) -> CommandLine {
    let shows_all = arguments.iter().any(|argument| argument == SHOW);
    let mut line = CommandLine { text: "apportion".to_owned(), is_abridged: false };
    let mut is_command = false;
    for argument in arguments.iter().skip(1) {
        let argument = argument.to_string_lossy();
        let value = match argument.strip_prefix(PREDICT).and_then(|value| value.strip_prefix('=')) {
            _ if shows_all => None,
            Some(command) => Some(format!("{PREDICT}={}", abridged(command))),
            None if is_command => Some(abridged(&argument)),
            None => None,
        };
        is_command = !is_command && argument == PREDICT;
        line.is_abridged |= value.is_some();
        line.text.push(' ');
        line.text.push_str(&quoted(value.as_deref().unwrap_or(&argument)));
    }
    line
}

/// Returns the name of the program that a shell command starts, followed by `…`. The directory, the arguments
/// and the variables set before the name are omitted. Returns only `…` if the name cannot be determined.
fn abridged(command: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-+./".contains(letter);
    let name = words(command).find(|word| !is_assignment(word)).unwrap_or_default();
    let name = if name.chars().all(is_plain) { name.rsplit('/').next().unwrap_or_default() } else { "" };
    if name.is_empty() { "…".to_owned() } else { format!("{name} …") }
}

/// Splits a shell command into words. Whitespace within quotes, parentheses or braces, or after a backslash,
/// does not end a word. Quotes are kept.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let mut rest = command.trim_start();
    std::iter::from_fn(move || {
        let (mut quote, mut depth, mut letters) = (None, 0usize, rest.char_indices());
        let end = loop {
            let Some((at, letter)) = letters.next() else { break rest.len() };
            match (quote, letter) {
                (Some('\''), '\'') | (Some('"'), '"') | (Some('`'), '`') => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => {
                    letters.next();
                }
                (Some(_), _) => {}
                (None, '\'' | '"' | '`') => quote = Some(letter),
                (None, '(' | '{') => depth += 1,
                (None, ')' | '}') => depth = depth.saturating_sub(1),
                (None, letter) if depth == 0 && letter.is_whitespace() => break at,
                _ => {}
            }
        };
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        (!word.is_empty()).then_some(word)
    })
}

/// Returns whether a word sets a variable of the shell: `NAME=…`.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn quoted(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-+./,:=@%^".contains(letter);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_typed() {
        let arguments =
            ["/bin/apportion", "plot", "bar", "--where", "age >= 40", "--in=a b.json", "it's", ""];
        let typed = as_typed(&arguments.map(OsString::from));
        assert_eq!(typed.text, r"apportion plot bar --where 'age >= 40' '--in=a b.json' 'it'\''s' ''");
        assert!(!typed.is_abridged);
    }

    #[test]
    fn the_command_of_a_program_is_shown_by_its_name_alone() {
        for (command, shown) in [
            ("curl -H 'Authorization: Bearer secret' https://user:secret@host", "curl …"),
            ("TOKEN=secret PASS='secret a' python3 m.py --key secret", "python3 …"),
            ("A=\"secret $(cat /secret key) b\" /home/secret/bin/serve", "serve …"),
            ("A=secret\\ b B+=`cat secret c` /opt/secret/x.sh 'secret'", "x.sh …"),
            ("A=$(cat secret a) run", "run …"),
            ("\"$SECRET/run\" secret", "…"),
            ("$(cat secret) x", "…"),
            ("(cd secret; ./run)", "…"),
            ("A='secret b", "…"),
            ("secret=1", "…"),
            ("  python3\tm.py secret", "python3 …"),
            ("", "…"),
        ] {
            for arguments in [
                vec!["a", "explain", "--predict", command, "--seed", "3"],
                vec!["a", "explain", &format!("--predict={command}"), "--seed", "3"],
            ] {
                let typed = as_typed(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
                assert!(typed.is_abridged && !typed.text.contains("secret"), "{command}: {}", typed.text);
                assert!(typed.text.contains(shown) && typed.text.ends_with(" --seed 3"), "{}", typed.text);
            }
            let all = ["a", "explain", "--predict", command, "--show-command"].map(OsString::from);
            let typed = as_typed(&all);
            assert!(!typed.is_abridged && typed.text.contains(&quoted(command)), "{}", typed.text);
        }
    }
}
