//! The methods of this crate by name, as used on the command line and in result files.
//!
//! The [`MethodSpec`]s of a method are at the end of its source file or directory.

use crate::registry::MethodSpec;

/// Re-exports the methods of the modules as public statics, and lists them in the order in which they are
/// shown to users.
macro_rules! methods {
    ($($family:ident$(::$module:ident)?: $($name:ident)+;)+) => {
        $(pub use crate::$family$(::$module)?::{$($name),+};)+

        /// All methods, in the order in which they are shown to users.
        pub static ALL: &[&MethodSpec] = &[$($(&$name),+),+];
    };
}

methods! {
    regression::leverage_shap: LEVERAGE_SHAP LEVERAGE_SHAP_BERNOULLI LEVERAGE_SHAP_UNPAIRED
        LEVERAGE_SHAP_WITH_REPLACEMENT LEVERAGE_SHAP_UNPAIRED_BERNOULLI
        LEVERAGE_SHAP_UNPAIRED_WITH_REPLACEMENT;
    proxies::learned_spectrum: LEARNED_SPECTRUM;
    regression::kernel_shap: KERNEL_SHAP KERNEL_SHAP_PAIRED;
    regression::optimized_kernel_shap: OPTIMIZED_KERNEL_SHAP;
    sampling::permutation_shap: PERMUTATION;
    sampling::optimized_monte_carlo: OPTIMIZED_MONTE_CARLO OPTIMIZED_MONTE_CARLO_INDEPENDENT
        OPTIMIZED_MONTE_CARLO_BALANCED OPTIMIZED_MONTE_CARLO_REFERENCES
        OPTIMIZED_MONTE_CARLO_INDEPENDENT_REFERENCES
        OPTIMIZED_MONTE_CARLO_BALANCED_REFERENCES;
    projected_gradient: SGD;
    regression::kernel_banzhaf: KERNEL_BANZHAF KERNEL_BANZHAF_WITHOUT_REPLACEMENT KERNEL_BANZHAF_BERNOULLI
        KERNEL_BANZHAF_UNPAIRED KERNEL_BANZHAF_UNPAIRED_WITHOUT_REPLACEMENT KERNEL_BANZHAF_UNPAIRED_BERNOULLI
        KERNEL_BANZHAF_UNPAIRED_WITHOUT_INTERCEPT KERNEL_BANZHAF_UNPAIRED_WITHOUT_INTERCEPT_AND_REPLACEMENT
        KERNEL_BANZHAF_UNPAIRED_WITHOUT_INTERCEPT_BERNOULLI;
    sampling::monte_carlo: MONTE_CARLO MONTE_CARLO_AUTHORS;
    sampling::stratified_monte_carlo: STRATIFIED STRATIFIED_EQUAL;
    sampling::maximum_sample_reuse: MSR MSR_WITHOUT_REPLACEMENT MSR_BERNOULLI MSR_ADJUSTED
        MSR_ADJUSTED_WITH_REPLACEMENT MSR_ADJUSTED_BERNOULLI ONE_SAMPLE_FITS_ALL
        ONE_SAMPLE_FITS_ALL_WITHOUT_REPLACEMENT ONE_SAMPLE_FITS_ALL_BERNOULLI
        ONE_SAMPLE_FITS_ALL_ADJUSTED ONE_SAMPLE_FITS_ALL_ADJUSTED_WITH_REPLACEMENT
        ONE_SAMPLE_FITS_ALL_ADJUSTED_BERNOULLI;
    proxies::proxy_residual: PROXY_RESIDUAL;
    proxies::regression_msr: REGRESSION_MSR REGRESSION_MSR_CROSSED REGRESSION_MSR_LINEAR
        REGRESSION_MSR_LINEAR_CROSSED;
    proxies::odd_shap: ODD_SHAP;
    proxies::poly_shap: POLY_SHAP POLY_SHAP_3;
    proxies::proxy_shap: PROXY_SHAP PROXY_SHAP_ADJUSTED;
    in_groups::coalitional_regression: LEVERAGE;
    in_groups::product_space: PRODUCT_SPACE PRODUCT_SPACE_TRUE_MARGINAL;
    in_groups::nested_permutation: NESTED_PERMUTATION NESTED_PERMUTATION_PLAIN;
    on_graph: ON_GRAPH L_SHAPLEY_PERMUTATION L_SHAPLEY_LEVERAGE LOCAL_MONTE_CARLO L_BANZHAF_KERNEL
        C_SHAPLEY_REGRESSION;
}

/// Returns the method with the given name, or `None` if the name is unknown.
///
/// ```
/// use apportion_estimators::methods;
///
/// assert_eq!(methods::named("kernel-shap"), Some(&methods::KERNEL_SHAP));
/// assert_eq!(methods::named("kernel"), None);
/// ```
pub fn named(name: &str) -> Option<&'static MethodSpec> {
    ALL.iter().copied().find(|method| method.name() == name)
}
