//! Who asks, and what an encoded denial says (STS).

use aws_sdk_sts::{config::Credentials, types};

use super::{Aws, expect};
use crate::{
    collect::kubernetes::service_account::Token,
    facts::{Fact, account::Caller},
};

pub const WEB_IDENTITY: &str = "sts:AssumeRoleWithWebIdentity";
/// What CloudTrail names sessions of the controller's role that this tool makes.
const SESSION: &str = "karpenter-preflight-prove";
/// Seconds: the shortest that STS gives.
const LIFETIME: i32 = 900;

impl Aws {
    pub async fn caller(&self) -> Fact<Caller> {
        const ACTION: &str = "sts:GetCallerIdentity";
        let answer = self.ask.ask(ACTION, &[], self.sts.get_caller_identity().send()).await;
        answer.and_then(|identity| {
            let caller = identity.arn.zip(identity.account);
            expect(ACTION, "caller", caller.map(|(arn, account)| Caller { arn, account }))
        })
    }

    /// Credentials of a role, for a token of a service account.
    pub async fn web_identity(&self, role: &str, token: &Token) -> Fact<Credentials> {
        let call = self
            .sts
            .assume_role_with_web_identity()
            .role_arn(role)
            .role_session_name(SESSION)
            .duration_seconds(LIFETIME)
            .web_identity_token(token.reveal());
        let answer = self.ask.ask(WEB_IDENTITY, &[], call.send()).await;
        answer.and_then(|answer| {
            expect(WEB_IDENTITY, "credentials", answer.credentials.map(credentials))
        })
    }

    /// Credentials of a role that lets the caller assume it.
    pub async fn assume_role(&self, role: &str) -> Fact<Credentials> {
        const ACTION: &str = "sts:AssumeRole";
        let call = self
            .sts
            .assume_role()
            .role_arn(role)
            .role_session_name(SESSION)
            .duration_seconds(LIFETIME);
        let answer = self.ask.ask(ACTION, &[], call.send()).await;
        answer.and_then(|answer| expect(ACTION, "credentials", answer.credentials.map(credentials)))
    }

    /// The JSON document in the encoded message of a denial.
    pub async fn authorization_message(&self, encoded: &str) -> Fact<String> {
        const ACTION: &str = "sts:DecodeAuthorizationMessage";
        let asking = self.sts.decode_authorization_message().encoded_message(encoded);
        let answer = self.ask.ask(ACTION, &[], asking.send()).await;
        answer.and_then(|decoded| expect(ACTION, "message", decoded.decoded_message))
    }
}

fn credentials(given: types::Credentials) -> Credentials {
    Credentials::new(
        given.access_key_id,
        given.secret_access_key,
        Some(given.session_token),
        None,
        SESSION,
    )
}
