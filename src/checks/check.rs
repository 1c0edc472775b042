//! What a check is and what it gives back.

use schemars::JsonSchema;
use serde::Serialize;

use super::Context;
use crate::{
    facts::Unseen,
    outcome::{Finding, Unknown},
    target::Product,
};

/// A stage in the life of a node; the report's groups, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// The controller starts and may act.
    Controller,
    /// An instance is launched.
    Launch,
    /// The instance joins the cluster as a node.
    Join,
    /// Pods are placed on nodes, and run there.
    Scheduling,
    /// The node is drained in time when it is taken away.
    Interruption,
    /// Nodes that are not needed, or outdated, are given back.
    Disruption,
}

impl Area {
    pub const ALL: [Self; 6] = [
        Self::Controller,
        Self::Launch,
        Self::Join,
        Self::Scheduling,
        Self::Interruption,
        Self::Disruption,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Controller => "controller",
            Self::Launch => "launch",
            Self::Join => "join",
            Self::Scheduling => "scheduling",
            Self::Interruption => "interruption",
            Self::Disruption => "disruption",
        }
    }

    /// The group's heading in a report.
    pub fn title(self) -> &'static str {
        match self {
            Self::Controller => "The controller starts",
            Self::Launch => "A node is launched",
            Self::Join => "The node joins the cluster",
            Self::Scheduling => "Pods find a place",
            Self::Interruption => "Interruptions are seen in time",
            Self::Disruption => "Nodes are given back",
        }
    }
}

/// One thing that must be right in the account.
pub struct Check {
    /// A readable slug; never reused for something else.
    pub id: &'static str,
    /// What is right when the check passes, as a short statement.
    pub title: &'static str,
    pub area: Area,
    pub products: &'static [Product],
    /// Ids of the documented errors that a finding may quote. A check that reads what was
    /// printed already quotes whatever the catalogue knows of it besides.
    pub errors: &'static [&'static str],
    /// IAM actions that the caller needs for a verdict; see [`Check::actions`]. One entry can be
    /// several actions with commas between them, so that a constant can stand for all that
    /// something takes.
    pub needs: &'static [&'static str],
    /// Markdown with the headings What, Why, Seen as, Fix.
    pub doc: &'static str,
    pub run: fn(&Context<'_>) -> Verdicts,
}

impl Check {
    /// IAM actions that the caller needs for a verdict, one by one.
    pub fn actions(&self) -> impl Iterator<Item = &'static str> {
        self.needs.iter().flat_map(|entry| entry.split(", "))
    }
}

/// The verdicts of a check, or why there are none at all.
pub type Verdicts = Result<Vec<Judged>, Stop>;

/// The verdict on one subject. An unknown about one never hides the verdict on another.
#[derive(Debug)]
pub struct Judged {
    /// An ARN, an id or a name.
    pub subject: String,
    /// What the subject is, where its form does not tell: a queue may be called like the cluster.
    pub about: Option<About>,
    pub verdict: Result<Finding, Stop>,
}

/// A resource by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    Role(String),
    Queue(String),
}

impl Judged {
    /// Judges one subject; `?` inside `judge` makes it unknown.
    pub fn new(subject: impl Into<String>, judge: impl FnOnce() -> Result<Finding, Stop>) -> Self {
        Self { subject: subject.into(), about: None, verdict: judge() }
    }

    /// Says that the verdict is about a role.
    #[must_use]
    pub fn of_role(self, name: &str) -> Self {
        Self { about: Some(About::Role(name.to_owned())), ..self }
    }

    /// Says that the verdict is about a queue.
    #[must_use]
    pub fn of_queue(self, name: &str) -> Self {
        Self { about: Some(About::Queue(name.to_owned())), ..self }
    }
}

/// Why there is no finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    Unknown(Unknown),
    /// It does not apply, because …
    Skipped(String),
    /// It could not be looked at, and the run is complete all the same: most callers may not
    /// look, and a note of the target says what is judged without it.
    LeftOut(Unknown),
}

impl Stop {
    pub fn skipped(why: impl Into<String>) -> Self {
        Self::Skipped(why.into())
    }

    pub fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown(Unknown::new(why))
    }
}

impl From<Unseen> for Stop {
    fn from(unseen: Unseen) -> Self {
        let missing_action = match &unseen {
            Unseen::Denied { action, .. } => Some(action.clone()),
            _ => None,
        };
        Self::Unknown(Unknown { why: unseen.to_string(), missing_action, remedy: None })
    }
}
