//! Setters for option structs. Options are set one by one, so that adding an option does not break callers.

/// Defines a setter for each field of an option struct.
macro_rules! setters {
    ($options:ident { $($set:ident => $field:ident: $kind:ty),+ $(,)? }) => {
        impl $options {
            $(
                #[doc = concat!(
                    "Sets [`", stringify!($field), "`](Self#structfield.",
                    stringify!($field), ")."
                )]
                #[must_use]
                pub fn $set(mut self, $field: $kind) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}
pub(crate) use setters;
