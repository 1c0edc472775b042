//! What a package of the program carries beside it.

use std::fs;

use crate::cli::Tool;

#[test]
fn completions_of_every_shell_know_the_subcommands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = Tool::new(["completions", shell]).run();
        assert_eq!(ran.code, 0, "{shell}: {}", ran.stderr);
        for word in ["check", "explain", "policy", "--karpenter-version"] {
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(ran.stdout.contains(word), "{shell} lacks {word}");
        }
    }
}

#[test]
fn the_version_says_what_the_program_knows() {
    let ran = Tool::new(["--version"]).run();
    let (name, rest) = ran.stdout.split_once(' ').unwrap();
    assert_eq!(name, "karpenter-preflight");
    assert!(rest.contains("knows Karpenter 0.32 to 1."), "{rest}");
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let ran = Tool::new(["generate", "man-pages", "--out", out]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for page in ["karpenter-preflight.1", "karpenter-preflight-check.1"] {
        let text = fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(text.contains(".SH OPTIONS"), "{page}");
    }
    let missing = folder.path().join("no/such");
    let ran = Tool::new(["generate", "man-pages", "--out", missing.to_str().unwrap()]).run();
    assert_eq!(ran.code, 4);
    assert!(ran.stderr.contains("could not write manual pages"), "{}", ran.stderr);
}
