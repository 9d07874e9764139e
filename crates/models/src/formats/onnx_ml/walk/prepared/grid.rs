//! The floating-point numbers of a width in ascending order. Bisection over them finds the point at which a
//! monotone function crosses a threshold.

use crate::ensemble::Width;

/// All numbers of a width from −∞ to ∞, with consecutive positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super::super) struct Grid(pub(in super::super) Width);

impl Grid {
    /// Returns the position of a number that this width can represent. NaN does not have a position.
    pub(super) fn place(self, number: f64) -> i64 {
        match self.0 {
            Width::Single => {
                let bits = (number as f32).to_bits() as i32;
                i64::from(bits ^ ((bits >> 31) as u32 >> 1) as i32)
            }
            Width::Double => {
                let bits = number.to_bits() as i64;
                bits ^ ((bits >> 63) as u64 >> 1) as i64
            }
        }
    }

    /// Returns the number at a position.
    pub(super) fn number(self, place: i64) -> f64 {
        match self.0 {
            Width::Single => {
                let place = place as i32;
                f64::from(f32::from_bits((place ^ ((place >> 31) as u32 >> 1) as i32) as u32))
            }
            Width::Double => f64::from_bits((place ^ ((place >> 63) as u64 >> 1) as i64) as u64),
        }
    }

    /// Returns the positions of −∞ and ∞.
    pub(super) fn ends(self) -> (i64, i64) {
        (self.place(f64::NEG_INFINITY), self.place(f64::INFINITY))
    }

    /// Returns the first position from `first` to `last` whose number meets the condition, or `last` + 1. The
    /// condition must be monotone: it must hold for all numbers after the first such number.
    pub(super) fn first(self, (first, last): (i64, i64), holds: impl Fn(f64) -> bool) -> i64 {
        let (mut low, mut high) = (i128::from(first), i128::from(last) + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(self.number(middle as i64)) { high = middle } else { low = middle + 1 }
        }
        low as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_of_the_numbers() {
        let numbers = [
            f64::NEG_INFINITY,
            f64::from(f32::MIN),
            -1.5,
            -f64::from(f32::MIN_POSITIVE),
            -0.0,
            0.0,
            1e-45_f32.into(),
            0.1_f32.into(),
            3.0,
            f64::from(f32::MAX),
            f64::INFINITY,
        ];
        for grid in [Grid(Width::Single), Grid(Width::Double)] {
            let places = numbers.map(|number| grid.place(number));
            assert!(places.is_sorted() && places.windows(2).all(|pair| pair[0] < pair[1]));
            for (number, place) in numbers.iter().zip(places) {
                assert_eq!(grid.number(place).to_bits(), number.to_bits());
            }
            assert_eq!(grid.place(-0.0) + 1, grid.place(0.0));
        }
        let single = Grid(Width::Single);
        assert_eq!(single.number(single.place(1.0) + 1), f64::from(1f32.next_up()));
    }

    #[test]
    fn bisection_finds_the_first_number() {
        for grid in [Grid(Width::Single), Grid(Width::Double)] {
            let ends = grid.ends();
            for threshold in [-3.0, 0.0, 1.5, 1e30_f32.into()] {
                let found = grid.first(ends, |number| number >= threshold);
                assert_eq!(grid.number(found), threshold);
            }
            assert_eq!(grid.first(ends, |_| false), ends.1 + 1);
            assert_eq!(grid.first(ends, |_| true), ends.0);
        }
    }
}
