//! Kubernetes quantities, such as `100m`, `1Gi` or `1e3`.

/// A quantity in thousandths, rounded up as Kubernetes does; `None` if it is none.
/// <https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>
pub fn milli(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let factor = match suffix {
        "n" => 1e-6,
        "u" => 1e-3,
        "m" => 1.0,
        "" => 1e3,
        "k" => 1e6,
        "M" => 1e9,
        "G" => 1e12,
        "T" => 1e15,
        "P" => 1e18,
        "E" => 1e21,
        "Ki" => 1e3 * 1024.0,
        "Mi" => 1e3 * 1024.0_f64.powi(2),
        "Gi" => 1e3 * 1024.0_f64.powi(3),
        "Ti" => 1e3 * 1024.0_f64.powi(4),
        "Pi" => 1e3 * 1024.0_f64.powi(5),
        "Ei" => 1e3 * 1024.0_f64.powi(6),
        exponent => 1e3 * 10.0_f64.powi(exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    let milli = (number * factor).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    // Beyond what 64 bits hold, the largest says as much.
    (milli >= 0.0).then_some(milli as u64)
}

/// Thousandths of a CPU; 0 where nothing is stated.
pub fn cpu(text: Option<&String>) -> u64 {
    text.and_then(|text| milli(text)).unwrap_or_default()
}

/// Whole units, such as bytes, rounded up; 0 where nothing is stated.
pub fn whole(text: Option<&String>) -> u64 {
    text.and_then(|text| milli(text)).unwrap_or_default().div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        for (text, expected) in [
            ("100m", Some(100)),
            ("1", Some(1000)),
            ("1.5", Some(1500)),
            ("1Gi", Some(1_073_741_824_000)),
            ("7220Mi", Some(7_570_718_720_000)),
            ("128974848", Some(128_974_848_000)),
            ("129e6", Some(129_000_000_000)),
            ("129M", Some(129_000_000_000)),
            ("500u", Some(1)),
            ("0", Some(0)),
            ("", None),
            ("Gi", None),
            ("1 GB", None),
            ("-1", None),
            ("9223372036854775807E", Some(u64::MAX)),
        ] {
            assert_eq!(milli(text), expected, "{text}");
        }
        assert_eq!(whole(Some(&"1500m".to_owned())), 2);
        assert_eq!(cpu(None), 0);
    }
}
