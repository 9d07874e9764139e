//! Options are set one after the other, so that a further one breaks nobody's code.

/// For each field of a struct of options a method that sets it.
macro_rules! setters {
    ($options:ident { $($set:ident => $field:ident: $kind:ty),+ $(,)? }) => {
        impl $options {
            $(
                #[doc = concat!("The same with another [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
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
