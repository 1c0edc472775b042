//! Words of checks, with their code spans.

use maud::{Markup, html};

use crate::report::text::clean;

/// Prose, of which `code spans` are set as code.
pub(super) fn prose(text: &str) -> Markup {
    let text = clean(text);
    if text.matches('`').count() % 2 == 1 {
        return html! { (text) };
    }
    html! {
        @for (i, piece) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}
