//! What a controller without credentials comes to.

use crate::outcome::{Finding, FindingStatus};

/// What the EKS webhook sets in the pods of an associated service account.
pub const CREDENTIALS_URI: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";

/// That a controller ends at its start for want of credentials.
pub fn no_credentials(status: FindingStatus, seen: String) -> Finding {
    let effect = "The controller gets no credentials: it ends at its first call to EC2, and is \
                  started again without end.";
    match status {
        FindingStatus::Warn => Finding::warn(seen, effect),
        _ => Finding::fail(seen, effect),
    }
}
