//! Windows along an axis of a tensor: the concatenation of the positions in each window, as used by
//! convolutions, and the maximum of each window.
//!
//! candle can express both operations by slicing and concatenating tensors, but the gradient of every slice
//! is as large as the whole tensor. Here, each number is moved once, and its gradient is moved back once. The
//! tests compare values with the definition, and gradients with finite differences.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, Layout, Result, Shape, Tensor};

/// Concatenates, for each position, the channels of the `size` positions from there on, with `padding` zeros
/// at either end of the axis.
pub(crate) fn unfolded(x: &Tensor, axis: usize, size: usize, padding: usize) -> Result<Tensor> {
    let lines = Lines::new(x, axis)?;
    x.contiguous()?.apply_op1(Unfold { lines, size, padding, dims: x.dims().to_vec(), axis })
}

/// Returns the maximum of each `size` positions along an axis; remaining positions at the end are dropped.
pub(crate) fn largest(x: &Tensor, axis: usize, size: usize) -> Result<Tensor> {
    let lines = Lines::new(x, axis)?;
    x.contiguous()?.apply_op1(Largest { lines, size, dims: x.dims().to_vec(), axis })
}

/// A tensor viewed as `outer` times `places` along an axis, each with `between` positions of later axes and
/// `channels` channels.
#[derive(Debug, Clone, Copy)]
struct Lines {
    outer: usize,
    places: usize,
    between: usize,
    channels: usize,
}

impl Lines {
    fn new(x: &Tensor, axis: usize) -> Result<Self> {
        let dims = x.dims();
        let last = x.rank() - 1;
        Ok(Self {
            outer: dims[..axis].iter().product(),
            places: x.dim(axis)?,
            between: dims[axis + 1..last].iter().product(),
            channels: dims[last],
        })
    }
}

/// Returns the numbers of a contiguous tensor.
fn numbers<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let (from, to) = layout
        .contiguous_offsets()
        .ok_or_else(|| candle_core::Error::Msg("windows require a contiguous tensor".to_owned()))?;
    Ok(&storage.as_slice::<f32>()?[from..to])
}

#[derive(Debug, Clone)]
struct Unfold {
    lines: Lines,
    size: usize,
    padding: usize,
    dims: Vec<usize>,
    axis: usize,
}

impl Unfold {
    fn windows(&self) -> usize {
        (self.lines.places + 2 * self.padding + 1).saturating_sub(self.size)
    }

    /// Calls `copy` with the offset of each run of channels in the windows and in the tensor.
    fn each(&self, mut copy: impl FnMut(usize, usize)) {
        let Lines { outer, places, between, channels } = self.lines;
        let windows = self.windows();
        for line in 0..outer {
            for window in 0..windows {
                for tap in 0..self.size {
                    let Some(place) = (window + tap).checked_sub(self.padding).filter(|&at| at < places)
                    else {
                        continue;
                    };
                    for beside in 0..between {
                        let to = ((line * windows + window) * between + beside) * self.size + tap;
                        copy(to * channels, ((line * places + place) * between + beside) * channels);
                    }
                }
            }
        }
    }

    fn shape(&self) -> Vec<usize> {
        let mut dims = self.dims.clone();
        let last = dims.len() - 1;
        dims[self.axis] = self.windows();
        dims[last] *= self.size;
        dims
    }
}

impl CustomOp1 for Unfold {
    fn name(&self) -> &'static str {
        "unfold"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (x, channels) = (numbers(storage, layout)?, self.lines.channels);
        let shape = self.shape();
        let mut out = vec![0.0; shape.iter().product()];
        self.each(|to, from| out[to..to + channels].copy_from_slice(&x[from..from + channels]));
        Ok((CpuStorage::F32(out), shape.into()))
    }

    fn bwd(&self, _: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        gradient.contiguous()?.apply_op1_no_bwd(&Fold(self.clone())).map(Some)
    }
}

/// Adjoint of [`Unfold`]: sums the windows' values at each position.
struct Fold(Unfold);

impl CustomOp1 for Fold {
    fn name(&self) -> &'static str {
        "fold"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (windows, channels) = (numbers(storage, layout)?, self.0.lines.channels);
        let mut out = vec![0.0; self.0.dims.iter().product()];
        self.0.each(|from, to| {
            let sums = out[to..to + channels].iter_mut();
            sums.zip(&windows[from..from + channels]).for_each(|(sum, value)| *sum += value);
        });
        Ok((CpuStorage::F32(out), self.0.dims.clone().into()))
    }
}

#[derive(Debug, Clone)]
struct Largest {
    lines: Lines,
    size: usize,
    dims: Vec<usize>,
    axis: usize,
}

impl Largest {
    /// Calls `found` with the output offset of each maximum and its input offset. In case of ties, the first
    /// maximum is used.
    fn each(&self, x: &[f32], mut found: impl FnMut(usize, usize)) {
        let Lines { outer, places, between, channels } = self.lines;
        let (windows, step) = (places / self.size, between * channels);
        for line in 0..outer {
            for window in 0..windows {
                let (to, from) =
                    ((line * windows + window) * step, (line * places + window * self.size) * step);
                for at in 0..step {
                    let mut most = from + at;
                    for tap in 1..self.size {
                        let place = from + tap * step + at;
                        if x[place] > x[most] {
                            most = place;
                        }
                    }
                    found(to + at, most);
                }
            }
        }
    }
}

impl CustomOp1 for Largest {
    fn name(&self) -> &'static str {
        "largest"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let x = numbers(storage, layout)?;
        let mut dims = self.dims.clone();
        dims[self.axis] /= self.size;
        let mut out = vec![0.0; dims.iter().product()];
        self.each(x, |to, most| out[to] = x[most]);
        Ok((CpuStorage::F32(out), dims.into()))
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        x.contiguous()?.apply_op2_no_bwd(&gradient.contiguous()?, &ToLargest(self.clone())).map(Some)
    }
}

/// Adjoint of [`Largest`]: moves each value to the position of the maximum.
struct ToLargest(Largest);

impl CustomOp2 for ToLargest {
    fn name(&self) -> &'static str {
        "to-largest"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        of_x: &Layout,
        gradient: &CpuStorage,
        of_gradient: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (x, gradient) = (numbers(x, of_x)?, numbers(gradient, of_gradient)?);
        let mut out = vec![0.0; x.len()];
        self.0.each(x, |from, most| out[most] += gradient[from]);
        Ok((CpuStorage::F32(out), self.0.dims.clone().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{Device, Var};

    /// Returns values for batch 2, positions 5 × 4, channels 3, all different.
    fn values() -> Vec<f32> {
        (0..120).map(|at| ((at * 37 % 121) as f32 - 60.0) / 50.0).collect()
    }

    fn tensor(values: &[f32]) -> Var {
        Var::from_slice(values, (2, 5, 4, 3), &Device::Cpu).unwrap()
    }

    #[test]
    fn windows_are_side_by_side_and_the_largest_are_found() {
        let x = Var::from_slice(&[1.0_f32, 5.0, 3.0, 2.0, 4.0], (1, 5, 1), &Device::Cpu).unwrap();
        let rows = |tensor: Tensor| tensor.squeeze(0).unwrap().to_vec2::<f32>().unwrap();
        let windows = rows(unfolded(&x, 1, 3, 1).unwrap());
        assert_eq!(windows[0], [0.0, 1.0, 5.0]);
        assert_eq!((windows[2].clone(), windows[4].clone()), (vec![5.0, 3.0, 2.0], vec![2.0, 4.0, 0.0]));
        assert_eq!(rows(largest(&x, 1, 2).unwrap()), [[5.0], [3.0]]);
    }

    #[test]
    fn gradients_are_those_of_small_differences() {
        let run = |x: &Tensor| {
            let mut windows = unfolded(x, 2, 3, 1)?;
            windows = unfolded(&windows, 1, 2, 0)?;
            let weights: Vec<f32> = (0..18).map(|at| (at as f32 - 8.0) / 10.0).collect();
            let sums = windows.broadcast_mul(&Tensor::from_vec(weights, 18, &Device::Cpu)?)?;
            largest(&largest(&sums, 1, 2)?, 2, 2)?.sqr()?.sum_all()
        };
        let x = tensor(&values());
        let loss = run(&x).unwrap();
        let gradients = loss.backward().unwrap();
        let gradient = gradients.get(&x).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for at in (0..120).step_by(7) {
            let shifted = |by: f32| {
                let mut values = values();
                values[at] += by;
                run(&tensor(&values)).unwrap().to_scalar::<f32>().unwrap()
            };
            let difference = (shifted(1e-3) - shifted(-1e-3)) / 2e-3;
            assert!((difference - gradient[at]).abs() < 0.02, "{at}: {difference}, not {}", gradient[at]);
        }
    }
}
