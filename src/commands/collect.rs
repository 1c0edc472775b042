//! `collect`: save what `check` would read.

use super::{Failure, configuration, facts_file, read};
use crate::{cli::CollectArgs, outcome::ExitCode, target::redact};

pub fn run(args: &CollectArgs) -> Result<ExitCode, Failure> {
    facts_file::check_place(&args.out)?;
    let (aws, scope) = configuration::load(&args.config)?.target(&args.aws, &args.scope)?;
    let mut saved = read::read(&aws, &scope)?;
    if args.redact {
        saved = redact::redact(&saved)
            .map_err(|error| Failure::Usage(format!("the facts cannot be redacted: {error}")))?;
    }
    facts_file::save(&saved, &args.out)?;
    Ok(ExitCode::Ok)
}
