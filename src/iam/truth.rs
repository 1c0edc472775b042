//! Three-valued logic: a condition on a value that nobody knows is neither met nor unmet.

/// Yes, no, or not to be said without a value that nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    Yes,
    No,
    Unknown,
}

impl Truth {
    pub(crate) fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::No, _) | (_, Truth::No) => Truth::No,
            (Truth::Yes, Truth::Yes) => Truth::Yes,
            _ => Truth::Unknown,
        }
    }

    pub(crate) fn or(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::Yes, _) | (_, Truth::Yes) => Truth::Yes,
            (Truth::No, Truth::No) => Truth::No,
            _ => Truth::Unknown,
        }
    }

    /// This truth, turned round where `negated`.
    pub(crate) fn flip_if(self, negated: bool) -> Truth {
        match (self, negated) {
            (Truth::Yes, true) => Truth::No,
            (Truth::No, true) => Truth::Yes,
            (truth, _) => truth,
        }
    }

    /// Yes if any is, no if all are no. Stops at the first yes.
    pub(crate) fn any(truths: impl IntoIterator<Item = Truth>) -> Truth {
        let mut result = Truth::No;
        for truth in truths {
            if truth == Truth::Yes {
                return Truth::Yes;
            }
            result = result.or(truth);
        }
        result
    }

    /// Yes if all are, no if any is no. Stops at the first no.
    pub(crate) fn all(truths: impl IntoIterator<Item = Truth>) -> Truth {
        let mut result = Truth::Yes;
        for truth in truths {
            if truth == Truth::No {
                return Truth::No;
            }
            result = result.and(truth);
        }
        result
    }
}

impl From<bool> for Truth {
    fn from(yes: bool) -> Truth {
        if yes { Truth::Yes } else { Truth::No }
    }
}
