//! Histograms with bins whose widths are powers of two.

use std::collections::VecDeque;

/// Maximum number of bins.
const BINS: i64 = 256;
/// Maximum absolute value of the index of a bin. An `f64` represents every index up to it exactly.
const MAX_BIN: f64 = (1_u64 << 50) as f64;

/// A histogram: counts of numbers in bins [j·2^e, (j+1)·2^e). The width 2^e is the smallest for which 256
/// bins contain all numbers, so the counts do not depend on the order of the numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Density {
    exponent: i32,
    first: i64,
    counts: VecDeque<u64>,
}

impl Density {
    /// Adds a number to the count of its bin.
    ///
    /// # Panics
    ///
    /// Panics if the number is not finite.
    pub fn add(&mut self, number: f64) {
        assert!(number.is_finite(), "{number} does not belong to a bin");
        let min = min_exponent(number);
        if self.counts.is_empty() {
            self.exponent = min;
            self.first = bin(number, min);
            self.counts.push_back(1);
            return;
        }
        self.coarsen(min.saturating_sub(self.exponent).max(0));
        let mut at = bin(number, self.exponent);
        let span = |first: i64, last: i64, at: i64| last.max(at) - first.min(at) + 1;
        let mut halvings = 0;
        let (first, last) = (self.first, self.first + self.counts.len() as i64 - 1);
        while span(first >> halvings, last >> halvings, at >> halvings) > BINS {
            halvings += 1;
        }
        self.coarsen(halvings);
        at >>= halvings;
        while at < self.first {
            self.counts.push_front(0);
            self.first -= 1;
        }
        let place = (at - self.first) as usize;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }

    /// Makes the bins 2^halvings times as wide, by merging them.
    fn coarsen(&mut self, halvings: i32) {
        if halvings <= 0 {
            return;
        }
        // For larger shifts, all numbers are in the bins −1 and 0.
        let shift = halvings.min(62);
        let mut counts = VecDeque::new();
        let first = self.first >> shift;
        for (place, &count) in self.counts.iter().enumerate() {
            let at = (((self.first + place as i64) >> shift) - first) as usize;
            if at >= counts.len() {
                counts.resize(at + 1, 0);
            }
            counts[at] += count;
        }
        self.exponent += halvings;
        self.first = first;
        self.counts = counts;
    }

    /// Returns the count of all numbers.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Iterates over the bins in order: start, end and count.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        let edge = move |at: i64| scaled(at as f64, self.exponent);
        self.counts.iter().enumerate().map(move |(place, &count)| {
            let at = self.first + place as i64;
            (edge(at), edge(at + 1), count)
        })
    }

    /// Returns a histogram with at most `most` bins, or two if `most` is less, by merging bins. The width of
    /// the bins is still a power of two.
    pub fn in_bins(&self, most: usize) -> Self {
        let mut coarse = self.clone();
        while coarse.counts.len() > most.max(2) {
            coarse.coarsen(1);
        }
        coarse
    }
}

/// Returns the index of the bin that contains a number.
fn bin(number: f64, exponent: i32) -> i64 {
    scaled(number, -exponent).floor() as i64
}

/// Computes number · 2^exponent, in two steps, since the power of two may overflow.
fn scaled(number: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    number * f64::from(half).exp2() * f64::from(exponent - half).exp2()
}

/// Returns the smallest exponent for which the index of a number's bin is exact.
fn min_exponent(number: f64) -> i32 {
    if number == 0.0 {
        return -1074;
    }
    let mut exponent = (number.abs() / MAX_BIN).log2().floor().max(-1074.0) as i32;
    while scaled(number.abs(), -exponent) >= MAX_BIN {
        exponent += 1;
    }
    exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_numbers(numbers: &[f64]) -> Density {
        let mut density = Density::default();
        numbers.iter().for_each(|&number| density.add(number));
        density
    }

    /// Computes the bins by definition: the smallest width for which 256 bins contain all numbers.
    fn by_definition(numbers: &[f64]) -> Vec<(f64, f64, u64)> {
        let min = numbers.iter().map(|&number| min_exponent(number)).max().unwrap();
        let exponent = (min..1100)
            .find(|&exponent| {
                let bins: Vec<i64> = numbers.iter().map(|&number| bin(number, exponent)).collect();
                bins.iter().max().unwrap() - bins.iter().min().unwrap() < BINS
            })
            .unwrap();
        let bins: Vec<i64> = numbers.iter().map(|&number| bin(number, exponent)).collect();
        let (first, last) = (*bins.iter().min().unwrap(), *bins.iter().max().unwrap());
        (first..=last)
            .map(|at| {
                let count = bins.iter().filter(|&&bin| bin == at).count() as u64;
                (scaled(at as f64, exponent), scaled((at + 1) as f64, exponent), count)
            })
            .collect()
    }

    #[test]
    fn counts_are_those_of_the_definition_in_any_order() {
        for numbers in [
            vec![0.0],
            vec![0.0, 0.0, 1.0],
            vec![1.0, -1.0, 3.5, 1e-9],
            vec![1e300, -1e300, 0.0, 1.0],
            vec![5e-324, 0.0, -5e-324],
            (0..1000).map(|k| (f64::from(k) * 0.7).sin() * 13.0).collect(),
            (0..1000).map(|k| 1e6 + f64::from(k)).collect(),
        ] {
            let expected = by_definition(&numbers);
            let found: Vec<_> = from_numbers(&numbers).bins().collect();
            assert_eq!(found, expected, "{numbers:?}");
            let back: Vec<f64> = numbers.iter().rev().copied().collect();
            assert_eq!(from_numbers(&back), from_numbers(&numbers));
        }
    }

    #[test]
    fn fewer_bins_keep_all_counts() {
        let density = from_numbers(&(0..5000).map(|k| f64::from(k % 997)).collect::<Vec<_>>());
        for most in [2, 3, 10, 64] {
            let coarse = density.in_bins(most);
            assert!(coarse.bins().count() <= most);
            assert_eq!(coarse.total(), 5000);
        }
    }
}
