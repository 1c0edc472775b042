//! The requests of one role, and which of them are refused.

use std::collections::BTreeMap;

use super::grants::{Answer, Grants, is_limit, is_organization};
use crate::{
    iam::{Decision, Layer},
    outcome::Unknown,
    requirements::{Consequence, Request},
};

/// A request that is refused for certain.
pub struct Refused {
    pub request: Request,
    pub decision: Decision,
}

impl Refused {
    /// Whether a statement or the want of one is to blame that no further identity policy
    /// mends: an explicit deny, the boundary, the policy of the session, or the organisation.
    pub fn outlives_a_new_policy(&self) -> bool {
        match &self.decision {
            Decision::Denied { .. } => true,
            Decision::NotAllowed { layer, .. } => is_limit(*layer),
            _ => false,
        }
    }

    pub fn by_boundary(&self) -> bool {
        self.layer() == Some(Layer::Boundary)
    }

    /// Whether a policy of the organisation is to blame.
    pub fn by_organization(&self) -> bool {
        self.layer().is_some_and(is_organization)
    }

    fn layer(&self) -> Option<Layer> {
        match self.decision {
            Decision::Denied { layer, .. } | Decision::NotAllowed { layer, .. } => Some(layer),
            _ => None,
        }
    }
}

/// What came of all the requests.
#[derive(Default)]
pub struct Answers {
    pub asked: usize,
    pub refused: Vec<Refused>,
    pub unknown: Vec<Unknown>,
}

impl Answers {
    pub fn to(requests: Vec<Request>, grants: &Grants) -> Self {
        let mut answers = Self { asked: requests.len(), ..Self::default() };
        for request in requests {
            match grants.answer(&request) {
                Answer::Allowed => {}
                Answer::Refused(decision) => answers.refused.push(Refused { request, decision }),
                Answer::Unknown(unknown) => answers.unknown.push(unknown),
            }
        }
        answers
    }

    /// The refused requests by what their refusal does, worst first.
    pub fn by_consequence(self) -> (BTreeMap<Consequence, Vec<Refused>>, Vec<Unknown>) {
        let mut groups: BTreeMap<Consequence, Vec<Refused>> = BTreeMap::new();
        for refused in self.refused {
            groups.entry(refused.request.consequence).or_default().push(refused);
        }
        (groups, self.unknown)
    }
}
