//! Check that code, comments and pages do not contain the turns of phrase listed in `xtask/phrases.txt`.

use super::files::File;
use super::finding::Finding;

/// The list: lines `phrase -> what to write instead`, `except PATH: phrase` for a file that may contain it,
/// and `skip PREFIX` for files that are not checked. Lines that start with `#` are comments.
pub(crate) const LIST: &str = "xtask/phrases.txt";

/// A phrase, with what to write instead and the files that may contain it.
struct Phrase<'a> {
    words: &'a str,
    instead: &'a str,
    exceptions: Vec<&'a str>,
}

/// Returns a finding for each line that contains a phrase of `list`, or a single finding if the list is
/// invalid.
pub(crate) fn findings(files: &[File], list: &str) -> Vec<Finding> {
    let phrases = match parse(list) {
        Ok(phrases) => phrases,
        Err(finding) => return vec![finding],
    };
    let skipped: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("skip ")).collect();
    let is_checked = |file: &&File| !skipped.iter().any(|prefix| file.path.starts_with(prefix));
    let mut findings = Vec::new();
    for file in files.iter().filter(is_checked) {
        for (number, line) in file.text.lines().enumerate() {
            let lower = line.to_lowercase();
            for phrase in &phrases {
                if !phrase.exceptions.contains(&file.path.as_str()) && has_words(&lower, phrase.words) {
                    let wrong = format!("line {} contains {:?}", number + 1, phrase.words);
                    findings.push(Finding::new(
                        &file.path,
                        wrong,
                        format!("use instead: {}", phrase.instead),
                    ));
                }
            }
        }
    }
    findings
}

fn parse(list: &str) -> Result<Vec<Phrase<'_>>, Finding> {
    let mut phrases: Vec<Phrase<'_>> = Vec::new();
    let is_phrase = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("skip ");
    for line in list.lines().filter(is_phrase) {
        let exception = line.strip_prefix("except ").and_then(|line| line.split_once(": "));
        if let Some((path, words)) = exception {
            match phrases.iter_mut().find(|phrase| phrase.words == words) {
                Some(phrase) => phrase.exceptions.push(path),
                None => {
                    let wrong = format!("exception for the phrase {words:?}, which is not listed above it");
                    return Err(Finding::new(LIST, wrong, "remove the exception"));
                }
            }
        } else if let Some((words, instead)) = line.split_once(" -> ") {
            phrases.push(Phrase { words, instead, exceptions: Vec::new() });
        } else {
            let wrong = format!("invalid line {line:?}");
            return Err(Finding::new(LIST, wrong, "write `phrase -> what to write instead`"));
        }
    }
    Ok(phrases)
}

/// Returns whether `line` contains `words` as whole words.
fn has_words(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(start, _)| {
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        let before = line[..start].chars().next_back();
        let after = line[start + words.len()..].chars().next();
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::assert_found;
    use super::*;

    const PHRASES: &str =
        "# A comment.\nskip old/\nis told -> is reported\nanew -> again\nexcept a.rs: anew\n";

    #[test]
    fn phrases_are_found_as_whole_words_in_any_case() {
        let found = |path: &str, text: &str| findings(&[File::new(path, text)], PHRASES);
        assert_found(
            &found("b.rs", "fn read() {}\n// Is told once.\n"),
            &["b.rs: line 2 contains \"is told\"; use instead: is reported"],
        );
        assert_found(&found("b.rs", "this told a canew renewed"), &[]);
        assert_found(&found("b.md", "read anew"), &["line 1 contains \"anew\""]);
        assert_found(&found("a.rs", "read anew"), &[]);
        assert_found(&found("old/b.md", "is told"), &[]);
    }

    #[test]
    fn invalid_lists_are_findings() {
        let files = [File::new("a.rs", "")];
        assert_found(&findings(&files, "is told"), &["invalid line \"is told\""]);
        assert_found(
            &findings(&files, "except a.rs: anew"),
            &["exception for the phrase \"anew\", which is not listed"],
        );
    }
}
