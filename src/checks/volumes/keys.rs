//! Whether whoever launches nodes may use the keys of their volumes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts, controller,
        kms::{self, State},
        node_classes,
        permissions::{Answer, Grants, ROLE_POLICIES},
        remedies::{listed, quote},
    },
    facts::{arn, kms::Key, kubernetes::node_class::NodeClass},
    iam::Decision,
    outcome::{Finding, FindingStatus, Remedy, Unknown},
    target::Product,
};

const DEFAULT: &str = "ec2:GetEbsDefaultKmsKeyId";
const AWS_KEY: &str = "alias/aws/ebs";
/// What EC2 does with the key in the name of whoever launches: it makes a data key for the
/// volume, and a grant for the instance to have it decrypted.
/// <https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html>
const ACTIONS: [&str; 3] =
    ["kms:GenerateDataKeyWithoutPlaintext", "kms:CreateGrant", "kms:Decrypt"];

pub static CHECK: Check = Check {
    id: "volume-keys",
    title: "Whoever launches nodes may use the keys of their volumes",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["encrypted-volume-failed", "kms-key-denied"],
    needs: &[
        DEFAULT,
        "kms:DescribeKey",
        "kms:GetKeyPolicy",
        "kms:ListGrants",
        ROLE_POLICIES,
        "eks:DescribeCluster",
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
The KMS key that the account gives to volumes which name none, and each key that a NodeClass
names, exists in this region, is enabled and symmetric; and its policy or a grant, together with
the role's own policies, lets the controller's role use it through EC2: with EKS Auto Mode the
cluster's role.

## Why
Karpenter's volumes are encrypted by default, so that the account's default key counts even where
encryption by default is off. EC2 uses the key in the name of whoever launches, which is the
controller and not the node. `CreateFleet` succeeds all the same: the instance ends before it
starts, Karpenter's log shows a launch that worked, and the next NodeClaim goes the same way.

## Seen as
`Client.InternalError: Client error on launch` as the state reason of instances that ended.

## Fix
Let the role use the key in the key policy, with `kms:ViaService` set to
`ec2.<region>.amazonaws.com`.
",
    run,
};

/// A key, and what uses it.
#[derive(Default)]
struct Wanted {
    /// `the account's default`, `EC2NodeClass default`, …
    by: Vec<String>,
    products: Vec<Product>,
    /// EKS does not say whether nodes of Auto Mode take the account's default.
    certain: bool,
}

fn run(cx: &Context<'_>) -> Verdicts {
    let mut wanted: BTreeMap<String, Wanted> = BTreeMap::new();
    let mut judged = Vec::new();
    match cx.facts.ebs_default_key.known() {
        Ok(key) => {
            let products = cx.target.products.iter().map(|product| product.value);
            let by = vec!["the account's default for volumes".to_owned()];
            let certain = cx.target.runs(Product::Karpenter);
            wanted.insert(key.clone(), Wanted { by, products: products.collect(), certain });
        }
        Err(unseen) => judged.push(Judged::new("the account's default", || Err(unseen.into()))),
    }
    let kubernetes = &cx.facts.kubernetes;
    let mut of_classes = |classes: Option<&Vec<NodeClass>>, product: Product, kind: &str| {
        for class in classes.into_iter().flatten().filter(|_| cx.target.runs(product)) {
            for key in class.volumes.iter().filter_map(|volume| volume.kms_key.clone()) {
                let wanted = wanted.entry(key).or_default();
                wanted.by.push(format!("{kind} {}", class.meta.name));
                wanted.products.push(product);
                wanted.certain = true;
            }
        }
    };
    of_classes(kubernetes.ec2_node_classes.value(), Product::Karpenter, "EC2NodeClass");
    of_classes(kubernetes.auto_node_classes.value(), Product::AutoMode, "NodeClass");
    if let Err(stop) = node_classes::readable(cx) {
        judged.push(Judged::new("the keys that NodeClasses name", || Err(stop)));
    }
    judged.extend(
        wanted.iter().map(|(named, wanted)| Judged::new(named, || judge(cx, named, wanted))),
    );
    Ok(judged)
}

fn judge(cx: &Context<'_>, named: &str, wanted: &Wanted) -> Result<Finding, Stop> {
    if named.ends_with(AWS_KEY) {
        return Ok(Finding::pass("It is the key that AWS manages for EBS."));
    }
    let by = listed(&wanted.by);
    let elsewhere = arn_region(named).filter(|region| *region != cx.region());
    if let Some(region) = elsewhere {
        let seen = format!("{named}, which is {by}, is a key of {region}.");
        return Ok(fail(wanted, seen, cx).evidence(DEFAULT, "KmsKeyId", named));
    }
    let key = match kms::state(cx, named)? {
        State::OfAws => return Ok(Finding::pass("AWS manages it.")),
        State::Missing => {
            let seen = format!("{named}, which is {by}, does not exist in {}.", cx.region());
            return Ok(fail(wanted, seen, cx).evidence(
                "kms:DescribeKey",
                "NotFoundException",
                named,
            ));
        }
        State::Unusable(key, why) => {
            let seen = format!("{named}, which is {by}, {why}.");
            let finding =
                fail(wanted, seen, cx).evidence("kms:DescribeKey", "KeyState", &key.state);
            let words = "Make the key usable, or choose another.";
            return Ok(finding.mend(kms::enable(cx, other_key(cx, words), key)));
        }
        State::Own(key) => key,
    };
    let owner = arn::account(&key.arn);
    if owner.is_some() && cx.account().is_some() && owner != cx.account() {
        return Err(Stop::unknown(format!(
            "{named} is of account {}, and key policies of other accounts cannot be read",
            owner.unwrap_or_default()
        )));
    }
    by_policy(cx, key, &by, wanted)
}

fn by_policy(cx: &Context<'_>, key: &Key, by: &str, wanted: &Wanted) -> Result<Finding, Stop> {
    let launchers = launchers(cx, wanted)?;
    let refused = refusals(cx, key, &launchers)?;
    let Some((role, _, decision)) = refused.first() else { return Ok(may_use(&launchers)) };
    let of_role = refused.iter().filter(|(other, _, _)| other == role);
    let actions: Vec<_> = of_role.map(|(_, action, _)| *action).collect();
    let seen = format!(
        "{} may not do {} with {}, which is {by}: {decision}.",
        arn::role_name(role),
        listed(&actions),
        key.arn
    );
    Ok(fail(wanted, seen, cx)
        .evidence("kms:GetKeyPolicy", "Policy", decision.to_string())
        .mend(mend(cx, key, &refused)))
}

/// Who may not do what with a key, and why.
pub(super) type Refusal = (String, &'static str, Decision);

/// What those who launch may not do with a key through EC2; unknown where that is not certain of
/// any of it.
pub(super) fn refusals(
    cx: &Context<'_>,
    key: &Key,
    launchers: &[(String, Grants)],
) -> Result<Vec<Refusal>, Stop> {
    let mut refused = Vec::new();
    let mut unknown: Option<Unknown> = None;
    for (role, grants) in launchers {
        for action in ACTIONS {
            match kms::role_may(cx, key, role, grants, action, "ec2")? {
                Answer::Allowed => {}
                Answer::Refused(decision) => refused.push((role.clone(), action, decision)),
                Answer::Unknown(why) => unknown = unknown.or(Some(why)),
            }
        }
    }
    match unknown {
        Some(unknown) if refused.is_empty() => Err(Stop::Unknown(unknown)),
        _ => Ok(refused),
    }
}

pub(super) fn may_use(launchers: &[(String, Grants)]) -> Finding {
    let roles: Vec<_> = launchers.iter().map(|(role, _)| arn::role_name(role)).collect();
    Finding::pass(format!("{} may use it through EC2.", listed(&roles)))
}

/// Who launches with the key: their ARNs and what they may do.
fn launchers(cx: &Context<'_>, wanted: &Wanted) -> Result<Vec<(String, Grants)>, Stop> {
    let mut launchers = Vec::new();
    if wanted.products.contains(&Product::Karpenter) {
        launchers.extend(controller::grants(cx)?);
    }
    if wanted.products.contains(&Product::AutoMode) {
        let arn = &cx.cluster()?.role_arn;
        let role = cx.role(arn::role_name(arn))?;
        let role = role.ok_or_else(|| Stop::skipped("the cluster's role does not exist"))?;
        launchers.push((role.arn.clone(), Grants::of(cx, role)?));
    }
    Ok(launchers)
}

fn fail(wanted: &Wanted, seen: String, cx: &Context<'_>) -> Finding {
    let status = if wanted.certain { FindingStatus::Fail } else { FindingStatus::Warn };
    let certain = match status {
        FindingStatus::Fail => "",
        _ => " This is so if EKS takes the account's default for them, which it does not document.",
    };
    let effect = format!(
        "Instances with such volumes end before they start, and their NodeClaims are replaced \
         without end.{certain}"
    );
    let finding = Finding { status, ..Finding::fail(seen, effect) };
    let remedy = other_key(cx, "Choose a key that is there, or reset the default to AWS's own.");
    finding.errors(CHECK.errors).mend(remedy)
}

/// The command that makes AWS's own key the default again.
fn other_key(cx: &Context<'_>, words: &str) -> Remedy {
    let set = cx.facts.ebs_default_key.value().is_some_and(|key| !key.ends_with(AWS_KEY));
    let remedy = Remedy::new(words);
    if !set {
        return remedy;
    }
    remedy.run(format!("aws ec2 reset-ebs-default-kms-key-id --region {}", quote(cx.region())))
}

pub(super) fn mend(cx: &Context<'_>, key: &Key, refused: &[Refusal]) -> Remedy {
    let denied = refused.iter().any(|(_, _, decision)| matches!(decision, Decision::Denied { .. }));
    if denied {
        return Remedy::new(
            "A statement denies it outright, and no further one helps: narrow or remove that.",
        );
    }
    let mut roles: Vec<&String> = refused.iter().map(|(role, _, _)| role).collect();
    roles.dedup();
    let via = match cx.target.partition {
        "aws-cn" => format!("ec2.{}.amazonaws.com.cn", cx.region()),
        _ => format!("ec2.{}.amazonaws.com", cx.region()),
    };
    let statement = |sid: &str, actions: &[&str], more: Value| {
        let mut condition = json!({"StringEquals": {"kms:ViaService": via}});
        if let (Some(condition), Value::Object(more)) = (condition.as_object_mut(), more) {
            condition.extend(more);
        }
        json!({"Sid": sid, "Effect": "Allow", "Principal": {"AWS": roles}, "Action": actions,
               "Resource": "*", "Condition": condition})
    };
    let use_it =
        ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"];
    let for_resources = json!({"Bool": {"kms:GrantIsForAWSResource": "true"}});
    let statements = vec![
        statement("UseForNodeVolumes", &use_it, json!({})),
        statement("GrantForNodeVolumes", &["kms:CreateGrant"], for_resources),
    ];
    let words = "Let the role use the key through EC2, in the key policy. Owners of the key may \
                 have to do it.";
    kms::allow(cx, Remedy::new(words), key, statements)
}

/// The region of an ARN, if it is one.
fn arn_region(named: &str) -> Option<&str> {
    named.strip_prefix("arn:")?.split(':').nth(2)
}

#[cfg(test)]
mod tests;
