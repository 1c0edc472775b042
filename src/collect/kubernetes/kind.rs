//! Kinds of objects, and where the API has them.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Items a page. The API server reads this many at once from etcd.
const PAGE: usize = 500;

/// A kind of object, as the API's paths spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Empty for the core group.
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    /// Defined by a custom resource: a cluster may not know it.
    pub custom: bool,
}

impl Kind {
    pub const fn core(plural: &'static str) -> Self {
        Self { group: "", version: "v1", plural, custom: false }
    }

    pub const fn built_in(group: &'static str, plural: &'static str) -> Self {
        Self { group, version: "v1", plural, custom: false }
    }

    pub const fn custom(group: &'static str, version: &'static str, plural: &'static str) -> Self {
        Self { group, version, plural, custom: true }
    }

    /// The action, as a fact names it: `list pods (Kubernetes)`.
    pub fn action(&self, verb: &str) -> String {
        format!("{verb} {} (Kubernetes)", self.plural)
    }

    /// The path of a list, or of one object.
    pub fn path(&self, namespace: Option<&str>, name: Option<&str>) -> String {
        let mut path = match self.group {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        if let Some(namespace) = namespace {
            path.push_str("/namespaces/");
            path.push_str(&encoded(namespace));
        }
        path.push('/');
        path.push_str(self.plural);
        if let Some(name) = name {
            path.push('/');
            path.push_str(&encoded(name));
        }
        path
    }
}

/// A list to read.
#[derive(Debug, Clone)]
pub struct List {
    pub kind: Kind,
    namespace: Option<String>,
    labels: Option<String>,
    fields: Option<String>,
}

impl List {
    /// Every object of the kind, in whatever namespace.
    pub fn all(kind: Kind) -> Self {
        Self { kind, namespace: None, labels: None, fields: None }
    }

    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Only those that a label selector takes, such as `app=a,tier=b`.
    #[must_use]
    pub fn with_labels(mut self, selector: &str) -> Self {
        self.labels = Some(selector.to_owned());
        self
    }

    /// Only those that a field selector takes, such as `type=Warning`.
    #[must_use]
    pub fn with_fields(mut self, selector: &str) -> Self {
        self.fields = Some(selector.to_owned());
        self
    }

    pub fn action(&self) -> String {
        self.kind.action("list")
    }

    /// The address of the first page, or of the one that a token leads to.
    pub fn page(&self, next: &str) -> String {
        let mut uri = format!("{}?limit={PAGE}", self.kind.path(self.namespace.as_deref(), None));
        let queries = [
            ("labelSelector", self.labels.as_deref().unwrap_or_default()),
            ("fieldSelector", self.fields.as_deref().unwrap_or_default()),
            ("continue", next),
        ];
        for (name, value) in queries {
            if !value.is_empty() {
                uri.push_str(&format!("&{name}={}", encoded(value)));
            }
        }
        uri
    }
}

fn encoded(text: &str) -> String {
    const KEPT: &percent_encoding::AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, KEPT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let deployments = Kind::built_in("apps", "deployments");
        let pods = List::all(Kind::core("pods")).in_namespace("kube-system").with_labels("a=b,c");
        for (found, expected) in [
            (Kind::core("nodes").path(None, None), "/api/v1/nodes"),
            (deployments.path(None, None), "/apis/apps/v1/deployments"),
            (
                Kind::core("configmaps").path(Some("kube-system"), Some("aws-auth")),
                "/api/v1/namespaces/kube-system/configmaps/aws-auth",
            ),
            (
                pods.page("e/+="),
                "/api/v1/namespaces/kube-system/pods?limit=500&labelSelector=a%3Db%2Cc&continue=e%2F%2B%3D",
            ),
        ] {
            assert_eq!(found, expected);
        }
        assert_eq!(pods.action(), "list pods (Kubernetes)");
    }
}
