//! Values written down for every pattern of an explicand, then looked up: what the tables of both games share.
//!
//! On a leaf the values of an explicand depend only on which of the leaf's d path features pass their tests: 2^d patterns, however many
//! rows there are to be explained and whatever stands for the absent players. So they are computed once per pattern and looked up for each
//! row.
//!
//! | | |
//! |---|---|
//! | [`paths`] | path features, patterns, and blocks of rows taken through the splits |
//! | [`shape`] | which leaves share a table, and how its numbers lie |
//! | [`channels`], [`fill`] | the semivalues on one leaf for all patterns |
//! | [`table`] | the tables of a tree, put together from its leaves |
//! | [`lookup`], [`sums`] | rows through the tables |
//! | [`explain`] | rows through the tables of all trees, where all have tables |
//! | [`number`] | `f64`, `f32` or fixed point |

pub(crate) mod channels;
pub(crate) mod explain;
pub(crate) mod fill;
pub(crate) mod lookup;
pub(crate) mod number;
pub(crate) mod paths;
pub(crate) mod shape;
pub(crate) mod sums;
pub(crate) mod table;

use std::ops::Range;

use self::paths::BLOCK;

/// Bytes of tables that are filled before rows are taken through them. All trees are taken in such turns.
const TURN: usize = 8 << 20;

/// Consecutive trees with tables of these `sizes` that are filled together; all of them where tables are kept.
pub(crate) fn turns(sizes: impl Iterator<Item = usize>, keep: bool) -> Vec<Range<usize>> {
    let mut turns = Vec::new();
    let (mut start, mut end, mut filled) = (0, 0, 0);
    for size in sizes {
        if !keep && size > 0 && filled + size > TURN && end > start {
            turns.push(start..end);
            (start, filled) = (end, 0);
        }
        filled += size;
        end += 1;
    }
    turns.push(start..end);
    turns
}

/// Rows that a thread takes through the trees of a turn together: each tree's tables serve them all while they are near.
pub(crate) fn rows_of_a_task(rows: usize) -> usize {
    const MOST: usize = 8 * BLOCK;
    match rayon::current_num_threads() {
        1 => MOST,
        threads => match rows.div_ceil(4 * threads) {
            few if few < BLOCK => few.max(1),
            many => many.next_multiple_of(BLOCK).min(MOST),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_too_large_for_a_turn_are_filled_in_several() {
        let thirds = [TURN / 3; 10];
        assert_eq!(turns(thirds.into_iter(), false), [0..3, 3..6, 6..9, 9..10]);
        let kept = turns(thirds.into_iter(), true);
        assert_eq!((kept.len(), kept[0].clone()), (1, 0..10));
        assert_eq!(turns([2 * TURN, 0, 1].into_iter(), false), [0..2, 2..3]);
        assert!(turns(std::iter::empty(), false).into_iter().all(|turn| turn.is_empty()));
    }
}
