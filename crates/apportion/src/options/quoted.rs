//! Lists of names as typed by users: quoted names may contain the separators.

/// Splits `text` at each `separator` outside quotes. A quotation starts at the beginning or after one of
/// `separators`.
pub fn split<'t>(text: &'t str, separator: char, separators: &[char]) -> Vec<&'t str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_beginning) = (false, true);
    for (index, letter) in text.char_indices() {
        match letter {
            // The second quote of a doubled one reopens the quotation that the first one closed.
            '"' if is_quoted => is_quoted = false,
            '"' if is_beginning || text[..index].ends_with('"') => is_quoted = true,
            _ if is_quoted => {}
            letter if letter == separator => {
                parts.push(&text[start..index]);
                start = index + letter.len_utf8();
            }
            _ => {}
        }
        is_beginning =
            !is_quoted && (separators.contains(&letter) || (is_beginning && letter.is_whitespace()));
    }
    parts.push(&text[start..]);
    parts
}

/// Returns the name without surrounding blanks and quotes; doubled quotes within quotes become one.
pub fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inside.map_or_else(|| text.to_owned(), |inside| inside.replace("\"\"", "\""))
}

/// Returns the name as it must be typed in a list with these `separators`.
pub fn typed(name: &str, separators: &[char]) -> String {
    if name.contains(separators) || name.starts_with('"') || name.trim() != name {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str) -> Vec<Vec<String>> {
        let group = |group| split(group, ',', &[',', ';']).into_iter().map(unquoted).collect();
        split(text, ';', &[',', ';']).into_iter().map(group).collect()
    }

    #[test]
    fn names_in_quotes_may_hold_what_separates_names() {
        assert_eq!(groups("a, b ;c"), [vec!["a", "b"], vec!["c"]]);
        assert_eq!(
            groups("\"Annual Income, k$\",b; \"x;y\" "),
            [vec!["Annual Income, k$", "b"], vec!["x;y"]]
        );
        assert_eq!(
            groups("\"say \"\"no; yes\"\"\",b;5\" pipe"),
            [vec!["say \"no; yes\"", "b"], vec!["5\" pipe"]]
        );
        assert_eq!(groups(""), [vec![""]]);
        assert_eq!(groups("\"\";a"), [vec![""], vec!["a"]]);
    }

    #[test]
    fn what_is_typed_reads_back() {
        for name in ["a", "a,b", "a;b", " a", "\"", "\"a\",b", "5\" pipe", "a \"b\"; c", ""] {
            let text = format!("{};x,{}", typed(name, &[',', ';']), typed(name, &[',', ';']));
            assert_eq!(groups(&text), [vec![name], vec!["x", name]], "{name}");
        }
    }
}
