//! Interactions: the joint effect of the players of a coalition beyond their separate effects.
//!
//! # Notation
//!
//! `n` is the number of players; `k = |K|` for the coalition K of an interaction; `s` is the *order*, the
//! largest k. `m(R)` is the Möbius transform of the game, `v(S) = Σ_{R⊆S} m(R)`. `Δ_K v(S) = Σ_{L⊆K}
//! (−1)^{k−|L|} v(S ∪ L)` is the discrete derivative, for S without members of K. For a single player it is
//! the marginal contribution, for a pair the second difference.
//!
//! # Common form
//!
//! Every index here is a weighted sum of derivatives, with weights that depend on sizes only. The weights are
//! determined by numbers `M_k(a, b)`, the total weight of the coalitions that contain `a` given players and
//! exclude `b` given others:
//!
//! ```text
//! I(K) = Σ_{S⊆N∖K} M_k(|S|, n−k−|S|) Δ_K v(S)  =  Σ_{R⊇K} M_k(r−k, 0) m(R),
//! M_k(a, b) = M_k(a+1, b) + M_k(a, b+1)
//! ```
//!
//! These numbers define a functional L_k of polynomials by `M_k(a, b) = L_k(t^a (1 − t)^b)`. For most
//! indices, they are the moments of a probability measure on \[0, 1\], the [mixing
//! measure](crate::Semivalue). Some indices are best approximations of order s (the faithful ones) or
//! corrected to sum to v(N) (k-Shapley). For these, L_k(f) is f(0) for all f of degree up to s − k, so that
//! I(K) = m(K) in a game whose Möbius coefficients of more than s players are zero.
//!
//! | index | `M_k(r−k, 0)`, the weight of m(R) | L_k | depends on the order | sums to v(N) − v(∅) |
//! |---|---|---|---|---|
//! | `shapley` | 1 / (r−k+1) | uniform on \[0, 1\] | | |
//! | `banzhaf` | 2^−(r−k) | at ½ | | |
//! | any other semivalue | M(r−k, 0) | its mixing measure | | |
//! | `chaining` | k / r | Beta(k, 1) | | |
//! | `moebius` | 1 for R = K | at 0 | | at s = n |
//! | `co-moebius` | 1 | at 1 | | |
//! | `walsh` | 2^−r | 2^−k at ½ | | |
//! | `shapley-taylor` | k < s: 1 for R = K; k = s: 1 / C(r, s) | at 0; Beta(1, s) | yes | yes |
//! | `k-shapley` | Σ_j C(r−k, j) B_j / (r−k−j+1), j ≤ s−k | Σ_j B_j ∫ f^(j)/j! | yes | yes |
//! | `faithful-shapley` | r > s: (−1)^{s−k} k/(k+s) C(s,k) C(r−1,s) / C(r+s−1,s+k) | Σ_i (−1)^{s−k−i} k C(s,k) C(s−k,i)/(s−i) Beta(s−i, k+i) | yes | yes |
//! | `faithful-banzhaf` | r > s: (−1)^{s−k} C(r−k−1, s−k) 2^−(r−k) | Σ_j (−½)^j f^(j)(½)/j! | yes | |
//! | `k-additive-shapley` | | faithful Shapley, then Shapley | yes | |
//!
//! (B_j are Bernoulli numbers, B_1 = −½. The moments of Beta(x, y) are ∫ t^a (1−t)^b dBeta = B(x+a, y+b)/B(x,
//! y).)
//!
//! *Generalized values* treat K as a single player: `G(K) = Σ_{S⊆N∖K} M_k(|S|, n−k−|S|) [v(S ∪ K) − v(S)]`.
//! They use the same numbers M_k; the weight of m(R) is `M_k(|R∖K|, 0)` for every R that intersects K. Their
//! names are `generalized-shapley`, `generalized-banzhaf` and so on for every semivalue,
//! `generalized-chaining`, `generalized-internal` (v(K) − v(∅)), and `generalized-external` (v(N) − v(N∖K)).
//! `joint-shapley` uses the unique weights for which the values of all coalitions up to order s sum to
//! v(N) − v(∅).
//!
//! # Names in other libraries
//!
//! | other library | name here |
//! |---|---|
//! | shapiq `SII`, `BII`, `CHII`, `k-SII`, `STII`, `FSII`, `FBII`, `kADD-SHAP`, `Moebius`, `Co-Moebius` | `shapley`, `banzhaf`, `chaining`, `k-shapley`, `shapley-taylor`, `faithful-shapley`, `faithful-banzhaf`, `k-additive-shapley`, `moebius`, `co-moebius`; each coalition has one entry with its full index |
//! | shapiq `SGV`, `BGV`, `CHGV`, `IGV`, `EGV`, `JointSV` | `generalized-shapley`, `-banzhaf`, `-chaining`, `-internal`, `-external`, `joint-shapley` |
//! | shapiq `Fourier` | `walsh` times (−1)^k: shapiq's characters are −1 for a member, those here are 1 |
//! | shap's tree explainer, `shap_interaction_values`; XGBoost's `pred_interactions` | `k-shapley` of order 2 as a [matrix of halves](Interactions::matrix_of_halves): half the Shapley interaction index off the diagonal, the remainder of the Shapley value on the diagonal |
//! | shap's exact explainer, `interactions=True` | `shapley-taylor` of order 2 as a [matrix of halves](Interactions::matrix_of_halves): v({i}) − v(∅) on the diagonal |
//!
//! The short names of shapiq are accepted wherever an index is parsed.
//!
//! # Sources
//!
//! Grabisch and Roubens, *An axiomatic approach to the concept of interaction among players in cooperative
//! games*, 1999 (Shapley, Banzhaf); Fujimoto, Kojadinovic and Marichal, *Axiomatic characterizations of
//! probabilistic and cardinal-probabilistic interaction indices*, 2006; Marichal and Roubens, *The chaining
//! interaction index among players in cooperative games*, 1999; Sundararajan, Dhamdhere and Agarwal, *The
//! Shapley Taylor interaction index*, 2020; Bordt and von Luxburg, *From Shapley values to generalized
//! additive models and back*, 2023 (k-Shapley); Tsai, Yeh and Ravikumar, *Faith-Shap*, 2023; Pelegrina,
//! Duarte and Grabisch, *A k-additive Choquet integral-based approach to approximate the SHAP values*, 2023;
//! Marichal, Kojadinovic and Fujimoto, *Axiomatic characterizations of generalized values*, 2007; Harris,
//! Pymar and Rowat, *Joint Shapley values*, 2022.

mod additive_terms;
mod answer;
mod binomial;
mod enumeration;
mod functional;
mod index;
mod moebius;
mod weights;

pub use additive_terms::AdditiveTerms;
pub use answer::Interactions;
pub use enumeration::{MAX_INTERACTIONS, enumerate_interactions, enumerate_interactions_many};
pub use functional::IndexIntegral;
pub use index::InteractionIndex;
pub use moebius::MoebiusTransform;
pub use weights::{IndexWeights, MAX_ORDER};
