//! Any text as a document; what can be read is evaluated. Nothing may panic or hang.
#![no_main]

#[allow(dead_code, unused_imports)]
#[path = "../../src/iam/mod.rs"]
mod iam;

use iam::{Entry, Layer, NamedPolicy, Policy, PolicySet, Principal, Request, decide_alone, trust};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(policy) = Policy::parse(text) else { return };
    let Ok(principal) = Principal::aws("arn:aws:iam::111122223333:role/team/Karpenter") else {
        return;
    };
    // Something of the document itself is asked for, so that statements are reached.
    let action = policy.statements.iter().flat_map(|s| &s.action.items).next();
    let action = action.map_or("ec2:RunInstances", |a| a.text.as_str()).to_owned();
    let resources = policy.statements.iter().filter_map(|s| s.resource.as_ref());
    let resource = resources.flat_map(|r| &r.items).next();
    let resource = resource.map_or("*", |r| r.text.as_str()).to_owned();
    let mut request = Request::new(principal, &action, &resource).unknown("aws:SourceIp");
    for (i, condition) in policy.statements.iter().flat_map(|s| &s.conditions).enumerate() {
        request = match i % 4 {
            0 => request,
            1 => request.unknown(&condition.key),
            2 => request.with(&condition.key, condition.values.first().cloned().unwrap_or_default()),
            _ => request.with(&condition.key, Entry::List(condition.values.clone())),
        };
    }
    let named = NamedPolicy::new("p", policy);
    let _ = trust::decide(&named, &request).to_string();
    let _ = decide_alone(Layer::Resource, std::slice::from_ref(&named), &request).to_string();
    let set = PolicySet {
        identity: vec![named.clone()],
        boundary: Some(named.clone()),
        service_control: vec![vec![named.clone()]],
        resource: Some(named),
        ..PolicySet::default()
    };
    let decision = set.decide(&request);
    // An answer that names nothing would help nobody.
    assert!(!decision.to_string().is_empty());
});
