//! Refuses answers that are cut off. The SDK reads the half of an XML list as a shorter list,
//! and an empty body as an object without members: both would read as *it does not exist*.

use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{
            Intercept, context::AfterDeserializationInterceptorContextRef, dyn_dispatch_hint,
        },
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::config_bag::ConfigBag;

/// Fails a successful call whose answer has no end.
#[derive(Debug, Clone, Copy)]
pub struct WholeAnswer;

#[derive(Debug, thiserror::Error)]
#[error("the answer is cut off")]
struct CutOff;

#[dyn_dispatch_hint]
impl Intercept for WholeAnswer {
    fn name(&self) -> &'static str {
        "WholeAnswer"
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let response = context.response();
        match response.body().bytes() {
            Some(body) if response.status().is_success() && !is_whole(body) => Err(CutOff.into()),
            _ => Ok(()),
        }
    }
}

/// Whether a body ends: JSON proves that by itself, and XML by closing its first element.
fn is_whole(body: &[u8]) -> bool {
    let body = body.trim_ascii();
    if !body.starts_with(b"<") {
        return !body.is_empty();
    }
    let text = String::from_utf8_lossy(body);
    let root = text.split('<').skip(1).find(|tag| !tag.starts_with(['?', '!']));
    root.is_some_and(|tag| {
        let name: String =
            tag.chars().take_while(|c| !c.is_whitespace() && !"/>".contains(*c)).collect();
        text.ends_with(&format!("</{name}>")) || (text.ends_with("/>") && text.ends_with(tag))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_cut_off() {
        for (body, whole) in [
            ("<A xmlns=\"x\"><b>1</b></A>", true),
            ("<?xml version=\"1.0\"?>\n<A><b/></A>\n", true),
            ("<!-- a --><A></A>", true),
            ("<A/>", true),
            ("<A><b>1</b>", false),
            ("<A><b>1</b><", false),
            ("<A><b/>", false),
            ("<A", false),
            ("<?xml version=\"1.0\"?>", false),
            ("{}", true),
            ("", false),
            (" \n", false),
        ] {
            assert_eq!(is_whole(body.as_bytes()), whole, "{body}");
        }
    }
}
