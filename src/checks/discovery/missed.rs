//! A selector that selects nothing: what was asked for, and what was probably meant.

use super::{
    NearMisses,
    near_miss::{Tagged, near_misses},
};
use crate::{
    checks::{
        Context,
        node_classes::Class,
        remedies::quote,
        selection::{Selector, single_tag, terms_in_words},
    },
    facts::kubernetes::node_class::SelectorTerm,
    outcome::{Finding, Remedy},
    target::Tag,
};

/// What was to be selected.
pub struct Missed {
    /// `subnet` or `security group`.
    pub what: &'static str,
    pub terms: for<'a> fn(&Class<'a>) -> &'a [SelectorTerm],
    /// The field of the NodeClass.
    pub field: &'static str,
    /// The API that shows nothing.
    pub api: &'static str,
}

impl Missed {
    /// The tag that would make something selected: of a NodeClass, that of its first term which
    /// is one tag and nothing else.
    pub fn tag(&self, selector: &Selector<'_>) -> Option<Tag> {
        match selector {
            Selector::Tag(tag) => Some((*tag).clone()),
            Selector::Class(class) => (self.terms)(class).iter().find_map(single_tag),
        }
    }

    /// Tags that come close to those asked for.
    pub fn near_misses<'t>(
        &self,
        selector: &Selector<'_>,
        all: impl Iterator<Item = Tagged<'t>>,
    ) -> NearMisses {
        self.tag(selector).map_or_else(NearMisses::default, |tag| near_misses(&tag, all))
    }

    /// That nothing is selected, without the error and the remedy.
    pub fn finding(
        &self,
        cx: &Context<'_>,
        selector: &Selector<'_>,
        near: &NearMisses,
        more: &str,
    ) -> Finding {
        let Self { what, field, api, .. } = self;
        let (mut seen, effect, path) = match selector {
            Selector::Tag(tag) => (
                format!("No {what} in {} has the tag {tag}.", cx.region()),
                format!(
                    "An EC2NodeClass that selects its {what}s by this tag never becomes ready, and \
                     Karpenter launches nothing for it."
                ),
                format!("with tag {tag}"),
            ),
            Selector::Class(class) => {
                let terms = terms_in_words((self.terms)(class));
                (
                    format!("{class} selects no {what} in {}: it asks for {terms}.", cx.region()),
                    format!(
                        "{class} never becomes ready, and {} launches nothing for it.",
                        class.launcher()
                    ),
                    format!("of {field} of {class}"),
                )
            }
        };
        for words in &near.words {
            seen += &format!(" In the cluster's VPC, {words}.");
        }
        seen += more;
        Finding::fail(seen, effect).evidence(*api, path, "[]")
    }

    /// The remedy where no one tag would do.
    pub fn other_terms(&self, cx: &Context<'_>, selector: &Selector<'_>) -> Remedy {
        let Self { what, field, api, .. } = self;
        let remedy = Remedy::new(format!(
            "Compare the terms with the {what}s of the cluster's VPC, and correct {field}: ids and \
             names must be those of this account and region, and all the tags of one term must be \
             on the same {what}."
        ));
        let vpc = cx.facts.cluster.value().and_then(|cluster| cluster.network.vpc_id.as_deref());
        let operation = match api.rsplit(':').next() {
            Some("DescribeSubnets") => "describe-subnets",
            _ => "describe-security-groups",
        };
        let remedy = remedy.run(format!(
            "aws ec2 {operation} --region {} --filters Name=vpc-id,Values={}",
            quote(cx.region()),
            quote(vpc.unwrap_or("VPC_ID"))
        ));
        match selector {
            Selector::Class(class) => remedy.run(class.edit()),
            Selector::Tag(_) => remedy,
        }
    }
}
