//! What decides whether an instance is launched.

pub mod proved;
pub mod spot_service_linked_role;
