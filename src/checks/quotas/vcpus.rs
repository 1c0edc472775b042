//! How much of a vCPU quota is left.

use crate::{
    checks::{Context, Judged, Stop, Verdicts, remedies::quote},
    facts::limits::{QUOTA_FAMILIES, Quota, QuotaFamily, Running, STANDARD},
    outcome::{Finding, Remedy},
    target::Product,
};

pub const QUOTAS: &str = "servicequotas:ListServiceQuotas";
pub const RUNNING: &str = "ec2:DescribeInstances";

/// vCPUs of a `large` instance, the smallest that general-purpose families begin with.
const NODE: u64 = 2;
/// Room that a scale-up soon fills: eight such nodes.
const LITTLE: u64 = 8 * NODE;

/// Which of the two quotas of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    OnDemand,
    Spot,
}

impl Capacity {
    fn as_str(self) -> &'static str {
        match self {
            Self::OnDemand => "on-demand",
            Self::Spot => "spot",
        }
    }

    fn code(self, family: &QuotaFamily) -> &'static str {
        match self {
            Self::OnDemand => family.on_demand,
            Self::Spot => family.spot,
        }
    }
}

/// A quota, and what is used of it.
struct Use<'a> {
    family: &'a QuotaFamily,
    capacity: Capacity,
    quota: &'a Quota,
    used: u64,
    /// Share of the quota that the user wants left, in percent.
    headroom: Option<u8>,
}

impl<'a> Use<'a> {
    fn of(cx: &'a Context<'_>, family: &'a QuotaFamily, capacity: Capacity) -> Result<Self, Stop> {
        let code = capacity.code(family);
        let quota = cx.facts.limits.vcpu_quotas.known()?.get(code);
        let quota = quota.ok_or_else(|| Stop::unknown(format!("{QUOTAS} shows no {code}")))?;
        let running = cx.facts.limits.running.known()?;
        let used = running.iter().filter(|one| one.quota == code).map(|one| one.vcpus).sum();
        let headroom = cx.target.thresholds.quota_headroom;
        Ok(Self { family, capacity, quota, used, headroom })
    }

    fn left(&self) -> u64 {
        self.quota.value.saturating_sub(self.used)
    }

    /// Whether not even one node fits.
    fn is_full(&self) -> bool {
        self.left() < NODE
    }

    /// Whether less is left than the user wants; else whether a scale-up may well fill it: less
    /// than a fifth is left, or less than eight nodes.
    fn is_short(&self) -> bool {
        match self.headroom {
            Some(share) => self.left() * 100 < self.quota.value * u64::from(share),
            None => self.left() < LITTLE || self.left() * 5 < self.quota.value,
        }
    }

    fn seen(&self) -> String {
        let Self { used, .. } = self;
        format!(
            "Of the {} vCPUs that the account may run of {} {}, {used} are in use{}.",
            self.quota.value,
            self.family.types,
            self.capacity.as_str(),
            if self.quota.is_default { "; the quota was never raised" } else { "" }
        )
    }

    fn finding(&self, cx: &Context<'_>, finding: Finding) -> Finding {
        finding
            .evidence(QUOTAS, self.capacity.code(self.family), self.quota.value.to_string())
            .evidence(RUNNING, "vCPUs of running instances", self.used.to_string())
            .mend(self.mend(cx))
    }

    fn mend(&self, cx: &Context<'_>) -> Remedy {
        // A request for no more than there is is refused.
        let wanted = (self.quota.value.max(self.used) * 2).max(64);
        Remedy::new(
            "Ask for a larger quota; small steps are granted within minutes, large ones by people. \
             Until then, set limits.cpu of the NodePools below what is left, so that Karpenter does \
             not try in vain.",
        )
        .run(format!(
            "aws service-quotas request-service-quota-increase --region {} --service-code ec2 \
             --quota-code {} --desired-value {wanted}",
            quote(cx.region()),
            self.capacity.code(self.family)
        ))
    }
}

/// What follows when a quota is used up, and when little of it is left.
pub struct Effects<'a> {
    pub full: &'a dyn Fn(String) -> Finding,
    pub then: &'a str,
}

/// Judges the quota of one capacity for each family.
pub fn each(
    cx: &Context<'_>,
    capacity: Capacity,
    errors: &[&'static str],
    effects: &Effects<'_>,
) -> Verdicts {
    if is_launched(cx, capacity) == Some(false) {
        return Err(Stop::skipped(format!("no NodePool launches {}", capacity.as_str())));
    }
    let judge = |family: &QuotaFamily| {
        let of_quota = Use::of(cx, family, capacity)?;
        let seen = of_quota.seen();
        let finding = if of_quota.is_full() {
            (effects.full)(seen)
        } else if of_quota.is_short() {
            Finding::warn(seen, format!("{} are left. {}", of_quota.left(), effects.then))
        } else {
            return Ok(Finding::pass(seen));
        };
        Ok(of_quota.finding(cx, finding.errors(errors)))
    };
    let families = families(cx, &QUOTA_FAMILIES, capacity);
    Ok(families.into_iter().map(|one| Judged::new(one.types, || judge(one))).collect())
}

/// The families to judge: the standard one, and those that run already or that a NodePool asks
/// for by name.
fn families<'a>(
    cx: &Context<'_>,
    all: &[&'a QuotaFamily],
    capacity: Capacity,
) -> Vec<&'a QuotaFamily> {
    let running: &[Running] = cx.facts.limits.running.value().map_or(&[], Vec::as_slice);
    let in_use = |family: &QuotaFamily| {
        running.iter().any(|one| one.quota == capacity.code(family) && one.vcpus > 0)
    };
    let mut families = all.to_vec();
    families.retain(|family| **family == STANDARD || in_use(family) || is_asked_for(cx, family));
    families
}

const TYPE: &str = "node.kubernetes.io/instance-type";
const FAMILY_KEYS: [&str; 4] = [
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-category",
    "eks.amazonaws.com/instance-family",
    "eks.amazonaws.com/instance-category",
];

/// Whether a NodePool names instance types of the family.
fn is_asked_for(cx: &Context<'_>, family: &QuotaFamily) -> bool {
    let pools = cx.facts.kubernetes.node_pools.value().into_iter().flatten();
    let mut requirements = pools.flat_map(|pool| &pool.requirements);
    requirements.any(|one| {
        let by_type = one.key == TYPE || FAMILY_KEYS.contains(&one.key.as_str());
        by_type
            && one.operator == "In"
            && one.values.iter().any(|value| {
                crate::facts::limits::quota_family(value).is_some_and(|of| of == family)
            })
    })
}

/// Whether NodePools may launch this capacity: `None` where no NodePool says.
pub fn is_launched(cx: &Context<'_>, capacity: Capacity) -> Option<bool> {
    let pools = cx.facts.kubernetes.node_pools.value().filter(|pools| !pools.is_empty())?;
    let mut says = None;
    for pool in pools {
        let types = pool.requirements.iter().find(|one| one.key == "karpenter.sh/capacity-type");
        let Some(types) = types else { continue };
        let named = types.values.iter().any(|value| value == capacity.as_str());
        let may = match types.operator.as_str() {
            "In" => named,
            "NotIn" => !named,
            _ => continue,
        };
        says = Some(says.unwrap_or(false) || may);
    }
    let all_say = pools
        .iter()
        .all(|pool| pool.requirements.iter().any(|one| one.key == "karpenter.sh/capacity-type"));
    says.filter(|says| *says || all_say)
}

/// The products that a quota stops.
pub const PRODUCTS: &[Product] = &[Product::Karpenter, Product::AutoMode];
