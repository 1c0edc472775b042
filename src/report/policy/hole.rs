//! Holes: places in a document for what only Terraform or CloudFormation will know.
//!
//! A hole stands in a text as a run of one private-use character, as long as the longest value
//! that can come in its place, so that a document with holes is never counted too small.

/// What is left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hole {
    Partition,
    Region,
    Account,
    /// The ending of the names of services in the partition.
    Suffix,
}

/// A text in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    Hole(Hole),
}

impl Hole {
    pub const ALL: [Self; 4] = [Self::Partition, Self::Region, Self::Account, Self::Suffix];

    /// The text that stands for it.
    pub fn mark(self) -> String {
        self.char().to_string().repeat(self.length())
    }

    fn char(self) -> char {
        match self {
            Self::Partition => '\u{f8f0}',
            Self::Region => '\u{f8f1}',
            Self::Account => '\u{f8f2}',
            Self::Suffix => '\u{f8f3}',
        }
    }

    /// Of `aws-us-gov`, `ap-northeast-1`, an account id, and `amazonaws.com.cn`, in characters.
    fn length(self) -> usize {
        match self {
            Self::Partition => 10,
            Self::Region => 14,
            Self::Account => 12,
            Self::Suffix => 16,
        }
    }
}

/// The pieces of a text.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((at, mark, hole)) = first(rest) {
        if at > 0 {
            pieces.push(Piece::Text(&rest[..at]));
        }
        pieces.push(Piece::Hole(hole));
        rest = &rest[at + mark.len()..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

fn first(text: &str) -> Option<(usize, String, Hole)> {
    let found = Hole::ALL.into_iter().filter_map(|hole| {
        let mark = hole.mark();
        text.find(&mark).map(|at| (at, mark, hole))
    });
    found.min_by_key(|(at, _, _)| *at)
}

/// The holes of a text, each once.
pub fn holes(text: &str) -> Vec<Hole> {
    Hole::ALL.into_iter().filter(|hole| text.contains(hole.char())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fall_into_pieces() {
        let region = Hole::Region.mark();
        let text = format!("arn:{}:ec2:{region}:*", Hole::Partition.mark());
        let expected = [
            Piece::Text("arn:"),
            Piece::Hole(Hole::Partition),
            Piece::Text(":ec2:"),
            Piece::Hole(Hole::Region),
            Piece::Text(":*"),
        ];
        assert_eq!(pieces(&text), expected);
        assert_eq!(pieces("plain"), [Piece::Text("plain")]);
        assert_eq!(pieces(&format!("{region}{region}")), [Piece::Hole(Hole::Region); 2]);
        assert_eq!(holes(&text), [Hole::Partition, Hole::Region]);
        assert_eq!(pieces(""), []);
    }
}
