//! SQL functions.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion_common::arrow::array::{Array, ArrayRef};
use datafusion_common::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::registry::FunctionRegistry;
use datafusion_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};

use crate::error::BatchError;
use crate::explainer::{BatchExplainer, repeated};
use crate::recent::Recent;
use crate::results::metadata;

/// The name, in the metadata of results, of the layout that the SQL functions return.
const LAYOUT: &str = "struct";

/// Registers the function `name` in a session. Its arguments are the features of the explainer's model, in
/// order.
///
/// ```sql
/// SELECT id, explain_risk(age, bmi, bp) FROM patients
/// ```
///
/// It returns a struct for each row. `base` and `prediction` are numbers, or lists of them if the model has
/// several outputs. `values` is a struct with a field of the same type for each player. For estimates, there
/// are `std_errors` with the same type and `evaluations`; if a tolerance was set, there is `stopped_by`. The
/// number of arguments and their types are checked when the query is planned. NULL is a missing value. A
/// lower-case name that is not an SQL keyword needs no quotes in a query. The [columns to
/// keep](crate::Builder::keep) and the layout of the explainer are ignored.
///
/// # Errors
///
/// [`BatchError::SamePlayer`] if two players have the same name.
pub fn register(
    session: &mut dyn FunctionRegistry,
    name: impl Into<String>,
    explainer: BatchExplainer,
) -> std::result::Result<(), BatchError> {
    session.register_udf(Arc::new(function(name, explainer)?))?;
    Ok(())
}

/// Returns the function that [`register`] registers, for expressions built in Rust.
///
/// # Errors
///
/// Same as [`register`].
pub fn function(
    name: impl Into<String>,
    explainer: BatchExplainer,
) -> std::result::Result<ScalarUDF, BatchError> {
    let prepared = PreparedExplainer::new(explainer)?;
    Ok(ScalarUDF::from(Function {
        name: name.into(),
        signature: any(),
        of: ModelSource::One(Arc::new(prepared)),
    }))
}

/// Registers the function `explain` in a session, with the alias `explain_row`. Its first argument is the
/// path of a model file. The trees of the model must have cover, and are explained with the path-dependent
/// game.
///
/// ```sql
/// SELECT explain('model.json', age, bmi, bp) FROM patients;
/// SELECT id, explain_row('model.json', age, bmi, bp) FROM patients;
/// ```
///
/// `EXPLAIN` is also an SQL keyword. After a comma, the parser of DataFusion's default dialect treats it as
/// the end of the list; in this case, write `explain_row`, or `"explain"` with quotes.
///
/// The path must be a string literal in the query. The file is read when the first query that names it is
/// planned, and its model stays in the memory of the session. To read a changed file again, call this
/// function again.
///
/// With this function, the authors of queries choose which files the process opens. To prevent this,
/// [`register`] a single model, or pass the permitted models to [`register_models`].
pub fn register_all(session: &mut dyn FunctionRegistry) -> std::result::Result<(), BatchError> {
    let load = |path: &str| BatchExplainer::from_file(path)?.build();
    session.register_udf(Arc::new(of_models("explain".to_owned(), load).with_aliases(["explain_row"])))?;
    Ok(())
}

/// Registers a function like [`register_all`]; for each model name in a query, `load` creates the explainer.
/// Use it for names instead of paths, models from an object store, or other games and values. `load` is
/// called once for each name, except that errors are not cached. It may return errors of other crates as
/// [`BatchError::Input`].
///
/// ```
/// use apportion_datafusion::{BatchExplainer, register_models};
/// use datafusion_expr::registry::MemoryFunctionRegistry;
///
/// // In a program: datafusion::prelude::SessionContext::new().
/// let mut session = MemoryFunctionRegistry::new();
/// // SELECT explain_by('risk', …) reads /models/risk.json, and no other directory can be named.
/// register_models(&mut session, "explain_by", |name| {
///     let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
///     BatchExplainer::from_file(format!("/models/{letters}.json"))?.seed(7).build()
/// })?;
/// # Ok::<(), apportion_datafusion::BatchError>(())
/// ```
pub fn register_models(
    session: &mut dyn FunctionRegistry,
    name: impl Into<String>,
    load: impl Fn(&str) -> std::result::Result<BatchExplainer, BatchError> + Send + Sync + 'static,
) -> std::result::Result<(), BatchError> {
    session.register_udf(Arc::new(of_models(name.into(), load)))?;
    Ok(())
}

/// Returns a function whose first argument is the name of a model.
fn of_models(
    name: String,
    load: impl Fn(&str) -> std::result::Result<BatchExplainer, BatchError> + Send + Sync + 'static,
) -> ScalarUDF {
    let models = Models { load: Box::new(load), known: Mutex::default() };
    ScalarUDF::from(Function { name, signature: any(), of: ModelSource::Named(Arc::new(models)) })
}

/// Returns a signature that accepts any arguments, so that invalid ones are reported with the messages of
/// this crate.
fn any() -> Signature {
    Signature::one_of(vec![TypeSignature::Nullary, TypeSignature::VariadicAny], Volatility::Immutable)
}

/// An SQL function. Two functions are equal if they have the same name and share the explained model.
#[derive(Debug)]
struct Function {
    name: String,
    signature: Signature,
    of: ModelSource,
}

/// The source of the explained model.
#[derive(Debug)]
enum ModelSource {
    /// A fixed model.
    One(Arc<PreparedExplainer>),
    /// The model named by the first argument.
    Named(Arc<Models>),
}

/// An explainer, with the result type of its SQL function.
#[derive(Debug)]
struct PreparedExplainer {
    explainer: BatchExplainer,
    features: Vec<String>,
    players: Vec<String>,
    returns: FieldRef,
    recent: Recent,
}

/// A function that creates the explainer for a model named in a query.
type Load = dyn Fn(&str) -> std::result::Result<BatchExplainer, BatchError> + Send + Sync;

/// The models named in queries so far.
struct Models {
    load: Box<Load>,
    known: Mutex<HashMap<String, Arc<PreparedExplainer>>>,
}

impl PreparedExplainer {
    fn new(explainer: BatchExplainer) -> std::result::Result<Self, BatchError> {
        let features = explainer.feature_names();
        let players = explainer.players(&features);
        if let Some(name) = repeated(players.iter()) {
            return Err(BatchError::SamePlayer { name });
        }
        let returned = DataType::Struct(explainer.shape().struct_fields(&players));
        let about = explainer.about(LAYOUT, players.clone());
        let returns = Arc::new(Field::new("explain", returned, true).with_metadata(metadata(about)));
        Ok(Self { explainer, features, players, returns, recent: Recent::new() })
    }

    /// Checks the types of the features; the first feature is argument number `first` of the function.
    fn check(
        &self,
        function: &str,
        types: &[&DataType],
        first: usize,
    ) -> std::result::Result<(), BatchError> {
        let wanted = self.explainer.feature_count();
        if types.len() != wanted {
            return Err(BatchError::Arguments {
                function: function.to_owned(),
                actual: types.len(),
                expected: wanted,
                after_model: first > 1,
                features: self.features.clone(),
            });
        }
        for (feature, given) in types.iter().enumerate() {
            self.explainer.feature(feature, self.place(function, feature, first)).check(given)?;
        }
        Ok(())
    }

    /// Returns the name used in messages for the argument that contains a feature.
    fn place(&self, function: &str, feature: usize, first: usize) -> String {
        format!("argument {} of {function} ({:?})", first + feature, self.features[feature])
    }

    fn run(
        &self,
        function: &str,
        arguments: &[ColumnarValue],
        first: usize,
        rows: usize,
    ) -> Result<ColumnarValue> {
        let types: Vec<DataType> = arguments.iter().map(ColumnarValue::data_type).collect();
        self.check(function, &types.iter().collect::<Vec<_>>(), first)?;
        // Explain a row of constants only once, regardless of the number of rows.
        let is_constant = arguments.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { rows };
        let arrays = arguments.iter().map(|argument| argument.to_array(rows));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let columns: Vec<(String, &ArrayRef)> = arrays
            .iter()
            .enumerate()
            .map(|(feature, array)| (self.place(function, feature, first), array))
            .collect();
        let numbers = self.explainer.numbers(&columns, rows)?;
        if let Some(structs) = self.recent.get(&numbers).filter(|_| !is_constant) {
            return Ok(ColumnarValue::Array(structs));
        }
        let found = self.explainer.explain_numbers(&numbers)?;
        let structs: ArrayRef = Arc::new(self.explainer.shape().structs(&found, &self.players)?);
        debug_assert_eq!(structs.data_type(), self.returns.data_type());
        if is_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&structs, 0)?));
        }
        self.recent.put(numbers, &structs);
        Ok(ColumnarValue::Array(structs))
    }
}

impl Models {
    fn get(&self, function: &str, name: &str) -> std::result::Result<Arc<PreparedExplainer>, BatchError> {
        // Ignore poisoning: a panic cannot leave the map inconsistent.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = known.get(name) {
            return Ok(Arc::clone(prepared));
        }
        let loaded =
            (self.load)(name).and_then(PreparedExplainer::new).map_err(|problem| BatchError::InQuery {
                function: function.to_owned(),
                path: name.to_owned(),
                problem: Box::new(problem),
            })?;
        let prepared = Arc::new(loaded);
        known.insert(name.to_owned(), Arc::clone(&prepared));
        Ok(prepared)
    }
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Models")
    }
}

impl Function {
    /// Returns the explainer, and the number of arguments before the features.
    fn prepared(
        &self,
        first: Option<&ScalarValue>,
    ) -> std::result::Result<(Arc<PreparedExplainer>, usize), BatchError> {
        match &self.of {
            ModelSource::One(prepared) => Ok((Arc::clone(prepared), 0)),
            ModelSource::Named(models) => {
                let name = first.and_then(|first| first.try_as_str().flatten());
                let name = name.ok_or_else(|| BatchError::NoModel { function: self.name.clone() })?;
                Ok((models.get(&self.name, name)?, 1))
            }
        }
    }

    /// Returns the identity of the function: the address of the explained model, and the name.
    fn identity(&self) -> (usize, &str) {
        let place = match &self.of {
            ModelSource::One(prepared) => Arc::as_ptr(prepared).addr(),
            ModelSource::Named(models) => Arc::as_ptr(models).addr(),
        };
        (place, &self.name)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        let (prepared, _) = self.prepared(None).map_err(BatchError::in_plan)?;
        Ok(prepared.returns.data_type().clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let first = arguments.scalar_arguments.first().copied().flatten();
        let (prepared, before) = self.prepared(first).map_err(BatchError::in_plan)?;
        let types: Vec<&DataType> =
            arguments.arg_fields.iter().skip(before).map(|field| field.data_type()).collect();
        prepared.check(&self.name, &types, before + 1).map_err(BatchError::in_plan)?;
        Ok(Arc::clone(&prepared.returns))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let first = match arguments.args.first() {
            Some(ColumnarValue::Scalar(first)) => Some(first),
            _ => None,
        };
        let (prepared, before) = self.prepared(first)?;
        prepared.run(&self.name, &arguments.args[before..], before + 1, arguments.number_rows)
    }
}
