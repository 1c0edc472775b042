//! The configuration of a run, and the clusters that it names.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::Failure;
use crate::{
    cli::{AwsArgs, ConfigArgs, ScopeArgs},
    config::{self, Cluster, Config, ConfigError},
};

/// A configuration and where it was found; an empty one where there is none.
#[derive(Debug, Default)]
pub struct Loaded {
    pub config: Config,
    pub path: Option<PathBuf>,
}

/// How to reach a cluster, and what is known of it.
pub type Target = (AwsArgs, ScopeArgs);

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// Reads the file that was named, or the one that is found.
pub fn load(args: &ConfigArgs) -> Result<Loaded, Failure> {
    let path = if args.no_config { None } else { args.config.clone().or_else(found) };
    let config = path.as_deref().map(config::read).transpose()?.unwrap_or_default();
    Ok(Loaded { config, path })
}

/// The file in the working directory or the nearest one above it.
pub fn found() -> Option<PathBuf> {
    let folder = env::current_dir().ok()?;
    let path = config::find(&folder)?;
    // Shorter to read where it is here.
    Some(path.strip_prefix(&folder).map(Path::to_path_buf).unwrap_or(path))
}

impl Loaded {
    /// The one cluster to judge, as flags and configuration say.
    pub fn target(&self, aws: &AwsArgs, scope: &ScopeArgs) -> Result<Target, Failure> {
        let clusters: Vec<_> = self.clusters().collect();
        let named: Vec<_> = match &scope.cluster {
            Some(name) => clusters.iter().filter(|c| fits(c, name, aws)).collect(),
            None => clusters.iter().collect(),
        };
        let cluster = match named.as_slice() {
            [] => &self.config.target,
            [one] => *one,
            several => {
                let names: Vec<_> = several.iter().map(|cluster| described(cluster)).collect();
                return Err(Failure::Usage(format!(
                    "the configuration names {}: say which with --cluster and --region, or \
                     judge them with --all-clusters",
                    names.join(", ")
                )));
            }
        };
        Ok(self.merged(cluster, aws, scope))
    }

    /// Every cluster that the configuration names.
    pub fn targets(&self, aws: &AwsArgs, scope: &ScopeArgs) -> Result<Vec<Target>, Failure> {
        let targets: Vec<_> =
            self.clusters().map(|cluster| self.merged(&cluster, aws, scope)).collect();
        if targets.is_empty() {
            let place = self.path.as_ref().map_or_else(
                || format!("there is no {}", config::FILE_NAME),
                |path| format!("{} has none", path.display()),
            );
            return Err(Failure::Usage(format!(
                "--all-clusters judges each [[cluster]] of the configuration, and {place}"
            )));
        }
        Ok(targets)
    }

    fn clusters(&self) -> impl Iterator<Item = Cluster> {
        self.config.cluster.iter().map(|cluster| cluster.as_ref().or(&self.config.target))
    }

    /// What the flags say, and what the configuration says beyond that.
    fn merged(&self, cluster: &Cluster, aws: &AwsArgs, scope: &ScopeArgs) -> Target {
        let mut aws = aws.clone();
        let mut scope = scope.clone();
        let mut configured = Vec::new();
        let mut fill = |name: &'static str, took: bool| {
            if took {
                configured.push(name.to_owned());
            }
        };
        fill("cluster", take(&mut scope.cluster, &cluster.name));
        fill("region", take(&mut aws.region, &cluster.region));
        fill("profile", take(&mut aws.profile, &cluster.profile));
        fill("assume_role", take(&mut aws.assume_role, &cluster.assume_role));
        fill("context", take(&mut aws.kube.context, &cluster.context));
        fill("karpenter_version", take(&mut scope.karpenter_version, &cluster.karpenter_version));
        fill("product", take(&mut scope.product, &cluster.product));
        fill("stage", take(&mut scope.stage, &cluster.stage));
        fill("namespace", take(&mut scope.namespace, &cluster.namespace));
        fill("service_account", take(&mut scope.service_account, &cluster.service_account));
        fill("controller_role", take(&mut scope.controller_role, &cluster.controller_role));
        fill(
            "interruption_queue",
            take(&mut scope.interruption_queue, &cluster.interruption_queue),
        );
        fill("discovery_tag", take(&mut scope.discovery_tag, &cluster.discovery_tag));
        if scope.node_roles.is_empty() {
            scope.node_roles.clone_from(&cluster.node_roles);
            fill("node_roles", !cluster.node_roles.is_empty());
        }
        scope.no_kube |= cluster.no_kube.unwrap_or_default();
        scope.configured = configured.into_iter().collect();
        scope.thresholds = self.config.thresholds;
        (aws, scope)
    }
}

/// Fills what no flag says.
fn take<T: Clone>(field: &mut Option<T>, configured: &Option<T>) -> bool {
    let took = field.is_none() && configured.is_some();
    if took {
        field.clone_from(configured);
    }
    took
}

fn fits(cluster: &Cluster, name: &str, aws: &AwsArgs) -> bool {
    let region = |wanted: &String| cluster.region.as_ref().is_none_or(|region| region == wanted);
    cluster.name.as_deref() == Some(name) && aws.region.as_ref().is_none_or(region)
}

fn described(cluster: &Cluster) -> String {
    let name = cluster.name.as_deref().unwrap_or_default();
    match &cluster.region {
        Some(region) => format!("{name} in {region}"),
        None => name.to_owned(),
    }
}
