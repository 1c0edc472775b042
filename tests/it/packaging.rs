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

/// Ids and formats are no fixed words to the parser, which says itself what is wrong with one.
#[test]
fn completions_of_every_shell_offer_ids_formats_and_versions() {
    // The generators for elvish and PowerShell know no words of flags.
    for shell in ["bash", "fish", "zsh"] {
        let offers = Tool::new(["completions", shell]).run().stdout;
        let (check, error) = ("node-role-access-entry", "node-not-registered");
        for word in [check, error, "prometheus", "1.14.1", "interruption", "placement-groups"] {
            assert!(offers.contains(word), "{shell} lacks {word}");
        }
    }
}

#[test]
fn bash_completes_a_check_and_a_format() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("completions.bash");
    fs::write(&script, Tool::new(["completions", "bash"]).run().stdout).unwrap();
    for (words, expected) in [
        ("check --select queue-ex", "queue-exists"),
        ("check --output sar", "sarif"),
        ("explain node-not-reg", "node-not-registered"),
        ("waive subnets-zo", "subnets-zones"),
        ("policy diff --from 1.14", "1.14.1"),
        ("policy print contr", "controller"),
    ] {
        let run = format!(
            "source {}; COMP_WORDS=(karpenter-preflight {words}); COMP_CWORD={}; \
             _karpenter__preflight karpenter-preflight \"${{COMP_WORDS[-1]}}\" \
             \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[*]}}\"",
            script.display(),
            words.split(' ').count()
        );
        let ran = std::process::Command::new("bash").args(["-c", &run]).output().unwrap();
        let offered = String::from_utf8_lossy(&ran.stdout);
        assert!(offered.split_whitespace().any(|word| word == expected), "{words}: {ran:?}");
    }
}

/// PowerShell itself is not at hand: its strings and brackets are read as it reads them.
#[test]
fn the_script_for_powershell_is_whole() {
    let script = Tool::new(["completions", "powershell"]).run().stdout;
    assert!(
        script.contains("Register-ArgumentCompleter -Native -CommandName 'karpenter-preflight'")
    );
    for words in ["", ";check", ";explain", ";policy;print", ";waive", ";list;checks"] {
        let case = format!("'karpenter-preflight{words}' {{");
        assert!(script.contains(&case), "there is no case {case}");
    }
    let mut open = Vec::new();
    let mut in_string = false;
    for (place, char) in script.char_indices() {
        // PowerShell takes these for quotation marks too.
        assert!(!"\u{2018}\u{2019}\u{201a}\u{201b}".contains(char), "{char} at {place}");
        match char {
            // A doubled one stands for itself: it ends the string and begins it anew.
            '\'' => in_string = !in_string,
            '\n' => assert!(!in_string, "a string goes over its line at {place}"),
            '(' | '{' | '[' if !in_string => open.push(char),
            ')' | '}' | ']' if !in_string => {
                let expected =
                    ['(', '{', '['][[')', '}', ']'].iter().position(|c| *c == char).unwrap()];
                assert_eq!(open.pop(), Some(expected), "at {place}");
            }
            _ => {}
        }
    }
    assert!(!in_string && open.is_empty(), "{open:?} is not closed");
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
