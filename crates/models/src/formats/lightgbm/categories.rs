//! Categories of pandas columns, in the order of their codes.
//!
//! The last line of a file, `pandas_categorical:`, has a list for each categorical column, in the order of
//! columns, but does not specify which columns these are. All columns with categorical splits have a list
//! (`feature_infos` contains their codes, separated by colons). Other columns may also have a list: columns
//! with ordered categories, whose codes are split as numbers, and constant columns, which are not split at
//! all.

use crate::ensemble::{Categories, Category, UnknownCategory};
use crate::error::ModelError;
use crate::formats::document::{Field, Value};

/// The description of a feature in `feature_infos`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Column {
    /// Categorical splits, with codes up to this number.
    Categories(f64),
    /// Numeric splits, with values in this range.
    Numbers(f64, f64),
    /// Not used by any split.
    Unused,
}

/// Returns the categories of each feature whose list can be determined with certainty. Empty if the file does
/// not contain lists.
pub(super) fn read(
    lists: &Value<'_>,
    feature_infos: Option<&str>,
) -> Result<Vec<Option<Categories>>, ModelError> {
    let columns: Vec<Column> = feature_infos.unwrap_or("").split_ascii_whitespace().map(column).collect();
    of_columns(&Field::root(lists), &columns)
}

/// Returns the categories of each feature like [`read`], for columns whose description is already parsed.
pub(super) fn of_columns(
    lists: &Field<'_>,
    columns: &[Column],
) -> Result<Vec<Option<Categories>>, ModelError> {
    if lists.is_null() {
        return Ok(Vec::new());
    }
    let lists = lists.lists()?.iter().map(categories).collect::<Result<Vec<_>, ModelError>>()?;
    let mut words: Vec<Option<Categories>> = vec![None; columns.len()];
    let sizes: Vec<usize> = lists.iter().map(Vec::len).collect();
    for (feature, list) in assigned(columns, &sizes) {
        words[feature] = Some(Categories::new(lists[list].clone(), UnknownCategory::Missing));
    }
    Ok(if lists.is_empty() { Vec::new() } else { words })
}

fn categories(list: &Field<'_>) -> Result<Vec<Category>, ModelError> {
    if let Ok(numbers) = list.numbers() {
        return Ok(numbers.iter().map(|&number| Category::Number(number)).collect());
    }
    list.elements()?
        .iter()
        .map(|category| match (category.number(), category.flag()) {
            (Ok(number), _) => Ok(Category::Number(number)),
            (_, Ok(flag)) => Ok(Category::Number(f64::from(flag))),
            _ => Ok(Category::Text(category.text()?.to_owned())),
        })
        .collect()
}

fn column(info: &str) -> Column {
    if info == "none" {
        return Column::Unused;
    }
    let range = info.strip_prefix('[').and_then(|info| info.strip_suffix(']')?.split_once(':'));
    match range.and_then(|(least, most)| Some((least.parse().ok()?, most.parse().ok()?))) {
        Some((least, most)) => Column::Numbers(least, most),
        None => Column::Categories(info.split(':').filter_map(|code| code.parse().ok()).fold(-1.0, f64::max)),
    }
}

/// Returns the pairs of column and list that certainly belong together. Lists are in the order of columns,
/// every categorical column has a list, and a numeric column may have a list whose codes include its values.
fn assigned(columns: &[Column], sizes: &[usize]) -> Vec<(usize, usize)> {
    const MAX_PAIRS: usize = 1 << 24;
    let (width, lists) = (columns.len(), sizes.len());
    if lists == 0 || width.saturating_mul(lists) > MAX_PAIRS {
        return Vec::new();
    }
    let may_be_without = |column: usize| !matches!(columns[column], Column::Categories(_));
    let may_have = |column: usize, list: usize| match columns[column] {
        Column::Unused => true,
        Column::Categories(most) => most < sizes[list] as f64,
        Column::Numbers(least, most) => {
            least >= 0.0 && most < sizes[list] as f64 && least.fract() == 0.0 && most.fract() == 0.0
        }
    };
    // `before` stores whether the lists before a list can be assigned to the columns before a column.
    // `after` stores whether the lists from this list on can be assigned to the columns from this column on.
    let stride = lists + 1;
    let (mut before, mut after) = (vec![false; (width + 1) * stride], vec![false; (width + 1) * stride]);
    before[0] = true;
    after[width * stride + lists] = true;
    for column in 0..width {
        for list in 0..=lists {
            before[(column + 1) * stride + list] = may_be_without(column) && before[column * stride + list]
                || list > 0 && may_have(column, list - 1) && before[column * stride + list - 1];
        }
    }
    for column in (0..width).rev() {
        for list in 0..=lists {
            after[column * stride + list] = may_be_without(column) && after[(column + 1) * stride + list]
                || list < lists && may_have(column, list) && after[(column + 1) * stride + list + 1];
        }
    }
    let mut certain = Vec::new();
    for column in 0..width {
        let whole =
            |list: usize, next: usize| before[column * stride + list] && after[(column + 1) * stride + next];
        let without = may_be_without(column) && (0..=lists).any(|list| whole(list, list));
        let mut owned = (0..lists).filter(|&list| may_have(column, list) && whole(list, list + 1));
        if let (false, Some(list), None) = (without, owned.next(), owned.next()) {
            certain.push((column, list));
        }
    }
    certain
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: Column = Column::Numbers(-3.5, 70.0);
    const CODES: Column = Column::Numbers(0.0, 2.0);
    const WORDS: Column = Column::Categories(1.0);

    #[test]
    fn infos_tell_categories_numbers_and_constants() {
        let infos = ["-1:0:2:1", "0", "[0:2]", "[-3.5:70]", "none"];
        let columns = [Column::Categories(2.0), Column::Categories(0.0), CODES, NUMBER, Column::Unused];
        assert_eq!(infos.map(column), columns);
    }

    #[test]
    fn lists_go_to_columns_of_categories_in_order() {
        let columns = [WORDS, NUMBER, WORDS, NUMBER];
        assert_eq!(assigned(&columns, &[3, 2]), [(0, 0), (2, 1)]);
        assert_eq!(assigned(&columns, &[3]), []);
        assert_eq!(assigned(&columns, &[]), []);
    }

    #[test]
    fn ordered_and_constant_columns_have_a_list_where_only_that_fits() {
        assert_eq!(assigned(&[CODES, NUMBER, WORDS], &[3, 5]), [(0, 0), (2, 1)]);
        assert_eq!(assigned(&[Column::Unused, NUMBER, WORDS], &[1, 5]), [(0, 0), (2, 1)]);
        // Either of the two ordered columns may have the second list, so the list is not assigned.
        assert_eq!(assigned(&[WORDS, CODES, CODES], &[3, 3]), [(0, 0)]);
        assert_eq!(
            assigned(&[WORDS, Column::Unused, WORDS, Column::Numbers(0.0, 1.0)], &[2, 1, 2]),
            [(0, 0), (1, 1), (2, 2)]
        );
        // The first list has too few categories for the codes of the first column.
        assert_eq!(assigned(&[CODES, WORDS], &[2, 5]), []);
    }
}
