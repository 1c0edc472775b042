//! The aliases of AMI selectors, and the public parameters that they stand for
//! (`pkg/providers/amifamily/{al2,al2023,bottlerocket,windows}.go` at v1.14.1).

use crate::facts::kubernetes::node_class::NodeClass;

/// The version that means the newest.
const LATEST: &str = "latest";

/// An alias such as `al2023@latest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias<'a> {
    pub family: Family,
    /// `latest`, or a release of the family.
    pub version: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Al2,
    Al2023,
    Bottlerocket,
    /// The year of the Windows Server.
    Windows(&'static str),
}

/// A public parameter that holds an image of the alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// As the image itself names it: `x86_64` or `arm64`.
    pub architecture: &'static str,
    /// For instances without an accelerator.
    pub standard: bool,
}

impl<'a> Alias<'a> {
    /// The alias of a NodeClass. Before v1 there are none: an `amiFamily` without a selector means
    /// the newest.
    pub fn of(class: &'a NodeClass) -> Option<Self> {
        if let Some(alias) = class.ami_terms.iter().find_map(|term| term.alias.as_deref()) {
            return Self::parse(alias);
        }
        let family = class.ami_family.as_deref().filter(|_| class.ami_terms.is_empty())?;
        Some(Self { family: Family::parse(&family.to_ascii_lowercase())?, version: LATEST })
    }

    pub fn parse(text: &'a str) -> Option<Self> {
        let (family, version) = text.split_once('@')?;
        Some(Self { family: Family::parse(family)?, version })
    }

    /// The parameters that Karpenter looks it up in, for a Kubernetes version such as `1.35`.
    pub fn parameters(&self, kubernetes: &str) -> Vec<Parameter> {
        let parameter =
            |name: String, architecture, standard| Parameter { name, architecture, standard };
        let eks = format!("/aws/service/eks/optimized-ami/{kubernetes}");
        match self.family {
            Family::Al2 => [
                ("", "amazon-eks-node", "x86_64", true),
                ("-arm64", "amazon-eks-arm64-node", "arm64", true),
                ("-gpu", "amazon-eks-gpu-node", "x86_64", false),
            ]
            .map(|(kind, image, architecture, standard)| {
                let release = self.release(|version| format!("{image}-{kubernetes}-{version}"));
                let name = format!("{eks}/amazon-linux-2{kind}/{release}/image_id");
                parameter(name, architecture, standard)
            })
            .into(),
            Family::Al2023 => [
                ("x86_64", "standard"),
                ("x86_64", "nvidia"),
                ("x86_64", "neuron"),
                ("arm64", "standard"),
                ("arm64", "nvidia"),
            ]
            .map(|(architecture, variant)| {
                let release = self.release(|version| {
                    format!(
                        "amazon-eks-node-al2023-{architecture}-{variant}-{kubernetes}-{version}"
                    )
                });
                let name =
                    format!("{eks}/amazon-linux-2023/{architecture}/{variant}/{release}/image_id");
                parameter(name, architecture, variant == "standard")
            })
            .into(),
            Family::Bottlerocket => {
                let version = self.version.trim_start_matches('v');
                [("", "x86_64"), ("", "arm64"), ("-nvidia", "x86_64"), ("-nvidia", "arm64")]
                    .map(|(variant, architecture)| {
                        let name = format!(
                            "/aws/service/bottlerocket/aws-k8s-{kubernetes}{variant}/{architecture}/\
                             {version}/image_id"
                        );
                        parameter(name, architecture, variant.is_empty())
                    })
                    .into()
            }
            Family::Windows(year) => {
                let name = format!(
                    "/aws/service/ami-windows-latest/Windows_Server-{year}-English-Core-\
                     EKS_Optimized-{kubernetes}/image_id"
                );
                vec![parameter(name, "x86_64", true)]
            }
        }
    }

    fn release(&self, pinned: impl FnOnce(&str) -> String) -> String {
        match self.version {
            LATEST => "recommended".to_owned(),
            version => pinned(version),
        }
    }
}

impl Family {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "al2" => Self::Al2,
            "al2023" => Self::Al2023,
            "bottlerocket" => Self::Bottlerocket,
            "windows2019" => Self::Windows("2019"),
            "windows2022" => Self::Windows("2022"),
            "windows2025" => Self::Windows("2025"),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_of_karpenter() {
        for (alias, first) in [
            (
                "al2023@latest",
                "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/recommended/image_id",
            ),
            (
                "al2023@v20261015",
                "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.35-v20261015/image_id",
            ),
            (
                "al2@latest",
                "/aws/service/eks/optimized-ami/1.35/amazon-linux-2/recommended/image_id",
            ),
            (
                "bottlerocket@v1.20.3",
                "/aws/service/bottlerocket/aws-k8s-1.35/x86_64/1.20.3/image_id",
            ),
            (
                "windows2022@latest",
                "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.35/image_id",
            ),
        ] {
            let parameters = Alias::parse(alias).unwrap().parameters("1.35");
            assert_eq!(parameters[0].name, first, "{alias}");
            assert!(parameters[0].standard);
        }
    }

    #[test]
    fn before_v1_the_family_alone_is_an_alias() {
        let class = |family: &str| NodeClass {
            ami_family: Some(family.to_owned()),
            ..NodeClass::default()
        };
        let bottlerocket = class("Bottlerocket");
        let alias = Alias { family: Family::Bottlerocket, version: "latest" };
        assert_eq!(Alias::of(&bottlerocket), Some(alias));
        assert_eq!(Alias::of(&class("Custom")), None);
    }
}
