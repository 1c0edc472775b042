//! Public image parameters (SSM).

use std::collections::BTreeMap;

use super::Aws;
use crate::facts::{Fact, ssm::ImageParameter};

impl Aws {
    /// Public parameters by name, all in one call.
    pub async fn image_parameters(
        &self,
        names: &[String],
    ) -> BTreeMap<String, Fact<ImageParameter>> {
        let call = self.ssm.get_parameters().set_names(Some(names.to_vec())).send();
        let answer = self.ask.ask("ssm:GetParameters", &[], call).await.map(|answer| {
            let found = answer.parameters.unwrap_or_default().into_iter();
            let values: BTreeMap<String, String> =
                found.filter_map(|parameter| parameter.name.zip(parameter.value)).collect();
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
