//! What the account may have at once.

pub mod instance_profiles;
pub mod launch_templates;
pub mod on_demand;
pub mod spot;
mod vcpus;

use super::Context;

/// Whether less is left than the user wants, or than a tenth.
fn is_short(cx: &Context<'_>, used: u64, quota: u64) -> bool {
    match cx.target.thresholds.quota_headroom {
        Some(share) => quota.saturating_sub(used) * 100 < quota * u64::from(share),
        None => used * 10 >= quota * 9,
    }
}
