//! Arithmetic on one column, rounded as in the runtime. All operations are monotone.

use crate::formats::onnx_ml::graph::Element;

/// An operation on each number of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) enum Step {
    /// Rounding to `f32`.
    Single,
    /// Rounding toward zero.
    Whole,
    /// An operation with a constant, in the arithmetic of the given type.
    Arithmetic { operation: Operation, constant: f64, element: Element },
    /// Clipping to an interval.
    Clip { lowest: f64, highest: f64 },
    /// Replacement of missing values with this number.
    Fill(f64),
}

/// An operation with a constant c.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Operation {
    /// x + c
    Add,
    /// x − c
    Subtract,
    /// c − x
    SubtractFrom,
    /// x · c
    Multiply,
    /// x / c
    Divide,
}

impl Operation {
    fn value(self, x: f64, constant: f64) -> f64 {
        match self {
            Self::Add => x + constant,
            Self::Subtract => x - constant,
            Self::SubtractFrom => constant - x,
            Self::Multiply => x * constant,
            Self::Divide => x / constant,
        }
    }

    /// Computes the operation in `f32`. For two `f32` operands, computing in `f64` and rounding once more
    /// gives the same result.
    fn single(self, x: f64, constant: f64) -> f64 {
        f64::from(self.value(f64::from(x as f32), f64::from(constant as f32)) as f32)
    }
}

impl Step {
    /// Returns the result of this step for a number or NaN.
    pub(super) fn value(self, x: f64) -> f64 {
        match self {
            Self::Single => f64::from(x as f32),
            Self::Whole => x.trunc(),
            Self::Arithmetic { operation, constant, element } => match element {
                Element::Single => operation.single(x, constant),
                _ => operation.value(x, constant),
            },
            // Unlike `max` and `min`, runtimes propagate NaN.
            Self::Clip { .. } if x.is_nan() => x,
            Self::Clip { lowest, highest } => x.max(lowest).min(highest),
            Self::Fill(number) if x.is_nan() => number,
            Self::Fill(_) => x,
        }
    }

    /// Returns whether the results of this step decrease as numbers increase.
    pub(super) fn is_decreasing(self) -> bool {
        match self {
            Self::Arithmetic { operation: Operation::SubtractFrom, .. } => true,
            Self::Arithmetic { operation: Operation::Multiply | Operation::Divide, constant, .. } => {
                constant < 0.0
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::Random;

    const OPERATIONS: [Operation; 5] = [
        Operation::Add,
        Operation::Subtract,
        Operation::SubtractFrom,
        Operation::Multiply,
        Operation::Divide,
    ];

    #[test]
    fn singles_are_combined_as_singles() {
        let mut random = Random(3);
        for _ in 0..20_000 {
            let [x, c] = [0; 2].map(|_| f32::from_bits(random.next() as u32));
            if x.is_nan() || c.is_nan() {
                continue;
            }
            for (operation, expected) in OPERATIONS.into_iter().zip([x + c, x - c, c - x, x * c, x / c]) {
                let step = Step::Arithmetic { operation, constant: c.into(), element: Element::Single };
                let value = step.value(x.into()) as f32;
                assert!(value == expected || value.is_nan() && expected.is_nan(), "{operation:?} {x} {c}");
            }
        }
    }

    #[test]
    fn missing_values_stay_missing_until_they_are_filled_in() {
        let clip = Step::Clip { lowest: 0.0, highest: 1.0 };
        for step in [Step::Single, Step::Whole, clip] {
            assert!(step.value(f64::NAN).is_nan());
        }
        assert_eq!([-1.0, 0.5, 7.0].map(|x| clip.value(x)), [0.0, 0.5, 1.0]);
        assert_eq!([f64::NAN, 2.0].map(|x| Step::Fill(5.0).value(x)), [5.0, 2.0]);
        assert_eq!([-2.7, 2.7, -0.3].map(|x| Step::Whole.value(x)), [-2.0, 2.0, 0.0]);
    }
}
