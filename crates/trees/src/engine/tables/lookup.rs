//! Passes a block of rows through the tables of a tree.
//!
//! The patterns of all rows of a block are computed split by split, and their indices in the tables region by
//! region. Then each row loads one entry from each table. Every row adds up the regions in the same order,
//! for every instruction set and regardless of the other rows of the block.

use super::number::Number;
use super::shape::{Layout, NONE, Region, Shape};
use super::table::Tables;
use crate::engine::paths::{BLOCK, Columns, Pattern, descend};
use apportion_models::Ensemble;
use apportion_models::tree::Node;

/// The number of regions whose entries a row adds between loading and storing its sums.
const TOGETHER: usize = 4;

/// The working memory of the kernel, created once per thread.
#[derive(Default)]
pub(crate) struct Lookup {
    patterns: Vec<[Pattern; BLOCK]>,
    places: Vec<[Pattern; BLOCK]>,
}

impl Lookup {
    /// Adds the values of the rows on one tree to the `sums` of the tree's output.
    pub(crate) fn add<N: Number>(
        &mut self,
        ensemble: &Ensemble,
        nodes: &[Node],
        tables: &Tables<N>,
        columns: &Columns,
        sums: &mut [f64],
    ) {
        let shape = &tables.shape;
        if shape.steps.is_empty() {
            return;
        }
        self.patterns.resize(self.patterns.len().max(shape.slots), [0; BLOCK]);
        self.places.resize(self.places.len().max(shape.regions.len()), [0; BLOCK]);
        let places = &mut self.places[..shape.regions.len()];
        find_places(ensemble, nodes, tables, columns, &mut self.patterns, places);
        match shape.layout {
            Layout::Lanes(4) => add_entries::<N, 4>(tables.numbers(), &shape.regions, places, sums),
            Layout::Lanes(8) => add_entries::<N, 8>(tables.numbers(), &shape.regions, places, sums),
            Layout::Lanes(_) => add_entries::<N, 16>(tables.numbers(), &shape.regions, places, sums),
            Layout::Columns | Layout::Pairs => add_columns(tables.numbers(), shape, places, sums),
        }
    }
}

/// Computes the indices of the rows in the tables of all regions.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
fn find_places<N: Number>(
    ensemble: &Ensemble,
    nodes: &[Node],
    tables: &Tables<N>,
    columns: &Columns,
    patterns: &mut [[Pattern; BLOCK]],
    places: &mut [[Pattern; BLOCK]],
) {
    let shape = &tables.shape;
    patterns[0] = [0; BLOCK];
    let mut left = [0; BLOCK];
    for step in &shape.steps {
        let split = step.split as usize;
        columns.decide_all(ensemble, nodes[split], &mut left);
        let pattern = patterns[step.slot as usize];
        let above = step.above;
        if step.region != NONE {
            let place = &mut places[step.region as usize];
            for ((place, &pattern), &left) in place.iter_mut().zip(&pattern).zip(&left) {
                *place = pattern | left << above;
            }
            let others = &shape.splits(&shape.regions[step.region as usize])[1..];
            for (bit, &other) in (above + 1..).zip(others) {
                columns.decide_all(ensemble, nodes[other as usize], &mut left);
                for (place, &left) in place.iter_mut().zip(&left) {
                    *place |= left << bit;
                }
            }
        }
        for (slot, passes) in [(step.left, true), (step.right, false)] {
            if slot != NONE {
                descend(&pattern, &left, step.bit, step.is_first, passes, &mut patterns[slot as usize]);
            }
        }
    }
}

/// Adds whole entries to sums laid out as rows × lanes.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
fn add_entries<N: Number, const WIDTH: usize>(
    numbers: &[N],
    regions: &[Region],
    places: &[[Pattern; BLOCK]],
    sums: &mut [f64],
) {
    let sums = sums.as_chunks_mut::<WIDTH>().0;
    let table = |region: &Region| numbers[region.start..region.start + (WIDTH << region.bits)].as_chunks().0;
    let (groups, rest) = regions.as_chunks::<TOGETHER>();
    let (place_groups, place_rest) = places.as_chunks::<TOGETHER>();
    for (regions, places) in groups.iter().zip(place_groups) {
        add_some::<N, WIDTH, TOGETHER>(regions.each_ref().map(table), places, sums);
    }
    for (region, places) in rest.iter().zip(place_rest) {
        add_some::<N, WIDTH, 1>([table(region)], std::array::from_ref(places), sums);
    }
}

#[inline(always)]
fn add_some<N: Number, const WIDTH: usize, const COUNT: usize>(
    tables: [&[[N; WIDTH]]; COUNT],
    places: &[[Pattern; BLOCK]; COUNT],
    sums: &mut [[f64; WIDTH]],
) {
    for (row, sums) in sums.iter_mut().enumerate().take(BLOCK) {
        let mut sum = *sums;
        for (table, places) in tables.iter().zip(places) {
            let entry = &table[usize::from(places[row])];
            for (sum, &number) in sum.iter_mut().zip(entry) {
                *sum = N::add(*sum, number);
            }
        }
        *sums = sum;
    }
}

/// Adds columns to sums laid out as players × rows.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
))]
fn add_columns<N: Number>(numbers: &[N], shape: &Shape, places: &[[Pattern; BLOCK]], sums: &mut [f64]) {
    let (sums, _) = sums.as_chunks_mut::<BLOCK>();
    for (region, places) in shape.regions.iter().zip(places) {
        let table = &numbers[region.start..region.start + (region.width << region.bits)];
        for (column, &player) in table.chunks_exact(1 << region.bits).zip(shape.players(region)) {
            add_column(column, places, &mut sums[player as usize]);
        }
    }
}

/// Dispatches on the length of a column, which is a power of two, so that the compiler can omit bounds
/// checks.
#[inline(always)]
fn add_column<N: Number>(column: &[N], places: &[Pattern; BLOCK], sums: &mut [f64; BLOCK]) {
    macro_rules! known {
        ($($length:literal)*) => {
            match column.len() {
                $($length => add_known::<N, $length>(column, places, sums),)*
                length => unreachable!("invalid length {length} of a column"),
            }
        };
    }
    known!(2 4 8 16 32 64 128 256 512 1024 2048 4096)
}

#[inline(always)]
fn add_known<N: Number, const LENGTH: usize>(
    column: &[N],
    places: &[Pattern; BLOCK],
    sums: &mut [f64; BLOCK],
) {
    let Some(column) = column.first_chunk::<LENGTH>() else { return };
    for (sum, &place) in sums.iter_mut().zip(places) {
        *sum = N::add(*sum, column[usize::from(place) & (LENGTH - 1)]);
    }
}
