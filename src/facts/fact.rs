//! What is known about one thing, and if it is not known, why.

use serde::{Deserialize, Serialize};

/// The answer to one question about an account.
///
/// *Could not look* can never be read as *fine*: the value is reached only through
/// [`Fact::known`] or [`Fact::found`], and every other state becomes an [`Unseen`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// It was read.
    Known(T),
    /// It was asked for and does not exist.
    Absent,
    /// The caller may not read it.
    Denied {
        /// The IAM action that is missing, such as `iam:GetRole`.
        action: String,
        message: String,
    },
    /// The question was asked and not answered: throttled, timed out, not understood.
    Failed { action: String, message: String },
    /// The question was never asked.
    NotAsked { why: String },
}

/// Why a fact has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unseen {
    #[error("it does not exist")]
    Absent,
    #[error("{action} was denied: {message}")]
    Denied { action: String, message: String },
    #[error("{action} failed: {message}")]
    Failed { action: String, message: String },
    #[error("{why}")]
    NotAsked { why: String },
}

impl<T> Fact<T> {
    /// A question that was not asked, and the reason.
    pub fn not_asked(why: impl Into<String>) -> Self {
        Self::NotAsked { why: why.into() }
    }

    /// The value; that it does not exist counts as unseen too.
    pub fn known(&self) -> Result<&T, Unseen> {
        self.found()?.ok_or(Unseen::Absent)
    }

    /// The value, or `None` if it certainly does not exist.
    pub fn found(&self) -> Result<Option<&T>, Unseen> {
        match self {
            Self::Known(value) => Ok(Some(value)),
            Self::Absent => Ok(None),
            Self::Denied { action, message } => {
                Err(Unseen::Denied { action: action.clone(), message: message.clone() })
            }
            Self::Failed { action, message } => {
                Err(Unseen::Failed { action: action.clone(), message: message.clone() })
            }
            Self::NotAsked { why } => Err(Unseen::NotAsked { why: why.clone() }),
        }
    }

    /// The value where it is there. For choosing what to ask or show next, never for a verdict.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }

    /// The same fact about a part or a form of the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Fact<U> {
        self.and_then(|value| Fact::Known(f(value)))
    }

    /// Goes on with the value; every other state stays as it is.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Fact<U>) -> Fact<U> {
        match self {
            Self::Known(value) => f(value),
            Self::Absent => Fact::Absent,
            Self::Denied { action, message } => Fact::Denied { action, message },
            Self::Failed { action, message } => Fact::Failed { action, message },
            Self::NotAsked { why } => Fact::NotAsked { why },
        }
    }
}

impl<T> Default for Fact<T> {
    /// Nothing was asked yet; an old facts file without the field reads like this too.
    fn default() -> Self {
        Self::not_asked("these facts do not hold it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_fact_gives_its_value() {
        let rows: [(Fact<u8>, bool, bool); 5] = [
            (Fact::Known(1), true, true),
            (Fact::Absent, false, true),
            (Fact::Denied { action: "a:B".into(), message: "no".into() }, false, false),
            (Fact::Failed { action: "a:B".into(), message: "500".into() }, false, false),
            (Fact::not_asked("off"), false, false),
        ];
        for (fact, known, found) in rows {
            assert_eq!(fact.known().is_ok(), known, "{fact:?}");
            assert_eq!(fact.found().is_ok(), found, "{fact:?}");
        }
    }

    #[test]
    fn a_denial_names_its_action() {
        let denied: Fact<u8> =
            Fact::Denied { action: "iam:GetRole".into(), message: "not authorized".into() };
        assert_eq!(
            denied.known().map_err(|unseen| unseen.to_string()),
            Err("iam:GetRole was denied: not authorized".to_owned())
        );
    }
}
