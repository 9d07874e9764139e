//! The names of the options.

/// The names of all options, in the order used in results.
pub(super) const NAMES: [&str; 22] = [
    "value",
    "groups",
    "graph",
    "game",
    "output",
    "method",
    "budget",
    "until",
    "confidence",
    "relative-to",
    "error",
    "range",
    "seed",
    "kernel",
    "precision",
    "rows",
    "draws",
    "bandwidth",
    "share",
    "variant",
    "fallback",
    "keep-null-players",
];
