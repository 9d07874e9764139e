//! `apportion groups`: groups of features that depend on each other, and their dendrogram.

use anyhow::{Context, Result, ensure};
use apportion::options::{self, FindGroups as Find, format_groups};
use apportion::partitions::Cut;
use apportion_files::Destination;
use serde_json::json;

use super::threads;
use crate::failure::Usage;
use crate::parse::args::FindGroups;
use crate::parse::format::Format;
use crate::parse::groups::Groups;
use crate::read::{groups, rows};
use crate::write::Facts;

pub(crate) fn run(args: &FindGroups) -> Result<()> {
    let Groups::Words(options::Groups::Auto(what @ (Find::Significant | Find::Count(_)))) = args.groups
    else {
        let says = "apportion groups finds the groups in the data; pass --groups auto or auto=K instead of a \
                    list";
        return Err(Usage(says.to_owned()).into());
    };
    let format = args.output.format;
    if !format.is_for_facts() {
        let says =
            format!("apportion groups does not support --format {}; use json, csv or table", format.name());
        return Err(Usage(says).into());
    }
    let inputs = [args.rows.as_path()];
    let destination = Destination::new(args.output.out.as_deref(), &inputs)?;
    let figure = match &args.figure {
        Some(path) => Some(Destination::from_option("--figure", path, &inputs)?),
        None => None,
    };
    if figure.as_ref().is_some_and(|figure| figure.is_file_of(&destination)) {
        return Err(Usage("--figure and --out name the same file; use different files".to_owned()).into());
    }
    let table = rows::read(&args.rows, &args.columns.all())?;
    ensure!(table.columns > 0, "{} has no columns to group; pass at least one column", args.rows.display());
    let selected = match &args.select {
        Some(selection) => selection.rows(table.len(), "--select", &args.rows.display().to_string())?,
        None => (0..table.len()).collect(),
    };
    let data = table.gather(&selected);
    let names =
        table.names.unwrap_or_else(|| (0..table.columns).map(|feature| format!("f{feature}")).collect());
    let found = threads::run(&args.threads, || groups::find(what, &args.clustering, &data, &names))??;
    let dendrogram = found.dendrogram.with_names(names.iter().cloned())?;
    if let Some(figure) = figure {
        let svg = dendrogram.to_svg(Some(found.cut))? + "\n";
        figure
            .write(|out| -> Result<()> { Ok(out.write_all(svg.as_bytes())?) })
            .context("cannot write the figure")?;
    }
    let members: Vec<Vec<&String>> = found
        .partition
        .groups()
        .iter()
        .map(|group| group.iter().map(|&feature| &names[feature]).collect())
        .collect();
    let cut = match found.cut {
        Cut::Height(height) => ("cut_at_height", json!(height)),
        Cut::Groups(count) => ("cut_into", json!(count)),
    };
    let mut facts = vec![
        ("rows", json!(selected.len())),
        ("dependence", json!(args.clustering.dependence.unwrap_or_default().to_string())),
        ("linkage", json!(args.clustering.linkage.unwrap_or_default().to_string())),
        cut,
        ("option", json!(format_groups(found.partition.groups(), &names))),
        ("groups", json!(members)),
    ];
    // Only JSON, which is for programs, contains the dendrogram. For people, `--figure` draws it.
    if args.output.format == Format::Json {
        facts.push(("dendrogram", json!(dendrogram)));
    }
    destination.write(|out| Facts(facts).write(args.output.format, out))
}
