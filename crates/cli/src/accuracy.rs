//! The accuracy that is asked for in place of a budget.

use anyhow::Result;
use apportion::Until;
use apportion::estimators::{Measure, Scale};

use crate::args::{Accuracy, Error, RelativeTo};
use crate::failure::Usage;

/// What the options ask for; none where they ask for no accuracy.
pub(crate) fn until(args: &Accuracy) -> Result<Option<Until>> {
    let Some(tolerance) = args.until else {
        let others = [
            ("--confidence", args.confidence.is_some()),
            ("--relative-to", args.relative_to.is_some()),
            ("--error", args.error.is_some()),
            ("--range", args.range.is_some()),
        ];
        return match others.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Usage(format!(
                "{option} says more of the accuracy that --until asks for; give --until 0.01, or leave it out"
            ))
            .into()),
            None => Ok(None),
        };
    };
    let defaults = Until::relative(tolerance);
    let until = defaults
        .with_confidence(args.confidence.unwrap_or(defaults.confidence))
        .with_scale(match args.relative_to {
            None | Some(RelativeTo::Norm) => Scale::Norm,
            Some(RelativeTo::Range) => Scale::Range,
            Some(RelativeTo::Nothing) => Scale::Absolute,
        })
        .with_measure(match args.error {
            None | Some(Error::Euclidean) => Measure::Euclidean,
            Some(Error::EveryPlayer) => Measure::EveryPlayer,
        })
        .with_range(args.range);
    until.check().map_err(|error| Usage(format!("--until: {error}")))?;
    Ok(Some(until))
}

/// The accuracy in words, for results.
pub(crate) fn words(until: &Until) -> String {
    let scale = match until.scale {
        Scale::Absolute => "in units of the output",
        Scale::Norm => "of the norm of the values",
        Scale::Range => "of the range of the values",
    };
    let measure = match until.measure {
        Measure::Euclidean => "Euclidean error",
        Measure::EveryPlayer => "error of every player",
    };
    let range = until.range.map_or_else(String::new, |range| format!(", range {range}"));
    format!("{measure} {} {scale}, confidence {}{range}", until.tolerance, until.confidence)
}
