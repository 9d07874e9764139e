//! Texts coloured by their scores, as HTML.

use std::fmt::Write;

use super::{Text, colour, shown};
use crate::error::MediaError;

impl Text {
    /// Returns the text as an HTML fragment, one `<div>`, with the words of every player on a background in
    /// the colour of its score. The score is shown as a tooltip (the `title` attribute).
    ///
    /// Positive scores are blue and negative ones red, fading to white at 0 as in table 2 of Chen, Song,
    /// Wainwright and Jordan (2019). The largest |score| has the full colour. Parts without a player are not
    /// coloured. The fragment does not require a style sheet, and does not contain scripts. The text is
    /// escaped, and control characters are replaced with `�`.
    ///
    /// ```
    /// use apportion_media::{Text, Tokenizer, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_lines("<pad>\n<unk>\nnot\nfunny")?;
    /// let html = Text::new("Not <b>", &vocabulary, Tokenizer::default())?.to_html(&[-2.0, 1.0])?;
    /// let span = "<span style=\"background:#ff0000;color:#000000\" title=\"-2.000\">Not</span> &lt;";
    /// assert!(html.contains(span));
    /// # Ok::<(), apportion_media::MediaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MediaError::ScoreCount`] unless there is one score per player, [`MediaError::ScoreNotFinite`] if one
    /// is not finite.
    pub fn to_html(&self, scores: &[f64]) -> Result<String, MediaError> {
        let mut html = String::from(
            "<div dir=\"auto\" \
             style=\"font-family:sans-serif;line-height:1.6;white-space:pre-wrap;overflow-wrap:anywhere;\
             background:#ffffff;color:#000000\">",
        );
        for (part, scored) in self.scored(scores)? {
            match scored {
                None => escape(part, &mut html),
                Some(scored) => {
                    let background = colour::background(scored.share);
                    let (back, fore) = (hex(background), hex(colour::foreground(background)));
                    let title = four_digits(scored.score);
                    // Writing to a string cannot fail.
                    let _ = write!(html, "<span style=\"background:{back};color:{fore}\" title=\"{title}\">");
                    escape(part, &mut html);
                    html.push_str("</span>");
                }
            }
        }
        html.push_str("</div>");
        Ok(html)
    }
}

fn hex([red, green, blue]: colour::Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Formats a score with four significant digits and its sign.
fn four_digits(score: f64) -> String {
    match score.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e4).contains(&size) => {
            let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
            format!("{score:+.decimals$}")
        }
        _ => format!("{score:+.3e}"),
    }
}

/// Appends `text`, escaped for HTML content and quoted attributes.
fn escape(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(shown(c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_have_four_digits() {
        for (score, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "+1.000"),
            (-0.012345, "-0.01235"),
            (123.456, "+123.5"),
            (9999.4, "+9999"),
            (12345.0, "+1.234e4"),
            (-1e-9, "-1.000e-9"),
        ] {
            assert_eq!(four_digits(score), expected);
        }
    }
}
