//! Figures and reports of results in a file, or of a run of `explain`.

mod gathered;
mod page;
mod picture;
mod request;

pub(crate) use page::{with_command, write_page};
pub(crate) use picture::{Picture, asked_wrongly};
pub(crate) use request::PictureRequest;
