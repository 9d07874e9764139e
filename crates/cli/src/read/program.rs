//! Starts a program that replaces the model file: `--predict 'COMMAND'`.

use std::sync::Arc;

use anyhow::{Context, Result};
use apportion::Rows;
use apportion_program::{Column, Program};
use apportion_rows::Texts;

use crate::failure::Usage;
use crate::interrupt;
use crate::messages;
use crate::parse::program::ProgramArgs;

/// The strings of one feature.
#[derive(Debug)]
struct TextsOf {
    texts: Arc<Texts>,
    feature: usize,
}

impl apportion_program::Texts for TextsOf {
    fn is_text(&self) -> bool {
        self.texts.is_text(self.feature)
    }

    fn with_text(&self, number: f64, with: &mut dyn FnMut(&str)) -> bool {
        self.texts.with_text(self.feature, number, with)
    }
}

/// A running program.
pub(crate) struct Running {
    pub(crate) program: Program,
    /// The names of the columns, if the rows have a header.
    pub(crate) names: Option<Vec<String>>,
    /// The strings in the rows, which the program reads.
    pub(crate) texts: Arc<Texts>,
    /// The names of the outputs, if the program has several outputs and names them.
    pub(crate) classes: Option<Vec<String>>,
}

impl ProgramArgs {
    /// Starts the program for rows with these column names. The numbers in the rows are codes of the strings
    /// in `texts`. `rows` must contain at least one row.
    pub(crate) fn start(
        &self,
        names: Option<Vec<String>>,
        rows: Rows<'_>,
        texts: Arc<Texts>,
    ) -> Result<Running> {
        interrupt::listen()?;
        let command = self.command.as_deref().unwrap_or_default();
        if rows.is_empty() {
            return Err(Usage("--predict requires at least one row in the rows file".to_owned()).into());
        }
        let name = |column: usize| match &names {
            Some(names) => names[column].clone(),
            None => format!("f{column}"),
        };
        let column = |feature: usize| {
            let texts = Arc::new(TextsOf { texts: Arc::clone(&texts), feature });
            Column::with_texts(name(feature), texts)
        };
        let columns: Vec<Column> = (0..rows.columns()).map(column).collect();
        let program = Program::start(command, &columns, rows, &self.options())
            .with_context(|| format!("--predict {command:?}"))?;
        if let Some(line) = program.decimal_comma() {
            messages::note(format_args!(
                "the program returns {} outputs per row, separated by commas, as in {line:?}; if these \
                 are decimal commas, write decimal points; otherwise, name the outputs in a first line such \
                 as \"# a, b\"",
                program.output_count()
            ));
        }
        let classes = program.output_names().map(<[String]>::to_vec).filter(|names| names.len() > 1);
        Ok(Running { program, names, texts, classes })
    }
}
