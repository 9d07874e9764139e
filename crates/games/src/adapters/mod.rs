//! Games made of another game.

mod cached;
mod centred;
mod counted;
mod noisy;

pub use cached::Cached;
pub use centred::Centred;
pub use counted::Counted;
pub use noisy::Noisy;
