//! Tree ensembles, read from the bytes of their files.

use std::sync::Arc;

use apportion::models::LinkedEnsemble;
use apportion::{ReadOptions, Rounds};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyList;

use crate::arrays::rows;
use crate::categories;
use crate::errors::{self, Class, raised};
use crate::pool::Pool;
use crate::serve::{beside, left_alone};

/// Maximum size in bytes of a model file that is read without a separate thread: reading it takes less than a
/// tenth of a second.
const SMALL: usize = 1 << 20;

/// An additive ensemble of decision trees, or a linear model read as one.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct Ensemble {
    pub(crate) trees: Arc<apportion::Ensemble>,
}

/// The boosting rounds to use.
#[derive(FromPyObject)]
enum RoundSelection {
    Within(usize, usize),
    All(bool),
}

impl Ensemble {
    fn new(trees: apportion::Ensemble) -> Self {
        Self { trees: Arc::new(trees) }
    }

    /// Returns the categories of a feature; `None` if it has no categories.
    pub(crate) fn categories_of(&self, feature: usize) -> Option<&apportion::trees::Categories> {
        self.trees.categories(feature)
    }
}

#[pymethods]
impl Ensemble {
    /// Reads the bytes of a model file. `rounds` is None for the rounds up to the best one, True for all, or
    /// a pair of the first round and the one after the last.
    #[staticmethod]
    #[pyo3(signature = (content, rounds=None, most_features=None))]
    fn from_bytes(
        py: Python<'_>,
        content: PyBackedBytes,
        rounds: Option<RoundSelection>,
        most_features: Option<usize>,
    ) -> PyResult<Self> {
        let rounds = match rounds {
            Some(RoundSelection::Within(start, end)) => Rounds::Within(start..end),
            Some(RoundSelection::All(true)) => Rounds::All,
            _ => Rounds::Best,
        };
        let is_small = content.len() <= SMALL;
        let options = ReadOptions::default().rounds(rounds);
        let options = most_features.iter().fold(options, |options, &count| options.max_features(count));
        let read = move || apportion::Ensemble::from_bytes_with(&content, &options);
        let read = match is_small {
            true => py.detach(|| crate::pool::caught(read)).map_err(|says| errors::internal(py, &says))?,
            false => left_alone(py, read)?,
        };
        Ok(Self::new(read.map_err(|error| errors::of_reading(py, &error))?))
    }

    /// Returns an ensemble whose margins are the mean margins of several ensembles.
    #[staticmethod]
    fn mean_of(py: Python<'_>, members: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let members: Vec<&apportion::Ensemble> = members.iter().map(|member| member.trees.as_ref()).collect();
        Ok(Self::new(apportion::Ensemble::mean_of(&members).map_err(|error| errors::of_reading(py, &error))?))
    }

    /// Returns the scale of the terms that are summed to each margin, as a flat array of rows × outputs.
    fn margin_scales<'py>(
        &self,
        py: Python<'py>,
        array: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scales = self.trees.margin_scales(rows(&array)?);
        Ok(PyArray1::from_vec(py, scales.map_err(|error| errors::of_reading(py, &error))?))
    }

    /// Number of features of a row.
    #[getter]
    fn feature_count(&self) -> usize {
        self.trees.feature_count()
    }

    /// Names of the features; None if the file does not contain them.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.trees.feature_names().map(<[String]>::to_vec)
    }

    /// Number of outputs.
    #[getter]
    fn output_count(&self) -> usize {
        self.trees.output_count()
    }

    /// Names of the outputs; None if the file does not contain them.
    #[getter]
    fn output_names(&self) -> Option<Vec<String>> {
        self.trees.output_names().map(<[String]>::to_vec)
    }

    /// Names of the classes: one for each output, or two for a single margin; None if the file does not
    /// contain them.
    #[getter]
    fn class_names(&self) -> Option<Vec<String>> {
        self.trees.class_names().map(<[String]>::to_vec)
    }

    /// Number of trees in use.
    #[getter]
    fn tree_count(&self) -> usize {
        self.trees.tree_count()
    }

    /// Number of leaves of the trees in use.
    #[getter]
    fn leaf_count(&self) -> usize {
        self.trees.leaf_count()
    }

    /// Number of splits on the longest path from a root to a leaf.
    #[getter]
    fn depth(&self) -> usize {
        self.trees.depth()
    }

    /// Name of the link function.
    #[getter]
    fn link(&self) -> Option<&'static str> {
        self.trees.link().map(apportion::trees::Link::name)
    }

    /// Format (which begins with the library), version, booster and objective.
    #[getter]
    fn origin(&self) -> (String, String, String, String) {
        let origin = self.trees.origin().clone();
        (origin.format, origin.version, origin.booster, origin.objective)
    }

    /// Hexadecimal digest of everything that explanations depend on.
    #[getter]
    fn digest(&self) -> String {
        self.trees.digest().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Notes for users about the file.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.trees.notes().to_vec()
    }

    /// Margin of each output before any tree.
    #[getter]
    fn base_margins<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.trees.base_margins())
    }

    /// The first round in use, the round after the last one in use, the number of rounds in the file, and the
    /// number of rounds up to the best one.
    #[getter]
    fn rounds(&self) -> (usize, usize, usize, Option<usize>) {
        let used = self.trees.rounds();
        (used.start, used.end, self.trees.round_count(), self.trees.best_round_count())
    }

    /// The reason why the cover does not define the path-dependent game; None if it does.
    #[getter]
    fn lacks_covers(&self) -> Option<String> {
        self.trees.check_covers().err().map(|error| error.to_string())
    }

    /// Features with categorical splits.
    #[getter]
    fn categorical_features(&self) -> Vec<usize> {
        self.trees.categorical_features()
    }

    /// Features whose categories (strings or numbers) are listed in the file.
    #[getter]
    fn features_with_words(&self) -> Vec<usize> {
        (0..self.trees.feature_count()).filter(|&feature| self.trees.categories(feature).is_some()).collect()
    }

    /// Returns the categories of a feature in the order of their codes; an empty list if the codes are
    /// hashes, and None if the feature has no categories.
    fn categories<'py>(&self, py: Python<'py>, feature: usize) -> PyResult<Option<Bound<'py, PyList>>> {
        self.trees.categories(feature).map(|words| categories::listed(py, words)).transpose()
    }

    /// Returns the codes of strings; None if the feature has no categories. Raises IndexError with the
    /// position of the first string that is rejected.
    fn codes_of_texts<'py>(
        &self,
        py: Python<'py>,
        feature: usize,
        texts: Vec<Option<String>>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let Some(words) = self.trees.categories(feature) else { return Ok(None) };
        let codes = categories::of_texts(words, &texts).map_err(pyo3::exceptions::PyIndexError::new_err)?;
        Ok(Some(PyArray1::from_vec(py, codes)))
    }

    /// Returns the codes of numbers; None if the feature has no categories. Raises IndexError with the
    /// position of the first number that is rejected.
    fn codes_of_numbers<'py>(
        &self,
        py: Python<'py>,
        feature: usize,
        numbers: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let Some(words) = self.trees.categories(feature) else { return Ok(None) };
        let codes = categories::of_numbers(words, numbers.as_slice()?)
            .map_err(pyo3::exceptions::PyIndexError::new_err)?;
        Ok(Some(PyArray1::from_vec(py, codes)))
    }

    /// Returns the margins, or, if `linked`, the outputs after the link function, as a flat array of rows ×
    /// outputs.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        array: PyReadonlyArray2<'py, f64>,
        linked: bool,
        pool: &Bound<'py, Pool>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (rows, trees) = (rows(&array)?, &self.trees);
        let predicted = pool.get().run(py, || match linked {
            true => LinkedEnsemble::new(Arc::clone(trees)).and_then(|model| model.outputs_of(rows)),
            false => trees.margins(rows),
        })?;
        Ok(PyArray1::from_vec(py, predicted.map_err(|error| errors::of_reading(py, &error))?))
    }

    /// Returns the model whose output is the loss of its predictions, for rows with this target.
    fn with_loss(&self, py: Python<'_>, target: f64) -> PyResult<Self> {
        let model = self.trees.as_ref().clone().with_loss(target);
        Ok(Self::new(model.map_err(|error| errors::of_reading(py, &error))?))
    }

    /// Returns the model with cover counted on rows, instead of the cover in its file.
    #[pyo3(signature = (array, weights=None))]
    fn with_covers_of(
        &self,
        py: Python<'_>,
        array: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let (model, rows) = (self.trees.as_ref().clone(), rows(&array)?);
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose();
        let weights = weights.map_err(|_| raised(py, Class::Data, "weights must be a contiguous array"))?;
        let counted = beside(py, || match weights {
            None => model.with_covers_of(rows),
            Some(weights) => model.with_covers_of_weighted(rows, weights),
        })?;
        Ok(Self::new(counted.map_err(|error| errors::of_reading(py, &error))?))
    }
}
