//! A cache of the surrogate that the automatic method learns.

use std::sync::{Arc, Mutex, PoisonError};

use apportion_surrogates::Surrogate;

/// A cache of the surrogate that [`Method::Auto`](crate::Method::Auto) learns from the background rows.
///
/// Every [`Explainer`](crate::Explainer) has one. Share a cache between explainers of the same model with
/// [`surrogate_cache`](crate::Explainer::surrogate_cache), for example in a program that creates an explainer
/// for each call. Clones share their content. A surrogate is used again only with the same background, seed,
/// budget and categories, and if the model still predicts the same for the background rows; otherwise it is
/// replaced.
#[derive(Debug, Clone, Default)]
pub struct SurrogateCache {
    learned: Arc<Mutex<Option<Learned>>>,
}

/// A surrogate with the settings that it was learned with.
#[derive(Debug, Clone)]
struct Learned {
    seed: u64,
    budget: usize,
    is_categorical: Vec<bool>,
    surrogate: Arc<Surrogate>,
}

impl SurrogateCache {
    /// Returns the surrogate that was learned with this seed, budget and categories.
    pub(crate) fn get(&self, seed: u64, budget: usize, is_categorical: &[bool]) -> Option<Arc<Surrogate>> {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let is_same =
            learned.seed == seed && learned.budget == budget && learned.is_categorical == is_categorical;
        is_same.then_some(learned.surrogate)
    }

    /// Replaces the surrogate.
    pub(crate) fn set(&self, seed: u64, budget: usize, is_categorical: &[bool], surrogate: Arc<Surrogate>) {
        let learned = Some(Learned { seed, budget, is_categorical: is_categorical.to_vec(), surrogate });
        *self.learned.lock().unwrap_or_else(PoisonError::into_inner) = learned;
    }
}
