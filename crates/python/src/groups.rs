//! Groups of features found in data.

use apportion::games::Member;
use apportion::partitions::{Cut, FeatureClustering};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::rows;
use crate::errors::usage;
use crate::pool::Pool;

/// Returns groups of dependent columns of an array: the significant groups, `count` groups, or, if `tree`,
/// nested groups.
#[pyfunction]
#[pyo3(signature = (array, pool, count=None, tree=false, dependence=None, linkage=None))]
pub(crate) fn find_groups<'py>(
    py: Python<'py>,
    array: PyReadonlyArray2<'py, f64>,
    pool: &Bound<'py, Pool>,
    count: Option<usize>,
    tree: bool,
    dependence: Option<&str>,
    linkage: Option<&str>,
) -> PyResult<Bound<'py, PyList>> {
    let rows = rows(&array)?;
    let columns = rows.columns();
    if let Some(count) = count.filter(|count| !(1..=columns).contains(count)) {
        return Err(usage(py, format!("invalid number of groups {count}; expected 1 to {columns}")));
    }
    let mut clustering = FeatureClustering { cut: count.map(Cut::Groups), ..FeatureClustering::default() };
    if let Some(name) = dependence {
        clustering.dependence = name.parse().map_err(|error| usage(py, error))?;
    }
    if let Some(name) = linkage {
        clustering.linkage = name.parse().map_err(|error| usage(py, error))?;
    }
    let found = pool
        .get()
        .run(py, || clustering.fit(rows))?
        .map_err(|error| usage(py, format!("cannot find groups in the data: {error}")))?;
    let members = match tree {
        true => found.dendrogram.hierarchy().members(),
        false => found
            .partition
            .groups()
            .iter()
            .map(|group| Member::Group(group.iter().map(|&feature| Member::Player(feature)).collect()))
            .collect(),
    };
    listed(py, &members)
}

/// Returns members as nested lists of indices.
fn listed<'py>(py: Python<'py>, members: &[Member]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for member in members {
        match member {
            Member::Player(player) => list.append(player)?,
            Member::Group(inner) => list.append(listed(py, inner)?)?,
        }
    }
    Ok(list)
}
