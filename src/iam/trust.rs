//! Trust policies: may this principal assume the role?

use crate::iam::decision::Decision;
use crate::iam::evaluate::decide_alone;
use crate::iam::layers::{Layer, NamedPolicy, PolicySet};
use crate::iam::request::Request;

/// Decides `request` (`sts:AssumeRole`, `sts:TagSession`, `sts:AssumeRoleWithWebIdentity`, …)
/// by a role's trust policy alone. A trust policy that names the caller's account counts as
/// naming the caller: whether the account lets the caller go on is for its own policies.
///
/// Keys that are not set are absent from the request; declare those unknown that AWS would
/// send but nobody knows, such as `aws:SourceArn` for a service.
pub fn decide(trust: &NamedPolicy, request: &Request) -> Decision {
    decide_alone(Layer::Trust, std::slice::from_ref(trust), request)
}

/// The same for a service, or for the token of an identity provider, in an account whose
/// organisation has these resource control policies, one list a level.
pub fn decide_under(
    resource_control: &[Vec<NamedPolicy>],
    trust: &NamedPolicy,
    request: &Request,
) -> Decision {
    if resource_control.is_empty() || request.principal().account().is_some() {
        return decide(trust, request);
    }
    let set = PolicySet {
        resource: Some(trust.clone()),
        resource_control: resource_control.to_vec(),
        ..PolicySet::default()
    };
    let named = |layer| if layer == Layer::Resource { Layer::Trust } else { layer };
    match set.decide(request) {
        Decision::Denied { layer, statement } => {
            Decision::Denied { layer: named(layer), statement }
        }
        Decision::NotAllowed { layer, nearest } => {
            Decision::NotAllowed { layer: named(layer), nearest }
        }
        Decision::Unknown { keys, layer, statement } => {
            Decision::Unknown { keys, layer: named(layer), statement }
        }
        allowed => allowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iam::document::Policy;
    use crate::iam::principal::Principal;

    const OIDC: &str =
        "arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/A";
    const SUB: &str = "oidc.eks.eu-west-1.amazonaws.com/id/A:sub";
    const AUD: &str = "oidc.eks.eu-west-1.amazonaws.com/id/A:aud";

    fn ask(statements: &str, request: &Request) -> String {
        let text = format!(r#"{{"Version": "2012-10-17", "Statement": [{statements}]}}"#);
        let trust = NamedPolicy::new("trust", Policy::parse(&text).unwrap());
        decide(&trust, request).to_string()
    }

    fn service(name: &str, action: &str) -> Request {
        Request::new(Principal::Service(name.into()), action, "*")
    }

    #[test]
    fn services() {
        let pods = r#"{"Effect": "Allow", "Principal": {"Service": ["pods.eks.amazonaws.com"]},
            "Action": ["sts:AssumeRole", "sts:TagSession"]}"#;
        let eks = r#"{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"},
            "Action": "sts:AssumeRole", "Condition": {
            "StringEquals": {"aws:SourceAccount": "111122223333"}}}"#;
        let rows = [
            (
                pods,
                "pods.eks.amazonaws.com",
                "sts:AssumeRole",
                "allowed by Statement[0] of policy trust",
            ),
            (
                pods,
                "pods.eks.amazonaws.com",
                "sts:TagSession",
                "allowed by Statement[0] of policy trust",
            ),
            (
                pods,
                "eks.amazonaws.com",
                "sts:TagSession",
                "Statement[0] of policy trust is for pods.eks.amazonaws.com, but eks.amazonaws.com asks",
            ),
            (
                eks,
                "eks.amazonaws.com",
                "sts:AssumeRole",
                "depends on Statement[0] of policy trust (trust policy), which turns on aws:SourceAccount",
            ),
            (
                eks,
                "eks.amazonaws.com",
                "sts:TagSession",
                "Statement[0] of policy trust does not list sts:TagSession",
            ),
        ];
        for (trust, name, action, want) in rows {
            let request = service(name, action).unknown("aws:SourceAccount");
            assert_eq!(ask(trust, &request), want, "{trust}");
        }
        let known = service("eks.amazonaws.com", "sts:AssumeRole")
            .with("aws:SourceAccount", "444455556666");
        assert_eq!(
            ask(eks, &known),
            "Statement[0] of policy trust wants aws:SourceAccount to be 111122223333, but \
             444455556666 is sent"
        );
    }

    #[test]
    fn web_identity() {
        let trust = |operator: &str, sub: &str| {
            format!(
                r#"{{"Sid": "Irsa", "Effect": "Allow", "Principal": {{"Federated": "{OIDC}"}},
                "Action": "sts:AssumeRoleWithWebIdentity", "Condition": {{"{operator}":
                {{"{SUB}": "{sub}", "{AUD}": "sts.amazonaws.com"}}}}}}"#
            )
        };
        let token = |provider: &str| {
            Request::new(
                Principal::Federated(provider.into()),
                "sts:AssumeRoleWithWebIdentity",
                "*",
            )
            .with(SUB, "system:serviceaccount:kube-system:karpenter")
            .with(AUD, "sts.amazonaws.com")
        };
        let right = "system:serviceaccount:kube-system:karpenter";
        let rows = [
            (
                trust("StringEquals", right),
                OIDC,
                "allowed by statement Irsa of policy trust".to_owned(),
            ),
            (
                trust("StringLike", "system:serviceaccount:*:karpenter"),
                OIDC,
                "allowed by statement Irsa of policy trust".to_owned(),
            ),
            (
                trust("StringEquals", "system:serviceaccount:karpenter:karpenter"),
                OIDC,
                format!(
                    "statement Irsa of policy trust wants {SUB} to be \
                      system:serviceaccount:karpenter:karpenter, but {right} is sent"
                ),
            ),
            (
                trust("StringEquals", "system:serviceaccount:*:karpenter"),
                OIDC,
                format!(
                    "statement Irsa of policy trust wants {SUB} to be \
                      system:serviceaccount:*:karpenter, but {right} is sent"
                ),
            ),
            (
                trust("StringEquals", right),
                "arn:aws:iam::111122223333:oidc-provider/other",
                format!(
                    "statement Irsa of policy trust is for {OIDC}, but \
                      arn:aws:iam::111122223333:oidc-provider/other asks"
                ),
            ),
        ];
        for (statements, provider, want) in rows {
            assert_eq!(ask(&statements, &token(provider)), want);
        }
    }

    #[test]
    fn roles_and_denies() {
        let allow = |principal: &str| {
            format!(r#"{{"Effect": "Allow", "Principal": {principal}, "Action": "sts:*"}}"#)
        };
        let role = "arn:aws:iam::111122223333:role/A";
        let deny =
            r#"{"Sid": "Not", "Effect": "Deny", "Principal": "*", "Action": "sts:TagSession"}"#;
        let yes = "allowed by Statement[0] of policy trust";
        let rows = [
            (allow(r#"{"AWS": "111122223333"}"#), yes),
            (allow(r#"{"AWS": "arn:aws:iam::111122223333:root"}"#), yes),
            (allow(&format!(r#"{{"AWS": ["x", "{role}"]}}"#)), yes),
            (allow(r#""*""#), yes),
            (
                allow(r#"{"AWS": "444455556666"}"#),
                "Statement[0] of policy trust is for 444455556666, but arn:aws:iam::111122223333:role/A asks",
            ),
            (
                format!("{},{deny}", allow(r#""*""#)),
                "denied by statement Not of policy trust (trust policy)",
            ),
        ];
        for (statements, want) in rows {
            let request = Request::new(Principal::aws(role).unwrap(), "sts:TagSession", "*");
            assert_eq!(ask(&statements, &request), want);
        }
    }
}
