//! Changes to an account's facts, short enough to write a hundred cases with.

use karpenter_preflight::requirements::{
    Setup,
    policy::{self, Layout},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Where the healthy account keeps the controller's policy.
const POLICY: &str = "arn:aws:iam::111122223333:policy/KarpenterControllerPolicy-demo";
const CONTROLLER: &str = "demo-karpenter";

/// One change. Pointers are JSON pointers into `{scope, facts}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Edit {
    /// Sets a value; a list grows at `-`.
    Set { set: String, to: Value },
    /// Sets a member that is a JSON document in a string.
    SetDocument { document: String, to: Value },
    /// Takes a member or an element out.
    Drop { drop: String },
    /// A JSON merge patch, as text, for what TOML cannot say.
    Merge { merge: String },
    /// The same in every string of the account.
    Replace { replace: String, with: String },
    /// The controller's policy without these actions.
    ControllerLacks { controller_lacks: Vec<String> },
    /// The controller's policy without the statement of this Sid.
    ControllerLacksStatement { controller_lacks_statement: String },
    /// A text in the controller's policy.
    InController { in_controller: String, with: String },
    /// The policy that this release asks for.
    ControllerPolicyOf { controller_policy_of: String },
    /// A statement more in the controller's policy.
    ControllerStatement { controller_statement: Value },
    /// What is changed in these subnets, wherever they are listed.
    Subnets { subnets: Vec<String>, is: Value },
    /// The discovery tag is not on these.
    Untagged { untagged: Vec<String> },
    /// A node role without these policies of AWS's.
    Detached { detached: Vec<String>, role: String },
}

impl Edit {
    pub fn apply(&self, facts: &mut Value) {
        match self {
            Self::Set { set, to } => put(facts, set, to.clone()),
            Self::SetDocument { document, to } => put(facts, document, to.to_string().into()),
            Self::Drop { drop } => take_out(facts, drop),
            Self::Merge { merge } => {
                let patch = serde_json::from_str(merge).unwrap_or_else(|e| panic!("{merge}: {e}"));
                json_patch::merge(facts, &patch);
            }
            Self::Replace { replace, with } => {
                let text = facts.to_string();
                assert!(text.contains(replace.as_str()), "the account has no {replace}");
                *facts = serde_json::from_str(&text.replace(replace.as_str(), with)).unwrap();
            }
            Self::ControllerLacks { controller_lacks } => {
                controller(facts, |statements| without(statements, controller_lacks));
            }
            Self::ControllerLacksStatement { controller_lacks_statement: sid } => {
                controller(facts, |statements| statements.retain(|s| s["Sid"] != sid.as_str()));
            }
            Self::InController { in_controller, with } => controller(facts, |statements| {
                let text = Value::from(statements.clone()).to_string();
                assert!(text.contains(in_controller.as_str()), "no {in_controller} in {text}");
                *statements =
                    serde_json::from_str(&text.replace(in_controller.as_str(), with)).unwrap();
            }),
            Self::ControllerPolicyOf { controller_policy_of } => {
                policy_of(facts, controller_policy_of);
            }
            Self::ControllerStatement { controller_statement } => {
                controller(facts, |statements| statements.push(controller_statement.clone()));
            }
            Self::Subnets { subnets, is } => in_subnets(facts, subnets, is),
            Self::Untagged { untagged } => untag(facts, untagged),
            Self::Detached { detached, role } => detach(facts, detached, role),
        }
    }
}

pub fn apply(edits: &[Edit], facts: &mut Value) {
    for edit in edits {
        edit.apply(facts);
    }
}

/// Sets what a pointer names; its parent must be there.
fn put(facts: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap_or_else(|| panic!("{pointer}"));
    let key = key.replace("~1", "/").replace("~0", "~");
    match facts.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.insert(key, value);
        }
        Some(Value::Array(items)) if key == "-" => items.push(value),
        Some(Value::Array(items)) => items[key.parse::<usize>().unwrap()] = value,
        _ => panic!("there is no {parent} to set {key} in"),
    }
}

fn take_out(facts: &mut Value, pointer: &str) {
    let (parent, key) = pointer.rsplit_once('/').unwrap_or_else(|| panic!("{pointer}"));
    let key = key.replace("~1", "/").replace("~0", "~");
    let gone = match facts.pointer_mut(parent) {
        Some(Value::Object(fields)) => fields.remove(&key),
        Some(Value::Array(items)) => Some(items.remove(key.parse().unwrap())),
        _ => None,
    };
    assert!(gone.is_some(), "there is no {pointer} to take out");
}

/// Changes the statements of the controller's policy.
fn controller(facts: &mut Value, change: impl FnOnce(&mut Vec<Value>)) {
    let slot = &mut facts["facts"]["policies"][POLICY]["known"];
    let text = slot.as_str().expect("the controller has its policy");
    let mut document: Value = serde_json::from_str(text).unwrap();
    change(document["Statement"].as_array_mut().unwrap());
    *slot = document.to_string().into();
}

/// Statements without some actions; those that have none left go.
fn without(statements: &mut Vec<Value>, actions: &[String]) {
    let before = statements.len();
    let mut found = false;
    statements.retain_mut(|statement| {
        let named = match statement["Action"].take() {
            Value::Array(named) => named,
            one => vec![one],
        };
        let gone = |action: &Value| actions.iter().any(|gone| action == gone.as_str());
        found |= named.iter().any(gone);
        let left: Vec<_> = named.into_iter().filter(|action| !gone(action)).collect();
        let any = !left.is_empty();
        statement["Action"] = left.into();
        any
    });
    assert!(found && before > 0, "the policy has none of {actions:?}");
}

/// The policy that our own data gives for a release, as its guide's template has it.
pub fn policy_of(facts: &mut Value, version: &str) {
    let account = &facts["facts"]["caller"]["known"]["account"];
    let scope = &facts["scope"];
    let (region, cluster) = (scope["region"].as_str().unwrap(), scope["cluster"].as_str().unwrap());
    let partition = karpenter_preflight::facts::arn::partition_of_region(region);
    let mut setup = Setup::new(partition, region, account.as_str().unwrap(), cluster);
    let arn = |service: &str, place: &str, what: &str| {
        format!("arn:{partition}:{service}:{place}:{}:{what}", account.as_str().unwrap())
    };
    setup.node_role_arns = vec![arn("iam", "", &format!("role/KarpenterNodeRole-{cluster}"))];
    setup.queue_arn = Some(arn("sqs", region, cluster));
    let policies = policy::controller(
        version.parse().expect("it is a version"),
        &setup.with_every_feature(),
        Layout::One,
    );
    let [policy] = policies.as_slice() else { panic!("{policies:?}") };
    facts["facts"]["policies"][POLICY] = json!({"known": policy.document.to_string()});
}

/// Every list of subnets in the facts.
fn in_subnets(facts: &mut Value, ids: &[String], is: &Value) {
    let mut seen = 0;
    for list in ["discovered_subnets", "vpc_subnets"] {
        let subnets = facts["facts"][list]["known"].as_array_mut().unwrap();
        let wanted = |subnet: &&mut Value| ids.iter().any(|id| subnet["id"] == id.as_str());
        for subnet in subnets.iter_mut().filter(wanted) {
            json_patch::merge(subnet, is);
            seen += 1;
        }
    }
    assert!(seen >= ids.len(), "there are not all of {ids:?}");
}

fn untag(facts: &mut Value, ids: &[String]) {
    let key = "karpenter.sh/discovery";
    for kind in ["subnets", "security_groups"] {
        let lists = [format!("discovered_{kind}"), format!("vpc_{kind}")];
        let named = |item: &Value| ids.iter().any(|id| item["id"] == id.as_str());
        let selected = facts["facts"][&lists[0]]["known"].as_array_mut().unwrap();
        selected.retain(|item| !named(item));
        for item in facts["facts"][&lists[1]]["known"].as_array_mut().unwrap() {
            if named(item) {
                item["tags"].as_object_mut().unwrap().remove(key);
            }
        }
    }
}

fn detach(facts: &mut Value, policies: &[String], role: &str) {
    let attached = facts["facts"]["role_policies"][role]["attached"]["known"].as_array_mut();
    let attached = attached.unwrap_or_else(|| panic!("{role} has no policies"));
    let before = attached.len();
    attached
        .retain(|arn| !policies.iter().any(|name| arn.as_str().unwrap().ends_with(name.as_str())));
    assert_eq!(before - attached.len(), policies.len(), "{role} has not all of {policies:?}");
}

#[test]
fn the_controller_is_where_edits_look_for_it() {
    let facts = super::account::Base::Karpenter.facts();
    let attached = &facts["facts"]["role_policies"][CONTROLLER]["attached"]["known"];
    assert_eq!(attached, &json!([POLICY]));
}
