//! References that are either borrowed or shared.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

#[cfg(feature = "conditional")]
use crate::conditional::ConditionalDistribution;
use crate::model::Model;

/// A model, or any other value that an explainer needs for its lifetime, either borrowed or shared.
///
/// Create it with `into` from `&T`, from `Arc<T>`, or from a sized `T` itself. Models and conditional
/// distributions also convert to trait objects. A struct that only contains shared values can be `'static`,
/// so that a service can store it and threads can exchange it.
///
/// ```
/// use std::sync::Arc;
///
/// use apportion_games::{Model, Rows, Shared};
///
/// fn predictor<'a>(model: impl Into<Shared<'a, dyn Model + 'a>>) -> impl Fn(f64) -> f64 + 'a {
///     let model = model.into();
///     move |input| {
///         let mut output = [f64::NAN];
///         model.predict(Rows::new(&[input], 1), &mut output).map(|()| output[0]).unwrap_or(f64::NAN)
///     }
/// }
/// let double = |row: &[f64]| 2.0 * row[0];
/// assert_eq!(predictor(&double)(3.0), 6.0);
/// let lives_on = predictor(Arc::new(double));
/// assert_eq!(std::thread::spawn(move || lives_on(4.0)).join().ok(), Some(8.0));
/// ```
pub struct Shared<'a, T: ?Sized>(Storage<'a, T>);

enum Storage<'a, T: ?Sized> {
    Borrowed(&'a T),
    Shared(Arc<T>),
}

impl<T: ?Sized> Deref for Shared<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.0 {
            Storage::Borrowed(held) => held,
            Storage::Shared(held) => held,
        }
    }
}

impl<T: ?Sized> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Storage::Borrowed(held) => Storage::Borrowed(held),
            Storage::Shared(held) => Storage::Shared(Arc::clone(held)),
        })
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Shared<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl<'a, T: ?Sized> From<&'a T> for Shared<'a, T> {
    fn from(held: &'a T) -> Self {
        Self(Storage::Borrowed(held))
    }
}

impl<'a, T> From<&'a Arc<T>> for Shared<'a, T> {
    fn from(held: &'a Arc<T>) -> Self {
        Self(Storage::Borrowed(held))
    }
}

impl<T: ?Sized> From<Arc<T>> for Shared<'_, T> {
    fn from(held: Arc<T>) -> Self {
        Self(Storage::Shared(held))
    }
}

impl<T> From<T> for Shared<'_, T> {
    fn from(held: T) -> Self {
        Arc::new(held).into()
    }
}

impl<'a, M: Model + 'a> From<&'a M> for Shared<'a, dyn Model + 'a> {
    fn from(model: &'a M) -> Self {
        Self(Storage::Borrowed(model))
    }
}

impl<'a, M: Model + 'a> From<Arc<M>> for Shared<'a, dyn Model + 'a> {
    fn from(model: Arc<M>) -> Self {
        Self(Storage::Shared(model))
    }
}

#[cfg(feature = "conditional")]
impl<'a, L: ConditionalDistribution + 'a> From<&'a L> for Shared<'a, dyn ConditionalDistribution + 'a> {
    fn from(distribution: &'a L) -> Self {
        Self(Storage::Borrowed(distribution))
    }
}

#[cfg(feature = "conditional")]
impl<'a, L: ConditionalDistribution + 'a> From<Arc<L>> for Shared<'a, dyn ConditionalDistribution + 'a> {
    fn from(distribution: Arc<L>) -> Self {
        Self(Storage::Shared(distribution))
    }
}
