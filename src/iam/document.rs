//! A policy document after it has been read.

use std::sync::Arc;

use crate::iam::condition::Condition;
use crate::iam::context::Context;
use crate::iam::pattern::Pattern;
use crate::iam::principal_element::PrincipalElement;
use crate::iam::resource_glob::ResourceGlob;
use crate::iam::truth::Truth;
use crate::iam::variables::{Resolved, Template, Text};

/// A policy document.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub version: Version,
    pub id: Option<String>,
    /// Shared: a document is copied for every role and level that it is attached to.
    pub statements: Arc<Vec<Statement>>,
}

/// The version of the policy language. A document without one is of 2008.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 2008-10-17: variables are plain text.
    V2008,
    /// 2012-10-17
    V2012,
}

/// One statement of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Its place in the document, from 0.
    pub index: usize,
    pub sid: Option<String>,
    pub effect: Effect,
    /// `Principal` or `NotPrincipal`; none in identity policies.
    pub principal: Option<PrincipalElement>,
    pub action: Element<ActionPattern>,
    /// `Resource` or `NotResource`; none in trust policies.
    pub resource: Option<Element<ResourcePattern>>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Allow,
    Deny,
}

/// An element in its plain or its `Not…` form.
#[derive(Debug, Clone, PartialEq)]
pub struct Element<T> {
    /// `NotAction`, `NotResource`: all but these.
    pub negated: bool,
    pub items: Vec<T>,
}

/// An action as a policy names it: `ec2:Describe*`. Actions have no case.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionPattern {
    /// As written.
    pub text: String,
    pattern: Pattern,
}

impl ActionPattern {
    pub(crate) fn new(text: String) -> ActionPattern {
        let pattern = Pattern::glob_of(text.to_ascii_lowercase());
        ActionPattern { text, pattern }
    }

    /// `action` is in lower case.
    pub(crate) fn matches(&self, action: &str) -> bool {
        self.pattern.matches(action)
    }
}

/// A resource as a policy names it. Resources have case.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourcePattern {
    /// As written.
    pub text: String,
    form: ResourceForm,
}

#[derive(Debug, Clone, PartialEq)]
enum ResourceForm {
    Fixed(ResourceGlob),
    Varying(Template),
}

impl ResourcePattern {
    pub(crate) fn new(text: String, version: Version) -> ResourcePattern {
        if !text.contains("${") {
            let form = ResourceForm::Fixed(ResourceGlob::glob(&text));
            return ResourcePattern { text, form };
        }
        let form = match Template::parse(&text, true, version == Version::V2012) {
            Text::Fixed(units) => ResourceForm::Fixed(ResourceGlob::from_units(units)),
            Text::Varying(template) => ResourceForm::Varying(template),
        };
        ResourcePattern { text, form }
    }

    pub(crate) fn matches(&self, resource: &str, context: &Context) -> Truth {
        match &self.form {
            ResourceForm::Fixed(pattern) => pattern.matches(resource).into(),
            ResourceForm::Varying(template) => match template.resolve(context) {
                Resolved::NoValue(_) => Truth::No,
                Resolved::Unknown => Truth::Unknown,
                Resolved::Units(units) => ResourceGlob::from_units(units).matches(resource).into(),
            },
        }
    }

    /// The variables that nobody knows.
    pub(crate) fn unknown_keys(&self, context: &Context) -> Vec<String> {
        match &self.form {
            ResourceForm::Fixed(_) => Vec::new(),
            ResourceForm::Varying(template) => {
                template.unknown_keys(context).map(str::to_owned).collect()
            }
        }
    }
}

impl Element<ActionPattern> {
    pub(crate) fn covers(&self, action: &str) -> bool {
        self.items.iter().any(|item| item.matches(action)) != self.negated
    }
}

impl Element<ResourcePattern> {
    pub(crate) fn covers(&self, resource: &str, context: &Context) -> Truth {
        Truth::any(self.items.iter().map(|item| item.matches(resource, context)))
            .flip_if(self.negated)
    }
}
