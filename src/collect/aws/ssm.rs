//! Parameters that name images (SSM).

use std::collections::BTreeMap;

use futures_util::future::join_all;

use super::Aws;
use crate::facts::{Fact, ssm::ImageParameter};

/// How many parameters one call may name.
const AT_A_TIME: usize = 10;

impl Aws {
    /// Parameters by name, ten in one call.
    pub async fn image_parameters(
        &self,
        names: &[String],
    ) -> BTreeMap<String, Fact<ImageParameter>> {
        let calls = names.chunks(AT_A_TIME).map(|names| self.few_parameters(names));
        join_all(calls).await.into_iter().flatten().collect()
    }

    async fn few_parameters(&self, names: &[String]) -> Vec<(String, Fact<ImageParameter>)> {
        let call = self.ssm.get_parameters().set_names(Some(names.to_vec())).send();
        let answer = self.ask.ask("ssm:GetParameters", &[], call).await.map(|answer| {
            let mut values = BTreeMap::new();
            for parameter in answer.parameters.unwrap_or_default() {
                let Some(value) = parameter.value else { continue };
                // One that was asked for by its ARN is answered by its name.
                values.extend(parameter.arn.map(|arn| (arn, value.clone())));
                values.extend(parameter.name.map(|name| (name, value)));
            }
            (values, answer.invalid_parameters.unwrap_or_default())
        });
        names.iter().map(|name| (name.clone(), one(name, answer.clone()))).collect()
    }
}

/// A parameter is absent only if SSM names it as invalid.
fn one(name: &str, answer: Fact<(BTreeMap<String, String>, Vec<String>)>) -> Fact<ImageParameter> {
    answer.and_then(|(values, invalid)| match values.get(name) {
        Some(image) => Fact::Known(ImageParameter { image_id: image.clone() }),
        None if invalid.iter().any(|invalid| invalid == name) => Fact::Absent,
        None => Fact::Failed {
            action: "ssm:GetParameters".to_owned(),
            message: "the answer does not mention the parameter".to_owned(),
        },
    })
}
