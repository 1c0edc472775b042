//! TLS before a test API server, with certificates of `tests/data/tls`.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::ApiServer;
use crate::{emulator, proxy::http};

/// The certificate authority of the server, in PEM.
pub fn authority() -> String {
    pem("authority.pem")
}

/// Another one, which has not signed the server's certificate.
pub fn other_authority() -> String {
    pem("other.pem")
}

fn pem(name: &str) -> String {
    fs::read_to_string(emulator::data("tls").join(name)).unwrap()
}

/// What speaks TLS in the name of an API server; it stops listening when it is dropped.
pub struct Tls {
    /// `127.0.0.1:<port>`.
    pub address: String,
    closed: Arc<AtomicBool>,
}

impl Tls {
    pub fn before(server: &ApiServer) -> Self {
        let folder = emulator::data("tls");
        let chain = CertificateDer::pem_file_iter(folder.join("server.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(chain.map(Result::unwrap).collect(), key)
            .unwrap();
        let (config, behind) = (Arc::new(config), server.address().to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let closed = Arc::new(AtomicBool::new(false));
        let is_closed = Arc::clone(&closed);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if is_closed.load(Ordering::Relaxed) {
                    break;
                }
                let (config, behind) = (Arc::clone(&config), behind.clone());
                thread::spawn(move || serve(stream.unwrap(), config, &behind));
            }
        });
        Self { address, closed }
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(&self.address);
    }
}

/// Passes requests on until the client has enough, or does not trust the certificate.
fn serve(stream: TcpStream, config: Arc<ServerConfig>, behind: &str) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let mut read = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while let Ok(count) = stream.read(&mut buffer) {
        if count == 0 {
            return;
        }
        read.extend_from_slice(&buffer[..count]);
        let Some(request) = http::parse_request(&read) else { continue };
        read.drain(..request.length);
        let response = http::forward(&request, behind);
        if stream.write_all(&response.to_bytes()).and_then(|()| stream.flush()).is_err() {
            return;
        }
    }
}
