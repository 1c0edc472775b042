//! The role that the Karpenter controller acts as.

pub mod agent;
pub mod assumed_role;
mod credentials;
pub mod dns_policy;
pub mod health;
pub mod identity;
mod irsa;
pub mod nodes;
pub mod pass_role;
pub mod permissions;
pub mod prices;
pub mod region;
mod running;
pub mod settings;
pub mod single;
pub mod trust;
pub mod zonal_shift;

use super::{Context, Judged, Stop, permissions::Grants};
use crate::{
    facts::{arn, eks::PodIdentityAssociation, iam::Role},
    outcome::{Remedy, Unknown},
    target::names,
};

/// The role whose permissions count, and how the controller comes by it.
pub struct Controller<'a> {
    pub role: &'a Role,
    pub association: Option<&'a PodIdentityAssociation>,
}

impl<'a> Controller<'a> {
    /// The controller behind a role of the target; a role that does not exist is for
    /// controller-trust to judge.
    pub fn of(cx: &Context<'a>, name: &str) -> Result<Self, Stop> {
        let role = cx
            .role(name)?
            .ok_or_else(|| Stop::skipped("the role does not exist; see controller-trust"))?;
        // One that was not read may narrow the sessions, or lead to another role.
        let association = association_with(cx, role, &associations(cx)?);
        let Some(target) = association.and_then(|found| found.target_role_arn.as_deref()) else {
            return Ok(Self { role, association });
        };
        // The association chains to another role, and that one's permissions count.
        if arn::account(target) != arn::account(&role.arn) {
            return Err(Stop::unknown(format!(
                "{name} only leads to {target}, whose policies are in another account"
            )));
        }
        let role = cx.role(arn::role_name(target))?.ok_or_else(|| {
            Stop::skipped(format!("{name} leads to {target}, which does not exist"))
        })?;
        Ok(Self { role, association })
    }

    pub fn grants(&self, cx: &Context<'_>) -> Result<Grants, Stop> {
        let grants = Grants::of(cx, self.role)?;
        Ok(match self.association {
            Some(association) => grants.in_sessions_of(cx, association),
            None => grants,
        })
    }
}

/// Judges each controller role of the target on its own, or says why there is none to judge.
pub fn each(
    cx: &Context<'_>,
    judge: impl Fn(&Controller<'_>) -> Result<Vec<Judged>, Stop>,
) -> Vec<Judged> {
    if cx.target.controller_roles.is_empty() {
        return vec![Judged::new(&cx.target.cluster, || Err(none(cx)))];
    }
    let mut judged = Vec::new();
    for name in cx.target.controller_roles.iter().map(|role| role.value.as_str()) {
        match Controller::of(cx, name).and_then(|controller| judge(&controller)) {
            Ok(of_role) => judged.extend(of_role),
            Err(stop) => judged.push(Judged::new(name, || Err(stop)).of_role(name)),
        }
    }
    judged
}

/// The ARN of each controller role of the target, and what it may do.
pub fn grants(cx: &Context<'_>) -> Result<Vec<(String, Grants)>, Stop> {
    if cx.target.controller_roles.is_empty() {
        return Err(none(cx));
    }
    let roles = cx.target.controller_roles.iter();
    roles
        .map(|role| {
            let controller = Controller::of(cx, &role.value)?;
            Ok((controller.role.arn.clone(), controller.grants(cx)?))
        })
        .collect()
}

/// Why there is no controller role to judge.
fn none(cx: &Context<'_>) -> Stop {
    all_read(cx).err().unwrap_or_else(|| match cx.target.before_install() {
        true => Stop::skipped("there is no controller role yet"),
        false => Stop::skipped("no controller role was found; see controller-trust"),
    })
}

/// Stops at the first question without an answer whose answer could have shown the role.
fn all_read(cx: &Context<'_>) -> Result<(), Stop> {
    associations(cx)?;
    for name in names::controller_roles(&cx.target.cluster) {
        cx.role(&name)?;
    }
    Ok(())
}

/// The associations of the controller's service account, as far as they could be read.
fn associations<'a>(cx: &Context<'a>) -> Result<Vec<&'a PodIdentityAssociation>, Stop> {
    let all = cx.facts.pod_identity_associations.known()?;
    for association in all {
        association.found()?;
    }
    let of_controllers = all
        .iter()
        .filter_map(|association| association.value())
        .filter(|association| association.service_account != names::CNI_SERVICE_ACCOUNT);
    Ok(of_controllers.collect())
}

/// The association that gives out this role: the one of the controller's service account, else
/// any.
fn association_with<'a>(
    cx: &Context<'a>,
    role: &Role,
    all: &[&'a PodIdentityAssociation],
) -> Option<&'a PodIdentityAssociation> {
    let mut with_role = all.iter().filter(|association| association.role_arn == role.arn);
    let exact = with_role.clone().find(|association| is_controllers(cx, association));
    exact.or(with_role.next()).copied()
}

fn is_controllers(cx: &Context<'_>, association: &PodIdentityAssociation) -> bool {
    association.namespace == cx.target.namespace.value
        && association.service_account == cx.target.service_account.value
}

/// Nobody says which role is the controller's.
fn role_not_found(cx: &Context<'_>) -> Stop {
    let target = cx.target;
    Stop::Unknown(Unknown {
        why: format!(
            "no pod identity association is for {}/{}, and no role has a usual name; with IAM \
             roles for service accounts, only the service account says which role it is",
            target.namespace.value, target.service_account.value
        ),
        missing_action: None,
        remedy: Some(Remedy::new(
            "Name the controller's role with --controller-role, and its namespace with \
             --namespace if it is another.",
        )),
    })
}
