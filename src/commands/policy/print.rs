//! `policy print`: documents ready to attach.

use std::{fs, io, path::Path};

use super::{
    Failure,
    names::{Place, setup},
    notice_of_version,
};
use crate::{
    cli::policy::{DocumentFormat, Part, PolicyProduct, PrintArgs, RoleKind},
    commands::{
        console,
        files::{self, Readers},
    },
    facts::arn::partition_of_region,
    outcome::ExitCode,
    report::policy::{
        Bearer, Sheet, cloudformation,
        hole::{Hole, holes},
        json, terraform,
    },
    requirements::{
        KarpenterVersion, Setup,
        policy::{Layout, MANAGED_POLICY_LIMIT},
        role::{self, Kind, Printed},
    },
    target::names::{ROLE_NAME_LIMIT, is_role_name},
};

pub fn run(args: &PrintArgs) -> Result<ExitCode, Failure> {
    let version = needed_version(args).map_err(Failure::Usage)?;
    if is_versioned(args) {
        notice_of_version(version);
    }
    let sheet = sheet(args, version).map_err(Failure::Usage)?;
    match (args.format, &args.out, args.only) {
        (DocumentFormat::Json, Some(directory), _) => write_files(&sheet, directory)?,
        (DocumentFormat::Json, None, Some(part)) => {
            let document = only(&sheet, part).map_err(Failure::Usage)?;
            console::print(|out| json::document(document, out))?;
        }
        (DocumentFormat::Json, None, None) => console::print(|out| json::write(&sheet, out))?,
        (_, None, None) => {
            let text = match args.format {
                DocumentFormat::Cloudformation => cloudformation::text(&sheet),
                _ => terraform::text(&sheet),
            };
            console::print(|out| out.write_all(text.as_bytes()))?;
        }
        _ => return Err(Failure::Usage("--only and --out are for --format json".to_owned())),
    }
    Ok(ExitCode::Ok)
}

/// The requirements' name for what is asked for.
pub fn kind(kind: RoleKind, product: PolicyProduct) -> Kind {
    match (kind, product) {
        (RoleKind::Controller, _) => Kind::Controller,
        (RoleKind::Node, PolicyProduct::Karpenter) => Kind::Node,
        (RoleKind::Node, PolicyProduct::AutoMode) => Kind::AutoModeNode,
        (RoleKind::Cluster, PolicyProduct::Karpenter) => Kind::Cluster,
        (RoleKind::Cluster, PolicyProduct::AutoMode) => Kind::AutoModeCluster,
        (RoleKind::Queue, _) => Kind::Queue,
        (RoleKind::Preflight, _) => Kind::Preflight,
    }
}

/// Whether the documents depend on the Karpenter version.
fn is_versioned(args: &PrintArgs) -> bool {
    matches!(kind(args.kind, args.names.product), Kind::Controller | Kind::Node)
}

fn needed_version(args: &PrintArgs) -> Result<KarpenterVersion, String> {
    match args.karpenter_version {
        Some(version) => Ok(version),
        None if is_versioned(args) => Err(format!(
            "--karpenter-version is needed: what must be allowed differs from version to version \
             (the newest known is {})",
            KarpenterVersion::NEWEST
        )),
        None => Ok(KarpenterVersion::NEWEST),
    }
}

fn sheet(args: &PrintArgs, version: KarpenterVersion) -> Result<Sheet, String> {
    let kind = kind(args.kind, args.names.product);
    if args.names.cluster.is_none() && kind != Kind::Preflight {
        return Err("--cluster is needed: the documents name it".to_owned());
    }
    let open = |hole: Hole| hole.mark();
    let region = args.names.region.as_deref();
    let place = Place {
        partition: region
            .map_or_else(|| open(Hole::Partition), |region| partition_of_region(region).to_owned()),
        region: region.map_or_else(|| open(Hole::Region), str::to_owned),
        account: args.names.account.clone().unwrap_or_else(|| open(Hole::Account)),
    };
    let setup = setup(&args.names, &place)?;
    let layout = if args.split { Layout::Split } else { Layout::Fit };
    let mut printed = role::print(kind, version, &setup, layout);
    if place.partition == Hole::Partition.mark() {
        printed.trust = printed.trust.map(|trust| open_suffix(&trust));
    }
    too_large(&printed)?;
    let sheet = Sheet {
        title: title(kind, version, &setup),
        label: label(kind),
        cluster: setup.cluster.clone(),
        bearer: bearer(kind, args, &setup)?,
        trust: printed.trust,
        managed: printed.managed,
        policies: printed.policies,
    };
    if args.format == DocumentFormat::Json {
        closed(&sheet)?;
    }
    Ok(sheet)
}

/// EC2's name has an ending of its own in some partitions.
fn open_suffix(trust: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match trust {
        Value::String(text) if text == "ec2.amazonaws.com" => {
            Value::String(format!("ec2.{}", Hole::Suffix.mark()))
        }
        Value::Array(items) => items.iter().map(open_suffix).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), open_suffix(value))).collect()
        }
        other => other.clone(),
    }
}

/// JSON has no words for "this account".
fn closed(sheet: &Sheet) -> Result<(), String> {
    let mut text = format!("{:?}{:?}", sheet.managed, sheet.bearer);
    for policy in &sheet.policies {
        text += &policy.document.to_string();
    }
    text += &sheet.trust.as_ref().map(ToString::to_string).unwrap_or_default();
    let open = holes(&text);
    let region = open.iter().any(|hole| *hole != Hole::Account).then_some("--region");
    let account = open.contains(&Hole::Account).then_some("--account");
    let flags: Vec<_> = region.into_iter().chain(account).collect();
    if flags.is_empty() {
        return Ok(());
    }
    Err(format!(
        "JSON names what Terraform and CloudFormation look up: give {}, or choose --format \
         terraform or --format cloudformation",
        flags.join(" and ")
    ))
}

fn too_large(printed: &Printed) -> Result<(), String> {
    match printed.policies.iter().find(|policy| policy.size() > MANAGED_POLICY_LIMIT) {
        Some(policy) => Err(format!(
            "policy {} would have {} characters, and IAM takes {MANAGED_POLICY_LIMIT}: name fewer \
             node roles or AMI parameters, or give --split",
            policy.name,
            policy.size()
        )),
        None => Ok(()),
    }
}

fn bearer(kind: Kind, args: &PrintArgs, setup: &Setup) -> Result<Bearer, String> {
    let cluster = &setup.cluster;
    let named = match kind {
        Kind::Queue => {
            let Setup { partition, region, account, .. } = setup;
            let usual = format!("arn:{partition}:sqs:{region}:{account}:{cluster}");
            return Ok(Bearer::Queue(setup.queue_arn.clone().unwrap_or(usual)));
        }
        Kind::Preflight => return Ok(Bearer::Anyone),
        Kind::Controller => format!("KarpenterControllerRole-{cluster}"),
        Kind::Node => match args.names.node_roles.first() {
            Some(role) => crate::facts::arn::role_name(role).to_owned(),
            None => format!("KarpenterNodeRole-{cluster}"),
        },
        Kind::AutoModeNode => format!("EKSAutoNodeRole-{cluster}"),
        Kind::Cluster | Kind::AutoModeCluster => format!("EKSClusterRole-{cluster}"),
    };
    let name = args.role_name.clone().unwrap_or(named);
    if is_role_name(&name) {
        return Ok(Bearer::Role(name));
    }
    Err(format!(
        "`{name}` is no name for a role: IAM takes {ROLE_NAME_LIMIT} letters, digits and any of \
         +=,.@_-. Give another with --role-name"
    ))
}

fn title(kind: Kind, version: KarpenterVersion, setup: &Setup) -> String {
    let cluster = &setup.cluster;
    match kind {
        Kind::Controller => format!("the controller of Karpenter {version} in cluster {cluster}"),
        Kind::Node => format!("nodes of Karpenter {version} in cluster {cluster}"),
        Kind::AutoModeNode => format!("nodes of EKS Auto Mode in cluster {cluster}"),
        Kind::Cluster => format!("EKS cluster {cluster} without Auto Mode"),
        Kind::AutoModeCluster => format!("EKS cluster {cluster} with Auto Mode"),
        Kind::Queue => format!("the interruption queue of cluster {cluster}"),
        Kind::Preflight => "whoever runs karpenter-preflight".to_owned(),
    }
}

fn label(kind: Kind) -> &'static str {
    match kind {
        Kind::Controller => "karpenter controller",
        Kind::Node => "karpenter node",
        Kind::AutoModeNode => "auto mode node",
        Kind::Cluster | Kind::AutoModeCluster => "eks cluster",
        Kind::Queue => "karpenter queue",
        Kind::Preflight => "karpenter preflight",
    }
}

fn only(sheet: &Sheet, part: Part) -> Result<&serde_json::Value, String> {
    match (part, sheet.policies.as_slice()) {
        (Part::Trust, _) => {
            sheet.trust.as_ref().ok_or_else(|| "there is no trust policy for this".to_owned())
        }
        (Part::Policy, [only]) => Ok(&only.document),
        (Part::Policy, []) => Err(format!(
            "there is no document to print, only AWS managed policies: {}",
            sheet.managed.join(", ")
        )),
        (Part::Policy, several) => Err(format!(
            "there are {} documents, as one would be too large for IAM: give --out DIRECTORY for a \
             file each",
            several.len()
        )),
    }
}

/// One file a document, each named on standard output.
fn write_files(sheet: &Sheet, directory: &Path) -> Result<(), Failure> {
    let failed = |path: &Path| {
        let what = format!("could not write {}", path.display());
        move |error: io::Error| Failure::Io { what, error }
    };
    fs::create_dir_all(directory).map_err(failed(directory))?;
    let trust = sheet.trust.iter().map(|trust| ("trust.json".to_owned(), trust));
    let policies =
        sheet.policies.iter().map(|policy| (format!("{}.json", policy.name), &policy.document));
    for (name, document) in trust.chain(policies) {
        let path = directory.join(name);
        let mut text = Vec::new();
        json::document(document, &mut text).map_err(failed(&path))?;
        files::write(&path, &text, Readers::Others)?;
        console::print(|out| writeln!(out, "{}", path.display()))?;
    }
    for arn in &sheet.managed {
        console::print(|out| writeln!(out, "attach {arn}"))?;
    }
    Ok(())
}
