//! The command as it was typed.

use std::ffi::OsString;

/// Arguments as they would be typed in a shell of Unix, the name of the program first, without where it is.
pub(crate) fn as_typed(arguments: &[OsString]) -> String {
    let names = std::iter::once("apportion".to_owned());
    let others = arguments.iter().skip(1).map(|argument| quoted(&argument.to_string_lossy()));
    names.chain(others).collect::<Vec<_>>().join(" ")
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
        assert_eq!(typed, r"apportion plot bar --where 'age >= 40' '--in=a b.json' 'it'\''s' ''");
    }
}
