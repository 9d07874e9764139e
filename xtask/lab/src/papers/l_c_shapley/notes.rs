//! Notes in reports on comparisons of methods.

use super::subject::AvailableSubjects;
use crate::reproduce::report::notes;

/// Returns the notes in reports on comparisons of methods.
pub(super) fn notes(found: &AvailableSubjects) -> Vec<String> {
    let mut notes = notes![
        "explained quantity: v(S) = log P(ŷ | x_S), where ŷ is the class predicted from the whole sample; \
         absent words are replaced by padding, absent pixels by the mean of the dataset's pixels",
        "all methods may use 4d evaluations, where d is the number of players of the sample, including v(∅) \
         and v(N); the table shows how many each used. L-Shapley of order 1 and the regression C-Shapley \
         require this many; repeated coalitions are evaluated once",
        "C-Shapley is the regression of section 4.3.2 with the weights as printed, on all n-grams up to 4 or \
         squares up to 4 × 4; C-Shapley, order 1, exact: equation 6 with true boundaries, without regression",
        "other players absent: v(T) as in the definitions, with T within the neighbourhood, as printed. \
         Other players present (present*): v(T ∪ (N \\ N_k(i))), as in the authors' released code. This code \
         supports texts only: L-Shapley, and C-Shapley by equation 6 as printed; it treats the last and the \
         first word as neighbours, which is not done here. No code was released for images: the regression \
         with other players present, F_S = v(N) − v(N \\ S), is our reading",
        "KernelSHAP: as first published, without pairing, with coalitions drawn with replacement; \
         SampleShapley: independent complete permutations, with d − 1 evaluations each in addition to v(∅) \
         and v(N)",
        "our: a network trained by this project (cargo xtask train); as given: a network from the data \
         directory",
        "players are ranked by descending score; ties keep their order. With a star: not in the paper",
    ];
    notes.extend(found.skipped.iter().cloned());
    notes
}
