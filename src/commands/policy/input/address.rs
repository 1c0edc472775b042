//! Addresses of Terraform's resources, such as `module.karpenter.aws_iam_role.controller[0]`.

/// The module of an address, with its keys and a dot at its end, and the rest without.
pub fn split(address: &str) -> (String, String) {
    let mut rest = address;
    while let Some(call) = rest.strip_prefix("module.") {
        let Some(dot) = outside(call).find(|(_, c)| *c == '.').map(|(at, _)| at) else { break };
        rest = &call[dot + 1..];
    }
    let module = &address[..address.len() - rest.len()];
    (module.to_owned(), without_keys(rest))
}

/// The key of the last part of an address: `[0]` or `["a"]`.
pub fn key(address: &str) -> &str {
    let closed = address.ends_with(']');
    match outside(address).filter(|(_, c)| *c == '[').last() {
        Some((at, _)) if closed => &address[at..],
        _ => "",
    }
}

/// The first key of an address or of a reference, such as `aws_iam_policy.p["a"].arn`.
pub fn first_key(address: &str) -> &str {
    let mut outside = outside(address).skip_while(|(_, c)| *c != '[').map(|(at, _)| at);
    match outside.next() {
        Some(from) => &address[from..outside.next().unwrap_or(address.len())],
        None => "",
    }
}

/// An address without its keys, which may hold dots and brackets.
pub fn without_keys(address: &str) -> String {
    outside(address).map(|(_, c)| c).filter(|c| *c != '[').collect()
}

/// The characters of an address that are in no key, and the bracket that opens each.
fn outside(address: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut in_key, mut quoted, mut escaped) = (false, false, false);
    address.char_indices().filter(move |(_, c)| {
        let was_in_key = in_key;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if in_key => quoted = !quoted,
            '[' if !quoted => in_key = true,
            ']' if !quoted => in_key = false,
            _ => {}
        }
        !was_in_key
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_fall_into_module_and_rest() {
        for (address, module, own, of_key) in [
            ("aws_iam_role.a", "", "aws_iam_role.a", ""),
            ("aws_iam_role.a[\"x.y\"]", "", "aws_iam_role.a", "[\"x.y\"]"),
            ("module.k[0].aws_iam_role.a[1]", "module.k[0].", "aws_iam_role.a", "[1]"),
            ("module.k.module.j.data.x.y", "module.k.module.j.", "data.x.y", ""),
            ("aws_iam_role.a[\"aws_iam_role.a\"]", "", "aws_iam_role.a", "[\"aws_iam_role.a\"]"),
            ("module.k[\"module.x[0]\"].a.b", "module.k[\"module.x[0]\"].", "a.b", ""),
            ("a.b[\"c[\\\"0]\"]", "", "a.b", "[\"c[\\\"0]\"]"),
            ("a.b[\"é.[\"]", "", "a.b", "[\"é.[\"]"),
            ("module.alone", "", "module.alone", ""),
        ] {
            assert_eq!(split(address), (module.to_owned(), own.to_owned()), "{address}");
            assert_eq!(key(address), of_key);
        }
        for (reference, wanted) in [
            ("a.b[\"c[0].d\"].arn", "[\"c[0].d\"]"),
            ("a.b[0]", "[0]"),
            ("a.b.arn", ""),
            ("a.b[", "["),
        ] {
            assert_eq!(first_key(reference), wanted, "{reference}");
        }
    }
}
