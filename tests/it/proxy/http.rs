//! As much of HTTP/1.1 as the SDK and the emulator speak with each other.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

/// A request, and how many bytes it takes on the wire.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub length: usize,
}

#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Region and service that the request is signed for.
    pub fn credential_scope(&self) -> Option<(String, String)> {
        let (_, credential) = self.header("authorization")?.split_once("Credential=")?;
        let mut parts = credential.split(',').next()?.split('/').skip(2);
        Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
    }

    /// The access key id that the request is signed with.
    pub fn access_key(&self) -> Option<String> {
        let (_, credential) = self.header("authorization")?.split_once("Credential=")?;
        credential.split('/').next().map(str::to_owned)
    }

    /// Whether its form asks for a dry run.
    pub fn is_dry_run(&self) -> bool {
        self.body.split(|byte| *byte == b'&').any(|parameter| parameter == b"DryRun=true")
    }

    /// What makes two requests the same question: all but signature, time and attempt.
    pub fn question(&self) -> Vec<u8> {
        let authorization = self.header("authorization").unwrap_or_default();
        let credential = authorization.split(',').next().unwrap_or_default();
        let target = self.header("x-amz-target").unwrap_or_default();
        let head = format!("{} {} {target} {credential}\n", self.method, self.path);
        [head.as_bytes(), &self.body].concat()
    }
}

impl Response {
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, body: body.into() }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Half of the body, as complete as the length says.
    pub fn truncated(mut self) -> Self {
        self.body.truncate(self.body.len() / 2);
        self
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Status\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
        [head.as_bytes(), &self.body].concat()
    }
}

/// Waits for a whole request and leaves it unread; `None` when the client has closed.
pub fn peek_request(stream: &TcpStream) -> Option<Request> {
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let seen = stream.peek(&mut buffer).ok().filter(|seen| *seen > 0)?;
        if let Some(request) = parse_request(&buffer[..seen]) {
            return Some(request);
        }
        // The rest is on its way; peek would return at once with the same bytes.
        thread::sleep(Duration::from_micros(200));
    }
}

/// A request that starts here; `None` while some of it is still to come.
pub fn parse_request(bytes: &[u8]) -> Option<Request> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = parsed.parse(bytes).expect("a request of the SDK")
    else {
        return None;
    };
    let headers = owned(parsed.headers);
    let body_length = content_length(&headers).unwrap_or_default();
    let body = bytes.get(head..head + body_length)?.to_vec();
    Some(Request {
        method: parsed.method?.to_owned(),
        path: parsed.path?.to_owned(),
        headers,
        body,
        length: head + body_length,
    })
}

/// Reads what was peeked at.
pub fn consume(stream: &mut TcpStream, length: usize) {
    stream.read_exact(&mut vec![0; length]).expect("what was peeked at is there");
}

/// Asks another server over a connection of its own.
pub fn forward(request: &Request, address: &str) -> Response {
    let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    for (name, value) in &request.headers {
        if !["host", "connection", "content-length"].contains(&name.to_lowercase().as_str()) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    let length = request.body.len();
    head.push_str(&format!(
        "host: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    ));
    let mut stream = TcpStream::connect(address).expect("the emulator is there");
    stream.write_all(&[head.as_bytes(), &request.body].concat()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    parse_response(&answer)
}

fn parse_response(bytes: &[u8]) -> Response {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = parsed.parse(bytes).unwrap() else {
        panic!("the emulator's answer has no end: {}", String::from_utf8_lossy(bytes));
    };
    let mut headers = owned(parsed.headers);
    assert!(!headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding")));
    headers.retain(|(name, _)| {
        !["content-length", "connection"].contains(&name.to_lowercase().as_str())
    });
    Response { status: parsed.code.unwrap(), headers, body: bytes[head..].to_vec() }
}

fn owned(headers: &[httparse::Header<'_>]) -> Vec<(String, String)> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    headers.iter().map(|header| (header.name.to_owned(), text(header.value))).collect()
}

fn content_length(headers: &[(String, String)]) -> Option<usize> {
    let found = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    found.and_then(|(_, value)| value.parse().ok())
}
