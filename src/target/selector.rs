//! The selectors of NodeClasses, resolved as Karpenter resolves them
//! (`pkg/providers/subnet/subnet.go`, `pkg/providers/securitygroup/securitygroup.go` and
//! `pkg/providers/capacityreservation/types.go` at v1.14.1).
//!
//! The terms of a selector stand beside each other; the tags of a term hold together. `*` as a
//! tag's value means any value. Every other wildcard is EC2's to read. Nothing is filtered by
//! VPC.

use std::collections::{BTreeMap, BTreeSet};

use super::Tag;
use crate::facts::{kubernetes::node_class::SelectorTerm, selected::Query};

/// What a selector selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Subnet,
    SecurityGroup,
}

/// A filter of an EC2 request: a name and its values, of which one must fit.
pub type Filter = (String, Vec<String>);

/// The requests that a selector makes: one for each term with tags, one for all ids, one for all
/// names. Equal requests are made once.
pub fn queries(terms: &[SelectorTerm]) -> BTreeSet<Query> {
    let (mut ids, mut names) = (Query::new(), Query::new());
    let mut queries = BTreeSet::new();
    for term in terms {
        if term.id.is_some() {
            ids.insert(term.clone());
        } else if term.name.is_some() {
            names.insert(term.clone());
        } else {
            queries.insert(Query::from([term.clone()]));
        }
    }
    queries.extend([ids, names].into_iter().filter(|query| !query.is_empty()));
    queries
}

/// The request that selects by one tag.
pub fn by_tag(tag: &Tag) -> Query {
    let value = tag.value.clone().unwrap_or_else(|| "*".to_owned());
    let tags = [(tag.key.clone(), value)].into();
    Query::from([SelectorTerm { tags, ..SelectorTerm::default() }])
}

/// The filters of a request for subnets or security groups.
pub fn filters(kind: Kind, query: &Query) -> Vec<Filter> {
    let (id, name) = match kind {
        Kind::Subnet => ("subnet-id", "tag:Name"),
        Kind::SecurityGroup => ("group-id", "group-name"),
    };
    let values = |of: fn(&SelectorTerm) -> Option<&String>| -> Vec<String> {
        query.iter().filter_map(of).cloned().collect()
    };
    let ids = values(|term| term.id.as_ref());
    if !ids.is_empty() {
        return vec![(id.to_owned(), ids)];
    }
    let names = values(|term| term.name.as_ref());
    if !names.is_empty() {
        return vec![(name.to_owned(), names)];
    }
    query.iter().flat_map(|term| tag_filters(&term.tags)).collect()
}

/// The filters that a map of tags stands for.
pub fn tag_filters(tags: &BTreeMap<String, String>) -> Vec<Filter> {
    let filter = |(key, value): (&String, &String)| match value.as_str() {
        "*" => ("tag-key".to_owned(), vec![key.clone()]),
        _ => (format!("tag:{key}"), vec![value.clone()]),
    };
    tags.iter().map(filter).collect()
}

/// A term in words: `id subnet-01`, `name web`, `tag team=a and tag stage`.
pub fn words(term: &SelectorTerm) -> String {
    if let Some(id) = &term.id {
        return format!("id {id}");
    }
    if let Some(name) = &term.name {
        return format!("name {name}");
    }
    let tag = |(key, value): (&String, &String)| match value.as_str() {
        "*" => format!("tag {key}"),
        _ => format!("tag {key}={value}"),
    };
    let tags: Vec<_> = term.tags.iter().map(tag).collect();
    if tags.is_empty() { "no condition".to_owned() } else { tags.join(" and ") }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn terms(terms: Value) -> Vec<SelectorTerm> {
        serde_json::from_value(terms).unwrap()
    }

    fn asked(kind: Kind, of: Value) -> Vec<String> {
        let filter = |(name, values): Filter| format!("{name}={}", values.join(","));
        queries(&terms(of))
            .iter()
            .map(|query| filters(kind, query).into_iter().map(filter).collect::<Vec<_>>().join("&"))
            .collect()
    }

    #[test]
    fn as_karpenter_asks() {
        for (name, kind, of, expected) in [
            ("one tag", Kind::Subnet, json!([{"tags": {"a": "b"}}]), vec!["tag:a=b"]),
            ("any value", Kind::Subnet, json!([{"tags": {"a": "*"}}]), vec!["tag-key=a"]),
            (
                "other wildcards are for EC2",
                Kind::Subnet,
                json!([{"tags": {"Name": "*private*"}}]),
                vec!["tag:Name=*private*"],
            ),
            (
                "tags of a term hold together",
                Kind::Subnet,
                json!([{"tags": {"a": "b", "c": "*"}}]),
                vec!["tag:a=b&tag-key=c"],
            ),
            (
                "terms stand beside each other, ids in one request",
                Kind::Subnet,
                json!([{"id": "subnet-2"}, {"tags": {"a": "b"}}, {"id": "subnet-1"}]),
                vec!["tag:a=b", "subnet-id=subnet-1,subnet-2"],
            ),
            (
                "names",
                Kind::SecurityGroup,
                json!([{"name": "web"}, {"id": "sg-1"}, {"name": "db"}]),
                vec!["group-name=db,web", "group-id=sg-1"],
            ),
            (
                "the same twice",
                Kind::SecurityGroup,
                json!([{"tags": {"a": "b"}}, {"tags": {"a": "b"}}]),
                vec!["tag:a=b"],
            ),
        ] {
            let mut found = asked(kind, of);
            let mut expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn the_order_of_terms_says_nothing() {
        let one = queries(&terms(json!([{"id": "subnet-1"}, {"id": "subnet-2"}])));
        let other = queries(&terms(json!([{"id": "subnet-2"}, {"id": "subnet-1"}])));
        assert_eq!(one, other);
    }

    #[test]
    fn a_tag_is_a_selector_of_one_term() {
        for (tag, of) in
            [("a=b", json!([{"tags": {"a": "b"}}])), ("a", json!([{"tags": {"a": "*"}}]))]
        {
            let tag: Tag = tag.parse().unwrap();
            assert_eq!(queries(&terms(of)), BTreeSet::from([by_tag(&tag)]));
        }
    }
}
