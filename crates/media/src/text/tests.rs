//! Tests of short texts: tokens, players, and displays of their scores.

use apportion_games::{Coalitions, Game};
use insta::assert_snapshot;

use super::*;

const LINES: &str =
    "<pad>\n<unk>\nit\nis\nnot\nheartwarming\nor\nentertaining\n.\njust\nsucks\nwell\nmade\n-";

fn vocabulary() -> Vocabulary {
    Vocabulary::from_lines(LINES).unwrap()
}

fn text(source: &str) -> Text {
    Text::new(source, &vocabulary(), Tokenizer::default()).unwrap()
}

fn ids(text: &Text) -> Vec<usize> {
    text.tokens().iter().map(|token| token.id).collect()
}

fn words(text: &Text) -> Vec<String> {
    (0..text.players().len()).map(|player| text.words(player)).collect()
}

#[test]
fn players_are_tokens_words_or_groups() {
    let tokens = text("It just (sucks). Well-made?");
    assert_eq!(ids(&tokens), [2, 9, 10, 8, 11, 13, 12]);
    assert_eq!(words(&tokens), ["It", "just", "sucks", ".", "Well", "-", "made"]);
    let whole = tokens.clone().by_words();
    assert_eq!(whole.players(), [vec![0], vec![1], vec![2, 3], vec![4, 5, 6]]);
    assert_eq!(words(&whole), ["It", "just", "sucks).", "Well-made"]);
    let groups = tokens.by_groups(vec![vec![1, 2], vec![6, 0]]).unwrap();
    assert_eq!(words(&groups), ["just (sucks", "It … made"]);
    assert_eq!(groups.ranges(1), [0..2, 22..26]);
}

#[test]
fn groups_at_odds_are_refused() {
    let refusal = |groups| text("It just sucks").by_groups(groups).unwrap_err();
    let missing = refusal(vec![vec![0], vec![3]]);
    assert!(matches!(missing, MediaError::NoSuchToken { player: 1, token: 3, tokens: 3 }), "{missing}");
    assert!(matches!(refusal(vec![vec![0], vec![]]), MediaError::NoFeatures { player: 1 }));
    let shared = refusal(vec![vec![0], vec![1, 0]]);
    assert!(matches!(shared, MediaError::SharedFeature { feature: 0, first: 0, second: 1 }));
}

#[test]
fn rows_end_in_padding_that_is_nobodys() {
    let text = text("It sucks.").by_words();
    let masked = text.masked(5, 0).unwrap();
    assert_eq!(masked.explicand(), [2.0, 10.0, 8.0, 0.0, 0.0]);
    assert_eq!(masked.reference().row(0), [0.0; 5]);
    assert_eq!(masked.players(), [vec![0], vec![1, 2]]);
    assert_eq!(masked.row(&[true, false]), [2.0, 0.0, 0.0, 0.0, 0.0]);
    let padded = text.masked(4, 7).unwrap();
    assert_eq!(padded.row(&[false, true]), [7.0, 10.0, 8.0, 7.0]);
}

#[test]
fn several_references_stand_in_place_by_place() {
    let text = text("It sucks.");
    let others = Background::rows([4.0, 4.0, 4.0, 4.0, 6.0, 6.0, 0.0, 0.0], 4).unwrap();
    let masked = text.masked_against(others, 0).unwrap();
    let model = |row: &[f64]| row[0] + 100.0 * row[1] + 1e4 * row[2] + 1e6 * row[3];
    let game = masked.game(&model).unwrap();
    let mut values = [0.0; 2];
    game.values(&Coalitions::from_masks(3, [0b000, 0b010]), &mut values).unwrap();
    assert_eq!(values, [(40404.0 + 606.0) / 2.0, (41004.0 + 1006.0) / 2.0]);
}

#[test]
fn long_texts_are_refused_unless_cut() {
    let text = text("It is not well-made.").by_words();
    let refused = text.masked(4, 0).unwrap_err();
    assert!(matches!(refused, MediaError::TextTooLong { tokens: 7, width: 4 }), "{refused}");
    let cut = text.truncated(4);
    assert_eq!(cut.players(), [vec![0], vec![1], vec![2], vec![3]]);
    assert_eq!(cut.masked(4, 0).unwrap().explicand(), [2.0, 3.0, 4.0, 11.0]);
    assert_eq!(words(&cut), ["It", "is", "not", "well"]);
    let groups = cut.by_groups(vec![vec![3], vec![2, 0]]).unwrap().truncated(3);
    assert_eq!(groups.players(), [[2, 0]]);
}

#[test]
fn tokens_may_come_from_elsewhere() {
    let text = Text::from_tokens(&["it", "is", "great"], &[2, 3, 1]).unwrap();
    assert_eq!((text.source(), ids(&text)), ("it is great", vec![2, 3, 1]));
    assert_eq!(words(&text.clone().by_words()), ["it", "is", "great"]);
    assert_eq!(text.masked(3, 0).unwrap().explicand(), [2.0, 3.0, 1.0]);
    assert!(matches!(Text::from_tokens(&["a"], &[1, 2]), Err(MediaError::TokenIds { tokens: 1, ids: 2 })));
    assert!(matches!(Text::from_tokens::<&str>(&[], &[]), Err(MediaError::NoTokens { .. })));
}

#[test]
fn all_text_is_shown_once_whoever_plays() {
    let source = " It is: not\n(well-made)  … ñ!\t";
    for text in
        [text(source), text(source).by_words(), text(source).by_groups(vec![vec![2, 3], vec![0]]).unwrap()]
    {
        let shown: String = text.spans().into_iter().map(|span| &source[span.range]).collect();
        assert_eq!(shown, source);
        let scores = vec![0.5; text.players().len()];
        let terminal = text.to_terminal(&scores).unwrap();
        let plain: String =
            terminal.split('\x1b').map(|part| part.split_once('m').map_or(part, |(_, rest)| rest)).collect();
        // There is no escape sequence before the first part, which does not contain an `m`.
        assert_eq!(plain, source);
    }
}

/// Returns the HTML with one line per coloured part, and with the line breaks of the text escaped.
fn lines(html: &str) -> String {
    html.replace('\n', "\\n").replace("</span>", "</span>\n")
}

#[test]
fn colours_in_a_terminal() {
    let text = text("It just sucks. Ever.").by_groups(vec![vec![0], vec![1, 2], vec![4]]).unwrap();
    let shown = text.to_terminal(&[0.0, -0.4, 0.1]).unwrap();
    assert_snapshot!(shown.escape_debug(), @r#"\u{1b}[48;2;255;255;255m\u{1b}[38;2;0;0;0mIt\u{1b}[0m \u{1b}[48;2;255;0;0m\u{1b}[38;2;0;0;0mjust sucks\u{1b}[0m. \u{1b}[48;2;191;191;255m\u{1b}[38;2;0;0;0mEver\u{1b}[0m."#);
    let zero = text.to_terminal(&[0.0; 3]).unwrap();
    assert_snapshot!(zero.escape_debug(), @r#"\u{1b}[48;2;255;255;255m\u{1b}[38;2;0;0;0mIt\u{1b}[0m \u{1b}[48;2;255;255;255m\u{1b}[38;2;0;0;0mjust sucks\u{1b}[0m. \u{1b}[48;2;255;255;255m\u{1b}[38;2;0;0;0mEver\u{1b}[0m."#);
}

#[test]
fn colours_in_html() {
    let text = text("It just sucks. Ever.");
    let html = text.to_html(&[0.001, 0.02, -0.4, 0.0, 0.3, -1e-7]).unwrap();
    assert_snapshot!(lines(&html), @r#"
    <div dir="auto" style="font-family:sans-serif;line-height:1.6;white-space:pre-wrap;overflow-wrap:anywhere;background:#ffffff;color:#000000"><span style="background:#fefeff;color:#000000" title="+0.001000">It</span>
     <span style="background:#f2f2ff;color:#000000" title="+0.02000">just</span>
     <span style="background:#ff0000;color:#000000" title="-0.4000">sucks</span>
    <span style="background:#ffffff;color:#000000" title="0">.</span>
     <span style="background:#4040ff;color:#ffffff" title="+0.3000">Ever</span>
    <span style="background:#ffffff;color:#000000" title="-1.000e-7">.</span>
    </div>
    "#);
}

#[test]
fn markup_quotes_and_commands_are_harmless() {
    let source = "<script>alert('x')</script> \"is\" & naïve 😀 \x1b[31mnot\0\r\nsucks";
    let text = text(source);
    let scores = vec![1.0; text.players().len()];
    let html = text.to_html(&scores).unwrap();
    assert_snapshot!(lines(&html), @r#"
    <div dir="auto" style="font-family:sans-serif;line-height:1.6;white-space:pre-wrap;overflow-wrap:anywhere;background:#ffffff;color:#000000">&lt;<span style="background:#0000ff;color:#ffffff" title="+1.000">script&gt;alert(&#39;x&#39;)&lt;/script</span>
    &gt; &quot;<span style="background:#0000ff;color:#ffffff" title="+1.000">is</span>
    &quot; <span style="background:#0000ff;color:#ffffff" title="+1.000">&amp;</span>
     <span style="background:#0000ff;color:#ffffff" title="+1.000">naïve</span>
     <span style="background:#0000ff;color:#ffffff" title="+1.000">😀</span>
     �[<span style="background:#0000ff;color:#ffffff" title="+1.000">31mnot</span>
    � \n<span style="background:#0000ff;color:#ffffff" title="+1.000">sucks</span>
    </div>
    "#);
    let terminal = text.to_terminal(&scores).unwrap();
    assert_snapshot!(terminal.escape_debug(), @r#"<\u{1b}[48;2;0;0;255m\u{1b}[38;2;255;255;255mscript>alert(\'x\')</script\u{1b}[0m> \"\u{1b}[48;2;0;0;255m\u{1b}[38;2;255;255;255mis\u{1b}[0m\" \u{1b}[48;2;0;0;255m\u{1b}[38;2;255;255;255m&\u{1b}[0m \u{1b}[48;2;0;0;255m\u{1b}[38;2;255;255;255mnaïve\u{1b}[0m \u{1b}[48;2;0;0;255m\u{1b}[38;2;255;255;255m😀\u{1b}[0m �[\u{1b}[48;2;0;0;255m\u{1b}[38;2;255;255;255m31mnot\u{1b}[0m� \n\u{1b}[48;2;0;0;255m\u{1b}[38;2;255;255;255msucks\u{1b}[0m"#);
}

#[test]
fn scores_that_cannot_be_shown_are_refused() {
    let text = text("It sucks");
    assert!(matches!(text.to_html(&[1.0]), Err(MediaError::ScoreCount { actual: 1, players: 2 })));
    let refused = text.to_terminal(&[1.0, f64::NAN]).unwrap_err();
    assert!(matches!(refused, MediaError::ScoreNotFinite { player: 1, .. }), "{refused}");
}
