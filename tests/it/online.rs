use crate::{cli::Tool, emulator::Account, proxy::{Plan, Proxy}};
#[test]
fn smoke() {
    for (seeds, region) in [(&["getting-started"][..], "us-west-2"), (&["auto-mode"], "us-west-2")] {
        let account = Account::seeded(seeds, region);
        let proxy = Proxy::start(Plan::default());
        let ran = Tool::check(&account).env("AWS_ENDPOINT_URL", &proxy.endpoint).args(["--output", "json", "--verbose"]).run();
        eprintln!("{} {}", ran.stderr, ran.stdout);
        eprintln!("{}", ran.report().table());
        for l in proxy.log() { eprintln!("{} {} {:?} {:?}", l.operation, l.region, l.from, l.to); }
    }
}
