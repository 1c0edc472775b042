//! `policy`: what Karpenter must be allowed, printed, tested and compared, without AWS.

mod diff;
mod facts;
mod infer;
mod input;
mod managed;
mod names;
mod organization;
mod print;
mod simulate;
mod subject;
mod test;

use super::{Failure, console};
use crate::{
    cli::policy::{PolicyArgs, PolicyWhat},
    outcome::ExitCode,
    requirements::KarpenterVersion,
};

pub fn run(args: &PolicyArgs) -> Result<ExitCode, Failure> {
    match &args.what {
        PolicyWhat::Print(args) => print::run(args),
        PolicyWhat::Test(args) => test::run(args),
        PolicyWhat::Diff(args) => diff::run(args),
        PolicyWhat::Simulate => simulate::run(),
    }
}

/// Says that a version is judged by an older one.
fn notice_of_version(version: KarpenterVersion) {
    if version.is_newer_than_known() {
        console::note(format_args!(
            "note: Karpenter {version} is newer than this build knows: it is taken to ask for what \
             {} asks for",
            KarpenterVersion::NEWEST
        ));
    }
}
