//! The rules that feed a queue (EventBridge).

use futures_util::{StreamExt, stream};

use super::{Aws, owned};
use crate::facts::{Fact, events::Rule};

const NOT_FOUND: &[&str] = &["ResourceNotFoundException"];
const AT_A_TIME: usize = 8;

impl Aws {
    /// The rules of the default bus that target a queue. AWS's services publish only there.
    pub async fn rules_to(&self, queue_arn: &str) -> Fact<Vec<Fact<Rule>>> {
        let mut names = Vec::new();
        let mut next = None;
        loop {
            let call = self
                .events
                .list_rule_names_by_target()
                .target_arn(queue_arn)
                .set_next_token(next)
                .send();
            match self.ask.ask("events:ListRuleNamesByTarget", &[], call).await {
                Fact::Known(page) => {
                    names.extend(page.rule_names.unwrap_or_default());
                    next = page.next_token.filter(|token| !token.is_empty());
                }
                other => return other.map(|_| Vec::new()),
            }
            if next.is_none() {
                break;
            }
        }
        names.sort();
        let rules = stream::iter(names).map(|name| self.rule(name));
        Fact::Known(rules.buffered(AT_A_TIME).collect().await)
    }

    async fn rule(&self, name: String) -> Fact<Rule> {
        let call = self.events.describe_rule().name(&name).send();
        let answer = self.ask.ask("events:DescribeRule", NOT_FOUND, call).await;
        answer.map(|rule| Rule {
            name,
            state: owned(rule.state().map(|state| state.as_str())),
            pattern: rule.event_pattern,
        })
    }
}
