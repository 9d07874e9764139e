//! The text or the image whose parts are the players, in JSON.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::medium::Medium;

/// Maximum number of pixels of an image.
const MAX_PIXELS: usize = 1 << 22;

/// Reads the text or image from the head of the results of `explain-text` or `explain-image`. Returns `None`
/// if the head does not contain a valid text or image, or if the tokens of some player are not contiguous.
pub(super) fn medium(head: &mut Map<String, Value>) -> Option<Medium> {
    #[derive(Deserialize)]
    struct Token {
        start: usize,
        end: usize,
    }
    fn take<'de, T: Deserialize<'de>>(head: &mut Map<String, Value>, name: &str) -> Option<T> {
        T::deserialize(head.remove(name)?).ok()
    }
    if head.contains_key("tokens") {
        let text: String = take(head, "text")?;
        let tokens: Vec<Token> = take(head, "tokens")?;
        let players: Vec<Vec<usize>> = take(head, "players")?;
        let span = |player: &Vec<usize>| {
            let are_neighbours = player.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
            let (first, last) = (tokens.get(*player.first()?)?, tokens.get(*player.last()?)?);
            are_neighbours.then_some((first.start, last.end))
        };
        let spans = players.iter().map(span).collect::<Option<_>>()?;
        return Some(Medium::Text { text, spans });
    }
    let is_image = ["patch", "labels"].iter().any(|name| head.contains_key(*name));
    let (width, height) = match is_image {
        true => (take::<usize>(head, "width")?, take::<usize>(head, "height")?),
        false => return None,
    };
    // A few digits can declare any size, and each pixel takes memory.
    let pixels = width.checked_mul(height).filter(|&pixels| pixels <= MAX_PIXELS)?;
    let segments = match take::<Vec<u32>>(head, "labels") {
        Some(labels) => labels,
        None => {
            let (patch, columns): (usize, usize) = (take(head, "patch")?, take(head, "columns")?);
            head.remove("rows");
            let of = |at: usize| {
                let before = (at / width / patch.max(1)).checked_mul(columns)?;
                u32::try_from(before.checked_add((at % width) / patch.max(1))?).ok()
            };
            (0..pixels).map(of).collect::<Option<_>>()?
        }
    };
    Some(Medium::Image { width, height, segments, pixels: Vec::new() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(head: Value) -> Option<Medium> {
        medium(&mut head.as_object().unwrap().clone())
    }

    #[test]
    fn players_of_a_text_have_the_letters_of_their_tokens() {
        let tokens = json!([{"start": 0, "end": 3}, {"start": 4, "end": 8}, {"start": 9, "end": 11}]);
        let text = |players: Value| {
            parse(json!({"text": "the film é", "tokens": tokens.clone(), "players": players}))
        };
        let spans = |found: Option<Medium>| match found {
            Some(Medium::Text { spans, .. }) => Some(spans),
            _ => None,
        };
        assert_eq!(spans(text(json!([[0], [1], [2]]))), Some(vec![(0, 3), (4, 8), (9, 11)]));
        assert_eq!(spans(text(json!([[0, 1], [2]]))), Some(vec![(0, 8), (9, 11)]));
        // A player in two pieces cannot be coloured.
        assert_eq!(spans(text(json!([[0, 2], [1]]))), None);
        assert_eq!(spans(text(json!([[7]]))), None);
        assert_eq!(spans(text(json!([[usize::MAX, 0]]))), None);
    }

    #[test]
    fn pixels_of_an_image_have_the_player_of_their_patch_or_label() {
        let segments = |head: Value| match parse(head) {
            Some(Medium::Image { segments, .. }) => Some(segments),
            _ => None,
        };
        let patches = json!({"width": 3, "height": 2, "patch": 2, "rows": 1, "columns": 2});
        assert_eq!(segments(patches), Some(vec![0, 0, 1, 0, 0, 1]));
        assert_eq!(segments(json!({"width": 2, "height": 1, "labels": [1, 0]})), Some(vec![1, 0]));
        assert_eq!(segments(json!({"width": 2, "patch": 1})), None);
        assert_eq!(parse(json!({"features": ["a"]})), None);
    }

    #[test]
    fn sizes_that_no_image_has_are_none() {
        for (width, height, columns) in
            [(1 << 20, 1 << 20, 1), (usize::MAX, 2, 1), (1, 3, usize::MAX), (0, 3, 1), (1, 3, 1 << 40)]
        {
            let head = json!({"width": width, "height": height, "patch": 1, "rows": 1, "columns": columns});
            let found = parse(head);
            assert!(found.is_none() || width == 0, "{found:?}");
        }
    }
}
