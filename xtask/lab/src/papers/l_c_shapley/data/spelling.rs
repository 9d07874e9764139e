//! Texts as characters, for networks that read these: the players are still words.

/// The characters that have ids, from 1 on; 0 is padding.
const ALPHABET: &str = " abcdefghijklmnopqrstuvwxyz0123456789";

/// Character ids that such networks take: longer texts are cut off, shorter ones padded.
pub(crate) const WIDTH: usize = 256;

/// Words, letter by letter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spelling {
    /// One id for each place, 0 behind the last word.
    pub(crate) row: Vec<f64>,
    /// The places of each word that begins within the width: its characters and the blank behind it.
    pub(crate) words: Vec<Vec<usize>>,
}

impl Spelling {
    /// Of `width` places.
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
