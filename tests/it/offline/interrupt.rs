//! Ctrl-C while AWS does not answer.

use std::{
    io::Read,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use crate::{
    cli::Tool,
    emulator::Account,
    proxy::{At, Fault, Plan, Proxy},
};

#[test]
fn ctrl_c_ends_a_run_that_hangs() {
    let plan = Plan { fault: Some((At::All, Fault::TimeOut)), ..Plan::default() };
    let proxy = Proxy::start(plan);
    let (mut child, _home) = Tool::new(["check", "--cluster", "demo"])
        .aws(&Account::empty("us-west-2"), &proxy.endpoint)
        .spawn();
    let patience = Instant::now();
    while proxy.log().is_empty() {
        assert!(patience.elapsed() < Duration::from_secs(30), "it never asked anything");
        thread::sleep(Duration::from_millis(10));
    }
    let since = Instant::now();
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{stderr}");
    assert_eq!(stderr, "error: interrupted\n");
    assert!(since.elapsed() < Duration::from_secs(3), "{:?}", since.elapsed());
}
