//! What decides whether an instance is launched.

pub mod spot_service_linked_role;
