//! EKS Auto Mode itself: its switches, and the add-ons beside it.

pub mod addons;
pub mod settings;
