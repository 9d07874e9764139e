//! Networks: sequential layers, with initial weights drawn from a seed.

use anyhow::{Context, Result};
use apportion_games::{Purpose, stream};
use candle_core::{Device, Tensor, Var};
use rand::{Rng, RngExt};

use crate::data::{DataSet, Element, Samples};
use crate::layer::{Draws, Layer};
use crate::lstm::{BidirectionalLstm, Direction};

/// Number of rows predicted at once.
const BATCH: usize = 256;

/// Random stream of initial weights; training epochs use streams from 1.
const FIRST_WEIGHTS: u64 = 0;

/// A network of sequential layers.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) element: Element,
    /// Shape of an input row.
    pub(crate) row: Vec<usize>,
    pub(crate) layers: Vec<Layer>,
}

impl Network {
    /// Returns the outputs for a batch of rows: batch × outputs.
    pub(crate) fn forward(&self, rows: &[f64], mut draws: Draws<'_>) -> Result<Tensor> {
        let mut shape = vec![rows.len() / self.row.iter().product::<usize>()];
        shape.extend(&self.row);
        let mut x = match self.element {
            Element::Number => {
                Tensor::from_vec(rows.iter().map(|&x| x as f32).collect::<Vec<_>>(), shape, &Device::Cpu)?
            }
            Element::Id => {
                Tensor::from_vec(rows.iter().map(|&x| x as u32).collect::<Vec<_>>(), shape, &Device::Cpu)?
            }
        };
        if self.row.len() == 3 {
            x = x.permute((0, 2, 3, 1))?.contiguous()?;
        }
        for layer in &self.layers {
            x = layer.forward(&x, &mut draws)?;
        }
        Ok(x)
    }

    /// Returns the outputs for all samples, row-major.
    pub(crate) fn predictions(&self, samples: &Samples) -> Result<Vec<f64>> {
        let mut outputs = Vec::new();
        for rows in samples.rows.chunks(BATCH * samples.width()) {
            let batch = self.forward(rows, None)?.flatten_all()?.to_vec1::<f32>()?;
            outputs.extend(batch.into_iter().map(f64::from));
        }
        Ok(outputs)
    }

    /// Returns the trained variables.
    pub(crate) fn variables(&self) -> Vec<Var> {
        self.layers.iter().flat_map(Layer::variables).cloned().collect()
    }

    /// Returns the number of trained parameters.
    pub(crate) fn parameters(&self) -> usize {
        self.layers.iter().flat_map(Layer::variables).map(|variable| variable.elem_count()).sum()
    }
}

/// Builder of sequential layers.
pub(crate) struct Builder<'a> {
    pub(crate) data: &'a DataSet,
    rng: Box<dyn Rng>,
    /// Number of positions of the current value along each axis.
    places: Vec<usize>,
    /// Number of channels of the current value.
    channels: usize,
    layers: Vec<Layer>,
}

impl<'a> Builder<'a> {
    /// Starts a network on rows of this dataset.
    pub(crate) fn new(data: &'a DataSet, seed: u64) -> Self {
        let (places, channels) = match data.train.shape[..] {
            [channels, height, width] => (vec![height, width], channels),
            [places] if data.train.element == Element::Id => (vec![places], 0),
            _ => (Vec::new(), data.train.width()),
        };
        let rng = Box::new(stream(seed, Purpose::Experiment, FIRST_WEIGHTS));
        Self { data, rng, places, channels, layers: Vec::new() }
    }

    /// Returns the finished network.
    pub(crate) fn finished(self) -> Network {
        Network { element: self.data.train.element, row: self.data.train.shape.clone(), layers: self.layers }
    }

    /// Standardizes every column to mean 0 and variance 1 over the training part.
    pub(crate) fn standardized(mut self) -> Self {
        let (mut scale, mut shift) = (Vec::new(), Vec::new());
        let train = &self.data.train;
        for column in 0..self.channels {
            let (mean, deviation) = moments(train.rows.iter().skip(column).step_by(self.channels));
            // A constant column carries no information, so it is not scaled.
            let one_over = if deviation > 0.0 { 1.0 / deviation } else { 1.0 };
            scale.push(one_over as f32);
            shift.push((-mean * one_over) as f32);
        }
        self.layers.push(Layer::Affine { scale, shift });
        self
    }

    /// Scales the output of a regression to the units of its target.
    pub(crate) fn in_units_of_target(mut self) -> Self {
        let (mean, deviation) = moments(self.data.train.targets.iter());
        self.layers.push(Layer::Affine { scale: vec![deviation as f32], shift: vec![mean as f32] });
        self
    }

    pub(crate) fn embedding(mut self, width: usize) -> Result<Self> {
        let table = self.uniform(&[self.data.vocabulary, width], 0.1)?;
        self.channels = width;
        Ok(self.with(Layer::Embedding { table }))
    }

    pub(crate) fn convolution(mut self, outputs: usize, size: usize, padding: usize) -> Result<Self> {
        let inputs = self.channels * size.pow(self.places.len() as u32);
        let (weight, bias) = self.weights(inputs, outputs)?;
        for places in &mut self.places {
            *places = (*places + 2 * padding + 1)
                .checked_sub(size)
                .context("the window of a convolution is wider than its input")?;
        }
        self.channels = outputs;
        Ok(self.with(Layer::Convolution { weight, bias, size, padding }).with(Layer::Relu))
    }

    pub(crate) fn max_pool(mut self, size: usize) -> Self {
        self.places.iter_mut().for_each(|places| *places /= size);
        self.with(Layer::MaxPool { size })
    }

    pub(crate) fn max_over_time(mut self) -> Self {
        self.places.clear();
        self.with(Layer::MaxOverTime)
    }

    pub(crate) fn bidirectional_lstm(mut self, units: usize) -> Result<Self> {
        let bound = 1.0 / (units as f64).sqrt();
        let mut direction = || -> Result<Direction> {
            let input = self.uniform(&[self.channels, 4 * units], bound)?;
            let recurrent = self.uniform(&[units, 4 * units], bound)?;
            // Forget gates start with a bias of 1, so that memory is kept initially (Gers, Schmidhuber and
            // Cummins, 2000).
            let bias: Vec<f32> = (0..4 * units).map(|at| if at / units == 2 { 1.0 } else { 0.0 }).collect();
            let bias = Var::from_vec(bias, 4 * units, &Device::Cpu)?;
            Ok(Direction { input, recurrent, bias })
        };
        let lstm = BidirectionalLstm { forwards: direction()?, backwards: direction()? };
        self.channels = 2 * units;
        self.places.clear();
        Ok(self.with(Layer::Lstm(lstm)))
    }

    pub(crate) fn dropout(self, share: f64) -> Self {
        self.with(Layer::Dropout { share })
    }

    pub(crate) fn flatten(mut self) -> Self {
        self.channels *= self.places.drain(..).product::<usize>();
        self.with(Layer::Flatten)
    }

    /// Adds a hidden layer.
    pub(crate) fn hidden(self, units: usize) -> Result<Self> {
        Ok(self.dense(units)?.with(Layer::Relu))
    }

    /// Adds the output layer of the task.
    pub(crate) fn outputs(self) -> Result<Self> {
        let outputs = self.data.task.outputs();
        self.dense(outputs)
    }

    fn dense(mut self, outputs: usize) -> Result<Self> {
        let (weight, bias) = self.weights(self.channels, outputs)?;
        self.channels = outputs;
        Ok(self.with(Layer::Dense { weight, bias }))
    }

    fn with(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Draws weights that preserve the variance of values after `max(0, ·)` (He, Zhang, Ren and Sun, 2015),
    /// and returns them with biases of zero.
    fn weights(&mut self, inputs: usize, outputs: usize) -> Result<(Var, Var)> {
        let weight = self.uniform(&[inputs, outputs], (6.0 / inputs as f64).sqrt())?;
        Ok((weight, Var::from_vec(vec![0.0_f32; outputs], outputs, &Device::Cpu)?))
    }

    fn uniform(&mut self, shape: &[usize], bound: f64) -> Result<Var> {
        let count = shape.iter().product();
        let draws: Vec<f32> =
            (0..count).map(|_| (bound * (2.0 * self.rng.random::<f64>() - 1.0)) as f32).collect();
        Ok(Var::from_vec(draws, shape, &Device::Cpu)?)
    }
}

/// Returns mean and standard deviation.
fn moments<'a>(values: impl Iterator<Item = &'a f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}
