//! `policy test`: judge policies on disk, without AWS.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    Failure, infer,
    input::{self, Document, Role},
    judge::Judge,
    managed,
    names::{Place, setup},
    notice_of_version, print,
    questions::questions,
    subject::{Subject, choose},
    trust,
};
use crate::{
    cli::policy::{NamesArgs, PolicyProduct, RoleKind, TestArgs},
    commands::console,
    facts::arn::partition_of_region,
    iam::{Layer, NamedPolicy, PolicySet, Principal, decide_alone},
    outcome::{Counts, ExitCode, Outcome, Status, exit_code},
    report::policy::test::{self, Asked},
    requirements::{
        KarpenterVersion, Request, SENDER, Setup,
        policy::Layout,
        role::{self, Printed},
    },
};

pub fn run(args: &TestArgs) -> Result<ExitCode, Failure> {
    let version = version(args).map_err(Failure::Usage)?;
    let asked = ask(args, version).map_err(Failure::Usage)?;
    if asked.karpenter_version.is_some() {
        notice_of_version(version);
    }
    let code = exit_code(&Counts::of(&asked.outcomes), args.fail_on, args.allow_unknown);
    console::print(|out| test::write(&asked, code, args.output, console::style(), out))?;
    Ok(code)
}

fn version(args: &TestArgs) -> Result<KarpenterVersion, String> {
    match args.karpenter_version {
        Some(version) => Ok(version),
        None if args.role_kind == RoleKind::Controller => Err(format!(
            "--karpenter-version is needed: what must be allowed differs from version to version \
             (the newest known is {})",
            KarpenterVersion::NEWEST
        )),
        None => Ok(KarpenterVersion::NEWEST),
    }
}

fn ask(args: &TestArgs, version: KarpenterVersion) -> Result<Asked, String> {
    let kind = args.role_kind;
    let cluster = match &args.names.cluster {
        Some(cluster) => cluster.clone(),
        None if kind == RoleKind::Preflight => "CLUSTER".to_owned(),
        None => return Err("--cluster is needed: the requests name it".to_owned()),
    };
    let mut subject = choose(input::read(&args.files)?, kind, &cluster, args.role.as_deref())?;
    if let Some(path) = &args.boundary {
        subject.role.boundary = Some(input::document(path)?);
        subject.role.boundary_arn = None;
    }
    let mut names = NamesArgs { cluster: Some(cluster), ..args.names.clone() };
    let mut notes = Vec::new();
    let place = place(&subject, kind, &mut names, &mut notes);
    let setup = setup(&names, &place)?;
    let outcomes = judge(&mut subject, kind, names.product, version, &setup)?;
    let is_versioned = kind == RoleKind::Controller;
    Ok(Asked {
        judged: subject.role.name.clone(),
        collected_at: Timestamp::now(),
        karpenter_version: is_versioned.then_some(version),
        is_auto_mode: names.product == PolicyProduct::AutoMode,
        cluster: setup.cluster,
        region: place.region,
        account: place.account,
        controller_role: is_versioned.then(|| subject.role.name.clone()),
        node_roles: setup.node_role_arns,
        queue: setup.queue_arn,
        notes,
        outcomes,
    })
}

/// Where the policies are for: as the flags say, else as the documents do, else made up.
fn place(
    subject: &Subject,
    kind: RoleKind,
    names: &mut NamesArgs,
    notes: &mut Vec<String>,
) -> Place {
    let role = &subject.role;
    let documents = role.identity.iter().chain(&subject.resource).chain(&role.trust);
    let texts: Vec<&str> =
        documents.map(|document| document.text.as_str()).chain(role.arn.as_deref()).collect();
    let found = infer::named(texts.into_iter());
    // The requests of the other kinds do not turn on it.
    let is_telling = matches!(kind, RoleKind::Controller | RoleKind::Queue);
    let mut value = |flag: &Option<String>, found: &Option<String>, made_up: &str, name: &str| {
        let (value, note) = match (flag, found) {
            (Some(value), _) => return value.clone(),
            (None, Some(value)) => {
                (value.as_str(), format!("{name} {value} is what the documents name"))
            }
            (None, None) => {
                (made_up, format!("the documents name no {name}, and {made_up} is made up"))
            }
        };
        if is_telling {
            notes.push(format!("{note}: --{name} says which"));
        }
        value.to_owned()
    };
    let region = value(&names.region, &found.region, "us-east-1", "region");
    let account = value(&names.account, &found.account, "111122223333", "account");
    take_names(subject, kind, names, notes);
    Place { partition: partition_of_region(&region).to_owned(), region, account }
}

/// The node roles and the queue that the documents name, where no flag does.
fn take_names(subject: &Subject, kind: RoleKind, names: &mut NamesArgs, notes: &mut Vec<String>) {
    let documents = subject.role.identity.iter().chain(&subject.resource);
    let policies: Vec<_> = documents.map(|document| &document.named.policy).collect();
    let of = |action, service| infer::resources(policies.iter().copied(), action, service);
    let is_controller = kind == RoleKind::Controller;
    let roles = of("iam:PassRole", "iam");
    if is_controller && names.node_roles.is_empty() && !roles.is_empty() {
        let listed = roles.join(", ");
        notes
            .push(format!("node role {listed} is what the documents name: --node-role says which"));
        names.node_roles = roles;
    }
    if names.queue.is_some() || !matches!(kind, RoleKind::Controller | RoleKind::Queue) {
        return;
    }
    let action = if is_controller { "sqs:ReceiveMessage" } else { "sqs:SendMessage" };
    match of(action, "sqs").into_iter().next() {
        Some(queue) => {
            notes.push(format!("queue {queue} is what the documents name: --queue says which"));
            names.queue = Some(queue);
        }
        None if is_controller => notes.push(
            "no interruption queue is judged: --queue says which, if there is one".to_owned(),
        ),
        None => {}
    }
}

fn judge(
    subject: &mut Subject,
    kind: RoleKind,
    product: PolicyProduct,
    version: KarpenterVersion,
    setup: &Setup,
) -> Result<Vec<Outcome>, String> {
    let printed = role::print(print::kind(kind, product), version, setup, Layout::One);
    let name = subject.role.arn.clone().unwrap_or_else(|| subject.role.name.clone());
    resolve(&mut subject.role, setup);
    let has_documents = !subject.role.identity.is_empty() || !subject.role.unseen.is_empty();
    if kind == RoleKind::Queue && subject.resource.is_empty() {
        return Err("the files hold no policy of a queue, which has a Principal".to_owned());
    }
    let questions = questions(kind, product, version, setup);
    let judge = judge_of(subject, kind, setup, &printed, &name)?;
    let mut outcomes = Vec::new();
    if let Some(document) = &subject.role.trust {
        let outcome = trust::judge(document, kind, product, setup, &name);
        let mend = |outcome| trust::mend(outcome, questions.first(), printed.trust.as_ref());
        outcomes.extend(outcome.map(mend));
    }
    // A file with a trust policy alone says nothing of permissions.
    let is_asked = has_documents || kind == RoleKind::Queue || outcomes.is_empty();
    if is_asked {
        outcomes.extend(questions.iter().flat_map(|question| judge.judge(question)));
    }
    if kind == RoleKind::Cluster && product == PolicyProduct::Karpenter {
        outcomes.push(cluster_policy(&subject.role, &name));
    }
    outcomes.extend(
        subject.role.boundary_arn.as_ref().map(|boundary| unseen_boundary(boundary, &name)),
    );
    Ok(outcomes)
}

/// Puts stand-ins in the place of attached policies whose documents are not in the file.
fn resolve(role: &mut Role, setup: &Setup) {
    for arn in std::mem::take(&mut role.attached) {
        match managed::stand_in(&arn, setup) {
            Some(document) => role.identity.push(document),
            None => role
                .unseen
                .push(format!("the document of {arn}, which is attached, is not in the file")),
        }
    }
}

fn judge_of<'a>(
    subject: &'a Subject,
    kind: RoleKind,
    setup: &'a Setup,
    printed: &Printed,
    name: &str,
) -> Result<Judge<'a>, String> {
    let Setup { partition, account, .. } = setup;
    let role = &subject.role;
    let arn =
        role.arn.clone().unwrap_or_else(|| format!("arn:{partition}:iam::{account}:role/ROLE"));
    let by = Principal::aws(&arn).map_err(|error| error.to_string())?;
    let named = |documents: &[Document]| -> Vec<NamedPolicy> {
        documents.iter().map(|document| document.named.clone()).collect()
    };
    let set = PolicySet {
        identity: named(&role.identity),
        boundary: role.boundary.as_ref().map(|document| document.named.clone()),
        ..PolicySet::default()
    };
    let asker = by.clone();
    let resource = named(&subject.resource);
    let decide: Box<dyn Fn(&Request) -> _> = match kind {
        RoleKind::Queue => Box::new(move |request| {
            let sender = Principal::Service(SENDER.to_owned());
            decide_alone(Layer::Resource, &resource, &request.by(sender))
        }),
        _ => Box::new(move |request| set.decide(&request.by(asker.clone()))),
    };
    let statements =
        printed.policies.iter().flat_map(|policy| policy.document["Statement"].as_array());
    let printed: Vec<Value> = statements.flatten().cloned().collect();
    Ok(Judge { subject: name.to_owned(), decide, unseen: role.unseen.clone(), printed, by })
}

/// Without Auto Mode, what EKS does with the role is its own affair: AWS's policy for it is
/// there or it is not.
fn cluster_policy(role: &Role, subject: &str) -> Outcome {
    let wanted = managed::CLUSTER_POLICY;
    let is_there = role.identity.iter().any(|document| document.named.name == wanted);
    let (status, seen) = match is_there {
        true => (Status::Pass, format!("{wanted} is attached")),
        false => (
            Status::Unknown,
            format!("{wanted} is not attached, and whether other policies do as well is not known"),
        ),
    };
    outcome("cluster-role-permissions", status, subject, seen)
}

fn unseen_boundary(boundary: &str, subject: &str) -> Outcome {
    let seen = format!(
        "the role has a permissions boundary that is not in the file ({boundary}), and what it \
         leaves out is refused: give --boundary FILE"
    );
    outcome("permissions-boundary", Status::Unknown, subject, seen)
}

fn outcome(check: &str, status: Status, subject: &str, seen: String) -> Outcome {
    Outcome {
        check: check.to_owned(),
        status,
        subject: subject.to_owned(),
        resource: None,
        seen,
        effect: String::new(),
        errors: Vec::new(),
        evidence: Vec::new(),
        remedy: None,
        missing_action: None,
        docs: format!("docs/checks.md#{check}"),
        judged: None,
        waiver: None,
    }
}
