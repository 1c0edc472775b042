//! `policy test`: the checks of an account, on policies on disk and without AWS.

use jiff::Timestamp;

use super::{
    Failure,
    facts::{Shown, trust_unseen},
    infer::{Inferred, infer},
    input, managed,
    names::{self, setup},
    organization,
    subject::{Subject, choose},
};
use crate::{
    checks::{self, Check, Context, run},
    cli::policy::{NamesArgs, PolicyProduct, RoleKind, TestArgs},
    commands::console,
    facts::{Facts, arn},
    outcome::{Counts, ExitCode, Outcome, exit_code},
    report::{OWN_PERMISSIONS, Report, policy::test},
    requirements::{CUSTOM_TAGS, KarpenterVersion, Setup},
    target::{
        Origin, ProductChoice, QueueTarget, Scope, StageChoice, Target, Uses,
        names::{ROLE_NAME_LIMIT, is_role_name},
        resolve::resolve,
        saved::{Effort, SCHEMA_VERSION, Saved},
    },
};

pub fn run(args: &TestArgs) -> Result<ExitCode, Failure> {
    let (judged, report) = judge(args).map_err(Failure::Usage)?;
    console::print(|out| test::write(&judged, &report, args.output, console::style(), out))?;
    Ok(ExitCode::from_number(report.exit_code))
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

/// What was judged, and the report on it.
fn judge(args: &TestArgs) -> Result<(String, Report), String> {
    let (kind, version) = (args.role_kind, version(args)?);
    let cluster = match &args.names.cluster {
        Some(cluster) => cluster.clone(),
        None if kind == RoleKind::Preflight => "CLUSTER".to_owned(),
        None => return Err("--cluster is needed: the requests name it".to_owned()),
    };
    let mut found = input::read(&args.files)?;
    let notes = std::mem::take(&mut found.notes);
    let mut subject = choose(found, kind, &cluster, args.role.as_deref())?;
    if let Some(path) = &args.boundary {
        subject.role.boundary = Some(Ok(input::document(path)?));
    }
    if kind == RoleKind::Queue && subject.resource.len() != 1 {
        return Err(match subject.resource.len() {
            0 => "the files hold no policy of a queue, which has a Principal".to_owned(),
            several => format!("the files hold {several} policies of queues: give that of one"),
        });
    }
    let mut names = NamesArgs { cluster: Some(cluster), ..args.names.clone() };
    let mut inferred = infer(&subject, kind, &mut names);
    inferred.notes.splice(0..0, notes);
    names::check(&names)?;
    let setup = setup(&names, &inferred.place)?;
    let organization = organization::of_files(
        &args.service_control,
        &args.resource_control,
        &inferred.place.account,
        &mut inferred.notes,
    )?;
    let role = role_name(&subject, kind, &setup);
    let shown = Shown {
        kind,
        names: &names,
        place: &inferred.place,
        setup: &setup,
        role: &role,
        organization,
    };
    let saved = Saved {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        collected_at: Timestamp::now(),
        scope: scope(kind, &names, version, &inferred, &setup, &role),
        effort: Effort::default(),
        facts: shown.facts(&subject),
    };
    let mut target = resolve(&saved.scope, &saved.facts);
    name_origins(&mut target, &inferred, args.role.is_some());
    let outcomes = outcomes(&subject, kind, &saved, &target, &role);
    let report = report(args, &saved, &target, &inferred, outcomes);
    Ok((subject.role.name, report))
}

/// The name that the role goes by; a usual one where the files do not show it.
fn role_name(subject: &Subject, kind: RoleKind, setup: &Setup) -> String {
    let role = &subject.role;
    let name = role.arn.as_deref().map_or(role.name.as_str(), arn::role_name);
    if (role.is_named || role.arn.is_some()) && is_role_name(name) {
        return name.to_owned();
    }
    let cluster = &setup.cluster;
    let usual = match kind {
        RoleKind::Controller => format!("KarpenterControllerRole-{cluster}"),
        RoleKind::Node => format!("KarpenterNodeRole-{cluster}"),
        RoleKind::Cluster => format!("EKSClusterRole-{cluster}"),
        RoleKind::Queue => cluster.clone(),
        RoleKind::Preflight => "karpenter-preflight".to_owned(),
    };
    usual.chars().take(ROLE_NAME_LIMIT).collect()
}

fn scope(
    kind: RoleKind,
    names: &NamesArgs,
    version: KarpenterVersion,
    inferred: &Inferred,
    setup: &Setup,
    role: &str,
) -> Scope {
    let region = inferred.place.region.clone();
    let mut scope = Scope::new(setup.cluster.clone(), region, inferred.region);
    scope.product = match names.product {
        PolicyProduct::Karpenter => ProductChoice::Karpenter,
        PolicyProduct::AutoMode => ProductChoice::AutoMode,
    };
    // What is missing will be missed.
    scope.stage = StageChoice::After;
    scope.karpenter_version = Some(version);
    scope.namespace.clone_from(&names.namespace);
    scope.service_account.clone_from(&names.service_account);
    scope.interruption_queue.clone_from(&setup.queue_arn);
    scope.nodeclass_tags = names.node_class_tags.iter().cloned().collect();
    scope.no_kube = true;
    scope.uses = Uses {
        features: names.uses.iter().flat_map(|features| features.0.clone()).collect(),
        ami_parameters: setup.ami_parameters.clone(),
    };
    match kind {
        RoleKind::Node => scope.node_roles = vec![role.to_owned()],
        RoleKind::Cluster | RoleKind::Queue => {}
        RoleKind::Controller | RoleKind::Preflight => {
            scope.controller_role = Some(role.to_owned());
            scope.node_roles.clone_from(&setup.node_role_arns);
        }
    }
    scope
}

/// What the target takes for said with flags was partly found in the documents.
fn name_origins(target: &mut Target, inferred: &Inferred, role_is_said: bool) {
    for role in &mut target.node_roles {
        role.origin = inferred.node_roles;
    }
    for role in target.controller_roles.iter_mut().filter(|_| !role_is_said) {
        role.origin = Origin::Documents;
    }
    if let QueueTarget::Named(queue) = &mut target.queue {
        queue.origin = inferred.queue;
    }
}

/// The checks that judge this kind of role; those of its permissions unless the files hold a
/// trust policy alone.
fn checks(
    subject: &Subject,
    kind: RoleKind,
    target: &Target,
    saved: &Saved,
) -> Vec<&'static Check> {
    let role = &subject.role;
    let holds = [!role.identity.is_empty(), !role.attached.is_empty(), !role.unseen.is_empty()];
    let has_policies = holds.contains(&true) || role.trust.is_none();
    let sets_tags = !target.node_class_tags.is_empty()
        || CUSTOM_TAGS.iter().any(|feature| target.uses.features.contains(feature));
    let is_limited = role.boundary.is_some();
    let of_organization = saved.facts.organization.value().is_some();
    let (trust, permissions): (Option<&str>, Vec<(&str, bool)>) = match kind {
        RoleKind::Controller => (
            Some("controller-trust"),
            vec![("controller-permissions", true), ("controller-pass-role", true)],
        ),
        RoleKind::Node => (Some("node-role-trust"), vec![("node-role-permissions", true)]),
        RoleKind::Cluster => (
            Some("cluster-role-trust"),
            vec![("cluster-role-permissions", true), ("cluster-role-custom-tags", sets_tags)],
        ),
        RoleKind::Queue => return checks::get("queue-policy").into_iter().collect(),
        RoleKind::Preflight => (None, vec![(OWN_PERMISSIONS, true)]),
    };
    let limits = [("permissions-boundary", is_limited), ("organization-policies", of_organization)];
    let limits = limits.into_iter().filter(|_| kind != RoleKind::Preflight);
    let judged =
        permissions.into_iter().chain(limits).filter(|(_, judged)| *judged && has_policies);
    let trust = trust.filter(|_| role.trust.is_some());
    let ids = trust.into_iter().chain(judged.map(|(id, _)| id));
    ids.filter_map(checks::get).collect()
}

fn outcomes(
    subject: &Subject,
    kind: RoleKind,
    saved: &Saved,
    target: &Target,
    role: &str,
) -> Vec<Outcome> {
    let without_trust = trust_unseen(&subject.role).map(|unseen| {
        let mut roles = saved.facts.roles.clone();
        roles.insert(role.to_owned(), unseen);
        Saved { facts: Facts { roles, ..saved.facts.clone() }, ..saved.clone() }
    });
    let mut outcomes = Vec::new();
    for check in checks(subject, kind, target, saved) {
        let facts = match (&without_trust, check.id.ends_with("-trust")) {
            (Some(without), true) => without,
            _ => saved,
        };
        outcomes.extend(run::run(&[check], &Context::new(target, facts)));
    }
    // The files show one role; of the others only the name is known.
    let is_of_role = |outcome: &Outcome| {
        let limits = ["permissions-boundary", "organization-policies"];
        !limits.contains(&outcome.check.as_str()) || outcome.subject == role
    };
    outcomes.retain(is_of_role);
    for outcome in &mut outcomes {
        if outcome.check == OWN_PERMISSIONS {
            // What this program itself needs is told beside its policy.
            outcome.docs = "policies/README.md".to_owned();
        }
        outcome.seen = managed::told(&outcome.seen);
        for evidence in &mut outcome.evidence {
            evidence.value = managed::told(&evidence.value);
        }
    }
    outcomes
}

fn report(
    args: &TestArgs,
    saved: &Saved,
    target: &Target,
    inferred: &Inferred,
    outcomes: Vec<Outcome>,
) -> Report {
    let code = exit_code(&Counts::of(&outcomes), args.fail_on, args.allow_unknown);
    let mut report = Report::new(saved, target, outcomes, code);
    report.fail_on = args.fail_on;
    report.allow_unknown = args.allow_unknown;
    // The policies are a small part of what must be right.
    let is_made = |id: &&str| report.outcomes.iter().any(|outcome| outcome.check == *id);
    report.left_out =
        checks::ids().into_iter().filter(|id| !is_made(id)).map(str::to_owned).collect();
    let head = &mut report.target;
    head.account = Some(inferred.place.account.clone());
    head.kubernetes_version = None;
    if args.role_kind != RoleKind::Controller {
        head.karpenter_version = None;
    }
    head.notes.splice(0..0, inferred.notes.iter().cloned());
    report
}
