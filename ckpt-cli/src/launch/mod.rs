//! From a command line to a running program: `choice` finds which one is meant, `cargo` builds it, `session` turns
//! options into the environment that the library reads, `child` starts it, forwards signals and waits, `restarts`
//! starts it again when it dies, `ranks` starts programs of several processes, `mapping` tells it where its files are now, `record` remembers how it was built.

pub mod cargo;
pub mod child;
pub mod choice;
pub mod mapping;
mod progress;
pub mod ranks;
pub mod record;
pub mod restarts;
pub mod session;

pub use cargo::{CargoOptions, Program};
pub use child::{Ending, Supervisor};
pub use choice::Choice;
pub use ranks::RankOptions;
pub use record::{FILE as RECORD_FILE, Record};
pub use restarts::{Begin, RestartOptions};
pub use session::SessionOptions;
