//! Whether the policies of VPC endpoints let through what is called by way of them.

use std::collections::BTreeSet;

use super::{ENDPOINTS, ROUTES, SUBNETS, needed::is_available, node_subnets, path::Path};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        controller::{self, Controller},
        node_role,
        permissions::{
            Grants, ROLE_POLICIES, Refused, consequence, distinct_actions, is_grave, wording,
        },
        remedies::{listed, quote},
        setup::{distinct_requests, setups},
    },
    facts::network::VpcEndpoint,
    iam::{Decision, NamedPolicy, Policy},
    outcome::{Finding, Remedy, Unknown},
    requirements::{self, Request},
    target::{NodeRole, Product},
};

pub static CHECK: Check = Check {
    id: "vpc-endpoint-policies",
    title: "The policies of VPC endpoints let the calls through",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["denied-by-endpoint-policy", "unauthorized-operation"],
    needs: &["eks:DescribeCluster", SUBNETS, ROUTES, ENDPOINTS, ROLE_POLICIES],
    doc: "\
## What
The policy of each VPC endpoint that takes calls of the controller or of the nodes allows those
calls: of interface endpoints with private DNS, and of gateway endpoints in the nodes' route tables.

## Why
A call through an endpoint needs the endpoint's leave besides that of the role's own policies. The
default policy allows all. A narrower one, written for what used the endpoint so far, knows neither
Karpenter's role nor its actions: the role is right, and the call is denied all the same. That of S3
must allow the bucket in which AWS keeps the layers of ECR's images.

## Seen as
`because no VPC endpoint policy allows the ... action`, or `with an explicit deny in a VPC endpoint
policy`.

## Fix
Allow the roles these actions in the endpoint's policy, or give it the default policy.
",
    run,
};

/// Whose calls go through endpoints.
struct Caller {
    role: String,
    grants: Grants,
    requests: Vec<Request>,
}

/// The callers that are known, and why others are not.
#[derive(Default)]
struct Callers {
    known: Vec<Caller>,
    unread: Vec<Unknown>,
}

impl Callers {
    /// One that could not be read must not hide what is refused to another.
    fn add(&mut self, found: Result<Vec<Caller>, Stop>) {
        match found {
            Ok(callers) => self.known.extend(callers),
            Err(Stop::Unknown(why) | Stop::LeftOut(why)) => self.unread.push(why),
            Err(Stop::Skipped(_)) => {}
        }
    }
}

fn run(cx: &Context<'_>) -> Verdicts {
    let mut tables = BTreeSet::new();
    for subnet in node_subnets(cx)? {
        tables.insert(Path::of(cx, &subnet.id)?.table.id.clone());
    }
    let endpoints = cx.facts.network.endpoints.known()?.iter();
    let takes_calls = |one: &&VpcEndpoint| {
        let gateway = one.route_tables.iter().any(|table| tables.contains(table));
        is_available(one) && one.policy.is_some() && (one.private_dns || gateway)
    };
    let endpoints: Vec<_> =
        endpoints.filter(takes_calls).filter(|one| service(one).is_some()).collect();
    if endpoints.is_empty() {
        return Err(Stop::skipped("no endpoint of the VPC takes these calls"));
    }
    let callers = callers(cx);
    Ok(endpoints.into_iter().map(|one| Judged::new(&one.id, || judge(cx, one, &callers))).collect())
}

/// The prefix of the actions that an endpoint serves, if it is one that is called here.
fn service(endpoint: &VpcEndpoint) -> Option<&'static str> {
    const SERVICES: [(&str, &str); 10] = [
        (".ec2", "ec2"),
        (".eks", "eks"),
        (".eks-auth", "eks-auth"),
        (".sts", "sts"),
        (".ssm", "ssm"),
        (".sqs", "sqs"),
        (".iam", "iam"),
        (".pricing.api", "pricing"),
        (".ecr.api", "ecr"),
        (".s3", "s3"),
    ];
    let found = SERVICES.iter().find(|(end, _)| endpoint.service.ends_with(end));
    found.map(|(_, prefix)| *prefix)
}

/// The controller and the nodes, as far as they are known.
fn callers(cx: &Context<'_>) -> Callers {
    let mut callers = Callers::default();
    if cx.target.runs(Product::Karpenter) {
        if cx.target.controller_roles.is_empty() {
            callers.add(controller::grants(cx).map(|_| Vec::new()));
        }
        for role in &cx.target.controller_roles {
            callers.add(controller(cx, &role.value));
        }
    }
    for node_role in &cx.target.node_roles {
        callers.add(node(cx, node_role));
    }
    callers
}

fn controller(cx: &Context<'_>, name: &str) -> Result<Vec<Caller>, Stop> {
    let controller = Controller::of(cx, name)?;
    let requests = distinct_requests(&setups(cx, Product::Karpenter)?, |setup| {
        requirements::controller(cx.karpenter(), setup)
    });
    let role = controller.role.name.clone();
    Ok(vec![Caller { role, grants: controller.grants(cx)?, requests }])
}

fn node(cx: &Context<'_>, node_role: &NodeRole) -> Result<Vec<Caller>, Stop> {
    let Some(role) = cx.role(&node_role.name)? else { return Ok(Vec::new()) };
    let requests = distinct_requests(&setups(cx, node_role.product)?, |setup| {
        let all = node_role::permissions::capabilities(cx, node_role.product, setup);
        all.into_iter().flat_map(|one| requirements::node(one, setup)).collect()
    });
    Ok(vec![Caller { role: role.name.clone(), grants: Grants::of(cx, role)?, requests }])
}

fn judge(cx: &Context<'_>, endpoint: &VpcEndpoint, callers: &Callers) -> Result<Finding, Stop> {
    let name = format!("{} ({})", endpoint.service, endpoint.id);
    let policy =
        Policy::parse(endpoint.policy.as_deref().unwrap_or_default()).map_err(|error| {
            Stop::unknown(format!("the policy of {name} is not understood: {error}"))
        })?;
    let policy = NamedPolicy::new(&endpoint.id, policy);
    let (mut unknown, mut asked) = (callers.unread.first().cloned(), 0);
    for caller in &callers.known {
        let requests = caller.requests_to(cx, endpoint);
        asked += requests.len();
        let (refused, undecided) = caller.through(requests, &policy);
        if let Some(worst) = consequence(&refused) {
            let finding = shut(&name, caller, &refused);
            let finding = if is_grave(worst) { finding } else { mild(finding) };
            return Ok(finding.mend(mend(cx, endpoint)));
        }
        unknown = unknown.or(undecided.map(Unknown::new));
    }
    match unknown {
        Some(why) => Err(Stop::Unknown(why)),
        None if asked == 0 => Err(Stop::skipped("nobody is known to call it")),
        None => Ok(Finding::pass(format!("The policy of {name} lets the calls through."))),
    }
}

impl Caller {
    /// What it asks of the service of the endpoint.
    fn requests_to(&self, cx: &Context<'_>, endpoint: &VpcEndpoint) -> Vec<Request> {
        let prefix = service(endpoint).unwrap_or_default();
        let own = self.requests.iter().filter(|request| request.service() == prefix).cloned();
        own.chain(layers(cx, self, prefix)).collect()
    }

    /// Which of these requests the endpoint refuses, and why something is not certain.
    fn through(
        &self,
        requests: Vec<Request>,
        policy: &NamedPolicy,
    ) -> (Vec<Refused>, Option<String>) {
        let (mut refused, mut unknown) = (Vec::new(), None);
        for request in requests {
            let decision = self.grants.through_endpoint(policy, &request);
            match &decision {
                Decision::Allowed { .. } => {}
                Decision::Unknown { .. } => {
                    let action = &request.action;
                    unknown =
                        unknown.or_else(|| Some(format!("whether {action} is allowed {decision}")));
                }
                _ => refused.push(Refused { request, decision }),
            }
        }
        (refused, unknown)
    }
}

/// Layers of ECR's images are in a bucket of AWS's
/// (<https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html#ecr-setting-up-s3-gateway>):
/// whoever pulls an image reads there.
fn layers(cx: &Context<'_>, caller: &Caller, prefix: &str) -> Option<Request> {
    let pull = caller.requests.iter().find(|request| request.action == "ecr:BatchGetImage");
    let pull = pull.filter(|_| prefix == "s3")?;
    Some(Request {
        action: "s3:GetObject".to_owned(),
        resource: format!(
            "arn:{}:s3:::prod-{}-starport-layer-bucket/*",
            cx.target.partition,
            cx.region()
        ),
        ..pull.clone()
    })
}

fn shut(name: &str, caller: &Caller, refused: &[Refused]) -> Finding {
    let first = &refused[0];
    Finding::fail(
        format!(
            "The policy of {name} does not let {} do {}: {}.",
            caller.role,
            listed(&distinct_actions(refused)),
            first.decision
        ),
        "The calls go through this endpoint and are denied, whatever the role's own policies allow.",
    )
    .worded(wording(&first.decision))
    .errors(&CHECK.errors[1..])
    .evidence(ENDPOINTS, "VpcEndpoints[].PolicyDocument", first.decision.to_string())
}

/// A function is missing; the rest works.
fn mild(finding: Finding) -> Finding {
    Finding { status: crate::outcome::FindingStatus::Warn, ..finding }
}

fn mend(cx: &Context<'_>, endpoint: &VpcEndpoint) -> Remedy {
    Remedy::new(
        "Allow it in the endpoint's policy, which the first command shows. Or give the endpoint the \
         default policy, which lets every call through, with the second one; the roles' own policies \
         go on deciding.",
    )
    .run(format!(
        "aws ec2 describe-vpc-endpoints --region {} --vpc-endpoint-ids {} --query \
         'VpcEndpoints[0].PolicyDocument' --output text",
        quote(cx.region()),
        quote(&endpoint.id)
    ))
    .run(format!(
        "aws ec2 modify-vpc-endpoint --region {} --vpc-endpoint-id {} --reset-policy",
        quote(cx.region()),
        quote(&endpoint.id)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn endpoint(service: &str, statement: &Value) -> Value {
        let policy = json!({"Version": "2012-10-17", "Statement": [statement]});
        let gateway = service == "s3";
        json!({"facts": {"network": {"endpoints": {"known": [{
            "id": "vpce-01", "service": format!("com.amazonaws.us-west-2.{service}"),
            "kind": if gateway { "Gateway" } else { "Interface" }, "state": "available",
            "private_dns": !gateway, "security_groups": ["sg-01"],
            "route_tables": if gateway { json!(["rtb-02"]) } else { json!([]) },
            "policy": policy.to_string()}]}}}})
    }

    fn allow(action: &Value, resource: &str, principal: &Value) -> Value {
        json!({"Effect": "Allow", "Action": action, "Resource": resource, "Principal": principal})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown, Warn};
        let all = allow(&json!("*"), "*", &json!("*"));
        let reads = allow(&json!("ec2:Describe*"), "*", &json!("*"));
        let account = allow(&json!("*"), "*", &json!({"AWS": "111122223333"}));
        let other = allow(&json!("*"), "*", &json!({"AWS": "arn:aws:iam::111122223333:role/ci"}));
        let mut organization = all.clone();
        organization["Condition"] = json!({"StringEquals": {"aws:PrincipalOrgID": "o-1"}});
        let buckets = allow(&json!("s3:*"), "arn:aws:s3:::our-*", &json!("*"));
        let layers = allow(
            &json!("s3:GetObject"),
            "arn:aws:s3:::prod-*-starport-layer-bucket/*",
            &json!("*"),
        );
        let mut off = endpoint("ec2", &reads);
        off["facts"]["network"]["endpoints"]["known"][0]["private_dns"] = json!(false);
        let mut unread = endpoint("ec2", &all);
        unread["facts"]["network"]["endpoints"] =
            json!({"denied": {"action": ENDPOINTS, "message": "no"}});
        let no_node_role = |statement: &Value| {
            let mut patch = endpoint("ec2", statement);
            patch["facts"]["roles"] = json!({"KarpenterNodeRole-demo":
                {"denied": {"action": "iam:GetRole", "message": "no"}}});
            patch
        };
        let one = |status| [(status, "vpce-01")];
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("none", json!({}), &[(Skipped, "demo")]),
                ("the default", endpoint("ec2", &all), &one(Pass)),
                ("the account's own", endpoint("ec2", &account), &one(Pass)),
                ("reads only", endpoint("ec2", &reads), &one(Fail)),
                ("another role", endpoint("ec2", &other), &one(Fail)),
                ("for a queue, another role", endpoint("sqs", &other), &one(Warn)),
                ("an organisation", endpoint("ec2", &organization), &one(Unknown)),
                ("one's own buckets", endpoint("s3", &buckets), &one(Fail)),
                ("AWS's bucket", endpoint("s3", &layers), &one(Pass)),
                ("not called", endpoint("lambda", &reads), &[(Skipped, "demo")]),
                ("private DNS is off", off, &[(Skipped, "demo")]),
                ("a role is unread", no_node_role(&all), &one(Unknown)),
                ("refused to the other role", no_node_role(&reads), &one(Fail)),
                ("unread", unread, &[(Unknown, "demo")]),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("images", endpoint("ecr.api", &other), &one(Fail)),
                ("nobody asks for prices", endpoint("pricing.api", &other), &one(Skipped)),
            ],
        );
    }
}
