//! Networks of the papers: data, layers and training.

use anyhow::Result;

use crate::data::images::images;
use crate::data::table::table;
use crate::data::texts::{Reading, texts};
use crate::data::{DataSet, Task};
use crate::folders::Folders;
use crate::network::{Builder, Network};
use crate::record::Input;
use crate::training::{Augmentation, Training};

/// A network to be trained: its data, layers and training parameters.
pub(crate) struct Plan {
    /// Name on the command line and of the file.
    pub(crate) name: &'static str,
    /// Name of the dataset.
    pub(crate) dataset: &'static str,
    pub(crate) architecture: &'static str,
    pub(crate) input: Input,
    /// Accuracy that the paper prints for its network.
    pub(crate) printed: &'static str,
    pub(crate) data: fn(&Folders) -> Result<DataSet>,
    pub(crate) network: fn(Builder<'_>) -> Result<Network>,
    pub(crate) training: Training,
}

/// Description of networks with two layers of weights, as in Kernel Banzhaf.
const TWO_LAYERS: &str = "standardized columns, a hidden layer of 64 with dropout of one half, an output";

const NOT_PRINTED: &str = "the paper prints no accuracy";

const TABLE: Training =
    Training { epochs: 60, batch: 32, rate: 2e-3, decay: 0.01, augmentation: Augmentation::None };

/// The networks that `cargo xtask train` can train.
pub(crate) const PLANS: [Plan; 11] = [
    Plan {
        name: "imdb_word_cnn",
        dataset: "imdb",
        architecture: "word CNN: embedding of 50, convolution of 3 words and 250 filters, largest value over \
                       the text, hidden layer of 250, an output; dropout",
        input: Input::Tokens,
        printed: "0.901 (L- and C-Shapley, table 1)",
        data: |folders| texts(folders, "imdb.csv", Reading::Words { vocabulary: 5_000 }, 400, 2),
        network: |builder| {
            let convolved = builder.embedding(50)?.dropout(0.2).convolution(250, 3, 1)?.max_over_time();
            Ok(convolved.hidden(250)?.dropout(0.2).outputs()?.finished())
        },
        training: Training {
            epochs: 3,
            batch: 32,
            rate: 1e-3,
            decay: 0.01,
            augmentation: Augmentation::None,
        },
    },
    Plan {
        name: "ag_news_char_cnn",
        dataset: "ag_news",
        architecture: "character CNN: embedding of 32, convolution of 7 characters and 384 filters, largest \
                       value over the text, hidden layer of 128, four outputs; dropout",
        input: Input::Characters,
        printed: "0.9009 on all of AG news (L- and C-Shapley, table 1)",
        data: |folders| texts(folders, "ag_news.csv", Reading::Characters, 256, 4),
        network: |builder| {
            let convolved = builder.embedding(32)?.dropout(0.1).convolution(384, 7, 0)?.max_over_time();
            Ok(convolved.dropout(0.5).hidden(128)?.dropout(0.5).outputs()?.finished())
        },
        training: Training {
            epochs: 16,
            batch: 32,
            rate: 1.5e-3,
            decay: 0.01,
            augmentation: Augmentation::None,
        },
    },
    Plan {
        name: "ag_news_lstm",
        dataset: "ag_news",
        architecture: "LSTM: embedding of 64, bidirectional LSTM of 64 units each way, largest value over \
            the text, four outputs; dropout",
        input: Input::Tokens,
        printed: "0.7084 on Yahoo! Answers (L- and C-Shapley, table 1)",
        data: |folders| {
            texts(folders, "ag_news.csv", Reading::Tokens { vocabulary: "ag_news_vocab.txt" }, 64, 4)
        },
        network: |builder| {
            let read = builder.embedding(64)?.dropout(0.5).bidirectional_lstm(64)?;
            Ok(read.dropout(0.5).outputs()?.finished())
        },
        training: Training {
            epochs: 8,
            batch: 32,
            rate: 3e-3,
            decay: 0.01,
            augmentation: Augmentation::None,
        },
    },
    Plan {
        name: "mnist38_cnn",
        dataset: "mnist38",
        architecture: "two convolutions of 5 × 5 pixels with 8 and 16 filters, each pooled by 2 × 2, an \
            output",
        input: Input::Pixels,
        printed: "0.997 (L- and C-Shapley, section 5.2)",
        data: |folders| images(folders, ["mnist38_full_train.npy", "mnist38_full_test.npy"], 1, 28),
        network: |builder| {
            let first = builder.convolution(8, 5, 2)?.max_pool(2);
            Ok(first.convolution(16, 5, 2)?.max_pool(2).flatten().dropout(0.3).outputs()?.finished())
        },
        training: Training {
            epochs: 10,
            batch: 32,
            rate: 3e-3,
            decay: 0.01,
            augmentation: Augmentation::Moved(1),
        },
    },
    Plan {
        name: "cifar_deer_horse_cnn",
        dataset: "cifar_deer_horse",
        architecture: "six convolutions of 3 × 3 pixels with 16, 16, 32, 32, 64 and 64 filters, every two \
                       pooled by 2 × 2, hidden layers of 128 and 64, an output; dropout",
        input: Input::Pixels,
        printed: "0.961 (L- and C-Shapley, section 5.2)",
        data: |folders| {
            images(folders, ["cifar_deer_horse_full_train.npy", "cifar_deer_horse_full_test.npy"], 3, 32)
        },
        network: |builder| {
            let first = builder.convolution(16, 3, 1)?.convolution(16, 3, 1)?.max_pool(2).dropout(0.1);
            let second = first.convolution(32, 3, 1)?.convolution(32, 3, 1)?.max_pool(2).dropout(0.2);
            let third = second.convolution(64, 3, 1)?.convolution(64, 3, 1)?.max_pool(2).dropout(0.3);
            Ok(third.flatten().hidden(128)?.dropout(0.4).hidden(64)?.outputs()?.finished())
        },
        training: Training {
            epochs: 30,
            batch: 32,
            rate: 1e-3,
            decay: 0.02,
            augmentation: Augmentation::MovedAndMirrored(3),
        },
    },
    perceptron("pima_mlp", "pima", |folders| table(folders, "pima.csv", Task::Classes(2)), TABLE),
    perceptron(
        "adult_mlp",
        "adult",
        |folders| table(folders, "adult.csv", Task::Classes(2)),
        Training { epochs: 15, batch: 64, ..TABLE },
    ),
    perceptron(
        "bank_full_mlp",
        "bank_full",
        |folders| table(folders, "bank_full.csv", Task::Classes(2)),
        Training { epochs: 12, batch: 64, ..TABLE },
    ),
    perceptron("german_mlp", "german", |folders| table(folders, "german.csv", Task::Classes(2)), TABLE),
    perceptron("diabetes_mlp", "diabetes", |folders| table(folders, "diabetes.csv", Task::Regression), TABLE),
    perceptron(
        "california_mlp",
        "california",
        |folders| table(folders, "california.csv", Task::Regression),
        Training { epochs: 20, batch: 64, ..TABLE },
    ),
];

const fn perceptron(
    name: &'static str,
    dataset: &'static str,
    data: fn(&Folders) -> Result<DataSet>,
    training: Training,
) -> Plan {
    Plan {
        name,
        dataset,
        architecture: TWO_LAYERS,
        input: Input::Columns,
        printed: NOT_PRINTED,
        data,
        network: two_layers,
        training,
    }
}

fn two_layers(builder: Builder<'_>) -> Result<Network> {
    let is_regression = builder.data.task == Task::Regression;
    let network = builder.standardized().hidden(64)?.dropout(0.5).outputs()?;
    Ok(if is_regression { network.in_units_of_target() } else { network }.finished())
}
