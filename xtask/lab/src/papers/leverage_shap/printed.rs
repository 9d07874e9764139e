//! Numbers printed in the paper, for comparison.
//!
//! Source: Musco and Witter, *Provably Accurate Shapley Value Estimation via Leverage Score Sampling*, ICLR
//! 2025: tables 1 and 4 (error at m = 10n, 100 runs), table 2 (ratio of average errors), table 3 (quartiles
//! of γ). The columns are the eight datasets in the order of [`DATASETS`].

use super::contender::Contender;
use crate::comparison::Compete;

/// Our names for the paper's datasets. The paper's NHANES has 79 features, our version 18.
pub(crate) const DATASETS: [&str; 8] =
    ["iris", "california", "diabetes", "adult", "correlated60", "independent60", "nhanes18", "communities"];

/// Tables 1 and 4: mean, first, second and third quartile of the error per dataset.
pub(crate) const ERRORS: [(Contender, [[f64; 8]; 4]); 6] = [
    (
        Contender::KernelShap,
        [
            [0.026, 0.0266, 0.0553, 0.0673, 0.0465, 0.0264, 0.0604, 0.12],
            [1.61e-05, 0.00829, 0.0116, 0.0182, 0.0244, 0.0134, 0.0202, 0.0563],
            [0.000898, 0.0236, 0.0229, 0.0345, 0.0404, 0.0217, 0.0388, 0.089],
            [0.0328, 0.0424, 0.0524, 0.0936, 0.056, 0.0303, 0.0843, 0.149],
        ],
    ),
    (
        Contender::OptimizedKernelShap,
        [
            [4.84e-09, 0.00342, 0.0093, 0.00989, 0.0117, 0.00474, 0.00758, 0.0233],
            [1.66e-13, 0.000802, 0.00161, 0.00187, 0.00499, 0.00194, 0.00156, 0.00962],
            [2.17e-13, 0.00238, 0.00356, 0.00489, 0.00916, 0.00391, 0.00425, 0.0173],
            [2.69e-10, 0.00489, 0.00868, 0.0122, 0.015, 0.00695, 0.00871, 0.0325],
        ],
    ),
    (
        Contender::LeverageShap,
        [
            [4.84e-09, 0.000311, 0.0023, 0.00477, 0.00716, 0.00288, 0.00532, 0.0156],
            [1.66e-13, 4.47e-05, 0.000215, 0.000477, 0.00289, 0.000843, 0.000995, 0.0062],
            [2.17e-13, 0.000133, 0.000969, 0.00124, 0.00528, 0.00257, 0.00288, 0.0104],
            [2.69e-10, 0.000366, 0.00241, 0.00354, 0.00891, 0.00417, 0.00554, 0.0225],
        ],
    ),
    (
        Contender::KernelShapPaired,
        [
            [0.00343, 0.00081, 0.00437, 0.00607, 0.0107, 0.00453, 0.00754, 0.0249],
            [3.07e-10, 9.92e-05, 0.000444, 0.000676, 0.00395, 0.00143, 0.00156, 0.0108],
            [1.28e-07, 0.000361, 0.00203, 0.00157, 0.00827, 0.00344, 0.00415, 0.016],
            [0.000189, 0.000971, 0.00565, 0.00482, 0.0141, 0.00658, 0.00857, 0.034],
        ],
    ),
    (
        Contender::LeverageShapUnpaired,
        [
            [0.0332, 0.0237, 0.049, 0.0531, 0.0308, 0.0163, 0.0357, 0.067],
            [9.5e-06, 0.00834, 0.00947, 0.0144, 0.0171, 0.00775, 0.00969, 0.0322],
            [0.000951, 0.0183, 0.0184, 0.0303, 0.0245, 0.013, 0.024, 0.0495],
            [0.0277, 0.0328, 0.035, 0.067, 0.0356, 0.02, 0.0479, 0.0774],
        ],
    ),
    (
        Contender::PermutationShap,
        [
            [0.00511, 0.00145, 0.00875, 0.0118, 0.015, 0.00517, 0.00868, 0.0312],
            [1.29e-09, 0.000174, 0.000785, 0.000708, 0.00403, 0.00109, 0.00127, 0.0105],
            [2.35e-07, 0.000793, 0.00361, 0.00222, 0.0098, 0.00338, 0.00355, 0.0188],
            [0.000659, 0.00196, 0.0102, 0.0079, 0.0199, 0.00847, 0.00789, 0.045],
        ],
    ),
];

/// Table 2: average error of Leverage SHAP divided by the average error of Optimized Kernel SHAP at m = 5n,
/// 10n, … 160n per dataset. Entries for m ≥ 2^n are 1.
#[expect(clippy::approx_constant, reason = "0.318 is a ratio of errors, not 1/π")]
pub(crate) const RATIOS: [[f64; 6]; 8] = [
    [1.00, 1.00, 1.00, 1.00, 1.00, 1.00],
    [0.0923, 0.0909, 0.0463, 1.00, 1.00, 1.00],
    [0.314, 0.247, 0.278, 0.203, 0.110, 1.00],
    [0.351, 0.482, 0.536, 0.318, 0.279, 0.276],
    [0.484, 0.614, 0.613, 0.658, 0.682, 0.685],
    [0.540, 0.608, 0.614, 0.637, 0.658, 0.651],
    [0.572, 0.702, 0.757, 0.709, 0.658, 0.741],
    [0.514, 0.668, 0.647, 0.681, 0.661, 0.722],
];

/// Average of table 2 over the entries with m < 2^n.
pub(crate) const AVERAGE_RATIO: f64 = 0.502;

/// Table 3: quartiles of γ on the datasets with n ≤ 12, which are the first four.
pub(crate) const GAMMA: [[f64; 3]; 4] =
    [[0.000234, 0.266, 1.03], [0.158, 0.298, 0.449], [0.174, 0.321, 0.513], [0.180, 0.395, 0.703]];

/// Returns the column of a dataset in the paper's tables.
pub(crate) fn column(dataset: &str) -> Option<usize> {
    DATASETS.iter().position(|&name| name == dataset)
}

/// Returns the four printed statistics of one contender on one dataset.
pub(crate) fn errors(contender: Contender, dataset: &str) -> Option<[f64; 4]> {
    let (_, table) = ERRORS.iter().find(|(printed, _)| *printed == contender)?;
    let column = column(dataset)?;
    Some([0, 1, 2, 3].map(|statistic| table[statistic][column]))
}

/// Lists the mean errors of these contenders by dataset.
pub(crate) fn means(contenders: &[Contender]) -> String {
    let of = |&contender: &Contender| {
        let means = DATASETS
            .iter()
            .filter_map(|dataset| Some(format!("{dataset} {}", errors(contender, dataset)?[0])));
        format!("{}: {}", contender.title(), means.collect::<Vec<_>>().join(", "))
    };
    format!("means of {}", contenders.iter().map(of).collect::<Vec<_>>().join("; "))
}

/// Returns the range of the entries of table 2 with m < 2^n.
pub(crate) fn ratios() -> String {
    let open = || RATIOS.iter().flatten().copied().filter(|&ratio| ratio != 1.0);
    format!("{} to {}", open().fold(f64::INFINITY, f64::min), open().fold(0.0, f64::max))
}

/// Lists the third quartiles in table 3.
pub(crate) fn third_quartiles_of_gamma() -> String {
    let thirds = DATASETS.iter().zip(GAMMA).map(|(dataset, quartiles)| format!("{dataset} {}", quartiles[2]));
    thirds.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_of_table_2_is_the_printed_one() {
        let open: Vec<f64> = RATIOS.iter().flatten().copied().filter(|&ratio| ratio != 1.0).collect();
        let average = open.iter().sum::<f64>() / open.len() as f64;
        // The printed, rounded entries give 0.50262.
        assert!((average - AVERAGE_RATIO).abs() < 1e-3, "{average}");
    }

    #[test]
    fn quartiles_ascend() {
        for (contender, [_, first, second, third]) in ERRORS {
            for dataset in 0..8 {
                assert!(
                    first[dataset] <= second[dataset] && second[dataset] <= third[dataset],
                    "{contender:?}"
                );
            }
        }
    }
}
