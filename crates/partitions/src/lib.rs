//! Partitions of features from data: measures of dependence, hierarchical clustering, dendrograms.
