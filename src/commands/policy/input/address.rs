//! Addresses of Terraform's resources, such as `module.karpenter.aws_iam_role.controller[0]`.

/// The module of an address, with its keys, and the rest without.
pub fn split(address: &str) -> (String, String) {
    let bare = without_keys(address);
    let parts: Vec<_> = bare.split('.').collect();
    let modules = parts.chunks(2).take_while(|pair| pair[0] == "module").count() * 2;
    let own = parts[modules..].join(".");
    let module = address.rfind(&own).map_or_else(String::new, |at| address[..at].to_owned());
    (module, own)
}

/// The key of the last part of an address: `[0]` or `["a"]`.
pub fn key(address: &str) -> &str {
    match address.rfind('[') {
        Some(at) if address.ends_with(']') => &address[at..],
        _ => "",
    }
}

/// An address without its keys, which may hold dots.
pub fn without_keys(address: &str) -> String {
    let mut depth = 0;
    let mut quoted = false;
    let is_outside = |c: &char| {
        match c {
            '"' if depth > 0 => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => {
                depth -= 1;
                return false;
            }
            _ => {}
        }
        depth == 0
    };
    address.chars().filter(is_outside).collect()
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
        ] {
            assert_eq!(split(address), (module.to_owned(), own.to_owned()), "{address}");
            assert_eq!(key(address), of_key);
        }
    }
}
