//! Notes in reports on comparisons of methods.

use super::subject::Found;
use crate::reproduce::report::notes;

/// Returns the notes in reports on comparisons of methods.
pub(super) fn notes(found: &Found) -> Vec<String> {
    let mut notes = notes![
        "what is explained: v(S) = log P(ŷ | x_S), ŷ the class predicted from the whole sample; absent words \
         are padding, absent pixels the mean of the data set's pixels",
        "all methods may make 4d evaluations, d being the players of the sample, v(∅) and v(N) among them; \
         the table says what each made. L-Shapley of order 1 and the regression C-Shapley need that many by \
         themselves; repeated coalitions are evaluated once",
        "C-Shapley is the regression of section 4.3.2 with the weights as printed, on all n-grams up to 4 or \
         squares up to 4 × 4; C-Shapley, order 1, exact: equation 6 with true boundaries, without regression",
        "other players absent: the definitions' v(T) with T within the neighbourhood, as printed. Other \
         players present (present*): v(T ∪ (N \\ N_k(i))), as the authors' released code has it. That code \
         is for texts alone: L-Shapley, and C-Shapley by equation 6 as printed; it joins the last word to \
         the first, which is not done here. For images no code was released: the regression with other \
         players present, F_S = v(N) − v(N \\ S), is our reading",
        "KernelSHAP: as first published, without pairs, coalitions drawn with replacement; SampleShapley: \
         whole random orders, independent, d − 1 evaluations each after both ends",
        "our: a network of our own training (cargo xtask train); as given: one that lies in the data \
         directory",
        "players are ranked by score, the highest first, and of equal scores the earlier one first. With a \
         star: not in the paper",
    ];
    notes.extend(found.skipped.iter().cloned());
    notes
}
