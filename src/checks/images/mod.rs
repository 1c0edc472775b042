//! Whether the images that nodes start from are there.

pub mod allowed;
pub mod ami_alias;
pub mod discovered;
