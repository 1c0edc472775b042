//! Who asks (STS).

use super::{Aws, expect};
use crate::facts::{Fact, account::Caller};

impl Aws {
    pub async fn caller(&self) -> Fact<Caller> {
        const ACTION: &str = "sts:GetCallerIdentity";
        let answer = self.ask.ask(ACTION, &[], self.sts.get_caller_identity().send()).await;
        answer.and_then(|identity| {
            let caller = identity.arn.zip(identity.account);
            expect(ACTION, "caller", caller.map(|(arn, account)| Caller { arn, account }))
        })
    }
}
