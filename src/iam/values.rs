//! Values of conditions that are more than text: numbers, dates, address ranges.

use std::net::IpAddr;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// A decimal number.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|n: &f64| n.is_finite())
}

/// A moment: ISO 8601 from the year alone to fractions of a second (UTC where no zone is
/// given), or seconds since 1970.
pub(crate) fn date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let epoch = text.len() > 4 && text.bytes().all(|b| b.is_ascii_digit());
    if epoch && text.len() != 8 {
        return Timestamp::from_second(text.parse().ok()?).ok();
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let civil = match text.parse::<DateTime>() {
        Ok(civil) => civil,
        Err(_) if text.len() == 4 || text.len() == 7 => {
            let year = text.get(..4)?.parse().ok()?;
            let month = match text.get(4..) {
                Some("") | None => 1,
                Some(month) => month.strip_prefix('-')?.parse().ok()?,
            };
            Date::new(year, month, 1).ok()?.to_datetime(jiff::civil::Time::midnight())
        }
        Err(_) => return None,
    };
    TimeZone::UTC.to_timestamp(civil).ok()
}

/// `true` or `false` in any case.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        t if t.eq_ignore_ascii_case("true") => Some(true),
        t if t.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// An address or a range in CIDR notation, v4 or v6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IpRange {
    bits: u128,
    v6: bool,
    /// Bits that count, from the front of the address.
    prefix: u32,
}

impl IpRange {
    pub(crate) fn parse(text: &str) -> Option<IpRange> {
        let (address, prefix) = match text.trim().split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse::<u32>().ok()?)),
            None => (text.trim(), None),
        };
        let (bits, v6, width) = match address.parse().ok()? {
            IpAddr::V4(v4) => (u128::from(v4.to_bits()), false, 32),
            IpAddr::V6(v6) => (v6.to_bits(), true, 128),
        };
        let prefix = prefix.unwrap_or(width);
        (prefix <= width).then_some(IpRange { bits, v6, prefix })
    }

    /// Whether `other` lies within this range.
    pub(crate) fn contains(self, other: IpRange) -> bool {
        let width = if self.v6 { 128 } else { 32 };
        let shift = width - self.prefix;
        let network = |bits: u128| bits.checked_shr(shift).unwrap_or(0);
        self.v6 == other.v6
            && self.prefix <= other.prefix
            && network(self.bits) == network(other.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_every_notation() {
        let want = date("2023-04-01T00:00:00Z").unwrap();
        let same = [
            "2023-04-01",
            "2023-04",
            "2023-04-01T00:00:00",
            "2023-04-01T00:00Z",
            "2023-04-01T02:00:00+02:00",
            "2023-04-01T00:00:00.000Z",
            "20230401T000000Z",
            "1680307200",
        ];
        for text in same {
            assert_eq!(date(text), Some(want), "{text}");
        }
        assert_eq!(date("2023"), date("2023-01-01"));
        for bad in ["", "soon", "2023-13-01", "2023-1", "99999999999999999999"] {
            assert_eq!(date(bad), None, "{bad}");
        }
    }

    #[test]
    fn address_ranges() {
        let rows = [
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3/32", "10.1.2.4", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "2001:db8::1", true),
            ("2001:db8::/32", "2001:0db8:0:1::2", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("10.0.0.0/16", "10.0.0.0/8", false),
        ];
        for (range, address, want) in rows {
            let (range_, address_) = (IpRange::parse(range), IpRange::parse(address));
            assert_eq!(range_.unwrap().contains(address_.unwrap()), want, "{address} in {range}");
        }
        for bad in ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/x", "host"] {
            assert_eq!(IpRange::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn numbers_and_booleans() {
        assert_eq!(number("10"), number("10.0"));
        assert_eq!(number("ten"), None);
        assert_eq!(number("inf"), None);
        assert_eq!(boolean("TRUE"), Some(true));
        assert_eq!(boolean("1"), None);
    }
}
