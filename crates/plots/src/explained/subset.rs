//! Subsets of the kept rows.

use super::Explained;
use super::sample::{Ends, priority};

impl Explained {
    /// Selects at most `most` of the rows at `places`, and returns them in their order. The selection
    /// consists of the `wanted` rows; the first rows with the minimum and the maximum prediction, value and
    /// input, as long as these take at most half of the selection; and then rows by the hash of the seed and
    /// the row's index.
    ///
    /// The extremes are taken over the given outputs and players, in their order. A smaller selection is a
    /// subset of a larger one.
    pub(crate) fn choose_rows(
        &self,
        places: &[usize],
        most: usize,
        wanted: &[usize],
        (outputs, players): (&[usize], &[usize]),
    ) -> Vec<usize> {
        if places.len() <= most {
            return places.to_vec();
        }
        let mut is_chosen = vec![false; self.rows()];
        let mut count = 0;
        let mut choose = |place: usize, most: usize| {
            if count < most && !is_chosen[place] {
                is_chosen[place] = true;
                count += 1;
            }
        };
        wanted.iter().for_each(|&place| choose(place, most));
        let ends = |number: &dyn Fn(usize) -> f64| {
            let mut ends = Ends::NONE;
            places.iter().for_each(|&place| ends.add(number(place), place as u64));
            ends.places().map(|place| place as usize).collect::<Vec<_>>()
        };
        let mut extremes = Vec::new();
        for &output in outputs {
            extremes.extend(ends(&|row| self.prediction(row, output)));
        }
        for &player in players {
            for &output in outputs {
                extremes.extend(ends(&|row| self.value(row, player, output)));
            }
            if let Some(feature) = self.only_feature(player) {
                extremes.extend(ends(&|row| self.input(row, feature)));
            }
        }
        extremes.into_iter().for_each(|place| choose(place, most / 2));
        let mut order = places.to_vec();
        order.sort_by_key(|&place| (priority(self.seed, self.kept.rows[place]), place));
        order.into_iter().for_each(|place| choose(place, most));
        places.iter().copied().filter(|&place| is_chosen[place]).collect()
    }

    /// Returns a copy with only the kept rows at these positions. Its aggregates are still over all rows.
    pub(crate) fn of_rows(&self, places: &[usize]) -> Self {
        Self {
            heading: self.heading.clone(),
            kept: self.kept.only(places),
            factors: places.iter().map(|&place| self.factors[place]).collect(),
            summary: self.summary.clone(),
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Batch, Explained, Gathering, Heading};

    fn explained(rows: u64) -> Explained {
        let mut gathering = Gathering::new(Heading::for_features(["a", "b"])).unwrap();
        let values: Vec<f64> = (0..2 * rows).map(|k| (k as f64 * 0.7).sin()).collect();
        gathering
            .add(Batch {
                rows: (0..rows).collect(),
                base: vec![0.0; rows as usize],
                predictions: values.chunks(2).map(|pair| pair[0] + pair[1]).collect(),
                inputs: values.iter().map(|value| value * value).collect(),
                values,
                ..Batch::default()
            })
            .unwrap();
        gathering.end()
    }

    #[test]
    fn a_smaller_choice_is_part_of_a_larger_one_and_both_hold_extremes() {
        let explained = explained(500);
        let all: Vec<usize> = (0..500).collect();
        let choose = |most| explained.choose_rows(&all, most, &[17], (&[0], &[0, 1]));
        let mut smaller = choose(4);
        assert_eq!(smaller.len(), 4);
        for most in [5, 10, 11, 50, 300, 499] {
            let chosen = choose(most);
            assert_eq!(chosen.len(), most);
            assert!(smaller.iter().all(|place| chosen.contains(place)), "{smaller:?} in {chosen:?}");
            assert!(chosen.is_sorted() && chosen.contains(&17));
            smaller = chosen;
        }
        let largest = (0..500).max_by(|&a, &b| explained.value(a, 0, 0).total_cmp(&explained.value(b, 0, 0)));
        assert!(choose(20).contains(&largest.unwrap()));
        assert_eq!(choose(500), all);
        assert_eq!(explained.of_rows(&choose(10)).batch().rows.len(), 10);
    }
}
