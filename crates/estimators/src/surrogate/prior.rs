//! Priors on the Walsh spectrum of a game: variances for products of players.
//!
//! ```text
//! v(S) = Σ_T β_T χ_T(S),    β_T ~ N(0, τ_T²) independently,    Cov(v(S), v(S')) = Σ_T τ_T² χ_T(S) χ_T(S')
//! ```
//!
//! A prior is a list of products with their variances, plus *smooth* parts. A smooth part contains all
//! products of q players, with a variance that is a product over the players, `τ_T² = c Π_{i ∈ T} ρ_i`. Its
//! covariance is an elementary symmetric polynomial of the numbers `ρ_i x_i x'_i`, which Newton's identities
//! compute from power sums, without enumerating products.

use apportion_games::{Cancellation, CoalitionView};
use apportion_solvers::add_cross_products;
use hashbrown::HashMap;

use super::product::Product;

/// A smooth part: all products of `order` players, with variances `scale Π ρ_i`.
#[derive(Debug, Clone)]
pub(crate) struct Smooth {
    pub(crate) order: usize,
    pub(crate) scale: f64,
    pub(crate) relevance: Vec<f64>,
}

/// A prior on the coefficients of products of several players.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prior {
    /// Individual products and their variances.
    pub(crate) terms: Vec<(Product, f64)>,
    pub(crate) smooth: Vec<Smooth>,
}

/// Coalitions as rows of signs: x_i = +1 for members, otherwise −1.
#[derive(Debug, Clone)]
pub(crate) struct Signs {
    pub(crate) players: usize,
    pub(crate) rows: usize,
    pub(crate) entries: Vec<f64>,
    /// The same signs, players × rows, for products of players.
    by_player: Vec<f64>,
}

impl Signs {
    pub(crate) fn new<'a>(players: usize, coalitions: impl Iterator<Item = CoalitionView<'a>>) -> Self {
        let mut entries = Vec::new();
        let mut rows = 0;
        for coalition in coalitions {
            Cancellation::check();
            let start = entries.len();
            entries.resize(start + players, -1.0);
            coalition.members().for_each(|player| entries[start + player] = 1.0);
            rows += 1;
        }
        Self::from_entries(players, rows, entries)
    }

    fn from_entries(players: usize, rows: usize, entries: Vec<f64>) -> Self {
        let by_player =
            (0..players).flat_map(|player| entries.iter().skip(player).step_by(players).copied()).collect();
        Self { players, rows, entries, by_player }
    }

    /// Returns a single row: the coalition of all players.
    pub(crate) fn of_all_players(players: usize) -> Self {
        Self::from_entries(players, 1, vec![1.0; players])
    }

    /// Appends the rows of `other`.
    pub(crate) fn append(&mut self, other: Self) {
        self.entries.extend(other.entries);
        *self = Self::from_entries(self.players, self.rows + other.rows, std::mem::take(&mut self.entries));
    }

    /// Returns a copy that contains only the given rows.
    pub(crate) fn some(&self, rows: &[usize]) -> Self {
        let entries = rows.iter().flat_map(|&row| self.row(row).iter().copied()).collect();
        Self::from_entries(self.players, rows.len(), entries)
    }

    pub(crate) fn row(&self, index: usize) -> &[f64] {
        &self.entries[index * self.players..][..self.players]
    }

    /// Appends `factor · χ_T`, where χ_T is the product of signs, for each row.
    pub(crate) fn push_product(&self, product: &Product, factor: f64, out: &mut Vec<f64>) {
        Cancellation::check();
        let start = out.len();
        out.resize(start + self.rows, factor);
        let out = &mut out[start..];
        for player in product.players() {
            let signs = &self.by_player[player * self.rows..][..self.rows];
            out.iter_mut().zip(signs).for_each(|(out, sign)| *out *= sign);
        }
    }

    /// Returns the product of signs χ_T for each row.
    pub(crate) fn product(&self, product: &Product) -> Vec<f64> {
        let mut signs = Vec::with_capacity(self.rows);
        self.push_product(product, 1.0, &mut signs);
        signs
    }
}

/// Computes the elementary symmetric polynomials e_0..e_q from the power sums p_1..p_q.
fn elementary(sums: &[f64], out: &mut [f64]) {
    out[0] = 1.0;
    for q in 1..out.len() {
        let mut sum = 0.0;
        let mut sign = 1.0;
        for r in 1..=q {
            sum += sign * out[q - r] * sums[r - 1];
            sign = -sign;
        }
        out[q] = sum / q as f64;
    }
}

impl Smooth {
    /// Returns the power sums: Σ_i ρ_i^r for even r, and Σ_i ρ_i^r s_i for odd r, where s are the signs.
    fn sums(&self, signs: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
        Cancellation::check();
        (1..=self.order)
            .map(|r| {
                let power = self.relevance.iter().map(|rho| rho.powi(r as i32));
                if r % 2 == 0 { power.sum() } else { power.zip(signs.clone()).map(|(a, b)| a * b).sum() }
            })
            .collect()
    }

    /// Returns the covariances for the sums of signs −n, −n + 2, …, n. Returns `None` if they do not only
    /// depend on this sum, i.e. unless all players have the relevance 1.
    fn by_sum_of_signs(&self) -> Option<Vec<f64>> {
        let n = self.relevance.len();
        let mut e = vec![0.0; self.order + 1];
        let mut of_positive = |positive: usize| {
            let sum = 2.0 * positive as f64 - n as f64;
            let sums: Vec<f64> = (1..=self.order).map(|r| if r % 2 == 0 { n as f64 } else { sum }).collect();
            elementary(&sums, &mut e);
            self.scale * e[self.order]
        };
        let is_uniform = self.relevance.iter().all(|relevance| *relevance == 1.0);
        is_uniform.then(|| (0..=n).map(&mut of_positive).collect())
    }

    /// Adds the covariances of each row with the coalition of all players.
    fn add_with_all(&self, rows: &Signs, out: &mut [f64]) {
        let by_sum = self.by_sum_of_signs();
        for (row, sum) in out.iter_mut().enumerate() {
            let signs = rows.row(row).iter().copied();
            *sum += match &by_sum {
                Some(by_sum) => by_sum[signs.filter(|sign| *sign > 0.0).count()],
                None => self.covariance(signs),
            };
        }
    }

    fn covariance(&self, signs: impl Iterator<Item = f64> + Clone) -> f64 {
        let mut e = vec![0.0; self.order + 1];
        elementary(&self.sums(signs), &mut e);
        self.scale * e[self.order]
    }

    /// Returns `Σ_{T ∋ i} τ_T² χ_T(S)` for each player i.
    fn with_each(&self, signs: &[f64]) -> Vec<f64> {
        let sums = self.sums(signs.iter().copied());
        let mut e = vec![0.0; self.order];
        self.relevance
            .iter()
            .zip(signs)
            .map(|(rho, sign)| {
                let own = rho * sign;
                let mut power = 1.0;
                let rest: Vec<f64> = sums
                    .iter()
                    .map(|sum| {
                        power *= own;
                        sum - power
                    })
                    .collect();
                elementary(&rest[..self.order - 1], &mut e);
                self.scale * own * e[self.order - 1]
            })
            .collect()
    }
}

impl Prior {
    /// Creates a prior with equal variances for all products of `order` of the `players`, and total
    /// variance 1. Requires `players ≥ order`.
    pub(crate) fn all_alike(order: usize, players: usize) -> Self {
        Self { terms: Vec::new(), smooth: vec![Smooth::of_variance(order, 1.0, vec![1.0; players])] }
    }

    /// Returns whether the prior contains no products.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.smooth.is_empty()
    }

    /// Returns the covariances between two sets of rows, row-major.
    pub(crate) fn cross(&self, left: &Signs, right: &Signs) -> Vec<f64> {
        let mut gram = vec![0.0; left.rows * right.rows];
        let columns = |rows: &Signs| -> Vec<f64> {
            let mut columns = Vec::with_capacity(self.terms.len() * rows.rows);
            for (product, variance) in &self.terms {
                rows.push_product(product, variance.sqrt(), &mut columns);
            }
            columns
        };
        let of_left = columns(left);
        let of_right = if std::ptr::eq(left, right) { None } else { Some(columns(right)) };
        let of_right = of_right.as_ref().unwrap_or(&of_left);
        add_cross_products(&of_left, of_right, (left.rows, right.rows), &mut gram);
        for smooth in &self.smooth {
            smooth.add_cross(left, right, &mut gram);
        }
        gram
    }

    /// Returns the covariances of each row with the coalition of all players.
    pub(crate) fn with_all(&self, rows: &Signs) -> Vec<f64> {
        let (mut sums, mut of_term) = (vec![0.0; rows.rows], Vec::with_capacity(rows.rows));
        for (product, variance) in &self.terms {
            of_term.clear();
            rows.push_product(product, *variance, &mut of_term);
            sums.iter_mut().zip(&of_term).for_each(|(sum, of_term)| *sum += of_term);
        }
        let mut of_smooth = vec![0.0; rows.rows];
        self.smooth.iter().for_each(|smooth| smooth.add_with_all(rows, &mut of_smooth));
        sums.iter_mut().zip(of_smooth).for_each(|(sum, of_smooth)| *sum += of_smooth);
        sums
    }

    /// Returns the variance of v(N), which equals the variance of the value of every coalition.
    pub(crate) fn variance(&self) -> f64 {
        let of_smooth = |smooth: &Smooth| smooth.covariance(smooth.relevance.iter().map(|_| 1.0));
        self.terms.iter().map(|(_, variance)| variance).sum::<f64>()
            + self.smooth.iter().map(of_smooth).sum::<f64>()
    }

    /// Returns `Σ_{T ∋ i} weight(|T|) τ_T² χ_T(S)` for each player i and row S, players × rows.
    pub(crate) fn with_each(&self, rows: &Signs, weight: impl Fn(usize) -> f64) -> Vec<f64> {
        let (n, m) = (rows.players, rows.rows);
        let mut out = vec![0.0; n * m];
        for (product, variance) in &self.terms {
            let factor = weight(product.len()) * variance;
            if factor == 0.0 {
                continue;
            }
            let signs = rows.product(product);
            for player in product.players() {
                let row = &mut out[player * m..][..m];
                row.iter_mut().zip(&signs).for_each(|(sum, sign)| *sum += factor * sign);
            }
        }
        for smooth in &self.smooth {
            let factor = weight(smooth.order);
            if factor == 0.0 {
                continue;
            }
            for row in 0..m {
                for (player, sum) in smooth.with_each(rows.row(row)).into_iter().enumerate() {
                    out[player * m + row] += factor * sum;
                }
            }
        }
        out
    }
}

impl Prior {
    /// Returns `Σ_{T ⊇ {i, j}} weight(|T|) τ_T² χ_T(S)` for each of the given pairs of players and each row
    /// S, pairs × rows.
    pub(crate) fn with_pairs(
        &self,
        rows: &Signs,
        pairs: &[(usize, usize)],
        weight: impl Fn(usize) -> f64,
    ) -> Vec<f64> {
        let m = rows.rows;
        let mut out = vec![0.0; pairs.len() * m];
        let places: HashMap<(usize, usize), usize> =
            pairs.iter().enumerate().map(|(place, &pair)| (pair, place)).collect();
        for (product, variance) in &self.terms {
            let factor = if product.len() < 2 { 0.0 } else { weight(product.len()) * variance };
            if factor == 0.0 {
                continue;
            }
            let wanted: Vec<usize> = product
                .players()
                .flat_map(|i| product.players().filter(move |&j| j > i).map(move |j| (i, j)))
                .filter_map(|pair| places.get(&pair).copied())
                .collect();
            if wanted.is_empty() {
                continue;
            }
            let signs = rows.product(product);
            for place in wanted {
                let row = &mut out[place * m..][..m];
                row.iter_mut().zip(&signs).for_each(|(sum, sign)| *sum += factor * sign);
            }
        }
        for smooth in self.smooth.iter().filter(|smooth| smooth.order >= 2) {
            let factor = weight(smooth.order);
            if factor != 0.0 {
                smooth.add_with_pairs(rows, pairs, factor, &mut out);
            }
        }
        out
    }
}

impl Smooth {
    /// Adds `factor Σ_{T ⊇ {i, j}} τ_T² χ_T(S)`, pairs × rows.
    fn add_with_pairs(&self, rows: &Signs, pairs: &[(usize, usize)], factor: f64, out: &mut [f64]) {
        let m = rows.rows;
        let mut e = vec![0.0; self.order - 1];
        let mut rest = vec![0.0; self.order - 2];
        for row in 0..m {
            let signs = rows.row(row);
            let sums = self.sums(signs.iter().copied());
            for (place, &(i, j)) in pairs.iter().enumerate() {
                let own = (self.relevance[i] * signs[i], self.relevance[j] * signs[j]);
                let mut powers = (1.0, 1.0);
                for (rest, sum) in rest.iter_mut().zip(&sums) {
                    powers = (powers.0 * own.0, powers.1 * own.1);
                    *rest = sum - powers.0 - powers.1;
                }
                elementary(&rest, &mut e);
                out[place * m + row] += factor * self.scale * own.0 * own.1 * e[self.order - 2];
            }
        }
    }

    /// Creates a part with all products of `order` players, whose variances sum to `variance`. There must be
    /// at least `order` players.
    pub(crate) fn of_variance(order: usize, variance: f64, relevance: Vec<f64>) -> Self {
        let mut smooth = Self { order, scale: 1.0, relevance };
        let sum = smooth.covariance(smooth.relevance.iter().map(|_| 1.0));
        smooth.scale = variance / sum;
        smooth
    }

    fn add_cross(&self, left: &Signs, right: &Signs, gram: &mut [f64]) {
        if let Some(by_sum) = self.by_sum_of_signs() {
            let mut sums = vec![0.0; left.rows * right.rows];
            let rows = (left.rows, right.rows);
            add_cross_products(&left.by_player, &right.by_player, rows, &mut sums);
            let n = left.players as f64;
            gram.iter_mut().zip(sums).for_each(|(entry, sum)| *entry += by_sum[((sum + n) / 2.0) as usize]);
            return;
        }
        // Power sums of odd order are weighted inner products of signs. Power sums of even order are the same
        // for all pairs of rows.
        let power = |r: usize| self.relevance.iter().map(move |rho| rho.powi(r as i32));
        let odd: Vec<usize> = (1..=self.order).step_by(2).collect();
        let of_odd: Vec<Vec<f64>> = odd
            .iter()
            .map(|&r| {
                let roots: Vec<f64> = power(r).map(f64::sqrt).collect();
                let columns = |rows: &Signs| -> Vec<f64> {
                    let of_players = rows.by_player.chunks_exact(rows.rows.max(1)).zip(&roots);
                    of_players.flat_map(|(signs, root)| signs.iter().map(move |sign| root * sign)).collect()
                };
                let mut sums = vec![0.0; left.rows * right.rows];
                add_cross_products(&columns(left), &columns(right), (left.rows, right.rows), &mut sums);
                sums
            })
            .collect();
        let mut sums: Vec<f64> =
            (1..=self.order).map(|r| if r % 2 == 0 { power(r).sum() } else { 0.0 }).collect();
        let mut e = vec![0.0; self.order + 1];
        for (at, entry) in gram.iter_mut().enumerate() {
            if at % right.rows == 0 {
                Cancellation::check();
            }
            for (of_odd, &r) in of_odd.iter().zip(&odd) {
                sums[r - 1] = of_odd[at];
            }
            elementary(&sums, &mut e);
            *entry += self.scale * e[self.order];
        }
    }
}

/// Adds `factor · Σ_i x_i x'_i` to `gram`, for two sets of rows.
pub(crate) fn add_products(left: &Signs, right: &Signs, factor: f64, gram: &mut [f64]) {
    for (i, row) in gram.chunks_exact_mut(right.rows.max(1)).enumerate() {
        Cancellation::check();
        for (j, entry) in row.iter_mut().enumerate() {
            let inner: f64 = left.row(i).iter().zip(right.row(j)).map(|(a, b)| a * b).sum();
            *entry += factor * inner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion_games::Coalitions;

    fn signs(players: usize) -> Signs {
        let mut coalitions = Coalitions::new(players);
        for seed in 0..7usize {
            coalitions
                .push_members((0..players).filter(|player| (player * 7 + seed * 3 + player * seed) % 5 < 2));
        }
        Signs::new(players, coalitions.iter())
    }

    /// Lists all products of a smooth part with their variances.
    fn written_out(smooth: &Smooth) -> Vec<(Product, f64)> {
        let n = smooth.relevance.len();
        (0u32..1 << n)
            .filter(|mask| mask.count_ones() as usize == smooth.order)
            .map(|mask| {
                let members = (0..n).filter(|player| mask >> player & 1 == 1);
                let variance: f64 = members.clone().map(|player| smooth.relevance[player]).product();
                (Product::from_players(members), smooth.scale * variance)
            })
            .collect()
    }

    fn assert_close(got: &[f64], want: &[f64]) {
        let scale = want.iter().fold(1e-3, |most: f64, want| most.max(want.abs()));
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-10 * scale, "{got} {want}");
        }
    }

    #[test]
    fn smooth_parts_are_all_of_their_products() {
        let of_each: [fn(usize) -> f64; 2] = [|player| 0.3 + 0.2 * player as f64, |_| 1.0];
        for (players, of_player) in [3, 4, 7, 11].into_iter().flat_map(|n| of_each.map(|of| (n, of))) {
            for order in (1..=5).filter(|&order| order <= players) {
                let relevance = (0..players).map(of_player).collect();
                let smooth = Smooth::of_variance(order, 2.5, relevance);
                let terms = written_out(&smooth);
                let fast = Prior { terms: Vec::new(), smooth: vec![smooth] };
                let slow = Prior { terms, smooth: Vec::new() };
                let rows = signs(players);
                let some = rows.some(&[0, 3, 5]);
                assert!((fast.variance() - 2.5).abs() < 1e-12);
                assert!((slow.variance() - 2.5).abs() < 1e-12);
                assert_close(&fast.cross(&some, &rows), &slow.cross(&some, &rows));
                assert_close(&fast.with_all(&rows), &slow.with_all(&rows));
                let weight = |order: usize| 2.0 / order as f64;
                assert_close(&fast.with_each(&rows, weight), &slow.with_each(&rows, weight));
                let pairs = [(0, 1), (1, 2), (0, players - 1)];
                assert_close(
                    &fast.with_pairs(&rows, &pairs, weight),
                    &slow.with_pairs(&rows, &pairs, weight),
                );
            }
        }
    }

    #[test]
    fn covariances_are_sums_over_products() {
        let rows = signs(6);
        let terms = vec![
            (Product::from_players([0, 2, 5]), 0.5),
            (Product::from_players([1]), 2.0),
            (Product::EMPTY, 0.25),
        ];
        let prior = Prior { terms: terms.clone(), smooth: Vec::new() };
        let sign =
            |product: &Product, row: usize| product.players().map(|i| rows.row(row)[i]).product::<f64>();
        let cross = prior.cross(&rows, &rows);
        for (at, got) in cross.iter().enumerate() {
            let (left, right) = (at / rows.rows, at % rows.rows);
            let want: f64 = terms.iter().map(|(t, v)| v * sign(t, left) * sign(t, right)).sum();
            assert!((got - want).abs() < 1e-12);
        }
    }
}
