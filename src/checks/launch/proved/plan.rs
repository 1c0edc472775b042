//! What would be launched, and as whom: what `--prove` asks AWS.

use crate::{
    checks::{
        Context, Stop, controller,
        images::discovered,
        node_classes::Class,
        node_pools::{self, Values},
        selection::{Selector, selectors},
        setup::setup,
    },
    facts::{
        Fact, arn,
        kubernetes::{
            controller::ServiceAccount,
            node_class::{MetadataOptions, Volume},
        },
        proof::{Launch, Question, Way},
    },
    requirements::{self, version::KarpenterVersion},
    target::{Product, cluster_says, names},
};

/// Before, an account's default of tags in the metadata holds for its launches too.
const HIDES_TAGS: KarpenterVersion = KarpenterVersion::new(1, 1, 0);
/// What Karpenter tries where no NodePool names a type (`pkg/controllers/nodeclass/validation.go`
/// at v1.4.0).
const TYPES: [(&str, &str); 2] = [("x86_64", "m5.large"), ("arm64", "m6g.large")];
/// The audience of IRSA, where the service account names no other.
const AUDIENCE: &str = "sts.amazonaws.com";
/// Subnets of one selector that are tried.
const SUBNETS: usize = 16;

/// The questions, one a controller role.
pub fn questions(cx: &Context<'_>) -> Result<Vec<Question>, Stop> {
    if !cx.target.runs(Product::Karpenter) {
        return Ok(Vec::new());
    }
    let launches: Vec<Launch> =
        launches(cx)?.into_iter().filter_map(|planned| planned.launch.ok()).collect();
    let mut questions = Vec::new();
    for role in &cx.target.controller_roles {
        // The check says of a role that cannot be asked as why.
        if let Ok(asker) = asker(cx, arn::role_name(&role.value)) {
            questions.push(Question { launches: launches.clone(), ..asker });
        }
    }
    Ok(questions)
}

/// As whom a controller role's launches are tried; still without them.
pub fn asker(cx: &Context<'_>, name: &str) -> Result<Question, Stop> {
    let launches = Vec::new();
    if let Some(session) = session_of(cx, name) {
        // Nothing needs to be read of the role: the controller itself may not.
        let (role, arn) = (name.to_owned(), session.to_owned());
        return Ok(Question { role, arn, way: Way::Own, launches });
    }
    let found = controller::Controller::of(cx, name)?;
    let (role, arn) = (found.role.name.clone(), found.role.arn.clone());
    Ok(Question { role, arn, way: way(cx, name), launches })
}

/// What a selector launches.
pub struct Planned {
    pub subject: String,
    /// Else why that cannot be said.
    pub launch: Result<Launch, Stop>,
    /// Subnets of the selector that are not tried.
    pub left_out: usize,
}

/// What each selector of Karpenter's launches.
pub fn launches(cx: &Context<'_>) -> Result<Vec<Planned>, Stop> {
    let selectors = selectors(cx)?.into_iter().filter(|selector| match selector {
        Selector::Tag(_) => true,
        Selector::Class(class) => class.product == Product::Karpenter,
    });
    let planned = selectors.map(|selector| {
        let all = selector.subnets(cx).map_or(0, |subnets| subnets.len());
        Planned {
            subject: selector.subject(),
            launch: launch(cx, &selector),
            left_out: all.saturating_sub(SUBNETS),
        }
    });
    Ok(planned.collect())
}

fn launch(cx: &Context<'_>, selector: &Selector<'_>) -> Result<Launch, Stop> {
    let class = match selector {
        Selector::Tag(_) => None,
        Selector::Class(class) => Some(class),
    };
    let subnets: Vec<String> =
        selector.subnets(cx)?.iter().take(SUBNETS).map(|subnet| subnet.id.clone()).collect();
    let groups = selector.security_groups(cx)?;
    if subnets.is_empty() || groups.is_empty() {
        return Err(Stop::skipped("it selects no subnets, or no security groups, to launch with"));
    }
    let (image, architecture) = image(cx, class)?;
    let spec = class.map(|class| class.spec);
    Ok(Launch {
        subject: selector.subject(),
        instance_type: instance_type(cx, class, &architecture),
        subnets,
        security_groups: groups.iter().map(|group| group.id.clone()).collect(),
        instance_profile: instance_profile(cx, class),
        metadata: metadata(spec.and_then(|spec| spec.metadata_options.as_ref())),
        hides_tags: cx.karpenter() >= HIDES_TAGS,
        volumes: volumes(cx, spec.map(|spec| spec.volumes.as_slice()), &image),
        associate_public_ip: spec.and_then(|spec| spec.associate_public_ip),
        tags: tags(cx, class)?,
        image,
        answers: Vec::new(),
    })
}

/// Id and architecture of the image.
fn image(cx: &Context<'_>, class: Option<&Class<'_>>) -> Result<(String, String), Stop> {
    if let Some(class) = class {
        let found = discovered::first(cx, class);
        // What Karpenter found itself serves as well, where it could not be looked up.
        return match (found, class.spec.status.amis.first()) {
            (Err(Stop::Unknown(_)), Some(id)) => Ok((id.clone(), architecture(cx, id))),
            (found, _) => found,
        };
    }
    let newest = names::image_parameters(&cx.cluster()?.version);
    let newest = newest.first().and_then(|name| cx.facts.image_parameters.get(name));
    let image = newest.unwrap_or(&Fact::Absent).known()?;
    Ok((image.image_id.clone(), "x86_64".to_owned()))
}

fn architecture(cx: &Context<'_>, image: &str) -> String {
    let shown = cx.facts.images.get(image).and_then(|image| image.value());
    shown.map_or_else(|| "x86_64".to_owned(), |image| image.architecture.clone())
}

/// A type that a NodePool names and the image runs on, else the one that Karpenter tries.
fn instance_type(cx: &Context<'_>, class: Option<&Class<'_>>, architecture: &str) -> String {
    const LABEL: &str = "node.kubernetes.io/instance-type";
    let named = class.into_iter().flat_map(|class| node_pools::of(cx, class));
    let mut named = named.flat_map(|pool| Values::of(pool, LABEL).named());
    let usual = || TYPES.iter().find(|(known, _)| *known == architecture).unwrap_or(&TYPES[0]).1;
    let is_arm = architecture == "arm64";
    named.find(|name| is_graviton(name) == is_arm).unwrap_or_else(usual).to_owned()
}

/// Graviton is `a1`, or has a `g` right after the digits of its generation: m6g, c7gn, g5g.
fn is_graviton(instance_type: &str) -> bool {
    let family = instance_type.split('.').next().unwrap_or_default();
    let generation = family.trim_start_matches(|c: char| !c.is_ascii_digit());
    let options = generation.trim_start_matches(|c: char| c.is_ascii_digit());
    family == "a1" || options.starts_with('g')
}

/// The NodeClass's own, or the one that Karpenter made for it; there may be none yet.
fn instance_profile(cx: &Context<'_>, class: Option<&Class<'_>>) -> Option<String> {
    let spec = class.map(|class| class.spec);
    let named = spec
        .and_then(|spec| spec.instance_profile.as_ref().or(spec.status.instance_profile.as_ref()));
    let made = || {
        let mut made = cx.facts.instance_profiles.value().into_iter().flatten();
        made.find(|profile| !profile.roles.is_empty()).map(|profile| profile.name.clone())
    };
    named.cloned().or_else(made)
}

/// With the defaults of the custom resource.
fn metadata(given: Option<&MetadataOptions>) -> MetadataOptions {
    let given = given.cloned().unwrap_or_default();
    MetadataOptions {
        http_endpoint: given.http_endpoint.or_else(|| Some("enabled".to_owned())),
        http_put_response_hop_limit: given.http_put_response_hop_limit.or(Some(1)),
        http_tokens: given.http_tokens.or_else(|| Some("required".to_owned())),
    }
}

/// Those of the NodeClass, else the one that Karpenter gives: encrypted, with the account's key.
fn volumes(cx: &Context<'_>, given: Option<&[Volume]>, image: &str) -> Vec<Volume> {
    if let Some(given @ [_, ..]) = given {
        return given.to_vec();
    }
    let shown = cx.facts.images.get(image).and_then(|image| image.value());
    let root = shown.and_then(|image| image.root_device.clone());
    let device = root.unwrap_or_else(|| "/dev/xvda".to_owned());
    vec![Volume { device: Some(device), encrypted: Some(true), ..Volume::default() }]
}

/// The tags that this version sends when it tries a launch, else when it launches.
fn tags(
    cx: &Context<'_>,
    class: Option<&Class<'_>>,
) -> Result<std::collections::BTreeMap<String, String>, Stop> {
    let mut setup = setup(cx, Product::Karpenter)?;
    if let Some(class) = class {
        setup.node_class = class.name().to_owned();
        setup.tags.extend(class.spec.tags.clone());
        if let Some(pool) = node_pools::of(cx, class).next() {
            setup.node_pool.clone_from(&pool.meta.name);
        }
    }
    let requests = requirements::controller(cx.karpenter(), &setup);
    let mut launches = requests
        .into_iter()
        .filter(|request| request.action == "ec2:RunInstances" && !request.request_tags.is_empty());
    let first = launches.next();
    let tried = launches.find(|request| request.id.starts_with("validate-")).or(first);
    Ok(tried.map(|request| request.request_tags).unwrap_or_default())
}

fn way(cx: &Context<'_>, role: &str) -> Way {
    match annotated(cx, role) {
        Some(account) => {
            let audience = account.annotations.get("eks.amazonaws.com/audience");
            Way::WebIdentity {
                namespace: account.meta.namespace.clone(),
                service_account: account.meta.name.clone(),
                audience: audience.cloned().unwrap_or_else(|| AUDIENCE.to_owned()),
            }
        }
        None => Way::AssumeRole,
    }
}

/// The caller's ARN, where it is a session of this role.
fn session_of<'a>(cx: &Context<'a>, role: &str) -> Option<&'a str> {
    let caller = cx.facts.caller.value()?.arn.as_str();
    let (_, session) = caller.split_once(":assumed-role/")?;
    let own = cx.facts.cluster.value().and_then(|cluster| arn::account(&cluster.arn));
    let is_it = session.split('/').next() == Some(role)
        && own.is_none_or(|own| arn::account(caller) == Some(own));
    is_it.then_some(caller)
}

/// The controller's service account, where it is annotated with this role (IRSA).
fn annotated<'a>(cx: &Context<'a>, role: &str) -> Option<&'a ServiceAccount> {
    let kubernetes = cx.kubernetes().ok()?;
    let deployment = cluster_says::judged(cx.target, kubernetes.controllers.value()?)?;
    let mut roles = cluster_says::controller_roles(kubernetes, deployment).into_iter();
    roles.find(|found| arn::role_name(&found.value) == role)?;
    cluster_says::service_account(kubernetes, deployment)
}
