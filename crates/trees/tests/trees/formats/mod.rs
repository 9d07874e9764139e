//! Values of models as their libraries save them: against what the libraries say, ground truth and
//! enumeration.
//!
//! That files are read exactly, and damaged ones refused, is tested in `apportion-models`.

mod catboost;
mod catboost_words;
mod lightgbm;
mod portable;
mod scikit_learn;
mod treelite;
mod xgboost;
