//! What a command does to the account, read off its words.

/// What a command does, from the most harmless on. What is not known to be harmless counts as
/// [`Manner::Replace`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Manner {
    /// It only shows something, for a person to decide.
    Look,
    /// It wants a person at a terminal.
    Interactive,
    /// It creates something, and fails where that is there already.
    Create,
    /// It adds or sets something; run twice, it leaves what it left before.
    Change,
    /// What was there before is lost, or may be.
    Replace,
    /// It removes something, and fails where that is not there.
    Remove,
}

impl Manner {
    pub fn of(command: &str) -> Self {
        if !is_simple(command) {
            return of_several(command);
        }
        Self::of_words(&command.split_whitespace().collect::<Vec<_>>())
    }

    fn of_words(words: &[&str]) -> Self {
        match words {
            ["aws", _, verb, ..] => of_aws(verb),
            ["kubectl", rest @ ..] => of_kubectl(rest),
            ["helm", verb, ..] => of_helm(verb),
            ["eksctl", verb, ..] => of_eksctl(verb),
            ["karpenter-preflight", ..] => Self::Look,
            _ => Self::Replace,
        }
    }

    /// Whether a person must say yes first.
    pub fn needs_a_yes(self) -> bool {
        matches!(self, Self::Replace | Self::Remove)
    }

    /// Whether the script runs it at all.
    pub fn is_run(self) -> bool {
        !matches!(self, Self::Look | Self::Interactive)
    }
}

/// Whether this is one command: no pipe, loop or list, and no command within it.
pub(super) fn is_simple(command: &str) -> bool {
    is_command(command, false)
}

/// The same, but for commands whose output is one of its words: `"$(aws …)"`.
pub(super) fn is_one(command: &str) -> bool {
    is_command(command, true)
}

fn is_command(command: &str, may_hold_others: bool) -> bool {
    let mut quote = None;
    let mut before = ' ';
    for c in command.chars() {
        if before == '\\' && quote != Some('\'') {
            // Whatever it is, it stands for itself.
            before = ' ';
            continue;
        }
        match (quote, c) {
            (None, '|' | ';' | '&' | '\n' | '`') | (Some('"'), '`') => return false,
            (None | Some('"'), '(') if before == '$' && !may_hold_others => return false,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        before = c;
    }
    true
}

/// A pipe, loop or list shows something where each of its commands does no more; else it counts
/// as one that replaces. A command with others for its words does what the worst of them does.
fn of_several(command: &str) -> Manner {
    let parts = command.split(['|', ';', '&', '\n', '(', ')', '`']);
    match parts.filter_map(of_part).max() {
        Some(harmless) if !harmless.is_run() => harmless,
        Some(worst) if is_one(command) => worst,
        _ => Manner::Replace,
    }
}

/// What a part does that has a program of ours in it; words of the shell's own stand before it.
fn of_part(part: &str) -> Option<Manner> {
    let words: Vec<&str> = part.split_whitespace().collect();
    let at = words.iter().position(|word| !["do", "then", "if", "!"].contains(word))?;
    match words[at] {
        "for" | "done" | "fi" => None,
        "grep" | "head" | "jq" | "sort" | "tail" | "tr" | "uniq" | "wc" => None,
        "karpenter-preflight" => Some(Manner::Look),
        word if word.starts_with(['"', '\'', '-']) => None,
        _ => {
            let bare: Vec<_> =
                words[at..].iter().map(|word| word.trim_matches(['\'', '"'])).collect();
            Some(Manner::of_words(&bare))
        }
    }
}

fn of_aws(verb: &str) -> Manner {
    const LOOKS: &[&str] = &["describe-", "get-", "list-", "lookup-", "simulate-"];
    const REMOVALS: &[&str] = &[
        "cancel-",
        "delete-",
        "deregister-",
        "detach-",
        "disable-",
        "disassociate-",
        "release-",
        "remove-",
        "revoke-",
        "schedule-",
        "stop-",
        "terminate-",
        "unassign-",
        "untag-",
    ];
    /// They put a whole document or list in the place of another.
    const REPLACEMENTS: &[&str] =
        &["put-key-policy", "put-role-policy", "set-queue-attributes", "update-assume-role-policy"];
    const CHANGES: &[&str] = &[
        "add-",
        "associate-",
        "attach-",
        "authorize-",
        "create-policy-version",
        "create-tags",
        "enable-",
        "modify-",
        "put-",
        "set-",
        "tag-",
        "update-",
        "wait",
    ];
    /// A table is associated once: again is an error on AWS.
    const CREATIONS: &[&str] = &["associate-route-table", "create-", "request-"];
    /// Made anew each time, or as it was before.
    const CHANGED: &[&str] = &["create-policy-version", "create-tags"];
    let is = |all: &[&str]| all.iter().any(|start| verb.starts_with(start));
    match () {
        () if is(LOOKS) => Manner::Look,
        () if is(REMOVALS) => Manner::Remove,
        () if is(REPLACEMENTS) => Manner::Replace,
        () if is(CREATIONS) && !is(CHANGED) => Manner::Create,
        () if is(CHANGES) => Manner::Change,
        () => Manner::Replace,
    }
}

fn of_kubectl(words: &[&str]) -> Manner {
    let mut words = words.iter();
    let verb = loop {
        match words.next() {
            Some(&("-n" | "--namespace" | "--context")) => {
                words.next();
            }
            Some(option) if option.starts_with('-') => {}
            other => break other.copied().unwrap_or_default(),
        }
    };
    match verb {
        "get" | "describe" | "logs" | "top" | "auth" | "version" | "explain" => Manner::Look,
        "edit" | "exec" | "debug" => Manner::Interactive,
        "annotate" | "apply" | "label" | "patch" | "rollout" | "scale" | "set" => Manner::Change,
        "create" => Manner::Create,
        _ => Manner::Replace,
    }
}

fn of_helm(verb: &str) -> Manner {
    match verb {
        "get" | "history" | "list" | "show" | "status" => Manner::Look,
        "install" | "upgrade" => Manner::Change,
        _ => Manner::Replace,
    }
}

fn of_eksctl(verb: &str) -> Manner {
    match verb {
        "get" | "info" => Manner::Look,
        "create" | "utils" => Manner::Change,
        _ => Manner::Replace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manners() {
        for (command, manner) in [
            ("aws iam get-role --role-name x", Manner::Look),
            (
                "for g in $(aws eks list-nodegroups --x y); do aws eks describe-nodegroup; done",
                Manner::Look,
            ),
            (
                "for g in $(aws eks list-nodegroups --x y); do aws eks delete-nodegroup; done",
                Manner::Replace,
            ),
            ("aws iam get-role --query 'a | b'", Manner::Look),
            ("kubectl logs x --previous | karpenter-preflight explain - --cluster y", Manner::Look),
            ("kubectl get x -o yaml | kubectl delete -f -", Manner::Replace),
            (
                "aws kms get-key-policy --key-id \"$(aws kms describe-key --query x)\" --output text",
                Manner::Look,
            ),
            ("aws iam create-role --role-name x", Manner::Create),
            ("aws iam create-policy-version --policy-arn x", Manner::Change),
            ("aws ec2 create-tags --resources x", Manner::Change),
            ("aws eks delete-access-entry --cluster-name x", Manner::Remove),
            ("aws iam update-assume-role-policy --role-name x", Manner::Replace),
            (
                "aws ec2 associate-route-table --subnet-id \"$(aws ec2 describe-subnets --query 'x[0]')\"",
                Manner::Create,
            ),
            (
                "aws ec2 associate-route-table --subnet-id \"$(aws ec2 delete-subnet --x y)\"",
                Manner::Remove,
            ),
            (
                "aws eks update-x --ids \"$(aws ec2 describe-subnets; aws ec2 delete-subnet)\"",
                Manner::Remove,
            ),
            ("aws s3 rm s3://x", Manner::Replace),
            ("kubectl -n kube-system get configmap aws-auth -o yaml", Manner::Look),
            ("kubectl --namespace x delete pod y", Manner::Replace),
            ("kubectl set env deployment/karpenter A=b", Manner::Change),
            ("kubectl edit nodepool x", Manner::Interactive),
            ("helm upgrade karpenter x", Manner::Change),
            ("helm uninstall karpenter", Manner::Replace),
            ("eksctl get iamidentitymapping --cluster x", Manner::Look),
            ("karpenter-preflight explain x --cluster y", Manner::Look),
            ("rm -rf /", Manner::Replace),
        ] {
            assert_eq!(Manner::of(command), manner, "{command}");
        }
    }
}
