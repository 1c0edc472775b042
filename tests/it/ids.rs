//! Ids of checks and errors are never reused: searches, waivers and links rest on them.

use std::collections::{BTreeMap, BTreeSet};

use karpenter_preflight::{checks, errors};

#[test]
fn no_id_goes_or_comes_back_unseen() {
    let checks = checks::ALL.iter().map(|check| check.id.to_owned()).collect();
    let errors = errors::catalogue().iter().map(|error| error.id.clone()).collect();
    hold("checks", include_str!("../data/ids/checks.txt"), &checks);
    hold("errors", include_str!("../data/ids/errors.txt"), &errors);
}

fn hold(what: &str, list: &str, now: &BTreeSet<String>) {
    let listed: BTreeMap<&str, bool> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| match line.split_once(' ') {
            Some((id, "retired")) => (id, true),
            Some((id, mark)) => panic!("{what}: {id} has an odd mark, {mark}"),
            None => (line, false),
        })
        .collect();
    for (id, retired) in &listed {
        assert_eq!(now.contains(*id), !retired, "{what}: {id}; see tests/data/ids/{what}.txt");
    }
    for id in now {
        assert!(listed.contains_key(id.as_str()), "{what}: add {id} to tests/data/ids/{what}.txt");
    }
}
