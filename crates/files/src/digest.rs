//! SHA-256 digests of files, numbers and strings, formatted as `sha256:` and hexadecimal digits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Returns the digest of the contents of a file.
///
/// # Errors
///
/// Any error while opening or reading the file.
pub fn digest_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let (mut digest, mut bytes) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(named(&digest.finalize())),
            read => digest.update(&bytes[..read]),
        }
    }
}

/// Returns the digest of numbers, as little-endian float64.
pub fn digest_numbers<'n>(numbers: impl IntoIterator<Item = &'n f64>) -> String {
    let mut digest = Sha256::new();
    numbers.into_iter().for_each(|number| digest.update(number.to_le_bytes()));
    named(&digest.finalize())
}

/// Returns the digest of bytes.
pub fn digest_bytes(bytes: &[u8]) -> String {
    named(&Sha256::digest(bytes))
}

/// Returns a number that represents a string in a digest of numbers: the first 64 bits of its SHA-256 digest.
pub fn number_of_text(text: &str) -> f64 {
    let first = Sha256::digest(text).iter().take(8).fold(0, |bits: u64, &byte| bits << 8 | u64::from(byte));
    f64::from_bits(first)
}

/// Returns the names and digests of the files that occur as words in a command, except files to which the
/// command writes. Other files that a program reads cannot be determined from its command.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// # let model = directory.path().join("my model.py");
/// # std::fs::write(&model, "print()")?;
/// let files = apportion_files::digest::digest_files_in(&format!("python3 '{}' --quiet", model.display()));
/// assert_eq!(files.len(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn digest_files_in(command: &str) -> Vec<(String, String)> {
    let digest = |word: String| {
        // The word may be an option with a value, such as --model=m.pkl.
        let value = word.split_once('=').map(|(_, value)| value.to_owned());
        let path = [Some(word), value].into_iter().flatten().find(|path| Path::new(path).is_file())?;
        digest_file(Path::new(&path)).ok().map(|digest| (path, digest))
    };
    words(command).into_iter().filter_map(digest).collect()
}

/// Splits a command into words, respecting quotes. Files that it writes to (`>`) are omitted.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_written) = (Vec::new(), String::new(), None, false);
    for character in command.chars().chain([' ']) {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, _) if character.is_whitespace() || ";|&<>()".contains(character) => {
                if !word.is_empty() {
                    let word = std::mem::take(&mut word);
                    if !std::mem::take(&mut is_written) {
                        words.push(word);
                    }
                }
                is_written |= character == '>';
            }
            _ => word.push(character),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

fn named(digest: &[u8]) -> String {
    format!("sha256:{}", hexadecimal(digest))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_be_quoted() {
        let command = "cd a; python3 'my file.py' --to=\"b c\" <d|e 2>> 'a log' >out f";
        assert_eq!(words(command), ["cd", "a", "python3", "my file.py", "--to=b c", "d", "e", "2", "f"]);
        assert_eq!(words("one 'left open"), ["one", "left open "]);
        assert!(words("  ").is_empty());
    }

    #[test]
    fn files_are_found_as_words_and_as_values_of_options() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        for name in ["serve.py", "weights", "rows"] {
            std::fs::write(path(name), name).unwrap();
        }
        let command =
            format!("python3 {} --weights={} <{} | cat", path("serve.py"), path("weights"), path("rows"));
        let found: Vec<String> = digest_files_in(&command).into_iter().map(|(path, _)| path).collect();
        assert_eq!(found, ["serve.py", "weights", "rows"].map(path));
    }
}
