//! Construction of HTML. Markup is written unchanged, and all data is escaped.

use crate::explained::shown;
use crate::scene::{escape, shortened};

/// An HTML page, or a part of one.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Appends static markup, never data.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Appends the output of a function that escapes data itself: a figure, a style sheet, a script, or JSON.
    pub(super) fn markup(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Appends escaped text.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        escape(text, &mut self.0);
        self
    }

    /// Starts an element.
    pub(super) fn open(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) -> &mut Self {
        self.raw("<").raw(tag);
        for (name, value) in attributes {
            self.raw(" ").raw(name).raw("=\"").text(value).raw("\"");
        }
        self.raw(">")
    }

    /// Ends an element.
    pub(super) fn close(&mut self, tag: &'static str) -> &mut Self {
        self.raw("</").raw(tag).raw(">")
    }

    /// Appends an element that contains only text.
    pub(super) fn element(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &str)],
        text: &str,
    ) -> &mut Self {
        self.open(tag, attributes).text(text).close(tag)
    }

    /// Appends a paragraph.
    pub(super) fn paragraph(&mut self, text: &str) -> &mut Self {
        self.element("p", &[], text)
    }

    /// Appends a list of terms with their descriptions.
    pub(super) fn terms<'t>(&mut self, terms: impl IntoIterator<Item = (&'t str, String)>) -> &mut Self {
        self.raw("<dl>");
        for (term, says) in terms {
            self.raw("<div>").element("dt", &[("dir", "auto")], &named(term));
            self.element("dd", &[("dir", "auto")], &says).raw("</div>");
        }
        self.raw("</dl>")
    }

    pub(super) fn end(self) -> String {
        self.0
    }
}

/// Returns a name for display in a page: long names are shortened in the middle, and an empty name is marked
/// as such.
pub(super) fn named(name: &str) -> String {
    match name.is_empty() {
        true => "(no name)".to_owned(),
        false => shortened(&shown(name), 560.0, 13.0),
    }
}

/// Formats a count with its noun, such as `1 row` and `2 rows`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_text_in_elements_and_in_attributes() {
        let mut html = Html::default();
        html.element("p", &[("title", "\"><script>")], "a & b < c");
        assert_eq!(html.end(), "<p title=\"&quot;&gt;&lt;script&gt;\">a &amp; b &lt; c</p>");
    }

    #[test]
    fn long_names_are_cut() {
        assert!(named(&"x".repeat(10_000)).chars().count() < 120);
        assert_eq!(named("a\nb"), "a\\u{a}b");
        assert_eq!(named(""), "(no name)");
    }
}
