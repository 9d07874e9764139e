//! The style of each method, which is the same in the figures of all papers.

use super::{Colour, Marker, Style, palette};

macro_rules! looks {
    ($($(#[$doc:meta])* $name:ident: $colour:ident, $marker:ident;)*) => {
        $(
            $(#[$doc])*
            pub(crate) const $name: Style = look(palette::$colour, Marker::$marker);
        )*

        /// All styles, with their names.
        #[cfg(test)]
        const ALL: &[(&str, Style)] = &[$((stringify!($name), $name)),*];
    };
}

const fn look(colour: Colour, marker: Marker) -> Style {
    Style { colour, marker: Some(marker) }
}

// All styles differ. Styles that occur in the same figure also differ in colour, since bands and dashes have
// no marker.
looks! {
    LEVERAGE_SHAP: GREEN, Circle;
    LEVERAGE_SHAP_DETERMINISTIC: GREY, Circle;
    LEVERAGE_SHAP_UNPAIRED: SKY, Diamond;
    LEVERAGE_SHAP_UNPAIRED_DISTINCT: YELLOW, Diamond;
    LEVERAGE_SHAP_WITH_REPLACEMENT: VERMILION, Diamond;
    KERNEL_SHAP: ORANGE, Square;
    KERNEL_SHAP_PAIRED: PURPLE, Square;
    OPTIMIZED_KERNEL_SHAP: BLUE, Triangle;
    PERMUTATION_SHAP: BLACK, Cross;
    PERMUTATION_SHAP_WHOLE_BUDGET: BLACK, Diamond;
    /// Leverage SHAP with background rows, shown next to regressions with one baseline.
    LEVERAGE_SHAP_ON_ROWS: SKY, Cross;
    /// Optimized Kernel SHAP with background rows, shown next to regressions with one baseline.
    OPTIMIZED_KERNEL_SHAP_ON_ROWS: BLACK, Circle;
    KERNEL_BANZHAF: VERMILION, Circle;
    KERNEL_BANZHAF_UNPAIRED: SKY, Square;
    KERNEL_BANZHAF_WITHOUT_REPLACEMENT: PURPLE, Triangle;
    MAXIMUM_SAMPLE_REUSE: ORANGE, Triangle;
    /// Monte Carlo estimates of marginal contributions, sampled separately for each player.
    MONTE_CARLO: BLACK, Square;
    /// Same as `MONTE_CARLO`, with twice the evaluations.
    MONTE_CARLO_TWICE: GREY, Diamond;
    /// Estimators that use independent permutations: optimized Monte Carlo, SampleShapley.
    RANDOM_ORDERS: BLUE, Circle;
    /// Estimators that use permutations and their reverses.
    ANTITHETIC_ORDERS: SKY, Circle;
    GRADIENT_CONSTANT: VERMILION, Triangle;
    GRADIENT_CONSTANT_LAST: PURPLE, Cross;
    GRADIENT_SQUARE_ROOT: ORANGE, Diamond;
    GRADIENT_INVERSE: GREEN, Triangle;
    DEFAULT_GRADIENT: PURPLE, Diamond;
    L_SHAPLEY: PURPLE, Circle;
    L_SHAPLEY_PRESENT: GREY, Square;
    C_SHAPLEY: VERMILION, Square;
    C_SHAPLEY_EXACT: SKY, Triangle;
    C_SHAPLEY_EQUAL: PURPLE, Wedge;
    C_SHAPLEY_TAKEN_AWAY: BLACK, Wedge;
    C_SHAPLEY_PRESENT: SKY, Wedge;
    EQUATION_SIX_PRESENT: YELLOW, Square;
    LIME: BLACK, Triangle;
    SALIENCY: GREY, Cross;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_methods_look_alike() {
        for (at, (name, look)) in ALL.iter().enumerate() {
            for (other, taken) in &ALL[..at] {
                assert_ne!(look, taken, "{name} and {other}");
            }
        }
    }
}
