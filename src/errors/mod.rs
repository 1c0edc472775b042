//! The catalogue of documented errors, and the matcher behind `explain`.
//!
//! ```text
//! data/*.toml ─▶ load ─▶ catalogue ─┬─▶ a check's finding quotes an entry
//!                                   └─▶ explain: text ─▶ which entries it shows
//! ```
//!
//! The data are one file an area; each entry says where the error is printed, every known
//! wording of it, its causes in order of likelihood, and which checks prove each cause.
//!
//! To add an error: write its entry (the fields are described in `entry.rs`) and at least one
//! sample in `tests/data/errors/samples.jsonl`. The tests say whether another entry claims the
//! same text, and whether the entry is still found when the text is wrapped, escaped or quoted.

mod catalogue;
pub mod decoded;
mod denial;
mod entry;
pub mod explain;
mod group;
mod load;
pub mod matcher;
mod network;
mod normalize;
mod pattern;
mod principal;
mod similar;
#[cfg(test)]
mod tests;
mod time;
mod window;

pub use catalogue::{Catalogue, Near, catalogue};
pub use decoded::DecodedMessage;
pub use denial::{Denial, Effect, Layer};
pub use entry::{Cause, DocumentedError, Place, Rank};
pub use group::{Counted, Explanation, Group, Seen};
pub use load::DATA;
pub use network::{Kind as NetworkKind, NetworkFault};
pub use principal::{Principal, PrincipalKind};
pub use time::Moment;
