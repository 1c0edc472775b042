use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
    target::resolve::resolve,
};

const CONTROLLER: &str = "demo-karpenter";
const NODE: &str = "KarpenterNodeRole-demo";

/// An account whose simulator allows everything but `refused`, which it answers like this. The
/// patch goes in first: what is asked may follow from it.
fn simulating(patch: &Value, refused: &str, answer: &Value) -> Value {
    let saved = Account::Karpenter.patched(patch);
    let target = resolve(&saved.scope, &saved.facts);
    let mut patch = patch.clone();
    let questions = questions(&Context::new(&target, &saved));
    assert!(questions.len() > 10, "{} questions", questions.len());
    for (role, _, question) in questions {
        let allowed = json!({"decision": "allowed", "missing_context": [],
            "allowed_by_organization": null});
        let answers: serde_json::Map<_, _> = question
            .actions
            .iter()
            .map(|action| {
                let refused = action == refused;
                (action.clone(), if refused { answer.clone() } else { allowed.clone() })
            })
            .collect();
        let simulations = &mut patch["facts"]["simulations"][role];
        if simulations.is_null() {
            *simulations = json!([]);
        }
        let mut simulation = serde_json::to_value(&question).unwrap();
        simulation["answers"] = json!({"known": answers});
        simulations.as_array_mut().unwrap().push(simulation);
    }
    patch
}

fn answer(decision: &str, missing: &[&str], organization: Option<bool>) -> Value {
    json!({"decision": decision, "missing_context": missing,
        "allowed_by_organization": organization})
}

#[test]
fn rows() {
    let of = |controller| [(controller, CONTROLLER), (Status::Pass, NODE)];
    let none = json!({});
    let implicit = answer("implicitDeny", &[], None);
    let missing = answer("implicitDeny", &["aws:PrincipalTag/team"], None);
    let organization = answer("explicitDeny", &[], Some(false));
    let fleet = "ec2:CreateFleet";
    let no_fleet = json!({"facts": {"role_policies": {CONTROLLER: {"inline": {"known": {"no": {"known":
        json!({"Statement": {"Effect": "Deny", "Action": fleet, "Resource": "*"}}).to_string()}}}}}}});
    let session = json!({"facts": {"pod_identity_associations": {"known": [{"known": {
        "id": "a-1", "namespace": "kube-system", "service_account": "karpenter",
        "role_arn": "arn:aws:iam::111122223333:role/demo-karpenter", "target_role_arn": null,
        "session_tags_disabled": false, "policy":
            json!({"Statement": {"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"}}).to_string()}}]}}});
    let mut failed = simulating(&none, "", &none);
    for simulations in failed["facts"]["simulations"].as_object_mut().unwrap().values_mut() {
        for simulation in simulations.as_array_mut().unwrap() {
            simulation["answers"] = json!({"denied":
                {"action": "iam:SimulatePrincipalPolicy", "message": "no"}});
        }
    }
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("not asked for", none.clone(), &[(Status::Skipped, "demo")]),
            ("all is allowed", simulating(&none, "", &none), &of(Status::Pass)),
            ("one is not", simulating(&none, fleet, &implicit), &of(Status::Warn)),
            ("a key was missing", simulating(&none, fleet, &missing), &of(Status::Pass)),
            ("the organisation", simulating(&none, fleet, &organization), &of(Status::Warn)),
            ("both refuse", simulating(&no_fleet, fleet, &implicit), &of(Status::Pass)),
            ("only we refuse", simulating(&no_fleet, "", &none), &of(Status::Warn)),
            ("a session's policy", simulating(&session, "", &none), &of(Status::Pass)),
            ("not to be asked", failed, &[(Status::Unknown, CONTROLLER), (Status::Unknown, NODE)]),
        ],
    );
}

#[test]
fn a_hidden_policy_of_the_organisation_is_quoted_as_such() {
    let organization = answer("explicitDeny", &[], Some(false));
    let patch = simulating(&json!({}), "ec2:CreateFleet", &organization);
    let outcome = Account::Karpenter.judge(&CHECK, &patch).remove(0);
    assert_eq!(outcome.errors[0].id, "denied-by-organization-policy", "{outcome:#?}");
    assert!(outcome.seen.contains("cannot be read from here"), "{outcome:#?}");
    assert!(outcome.effect.contains("proves nothing"), "{outcome:#?}");
}
