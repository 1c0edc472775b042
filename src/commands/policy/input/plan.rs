//! The resources of a plan or a state, and what refers to what.

use serde_json::Value;

use super::{
    address::{first_key, key, split, without_keys},
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
        let is_one_of_several = meant.len() > 1 && named.len() == 1;
        match meant.iter().any(|found| found.address == role.address) {
            true if !is_one_of_several => Is::On,
            false if !meant.is_empty() => Is::NotOn,
            _ => Is::NotKnown,
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
        let references = self.references(resource, argument);
        let mut found = Vec::new();
        self.follow(&module, &references, kind, resource, 0, &mut found);
        found
    }

    /// What the expression of an argument refers to.
    fn references(&self, resource: &Resource<'a>, argument: &str) -> Vec<&'a str> {
        let path = format!("/expressions/{argument}/references");
        self.block(resource).and_then(|block| block.pointer(&path)).map(whole).unwrap_or_default()
    }

    /// The resource of this kind that one element of a list is, out of `of`: the references of the
    /// argument are in their order, where there is one for each. One that stands alone is as a list
    /// of one.
    pub fn referred_at(
        &self,
        resource: &Resource<'a>,
        argument: &str,
        kind: &'static str,
        at: usize,
        of: usize,
    ) -> Option<&Resource<'a>> {
        let (module, _) = split(resource.address);
        let references = self.references(resource, argument);
        let one = references.get(at..=at).filter(|_| references.len() == of)?;
        let mut found = Vec::new();
        self.follow(&module, one, kind, resource, 0, &mut found);
        match found.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The resource of this kind that an argument is made of, where it is made of nothing else.
    pub fn made_of(
        &self,
        resource: &Resource<'a>,
        argument: &str,
        kind: &'static str,
    ) -> Option<&Resource<'a>> {
        let references = self.references(resource, argument);
        match (references.as_slice(), self.referred(resource, argument, kind).as_slice()) {
            ([_], [only]) => Some(only),
            _ => None,
        }
    }

    fn follow<'p>(
        &'p self,
        module: &str,
        references: &[&str],
        kind: &'static str,
        from: &Resource<'a>,
        depth: usize,
        found: &mut Vec<&'p Resource<'a>>,
    ) {
        /// Modules are not nested deeper than this.
        const DEEPEST: usize = 16;
        if depth > DEEPEST {
            return;
        }
        for reference in references {
            let bare = without_keys(reference);
            let parts: Vec<&str> = bare.split('.').collect();
            let (at, inner) = match parts.as_slice() {
                ["var", name, ..] => {
                    let Some((parent, call)) = parent(module) else { continue };
                    let path = format!("/module_calls/{call}/expressions/{name}/references");
                    let passed = self.configuration_of(&parent).and_then(|c| c.pointer(&path));
                    (parent, passed)
                }
                ["module", call, output, ..] => {
                    let path = format!(
                        "/module_calls/{call}/module/outputs/{output}/expression/references"
                    );
                    let given = self.configuration_of(module).and_then(|c| c.pointer(&path));
                    (format!("{module}{}", split(reference).0), given)
                }
                // What a resource is made for, once each.
                ["each", "value", ..] if depth == 0 => {
                    let each = self.block(from);
                    let each =
                        each.and_then(|block| block.pointer("/for_each_expression/references"));
                    (module.to_owned(), each)
                }
                _ => {
                    for meant in self.meant(module, reference, kind, key(from.address)) {
                        if found.iter().all(|known| known.address != meant.address) {
                            found.push(meant);
                        }
                    }
                    continue;
                }
            };
            let inner = inner.map(whole).unwrap_or_default();
            self.follow(&at, &inner, kind, from, depth + 1, found);
        }
    }

    /// The resource that a reference names: of several, made by count or for_each, the one with
    /// its key, or else with the key of the one that refers. All of them, where none has either.
    fn meant(
        &self,
        module: &str,
        reference: &str,
        kind: &'static str,
        own_key: &str,
    ) -> Vec<&Resource<'a>> {
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
        let said = first_key(reference);
        match with_key(said).or_else(|| with_key(own_key).filter(|_| said.is_empty())) {
            Some(one) => vec![one],
            None => candidates,
        }
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
