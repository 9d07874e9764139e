//! Texts as characters, for character-level networks; the players are still words.

/// The characters in the order of their IDs, which start from 1; ID 0 is padding.
const ALPHABET: &str = " abcdefghijklmnopqrstuvwxyz0123456789";

/// Number of character IDs in the input of character-level networks; longer texts are truncated, shorter
/// texts padded.
pub(crate) const WIDTH: usize = 256;

/// A text encoded as characters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spelling {
    /// One ID per position, 0 after the last word.
    pub(crate) row: Vec<f64>,
    /// For each word that starts within the width, the positions of its characters and of the following
    /// space.
    pub(crate) words: Vec<Vec<usize>>,
}

impl Spelling {
    /// Encodes words in `width` positions.
    pub(crate) fn new(words: &[String], width: usize) -> Self {
        let mut spelling = Self { row: vec![0.0; width], words: Vec::new() };
        let mut place = 0;
        for word in words {
            if place >= width {
                break;
            }
            let ids = word.chars().chain([' ']).filter_map(|character| ALPHABET.find(character));
            let begins = place;
            for id in ids.take(width - begins) {
                spelling.row[place] = (id + 1) as f64;
                place += 1;
            }
            spelling.words.push((begins..place).collect());
        }
        spelling
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_own_their_characters_and_the_blank_behind_them() {
        let words = ["ab", "9", "c"].map(str::to_owned);
        let spelling = Spelling::new(&words, 9);
        assert_eq!(spelling.row, [2.0, 3.0, 1.0, 37.0, 1.0, 4.0, 1.0, 0.0, 0.0]);
        assert_eq!(spelling.words, [vec![0, 1, 2], vec![3, 4], vec![5, 6]]);
    }

    #[test]
    fn what_is_beyond_the_width_is_cut_off() {
        let words = ["ab", "9", "c"].map(str::to_owned);
        assert_eq!(Spelling::new(&words, 4).words, [vec![0, 1, 2], vec![3]]);
        assert_eq!(Spelling::new(&words, 3).words, [vec![0, 1, 2]]);
        assert_eq!(Spelling::new(&words, 2).row, [2.0, 3.0]);
    }
}
