//! The text or the image whose parts were the players, as results have it.

use apportion::plots::Medium;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What the head of results of `explain-text` and `explain-image` says, where players are in one piece.
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
            let are_neighbours = player.windows(2).all(|pair| pair[0] + 1 == pair[1]);
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
    let segments = match take::<Vec<u32>>(head, "labels") {
        Some(labels) => labels,
        None => {
            let (patch, columns): (usize, usize) = (take(head, "patch")?, take(head, "columns")?);
            head.remove("rows");
            let of = |at: usize| (at / width / patch.max(1)) * columns + (at % width) / patch.max(1);
            (0..width.checked_mul(height)?).map(|at| u32::try_from(of(at)).ok()).collect::<Option<_>>()?
        }
    };
    Some(Medium::Image { width, height, segments, pixels: Vec::new() })
}
