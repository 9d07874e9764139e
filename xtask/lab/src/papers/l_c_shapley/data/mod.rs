//! The explained texts and images, and the embedded models.
//!
//! | | rows | model | from |
//! |---|---|---|---|
//! | [`sentences`] | 400 short reviews | [`bag_of_words`], trained by this program | embedded |
//! | [`digits`] | 357 digits of 8 × 8 pixels, 3 or 8 | [`network`], trained by `data/train_digits38.py` | embedded |
//! | [`pack::IMDB`], [`pack::AG_NEWS`] | 50,000 reviews, 7,600 news | networks (ONNX) | data directory |
//! | [`pack::MNIST38`] | 1,984 digits of 28 × 28 pixels | a network (ONNX) | embedded, `xtask/lab/networks` |
//! | [`pack::CIFAR_DEER_HORSE`] | 2,000 photographs | a network (ONNX) | data directory |
//!
//! Networks in ONNX files are trained by `cargo xtask train`, or, for texts, taken from the data directory.
//! [`text_set`] and [`image_set`] contain datasets in memory, and [`byte_matrix`] reads bytes from NumPy
//! files. [`spelling`] converts words to characters, [`vocabulary`] to IDs.

pub(super) mod bag_of_words;
mod byte_matrix;
pub(super) mod digits;
pub(super) mod image_set;
pub(super) mod network;
pub(super) mod pack;
pub(super) mod sentences;
pub(super) mod spelling;
pub(super) mod text_set;
mod vocabulary;
