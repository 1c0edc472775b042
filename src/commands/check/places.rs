//! What a run of `check` reads and writes.

use std::path::Path;

use super::super::{
    Failure, files, outputs,
    places::{self, Place},
};
use crate::{
    cli::{CheckArgs, Output},
    report::Format,
};

/// Finds out before any call is made whether everything can be written, and nothing is lost by it.
pub fn check(args: &CheckArgs, configuration: Option<&Path>) -> Result<(), Failure> {
    let mut written: Vec<_> = args.output.iter().map(outputs::place).collect();
    let fixes = [("--fix-script", &args.fix_script), ("--fix-terraform", &args.fix_terraform)];
    written.extend(fixes.into_iter().filter_map(place));
    let config = args.config.config.as_ref().map_or("the configuration", |_| "--config");
    let inputs = [("--facts", &args.facts), ("--kubeconfig", &args.aws.kube.kubeconfig)];
    let read: Vec<_> = inputs
        .into_iter()
        .filter_map(place)
        .chain(configuration.map(|path| Place::new(config, path)))
        .collect();
    places::check(&written, &read)?;
    // Only a report that can be the next baseline may take its place.
    let others = args.output.iter().filter(|output| output.format != Format::Json);
    let others = others.map(outputs::place).chain(fixes.into_iter().filter_map(place));
    let baseline = args.baseline.iter().map(|path| Place::new("--baseline", path));
    places::check(&others.collect::<Vec<_>>(), &baseline.collect::<Vec<_>>())
}

fn place<P: AsRef<Path>>((flag, path): (&str, &Option<P>)) -> Option<Place> {
    path.as_ref().map(|path| Place::new(flag, path.as_ref()))
}

/// Whether an output is the next run's baseline: it takes the place of the one that is read.
pub fn is_next_baseline(output: &Output, baseline: Option<&Path>) -> bool {
    let (Some(file), Some(baseline)) = (&output.file, baseline) else { return false };
    output.format == Format::Json && files::resolved(file) == files::resolved(baseline)
}
