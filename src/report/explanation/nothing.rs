//! The answer where nothing was recognised.

use std::io::{self, Write};

use super::{
    Explanation,
    rows::{Rows, grouped},
};
use crate::report::{
    style::{Ink, Style},
    text::{hang, inked, prose},
};

/// More than so many only distract.
const SHOWN: usize = 3;

const REPORT_IT: &str = "If Karpenter, EKS or a part around them printed it, please report it to \
    karpenter-preflight, so that the next one finds it: the text without your names and ids, \
    where it was printed, and your versions of Karpenter and Kubernetes.";

pub(super) fn write(
    explanation: &Explanation,
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let lines = explanation.input.map(|input| input.lines).unwrap_or_default();
    let summary = match lines {
        1 => "No documented error is in this line.".to_owned(),
        lines => format!("No documented error is in these {} lines.", grouped(lines)),
    };
    hang(out, "", &inked(&summary, style.columns(), Ink::Heading, style))?;
    if !explanation.nearest.is_empty() {
        writeln!(out, "\nThe nearest that are known:\n")?;
    }
    let rows = Rows { style, indent: 4, labels: 0 };
    for near in explanation.nearest.iter().take(SHOWN) {
        hang(out, "  ", &[style.paint(Ink::Code, near.id)])?;
        rows.row("", near.title, out)?;
        rows.quote("", near.quote, out)?;
    }
    writeln!(out)?;
    hang(out, "", &prose(REPORT_IT, style.columns(), style))
}
