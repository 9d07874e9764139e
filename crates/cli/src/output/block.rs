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
    /// As values: zero where one is exact, and missing where the method cannot tell; empty where an oracle knew all.
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

    /// Whether any value has an error, or may have one.
    pub(crate) fn are_estimates(&self) -> bool {
        self.std_errors.iter().any(|&error| error != 0.0)
    }

    /// Appends what was found of each row.
    pub(crate) fn extend(&mut self, explanations: Vec<Explanation>) {
        for explanation in explanations {
            match explanation.std_errors {
                Some(errors) => self.std_errors.extend(errors),
                None => {
                    let diagnostics = &explanation.diagnostics;
                    // Exact values of a game that was drawn have the error of the draws.
                    let is_exact = diagnostics.exact && diagnostics.draws.is_none();
                    let error = if is_exact { 0.0 } else { f64::NAN };
                    self.std_errors.extend(std::iter::repeat_n(error, explanation.values.len()));
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

#[cfg(test)]
mod tests {
    use apportion::SolutionConcept;

    use super::*;

    /// Two values of one output with these errors.
    fn explanation(std_errors: Option<[f64; 2]>, is_exact: bool, draws: Option<usize>) -> Explanation {
        let value = SolutionConcept::Semivalue(apportion::Semivalue::Shapley);
        let mut explanation =
            Explanation::estimate("by hand", value, vec![1.0, 2.0], (vec![0.0], vec![3.0]), (4, 1));
        explanation.std_errors = std_errors.map(Vec::from);
        explanation.diagnostics.exact = is_exact;
        explanation.diagnostics.draws = draws;
        explanation
    }

    #[test]
    fn each_value_has_an_error_that_is_zero_where_it_is_exact() {
        let mut block = Block::default();
        block.extend(vec![explanation(Some([0.0; 2]), true, None), explanation(None, true, None)]);
        assert!(block.std_errors == [0.0; 4] && !block.are_estimates());
        block.extend(vec![explanation(Some([0.5, 0.0]), false, None)]);
        assert!(block.std_errors[4..] == [0.5, 0.0] && block.are_estimates());
        for unknown in [explanation(None, false, None), explanation(None, true, Some(1))] {
            let mut block = Block::default();
            block.extend(vec![unknown]);
            assert!(block.std_errors.len() == 2 && block.std_errors.iter().all(|error| error.is_nan()));
            assert!(block.are_estimates());
        }
    }
}
