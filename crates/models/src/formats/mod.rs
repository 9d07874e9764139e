//! Model file formats. Each format has a directory that converts its files to an
//! [`Ensemble`](crate::Ensemble). Most of them are parsed to a [`document`] first.

pub(crate) mod catboost;
pub(crate) mod document;
pub(crate) mod lightgbm;
pub(crate) mod onnx_ml;
pub(crate) mod portable;
pub(crate) mod treelite;
pub(crate) mod xgboost;
