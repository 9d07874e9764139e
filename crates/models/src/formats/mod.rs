//! The formats of model files: a folder each, which fills an [`Ensemble`](crate::Ensemble), and the [`document`] that most of them are
//! written as.

pub(crate) mod catboost;
pub(crate) mod document;
pub(crate) mod lightgbm;
pub(crate) mod onnx_ml;
pub(crate) mod portable;
pub(crate) mod treelite;
pub(crate) mod xgboost;
