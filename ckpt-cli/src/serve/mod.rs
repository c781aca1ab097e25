//! Jobs and checkpoints in a browser: a server on this machine's own address, for those who have the token in its address.
//!
//! `server` accepts connections and says what every answer says, `guard` decides whether a request is answered at all, `found`
//! which stores there are, `answers` what is answered, `stop` how a job is asked to stop; `page/` is what the browser runs. Stores
//! are data: of a request nothing becomes a path, names are looked up among those that were found.

mod answers;
mod found;
mod guard;
mod plan;
mod server;
mod stop;

pub use server::{Options, serve};
