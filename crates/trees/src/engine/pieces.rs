//! The sizes of the pieces in which rows and trees are processed: blocks, tasks, turns and sections.

use std::ops::Range;

use super::paths::BLOCK;

/// The size in bytes of the tables that are filled before rows pass through them: enough to keep several
/// threads busy. All trees are processed in such turns.
pub(crate) const TURN: usize = if cfg!(test) { 1 << 14 } else { 8 << 20 };

/// The value of [`TURN`] for a single thread: small enough that filled tables are still in cache when they
/// are used.
const TURN_OF_ONE: usize = TURN / 16;

/// The maximum size in bytes of the rows and sums that stay in memory between turns. The sums accumulate over
/// all turns, so they do not depend on where a turn ends.
const STAYING: usize = if cfg!(test) { 1 << 13 } else { 8 << 20 };

/// The maximum size in bytes of all rows and sums for which the trees are split into [`SECTIONS`] sections of
/// about equal size. The sums of the sections are added in order.
const SECTION: usize = 2 << 20;
const SECTIONS: usize = 8;

/// The size in bytes of the rows and sums of a task that fit into cache together with the tables of a single
/// thread's turn.
const NEAR: usize = 1 << 18;

/// The minimum number of rows for which loading a tree's tables into cache pays off.
const PAYING: usize = 8 * BLOCK;

/// The sizes of the pieces in which rows and trees are processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// The number of rows that a thread passes through the trees of a turn together. All of these rows use a
    /// tree's tables while the tables are in cache.
    pub(crate) task: usize,
    /// Whether rows are loaded once for all trees and stay in memory, rather than once per turn.
    pub(crate) stay: bool,
    /// Whether a single thread fills the tables.
    pub(crate) alone: bool,
    sections: bool,
    /// The maximum number of rows of a task.
    most: usize,
    turn: usize,
}

impl Pieces {
    /// Chooses the sizes for `rows` rows of `numbers` numbers each (inputs and sums). `others` is `true` if
    /// there are trees without tables, or tables that are cached. The time for such trees does not depend on
    /// the size of a task. Everything that affects the order of summation is chosen for `chosen` rows, if
    /// given.
    pub(crate) fn new(rows: usize, chosen: Option<usize>, numbers: usize, others: bool) -> Self {
        let bytes = (numbers * size_of::<f64>()).max(1);
        let chosen = chosen.unwrap_or(rows);
        let all = chosen.saturating_mul(bytes);
        let most = (NEAR / bytes).max(PAYING).next_multiple_of(BLOCK);
        let threads = rayon::current_num_threads();
        let task = match threads {
            1 => most,
            _ => {
                let least = if others { 1 } else { PAYING.min(rows.div_ceil(threads)) };
                match rows.div_ceil(4 * threads).max(least) {
                    few if few < BLOCK => few.max(1),
                    many => many.next_multiple_of(BLOCK).min(most),
                }
            }
        };
        // `stay` and `sections` must not depend on the number of threads, because they determine the order of
        // summation.
        let stay = all <= STAYING;
        Self {
            task,
            stay,
            alone: threads == 1,
            most,
            sections: stay && all <= SECTION && chosen > BLOCK && !others,
            turn: if stay && threads == 1 { TURN_OF_ONE } else { TURN },
        }
    }

    /// Splits the trees, with tables of these `sizes`, into consecutive sections that are summed separately.
    pub(crate) fn sections(&self, sizes: &[usize]) -> Vec<Range<usize>> {
        let all = sizes.iter().fold(0, |all: usize, &size| all.saturating_add(size));
        turns(sizes.iter().copied(), if self.sections { (all / SECTIONS).max(TURN / 4) } else { usize::MAX })
    }

    /// Returns whether there are enough sections to keep all threads busy with one section at a time.
    pub(crate) fn sections_occupy_threads(&self, sections: usize) -> bool {
        !self.alone && sections >= 4 * rayon::current_num_threads()
    }

    /// Returns the sizes for a single thread that passes all rows through the trees of a section.
    pub(crate) fn of_one_thread(&self) -> Self {
        Self { task: self.most, alone: true, turn: TURN_OF_ONE, ..*self }
    }

    /// Splits the trees, with tables of these `sizes`, into consecutive turns whose tables are filled
    /// together; one turn for all trees if tables are cached.
    pub(crate) fn turns(&self, sizes: &[usize], keep: bool) -> Vec<Range<usize>> {
        turns(sizes.iter().copied(), if keep { usize::MAX } else { self.turn })
    }
}

/// Splits items of these sizes into consecutive ranges whose total size is at most `most`, unless a range has
/// a single item.
pub(crate) fn turns(sizes: impl Iterator<Item = usize>, most: usize) -> Vec<Range<usize>> {
    let mut turns = Vec::new();
    let (mut start, mut end, mut filled) = (0, 0, 0_usize);
    for size in sizes {
        if size > 0 && filled.saturating_add(size) > most && end > start {
            turns.push(start..end);
            (start, filled) = (end, 0);
        }
        filled = filled.saturating_add(size);
        end += 1;
    }
    turns.push(start..end);
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_too_large_for_a_turn_are_filled_in_several() {
        let thirds = [TURN / 3; 10];
        assert_eq!(turns(thirds.into_iter(), TURN), [0..3, 3..6, 6..9, 9..10]);
        let pieces = Pieces::new(1, None, 1, false);
        let kept = pieces.turns(&thirds, true);
        assert_eq!((kept.len(), kept[0].clone()), (1, 0..10));
        assert_eq!(turns([2 * TURN, 0, 1].into_iter(), TURN), [0..2, 2..3]);
        assert!(turns(std::iter::empty(), TURN).into_iter().all(|turn| turn.is_empty()));
    }

    #[test]
    fn tasks_occupy_all_threads_and_rows_stay_whoever_takes_them() {
        let of = |threads: usize, rows: usize, numbers: usize, others: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Pieces::new(rows, None, numbers, others))
        };
        for (rows, numbers) in [(0, 1), (1, 16), (100, 16), (1000, 200), (20_000, 200), (1 << 30, 16)] {
            for others in [false, true] {
                let one = of(1, rows, numbers, others);
                assert_eq!(one.task % BLOCK, 0);
                for threads in 2..5 {
                    let several = of(threads, rows, numbers, others);
                    assert_eq!(several.stay, one.stay);
                    assert!((1..=one.task).contains(&several.task));
                    assert!(rows < BLOCK * threads || rows.div_ceil(several.task) >= threads);
                }
            }
        }
    }
}
