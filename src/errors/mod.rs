//! The catalogue of documented errors, and the matcher behind `explain`.
//!
//! ```text
//! data/*.toml ─▶ load ─▶ catalogue ─┬─▶ a check's finding quotes an entry
//!                                   └─▶ explain: text ─▶ which entries it shows
//! ```
//!
//! The data are one file an area; each entry says where the error is printed, every known
//! wording of it, its causes in order of likelihood, and which checks prove each cause.

mod catalogue;
mod entry;
mod load;

pub use catalogue::{Catalogue, Near, catalogue};
pub use entry::{Cause, DocumentedError, Place, Rank};
pub use load::{DATA, LoadError};
