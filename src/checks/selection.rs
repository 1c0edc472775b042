//! Who selects subnets and security groups: the NodeClasses where they are known, else the
//! discovery tag, which the guides use.

use std::collections::BTreeMap;

use super::{
    Context, Judged, Stop, Verdicts, discovery::selects_by_tag, node_classes, node_classes::Class,
};
use crate::{
    facts::{
        Fact,
        ec2::{SecurityGroup, Subnet},
        kubernetes::node_class::SelectorTerm,
        selected::{Query, Selected},
    },
    target::{Origin, Tag, selector},
};

/// Something that selects.
#[derive(Debug, Clone, Copy)]
pub enum Selector<'a> {
    /// No NodeClass is known; this is the tag that one is expected to select by.
    Tag(&'a Tag),
    Class(Class<'a>),
}

/// Everything that selects. A guessed discovery tag counts only where no NodeClass is known.
pub fn selectors<'a>(cx: &Context<'a>) -> Result<Vec<Selector<'a>>, Stop> {
    let mut selectors: Vec<_> = node_classes::known(cx).into_iter().map(Selector::Class).collect();
    let tag = &cx.target.discovery_tag;
    if selectors.is_empty() {
        node_classes::readable(cx)?;
        selects_by_tag(cx)?;
    }
    if selectors.is_empty() || tag.origin == Origin::Flag {
        selectors.push(Selector::Tag(&tag.value));
    }
    Ok(selectors)
}

/// Judges what each selector selects, where it selects anything.
pub fn each<'a, T: 'a>(
    cx: &Context<'a>,
    select: impl Fn(&Selector<'a>) -> Result<Vec<&'a T>, Stop>,
    nothing: &str,
    judge: impl Fn(&Selector<'a>, &[&'a T]) -> Vec<Judged>,
) -> Verdicts {
    let judged = selectors(cx)?.into_iter().flat_map(|selector| match select(&selector) {
        Ok(found) if found.is_empty() => {
            let stop = Stop::skipped(format!("{} selects {nothing}", selector.words()));
            vec![Judged::new(selector.subject(), || Err(stop))]
        }
        Ok(found) => judge(&selector, &found),
        Err(stop) => vec![Judged::new(selector.subject(), || Err(stop))],
    });
    Ok(judged.collect())
}

impl<'a> Selector<'a> {
    /// What it stands under in a report.
    pub fn subject(&self) -> String {
        match self {
            Self::Tag(tag) => tag.to_string(),
            Self::Class(class) => class.subject(),
        }
    }

    /// What one selected thing stands under.
    pub fn subject_of(&self, id: &str) -> String {
        match self {
            Self::Tag(_) => id.to_owned(),
            Self::Class(class) => format!("{}/{id}", class.subject()),
        }
    }

    /// In a sentence: `the tag team=a`, `EC2NodeClass default`.
    pub fn words(&self) -> String {
        match self {
            Self::Tag(tag) => format!("the tag {tag}"),
            Self::Class(class) => class.to_string(),
        }
    }

    /// The subnets that it selects, each once; there may be none.
    pub fn subnets(&self, cx: &Context<'a>) -> Result<Vec<&'a Subnet>, Stop> {
        let (tagged, selected) = (&cx.facts.discovered_subnets, &cx.facts.selected_subnets);
        self.all(cx, tagged, selected, |class| &class.spec.subnet_terms, |subnet| &subnet.id)
    }

    /// The security groups that it selects, each once; there may be none.
    pub fn security_groups(&self, cx: &Context<'a>) -> Result<Vec<&'a SecurityGroup>, Stop> {
        let facts = cx.facts;
        let (tagged, selected) =
            (&facts.discovered_security_groups, &facts.selected_security_groups);
        self.all(cx, tagged, selected, |class| &class.spec.security_group_terms, |group| &group.id)
    }

    /// The subnets that pods get their addresses from, where they are others than the nodes'.
    pub fn pod_subnets(&self, cx: &Context<'a>) -> Result<Vec<&'a Subnet>, Stop> {
        let (tagged, selected) = (&cx.facts.discovered_subnets, &cx.facts.selected_subnets);
        self.all(cx, tagged, selected, |class| &class.spec.pod_subnet_terms, |subnet| &subnet.id)
    }

    /// The security groups of pods, where they are others than the nodes'.
    pub fn pod_security_groups(&self, cx: &Context<'a>) -> Result<Vec<&'a SecurityGroup>, Stop> {
        let facts = cx.facts;
        let (tagged, selected) =
            (&facts.discovered_security_groups, &facts.selected_security_groups);
        let terms =
            |class: &Class<'a>| -> &'a [SelectorTerm] { &class.spec.pod_security_group_terms };
        self.all(cx, tagged, selected, terms, |group| &group.id)
    }

    fn all<T>(
        &self,
        cx: &Context<'a>,
        tagged: &'a Fact<Vec<T>>,
        selected: &'a [Selected<Query, T>],
        terms: impl Fn(&Class<'a>) -> &'a [SelectorTerm],
        id: impl Fn(&T) -> &str,
    ) -> Result<Vec<&'a T>, Stop> {
        let Self::Class(class) = self else {
            return Ok(tagged.found()?.into_iter().flatten().collect());
        };
        let by_tag = selector::by_tag(&cx.target.discovery_tag.value);
        let mut all: BTreeMap<&str, &'a T> = BTreeMap::new();
        for query in selector::queries(terms(class)) {
            let answer =
                if query == by_tag { Some(tagged) } else { Selected::answer(selected, &query) };
            let answer = answer.ok_or_else(|| {
                Stop::unknown(format!("these facts do not hold what {class} selects"))
            })?;
            for one in answer.found()?.into_iter().flatten() {
                all.insert(id(one), one);
            }
        }
        Ok(all.into_values().collect())
    }
}

/// The tag of a term that selects by nothing but one tag without wildcards.
pub fn single_tag(term: &SelectorTerm) -> Option<Tag> {
    let mut tags = term.tags.iter();
    let (Some((key, value)), None, None, None) = (tags.next(), tags.next(), &term.id, &term.name)
    else {
        return None;
    };
    let value = match value.as_str() {
        "*" => None,
        value if value.contains(['*', '?']) => return None,
        value => Some(value.to_owned()),
    };
    Some(Tag { key: key.clone(), value })
}

/// The terms of a selector in words.
pub fn terms_in_words(terms: &[SelectorTerm]) -> String {
    let words: Vec<_> = terms.iter().map(selector::words).collect();
    if words.is_empty() { "no terms at all".to_owned() } else { words.join("; ") }
}
