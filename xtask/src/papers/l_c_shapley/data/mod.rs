//! The texts and images that are explained, and the models that are embedded.
//!
//! | | rows | model | from |
//! |---|---|---|---|
//! | [`sentences`] | 400 short reviews | [`bag_of_words`], trained by this program | embedded |
//! | [`digits`] | 357 digits of 8 × 8 pixels, 3 or 8 | [`network`], trained by `data/train_digits38.py` | embedded |
//! | [`pack::RT_POLARITY`], [`pack::AG_NEWS`] | 10 662 sentences of reviews, 7 600 news | networks (ONNX) | data directory |
//! | [`pack::MNIST38`], [`pack::CIFAR_DEER_HORSE`] | 500 digits, 200 photographs | networks (ONNX) | data directory |
//!
//! The networks on data of the data directory are those that `cargo xtask train` made; else those that lie there. [`spelling`] makes
//! characters of words.

pub(super) mod bag_of_words;
pub(super) mod digits;
pub(super) mod image_set;
pub(super) mod network;
pub(super) mod pack;
pub(super) mod sentences;
pub(super) mod spelling;
pub(super) mod text_set;
