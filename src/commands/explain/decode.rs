//! `--decode`: what AWS says in the encoded messages of denials.

use crate::{
    cli::AwsArgs,
    collect::{self, call_log::CallLog},
    commands::{
        Failure,
        read::{load_config, say_calls, until_interrupted},
    },
    errors::decoded,
    facts::Fact,
    report::explanation::{Decoding, Explanation},
};

/// Decodes every encoded message of the denials. One that cannot be decoded hides nothing else.
pub fn decode(explanation: &mut Explanation, aws: &AwsArgs) -> Result<(), Failure> {
    let denials = explanation.denials.iter();
    let messages: Vec<_> =
        denials.filter_map(|denial| denial.counted.what.encoded.as_deref()).collect();
    if messages.is_empty() {
        return Ok(());
    }
    let log = CallLog::default();
    let answers = until_interrupted(async {
        let config = load_config(aws).await?;
        Ok(collect::decode(&messages, &config, aws.timeout, &log).await)
    })?;
    if aws.verbose {
        say_calls(&log);
    }
    let encoded = explanation.denials.iter_mut();
    let encoded = encoded.filter(|denial| denial.counted.what.encoded.is_some());
    for (denial, answer) in encoded.zip(answers) {
        denial.decoded = Some(decoding(&answer));
    }
    Ok(())
}

fn decoding(answer: &Fact<String>) -> Decoding {
    match answer.known() {
        Ok(document) => match decoded::read(document) {
            Some(message) => Decoding::Message(message),
            None => Decoding::Failed("AWS's answer was not understood".to_owned()),
        },
        Err(unseen) => Decoding::Failed(unseen.to_string()),
    }
}
