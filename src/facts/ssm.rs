//! Public image parameters (SSM).

use serde::{Deserialize, Serialize};

/// The value of a public parameter that names an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageParameter {
    pub image_id: String,
}
