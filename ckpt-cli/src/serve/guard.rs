//! Whether a request is answered. A page of another site can have a browser ask anything of this machine: by another name that
//! leads here, or blindly. So the name has to be one of this machine's own, and the address has to have the token.

use std::collections::BTreeMap;
use std::io::Read;

use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, ORIGIN, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

/// Bytes of randomness in a token.
const BYTES: usize = 16;

/// What a request has to have.
#[derive(Debug)]
pub struct Guard {
    /// Names of this machine for itself, with the port.
    hosts: Vec<String>,
    token: String,
}

/// A request that is answered.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// Whether it is to do something.
    pub does: bool,
    /// Behind the token: `api/jobs`.
    pub path: String,
    /// What stands behind `?`.
    pub query: BTreeMap<String, String>,
}

impl Guard {
    /// A guard with a token that nobody can guess.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn new(port: u16) -> std::io::Result<Guard> {
        let mut bytes = [0; BYTES];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let names = ["127.0.0.1", "localhost"];
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == 80 {
            hosts.extend(names.map(str::to_owned));
        }
        Ok(Guard { hosts, token })
    }

    /// What is typed into the browser.
    pub fn address(&self) -> String {
        format!("http://{}/{}/", self.hosts[0], self.token)
    }

    /// What is asked, or why it is not answered.
    ///
    /// # Errors
    /// It is none of ours.
    pub fn admits(&self, request: &Parts) -> Result<Asked, StatusCode> {
        let host = only(&request.headers, &HOST).ok_or(StatusCode::BAD_REQUEST)?;
        if !self.is_ours(host) {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        }
        let path = request.uri.path().strip_prefix('/').unwrap_or_default();
        let (token, path) = path.split_once('/').ok_or(StatusCode::FORBIDDEN)?;
        if !is_same(token.as_bytes(), self.token.as_bytes()) {
            return Err(StatusCode::FORBIDDEN);
        }
        let does = match request.method {
            Method::GET => false,
            Method::POST => true,
            _ => return Err(StatusCode::METHOD_NOT_ALLOWED),
        };
        let length = request.headers.get(CONTENT_LENGTH).map(HeaderValue::as_bytes);
        if request.headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|length| length != b"0") {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let origin = only(&request.headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        if does && !origin.is_some_and(|origin| self.is_ours(origin)) {
            return Err(StatusCode::FORBIDDEN);
        }
        Ok(Asked {
            does,
            path: path.to_owned(),
            query: query(request.uri.query().unwrap_or_default()).ok_or(StatusCode::BAD_REQUEST)?,
        })
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

/// The header, where there is exactly one of that name.
fn only<'h>(headers: &'h HeaderMap, name: &hyper::header::HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    all.next().is_none().then(|| first.to_str().ok())?
}

/// Whether they are the same, in a time that does not say where they differ.
fn is_same(given: &[u8], right: &[u8]) -> bool {
    let differ = given.iter().zip(right).fold(0, |differ, (a, b)| differ | (a ^ b));
    given.len() == right.len() && std::hint::black_box(differ) == 0
}

/// `a=b&c=d`, percent-decoded; nothing where it is not that.
fn query(text: &str) -> Option<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for part in text.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        if all.insert(decoded(name)?, decoded(value)?).is_some() {
            return None;
        }
    }
    Some(all)
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'%' => {
                let digit = |at: usize| char::from(*rest.get(at)?).to_digit(16);
                bytes.push((digit(0)? * 16 + digit(1)?) as u8);
                rest = &rest[2..];
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn guard() -> Guard {
        Guard::new(4000).unwrap()
    }

    fn admitted(guard: &Guard, method: &str, path: &str, headers: &[(&str, &str)]) -> Result<Asked, u16> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        guard.admits(&parts).map_err(|status| status.as_u16())
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:4000");

    #[test]
    fn the_token_and_a_name_of_this_machine_are_asked_for() {
        let guard = guard();
        let path = format!("/{}/api/jobs", guard.token);
        let get = |path: &str, headers: &[(&str, &str)]| admitted(&guard, "GET", path, headers);
        assert_eq!(get(&path, &[HERE]).unwrap().path, "api/jobs");
        assert!(get(&path, &[("host", "LOCALHOST:4000")]).is_ok());
        for host in [
            "evil.example:4000",
            "127.0.0.1:4001",
            "127.0.0.1",
            "127.0.0.1:4000.evil.example",
            "",
        ] {
            assert_eq!(get(&path, &[("host", host)]), Err(421), "{host}");
        }
        assert_eq!(get(&path, &[]), Err(400));
        assert_eq!(get(&path, &[HERE, HERE]), Err(400));
        let other = "0".repeat(guard.token.len());
        for wrong in [
            "/",
            "/api/jobs",
            "//api/jobs",
            &format!("/{other}/api/jobs"),
            &path[..20],
            &path[..33],
        ] {
            assert_eq!(get(wrong, &[HERE]), Err(403), "{wrong}");
        }
        assert_ne!(guard.token, self::guard().token);
        assert_eq!(guard.token.len(), 2 * BYTES);
    }

    #[test]
    fn what_does_something_comes_from_the_page_itself() {
        let guard = guard();
        let path = format!("/{}/api/stop", guard.token);
        let post = |headers: &[(&str, &str)]| admitted(&guard, "POST", &path, headers);
        let from = ("origin", "http://127.0.0.1:4000");
        assert!(post(&[HERE, from, ("content-length", "0")]).unwrap().does);
        assert_eq!(post(&[HERE]), Err(403));
        assert_eq!(post(&[HERE, ("origin", "http://evil.example")]), Err(403));
        assert_eq!(post(&[HERE, ("origin", "null")]), Err(403));
        assert_eq!(post(&[HERE, from, ("content-length", "1")]), Err(413));
        assert_eq!(post(&[HERE, from, ("transfer-encoding", "chunked")]), Err(413));
        for method in ["PUT", "DELETE", "HEAD", "OPTIONS", "ANYTHING"] {
            assert_eq!(admitted(&guard, method, &path, &[HERE]), Err(405), "{method}");
        }
    }

    #[test]
    fn a_query_is_decoded_or_refused() {
        let all = query("store=a%2Fb%20%26%3D%C3%A4&id=3&x").unwrap();
        assert_eq!(
            (all["store"].as_str(), all["id"].as_str(), all["x"].as_str()),
            ("a/b &=ä", "3", "")
        );
        for wrong in ["a=%", "a=%1", "a=%zz", "a=%ff", "a=1&a=2", "a=%+1"] {
            assert_eq!(query(wrong), None, "{wrong}");
        }
    }
}
