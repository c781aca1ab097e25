//! From a built program to a running one: `session` turns options into the environment that the library reads, `child` starts
//! it, forwards signals and waits, `heard` sees that ranks hear of them, `restarts` starts it again when it dies, `ranks` starts programs of several processes,
//! `mapping` passes on where its files are now, `record` remembers how it was built.

pub mod child;
pub mod heard;
pub mod mapping;
pub mod ranks;
pub mod record;
pub mod restarts;
pub mod session;
pub mod starts_over;

pub use child::{Ending, Supervisor};
pub use ranks::RankOptions;
pub use record::{FILE as RECORD_FILE, Record, is_known_here, was_started_here};
pub use restarts::{Begin, RestartOptions};
pub use session::SessionOptions;
