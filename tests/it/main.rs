//! The tool as its users run it: the built binary against the emulated account over HTTP, with
//! and without faults on the way, and against facts files.
// A test that cannot go on has nothing better to do than to panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod broken_accounts;
mod cases;
mod cli;
mod cluster;
mod configuration;
mod docs;
mod emulator;
mod explain;
mod faults;
mod formats;
mod ids;
mod latency;
mod list;
mod node_classes;
mod offline;
mod online;
mod operations;
mod organization;
mod packaging;
mod policy;
mod prove;
mod proxy;
mod remedies;
mod report;
mod terraform;
mod uses;
