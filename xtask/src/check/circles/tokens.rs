//! Tokenizer for source files.

/// Splits code into tokens. A qualified name (`crate::stream::draw`) is one token, and so is `::` before `{`,
/// `*` or `<`. Every other token is a single character.
pub(super) fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = if is_word(first) {
            let mut length = 0;
            loop {
                let tail = &rest[length..];
                length += tail.find(|letter| !is_word(letter)).unwrap_or(tail.len());
                match rest[length..].strip_prefix("::") {
                    Some(next) if next.starts_with(is_word) => length += 2,
                    _ => break length,
                }
            }
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if !first.is_whitespace() {
            tokens.push(token.to_owned());
        }
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualified_names_are_one_token() {
        assert_eq!(
            tokens("use a::b_2::{C, d::*};"),
            ["use", "a::b_2", "::", "{", "C", ",", "d", "::", "*", "}", ";"]
        );
        assert_eq!(tokens("Vec::<é>::new()"), ["Vec", "::", "<", "é", ">", "::", "new", "(", ")"]);
        assert_eq!(tokens(""), Vec::<String>::new());
    }
}
