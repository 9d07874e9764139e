//! The base margin and the link function of XGBoost's objectives.
//!
//! XGBoost stores `base_score` on the scale of its outputs, and the link function of the objective converts
//! it to a margin. Verified against the margins of XGBoost 1.7.6, 2.1.4 and 3.2.0 for every objective below
//! that these releases support.

use super::version::Version;
use crate::ensemble;

/// Returns the function from margins to outputs of an objective, or `None` if it is not supported.
pub(crate) fn outputs_link(objective: &str, outputs: usize, version: Version) -> Option<ensemble::Link> {
    Some(match objective {
        "binary:logistic" | "reg:logistic" => ensemble::Link::Logistic { steepness: 1.0 },
        "multi:softmax" | "multi:softprob" => ensemble::Link::Softmax,
        "count:poisson" | "reg:gamma" | "reg:tweedie" | "survival:cox" | "survival:aft" => {
            ensemble::Link::Exponential
        }
        "binary:hinge" => ensemble::Link::Step,
        "reg:quantileerror" if outputs > 1 && version >= Version([3, 4, 0]) => ensemble::Link::Sorted,
        other => Link::from_objective(other, 1).map(|_| ensemble::Link::Identity)?,
    })
}

/// The function that maps the base score of an objective to the margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Identity,
    /// ln(p / (1 − p))
    Logit,
    Log,
}

impl Link {
    /// Returns the link of an objective by name. Returns `None` if the link is unknown, or is not one of
    /// these links, as for several expectiles.
    pub(crate) fn from_objective(objective: &str, outputs: usize) -> Option<Self> {
        Some(match objective {
            "reg:squarederror" | "reg:linear" | "reg:squaredlogerror" | "reg:pseudohubererror" => {
                Self::Identity
            }
            "reg:absoluteerror" | "reg:quantileerror" | "reg:normal" => Self::Identity,
            "reg:expectileerror" if outputs == 1 => Self::Identity,
            // The base score of logitraw is a margin, like its output.
            "binary:logitraw" | "binary:hinge" => Self::Identity,
            "multi:softmax" | "multi:softprob" => Self::Identity,
            "rank:pairwise" | "rank:ndcg" | "rank:map" => Self::Identity,
            "binary:logistic" | "reg:logistic" => Self::Logit,
            "count:poisson" | "reg:gamma" | "reg:tweedie" | "survival:cox" | "survival:aft" => Self::Log,
            _ => return None,
        })
    }

    /// Returns the margin of a base score, which is not finite if the score is outside the domain of the
    /// link.
    pub(crate) fn margin(self, base_score: f64, version: Version) -> f64 {
        match self {
            Self::Identity => base_score,
            Self::Logit => {
                // Since version 3.1, training data may consist of a single class, so the probability is
                // clipped to stay this far from 0 and 1.
                const MIN_PROBABILITY: f32 = 1e-6;
                let probability = if version >= Version([3, 1, 0]) && (0.0..=1.0).contains(&base_score) {
                    base_score.clamp(f64::from(MIN_PROBABILITY), f64::from(1.0 - MIN_PROBABILITY))
                } else {
                    base_score
                };
                (probability / (1.0 - probability)).ln()
            }
            Self::Log => base_score.ln(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: Version = Version([2, 1, 0]);

    #[test]
    fn links_take_base_scores_to_margins() {
        assert_eq!(Link::Identity.margin(-2.5, VERSION), -2.5);
        assert!((Link::Logit.margin(0.3, VERSION) - (0.3f64 / 0.7).ln()).abs() < 1e-15);
        assert!((Link::Log.margin(0.3, VERSION) - 0.3f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn base_scores_outside_the_domain_have_no_finite_margin() {
        for (link, score) in
            [(Link::Logit, 0.0), (Link::Logit, 1.0), (Link::Logit, 1.5), (Link::Log, 0.0), (Link::Log, -1.0)]
        {
            assert!(!link.margin(score, VERSION).is_finite(), "{link:?} of {score}");
        }
    }

    #[test]
    fn one_class_data_are_legal_from_3_1() {
        assert!(Link::Logit.margin(0.0, Version([3, 1, 0])).is_finite());
        assert!(!Link::Logit.margin(1.5, Version([3, 1, 0])).is_finite());
    }
}
