//! Proxies before a test API server: one that speaks HTTP, and one that speaks SOCKS.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// How a client and a proxy find together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    Http,
    /// HTTP, but only with those who bring this `Proxy-Authorization`.
    HttpWith(&'static str),
    /// HTTP, and leads nowhere.
    Refuses,
    Socks,
}

/// A proxy that leads to one server, whatever it is asked for; it stops listening when it is
/// dropped.
pub struct Tunnel {
    /// `127.0.0.1:<port>`.
    pub address: String,
    asked: Arc<Mutex<Vec<String>>>,
    closed: Arc<AtomicBool>,
}

impl Tunnel {
    pub fn to(behind: &str, speaks: Speaks) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (asked, closed) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicBool>::default());
        let (log, is_closed, behind) = (Arc::clone(&asked), Arc::clone(&closed), behind.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming() {
                if is_closed.load(Ordering::Relaxed) {
                    break;
                }
                let (log, behind) = (Arc::clone(&log), behind.clone());
                thread::spawn(move || serve(stream.unwrap(), speaks, &behind, &log));
            }
        });
        Self { address, asked, closed }
    }

    /// The servers that were asked for, each once.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.sort();
        asked.dedup();
        asked
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(&self.address);
    }
}

/// A client that goes away ends its tunnel, and that is all.
fn serve(stream: TcpStream, speaks: Speaks, behind: &str, log: &Mutex<Vec<String>>) {
    let met = match speaks {
        Speaks::Socks => meet_over_socks(&stream),
        _ => meet_over_http(&stream, speaks),
    };
    if let Ok(Some(server)) = met {
        log.lock().unwrap().push(server);
        let behind = TcpStream::connect(behind).unwrap();
        let (from, to) = (stream.try_clone().unwrap(), behind.try_clone().unwrap());
        let back = thread::spawn(move || pour(behind, stream));
        pour(from, to);
        back.join().unwrap();
    }
}

fn pour(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// The server of a `CONNECT`, once it is granted.
fn meet_over_http(mut stream: &TcpStream, speaks: Speaks) -> io::Result<Option<String>> {
    let head: Vec<_> = BufReader::new(stream)
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .collect();
    let Some(line) = head.first() else { return Ok(None) };
    let server = line.strip_prefix("CONNECT ").expect("a CONNECT").split(' ').next().unwrap();
    let brings = |wanted: &str| {
        head.iter().filter_map(|line| line.split_once(": ")).any(|(name, value)| {
            name.eq_ignore_ascii_case("proxy-authorization") && value == wanted
        })
    };
    let (answer, granted) = match speaks {
        Speaks::HttpWith(wanted) if !brings(wanted) => ("407 Proxy Authentication Required", false),
        Speaks::Refuses => ("403 Forbidden", false),
        _ => ("200 Connection established", true),
    };
    stream.write_all(format!("HTTP/1.1 {answer}\r\n\r\n").as_bytes())?;
    Ok(granted.then(|| server.to_owned()))
}

/// RFC 1928, without a password and for names alone.
fn meet_over_socks(mut stream: &TcpStream) -> io::Result<Option<String>> {
    fn read(mut stream: &TcpStream, count: u8) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; count.into()];
        stream.read_exact(&mut bytes).map(|()| bytes)
    }
    let methods = read(stream, 2)?;
    read(stream, methods[1])?;
    stream.write_all(&[5, 0])?;
    let request = read(stream, 5)?;
    assert_eq!(request[..4], [5, 1, 0, 3], "a name to connect to");
    let name = read(stream, request[4])?;
    let port = read(stream, 2)?;
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    let port = u16::from_be_bytes([port[0], port[1]]);
    Ok(Some(format!("{}:{port}", String::from_utf8(name).unwrap())))
}
