//! Parameters that name images (SSM).

use serde::{Deserialize, Serialize};

/// The value of a parameter that names an image: a public one, or one of the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageParameter {
    pub image_id: String,
}
