//! Rows with what is said of them, on their way out.

use apportion::{Certificate, Explanation};

/// Rows that were explained or predicted together. With n features, p players and k outputs:
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Index of each row in the file.
    pub(crate) rows: Vec<usize>,
    /// What the file calls each, where that was asked for.
    pub(crate) ids: Option<Vec<String>>,
    /// Rows × n; empty where inputs are no numbers that tell a reader something.
    pub(crate) inputs: Vec<f64>,
    /// Rows × k.
    pub(crate) base: Vec<f64>,
    /// Rows × k.
    pub(crate) predictions: Vec<f64>,
    /// Rows × p × k, of pairs rows × p × p × k, of coalitions rows × coalitions × k.
    pub(crate) values: Vec<f64>,
    /// The players of each coalition, where values are of coalitions.
    pub(crate) coalitions: Vec<Vec<usize>>,
    /// As values, and missing where the method cannot tell; empty where all values are exact.
    pub(crate) std_errors: Vec<f64>,
    /// How each row was explained; empty where an oracle knew its values.
    pub(crate) runs: Vec<Run>,
}

/// How a row was explained.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) evaluations: usize,
    pub(crate) draws: Option<usize>,
    /// Of the standard errors; infinitely many where they follow the normal law.
    pub(crate) degrees_of_freedom: f64,
    /// The method whose draws were the same.
    pub(crate) same_as: Option<String>,
    pub(crate) certificate: Option<Certificate>,
}

impl Block {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Appends what was found of each row. Values are estimates where any has an error.
    pub(crate) fn extend(&mut self, explanations: Vec<Explanation>) {
        let has_error = |explanation: &Explanation| match &explanation.std_errors {
            Some(errors) => errors.iter().any(|&error| error != 0.0),
            None => true,
        };
        let are_estimates = explanations.iter().any(has_error);
        for explanation in explanations {
            if are_estimates {
                match explanation.std_errors {
                    Some(errors) => self.std_errors.extend(errors),
                    None => {
                        self.std_errors.extend(std::iter::repeat_n(f64::NAN, explanation.values.len()));
                    }
                }
            }
            self.base.extend(explanation.base);
            self.predictions.extend(explanation.prediction);
            self.values.extend(explanation.values);
            self.runs.push(Run {
                evaluations: explanation.evaluations,
                draws: explanation.diagnostics.draws,
                degrees_of_freedom: explanation
                    .diagnostics
                    .error_law
                    .as_ref()
                    .map_or(f64::INFINITY, |law| law.degrees_of_freedom),
                same_as: explanation.diagnostics.same_as,
                certificate: explanation.certificate,
            });
        }
    }

    /// The part of `numbers` that is of one row.
    pub(crate) fn of_row<'n>(&self, numbers: &'n [f64], row: usize) -> &'n [f64] {
        let width = numbers.len() / self.rows.len().max(1);
        &numbers[row * width..(row + 1) * width]
    }

    /// The same with one of `outputs` outputs alone.
    pub(crate) fn of_output(mut self, output: usize, outputs: usize) -> Self {
        let only = |numbers: &mut Vec<f64>| {
            *numbers = numbers.iter().skip(output).step_by(outputs).copied().collect();
        };
        for numbers in [&mut self.base, &mut self.predictions, &mut self.values, &mut self.std_errors] {
            only(numbers);
        }
        for certificate in self.runs.iter_mut().filter_map(|run| run.certificate.as_mut()) {
            only(&mut certificate.tolerances);
            certificate.error_bounds.iter_mut().for_each(only);
            certificate.half_widths.iter_mut().for_each(only);
        }
        self
    }
}
