//! What a text that Karpenter or Kubernetes has printed means, by the catalogue of documented
//! errors: which error it is, and what is behind it most likely.

use super::{Context, remedies::quote};
use crate::{
    errors::{DocumentedError, Rank, explain::explain},
    outcome::{Finding, Remedy},
};

/// How many errors of one text a finding quotes.
const QUOTED: usize = 3;

/// The documented errors that a text shows, the most telling first.
pub struct Diagnosis {
    entries: Vec<&'static DocumentedError>,
}

impl Diagnosis {
    pub fn of(text: &str) -> Self {
        // Reading from memory does not fail.
        let groups = explain(text.as_bytes()).map(|found| found.groups).unwrap_or_default();
        let telling = groups.into_iter().map(|group| group.entry);
        let telling = telling.filter(|entry| entry.rank != Rank::Benign).take(QUOTED);
        Self { entries: telling.collect() }
    }

    /// Ids of the errors.
    pub fn ids(&self) -> Vec<&'static str> {
        self.entries.iter().map(|entry| entry.id.as_str()).collect()
    }

    /// Quotes the errors in a finding and says what is behind the first; `otherwise` is quoted
    /// and explained where the catalogue knows nothing of the text. `look` are commands that
    /// show more.
    pub fn name_in(
        &self,
        cx: &Context<'_>,
        finding: Finding,
        otherwise: &'static str,
        look: &[String],
    ) -> Finding {
        let ids = match self.ids() {
            ids if ids.is_empty() => vec![otherwise],
            ids => ids,
        };
        let cause = self.entries.first().and_then(|entry| {
            let first = entry.causes.first()?;
            let more = match entry.causes.len() {
                1 => "",
                _ => " That is the likeliest cause of several; the last command tells them apart.",
            };
            Some(with_names(cx, &format!("{} {}{more}", first.text, first.fix)))
        });
        let words = cause.unwrap_or_else(|| {
            "The message says what is wrong; the controller's log says more.".to_owned()
        });
        let explain = format!(
            "karpenter-preflight explain {} --cluster {} --region {}",
            ids[0],
            quote(&cx.target.cluster),
            quote(cx.region())
        );
        let remedy = look.iter().chain([&explain]).fold(Remedy::new(words), Remedy::run);
        finding.errors(&ids).mend(remedy)
    }
}

/// The catalogue's words with the names of this cluster in them.
fn with_names(cx: &Context<'_>, words: &str) -> String {
    words
        .replace("<cluster>", &cx.target.cluster)
        .replace("<region>", cx.region())
        .replace("<namespace>", &cx.target.namespace.value)
        .replace("<partition>", cx.target.partition)
        .replace("<account>", cx.account().unwrap_or("<account>"))
}
