//! The kernels of a machine as sums of products, with the centres in blocks.

use crate::average::{LANES, Lane};
use crate::error::KernelError;
use crate::kernel::Kernel;
use crate::machine::{KernelMachine, Term};
use crate::scale_mixture::ScaleMixture;

/// Number of blocks of centres that a thread processes at a time.
const BLOCKS_PER_CHUNK: usize = 32;

/// A block of up to [`LANES`] centres, one per lane. Lanes without a centre have coefficients of zero.
pub(crate) struct Block {
    /// The coordinates, one [`Lane`] for each feature.
    centres: Vec<Lane>,
    /// The coefficients, one [`Lane`] for each output.
    pub(crate) coefficients: Vec<Lane>,
}

/// The function that is applied to the difference in a feature, in the exponent of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Squared,
    Absolute,
}

/// A term of a machine: a kernel, as a mixture of products, with its centres.
pub(crate) struct Component {
    shape: Shape,
    gamma: Vec<f64>,
    mixture: ScaleMixture,
    blocks: Vec<Block>,
}

/// Some blocks of the centres of a component, with one term of its mixture.
pub(crate) struct Chunk<'a> {
    component: &'a Component,
    rate: f64,
    /// The weight of the term in the mixture, by which all coefficients are multiplied.
    pub(crate) weight: f64,
    pub(crate) blocks: &'a [Block],
}

impl Component {
    /// Returns one component for each term of a machine.
    ///
    /// # Errors
    ///
    /// [`KernelError::Unsupported`] for a kernel that is not a product.
    pub(crate) fn all(machine: &KernelMachine) -> Result<Vec<Self>, KernelError> {
        machine.terms.iter().map(|term| Self::new(machine, term)).collect()
    }

    fn new(machine: &KernelMachine, term: &Term) -> Result<Self, KernelError> {
        let (shape, gamma, mixture) = match &term.kernel {
            Kernel::Rbf { gamma } => (Shape::Squared, gamma, ScaleMixture::one()),
            Kernel::Laplace { gamma } => (Shape::Absolute, gamma, ScaleMixture::one()),
            Kernel::RationalQuadratic { gamma, alpha } => {
                (Shape::Squared, gamma, ScaleMixture::rational_quadratic(*alpha))
            }
            Kernel::Matern { gamma, nu } => (Shape::Squared, gamma, ScaleMixture::matern(*nu)),
            Kernel::Linear => {
                return Err(KernelError::Unsupported {
                    what: "a linear kernel with centres".to_owned(),
                    help: "merge the centres into the linear part",
                });
            }
        };
        let (features, outputs) = (machine.features, machine.intercept.len());
        let block = |(centres, coefficients): (&[f64], &[f64])| Block {
            centres: in_lanes(centres, features),
            coefficients: in_lanes(coefficients, outputs),
        };
        let centres = term.centres.chunks(features * LANES);
        let blocks = centres.zip(term.coefficients.chunks(outputs * LANES)).map(block).collect();
        Ok(Self { shape, gamma: gamma.clone(), mixture, blocks })
    }

    /// Returns the chunks of all components, in a fixed order.
    pub(crate) fn chunks(components: &[Self]) -> Vec<Chunk<'_>> {
        let mut chunks = Vec::new();
        for component in components {
            for (&rate, &weight) in component.mixture.rates.iter().zip(&component.mixture.weights) {
                let blocks = component.blocks.chunks(BLOCKS_PER_CHUNK);
                chunks.extend(blocks.map(|blocks| Chunk { component, rate, weight, blocks }));
            }
        }
        chunks
    }

    /// Returns the number of lanes of the centres of each component, times the number of terms in its
    /// mixture, summed over the components.
    pub(crate) fn lanes(components: &[Self]) -> usize {
        components
            .iter()
            .map(|component| component.blocks.len() * LANES * component.mixture.rates.len())
            .sum()
    }
}

impl Chunk<'_> {
    /// Writes the factor κ_j(x_j, c_j) of each feature j of a row to `out[places[j]]`, for a block of
    /// centres.
    #[inline(always)]
    pub(crate) fn write_factors(&self, block: &Block, row: &[f64], places: &[usize], out: &mut [Lane]) {
        let features = row.iter().zip(&self.component.gamma).zip(&block.centres).zip(places);
        for (((x, gamma), centre), &place) in features {
            let rate = -self.rate * gamma;
            let factors = &mut out[place];
            match self.component.shape {
                Shape::Squared => {
                    for lane in 0..LANES {
                        let difference = x - centre[lane];
                        factors[lane] = (rate * (difference * difference)).exp();
                    }
                }
                Shape::Absolute => {
                    for lane in 0..LANES {
                        factors[lane] = (rate * (x - centre[lane]).abs()).exp();
                    }
                }
            }
        }
    }
}

/// Transposes up to [`LANES`] rows into one [`Lane`] for each column; missing rows are zero.
fn in_lanes(rows: &[f64], columns: usize) -> Vec<Lane> {
    let mut lanes = vec![[0.0; LANES]; columns];
    for (lane, row) in rows.chunks_exact(columns).enumerate() {
        row.iter().zip(&mut lanes).for_each(|(&value, lanes)| lanes[lane] = value);
    }
    lanes
}
