//! `aws-auth` as the cluster reads it: strings of YAML, lists of mappings.
//!
//! It follows aws-iam-authenticator (`pkg/mapper/configmap/configmap.go`): a fault in the YAML
//! loses the whole string, a fault in one mapping only that mapping; the names of fields may be
//! in any case.

use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use super::yaml::Yaml;

/// One string of the ConfigMap, such as `mapRoles`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// It is not there, or holds nothing.
    Empty,
    /// It is no YAML, and so lost as a whole.
    Broken {
        /// Counted from 1; 0 where the parser does not say.
        line: u64,
        why: String,
    },
    /// It is YAML and no list, and so lost as a whole.
    NotAList(&'static str),
    Mappings(Vec<Entry>),
}

/// One member of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Mapping(Mapping),
    /// One that is left out, and why.
    Bad {
        line: u64,
        why: &'static str,
        /// Whatever text is in it.
        mentions: Vec<String>,
    },
}

/// Who is let in as whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The line of its first field.
    pub line: u64,
    pub arn: String,
    pub username: String,
    pub groups: Vec<String>,
    /// `groups` is something else than a list, so that there are none.
    pub groups_are_no_list: bool,
}

impl Text {
    /// Reads `mapRoles` (field `rolearn`) or `mapUsers` (field `userarn`).
    pub fn read(text: Option<&str>, arn_field: &str) -> Self {
        let text = &tabs_in_brackets_as_spaces(first_document(text.unwrap_or_default()));
        if matches!(text.trim(), "" | "``" | "\"\"" | "''") {
            return Self::Empty;
        }
        let options = serde_saphyr::options! {
            duplicate_keys: DuplicateKeyPolicy::LastWins,
            with_snippet: false,
        };
        let read = serde_saphyr::from_str_with_options::<Spanned<Yaml>>(text, options);
        match (read, tab_in_indentation(text)) {
            (Ok(read), None) => Self::of(read.value, arn_field),
            (_, Some(line)) => Self::Broken { line, why: "a tab in the indentation".to_owned() },
            (Err(error), None) => Self::Broken {
                line: error.location().map_or(0, |location| location.line()),
                why: error.to_string().lines().next().unwrap_or_default().to_owned(),
            },
        }
    }

    fn of(yaml: Yaml, arn_field: &str) -> Self {
        match yaml {
            Yaml::Null => Self::Empty,
            Yaml::Map(fields) if fields.is_empty() => Self::Empty,
            Yaml::List(items) => {
                Self::Mappings(items.iter().map(|item| entry(item, arn_field)).collect())
            }
            Yaml::Map(_) => Self::NotAList("one mapping without a `-` before it"),
            Yaml::Text(_) => Self::NotAList("a text in which the YAML is quoted once more"),
            Yaml::Other(_) => Self::NotAList("a number or a truth value"),
        }
    }
}

/// The first YAML document; the others are not read.
fn first_document(text: &str) -> &str {
    let (mut at, mut begun) = (0, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        let marker = bare == "---" || bare == "..." || bare.starts_with("--- ");
        if marker && begun {
            return &text[..at];
        }
        begun |= !marker && !bare.is_empty() && !bare.trim_start().starts_with(['#', '%']);
        at += line.len();
    }
    text
}

/// Between brackets a tab is white space to the authenticator's parser, and a fault to ours.
fn tabs_in_brackets_as_spaces(text: &str) -> String {
    let mut depth = 0_i64;
    let mut lines = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = line.len() - line.trim_start_matches([' ', '\t']).len();
        let (indentation, rest) = line.split_at(start);
        lines += &if depth > 0 { indentation.replace('\t', " ") } else { indentation.to_owned() };
        lines += rest;
        depth += rest.matches(['[', '{']).count() as i64 - rest.matches([']', '}']).count() as i64;
    }
    lines
}

/// The first line of content that is indented with a tab, which the authenticator's parser
/// never takes.
fn tab_in_indentation(text: &str) -> Option<u64> {
    let indented = |line: &str| {
        let rest = line.trim_start_matches(' ');
        rest.starts_with('\t') && !rest.trim().is_empty() && !rest.trim_start().starts_with('#')
    };
    (1..).zip(text.lines()).find(|(_, line)| indented(line)).map(|(number, _)| number)
}

fn entry(item: &Spanned<Yaml>, arn_field: &str) -> Entry {
    let line = item.referenced.line();
    let bad = |why| Entry::Bad { line, why, mentions: item.value.texts() };
    let Yaml::Map(fields) = &item.value else {
        return bad("it is no mapping of names to values");
    };
    let field = |name: &str| {
        // The last in the order of their spelling counts, as the authenticator reads them.
        let fits = fields.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        fits.max_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, value)| &value.value)
    };
    let Some(Yaml::Text(arn)) = field(arn_field).filter(|arn| !arn.is_empty()) else {
        return bad("it names no ARN");
    };
    let (groups, groups_are_no_list) = match field("groups") {
        Some(Yaml::List(groups)) => {
            (groups.iter().filter_map(|group| group.value.text()).collect(), false)
        }
        None | Some(Yaml::Null) => (Vec::new(), false),
        Some(_) => (Vec::new(), true),
    };
    Entry::Mapping(Mapping {
        line,
        arn: arn.clone(),
        username: field("username").and_then(Yaml::text).unwrap_or_default(),
        groups,
        groups_are_no_list,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Text {
        Text::read(Some(text), "rolearn")
    }

    /// ARN, user name and groups of each mapping; the reason of each bad one.
    fn summary(text: &str) -> Vec<(String, String, Vec<String>)> {
        let Text::Mappings(entries) = read(text) else { return Vec::new() };
        let entries = entries.into_iter().map(|entry| match entry {
            Entry::Mapping(m) => (m.arn, m.username, m.groups),
            Entry::Bad { why, .. } => (why.to_owned(), String::new(), Vec::new()),
        });
        entries.collect()
    }

    fn broken_at(text: &str) -> Option<u64> {
        match read(text) {
            Text::Broken { line, .. } => Some(line),
            _ => None,
        }
    }

    #[test]
    fn reads_what_the_authenticator_reads() {
        let plain = |arn: &str| (arn.to_owned(), String::new(), Vec::new());
        let x = |arn: &str| (arn.to_owned(), String::new(), vec!["x".to_owned()]);
        for (text, expected) in [
            ("- rolearn: a\n- rolearn: b\n", vec![plain("a"), plain("b")]),
            ("  - rolearn: a\n  - rolearn: b\n", vec![plain("a"), plain("b")]),
            ("- rolearn: a # note\r\n  groups:\r\n  - x #y\r\n", vec![x("a")]),
            ("- RoLeArN: a\n  GROUPS: [x]\n", vec![x("a")]),
            ("- RoleARN: a\n  rolearn: b\n", vec![plain("b")]),
            ("- rolearn: a\n  rolearn: b\n", vec![plain("b")]),
            (
                "- &m\n  rolearn: a\n  groups: &g [x]\n- <<: *m\n  rolearn: b\n- rolearn: c\n  \
                 groups: *g\n",
                vec![x("a"), x("b"), x("c")],
            ),
            ("[\n\t{\"rolearn\": \"a\", \"groups\": [\n\t\t\"x\"]}]", vec![x("a")]),
            ("- rolearn: a\n  groups: [\n\t\tx]\n", vec![x("a")]),
            ("---\n- rolearn: a\n---\n: : :\n", vec![plain("a")]),
            ("%YAML 1.1\n---\n- rolearn: a\n...\n", vec![plain("a")]),
            ("\u{feff}- rolearn: a\n", vec![plain("a")]),
            ("- rolearn: a\n  groups: [yes, 1, null, x]\n", vec![x("a")]),
            ("- rolearn: a\n  groups: x\n", vec![plain("a")]),
            ("[]", Vec::new()),
        ] {
            assert_eq!(summary(text), expected, "{text:?}");
        }
        // From the authenticator's own tests: a space too many makes one group of two.
        let mapped = summary("- rolearn: a\n  groups:\n    - x\n     - y\n");
        assert_eq!(mapped[0].2, ["x - y"]);
    }

    #[test]
    fn one_bad_mapping_does_not_take_the_others_along() {
        let text = "- a\n- rolearn: b\n- username: c\n-\n- rolearn: 1\n- rolearn: ''\n";
        let Text::Mappings(entries) = read(text) else { panic!() };
        let lines: Vec<_> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Bad { line, .. } => Some(*line),
                Entry::Mapping(_) => None,
            })
            .collect();
        assert_eq!((entries.len(), lines), (6, vec![1, 3, 4, 5, 6]));
    }

    #[test]
    fn a_fault_in_the_yaml_loses_everything() {
        for (text, line) in [
            ("- rolearn: a\n\tusername: b\n", 2),
            ("\t- rolearn: a\n", 1),
            ("- rolearn: a\n  groups:\n\t- x\n", 3),
            ("- rolearn: a\n  groups:\n   - x\n  - y\n", 4),
            ("- rolearn: a\n username: b\n", 2),
            ("- rolearn: a\n   username: b\n", 2),
            ("  - rolearn: a\n- rolearn: b\n", 2),
            ("- rolearn: a\n  - rolearn: b\n", 2),
            ("- rolearn: a\n  username: {{EC2PrivateDNSName}}\n", 2),
            ("- rolearn: a\n  username: b: c\n", 2),
            ("- rolearn: a\n  username: 'b\n", 2),
            ("- rolearn: a\n  groups: *nowhere\n", 2),
            ("- rolearn: a\n  groups: [x, y\n", 2),
            ("- rolearn: a\n  username: @b\n", 2),
        ] {
            assert_eq!(broken_at(text), Some(line), "{text:?}: {:?}", read(text));
        }
    }

    #[test]
    fn what_is_no_list_maps_nobody() {
        for text in ["|\n  - rolearn: a\n", "\"- rolearn: a\\n\"", "rolearn: a\n", "5"] {
            assert!(matches!(read(text), Text::NotAList(_)), "{text:?}: {:?}", read(text));
        }
        for text in ["", " \n", "``", "''", "null", "~", "{}", "# nothing\n"] {
            assert_eq!(read(text), Text::Empty, "{text:?}");
        }
    }

    /// Whatever people or tools leave in the ConfigMap, reading it ends with an answer.
    #[test]
    fn no_text_brings_it_down() {
        const GOOD: &str = "- &n\n  rolearn: arn:aws:iam::111122223333:role/n\n  username: \
                            system:node:{{EC2PrivateDNSName}}\n  groups: &g\n  - \
                            system:bootstrappers\n  - system:nodes\n- <<: *n\n  rolearn: \
                            'b'\n- {rolearn: c, groups: *g}\n";
        const PIECES: [&str; 20] = [
            "\t", "\n", " ", "'", "\"", "[", "]", "{", "}", ":", "- ", "&a ", "*a", "*n", "|\n",
            "#", "<<: ", "---\n", "\u{feff}", "\u{0}",
        ];
        // A linear congruential generator: the same texts in each run.
        let mut state = 0x2545_f491_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            (state >> 33) as usize % below
        };
        for _ in 0..1_000 {
            let mut text: Vec<char> = GOOD.chars().collect();
            for _ in 0..=random(4) {
                let at = random(text.len());
                match random(4) {
                    0 => text.truncate(at.max(1)),
                    1 => drop(text.remove(at)),
                    2 => drop(text.splice(at..at, PIECES[random(PIECES.len())].chars())),
                    _ => text[at] = char::from(random(128) as u8),
                }
                if text.is_empty() {
                    text.push('-');
                }
            }
            read(&text.into_iter().collect::<String>());
        }
    }

    #[test]
    fn aliases_cannot_blow_it_up() {
        let mut text = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 0..9 {
            let alias = format!("*a{level}");
            text += &format!("- &a{} [{}]\n", level + 1, [alias.as_str(); 10].join(", "));
        }
        assert!(matches!(read(&text), Text::Broken { .. }));
        assert!(matches!(read(&"[".repeat(100_000)), Text::Broken { .. }));
    }
}
