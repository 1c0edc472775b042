// What fuzzing, and the seeded mutations of the unit tests, do with a text.

use crate::iam::{
    Entry, Layer, NamedPolicy, Policy, PolicySet, Principal, Request, decide_alone, simulate, trust,
};

/// Any text as a document; what can be read is evaluated. True if it could be read.
pub fn document(text: &str) -> bool {
    let Ok(policy) = Policy::parse(text) else { return false };
    let Ok(principal) = Principal::aws("arn:aws:iam::111122223333:role/team/Karpenter") else {
        return false;
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
            2 => {
                request.with(&condition.key, condition.values.first().cloned().unwrap_or_default())
            }
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
    true
}

/// Any text as a line of `policy simulate`: the answer is always one line of JSON.
pub fn line(text: &str) {
    let answer = simulate::simulate_line(text);
    assert!(!answer.contains('\n'));
    assert!(serde_json::from_str::<simulate::Answer>(&answer).is_ok());
}
