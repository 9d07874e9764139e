//! Checks that a text is well-formed XML.

/// Checks that tags are closed in order, attributes are quoted and unique, special characters are escaped,
/// and all characters are allowed in XML. The error describes the problem.
pub(crate) fn check(text: &str) -> Result<(), String> {
    if let Some(letter) = text.chars().find(|&letter| !is_allowed(letter)) {
        return Err(format!("{letter:?} has no place in XML"));
    }
    let mut open: Vec<&str> = Vec::new();
    let (mut left, mut roots) = (text, 0);
    while !left.is_empty() {
        let Some(inner) = left.strip_prefix('<') else {
            let end = left.find('<').unwrap_or(left.len());
            if open.is_empty() {
                return Err(format!("text outside of all elements: {:?}", &left[..end]));
            }
            check_text(&left[..end])?;
            left = &left[end..];
            continue;
        };
        let end = end_of_tag(inner).ok_or("a tag does not end")?;
        let tag = &inner[..end];
        left = &inner[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            match open.pop() {
                Some(opened) if opened == name => {}
                opened => return Err(format!("{name} ends {opened:?}")),
            }
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let name = tag.split(' ').next().unwrap_or_default();
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Err(format!("{name:?} is no name of an element"));
        }
        check_attributes(tag[name.len()..].trim_start())?;
        roots += usize::from(open.is_empty());
        if !is_empty {
            open.push(name);
        }
    }
    match (roots, open.is_empty()) {
        (1, true) => Ok(()),
        _ => Err(format!("{roots} roots, {open:?} left open")),
    }
}

/// Returns the end of a tag, ignoring quoted text.
fn end_of_tag(inner: &str) -> Option<usize> {
    let mut is_quoted = false;
    inner.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    })
}

fn check_attributes(mut left: &str) -> Result<(), String> {
    let mut names = Vec::new();
    while !left.is_empty() {
        let (name, rest) = left.split_once("=\"").ok_or(format!("no attribute: {left:?}"))?;
        let (value, rest) = rest.split_once('"').ok_or(format!("{name} has no end"))?;
        if names.contains(&name)
            || name.contains(|letter: char| !letter.is_ascii_alphabetic() && letter != '-')
        {
            return Err(format!("attribute {name:?}"));
        }
        names.push(name);
        check_text(value)?;
        left = rest.trim_start();
    }
    Ok(())
}

fn check_text(text: &str) -> Result<(), String> {
    if text.contains('<') {
        return Err(format!("< in {text:?}"));
    }
    for after in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        if !known.iter().any(|reference| after.starts_with(reference)) {
            return Err(format!("& before {after:?}"));
        }
    }
    Ok(())
}

fn is_allowed(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[test]
fn the_check_finds_what_is_wrong() {
    assert_eq!(check("<a x=\"1>2\"><b/>&lt;</a>"), Ok(()));
    for wrong in [
        "<a>",
        "<a></b>",
        "<a/><a/>",
        "<a>&</a>",
        "<a x=1/>",
        "<a x=\"<\"/>",
        "<a x=\"\" x=\"\"/>",
        "<a>\u{1}</a>",
        "a",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}
