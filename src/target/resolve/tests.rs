use serde_json::{Value, json};

use super::*;
use crate::{checks::testing::Account, facts::Fact, target::Stage};

const PROFILE: &str = "arn:aws:iam::111122223333:instance-profile/karpenter/p";

fn target(account: Account, patch: &Value) -> Target {
    let saved = account.patched(patch);
    resolve(&saved.scope, &saved.facts)
}

fn denied(action: &str) -> Value {
    json!({"denied": {"action": action, "message": "not authorized"}})
}

fn and(mut patch: Value, more: &Value) -> Value {
    json_patch::merge(&mut patch, more);
    patch
}

/// Takes every trace of Karpenter out of the Karpenter account.
fn bare(more: &Value) -> Value {
    let patch = json!({"facts": {
        "roles": {"KarpenterNodeRole-demo": "absent", "demo-karpenter": "absent"},
        "access_entries": {"known": {"arn:aws:iam::111122223333:role/KarpenterNodeRole-demo": null}},
        "pod_identity_associations": {"known": []},
        "queues": {"demo": "absent"},
    }, "scope": {"karpenter_version": null}});
    and(patch, more)
}

fn entry(name: &str, kind: &str) -> Value {
    let arn = format!("arn:aws:iam::111122223333:role/{name}");
    json!({"facts": {"access_entries": {"known": {&arn: {"known": {
        "principal_arn": arn, "entry_type": kind, "groups": [], "policies": "absent"}}}}}})
}

fn products(target: &Target) -> Vec<(Product, Origin)> {
    target.products.iter().map(|found| (found.value, found.origin)).collect()
}

fn node_roles(target: &Target) -> Vec<(&str, Product, Origin)> {
    target.node_roles.iter().map(|role| (role.name.as_str(), role.product, role.origin)).collect()
}

#[track_caller]
fn assert_note(target: &Target, words: &[&str]) {
    let fits = |note: &String| words.iter().all(|word| note.contains(word));
    assert!(target.notes.iter().any(fits), "{words:?} not in {:#?}", target.notes);
}

#[test]
fn the_surest_trace_is_the_origin() {
    use Product::{AutoMode, Karpenter};
    let profile =
        json!({"name": "p", "arn": PROFILE, "path": "/karpenter/us-west-2/demo/u/", "roles": []});
    for (name, account, patch, expected) in [
        (
            "an association",
            Account::Karpenter,
            json!({"scope": {"karpenter_version": null}}),
            vec![(Karpenter, Origin::PodIdentityAssociation)],
        ),
        (
            "a profile",
            Account::Karpenter,
            bare(&json!({"facts": {"instance_profiles": {"known": [profile]}}})),
            vec![(Karpenter, Origin::InstanceProfile)],
        ),
        (
            "an entry",
            Account::Karpenter,
            bare(&entry("my-karpenter-nodes", "EC2_LINUX")),
            vec![(Karpenter, Origin::AccessEntry)],
        ),
        (
            "a name",
            Account::AutoMode,
            json!({"facts": {"roles": {"KarpenterNodeRole-demo": {"known": {
                "name": "KarpenterNodeRole-demo", "arn": "a", "path": "/", "trust": "{}"}}}}}),
            vec![(Karpenter, Origin::UsualName), (AutoMode, Origin::Cluster)],
        ),
        (
            "the version that was said",
            Account::AutoMode,
            json!({"scope": {"karpenter_version": "1.6.0"}}),
            vec![(Karpenter, Origin::Flag), (AutoMode, Origin::Cluster)],
        ),
        ("nothing", Account::Karpenter, bare(&json!({})), vec![(Karpenter, Origin::Default)]),
        ("Auto Mode", Account::AutoMode, json!({}), vec![(AutoMode, Origin::Cluster)]),
    ] {
        assert_eq!(products(&target(account, &patch)), expected, "{name}");
    }
}

#[test]
fn what_was_said_is_no_trace() {
    for scope in [
        json!({"node_roles": ["new"]}),
        json!({"controller_role": "new"}),
        json!({"karpenter_version": "1.6.0"}),
        json!({"interruption_queue": "new"}),
        json!({"product": "karpenter"}),
    ] {
        let target = target(Account::Karpenter, &bare(&json!({ "scope": scope })));
        assert_eq!(target.stage.value, Stage::Before, "{scope}");
        assert!(target.runs(Product::Karpenter), "{scope}");
    }
}

#[test]
fn a_named_role_is_auto_modes_where_nothing_shows_karpenter() {
    let named = json!({"scope": {"node_roles": ["custom"]}});
    let found = target(Account::AutoMode, &named);
    assert_eq!(products(&found), [(Product::AutoMode, Origin::Cluster)]);
    assert_eq!(node_roles(&found), [("custom", Product::AutoMode, Origin::Flag)]);
    let both = and(named, &json!({"scope": {"karpenter_version": "1.14.1"}}));
    let found = target(Account::AutoMode, &both);
    let expected = [
        ("custom", Product::Karpenter, Origin::Flag),
        ("demo-auto-node", Product::AutoMode, Origin::Cluster),
    ];
    assert_eq!(node_roles(&found), expected);
}

#[test]
fn what_could_not_be_seen_softens_nothing() {
    for (hidden, action) in [
        (
            json!({"pod_identity_associations": denied("eks:ListPodIdentityAssociations")}),
            "eks:ListPodIdentityAssociations",
        ),
        (
            json!({"pod_identity_associations": {"known": [
                denied("eks:DescribePodIdentityAssociation")]}}),
            "eks:DescribePodIdentityAssociation",
        ),
        (json!({"roles": {"KarpenterNodeRole-demo": denied("iam:GetRole")}}), "iam:GetRole"),
        (json!({"roles": {"demo-karpenter": denied("iam:GetRole")}}), "iam:GetRole"),
        (
            json!({"instance_profiles": denied("iam:ListInstanceProfiles")}),
            "iam:ListInstanceProfiles",
        ),
        (json!({"access_entries": denied("eks:ListAccessEntries")}), "eks:ListAccessEntries"),
        (json!({"queues": {"demo": denied("sqs:GetQueueUrl")}}), "sqs:GetQueueUrl"),
    ] {
        let mut patch = bare(&json!({}));
        for (field, value) in hidden.as_object().unwrap() {
            match value.get("denied") {
                Some(_) => patch["facts"][field] = value.clone(),
                None => patch = and(patch, &json!({"facts": {field: value}})),
            }
        }
        let found = target(Account::Karpenter, &patch);
        assert_eq!(found.stage.value, Stage::After, "{hidden}");
        assert_eq!(products(&found), [(Product::Karpenter, Origin::Default)], "{hidden}");
        assert_note(&found, &["could not be seen", action, "--stage before"]);
        assert!(!found.notes.iter().any(|note| note.contains("nothing of Karpenter")), "{hidden}");
        // Beside Auto Mode, no check of Karpenter's may be skipped because of it.
        let found = target(Account::AutoMode, &json!({ "facts": hidden }));
        assert_eq!(products(&found), [(Product::AutoMode, Origin::Cluster)], "{hidden}");
        assert!(found.product_unseen.is_some(), "{hidden}");
        assert_note(&found, &["beside EKS Auto Mode could not be seen", action, "--product"]);
    }
    let nothing = target(Account::Karpenter, &bare(&json!({})));
    assert_eq!(nothing.stage.value, Stage::Before);
    assert_note(&nothing, &["nothing of Karpenter was found"]);
}

#[test]
fn aws_auth_alone_hides_no_entry() {
    let patch = json!({"facts": {"cluster": {"known": {"authentication_mode": "CONFIG_MAP"}}}});
    let mut saved = Account::Karpenter.patched(&bare(&patch));
    saved.facts.access_entries = Fact::not_asked("the mode knows none");
    assert_eq!(resolve(&saved.scope, &saved.facts).stage.value, Stage::Before);
}

#[test]
fn roles_that_are_let_in_are_candidates_whatever_their_name() {
    let linux = bare(&entry("my-nodes", "EC2_LINUX"));
    let found = target(Account::Karpenter, &linux);
    assert_eq!(node_roles(&found), [("my-nodes", Product::Karpenter, Origin::AccessEntry)]);
    assert_note(&found, &["my-nodes", "--node-role"]);
    let better = and(linux.clone(), &entry("karpenter-nodes", "EC2_LINUX"));
    let found = target(Account::Karpenter, &better);
    assert_eq!(node_roles(&found), [("karpenter-nodes", Product::Karpenter, Origin::AccessEntry)]);
    let mut unread = linux;
    unread["facts"]["node_groups"] = denied("eks:ListNodegroups");
    let found = target(Account::Karpenter, &unread);
    assert_note(&found, &["node groups are not known", "eks:ListNodegroups"]);
    for kind in ["STANDARD", "EC2", "FARGATE_LINUX"] {
        let found = target(Account::Karpenter, &bare(&entry("ops", kind)));
        assert_eq!(node_roles(&found), [], "{kind}");
    }
}

#[test]
fn says_where_several_fit() {
    let role = |name: &str| {
        json!({"facts": {"roles": {name: {"known": {
            "name": name, "arn": "a", "path": "/", "trust": "{}"}}}}})
    };
    let nodes = target(Account::Karpenter, &role("Karpenter-demo"));
    assert_note(&nodes, &["KarpenterNodeRole-demo, Karpenter-demo", "--node-role"]);
    let queue = json!({"facts": {"queues": {"Karpenter-demo": {"known": {
        "name": "Karpenter-demo", "url": "u", "attributes": "absent"}}}}});
    let queues = target(Account::Karpenter, &queue);
    assert_note(&queues, &["demo, Karpenter-demo", "--interruption-queue"]);
    let one = target(Account::Karpenter, &json!({}));
    assert!(!one.notes.iter().any(|note| note.contains("several")), "{:#?}", one.notes);
}

#[test]
fn says_where_a_version_is_out_of_range() {
    for (version, words) in
        [("0.30.0", "older than this build"), ("9.0.0", "newer than this build")]
    {
        let found = target(Account::Karpenter, &json!({"scope": {"karpenter_version": version}}));
        assert_note(&found, &[version, words]);
    }
    let oldest = target(Account::Karpenter, &json!({"scope": {"karpenter_version": "0.32.0"}}));
    assert!(!oldest.notes.iter().any(|note| note.contains("this build")), "{:#?}", oldest.notes);
}

/// The account with its cluster read, and nothing said with flags.
fn read(more: &Value) -> Value {
    and(json!({"scope": {"karpenter_version": null}}), more)
}

fn cluster(facts: &Value) -> Value {
    read(&json!({"facts": {"kubernetes": facts}}))
}

/// The Deployment of the account, with a change in it.
fn deployment(change: &Value) -> Value {
    let saved = Account::KarpenterCluster.patched(&json!({}));
    let found = saved.facts.kubernetes.controllers.known().unwrap();
    let mut found = serde_json::to_value(&found[0]).unwrap();
    json_patch::merge(&mut found, change);
    found
}

#[test]
fn the_cluster_is_asked_before_anything_is_guessed() {
    let found = target(Account::KarpenterCluster, &read(&json!({})));
    assert_eq!(products(&found), [(Product::Karpenter, Origin::Deployment)]);
    assert_eq!((found.stage.value, found.stage.origin), (Stage::After, Origin::Deployment));
    let version = &found.karpenter_version;
    assert_eq!(
        (version.value.to_string().as_str(), version.origin),
        ("1.14.1", Origin::Deployment)
    );
    assert_eq!(found.namespace.origin, Origin::Deployment);
    assert_eq!(found.service_account.origin, Origin::Deployment);
    let role = ("KarpenterNodeRole-demo", Product::Karpenter, Origin::NodeClass);
    assert_eq!(node_roles(&found), [role]);
    let queue = Sourced::new("demo".to_owned(), Origin::Deployment);
    assert_eq!(found.queue, QueueTarget::Named(queue));
    assert_eq!(found.controller_roles[0].origin, Origin::PodIdentityAssociation);
    assert!(!found.notes.iter().any(|note| note.contains("not known")), "{:#?}", found.notes);
}

#[test]
fn flags_win_over_the_cluster() {
    let said = json!({"scope": {"karpenter_version": "1.6.0", "namespace": "other",
        "service_account": "other", "interruption_queue": "other", "node_roles": ["other"],
        "controller_role": "other", "stage": "before"}});
    let found = target(Account::KarpenterCluster, &said);
    assert_eq!(found.karpenter_version.origin, Origin::Flag);
    assert_eq!(found.namespace, Sourced::new("other".to_owned(), Origin::Flag));
    assert_eq!(found.service_account.origin, Origin::Flag);
    assert_eq!(found.queue, QueueTarget::Named(Sourced::new("other".to_owned(), Origin::Flag)));
    assert_eq!(node_roles(&found), [("other", Product::Karpenter, Origin::Flag)]);
    assert_eq!(found.controller_roles[0], Sourced::new("other".to_owned(), Origin::Flag));
    assert_eq!(found.stage, Sourced::new(Stage::Before, Origin::Flag));
}

#[test]
fn a_cluster_that_is_left_alone_says_nothing() {
    let left = read(&json!({"scope": {"no_kube": true}}));
    let found = target(Account::KarpenterCluster, &left);
    assert_eq!(found.karpenter_version.origin, Origin::NewestKnown);
    assert_eq!(products(&found), [(Product::Karpenter, Origin::PodIdentityAssociation)]);
    assert_eq!(found.queue, QueueTarget::Found(vec!["demo".to_owned()]));
}

#[test]
fn the_role_of_the_controller_as_the_cluster_shows_it() {
    let arn = "arn:aws:iam::111122223333:role/path/irsa";
    let annotated = json!([{"meta": {"name": "karpenter", "namespace": "kube-system"},
        "annotations": {"eks.amazonaws.com/role-arn": arn}}]);
    let injected = json!([{"meta": {"name": "p", "namespace": "kube-system"},
        "service_account": "karpenter", "env": {"AWS_ROLE_ARN": arn}}]);
    for (facts, expected) in [
        (json!({"service_accounts": {"known": annotated}}), Origin::ServiceAccount),
        (json!({"controller_pods": {"known": injected}}), Origin::Deployment),
    ] {
        let patch = cluster(&facts);
        let none =
            and(patch.clone(), &json!({"facts": {"pod_identity_associations": {"known": []}}}));
        let found = target(Account::KarpenterCluster, &none);
        assert_eq!(found.controller_roles, [Sourced::new("irsa".to_owned(), expected)]);
        // The webhook gives the role of an association where there is one.
        let found = target(Account::KarpenterCluster, &patch);
        assert_eq!(found.controller_roles[0].origin, Origin::PodIdentityAssociation);
    }
}

#[test]
fn no_deployment_is_before_an_install() {
    let none = json!({"controllers": {"known": []}, "ec2_node_classes": "absent"});
    let found = target(Account::KarpenterCluster, &cluster(&none));
    assert_eq!((found.stage.value, found.stage.origin), (Stage::Before, Origin::Deployment));
    assert!(found.runs(Product::Karpenter));
    assert_note(&found, &["no Deployment", "before an install"]);
    // A controller may run elsewhere, on objects that are here.
    let elsewhere =
        target(Account::KarpenterCluster, &cluster(&json!({"controllers": {"known": []}})));
    assert_eq!(elsewhere.stage.value, Stage::After);
    // Beside Auto Mode, a role that an earlier install left is no Karpenter.
    let left = json!({"facts": {"roles": {"KarpenterNodeRole-demo": {"known": {
        "name": "KarpenterNodeRole-demo", "arn": "a", "path": "/", "trust": "{}"}}}}});
    let found = target(Account::AutoModeCluster, &left);
    assert_eq!(products(&found), [(Product::AutoMode, Origin::Cluster)]);
}

#[test]
fn one_of_several_deployments_is_judged() {
    let stopped = deployment(&json!({"replicas": 0, "image": "karpenter/controller:1.0.0"}));
    let other = deployment(&json!({"meta": {"namespace": "karpenter"},
        "image": "karpenter/controller:1.6.2"}));
    let both = cluster(&json!({"controllers": {"known": [stopped, other]}}));
    let found = target(Account::KarpenterCluster, &both);
    assert_eq!(found.karpenter_version.value.to_string(), "1.6.2");
    assert_note(&found, &["kube-system/karpenter, karpenter/karpenter", "--namespace"]);
    let named = and(both, &json!({"scope": {"namespace": "kube-system"}}));
    assert_eq!(
        target(Account::KarpenterCluster, &named).karpenter_version.value.to_string(),
        "1.0.0"
    );
}

#[test]
fn a_node_class_with_a_profile_of_its_own_leaves_room_for_other_roles() {
    let classes = json!({"ec2_node_classes": {"known": [
        {"meta": {"name": "a"}, "role": "arn:aws:iam::111122223333:role/x/custom"},
        {"meta": {"name": "b"}, "role": "custom"}]}});
    let found = target(Account::KarpenterCluster, &cluster(&classes));
    assert_eq!(node_roles(&found), [("custom", Product::Karpenter, Origin::NodeClass)]);
    let classes = json!({"ec2_node_classes": {"known": [
        {"meta": {"name": "a"}, "instance_profile": "own"}]}});
    let found = target(Account::KarpenterCluster, &cluster(&classes));
    let shown = ("KarpenterNodeRole-demo", Product::Karpenter, Origin::AccessEntry);
    assert_eq!(node_roles(&found), [shown]);
    let profile = json!({"facts": {"named_profiles": {"own": {"known": {
        "name": "own", "arn": PROFILE, "path": "/", "roles": ["held"]}}}}});
    let found = target(Account::KarpenterCluster, &and(cluster(&classes), &profile));
    assert_eq!(node_roles(&found), [("held", Product::Karpenter, Origin::NodeClass)]);
}

#[test]
fn says_where_the_cluster_was_read_through_something_else() {
    let access = json!({"access": {"known": {"server": "https://127.0.0.1:8443",
        "via": {"kubeconfig": {"context": "tunnel"}}, "version": null}}});
    let endpoint = json!({"facts": {"cluster": {"known": {"endpoint": "https://x.example"}}}});
    let found = target(Account::KarpenterCluster, &and(cluster(&access), &endpoint));
    assert_note(&found, &["https://127.0.0.1:8443", "`tunnel`", "https://x.example"]);
}
