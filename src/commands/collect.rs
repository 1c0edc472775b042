//! `collect`: save what `check` would read.

use super::{
    Failure, configuration, facts_file,
    places::{self, Place},
    read,
};
use crate::{cli::CollectArgs, outcome::ExitCode, target::redact};

pub fn run(args: &CollectArgs) -> Result<ExitCode, Failure> {
    let loaded = configuration::load(&args.config)?;
    let read_too =
        [("the configuration", &loaded.path), ("--kubeconfig", &args.aws.kube.kubeconfig)];
    let read_too = read_too.map(|(flag, path)| path.as_ref().map(|path| Place::new(flag, path)));
    places::check(
        &[Place::new("--out", &args.out)],
        &read_too.into_iter().flatten().collect::<Vec<_>>(),
    )?;
    let (aws, scope) = loaded.target(&args.aws, &args.scope)?;
    let mut saved = read::read(&aws, &scope)?;
    if args.redact {
        saved = redact::redact(&saved)
            .map_err(|error| Failure::Usage(format!("the facts cannot be redacted: {error}")))?;
    }
    facts_file::save(&saved, &args.out)?;
    Ok(ExitCode::Ok)
}
