//! `--prove`: credentials of the controller's role, and dry runs of its launches with them.

use aws_config::SdkConfig;
use aws_sdk_sts::config::{Credentials, SharedCredentialsProvider};
use futures_util::future::join_all;

use super::{
    aws::{Aws, dry_run::DryRuns},
    call_log::CallLog,
    kubernetes::{Reach, service_account},
};
use crate::facts::{
    Fact,
    proof::{Proof, Question, Session, Way},
};

/// What is needed to ask.
pub struct Prover<'a> {
    pub config: &'a SdkConfig,
    pub aws: &'a Aws,
    pub reach: &'a Reach,
    pub log: &'a CallLog,
    pub cluster: &'a str,
    pub region: &'a str,
}

impl Prover<'_> {
    pub async fn prove(&self, questions: Vec<Question>) -> Vec<Proof> {
        join_all(questions.into_iter().map(|question| self.role(question))).await
    }

    async fn role(&self, question: Question) -> Proof {
        let Question { role, mut launches, .. } = question.clone();
        let (session, config) = match self.session(&question).await {
            Fact::Known((session, config)) => (session, config),
            unseen => {
                let session = unseen.and_then(|_| Fact::Absent);
                return Proof { role, session, launches: Vec::new() };
            }
        };
        let dry_runs = DryRuns::new(&config, self.reach.asker().clone(), self.log);
        for launch in &mut launches {
            launch.answers = dry_runs.of(launch).await;
        }
        Proof { role, session: Fact::Known(session), launches }
    }

    /// The configuration with the role's credentials.
    async fn session(&self, question: &Question) -> Fact<(Session, SdkConfig)> {
        let (session, credentials) = match &question.way {
            Way::Own => return Fact::Known((Session::Own, self.config.clone())),
            Way::WebIdentity { namespace, service_account, audience } => {
                let token = self.token(namespace, service_account, audience).await;
                let credentials = match token {
                    Fact::Known(token) => self.aws.web_identity(&question.arn, &token).await,
                    unseen => unseen.and_then(|_| Fact::Absent),
                };
                (Session::WebIdentity, credentials)
            }
            Way::AssumeRole => (Session::AssumeRole, self.aws.assume_role(&question.arn).await),
        };
        credentials.map(|credentials| (session, self.with(credentials)))
    }

    fn with(&self, credentials: Credentials) -> SdkConfig {
        let builder = self.config.clone().into_builder();
        builder.credentials_provider(SharedCredentialsProvider::new(credentials)).build()
    }

    async fn token(
        &self,
        namespace: &str,
        name: &str,
        audience: &str,
    ) -> Fact<service_account::Token> {
        let described = self.aws.cluster(self.cluster).await;
        match self.reach.server(&described, self.region).await {
            Fact::Known((server, _)) => {
                service_account::token(&server, namespace, name, audience).await
            }
            unseen => unseen.and_then(|_| Fact::Absent),
        }
    }
}
