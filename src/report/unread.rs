//! Clusters that could not be read, in the formats that tell one cluster after the other: a file
//! without them would look like a success.

use std::io::{self, Write};

use maud::{Markup, html};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};

use super::{NotRun, text::clean};

fn sentence(unread: &NotRun) -> String {
    format!("The cluster {} could not be read: {}", clean(&unread.cluster), clean(&unread.why))
}

pub(super) fn markdown(all: &[NotRun], out: &mut dyn Write) -> io::Result<()> {
    for unread in all {
        // As code, nothing in it is markup.
        let text = sentence(unread).replace('`', "'").replace('\n', " ");
        writeln!(out, "\n## ✗ Not read\n\n`{text}`")?;
    }
    Ok(())
}

pub(super) fn github(all: &[NotRun], out: &mut dyn Write) -> io::Result<()> {
    for unread in all {
        let text = sentence(unread).replace('%', "%25").replace('\r', "").replace('\n', "%0A");
        writeln!(out, "::error title=A cluster could not be read::{text}")?;
    }
    Ok(())
}

pub(super) fn html(all: &[NotRun]) -> Markup {
    html! {
        @for unread in all {
            section.report {
                h2 { span.quiet { "Cluster " } (clean(&unread.cluster)) }
                p { (sentence(unread)) }
            }
        }
    }
}

pub(super) fn junit(unread: &NotRun) -> TestSuite {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type("unread").set_message(sentence(unread));
    let mut suite = TestSuite::new(format!("{}: not read", clean(&unread.cluster)));
    suite.add_test_case(TestCase::new(clean(&unread.cluster), status));
    suite
}

pub(super) fn sarif(unread: &NotRun) -> Value {
    json!({
        "tool": {"driver": {"name": "karpenter-preflight"}},
        "automationDetails": {
            "id": format!("karpenter-preflight/unread/{}/", clean(&unread.cluster)),
        },
        "invocations": [{
            "executionSuccessful": false,
            "toolExecutionNotifications": [
                {"level": "error", "message": {"text": sentence(unread)}},
            ],
        }],
        "results": [],
    })
}

#[cfg(test)]
mod tests {
    use crate::report::{
        Format, NotRun, Reports,
        sample::{report, written},
        style::Style,
        write,
    };

    #[test]
    fn no_format_keeps_quiet_about_a_cluster_that_was_not_read() {
        let gone =
            NotRun { cluster: "gone".to_owned(), why: "no <b>such</b> `cluster`".to_owned() };
        let all = Reports::several(vec![report("all-well")], vec![gone]);
        for format in [
            Format::Junit,
            Format::Sarif,
            Format::Markdown,
            Format::Github,
            Format::Html,
            Format::Human,
            Format::Short,
            Format::Json,
        ] {
            let style = Style { color: false, width: 100 };
            let text = written(|out| write(&all, format, style, out));
            assert!(text.contains("gone"), "{format:?}: {text}");
            assert!(format != Format::Html || !text.contains("<b>such"), "{text}");
        }
        let style = Style { color: false, width: 100 };
        let text = written(|out| write(&all, Format::Prometheus, style, out));
        assert!(
            text.ends_with("cluster_unread{account=\"\",region=\"\",cluster=\"gone\"} 1\n"),
            "{text}"
        );
    }
}
