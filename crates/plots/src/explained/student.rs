//! What standard errors are multiplied by for 95 % intervals.

use std::sync::LazyLock;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// With this many degrees of freedom or more, Student's law is the normal law to all digits that matter.
const MANY: f64 = 1e6;

static FACTOR_OF_MANY: LazyLock<f64> = LazyLock::new(|| quantile(MANY));

/// What the standard error of a mean of so many degrees of freedom is multiplied by for a 95 % interval.
pub(crate) fn factor(degrees_of_freedom: f64) -> f64 {
    match degrees_of_freedom < MANY {
        true => quantile(degrees_of_freedom.max(1.0)),
        false => *FACTOR_OF_MANY,
    }
}

fn quantile(degrees_of_freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom).map_or(f64::NAN, |law| law.inverse_cdf(0.975))
}

/// Factors of rows that come one after the other, most of which have the degrees of freedom of the one before: a factor takes as long as
/// thousands of multiplications.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Factors {
    last: Option<(f64, f64)>,
}

impl Factors {
    pub(super) fn of(&mut self, degrees_of_freedom: f64) -> f64 {
        match self.last {
            Some((degrees, factor)) if degrees == degrees_of_freedom => factor,
            _ => {
                let factor = factor(degrees_of_freedom);
                self.last = Some((degrees_of_freedom, factor));
                factor
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_those_of_students_law() {
        // Source: tables of Student's law, 0.975.
        for (degrees, wanted) in [
            (1.0, 12.706),
            (4.0, 2.776),
            (30.0, 2.042),
            (f64::INFINITY, 1.960),
            (f64::NAN, 1.960),
            (0.0, 12.706),
        ] {
            assert!((factor(degrees) - wanted).abs() < 6e-4, "{degrees}: {}", factor(degrees));
            let mut factors = Factors::default();
            assert_eq!([factors.of(degrees), factors.of(degrees)], [factor(degrees); 2]);
        }
    }
}
