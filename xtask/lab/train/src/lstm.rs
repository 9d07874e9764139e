//! A bidirectional long short-term memory (Hochreiter and Schmidhuber, 1997) for texts.
//!
//! ```text
//! i, o, f = σ(x W + h R + b),  g = tanh(x W + h R + b)
//! c' = f c + i g,  h' = o tanh(c')
//! ```

use candle_core::{DType, Result, Tensor, Var};

/// A bidirectional LSTM. Its output is the maximum of each hidden unit over all positions, per direction.
#[derive(Debug)]
pub(crate) struct BidirectionalLstm {
    pub(crate) forwards: Direction,
    pub(crate) backwards: Direction,
}

/// One direction of the network. Gates are in ONNX's order: input, output, forget, cell.
#[derive(Debug)]
pub(crate) struct Direction {
    /// Input weights, inputs × (4 · hidden units).
    pub(crate) input: Var,
    /// Recurrent weights, hidden units × (4 · hidden units).
    pub(crate) recurrent: Var,
    pub(crate) bias: Var,
}

impl BidirectionalLstm {
    /// Maps batch × positions × channels to batch × (2 · hidden units).
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Tensor::cat(&[self.forwards.largest(x, false)?, self.backwards.largest(x, true)?], 1)
    }

    pub(crate) fn variables(&self) -> Vec<&Var> {
        [&self.forwards, &self.backwards]
            .into_iter()
            .flat_map(|direction| [&direction.input, &direction.recurrent, &direction.bias])
            .collect()
    }
}

impl Direction {
    /// Returns the number of hidden units.
    pub(crate) fn units(&self) -> Result<usize> {
        self.recurrent.dim(0)
    }

    /// Returns the maximum of each hidden unit over all positions.
    fn largest(&self, x: &Tensor, from_the_end: bool) -> Result<Tensor> {
        let (batch, places, channels) = x.dims3()?;
        let units = self.units()?;
        let by_place = x.transpose(0, 1)?.reshape((places * batch, channels))?;
        let inputs = by_place.matmul(&self.input)?.broadcast_add(&self.bias)?.reshape((places, batch, ()))?;
        let mut steps = apart(inputs)?;
        if from_the_end {
            steps.reverse();
        }
        let mut hidden = Tensor::zeros((batch, units), DType::F32, x.device())?;
        let mut cell = hidden.clone();
        let mut most: Option<Tensor> = None;
        for step in steps {
            let gates = (step.squeeze(0)? + hidden.matmul(&self.recurrent)?)?;
            let open = candle_nn::ops::sigmoid(&gates.narrow(1, 0, 3 * units)?)?;
            let gate = |number: usize| open.narrow(1, number * units, units);
            let candidate = gates.narrow(1, 3 * units, units)?.tanh()?;
            cell = ((gate(2)? * cell)? + (gate(0)? * candidate)?)?;
            hidden = (gate(1)? * cell.tanh()?)?;
            most = Some(match most {
                None => hidden.clone(),
                Some(most) => most.maximum(&hidden)?,
            });
        }
        most.map_or_else(|| Tensor::zeros((batch, units), DType::F32, x.device()), Ok)
    }
}

/// Splits a tensor into its entries along the first axis. It is split in halves repeatedly, because the
/// gradient of each part is as large as the tensor that it was cut from.
fn apart(x: Tensor) -> Result<Vec<Tensor>> {
    let count = x.dim(0)?;
    if count < 2 {
        return Ok(vec![x]);
    }
    let mut first = apart(x.narrow(0, 0, count / 2)?)?;
    first.extend(apart(x.narrow(0, count / 2, count - count / 2)?)?);
    Ok(first)
}
