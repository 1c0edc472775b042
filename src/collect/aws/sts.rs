//! Who asks, and what an encoded denial says (STS).

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

    /// The JSON document in the encoded message of a denial.
    pub async fn authorization_message(&self, encoded: &str) -> Fact<String> {
        const ACTION: &str = "sts:DecodeAuthorizationMessage";
        let asking = self.sts.decode_authorization_message().encoded_message(encoded);
        let answer = self.ask.ask(ACTION, &[], asking.send()).await;
        answer.and_then(|decoded| expect(ACTION, "message", decoded.decoded_message))
    }
}
