//! Chains of coalitions that grow element by element, and the contribution of every element.

/// A chain of coalitions from a first to a last one. The elements between them are added one by one, in order
/// and, if antithetic, also in reverse order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    /// The number of elements L.
    pub(crate) length: usize,
    pub(crate) antithetic: bool,
}

impl Chain {
    /// Returns the number of coalitions strictly between the first and the last one: L − 1 per order.
    pub(crate) fn rows(self) -> usize {
        self.length.saturating_sub(1) * if self.antithetic { 2 } else { 1 }
    }

    /// Calls `push` with each coalition strictly between the empty coalition and `full`: the first l elements
    /// and, if antithetic, all other elements, which are the first L − l elements of the reverse order.
    /// `flip` toggles the bits of an element.
    pub(crate) fn coalitions(
        self,
        full: &[u64],
        flip: impl Fn(usize, &mut [u64]),
        mut push: impl FnMut(&[u64]),
    ) {
        let (mut first, mut rest) = (vec![0; full.len()], full.to_vec());
        for element in 0..self.length.saturating_sub(1) {
            flip(element, &mut first);
            push(&first);
            if self.antithetic {
                flip(element, &mut rest);
                push(&rest);
            }
        }
    }

    /// Calls `add` with the contribution of each element to each output; if antithetic, contributions are
    /// averaged over both orders.
    ///
    /// `between` contains the values of the coalitions of [`coalitions`](Self::coalitions), k numbers each;
    /// `start` and `end` are the values of the first and the last coalition.
    pub(crate) fn contributions(
        self,
        start: &[f64],
        end: &[f64],
        between: &[f64],
        mut add: impl FnMut(usize, usize, f64),
    ) {
        let outputs = start.len();
        let stride = if self.antithetic { 2 * outputs } else { outputs };
        for output in 0..outputs {
            let (mut before, mut with) = (start[output], end[output]);
            for element in 0..self.length {
                let is_last = element + 1 == self.length;
                let at = element * stride + output;
                let after = if is_last { end[output] } else { between[at] };
                if self.antithetic {
                    let without = if is_last { start[output] } else { between[at + outputs] };
                    add(element, output, 0.5 * ((after - before) + (with - without)));
                    with = without;
                } else {
                    add(element, output, after - before);
                }
                before = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_add_the_difference_of_neighbouring_coalitions_in_both_orders() {
        // The value of a coalition is the square of the number that its bits form. Bits 0, 2 and 5 are added
        // in that order.
        let worth = |words: &[u64]| (words[0] as f64).powi(2);
        for (antithetic, expected) in [(false, [1.0, 24.0, 1344.0]), (true, [37.0, 148.0, 1184.0])] {
            let chain = Chain { length: 3, antithetic };
            let (bits, mut between) = ([0, 2, 5], Vec::new());
            chain.coalitions(
                &[37],
                |element, words| words[0] ^= 1 << bits[element],
                |words| between.push(worth(words)),
            );
            assert_eq!(between.len(), chain.rows());
            let mut added = [0.0; 3];
            chain.contributions(&[0.0], &[worth(&[37])], &between, |element, _, value| {
                added[element] += value
            });
            assert_eq!(added, expected);
        }
    }

    #[test]
    fn one_element_adds_all_there_is() {
        for antithetic in [false, true] {
            let chain = Chain { length: 1, antithetic };
            chain.coalitions(&[1], |_, _| unreachable!(), |_| unreachable!());
            let mut added = Vec::new();
            chain
                .contributions(&[1.0, 2.0], &[4.0, 8.0], &[], |_, output, value| added.push((output, value)));
            assert_eq!((chain.rows(), added), (0, vec![(0, 3.0), (1, 6.0)]));
        }
    }
}
