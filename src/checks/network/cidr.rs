//! Blocks of IPv4 addresses.

use std::{fmt, net::Ipv4Addr, str::FromStr};

/// Addresses in a subnet that EC2 keeps: the first four and the last.
/// <https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html>
const KEPT_AT_START: u32 = 4;

/// A block of IPv4 addresses, such as `10.0.16.0/20`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    first: u32,
    bits: u8,
}

impl Block {
    /// The block, unless the text is an IPv6 block or none at all.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
        let address = u32::from(Ipv4Addr::from_str(address).ok()?);
        let bits = bits.parse().ok().filter(|bits| *bits <= 32)?;
        Some(Self { first: address & Self::mask(bits), bits })
    }

    fn mask(bits: u8) -> u32 {
        u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or_default()
    }

    fn last(self) -> u32 {
        self.first | !Self::mask(self.bits)
    }

    pub fn contains(self, other: Self) -> bool {
        self.first <= other.first && other.last() <= self.last()
    }

    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last() && other.first <= self.last()
    }

    /// An address that an interface in the subnet may have.
    pub fn host(self) -> Self {
        Self { first: self.first.saturating_add(KEPT_AT_START).min(self.last()), bits: 32 }
    }

    /// The blocks of this size, in order.
    pub fn split(self, bits: u8) -> impl Iterator<Item = Self> {
        let step = 1u32.checked_shl(32 - u32::from(bits)).unwrap_or(u32::MAX);
        let mut next = (bits >= self.bits).then_some(self.first);
        std::iter::from_fn(move || {
            let first = next?;
            next = first.checked_add(step).filter(|next| *next <= self.last());
            Some(Self { first, bits })
        })
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.first), self.bits)
    }
}

/// Whether one of these blocks contains the other, as far as they are IPv4.
pub fn covers<T: AsRef<str>>(blocks: &[T], wanted: &str) -> bool {
    let Some(wanted) = Block::parse(wanted) else { return false };
    blocks.iter().filter_map(|block| Block::parse(block.as_ref())).any(|b| b.contains(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containment() {
        for (outer, inner, contains, overlaps) in [
            ("0.0.0.0/0", "10.0.0.0/8", true, true),
            ("10.0.0.0/8", "0.0.0.0/0", false, true),
            ("10.0.0.0/16", "10.0.16.0/20", true, true),
            ("10.0.0.0/16", "10.1.0.0/20", false, false),
            ("10.0.0.7", "10.0.0.7/32", true, true),
        ] {
            let (outer, inner) = (Block::parse(outer).unwrap(), Block::parse(inner).unwrap());
            assert_eq!(outer.contains(inner), contains, "{outer} {inner}");
            assert_eq!(outer.overlaps(inner), overlaps, "{outer} {inner}");
        }
        assert_eq!(Block::parse("fd00::/8"), None);
        assert_eq!(Block::parse("10.0.0.0/33"), None);
    }

    #[test]
    fn parts() {
        let block = Block::parse("10.0.0.0/26").unwrap();
        let parts: Vec<_> = block.split(28).map(|part| part.to_string()).collect();
        assert_eq!(parts, ["10.0.0.0/28", "10.0.0.16/28", "10.0.0.32/28", "10.0.0.48/28"]);
        assert_eq!(block.host().to_string(), "10.0.0.4/32");
        assert_eq!(Block::parse("0.0.0.0/0").unwrap().split(1).count(), 2);
        assert_eq!(Block::parse("255.255.255.240/28").unwrap().split(28).count(), 1);
    }
}
