//! In what pieces rows and trees are taken: blocks, tasks, turns and sections.

use std::ops::Range;

use super::paths::BLOCK;

/// Bytes of tables that are filled before rows are taken through them: several threads have something to
/// fill. All trees are taken in such turns.
pub(crate) const TURN: usize = if cfg!(test) { 1 << 14 } else { 8 << 20 };

/// As [`TURN`] for a single thread: what is filled is still near when it is looked up.
const TURN_OF_ONE: usize = TURN / 16;

/// Bytes of rows and sums that stay in memory from one turn to the next. Their sums do not depend on where a
/// turn ends.
const STAYING: usize = if cfg!(test) { 1 << 13 } else { 8 << 20 };

/// Trees are cut into so many sections of about the same size, where all rows and sums take up to so many
/// bytes. The sums of sections are added up in their order.
const SECTION: usize = 2 << 20;
const SECTIONS: usize = 8;

/// Bytes of rows and sums of a task, which are near together with the tables of a turn of one thread.
const NEAR: usize = 1 << 18;

/// Rows for which a tree's tables come near once.
const PAYING: usize = 8 * BLOCK;

/// In what pieces rows and trees are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// Rows that a thread takes through the trees of a turn together: each tree's tables serve them all while
    /// they are near.
    pub(crate) task: usize,
    /// Whether rows are taken in once and stay for all trees, rather than once for each turn.
    pub(crate) stay: bool,
    /// Whether the thread fills tables without the others.
    pub(crate) alone: bool,
    sections: bool,
    /// Rows that a task may have.
    most: usize,
    turn: usize,
}

impl Pieces {
    /// For so many `rows` and numbers of a row and its sums, to be looked up in tables that are filled for
    /// them, or otherwise (`others`) in their own time. What sums depend on is `chosen` for another number of
    /// rows, where there is one.
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
        // What stays and whether there are sections must not depend on the number of threads: sums are added
        // up by turns or sections.
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

    /// Consecutive trees, with tables of these `sizes`, whose sums are added up by themselves.
    pub(crate) fn sections(&self, sizes: &[usize]) -> Vec<Range<usize>> {
        let all = sizes.iter().fold(0, |all: usize, &size| all.saturating_add(size));
        turns(sizes.iter().copied(), if self.sections { (all / SECTIONS).max(TURN / 4) } else { usize::MAX })
    }

    /// Whether threads have enough to do if each takes up a section at a time.
    pub(crate) fn sections_occupy_threads(&self, sections: usize) -> bool {
        !self.alone && sections >= 4 * rayon::current_num_threads()
    }

    /// The same for a thread that takes all rows through the trees of a section.
    pub(crate) fn of_one_thread(&self) -> Self {
        Self { task: self.most, alone: true, turn: TURN_OF_ONE, ..*self }
    }

    /// Consecutive trees with tables of these `sizes` that are filled together; all of them where tables are
    /// kept.
    pub(crate) fn turns(&self, sizes: &[usize], keep: bool) -> Vec<Range<usize>> {
        turns(sizes.iter().copied(), if keep { usize::MAX } else { self.turn })
    }
}

/// Consecutive things of these sizes, together no larger than `most` unless it is one alone.
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
