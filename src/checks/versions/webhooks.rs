//! Whether somebody answers what the API server asks of Karpenter's webhooks.

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::kubernetes::{
        Kubernetes,
        controller::Deployment,
        node_pool::Crd,
        webhooks::{ServiceName, Webhook},
    },
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::{Product, cluster_says::version},
};

/// From these releases on there are no admission webhooks, and no conversion
/// (`charts/karpenter/templates` at v0.37.0, v1.0.6 and v1.1.0).
const NO_ADMISSION: KarpenterVersion = KarpenterVersion::new(1, 0, 0);
const NO_CONVERSION: KarpenterVersion = KarpenterVersion::new(1, 1, 0);
/// The subject where they cannot be read.
const DEFINITIONS: &str = "custom resource definitions";

pub static CHECK: Check = Check {
    id: "karpenter-webhooks",
    title: "Somebody answers what is asked of Karpenter's webhooks",
    area: Area::Controller,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["webhook-failed", "conversion-webhook-failed"],
    needs: &[],
    doc: "\
## What
Each admission webhook under a name of Karpenter's belongs to a controller that has webhooks, before
1.0, and leads to its namespace. So does the conversion of each definition that needs one: that
serves or stores more than one version.

## Why
Helm deletes webhooks with the release that made them, and an install by another name or into
another namespace leaves them where they were. The API server then refuses every object that it
would have to ask about: no NodePool can be made or changed, and none converted.

## Seen as
`failed calling webhook \"validation.webhook.karpenter.sh\"`, `conversion webhook for karpenter.sh/v1,
Kind=NodeClaim failed`.

## Fix
Delete configurations that no release has left behind. Install the chart `karpenter-crd` with
`webhook.serviceNamespace` set to the controller's namespace.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let facts = cx.kubernetes()?;
    let controllers = facts.controllers.known()?;
    let mut judged: Vec<Judged> = match facts.webhooks.known() {
        Ok(webhooks) => webhooks
            .iter()
            .map(|webhook| Judged::new(&webhook.name, || admission(facts, controllers, webhook)))
            .collect(),
        Err(unseen) => vec![Judged::new(&cx.target.cluster, || Err(unseen.into()))],
    };
    match facts.crds.known() {
        Ok(definitions) => judged.extend(definitions.iter().filter_map(|crd| {
            let service = crd.converted_by.as_ref()?;
            Some(Judged::new(&crd.name, || conversion(controllers, crd, service)))
        })),
        Err(unseen) => judged.push(Judged::new(DEFINITIONS, || Err(unseen.into()))),
    }
    if judged.is_empty() {
        let none = || Ok(Finding::pass("There is none."));
        judged.push(Judged::new(&cx.target.cluster, none));
    }
    Ok(judged)
}

/// Whether a controller that still has webhooks runs where they lead; unknown where one runs there
/// whose version nothing shows.
fn answers(
    controllers: &[Deployment],
    service: &ServiceName,
    none_since: KarpenterVersion,
) -> Result<bool, Stop> {
    let mut there = controllers.iter().filter(|one| one.meta.namespace == service.namespace);
    if there.clone().filter_map(version).any(|version| version < none_since) {
        return Ok(true);
    }
    match there.find(|one| version(one).is_none()) {
        Some(one) => Err(Stop::unknown(format!(
            "neither the image nor the labels of {}/{} show its version, and so not whether it \
             answers",
            one.meta.namespace, one.meta.name
        ))),
        None => Ok(false),
    }
}

/// What runs, for a sentence.
fn running(controllers: &[Deployment]) -> String {
    let words: Vec<_> = controllers
        .iter()
        .map(|one| {
            let name = format!("{}/{}", one.meta.namespace, one.meta.name);
            version(one).map_or_else(|| name.clone(), |version| format!("{name} ({version})"))
        })
        .collect();
    match words.as_slice() {
        [] => "no Karpenter controller is there".to_owned(),
        words => format!("what runs is {}", listed(words)),
    }
}

fn admission(
    facts: &Kubernetes,
    controllers: &[Deployment],
    webhook: &Webhook,
) -> Result<Finding, Stop> {
    let Some(service) = &webhook.service else {
        return Err(Stop::skipped("it leads out of the cluster"));
    };
    if answers(controllers, service, NO_ADMISSION)? {
        return Ok(Finding::pass(format!("It leads to {}, where Karpenter runs.", service.path())));
    }
    let seen = format!(
        "The {} {} asks {} about {}, and {}.",
        webhook.kind,
        webhook.configuration,
        service.path(),
        listed(&webhook.asked_about),
        running(controllers)
    );
    let finding = match webhook.required && is_asked(facts, webhook)? {
        true => Finding::fail(
            seen,
            "Nobody answers, and the API server refuses to make or change any of these.",
        ),
        false => Finding::warn(
            seen,
            "Nobody answers. Nothing is refused as long as the definitions serve none of these \
             versions, and nothing waits for the answer.",
        ),
    };
    let remedy = Remedy::new(
        "It is left over from an older release: delete it. A release of Helm's that is still there \
         would make it again: see `helm list --all-namespaces`.",
    )
    .run(format!("kubectl delete {} {}", webhook.kind, quote(&webhook.configuration)));
    Ok(finding
        .errors(&["webhook-failed"])
        .evidence(
            format!("list {}s (Kubernetes)", webhook.kind),
            format!("{} webhooks[].clientConfig.service", webhook.configuration),
            service.path(),
        )
        .mend(remedy))
}

/// Whether a definition serves anything that a webhook is asked about. What is none of Karpenter's
/// kinds is always there.
fn is_asked(facts: &Kubernetes, webhook: &Webhook) -> Result<bool, Stop> {
    let own = |asked: &String| {
        let (version, resource) = asked.split_once(' ')?;
        let (group, version) = version.split_once('/')?;
        let is_own = ["karpenter.sh", "karpenter.k8s.aws"].contains(&group);
        is_own.then(|| (group.to_owned(), version.to_owned(), resource.to_owned()))
    };
    let asked: Vec<_> = webhook.asked_about.iter().map(own).collect();
    if asked.iter().any(Option::is_none) {
        return Ok(true);
    }
    let crds = facts.crds.known()?;
    Ok(asked.iter().flatten().any(|(group, version, resource)| {
        let name = format!("{resource}.{group}");
        let mut of_kind = crds.iter().filter(|crd| resource == "*" || crd.name == name);
        of_kind.any(|crd| version == "*" || crd.served.contains(version))
    }))
}

fn conversion(
    controllers: &[Deployment],
    crd: &Crd,
    service: &ServiceName,
) -> Result<Finding, Stop> {
    let versions: std::collections::BTreeSet<_> = crd.served.iter().chain(&crd.stored).collect();
    if versions.len() < 2 {
        return Ok(Finding::pass("There is one version, and nothing to convert."));
    }
    if answers(controllers, service, NO_CONVERSION)? {
        return Ok(Finding::pass(format!(
            "It is converted in {}, where Karpenter runs.",
            service.path()
        )));
    }
    let versions: Vec<_> = versions.into_iter().collect();
    let finding = Finding::fail(
        format!(
            "{} has the versions {} and is converted by {}, and {}.",
            crd.name,
            listed(&versions),
            service.path(),
            running(controllers)
        ),
        "Nobody converts: objects that are stored in another version than the one that is asked for \
         cannot be read, changed or deleted.",
    );
    Ok(finding
        .errors(&["conversion-webhook-failed"])
        .evidence(
            "get customresourcedefinition",
            format!("{} spec.conversion.webhook.clientConfig.service", crd.name),
            service.path(),
        )
        .mend(convert(controllers, crd)))
}

/// How the definitions come to be converted, or need it no longer.
fn convert(controllers: &[Deployment], crd: &Crd) -> Remedy {
    let Some(one) = controllers.iter().max_by_key(|one| one.replicas) else {
        return Remedy::new(
            "Install Karpenter 1.0 where the definitions lead, so that it migrates the objects; or \
             delete the definitions with all of their objects, if nothing of Karpenter is to stay.",
        )
        .run(format!("kubectl get customresourcedefinition {} --output yaml", quote(&crd.name)));
    };
    match version(one) {
        Some(version) if version < NO_CONVERSION => Remedy::new(
            "Bring the definitions to the controller's version, and let them lead to its namespace.",
        )
        .run(install_definitions(one, version)),
        // The chart of these versions has no webhook to set up.
        _ => Remedy::new(
            "From 1.1 on no controller converts. Run a 1.0 release with its own definitions where \
             these lead, until all objects are stored as v1; then go on to the newer release, whose \
             definitions have one version and no conversion. The steps are in \
             https://karpenter.sh/v1.0/upgrading/v1-migration/.",
        ),
    }
}

fn install_definitions(one: &Deployment, version: KarpenterVersion) -> String {
    let namespace = quote(&one.meta.namespace);
    format!(
        "helm upgrade --install karpenter-crd oci://public.ecr.aws/karpenter/karpenter-crd \
         --version {version} --namespace {namespace} --set webhook.enabled=true --set \
         webhook.serviceName={} --set webhook.serviceNamespace={namespace} --set webhook.port=8443",
        quote(&one.meta.name)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status::{Fail, Pass, Skipped, Unknown, Warn},
    };

    const HOOK: &str = "validation.webhook.karpenter.sh";

    /// A controller of this version in this namespace, and one webhook.
    fn hook(controller: Option<(&str, &str)>, asked: &str, part: &Value) -> Value {
        let mut hook = json!({"kind": "validatingwebhookconfiguration", "configuration": HOOK,
            "name": HOOK, "required": true, "asked_about": [asked],
            "service": {"namespace": "karpenter", "name": "karpenter"}});
        json_patch::merge(&mut hook, part);
        cluster(controller, &json!({"webhooks": {"known": [hook]}}))
    }

    fn cluster(controller: Option<(&str, &str)>, part: &Value) -> Value {
        let controllers: Vec<_> = controller
            .into_iter()
            .map(|(namespace, version)| {
                json!({"meta": {"name": "karpenter", "namespace": namespace}, "replicas": 2,
                    "image": format!("public.ecr.aws/karpenter/controller:{version}")})
            })
            .collect();
        let mut facts = json!({"controllers": {"known": controllers}});
        json_patch::merge(&mut facts, part);
        json!({"facts": {"kubernetes": facts}})
    }

    /// One definition that the service of this namespace converts.
    fn crd(controller: Option<(&str, &str)>, served: &[&str]) -> Value {
        let crd = json!({"name": "nodepools.karpenter.sh", "served": served, "stored": ["v1"],
            "converted_by": {"namespace": "kube-system", "name": "karpenter"}});
        cluster(controller, &json!({"crds": {"known": [crd]}}))
    }

    /// Nobody's webhook, where the definitions cannot be read.
    fn hidden(asked: &str) -> Value {
        let mut patch = hook(None, asked, &json!({}));
        patch["facts"]["kubernetes"]["crds"] =
            json!({"denied": {"action": "list customresourcedefinitions", "message": "no"}});
        patch
    }

    #[test]
    fn admission_webhooks() {
        let old = "karpenter.sh/v1beta1 nodepools";
        let new = "karpenter.sh/v1 nodepools";
        let denied = json!({"denied": {"action": "list validatingwebhookconfigurations",
            "message": "no"}});
        let none = json!({});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("none", none.clone(), &[(Pass, "demo")]),
                ("its own", hook(Some(("karpenter", "0.37.0")), new, &none), &[(Pass, HOOK)]),
                ("elsewhere", hook(Some(("kube-system", "0.37.0")), new, &none), &[(Fail, HOOK)]),
                ("an old one's", hook(Some(("karpenter", "1.6.2")), new, &none), &[(Fail, HOOK)]),
                ("nobody's", hook(None, new, &none), &[(Fail, HOOK)]),
                ("no longer served", hook(None, old, &none), &[(Warn, HOOK)]),
                ("of ConfigMaps", hook(None, "v1 configmaps", &none), &[(Fail, HOOK)]),
                ("ignored", hook(None, new, &json!({"required": false})), &[(Warn, HOOK)]),
                ("elsewhere", hook(None, new, &json!({"service": null})), &[(Skipped, HOOK)]),
                ("hidden", cluster(None, &json!({"webhooks": denied})), &[(Unknown, "demo")]),
                (
                    "its version is not known",
                    hook(Some(("karpenter", "latest")), new, &none),
                    &[(Unknown, HOOK)],
                ),
                ("definitions are hidden", hidden(new), &[(Unknown, HOOK), (Unknown, DEFINITIONS)]),
                (
                    "definitions do not matter",
                    hidden("v1 configmaps"),
                    &[(Fail, HOOK), (Unknown, DEFINITIONS)],
                ),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Skipped, "demo")]),
            ],
        );
        let pass = &[(Pass, "demo")];
        assert_rows(Account::AutoModeCluster, &CHECK, &[("Auto Mode", json!({}), pass)]);
    }

    #[test]
    fn conversions() {
        let name = "nodepools.karpenter.sh";
        let both = ["v1", "v1beta1"];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("its own", crd(Some(("kube-system", "1.0.6")), &both), &[(Pass, name)]),
                ("elsewhere", crd(Some(("karpenter", "1.0.6")), &both), &[(Fail, name)]),
                ("gone", crd(Some(("kube-system", "1.6.2")), &both), &[(Fail, name)]),
                ("nobody", crd(None, &both), &[(Fail, name)]),
                ("not known", crd(Some(("kube-system", "latest")), &both), &[(Unknown, name)]),
                ("nothing to convert", crd(None, &["v1"]), &[(Pass, name)]),
            ],
        );
    }

    /// The chart of the definitions takes no webhook from 1.1 on.
    #[test]
    fn the_chart_is_named_where_it_helps() {
        for (version, commands) in [("1.0.6", 1), ("1.6.2", 0)] {
            let patch = crd(Some(("karpenter", version)), &["v1", "v1beta1"]);
            let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
            let steps = found.remedy.map(|remedy| remedy.steps.len());
            assert_eq!(steps, Some(commands), "{version}");
        }
    }
}
