//! What can go wrong between the tool and AWS, each in the form in which it really comes.

use super::{http::Response, operation::Protocol};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    AccessDenied,
    ExpiredToken,
    /// On every attempt.
    Throttled,
    ServerError,
    /// No answer ever comes.
    TimeOut,
    /// The connection is reset.
    Reset,
    /// Status 200 with a body that is not the service's.
    Garbage,
    /// Status 200 with an empty body.
    Empty,
    /// Status 200 with half of the real body.
    Truncated,
    /// A web page with status 200: a captive portal.
    Page200,
    /// A web page with status 403: a proxy that forbids.
    Page403,
    /// A web page with status 503: a gateway that finds nobody.
    Page503,
}

impl Fault {
    pub const ALL: [Self; 12] = [
        Self::AccessDenied,
        Self::ExpiredToken,
        Self::Throttled,
        Self::ServerError,
        Self::TimeOut,
        Self::Reset,
        Self::Garbage,
        Self::Empty,
        Self::Truncated,
        Self::Page200,
        Self::Page403,
        Self::Page503,
    ];

    /// The answer; only for the faults that are one.
    pub fn response(self, protocol: Protocol) -> Response {
        match self {
            Self::AccessDenied => {
                let message = "User: arn:aws:iam::1:user/x is not authorized to perform this";
                match protocol {
                    Protocol::Ec2 => error(protocol, 403, "UnauthorizedOperation", message),
                    Protocol::Query => error(protocol, 403, "AccessDenied", message),
                    Protocol::Json => error(protocol, 400, "AccessDeniedException", message),
                    Protocol::RestJson => error(protocol, 403, "AccessDeniedException", message),
                }
            }
            Self::ExpiredToken => {
                let message = "The security token included in the request is expired";
                match protocol {
                    Protocol::Ec2 => error(protocol, 400, "RequestExpired", message),
                    Protocol::Query => error(protocol, 403, "ExpiredToken", message),
                    Protocol::Json => error(protocol, 400, "ExpiredTokenException", message),
                    Protocol::RestJson => error(protocol, 403, "ExpiredTokenException", message),
                }
            }
            Self::Throttled => match protocol {
                Protocol::Ec2 => {
                    error(protocol, 503, "RequestLimitExceeded", "Request limit exceeded.")
                }
                Protocol::Query => error(protocol, 400, "Throttling", "Rate exceeded"),
                Protocol::Json => error(protocol, 400, "ThrottlingException", "Rate exceeded"),
                Protocol::RestJson => {
                    error(protocol, 429, "TooManyRequestsException", "Too Many Requests")
                }
            },
            Self::ServerError => match protocol {
                Protocol::Ec2 => error(protocol, 500, "InternalError", "An internal error"),
                Protocol::Query => error(protocol, 500, "ServiceFailure", "Internal failure"),
                Protocol::Json => error(protocol, 500, "InternalFailure", "Internal failure"),
                Protocol::RestJson => error(protocol, 500, "ServerException", "Internal failure"),
            },
            Self::Garbage => Response::new(200, content_type(protocol), "\u{1}}{<not & an answer"),
            Self::Empty => Response::new(200, content_type(protocol), ""),
            Self::Page200 => page(200, "Sign in to the network"),
            Self::Page403 => page(403, "Blocked by policy"),
            Self::Page503 => page(503, "Service Unavailable"),
            Self::TimeOut | Self::Reset | Self::Truncated => unreachable!("{self:?} is no answer"),
        }
    }
}

fn error(protocol: Protocol, status: u16, code: &str, message: &str) -> Response {
    let body = match protocol {
        Protocol::Ec2 => format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>{code}\
             </Code><Message>{message}</Message></Error></Errors>\
             <RequestID>59dbff89-35bd-4eac-99ed-be587EXAMPLE</RequestID></Response>"
        ),
        Protocol::Query => format!(
            "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code>\
             <Message>{message}</Message></Error>\
             <RequestId>59dbff89-35bd-4eac-99ed-be587EXAMPLE</RequestId></ErrorResponse>"
        ),
        Protocol::Json => format!(r#"{{"__type":"{code}","message":"{message}"}}"#),
        Protocol::RestJson => format!(r#"{{"message":"{message}"}}"#),
    };
    let response = Response::new(status, content_type(protocol), body);
    match protocol {
        Protocol::RestJson => response.header("x-amzn-errortype", code),
        _ => response,
    }
}

fn content_type(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Ec2 | Protocol::Query => "text/xml",
        Protocol::Json => "application/x-amz-json-1.0",
        Protocol::RestJson => "application/json",
    }
}

fn page(status: u16, title: &str) -> Response {
    let html = format!(
        "<!DOCTYPE html>\n<html><head><title>{title}</title></head>\
         <body><h1>{title}</h1><p>Ask your administrator.</p></body></html>"
    );
    Response::new(status, "text/html; charset=utf-8", html)
}
