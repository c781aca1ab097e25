//! Connections: few at a time, one request each, with limits of size and time. What is asked is answered one after the other, by
//! a thread that has the stores, and one for plans, which take longer.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::task::Poll;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::answers::{Answer, Answers};
use super::guard::{Asked, Guard};
use crate::failure::{Failure, OrFail, Outcome, says};

/// Connections at a time; others wait.
const CONNECTIONS: usize = 32;
/// Bytes of a request, and its headers.
const REQUEST: usize = 16 << 10;
const HEADERS: usize = 64;
/// A request has to be there after so long,
const ASKING: Duration = Duration::from_secs(10);
/// and an answer taken after so long: large checkpoints are read from slow disks.
const ANSWERING: Duration = Duration::from_secs(600);
/// Sources nest deeply, and are walked by recursion.
const STACK: usize = 256 << 20;

/// What is served.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder whose stores are shown.
    pub root: PathBuf,
    /// The port; 0 for one that is free.
    pub port: u16,
    /// Whether jobs can be stopped.
    pub allow_stop: bool,
}

/// What every answer says: nothing from elsewhere is loaded, nobody else may show it, nothing is kept.
const POLICY: [(HeaderName, &str); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (header::CONNECTION, "close"),
];
const CONTENT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The plan has its style in itself, and stands in a frame of the page.
const CONTENT_OF_PLAN: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'self'";

/// Answers until Ctrl-C or SIGTERM; `announce` is given the address once it can be asked.
///
/// # Errors
/// The port is taken.
pub fn serve(options: &Options, announce: impl FnOnce(&str)) -> Outcome<()> {
    let port = options.port;
    let cannot = || {
        Failure::store(says!("E3230: cannot listen on port {port} of this machine"))
            .help("choose another with `--port`; without it, one that is free is taken")
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().or_fail(cannot)?;
    let outcome = runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.or_fail(cannot)?;
        let port = listener.local_addr().or_fail(cannot)?.port();
        let guard = Guard::new(port).or_fail(cannot)?;
        let mut ends = Vec::new();
        for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
            ends.push(signal(kind).or_fail(cannot)?);
        }
        let address = guard.address();
        let desk = Desk {
            guard,
            stores: worker("stores", options).or_fail(cannot)?,
            plans: worker("plans", options).or_fail(cannot)?,
        };
        tokio::spawn(accept(listener, Arc::new(desk)));
        announce(&address);
        ended(ends).await;
        Ok(())
    });
    // Whoever still reads an answer is not waited for.
    runtime.shutdown_background();
    outcome
}

/// Waits for the first of the signals.
async fn ended(mut ends: Vec<Signal>) {
    std::future::poll_fn(
        |context| match ends.iter_mut().any(|end| end.poll_recv(context).is_ready()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        },
    )
    .await;
}

type Question = (Asked, oneshot::Sender<Answer>);

/// Where requests go.
struct Desk {
    guard: Guard,
    stores: SyncSender<Question>,
    plans: SyncSender<Question>,
}

fn worker(name: &str, options: &Options) -> std::io::Result<SyncSender<Question>> {
    let (sender, questions): (_, Receiver<Question>) = sync_channel(CONNECTIONS);
    let mut answers = Answers::new(options.clone());
    let thread = std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK);
    thread.spawn(move || {
        for (asked, reply) in questions {
            // Who has gone away needs no answer.
            if !reply.is_closed() {
                let _ = reply.send(answers.answer(&asked));
            }
        }
    })?;
    Ok(sender)
}

async fn accept(listener: TcpListener, desk: Arc<Desk>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(connection(stream, Arc::clone(&desk), place))),
            // No more files can be opened: until others are closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn connection(stream: TcpStream, desk: Arc<Desk>, place: OwnedSemaphorePermit) {
    let service = service_fn(|request: Request<Incoming>| {
        let desk = Arc::clone(&desk);
        async move { Ok::<_, Infallible>(answered(&desk, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ASKING)
        .keep_alive(false)
        .max_buf_size(REQUEST)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    // A connection that breaks is the browser's to notice.
    let _ = tokio::time::timeout(ANSWERING, connection).await;
    drop(place);
}

async fn answered(desk: &Desk, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    drop(body);
    let asked = match desk.guard.admits(&parts) {
        Ok(asked) => asked,
        Err(status) => return response(Answer::refused(status)),
    };
    let worker = match asked.path.as_str() {
        "plan" => &desk.plans,
        _ => &desk.stores,
    };
    let (reply, answer) = oneshot::channel();
    let answer = match worker.try_send((asked, reply)) {
        Ok(()) => answer.await.ok(),
        Err(_) => None,
    };
    response(answer.unwrap_or_else(|| Answer::refused(StatusCode::SERVICE_UNAVAILABLE)))
}

fn response(answer: Answer) -> Response<Full<Bytes>> {
    let content = if answer.is_plan { CONTENT_OF_PLAN } else { CONTENT };
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    for (name, value) in POLICY {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(content));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.kind));
    response
}
