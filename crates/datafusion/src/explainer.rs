//! Explanations of record batches.

use std::error::Error;
use std::sync::Arc;

use apportion::results::Batch;
use apportion::{Ensemble, Explainer, Model, Rows};
use datafusion_common::arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use datafusion_common::arrow::compute::take;
use datafusion_common::arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use rayon::ThreadPool;
use serde::Serialize;

use crate::columns::{Feature, chosen};
use crate::error::BatchError;
use crate::results::{Layout, Shape, metadata};

/// An explainer of record batches: a model, the options of the explanation, and the layout of results.
///
/// It is created with [`from_file`](Self::from_file), [`for_trees`](Self::for_trees) or
/// [`for_model`](Self::for_model), which return a [`Builder`](crate::Builder). Cloning is cheap; clones share
/// everything that was prepared.
///
/// The values of a row depend only on the row and the seed. They are bitwise identical for any batch, number
/// of threads and order of rows.
///
/// ```
/// use std::sync::Arc;
///
/// use apportion::Background;
/// use apportion_datafusion::BatchExplainer;
/// use datafusion_common::arrow::array::{AsArray, Float64Array, Int64Array, RecordBatch};
/// use datafusion_common::arrow::datatypes::Float64Type;
///
/// let model = Arc::new(|row: &[f64]| row[0] * row[1]);
/// let explainer = BatchExplainer::for_model(model, Background::baseline(vec![0.0; 2])?)
///     .feature_names(["a", "b"])
///     .keep(["id"])
///     .build()?;
/// let batch = RecordBatch::try_from_iter([
///     ("id", Arc::new(Int64Array::from(vec![7, 8])) as _),
///     ("a", Arc::new(Int64Array::from(vec![1, 2])) as _),
///     ("b", Arc::new(Float64Array::from(vec![3.0, 4.0])) as _),
/// ])?;
/// let found = explainer.explain(&batch)?;
/// let names: Vec<&str> = found.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
/// assert_eq!(names, ["id", "base", "prediction", "a", "b"]);
/// assert_eq!(found.column(3).as_primitive::<Float64Type>().values(), &[1.5, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BatchExplainer {
    pub(crate) inner: Arc<Inner>,
}

/// The explained model.
pub(crate) enum Source {
    Trees(Arc<Ensemble>),
    Model(Arc<dyn Model>),
}

/// The data that all clones of a [`BatchExplainer`] share.
pub(crate) struct Inner {
    pub(crate) source: Source,
    pub(crate) explainer: Explainer<'static>,
    pub(crate) pool: Option<ThreadPool>,
    pub(crate) features: usize,
    /// The names of the features, if known.
    pub(crate) names: Option<Vec<String>>,
    /// The features of each player, if players are groups.
    pub(crate) groups: Option<Vec<Vec<usize>>>,
    pub(crate) output_names: Option<Vec<String>>,
    pub(crate) shape: Shape,
    pub(crate) about: About,
    pub(crate) layout: Layout,
    pub(crate) keep: Vec<String>,
}

/// Description of the request in the metadata of results.
#[derive(Clone, Serialize)]
pub(crate) struct About {
    pub(crate) version: &'static str,
    pub(crate) schema: u32,
    pub(crate) layout: &'static str,
    pub(crate) value: String,
    pub(crate) game: &'static str,
    pub(crate) method: &'static str,
    pub(crate) seed: u64,
    pub(crate) features: Vec<String>,
    pub(crate) outputs: Option<Vec<String>>,
}

impl BatchExplainer {
    /// Returns the schema of the results for batches with the schema `input`, before any row is explained.
    ///
    /// With [`Layout::Columns`], there is one result row for each row and output. Its columns are the kept
    /// columns, `output` if the model has several outputs, `base`, `prediction`, one column for each player,
    /// and for estimates `std error of PLAYER` and `evaluations`. With [`Layout::Lists`], there is one result
    /// row for each row. Its columns are the kept columns, `base`, `prediction`, `values` (a list with the
    /// value of each player), and for estimates `std_errors` (of the same type as `values`) and
    /// `evaluations`. If the model has several outputs, `base`, `prediction` and the value of a player are
    /// lists with a number for each output. If a tolerance was set, both layouts also have `stopped_by`.
    ///
    /// The metadata entry `apportion` contains the version of the schema and a description of the request, as
    /// JSON.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if there are missing or surplus columns, two columns with the same name, or columns of
    /// an unsupported type.
    pub fn schema(&self, input: &Schema) -> Result<Schema, BatchError> {
        Ok(self.layout_of(input)?.schema.as_ref().clone())
    }

    /// Explains a batch. The result for a batch without rows has no rows.
    ///
    /// # Errors
    ///
    /// Same as [`schema`](Self::schema), and [`BatchError`] if a row cannot be explained or the model fails.
    pub fn explain(&self, batch: &RecordBatch) -> Result<RecordBatch, BatchError> {
        self.explain_in(batch, &self.layout_of(batch.schema_ref())?)
    }

    /// Explains batches one after the other, with only one in memory at a time. If a batch cannot be read or
    /// explained, the iterator yields the error.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use apportion::Background;
    /// use apportion_datafusion::BatchExplainer;
    /// use datafusion_common::arrow::array::{Float64Array, RecordBatch};
    /// use datafusion_common::arrow::error::ArrowError;
    ///
    /// let model = Arc::new(|row: &[f64]| 2.0 * row[0]);
    /// let explainer = BatchExplainer::for_model(model, Background::baseline(vec![0.0])?).build()?;
    /// let batch = |numbers: Vec<f64>| {
    ///     RecordBatch::try_from_iter([("a", Arc::new(Float64Array::from(numbers)) as _)])
    /// };
    /// // Any reader of Arrow is such an iterator.
    /// let batches: Vec<Result<RecordBatch, ArrowError>> = vec![batch(vec![1.0, 2.0]), batch(vec![3.0])];
    /// let rows = explainer.explain_batches(batches).map(|found| found.map(|found| found.num_rows()));
    /// assert_eq!(rows.collect::<Result<Vec<_>, _>>()?, [2, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain_batches<B, E>(
        &self,
        batches: B,
    ) -> impl Iterator<Item = Result<RecordBatch, BatchError>> + use<B, E>
    where
        B: IntoIterator<Item = Result<RecordBatch, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let explainer = self.clone();
        let mut known: Option<(SchemaRef, ResultLayout)> = None;
        batches.into_iter().map(move |batch| {
            let batch = batch.map_err(|error| BatchError::Input(error.into()))?;
            let laid = match known.take() {
                Some((given, laid)) if given == *batch.schema_ref() => laid,
                _ => explainer.layout_of(batch.schema_ref())?,
            };
            let found = explainer.explain_in(&batch, &laid);
            known = Some((batch.schema(), laid));
            found
        })
    }

    /// Returns the layout of the results for batches with this schema.
    fn layout_of(&self, input: &Schema) -> Result<ResultLayout, BatchError> {
        let inner = &self.inner;
        let column = |name: &String| input.fields().iter().position(|field| field.name() == name);
        let kept: Vec<Option<usize>> = inner.keep.iter().map(column).collect();
        if kept.contains(&None) {
            let lacking = inner.keep.iter().zip(&kept).filter(|(_, place)| place.is_none());
            return Err(BatchError::Keep {
                lacking: lacking.map(|(name, _)| name.clone()).collect(),
                columns: input.fields().iter().map(|field| field.name().clone()).collect(),
            });
        }
        let kept: Vec<usize> = kept.into_iter().flatten().collect();
        let features =
            chosen(input, inner.names.as_deref(), inner.features, &inner.keep, self.names_are_rewritten())?;
        for (feature, &column) in features.iter().enumerate() {
            let field = input.field(column);
            self.feature(feature, in_column(field)).check(field.data_type())?;
        }
        let names = match &inner.names {
            Some(names) => names.clone(),
            None => features.iter().map(|&column| input.field(column).name().clone()).collect(),
        };
        let players = self.players(&names);
        let mut fields: Vec<FieldRef> = kept.iter().map(|&column| input.fields()[column].clone()).collect();
        fields.extend(inner.layout.fields(&players, inner.shape).into_iter().map(Arc::new));
        if let Some(name) = repeated(fields.iter().map(|field| field.name())) {
            return Err(BatchError::SameResult { name });
        }
        let schema = Schema::new_with_metadata(fields, metadata(self.about(inner.layout.name(), players)));
        Ok(ResultLayout { schema: Arc::new(schema), kept, features })
    }

    fn explain_in(&self, batch: &RecordBatch, laid: &ResultLayout) -> Result<RecordBatch, BatchError> {
        let inner = &self.inner;
        let columns: Vec<(String, &ArrayRef)> = laid
            .features
            .iter()
            .map(|&column| (in_column(batch.schema_ref().field(column)), batch.column(column)))
            .collect();
        let found = self.explain_numbers(&self.numbers(&columns, batch.num_rows())?)?;
        let each = if inner.layout == Layout::Columns { inner.shape.outputs } else { 1 };
        let mut arrays = Vec::with_capacity(laid.schema.fields().len());
        for &column in &laid.kept {
            let kept = batch.column(column);
            arrays.push(if each == 1 {
                Arc::clone(kept)
            } else {
                let rows = (0..batch.num_rows() as u64).flat_map(|row| std::iter::repeat_n(row, each));
                take(kept, &UInt64Array::from_iter_values(rows), None)?
            });
        }
        let outputs = self.names_of_outputs();
        arrays.extend(inner.layout.arrays(&found, self.player_count(), &outputs, inner.shape)?);
        Ok(RecordBatch::try_new(Arc::clone(&laid.schema), arrays)?)
    }

    /// Converts `rows` rows to numbers. Each feature is passed as an array, together with its name in
    /// messages.
    pub(crate) fn numbers(
        &self,
        columns: &[(String, &ArrayRef)],
        rows: usize,
    ) -> Result<Vec<f64>, BatchError> {
        let width = self.inner.features;
        let mut numbers = vec![0.0; rows * width];
        for (feature, (place, column)) in columns.iter().enumerate().filter(|_| rows > 0) {
            self.feature(feature, place.clone()).write(column, &mut numbers[feature..], width)?;
        }
        Ok(numbers)
    }

    /// Explains rows given as numbers.
    pub(crate) fn explain_numbers(&self, numbers: &[f64]) -> Result<Batch, BatchError> {
        let explicands = Rows::new(numbers, self.inner.features);
        match &self.inner.pool {
            Some(pool) => pool.install(|| self.explained(explicands)),
            None => self.explained(explicands),
        }
    }

    fn explained(&self, explicands: Rows<'_>) -> Result<Batch, BatchError> {
        let Inner { explainer, shape, .. } = &*self.inner;
        let rows = explicands.len();
        if rows == 0 {
            return Ok(Batch::default());
        }
        // The exact result for all rows at once has no certificates, so it is only used if none are
        // requested.
        if !shape.has_accuracy
            && let Some(found) = explainer.exact(explicands)?
        {
            return Ok(Batch {
                rows: (0..rows as u64).collect(),
                values: found.values,
                base: found.base.repeat(rows),
                predictions: found.predictions,
                ..Batch::default()
            });
        }
        Ok(apportion::batch(explainer.explain_rows(explicands)?))
    }

    pub(crate) fn feature_count(&self) -> usize {
        self.inner.features
    }

    pub(crate) fn shape(&self) -> Shape {
        self.inner.shape
    }

    /// Returns the names of the features: `f0`, `f1` and so on if the names are not known.
    pub(crate) fn feature_names(&self) -> Vec<String> {
        let numbered = || (0..self.inner.features).map(|feature| format!("f{feature}")).collect();
        self.inner.names.clone().unwrap_or_else(numbered)
    }

    /// Returns the feature with the index `feature`. Messages refer to its column as `place`.
    pub(crate) fn feature(&self, feature: usize, place: String) -> Feature<'_> {
        let ensemble = match &self.inner.source {
            Source::Trees(ensemble) => Some(&**ensemble),
            Source::Model(_) => None,
        };
        Feature::new(place, ensemble, feature)
    }

    /// Returns the names of the players, given those of the features. The name of a group lists its features.
    pub(crate) fn players(&self, names: &[String]) -> Vec<String> {
        match &self.inner.groups {
            None => names.to_vec(),
            Some(groups) => groups
                .iter()
                .map(|group| {
                    let names: Vec<&str> = group.iter().map(|&feature| names[feature].as_str()).collect();
                    names.join(",")
                })
                .collect(),
        }
    }

    /// Returns the description of the request as JSON.
    pub(crate) fn about(&self, layout: &'static str, features: Vec<String>) -> String {
        let about = About { layout, features, ..self.inner.about.clone() };
        // This cannot fail for a struct of strings and numbers.
        serde_json::to_string(&about).unwrap_or_default()
    }

    fn player_count(&self) -> usize {
        self.inner.groups.as_ref().map_or(self.inner.features, Vec::len)
    }

    fn names_of_outputs(&self) -> Vec<String> {
        let numbered = || (0..self.inner.shape.outputs).map(|output| output.to_string()).collect();
        self.inner.output_names.clone().unwrap_or_else(numbered)
    }

    /// Returns whether the model is in a format of LightGBM, which replaces some characters in feature names.
    fn names_are_rewritten(&self) -> bool {
        match &self.inner.source {
            Source::Trees(ensemble) => ensemble.origin().format.starts_with("LightGBM"),
            Source::Model(_) => false,
        }
    }
}

impl std::fmt::Debug for BatchExplainer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let about = self.about(self.inner.layout.name(), self.players(&self.feature_names()));
        write!(f, "BatchExplainer({about})")
    }
}

/// The layout of the results for batches with one schema.
struct ResultLayout {
    schema: SchemaRef,
    /// The positions of the kept columns.
    kept: Vec<usize>,
    /// The positions of the features.
    features: Vec<usize>,
}

/// Returns the name used for a column in messages.
fn in_column(field: &Field) -> String {
    format!("column {:?}", field.name())
}

/// Returns the first name that equals an earlier one, if any.
pub(crate) fn repeated<'n>(names: impl Iterator<Item = &'n String>) -> Option<String> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().find(|name| !seen.insert(*name)).cloned()
}
