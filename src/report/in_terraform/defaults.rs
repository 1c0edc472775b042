//! The defaults of the instance metadata: one resource for all of a region's, which takes back
//! whatever it does not name.

use super::{
    super::policy::terraform::{
        Argument::{Raw, Text},
        resource,
    },
    label,
    words::Command,
};
use crate::{
    facts::ec2::ImdsDefaults,
    outcome::{Outcome, Status, Step},
};

/// The defaults that the region shall have: its present ones, and in their place what any finding
/// asks for, so that the resource says the same for each.
pub fn wanted(outcomes: &[Outcome], present: &ImdsDefaults) -> ImdsDefaults {
    let mut wanted = present.clone();
    let open = outcomes.iter().filter(|one| matches!(one.status, Status::Fail | Status::Warn));
    for remedy in open.filter_map(|outcome| outcome.remedy.as_ref()) {
        for step in &remedy.steps {
            let Step::Command { command } = step else { continue };
            let Some(command) = Command::parse(command, &[]).filter(is_of_defaults) else {
                continue;
            };
            take(&command, &mut wanted);
        }
    }
    wanted
}

fn is_of_defaults(command: &Command<'_>) -> bool {
    command.service == "ec2" && command.operation == "modify-instance-metadata-defaults"
}

fn take(command: &Command<'_>, wanted: &mut ImdsDefaults) {
    let set = |place: &mut Option<String>, option| {
        if let Some(value) = command.value(option) {
            *place = Some(value);
        }
    };
    set(&mut wanted.http_endpoint, "http-endpoint");
    set(&mut wanted.http_tokens, "http-tokens");
    set(&mut wanted.instance_metadata_tags, "instance-metadata-tags");
    let hops = command.value("http-put-response-hop-limit");
    if let Some(hops) = hops.and_then(|hops| hops.parse().ok()) {
        wanted.http_put_response_hop_limit = Some(hops);
    }
}

pub fn block(command: &Command<'_>, defaults: &ImdsDefaults) -> Option<String> {
    let mut all = defaults.clone();
    take(command, &mut all);
    let hops = all.http_put_response_hop_limit.map(|hops| Raw(hops.to_string()));
    let options = [
        ("http_endpoint", all.http_endpoint.map(Text)),
        ("http_put_response_hop_limit", hops),
        ("http_tokens", all.http_tokens.map(Text)),
        ("instance_metadata_tags", all.instance_metadata_tags.map(Text)),
    ];
    let named = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let arguments: Vec<_> = named.collect();
    let region = command.value("region")?;
    (!arguments.is_empty())
        .then(|| resource("aws_ec2_instance_metadata_defaults", &label(&region), &arguments))
}
