//! Figures and reports.

use std::sync::Arc;

use apportion::SolutionConcept;
use apportion::plots::{
    Anchor, Batch, Certified, Condition, Dress, Explained, Form, Gathering, Heading, Kind, Medium, Member,
    Options, Paint, PlotError, Report, ResultsError, Scene, Shape,
};
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::errors::{Class, raised, usage};
use crate::serve::left_alone;

/// Returns the figures, each as its name and a description in one line.
#[pyfunction]
pub(crate) fn figures() -> Vec<(&'static str, &'static str)> {
    Kind::ALL.map(|kind| (kind.name(), kind.line())).into()
}

/// Returns an HTML report of values, and of the interactions of the same players if they are passed.
#[pyfunction]
#[pyo3(signature = (values, pairs=None, title=None, command=None))]
pub(crate) fn report(
    py: Python<'_>,
    values: &Gathered,
    pairs: Option<&Gathered>,
    title: Option<String>,
    command: Option<String>,
) -> PyResult<String> {
    let (values, pairs) = (Arc::clone(&values.explained), pairs.map(|pairs| Arc::clone(&pairs.explained)));
    let page = move || {
        let mut page = Report::new(&values);
        if let Some(pairs) = &pairs {
            page = page.interactions(pairs);
        }
        if let Some(title) = &title {
            page = page.title(title);
        }
        if let Some(command) = &command {
            page = page.command(command);
        }
        page.html()
    };
    left_alone(py, page)?.map_err(|error| failed(py, &error))
}

/// The data of figures and reports.
#[pyclass(frozen, name = "Gathered", module = "apportion._core")]
pub(crate) struct Gathered {
    explained: Arc<Explained>,
}

fn failed(py: Python<'_>, error: &PlotError) -> PyErr {
    match error {
        PlotError::Results(ResultsError::Count { .. } | ResultsError::Names { .. })
        | PlotError::NotFinite { .. } => raised(py, Class::Data, error.to_string()),
        _ => usage(py, error),
    }
}

#[pymethods]
impl Gathered {
    /// Gathers statistics of all rows, and keeps a limited number of individual rows, always including the
    /// row `wanted`. `heading` contains the part that all rows have in common, and `arrays` contains their
    /// data as row-major arrays.
    #[new]
    fn new(
        py: Python<'_>,
        heading: &Bound<'_, PyDict>,
        arrays: &Bound<'_, PyDict>,
        wanted: Option<u64>,
        seed: u64,
    ) -> PyResult<Self> {
        let heading = heading_of(py, heading)?;
        let batch = batch_of(arrays)?;
        let most = Gathering::usual_rows(&heading);
        let gathered = Gathering::new(heading).and_then(|gathering| {
            let mut gathering = gathering.seed(seed).max_rows(most);
            if let Some(row) = wanted {
                gathering = gathering.keeping(row);
            }
            gathering.add(batch)?;
            Ok(gathering.end())
        });
        Ok(Self { explained: Arc::new(gathered.map_err(|error| failed(py, &error))?) })
    }

    /// Lays out a figure.
    fn figure(&self, py: Python<'_>, kind: &str, options: &Bound<'_, PyDict>) -> PyResult<Figure> {
        let kind: Kind = kind.parse().map_err(|error: PlotError| failed(py, &error))?;
        let options = options_of(py, &self.explained, options)?;
        let explained = Arc::clone(&self.explained);
        let scene = left_alone(py, move || kind.lay_out(&explained, &options))?;
        Ok(Figure { scene: Arc::new(scene.map_err(|error| failed(py, &error))?) })
    }
}

/// The layout of a figure.
#[pyclass(frozen, module = "apportion._core")]
pub(crate) struct Figure {
    scene: Arc<Scene>,
}

#[pymethods]
impl Figure {
    /// Width and height in CSS pixels.
    #[getter]
    fn size(&self) -> (f64, f64) {
        (self.scene.width, self.scene.height)
    }

    #[getter]
    fn title(&self) -> &str {
        &self.scene.title
    }

    #[getter]
    fn description(&self) -> &str {
        &self.scene.description
    }

    fn svg(&self) -> String {
        self.scene.svg(Dress::Colours)
    }

    fn png<'py>(&self, py: Python<'py>, scale: f64) -> PyResult<Bound<'py, PyBytes>> {
        let scene = Arc::clone(&self.scene);
        let bytes = left_alone(py, move || scene.png(scale))?.map_err(|error| failed(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn csv(&self) -> String {
        self.scene.table.to_csv()
    }

    /// Returns the shapes as tuples of a kind and its properties, for drawing with Matplotlib.
    fn shapes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.scene.shapes.iter().map(|shape| as_tuple(py, shape)).collect()
    }
}

fn colour(paint: Paint) -> String {
    let [red, green, blue] = paint.light();
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn as_tuple<'py>(py: Python<'py>, shape: &Shape) -> PyResult<Bound<'py, PyTuple>> {
    Ok(match shape {
        Shape::Rectangle { at, size, paint, opacity, .. } => {
            ("rectangle", *at, *size, colour(*paint), *opacity).into_pyobject(py)?
        }
        Shape::Line { points, paint, width, is_dashed, opacity, .. } => {
            ("line", points.clone(), colour(*paint), *width, *is_dashed, *opacity).into_pyobject(py)?
        }
        Shape::Area { points, paint, opacity, .. } => {
            ("area", points.clone(), colour(*paint), *opacity).into_pyobject(py)?
        }
        // Omit the markers, because dots are round in all kinds of figures.
        Shape::Dots { points, radius, paint, .. } => {
            ("dots", points.clone(), *radius, colour(*paint)).into_pyobject(py)?
        }
        Shape::Text { at, text, size, anchor, paint, is_bold, is_upright } => {
            let side = match anchor {
                Anchor::Start => "left",
                Anchor::Middle => "center",
                Anchor::End => "right",
            };
            ("text", *at, text.clone(), *size, side, colour(*paint), *is_bold, *is_upright)
                .into_pyobject(py)?
        }
        Shape::Picture { at, size, picture } => {
            let pixels = PyBytes::new(py, picture.pixels.as_flattened());
            ("picture", *at, *size, picture.width, picture.height, pixels).into_pyobject(py)?
        }
    })
}

fn entry<'py, T: FromPyObjectOwned<'py>>(of: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<T>> {
    let found = of.get_item(name)?.filter(|found| !found.is_none());
    found.map(|found| found.extract::<T>().map_err(Into::into)).transpose()
}

fn heading_of(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<Heading> {
    let text = |name| Ok::<_, PyErr>(entry::<String>(given, name)?.unwrap_or_default());
    let value = text("value")?;
    let groups = entry::<String>(given, "groups")?.map(|groups| serde_json::from_str::<Vec<Member>>(&groups));
    let groups = groups.transpose().map_err(|error| usage(py, format!("groups: {error}")))?;
    Ok(Heading {
        is_efficient: value.parse::<SolutionConcept>().is_ok_and(|value| value.is_efficient()),
        value,
        game: text("game")?,
        method: text("method")?,
        facts: entry::<Vec<(String, String)>>(given, "facts")?
            .into_iter()
            .flatten()
            .map(|(name, words)| (name, words.into()))
            .collect(),
        players: entry(given, "players")?.unwrap_or_default(),
        features: entry(given, "features")?.unwrap_or_default(),
        members: entry(given, "members")?.unwrap_or_default(),
        categories: entry(given, "categories")?.unwrap_or_default(),
        outputs: entry(given, "outputs")?.unwrap_or_else(|| vec![String::new()]),
        groups: groups.unwrap_or_default(),
        interactions: match entry::<String>(given, "interactions")?.as_deref() {
            Some("remainder") => Some(Form::Remainder),
            Some(_) => Some(Form::Index),
            None => None,
        },
        medium: medium_of(given)?,
    })
}

/// Returns the text or the image whose parts are the players.
fn medium_of(given: &Bound<'_, PyDict>) -> PyResult<Option<Medium>> {
    if let Some(text) = entry::<String>(given, "text")? {
        return Ok(Some(Medium::Text { text, spans: entry(given, "spans")?.unwrap_or_default() }));
    }
    let Some((height, width)) = entry::<(usize, usize)>(given, "image_size")? else { return Ok(None) };
    let segments = entry::<Vec<u32>>(given, "segments")?.unwrap_or_default();
    let pixels = entry::<Vec<[u8; 3]>>(given, "pixels")?.unwrap_or_default();
    Ok(Some(Medium::Image { width, height, segments, pixels }))
}

fn batch_of(given: &Bound<'_, PyDict>) -> PyResult<Batch> {
    let numbers = |name: &str| -> PyResult<Vec<f64>> {
        let Some(array) = given.get_item(name)?.filter(|array| !array.is_none()) else {
            return Ok(Vec::new());
        };
        Ok(array.extract::<PyReadonlyArrayDyn<'_, f64>>()?.as_slice()?.to_vec())
    };
    let whole = |name: &str| -> PyResult<Vec<u64>> {
        let Some(array) = given.get_item(name)?.filter(|array| !array.is_none()) else {
            return Ok(Vec::new());
        };
        Ok(array.extract::<PyReadonlyArray1<'_, u64>>()?.as_slice()?.to_vec())
    };
    let certificates: Vec<Option<String>> = entry(given, "certificates")?.unwrap_or_default();
    let certificate = |text: Option<String>| Certified::from_json(&text?).ok();
    Ok(Batch {
        rows: whole("rows")?,
        ids: entry(given, "ids")?,
        base: numbers("base")?,
        predictions: numbers("predictions")?,
        values: numbers("values")?,
        std_errors: numbers("std_errors")?,
        degrees_of_freedom: numbers("degrees_of_freedom")?,
        inputs: numbers("inputs")?,
        evaluations: whole("evaluations")?,
        certificates: certificates.into_iter().map(certificate).collect(),
        ..Batch::default()
    })
}

fn options_of(py: Python<'_>, explained: &Explained, given: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut options = Options::default();
    let player = |name: &str| -> PyResult<Option<usize>> {
        let found = entry::<String>(given, name)?.map(|name| explained.place_of_player(&name));
        found.transpose().map_err(|error| failed(py, &error))
    };
    options.width = entry(given, "width")?.unwrap_or(options.width);
    options.max_players = entry(given, "top")?;
    options.row = entry(given, "row")?;
    options.output = entry(given, "output")?.unwrap_or(0);
    options.player = player("feature")?;
    options.partner = player("partner")?;
    let conditions = entry::<Vec<String>>(given, "where")?.unwrap_or_default();
    let conditions =
        conditions.iter().map(|condition| condition.parse::<Condition>()).collect::<Result<_, _>>();
    options.cohorts = conditions.map_err(|error| failed(py, &error))?;
    Ok(options)
}
