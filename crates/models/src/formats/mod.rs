//! Model file formats. Each format has a module that converts its files to an [`Ensemble`](crate::Ensemble).
//! Files in JSON and UBJ are parsed to a [`document`] first.

pub(crate) mod catboost;
pub(crate) mod document;
pub(crate) mod lightgbm;
pub(crate) mod onnx_ml;
pub(crate) mod portable;
pub(crate) mod treelite;
pub(crate) mod xgboost;
