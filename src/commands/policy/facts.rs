//! The documents as facts, so that the checks judge them as they judge an account.

use std::collections::BTreeMap;

use super::{
    input::{Document, Role, Unseen},
    managed,
    names::{Place, issuer},
    subject::Subject,
};
use crate::{
    cli::policy::{NamesArgs, PolicyProduct, RoleKind},
    facts::{
        Fact, Facts, arn,
        eks::{AuthenticationMode, AutoMode, Cluster, ClusterNetwork, PodIdentityAssociation},
        iam,
        organizations::Organization,
        sqs::{Queue, QueueAttributes},
    },
    requirements::{Feature, Setup},
    target::names,
};

/// An audience that every OIDC provider for EKS has.
const AUDIENCE: &str = "sts.amazonaws.com";

/// What the documents show of an account. What only an account could show is as it should be: the
/// cluster is there, the association or the OIDC provider that the trust policy is for as well.
pub struct Shown<'a> {
    pub kind: RoleKind,
    pub names: &'a NamesArgs,
    pub place: &'a Place,
    pub setup: &'a Setup,
    /// The name that the role goes by.
    pub role: &'a str,
    pub organization: Fact<Organization>,
}

impl Shown<'_> {
    pub fn facts(&self, subject: &Subject) -> Facts {
        let role = &subject.role;
        let mut facts = Facts {
            cluster: Fact::Known(self.cluster(role)),
            organization: self.organization.clone(),
            pod_identity_associations: Fact::Known(self.associations(role)),
            oidc_provider: Fact::Known(iam::OidcProvider {
                arn: String::new(),
                client_ids: vec![AUDIENCE.to_owned()],
            }),
            ..Facts::default()
        };
        for arn in &self.setup.node_role_arns {
            facts.roles.insert(arn::role_name(arn).to_owned(), Fact::Known(bare_role(arn)));
        }
        self.add_role(role, &mut facts);
        self.add_queues(subject, &mut facts);
        facts
    }

    pub fn role_arn(&self, role: &Role) -> String {
        let Place { partition, account, .. } = self.place;
        role.arn
            .clone()
            .unwrap_or_else(|| format!("arn:{partition}:iam::{account}:role/{}", self.role))
    }

    fn cluster(&self, role: &Role) -> Cluster {
        let Place { partition, region, account } = self.place;
        let name = &self.setup.cluster;
        let ip_family = self.setup.features.contains(&Feature::Ipv6).then(|| "ipv6".to_owned());
        let role_arn = match self.kind {
            RoleKind::Cluster => self.role_arn(role),
            _ => format!("arn:{partition}:iam::{account}:role/{name}-cluster"),
        };
        Cluster {
            name: name.clone(),
            arn: format!("arn:{partition}:eks:{region}:{account}:cluster/{name}"),
            // The newest that the Karpenter version is meant for, as where none could be read.
            version: String::new(),
            platform_version: None,
            status: "ACTIVE".to_owned(),
            health_issues: Vec::new(),
            endpoint: None,
            role_arn,
            oidc_issuer: self.issuer(role).map(|issuer| format!("https://{issuer}")),
            authentication_mode: AuthenticationMode::Api,
            network: ClusterNetwork { ip_family, ..ClusterNetwork::default() },
            auto_mode: AutoMode {
                compute: self.names.product == PolicyProduct::AutoMode,
                ..AutoMode::default()
            },
            zonal_shift: None,
        }
    }

    /// The issuer that a flag names, else the first one that the trust policy does.
    fn issuer(&self, role: &Role) -> Option<String> {
        let said = self.names.oidc_provider.as_deref().map(issuer).map(str::to_owned);
        said.or_else(|| issuer_of(role))
    }

    /// The association of the controller's service account with the role: there is one unless
    /// the role is made for IAM roles for service accounts alone.
    fn associations(&self, role: &Role) -> Vec<Fact<PodIdentityAssociation>> {
        let trust = trust_text(role).unwrap_or_default();
        let by_token = self.names.oidc_provider.is_some() || trust.contains(":oidc-provider/");
        if self.kind != RoleKind::Controller || (by_token && !trust.contains("pods.eks.")) {
            return Vec::new();
        }
        let Setup { namespace, service_account, .. } = self.setup;
        vec![Fact::Known(PodIdentityAssociation {
            id: format!("of {namespace}/{service_account}"),
            namespace: namespace.clone(),
            service_account: service_account.clone(),
            role_arn: self.role_arn(role),
            target_role_arn: None,
            policy: None,
            session_tags_disabled: false,
        })]
    }

    fn add_role(&self, role: &Role, facts: &mut Facts) {
        let mut policies = iam::RolePolicies {
            inline: Fact::Known(inline(&role.identity)),
            attached: Fact::Known(Vec::new()),
        };
        let mut attached = Vec::new();
        let mut attach = |what: &str, document: Fact<String>| {
            attached.push(what.to_owned());
            facts.policies.insert(what.to_owned(), document);
        };
        for arn in &role.attached {
            match managed::stand_in(arn, self.setup) {
                Some(document) => attach(arn, Fact::Known(document.text)),
                None => attach(arn, Fact::not_asked(hint("its document is not in the file"))),
            }
        }
        for Unseen { what, why } in &role.unseen {
            attach(what, Fact::not_asked(hint(why)));
        }
        policies.attached = Fact::Known(attached);
        let boundary = role.boundary.as_ref().map(|boundary| {
            let (name, document) = match boundary {
                Ok(Document { text, named }) => (&named.name, Fact::Known(text.clone())),
                Err(Unseen { what, why }) => {
                    (what, Fact::not_asked(format!("{why}: give --boundary FILE")))
                }
            };
            let name = role.boundary_arn.as_ref().unwrap_or(name).clone();
            facts.policies.insert(name.clone(), document);
            name
        });
        let arn = self.role_arn(role);
        let trust = trust_text(role).unwrap_or_default();
        let known = iam::Role { boundary, trust, tags: role.tags.clone(), ..bare_role(&arn) };
        facts.roles.insert(self.role.to_owned(), Fact::Known(known));
        facts.role_policies.insert(self.role.to_owned(), policies);
    }

    fn add_queues(&self, subject: &Subject, facts: &mut Facts) {
        for usual in names::queues(&self.setup.cluster) {
            facts.queues.insert(usual, Fact::Absent);
        }
        let Some(arn) = &self.setup.queue_arn else { return };
        let name = names::queue_name(arn).to_owned();
        let attributes = |policy| QueueAttributes {
            arn: arn.clone(),
            policy,
            kms_key: None,
            sse_sqs: true,
            fifo: false,
        };
        let attributes = match subject.resource.first() {
            Some(Err(unseen)) => Fact::not_asked(format!("{}: {}", unseen.what, unseen.why)),
            Some(Ok(document)) => Fact::Known(attributes(Some(document.text.clone()))),
            None => Fact::Known(attributes(None)),
        };
        let url = format!("FILL_IN_URL_OF_{name}");
        facts
            .queues
            .insert(name.clone(), Fact::Known(Queue { name: name.clone(), url, attributes }));
        facts.queue_rules.insert(name, Fact::Known(Vec::new()));
    }
}

/// The first issuer that a trust policy names.
pub fn issuer_of(role: &Role) -> Option<String> {
    let Some(Ok(trust)) = &role.trust else { return None };
    let principals = trust.named.policy.statements.iter().filter_map(|s| s.principal.as_ref());
    let mut names = principals.flat_map(|principal| &principal.items).map(|item| &item.text);
    let provider = names.find(|name| name.contains(":oidc-provider/"))?;
    Some(issuer(provider).to_owned())
}

/// Why the trust policy is not known, where it is there.
pub fn trust_unseen(role: &Role) -> Option<Fact<iam::Role>> {
    match role.trust.as_ref()? {
        Ok(_) => None,
        Err(Unseen { what, why }) => Some(Fact::not_asked(hint(&format!("{what}: {why}")))),
    }
}

fn trust_text(role: &Role) -> Option<String> {
    let text = role.trust.as_ref()?.as_ref().ok().map(|document| document.text.as_str())?;
    Some(percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned())
}

fn hint(why: &str) -> String {
    format!(
        "{why}. Give it as a file of its own, or test what `terraform show -json` prints after the \
         apply"
    )
}

/// A role of which nothing but the ARN is known.
fn bare_role(arn: &str) -> iam::Role {
    let path = arn.split_once(":role/").and_then(|(_, role)| role.rsplit_once('/'));
    iam::Role {
        name: arn::role_name(arn).to_owned(),
        arn: arn.to_owned(),
        path: path.map_or_else(|| "/".to_owned(), |(path, _)| format!("/{path}/")),
        created: None,
        trust: String::new(),
        boundary: None,
        tags: None,
    }
}

/// By name; a name that is there already gets a number.
fn inline(documents: &[Document]) -> BTreeMap<String, Fact<String>> {
    let mut inline = BTreeMap::new();
    for document in documents {
        let name = &document.named.name;
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut free = std::iter::once(name.clone()).chain(numbered);
        if let Some(name) = free.find(|name| !inline.contains_key(name)) {
            inline.insert(name, Fact::Known(document.text.clone()));
        }
    }
    inline
}
