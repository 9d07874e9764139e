//! An ensemble that an oracle borrows or shares.

use std::ops::Deref;
use std::sync::Arc;

use apportion_models::Ensemble;

/// The model of an oracle: borrowed, or shared with others, so that the oracle lives as long as it is wanted.
///
/// Made of `&Ensemble`, `Arc<Ensemble>` or `Ensemble` by `into`, which the oracles do themselves.
///
/// ```
/// use std::sync::Arc;
///
/// use apportion_trees::{Ensemble, PathDependentOracle};
///
/// let model = Arc::new(Ensemble::from_bytes(include_bytes!("../../tests/fixtures/tiny.json"))?);
/// let oracle: PathDependentOracle<'static> = PathDependentOracle::new(model)?;
/// let base = std::thread::spawn(move || oracle.base().to_vec()).join();
/// assert!(base.is_ok());
/// # Ok::<(), apportion_trees::TreeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SharedEnsemble<'a>(Held<'a>);

#[derive(Debug, Clone)]
enum Held<'a> {
    Borrowed(&'a Ensemble),
    Shared(Arc<Ensemble>),
}

impl Deref for SharedEnsemble<'_> {
    type Target = Ensemble;

    #[inline]
    fn deref(&self) -> &Ensemble {
        match &self.0 {
            Held::Borrowed(ensemble) => ensemble,
            Held::Shared(ensemble) => ensemble,
        }
    }
}

impl<'a> From<&'a Ensemble> for SharedEnsemble<'a> {
    fn from(ensemble: &'a Ensemble) -> Self {
        Self(Held::Borrowed(ensemble))
    }
}

impl<'a> From<&'a Arc<Ensemble>> for SharedEnsemble<'a> {
    fn from(ensemble: &'a Arc<Ensemble>) -> Self {
        Self(Held::Borrowed(ensemble))
    }
}

impl From<Arc<Ensemble>> for SharedEnsemble<'_> {
    fn from(ensemble: Arc<Ensemble>) -> Self {
        Self(Held::Shared(ensemble))
    }
}

impl From<Ensemble> for SharedEnsemble<'_> {
    fn from(ensemble: Ensemble) -> Self {
        Arc::new(ensemble).into()
    }
}
