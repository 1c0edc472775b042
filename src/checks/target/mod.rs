//! Whether what is judged is what is there.

pub mod contradiction;
