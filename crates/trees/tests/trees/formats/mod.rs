//! Values of models in the file formats of their libraries, compared with the values of the libraries, ground
//! truth and enumeration.
//!
//! The tests of `apportion-models` check that files are read exactly, and that corrupt files are rejected.

mod catboost;
mod catboost_words;
mod lightgbm;
mod portable;
mod scikit_learn;
mod treelite;
mod xgboost;
