//! How to come from a file that cannot be judged to one that can.

use serde_json::Value;

/// How Terraform's plans and states become readable.
const SHOW: &str = "give what `terraform show -json` prints of it (`tofu show -json` for OpenTofu)";

/// The text of a file: UTF-8, or UTF-16 with a byte order mark, as PowerShell writes it.
pub fn text(bytes: Vec<u8>) -> Result<String, String> {
    let units = |two: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes[2..].chunks_exact(2).map(|pair| two([pair[0], pair[1]])).collect()
    };
    let wide = match bytes.get(..2) {
        Some([0xff, 0xfe]) => Some(units(u16::from_le_bytes)),
        Some([0xfe, 0xff]) => Some(units(u16::from_be_bytes)),
        _ => None,
    };
    let read = match wide {
        Some(units) => String::from_utf16(&units).ok(),
        None if bytes.starts_with(b"PK\x03\x04") => {
            return Err(format!("it is a saved plan, or another archive: {SHOW}"));
        }
        None => String::from_utf8(bytes).ok(),
    };
    read.ok_or_else(|| "it is no text, neither UTF-8 nor UTF-16".to_owned())
}

/// What is wrong with a text that is no JSON.
pub fn not_json(text: &str, error: &serde_json::Error) -> String {
    let has_line = |beginning: &str| {
        text.lines().any(|line| line.trim_start_matches(['-', ' ']).starts_with(beginning))
    };
    if text.is_empty() {
        return "it is empty".to_owned();
    }
    if text.starts_with(['{', '[']) {
        let several = serde_json::Deserializer::from_str(text).into_iter::<Value>().take(2);
        return match several.filter_map(Result::ok).count() {
            2 if text.contains("\"@level\"") => {
                format!("it is the log of a run of Terraform. Save the plan with -out, and {SHOW}")
            }
            2 => "it holds one JSON value after another: give each a file of its own".to_owned(),
            _ => format!("it is not JSON ({error})"),
        };
    }
    if ["Resources:", "AWSTemplateFormatVersion:"].into_iter().any(has_line) {
        return template();
    }
    if has_line("Statement:") {
        return "it is YAML: turn it into JSON, as IAM wants it (`yq -o json`)".to_owned();
    }
    if ["resource \"", "data \"", "module \""].into_iter().any(has_line) {
        return "it is Terraform's configuration. Plan it with -out, and give what `terraform show \
                -json` prints of the plan"
            .to_owned();
    }
    format!("it is not JSON ({error}); of Terraform, give what `terraform show -json` prints")
}

/// What to give in the place of JSON that holds no policy.
pub fn no_policy(value: &Value) -> String {
    let has = |field: &str| value.get(field).is_some();
    if has("AWSTemplateFormatVersion") || has("Resources") {
        return template();
    }
    if has("terraform_version") && has("lineage") {
        return format!("it is a state as Terraform stores it: {SHOW}");
    }
    if has("@level") {
        return format!("it is the log of a run of Terraform. Save the plan with -out, and {SHOW}");
    }
    if value.get(0).is_some_and(|first| first.get("Effect").is_some()) || has("Effect") {
        return "it holds statements without the document around them: \
                {\"Version\": \"2012-10-17\", \"Statement\": ...}"
            .to_owned();
    }
    "it is neither a policy document (with `Statement`), nor what `terraform show -json` or `aws iam \
     get-account-authorization-details` prints"
        .to_owned()
}

fn template() -> String {
    "it is a CloudFormation template, and what its functions come to is known once it is deployed. \
     Copy a policy's document, as JSON, into a file of its own, with the names filled in; or give \
     what `aws iam get-account-authorization-details` prints after the deployment"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_encoding() {
        let wide = |mark: [u8; 2], two: fn(u16) -> [u8; 2]| {
            let units = "{\"é\": 1}".encode_utf16().flat_map(two);
            mark.into_iter().chain(units).collect::<Vec<u8>>()
        };
        for (bytes, wanted) in [
            ("{\"é\": 1}".as_bytes().to_vec(), Ok("{\"é\": 1}")),
            (wide([0xff, 0xfe], u16::to_le_bytes), Ok("{\"é\": 1}")),
            (wide([0xfe, 0xff], u16::to_be_bytes), Ok("{\"é\": 1}")),
            (Vec::new(), Ok("")),
            (vec![b'{', 0xff], Err("no text")),
            (b"PK\x03\x04\xff".to_vec(), Err("`terraform show -json`")),
        ] {
            match (text(bytes), wanted) {
                (Ok(text), Ok(wanted)) => assert_eq!(text, wanted),
                (Err(error), Err(wanted)) => assert!(error.contains(wanted), "{error}"),
                (found, wanted) => panic!("{found:?} for {wanted:?}"),
            }
        }
    }
}
