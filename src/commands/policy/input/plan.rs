//! The resources of a plan or a state, and what refers to what.

use serde_json::Value;

use super::{
    address::{key, split, without_keys},
    list,
};

/// A resource, or a data source.
pub struct Resource<'a> {
    /// Such as `module.karpenter.aws_iam_role.controller[0]`.
    pub address: &'a str,
    pub kind: &'a str,
    pub values: &'a Value,
}

pub struct Plan<'a> {
    resources: Vec<Resource<'a>>,
    configuration: Option<&'a Value>,
}

/// Whether a resource is on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    On,
    NotOn,
    /// It is known after the apply only.
    NotKnown,
}

impl<'a> Plan<'a> {
    pub fn new(show: &'a Value) -> Self {
        let mut plan = Self {
            resources: Vec::new(),
            configuration: show.pointer("/configuration/root_module"),
        };
        // Data that a plan has read already stands in its prior state only; the rest of that
        // may be about to change.
        for (path, data_only) in [
            ("/planned_values/root_module", false),
            ("/values/root_module", false),
            ("/prior_state/values/root_module", true),
        ] {
            if let Some(module) = show.pointer(path) {
                plan.collect(module, data_only);
            }
        }
        plan
    }

    fn collect(&mut self, module: &'a Value, data_only: bool) {
        for resource in list(module, "resources") {
            let text = |field: &str| resource[field].as_str().unwrap_or_default();
            let address = text("address");
            let known = self.resources.iter().any(|known| known.address == address);
            if !known && (text("mode") == "data" || !data_only) {
                self.resources.push(Resource {
                    address,
                    kind: text("type"),
                    values: &resource["values"],
                });
            }
        }
        for child in list(module, "child_modules") {
            self.collect(child, data_only);
        }
    }

    pub fn of(&self, kind: &'static str) -> impl Iterator<Item = &Resource<'a>> {
        self.resources.iter().filter(move |resource| resource.kind == kind)
    }

    /// Whether a policy or an attachment is on this role, which the argument names, or those
    /// that it names in a list.
    pub fn is_on(&self, resource: &Resource<'a>, argument: &str, role: &Resource<'a>) -> Is {
        let own = role.values["name"].as_str();
        let named: Vec<Option<&str>> = match resource.values.get(argument) {
            Some(Value::Array(names)) => names.iter().map(Value::as_str).collect(),
            Some(Value::String(name)) => vec![Some(name)],
            Some(_) => Vec::new(),
            None => vec![None],
        };
        if own.is_some() && named.contains(&own) {
            return Is::On;
        }
        if !named.contains(&None) {
            return Is::NotOn;
        }
        let meant = self.referred(resource, argument, "aws_iam_role");
        match meant.iter().any(|found| found.address == role.address) {
            true => Is::On,
            false if meant.is_empty() => Is::NotKnown,
            false => Is::NotOn,
        }
    }

    /// Whether the configuration sets an argument.
    pub fn sets(&self, resource: &Resource<'a>, argument: &str) -> bool {
        self.block(resource).is_some_and(|block| block["expressions"].get(argument).is_some())
    }

    /// The block of the configuration that a resource comes from.
    fn block(&self, resource: &Resource<'a>) -> Option<&'a Value> {
        let (module, own) = split(resource.address);
        let configuration = self.configuration_of(&module)?;
        list(configuration, "resources").iter().find(|block| block["address"] == own)
    }

    /// The resources of this kind that an argument refers to, through variables and outputs of
    /// modules too.
    pub fn referred(
        &self,
        resource: &Resource<'a>,
        argument: &str,
        kind: &'static str,
    ) -> Vec<&Resource<'a>> {
        let (module, _) = split(resource.address);
        let path = format!("/expressions/{argument}/references");
        let references = self.block(resource).and_then(|block| block.pointer(&path));
        let mut found = Vec::new();
        self.follow(&module, references, kind, key(resource.address), 0, &mut found);
        found
    }

    /// The resource of this kind that an argument is made of, where it is made of nothing else.
    pub fn made_of(
        &self,
        resource: &Resource<'a>,
        argument: &str,
        kind: &'static str,
    ) -> Option<&Resource<'a>> {
        let path = format!("/expressions/{argument}/references");
        let references = self.block(resource)?.pointer(&path)?;
        match (whole(references).as_slice(), self.referred(resource, argument, kind).as_slice()) {
            ([_], [only]) => Some(only),
            _ => None,
        }
    }

    fn follow<'p>(
        &'p self,
        module: &str,
        references: Option<&'a Value>,
        kind: &'static str,
        own_key: &str,
        depth: usize,
        found: &mut Vec<&'p Resource<'a>>,
    ) {
        /// Modules are not nested deeper than this.
        const DEEPEST: usize = 16;
        let references = references.filter(|_| depth <= DEEPEST).map(whole).unwrap_or_default();
        for reference in references {
            let parts: Vec<&str> = reference.split(['.', '[']).collect();
            match parts.as_slice() {
                ["var", name, ..] => {
                    let Some((parent, call)) = parent(module) else { continue };
                    let path = format!("/module_calls/{call}/expressions/{name}/references");
                    let passed = self.configuration_of(&parent).and_then(|c| c.pointer(&path));
                    self.follow(&parent, passed, kind, own_key, depth + 1, found);
                }
                ["module", call, .., output] => {
                    let path = format!(
                        "/module_calls/{call}/module/outputs/{output}/expression/references"
                    );
                    let given = self.configuration_of(module).and_then(|c| c.pointer(&path));
                    let inside = format!("{module}module.{call}.");
                    self.follow(&inside, given, kind, own_key, depth + 1, found);
                }
                _ => {
                    let meant = self.meant(module, reference, kind, own_key);
                    found.extend(
                        meant.filter(|meant| {
                            found.iter().all(|known| known.address != meant.address)
                        }),
                    );
                }
            }
        }
    }

    /// The resource that a reference names: of several, made by count or for_each, the one with
    /// its key, or else with the key of the one that refers.
    fn meant(
        &self,
        module: &str,
        reference: &str,
        kind: &'static str,
        own_key: &str,
    ) -> Option<&Resource<'a>> {
        let reference = reference.trim_start_matches("data.");
        let bare = without_keys(reference);
        let is_named = |resource: &&Resource<'a>| {
            let (_, own) = split(resource.address);
            let own = own.trim_start_matches("data.");
            bare == own || bare.starts_with(&format!("{own}."))
        };
        let in_module = |exact: bool| {
            self.of(kind).filter(is_named).filter(move |resource| {
                let (of, _) = split(resource.address);
                of == module || (!exact && without_keys(&of) == without_keys(module))
            })
        };
        let candidates: Vec<_> = match in_module(true).next() {
            Some(_) => in_module(true).collect(),
            None => in_module(false).collect(),
        };
        let with_key = |wanted: &str| {
            candidates.iter().find(|c| !wanted.is_empty() && key(c.address) == wanted).copied()
        };
        let said = reference.find('[').and_then(|from| {
            let to = reference[from..].find(']')?;
            with_key(&reference[from..=from + to])
        });
        said.or_else(|| with_key(own_key)).or_else(|| candidates.first().copied())
    }

    /// The configuration of a module, by its address with a dot at its end.
    fn configuration_of(&self, module: &str) -> Option<&'a Value> {
        let mut at = self.configuration?;
        let bare = without_keys(module);
        for name in bare.split('.').filter(|part| !part.is_empty() && *part != "module") {
            at = at.pointer(&format!("/module_calls/{name}/module"))?;
        }
        Some(at)
    }
}

/// References without what Terraform lists after each of them, which is what it is a part of.
fn whole(references: &Value) -> Vec<&str> {
    let all: Vec<&str> =
        references.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_part = |at: usize| all[..at].iter().any(|whole| whole.starts_with(all[at]));
    (0..all.len()).filter(|at| !is_part(*at)).map(|at| all[at]).collect()
}

/// The module that calls this one, and the name of the call.
fn parent(module: &str) -> Option<(String, String)> {
    let bare = without_keys(module);
    let (before, call) = bare.trim_end_matches('.').rsplit_once("module.")?;
    Some((before.to_owned(), call.to_owned()))
}
