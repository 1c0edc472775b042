//! The proxy on the way to the API server, chosen as `kubectl` chooses it.

use std::{env, net::IpAddr};

use http::{Uri, uri::Authority};
use hyper_util::client::proxy::matcher::Matcher;

/// Where the environment names a proxy for a server that speaks TLS, the first one first.
const VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const SCHEMES: [&str; 3] = ["http", "https", "socks5"];
/// Where SOCKS proxies listen that are named without a port.
const SOCKS_PORT: u16 = 1080;

/// A proxy that is gone through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// With the name and password that it may ask for.
    pub uri: Uri,
    /// What to call it: where it was named, and its address without a password.
    pub name: String,
}

/// The proxy to this server: the one that the kubeconfig names, else the environment's.
///
/// # Errors
/// Where what is named cannot be used.
pub fn to(server: &Uri, of_kubeconfig: Option<&str>) -> Result<Option<Proxy>, String> {
    if let Some(named) = of_kubeconfig.filter(|named| !named.is_empty()) {
        return named_by("the kubeconfig's proxy-url", named).map(Some);
    }
    let Some((variable, value)) = first_set(&VARIABLES) else { return Ok(None) };
    if is_this_machine(server) || is_exempt(server) {
        return Ok(None);
    }
    named_by(variable, &value).map(Some)
}

fn first_set<'a>(variables: &[&'a str]) -> Option<(&'a str, String)> {
    let set = |name: &'a str| Some((name, env::var(name).ok().filter(|value| !value.is_empty())?));
    variables.iter().copied().find_map(set)
}

/// Whether `NO_PROXY` names the server; whether any proxy would be gone through tells.
fn is_exempt(server: &Uri) -> bool {
    let exempt = first_set(&["NO_PROXY", "no_proxy"]).map_or_else(String::new, |(_, value)| value);
    Matcher::builder().all("http://any").no(exempt).build().intercept(server).is_none()
}

/// Servers on this machine are reached without a proxy whatever the environment says, for a
/// proxy elsewhere would look for them on its own machine.
fn is_this_machine(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn named_by(place: &str, value: &str) -> Result<Proxy, String> {
    let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
    let scheme = scheme.to_ascii_lowercase();
    // Names are always resolved by the proxy, which is what the other spelling asks for.
    let scheme = if scheme == "socks5h" { "socks5" } else { &scheme };
    if !SCHEMES.contains(&scheme) {
        let known = SCHEMES.join(", ");
        return Err(format!("{place} is of the kind `{scheme}`, and known are {known}"));
    }
    // The value itself is never repeated: it may hold a password.
    let no_address = || format!("{place} is not an address such as http://proxy.example:3128");
    let authority = rest.split('/').next().unwrap_or_default();
    let mut authority: Authority = authority.parse().map_err(|_| no_address())?;
    if scheme == "socks5" && authority.port().is_none() {
        authority = format!("{authority}:{SOCKS_PORT}").parse().map_err(|_| no_address())?;
    }
    let address = authority.as_str().rsplit('@').next().unwrap_or_default();
    if address != authority.host() && authority.port().is_none() {
        return Err(no_address());
    }
    let name = format!("the proxy {scheme}://{address} ({place})");
    let uri = Uri::builder().scheme(scheme).authority(authority).path_and_query("/").build();
    Ok(Proxy { uri: uri.map_err(|_| no_address())?, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_value_names() {
        for (value, uri, name) in [
            ("http://proxy.corp:3128", "http://proxy.corp:3128/", "http://proxy.corp:3128"),
            ("proxy.corp:3128", "http://proxy.corp:3128/", "http://proxy.corp:3128"),
            ("HTTP://10.0.0.1", "http://10.0.0.1/", "http://10.0.0.1"),
            ("https://me:hunter2@proxy/", "https://me:hunter2@proxy/", "https://proxy"),
            ("socks5h://[::1]:9000", "socks5://[::1]:9000/", "socks5://[::1]:9000"),
            ("socks5://me@bastion", "socks5://me@bastion:1080/", "socks5://bastion:1080"),
        ] {
            let proxy = named_by("HTTPS_PROXY", value).unwrap();
            assert_eq!(proxy.uri.to_string(), uri, "{value}");
            assert_eq!(proxy.name, format!("the proxy {name} (HTTPS_PROXY)"), "{value}");
        }
    }

    #[test]
    fn what_names_no_proxy() {
        for (value, words) in [
            ("ftp://me:hunter2@proxy", "HTTPS_PROXY is of the kind `ftp`, and known are http,"),
            ("http://", "HTTPS_PROXY is not an address"),
            ("me:hunter2@", "HTTPS_PROXY is not an address"),
            ("http://hunter2 proxy:1", "HTTPS_PROXY is not an address"),
            ("http://proxy:70000", "HTTPS_PROXY is not an address"),
        ] {
            let said = named_by("HTTPS_PROXY", value).unwrap_err();
            assert!(said.starts_with(words), "{value}: {said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }

    #[test]
    fn what_is_on_this_machine() {
        for (server, is) in [
            ("https://127.0.0.1:6443", true),
            ("http://localhost:8001", true),
            ("https://[::1]:6443", true),
            ("https://localhost.example.com", false),
            ("https://10.0.0.1", false),
            ("https://ABC.gr7.us-west-2.eks.amazonaws.com", false),
        ] {
            assert_eq!(is_this_machine(&server.parse().unwrap()), is, "{server}");
        }
    }

    #[test]
    fn the_kubeconfigs_word_comes_first() {
        let server = "https://127.0.0.1:6443".parse().unwrap();
        let proxy = to(&server, Some("http://bastion:3128")).unwrap().unwrap();
        assert_eq!(proxy.name, "the proxy http://bastion:3128 (the kubeconfig's proxy-url)");
        assert_eq!(to(&server, Some("")), Ok(None));
    }
}
