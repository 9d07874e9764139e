//! HTML on its way: markup is written here, and all that is data is escaped.

use crate::explained::shown;
use crate::scene::{escape, shortened};

/// A page, or a part of one.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Markup of ours, never data.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// What was made by a function that escapes by itself: a figure, a style sheet, a script, JSON.
    pub(super) fn made(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// A text.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        escape(text, &mut self.0);
        self
    }

    /// Begins an element.
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

    /// An element with nothing but a text.
    pub(super) fn element(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &str)],
        text: &str,
    ) -> &mut Self {
        self.open(tag, attributes).text(text).close(tag)
    }

    /// A paragraph.
    pub(super) fn paragraph(&mut self, text: &str) -> &mut Self {
        self.element("p", &[], text)
    }

    /// Terms with what is said of each.
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

/// A name as it is read in a page: one of ten thousand letters is cut in its middle, and one of none is said to be none.
pub(super) fn named(name: &str) -> String {
    match name.is_empty() {
        true => "(no name)".to_owned(),
        false => shortened(&shown(name), 560.0, 13.0),
    }
}

/// A count with its noun, such as `1 row` and `2 rows`.
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
