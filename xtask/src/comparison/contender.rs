//! The estimators that a paper compares.

use anyhow::Result;
use apportion::Estimator;
use apportion::games::SumOfUnanimity;

use crate::reproduce::figure::Style;
use crate::reproduce::store::sha256;

/// An estimator among those that a paper compares.
pub(crate) trait Compete: Copy + Ord + Sync + 'static {
    /// All of them, in the order of legends and tables.
    fn all() -> &'static [Self];

    /// The name in figures and tables.
    fn title(self) -> &'static str;

    /// The same look in every figure.
    fn style(self) -> Style;

    /// Whether it is the one that the paper is about, which is drawn on top.
    fn is_subject(self) -> bool;

    fn estimator(self) -> Box<dyn Estimator>;

    /// Whether its standard errors are kept with its estimates.
    fn keeps_standard_errors(self) -> bool {
        false
    }

    /// A hash of what the estimator answers on two small games: it belongs to the key of every checkpoint, so that results of an
    /// estimator that has changed since are not taken up again.
    fn fingerprint(self) -> Result<String> {
        let mut answers = Vec::new();
        for (players, budget) in [(9, 60), (70, 700)] {
            let game = SumOfUnanimity::random(players, 100, 4, 1);
            let explanation = self.estimator().estimate(&game, budget, 1)?;
            answers.extend(explanation.values.iter().flat_map(|value| value.to_bits().to_le_bytes()));
        }
        Ok(sha256(&answers)[..16].to_owned())
    }
}
