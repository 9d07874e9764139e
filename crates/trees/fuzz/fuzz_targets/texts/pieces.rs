//! Mutations of text that consists of pieces: one is removed, duplicated, or replaced with another. This
//! yields arrays of different lengths, trees instead of leaves, and objects with keys of other objects.

use std::ops::Range;

use super::{scatter, with};

/// Returns the text with one of its pieces removed, duplicated or replaced with another; `None` if there is
/// no piece.
pub fn change(text: &[u8], random: usize) -> Option<Vec<u8>> {
    let is_json = matches!(text.first(), Some(b'[' | b'{'));
    let pieces = if is_json { elements(text) } else { words(text) };
    let piece = pieces.get(random.checked_rem(pieces.len())?)?.clone();
    let next = text.get(piece.end);
    let choice = scatter(random);
    Some(match choice % 4 {
        0 => with(text, with_separator(text, piece), b""),
        1 => {
            let parts = match next {
                Some(b'\n') if is_json => b"\n",
                _ if is_json => b",",
                _ => b" ",
            };
            with(text, piece.end..piece.end, &[parts, &text[piece]].concat())
        }
        _ => with(text, piece, &text[pieces[choice / 4 % pieces.len()].clone()]),
    })
}

/// Extends a piece by the separator that follows it, or by the preceding separator if the piece is the last
/// one.
fn with_separator(text: &[u8], piece: Range<usize>) -> Range<usize> {
    let parts = |byte: Option<&u8>| matches!(byte, Some(b',' | b' ' | b'\n'));
    if parts(text.get(piece.end)) {
        piece.start..piece.end + 1
    } else {
        let is_last = parts(text[..piece.start].last());
        piece.start - usize::from(is_last)..piece.end
    }
}

/// Returns the ranges between spaces, equals signs and line ends.
fn words(text: &[u8]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in (0..text.len()).filter(|&at| matches!(text[at], b' ' | b'=' | b'\n')) {
        if start < at {
            pieces.push(start..at);
        }
        start = at + 1;
    }
    pieces
}

/// Returns the ranges of elements of arrays and members of objects, at all depths, and of keys and values of
/// members.
fn elements(text: &[u8]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    // The starts of all open elements, and of their values. The innermost element is the last.
    let mut open = vec![(0, None)];
    let mut in_string = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'"' if at == 0 || text[at - 1] != b'\\' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => open.push((at + 1, None)),
            b':' | b',' | b'\n' | b']' | b'}' => {
                let Some((start, value)) = open.last_mut() else { break };
                let ends = [Some(*start), *value].into_iter().flatten().map(|start| start..at);
                pieces.extend(ends.filter(|piece| !piece.is_empty()));
                match byte {
                    b':' => *value = Some(at + 1),
                    b',' | b'\n' => (*start, *value) = (at + 1, None),
                    _ => drop(open.pop()),
                }
            }
            _ => {}
        }
    }
    pieces
}
