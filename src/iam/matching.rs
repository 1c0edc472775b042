//! Whether one statement applies to one request.

use crate::iam::document::Statement;
use crate::iam::principal_element::{REACHES, Reach, SESSION_NAME};
use crate::iam::request::Request;
use crate::iam::truth::Truth;

impl Statement {
    /// Whether the statement applies, its `Principal` left aside.
    pub(crate) fn applies(&self, request: &Request) -> Truth {
        if !self.action.covers(request.action_lower()) {
            return Truth::No;
        }
        let resource = self.resource_covers(request);
        if resource == Truth::No {
            return Truth::No;
        }
        let conditions = self.conditions.iter().map(|c| c.holds(request.context()));
        resource.and(Truth::all(conditions))
    }

    /// Whether the statement names the principal at least as directly as `reach`. A statement
    /// without `Principal` means whoever it is attached to.
    pub(crate) fn names(&self, request: &Request, reach: Reach) -> Truth {
        match &self.principal {
            None => Truth::Yes,
            Some(element) => element.names(request.principal(), reach, self.effect),
        }
    }

    /// Whether the resource is covered. A statement without `Resource` means what it is
    /// attached to.
    pub(crate) fn resource_covers(&self, request: &Request) -> Truth {
        match &self.resource {
            None => Truth::Yes,
            Some(element) => element.covers(request.resource(), request.context()),
        }
    }

    /// The keys on which it depends whether the statement applies.
    pub(crate) fn unknown_keys(&self, request: &Request) -> Vec<String> {
        let mut keys = Vec::new();
        if REACHES.iter().any(|&reach| self.names(request, reach) == Truth::Unknown) {
            keys.push(SESSION_NAME.to_owned());
        }
        if let Some(element) = &self.resource
            && self.resource_covers(request) == Truth::Unknown
        {
            keys.extend(element.items.iter().flat_map(|i| i.unknown_keys(request.context())));
        }
        for condition in &self.conditions {
            if condition.holds(request.context()) == Truth::Unknown {
                keys.extend(condition.unknown_keys(request.context()));
            }
        }
        keys
    }
}
