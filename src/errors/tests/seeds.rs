//! With `PREFLIGHT_SEEDS` naming a folder of articles, every error block of each language
//! is taken from them and must show its entry. Without it there is nothing to test here; the
//! same blocks are among the samples.

use std::{env, fs, path::PathBuf};

use super::{all, explained, first};

/// What the error blocks of the scaling article show, in its order.
const ARTICLE: [&str; 15] = [
    "controller-unschedulable",
    "volume-attach-failed",
    "volume-mount-failed",
    "in-tree-storage-plugin",
    "oom-killed",
    "windows-image-mismatch",
    "nodes-not-ready",
    "affinity-or-spread-unsatisfied",
    "insufficient-resources",
    "taint-not-tolerated",
    "node-affinity-unsatisfied",
    "insufficient-free-addresses",
    "incompatible-label-unknown",
    "incompatible-zone",
    "incompatible-requirement",
];

/// The sections of the notes: what their titles begin with, and what they show.
const NOTES: [(&str, &str); 7] = [
    ("EKS Auto Mode で NodeClaim が", "launch-template-configs"),
    ("EKS Auto Mode で NodeClass が", "instance-profile-creation-failed"),
    ("Karpenter Controller を Fargate で動かしているけど NodeClaim が", "not-a-valid-tag-key"),
    ("Karpenter Controller を Fargate で動かしているけど Pod が", "ec2-metadata-request-error"),
    ("Karpenter Controller の Pod が起動しない", "non-existent-queue"),
    ("Karpenter で起動した node がクラスターに登録されずに落ちる", "kubelet-unauthorized"),
    ("Karpenter で作成される Node を削除するときの finalizer 処理", "node-termination-flow"),
];

fn seeds() -> Vec<(PathBuf, String)> {
    let Some(folder) = env::var_os("PREFLIGHT_SEEDS") else { return Vec::new() };
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect()
}

#[test]
fn every_error_block_of_every_language_is_known() {
    let mut languages = 0;
    for (path, text) in seeds() {
        if text.contains(NOTES[0].0) {
            continue;
        }
        let blocks: Vec<&str> =
            text.lines().map(str::trim).filter(|line| line.starts_with(['"', '«'])).collect();
        let found: Vec<String> = blocks.iter().map(first).collect();
        assert_eq!(found, ARTICLE, "{}", path.display());
        languages += 1;
    }
    assert!(languages == 0 || languages == 3);
}

#[test]
fn every_section_of_the_notes_is_known() {
    for (_, text) in seeds().into_iter().filter(|(_, text)| text.contains(NOTES[0].0)) {
        let starts: Vec<usize> =
            NOTES.iter().map(|(title, _)| text.find(&format!("\n{title}")).unwrap()).collect();
        for (index, (title, id)) in NOTES.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(text.len());
            assert_eq!(first(&text[starts[index]..end]), *id, "{title}");
        }
        let explanation = explained(&text);
        for (_, id) in NOTES {
            assert!(all(&explanation).contains(&id), "{id}");
        }
    }
}

#[test]
fn every_error_line_of_the_notes_is_known() {
    let marks = [
        "panic:",
        "creating instance,",
        "Sep 24 ",
        "Message:               Error",
        "Message:               Node",
    ];
    for (_, text) in seeds().into_iter().filter(|(_, text)| text.contains(NOTES[0].0)) {
        let lines: Vec<_> = text
            .lines()
            .map(str::trim)
            .filter(|line| marks.iter().any(|mark| line.starts_with(mark)))
            .collect();
        let found: Vec<String> = lines.iter().map(first).collect();
        assert_eq!(
            found,
            [
                "launch-template-configs",
                "node-not-registered",
                "not-a-valid-tag-key",
                "ec2-metadata-request-error",
                "non-existent-queue",
                "node-not-registered",
                "kubelet-unauthorized",
            ]
        );
    }
}
