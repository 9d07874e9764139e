//! Display of text from files: names, IDs and categories may contain anything.

use std::borrow::Cow;

/// Escapes control characters and characters that change the direction of text, as figures do in all text.
///
/// ```
/// assert_eq!(apportion_plots::shown("a\tb"), "a\\u{9}b");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
    };
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_hidden(letter) { shown.extend(letter.escape_unicode()) } else { shown.push(letter) }
    }
    Cow::Owned(shown)
}
