//! Creation of a network from a plan: training, writing, reading back and testing.

use anyhow::{Context, Result, ensure};
use apportion_games::Rows;
use apportion_onnx::Network as ReadBack;

use crate::data::{DataSet, Samples};
use crate::files::sha256;
use crate::network::{Builder, Network};
use crate::onnx;
use crate::plans::Plan;
use crate::record::{Entry, FileHash};
use crate::training::{measure, score, train};

/// Maximum difference between the outputs of the file and of the network, relative to the largest output, or
/// absolute if that is below 1.
const AGREEMENT: f64 = 1e-4;

/// A trained network.
pub(crate) struct TrainedNetwork {
    /// The ONNX file.
    pub(crate) file: Vec<u8>,
    pub(crate) entry: Entry,
}

/// Trains a network on the training part of `data`, and tests its file on the test part.
///
/// # Errors
///
/// If training fails, or the file does not reproduce the outputs of the network.
pub(crate) fn make(
    plan: &Plan,
    data: &DataSet,
    seed: u64,
    after: impl FnMut(usize, f64),
) -> Result<TrainedNetwork> {
    let network = (plan.network)(Builder::new(data, seed))?;
    train(&network, data, &plan.training, seed, after)?;
    let outputs = data.task.outputs();
    let file = onnx::file(&network, outputs)?;
    let predictions = read_back(&network, &file, &data.test)?;
    let entry = Entry {
        name: plan.name.to_owned(),
        dataset: plan.dataset.to_owned(),
        architecture: plan.architecture.to_owned(),
        input: plan.input,
        row: data.train.shape.clone(),
        outputs,
        parameters: network.parameters(),
        seed,
        trained_on: data.train.len(),
        tested_on: data.test.len(),
        measure: measure(data.task).to_owned(),
        score: score(data.task, &predictions, &data.test.targets),
        file: FileHash { file: format!("{}.onnx", plan.name), sha256: sha256(&file) },
        data: data.files.clone(),
    };
    Ok(TrainedNetwork { file, entry })
}

/// Returns the predictions of the file for the samples, which must match the predictions of the network.
fn read_back(network: &Network, file: &[u8], samples: &Samples) -> Result<Vec<f64>> {
    let of_file = ReadBack::from_bytes(file).context("cannot read the written file")?;
    let of_file = of_file.predictions(Rows::new(&samples.rows, samples.width()))?;
    let own = network.predictions(samples)?;
    ensure!(
        of_file.len() == own.len(),
        "the file returns {} outputs, but the network returns {}",
        of_file.len(),
        own.len()
    );
    let largest = own.iter().fold(1.0_f64, |largest, value| largest.max(value.abs()));
    for (at, (of_file, own)) in of_file.iter().zip(&own).enumerate() {
        ensure!(
            (of_file - own).abs() <= AGREEMENT * largest,
            "output {at} of the file is {of_file}, but that of the network is {own}: a layer was not written \
             correctly"
        );
    }
    Ok(of_file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Element, Task};
    use crate::layer::Layer;

    fn samples(element: Element, shape: &[usize], count: usize) -> Samples {
        let width: usize = shape.iter().product();
        let number = |at: usize| match element {
            Element::Number => f64::from(((at * 37 % 101) as f32) / 101.0),
            Element::Id => (at * at * 7 % 11) as f64,
        };
        let rows = (0..count * width).map(number).collect();
        let targets = (0..count).map(|at| (at % 2) as f64).collect();
        Samples { element, shape: shape.to_vec(), rows, targets }
    }

    fn data(element: Element, shape: &[usize], task: Task) -> DataSet {
        let (train, test) = samples(element, shape, 40).split(4);
        DataSet { task, train, test, vocabulary: 11, files: Vec::new() }
    }

    /// Returns networks with every kind of layer, on every kind of data.
    fn networks() -> Vec<(&'static str, Network)> {
        let texts = data(Element::Id, &[13], Task::Classes(4));
        let images = data(Element::Number, &[3, 9, 9], Task::Classes(2));
        let tables = data(Element::Number, &[5], Task::Regression);
        let text = || Builder::new(&texts, 3).embedding(6).unwrap();
        let flat = text().convolution(7, 3, 1).unwrap().max_pool(2).flatten();
        let over_time = text().convolution(7, 4, 0).unwrap().max_over_time().hidden(5).unwrap();
        let image =
            Builder::new(&images, 3).convolution(4, 3, 1).unwrap().max_pool(2).convolution(5, 3, 0).unwrap();
        vec![
            ("flat text", flat.outputs().unwrap().finished()),
            ("text over time", over_time.outputs().unwrap().finished()),
            ("LSTM", text().bidirectional_lstm(5).unwrap().dropout(0.5).outputs().unwrap().finished()),
            ("image", image.flatten().outputs().unwrap().finished()),
            (
                "table",
                Builder::new(&tables, 3)
                    .standardized()
                    .hidden(4)
                    .unwrap()
                    .outputs()
                    .unwrap()
                    .in_units_of_target()
                    .finished(),
            ),
        ]
    }

    #[test]
    fn every_layer_is_written_as_it_computes() {
        for (name, network) in networks() {
            let samples = samples(network.element, &network.row, 30);
            let outputs = network.predictions(&samples).unwrap().len() / 30;
            let file = onnx::file(&network, outputs).unwrap();
            let read =
                read_back(&network, &file, &samples).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            assert!(read.iter().any(|value| (value - read[0]).abs() > 1e-3), "{name} is constant");
        }
    }

    #[test]
    fn a_file_that_computes_something_else_is_refused() {
        let (_, mut network) = networks().pop().unwrap();
        let file = onnx::file(&network, 1).unwrap();
        let Some(Layer::Affine { shift, .. }) = network.layers.last_mut() else { panic!("no units") };
        shift[0] += 0.01;
        let samples = samples(Element::Number, &[5], 4);
        let error = read_back(&network, &file, &samples).unwrap_err().to_string();
        assert!(error.contains("not written correctly"), "{error}");
    }
}
