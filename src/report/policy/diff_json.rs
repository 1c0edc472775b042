//! What an upgrade changes, for programs.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    iam::Decision,
    report::json::write_value,
    requirements::{
        Feature, Request,
        diff::{Diff, Refusal, RequestChange},
        statement_diff::StatementChange,
    },
};

/// Writes the difference for programs.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Refused<'a> {
        request: &'a Request,
        decision: &'a Decision,
    }
    #[derive(Serialize)]
    struct Rule<'a> {
        id: &'a str,
        source: &'a str,
        detail_type: &'a str,
        when: &'a [Feature],
    }
    #[derive(Serialize)]
    struct Document<'a> {
        from: String,
        to: String,
        if_policy_stays: Vec<Refused<'a>>,
        if_policy_is_ahead: Vec<Refused<'a>>,
        statements: &'a [StatementChange],
        requests: &'a [RequestChange],
        new_rules: Vec<Rule<'a>>,
        kubernetes: [[String; 2]; 2],
    }
    fn refused(refusals: &[Refusal]) -> Vec<Refused<'_>> {
        refusals.iter().map(|r| Refused { request: &r.request, decision: &r.decision }).collect()
    }
    let document = Document {
        from: diff.from.to_string(),
        to: diff.to.to_string(),
        if_policy_stays: refused(&diff.if_policy_stays),
        if_policy_is_ahead: refused(&diff.if_policy_is_ahead),
        statements: &diff.statements,
        requests: &diff.requests,
        new_rules: diff
            .new_rules
            .iter()
            .map(|rule| Rule {
                id: &rule.id,
                source: &rule.source,
                detail_type: &rule.detail_type,
                when: &rule.when,
            })
            .collect(),
        kubernetes: diff.kubernetes.map(|range| [range.min.to_string(), range.max.to_string()]),
    };
    write_value(&document, out)
}
