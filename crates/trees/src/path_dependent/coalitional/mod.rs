//! Coalitional values of features in groups: one semivalue between the groups, one within them.
//!
//! # Derivation
//!
//! For a feature i in group g, every other group is present as a whole with probability q, and every other
//! member of g is present independently with probability r. A coalitional value averages over q and over r.
//! On one leaf of value v, let h (for a feature) and H (for a group) be 1 if the row passes all tests on it,
//! and 0 otherwise. Let c and C be the products of the shares of these tests. Then
//!
//! ```text
//! φ_i = v · (h_i − c_i) V_i · W_g,
//! W_g = mean over q of Π_{g' ≠ g} (q H_{g'} + (1 − q) C_{g'}),
//! V_i = mean over r of Π_{j ∈ g, j ≠ i} (r h_j + (1 − r) c_j):
//! ```
//!
//! the double integral is a product of two single integrals. On a leaf, the number of factors of W_g is the
//! number of groups on the path minus one, and the number of factors of V_i is the number of members of g on
//! the path minus one. Therefore Gauss rules with half as many nodes are exact.
//!
//! Leaves need not be visited one by one, and no division is needed. *Between* the groups, the walk is the
//! same as in [the quotient game](super), whose players are the groups. At a split on group g, it goes to a
//! child with the conditional probability
//!
//! ```text
//! F_child = (1 − s) κ_child + s [x goes to the child],     s = q / (q + C (1 − q)) or 0,
//! T(leaf) = v,     T(split) = Σ_children F_child T_child.
//! ```
//!
//! The walk keeps P, the probability to reach a node. For each group g that has been tested above and is
//! tested again below, it also keeps P₋ᵍ, the probability without the factor of g. P₋ᵍ equals P at the first
//! split on g, is multiplied by F at splits on other groups, and is unchanged by splits on g. Below a child
//! where g is no longer tested, all leaves have the same factor of g. Without this factor, the sum of their
//! values, weighted by the probability to reach them, is
//!
//! ```text
//! X = Σ_q weight_q P₋ᵍ(child) T(child).
//! ```
//!
//! Therefore, for the members of g, the tree consists of the splits on g alone. In place of leaf values,
//! X(side) is the sum of X over all such children that are reached from a side of a split without another
//! split on g. *Within* the group, the values are again values of a path-dependent game, computed by the same
//! recursion with nodes r: at a split on feature i, with s and ds/dr of i, and P^g the probability to reach
//! the split over the splits on g,
//!
//! ```text
//! Y(side) = X(side) + Σ_{next splits on g} Z(split),     A = κ_l Y_l + κ_r Y_r,     Δ = Y(side of x) − A,
//! Z(split) = A + s Δ,     φ_i += Σ_r weight_r P^g ds/dr Δ.
//! ```
//!
//! # Cost
//!
//! In addition to the cost of the quotient game, there is one multiplication per node q at each child for
//! every group that was tested above, whether or not it is tested again below. Each split takes one step
//! within its group.

mod by_size;
mod kernel;
mod program;

pub(super) use self::by_size::BySize;
pub(super) use self::kernel::MemberKernel;
pub(super) use self::program::Program;
