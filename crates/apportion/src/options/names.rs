//! The names of the options.

/// Names of all options, in the order in which results store them.
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
