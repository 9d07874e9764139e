//! The version of XGBoost that wrote a model.

use crate::error::ModelError;
use crate::formats::document::Field;

/// Version of XGBoost: major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) [usize; 3]);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl Version {
    /// Reads the version of a document, which must be supported.
    pub(super) fn read(root: &Field<'_>) -> Result<Self, ModelError> {
        let field = root.get("version")?;
        let numbers = field.integers()?;
        let [major, minor, patch] = numbers[..] else { return Err(field.error("expected three numbers")) };
        let number =
            |number: i64| usize::try_from(number).map_err(|_| field.error("negative version number"));
        let version = Self([number(major)?, number(minor)?, number(patch)?]);
        if version < Self([1, 7, 0]) || version >= Self([4, 0, 0]) {
            return Err(ModelError::Version {
                format: "XGBoost",
                actual: version.to_string(),
                known: "1.7 to 3.x",
            });
        }
        Ok(version)
    }
}
