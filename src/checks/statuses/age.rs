//! How long something lasts already, in words.

use std::fmt;

use jiff::Timestamp;

use crate::checks::Context;

/// A span of time up to when the facts were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(i64);

impl Age {
    pub fn of(cx: &Context<'_>, since: Option<Timestamp>) -> Option<Self> {
        since.map(|since| Self((cx.now.as_second() - since.as_second()).max(0)))
    }

    pub fn seconds(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = match self.0 {
            seconds if seconds < 2 * 60 => (seconds, "second"),
            seconds if seconds < 2 * 3_600 => (seconds / 60, "minute"),
            seconds if seconds < 2 * 86_400 => (seconds / 3_600, "hour"),
            seconds => (seconds / 86_400, "day"),
        };
        let plural = if number == 1 { "" } else { "s" };
        write!(f, "{number} {unit}{plural}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_rounded_down() {
        for (seconds, words) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (119, "119 seconds"),
            (120, "2 minutes"),
            (7_199, "119 minutes"),
            (7_200, "2 hours"),
            (172_800, "2 days"),
        ] {
            assert_eq!(Age(seconds).to_string(), words);
        }
    }
}
