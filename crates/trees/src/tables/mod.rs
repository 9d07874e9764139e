//! Values written down for every pattern of an explicand, then looked up: what the tables of both games share.

pub(crate) mod paths;
