//! For each split of a [program](super::super::program), the players that are tested above it.

use std::collections::HashMap;

use super::super::program::Program;

/// A player with tests above a split, other than the player of the split itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Partner {
    /// The [target](Partners::targets) of the pair.
    pub(super) pair: u32,
    /// The edge of the player's last test on the path. The edge to the left child of a tree's k-th split has
    /// index 2 k, the edge to the right child 2 k + 1.
    pub(super) edge: u32,
    /// The mask of the rows that passed all tests of the player.
    pub(super) hot: u32,
}

/// The partners of all splits of a program.
#[derive(Debug)]
pub(in super::super) struct Partners {
    /// For each split, in the order of the program, the end of its partners in `partners`.
    ends: Vec<usize>,
    partners: Vec<Partner>,
    /// For each computed number, its index in a matrix of players × players, of which only the upper half is
    /// written. The diagonal comes first, with the players in the order of the
    /// [inputs](super::super::inputs), then the pairs that occur on a path.
    pub(super) targets: Vec<usize>,
}

impl Partners {
    /// Finds the partners. Takes O(splits × levels) time. Players are numbered below `count`.
    pub(in super::super) fn new(program: &Program, count: usize) -> Self {
        let players = &program.inputs.players;
        let mut this = Self {
            ends: Vec::new(),
            partners: Vec::new(),
            targets: players.iter().map(|player| player * (count + 1)).collect(),
        };
        let mut pairs = HashMap::new();
        // For each player, the last split that has it as a partner.
        let mut seen = vec![usize::MAX; players.len()];
        // For each level, the split on the path and its index in the tree.
        let mut path = Vec::new();
        let mut trees: Vec<_> = program.trees.iter().collect();
        trees.sort_by_key(|tree| tree.splits.start);
        for tree in trees {
            // Splits of trees without contributions do not have partners.
            this.ends.resize(tree.splits.start, this.partners.len());
            for (number, split) in program.splits(tree).iter().enumerate() {
                path.truncate(split.level());
                path.push((number, split));
                let stamp = this.ends.len();
                seen[split.player as usize] = stamp;
                for edge in path.windows(2).rev() {
                    let [(above, parent), (_, child)] = edge else { unreachable!("windows of two") };
                    if seen[parent.player as usize] == stamp {
                        continue;
                    }
                    seen[parent.player as usize] = stamp;
                    let side = child.slot as usize - parent.children();
                    let mut ends = [parent.player, split.player].map(|player| players[player as usize]);
                    ends.sort_unstable();
                    let pair = *pairs.entry(ends).or_insert_with(|| {
                        this.targets.push(ends[0] * count + ends[1]);
                        (this.targets.len() - 1) as u32
                    });
                    this.partners.push(Partner {
                        pair,
                        edge: (2 * above + side) as u32,
                        hot: (parent.masks() + side) as u32,
                    });
                }
                this.ends.push(this.partners.len());
            }
        }
        this
    }

    /// Returns the partners of a split, by its index in the program.
    pub(super) fn partners(&self, split: usize) -> &[Partner] {
        let start = if split == 0 { 0 } else { self.ends[split - 1] };
        &self.partners[start..self.ends[split]]
    }
}
