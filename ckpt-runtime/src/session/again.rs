//! How a program goes on from a checkpoint without being started again: in its process, which becomes what it was when it was
//! started, or as a new program in its place (`exec`), with the same number, arguments and environment. The second is always
//! possible, and needed where threads run that nobody can stop from outside, or where nothing unwinds.

use std::env;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use super::config::ROLLBACK_FAULT;
use super::{LEAVING_MARK, ROLLBACK_MARK};
use crate::base::fault::RollbackFault;
use crate::base::report::{Code, Fatal, Headline, exit_code, say};
use crate::base::rollback::NotRolledBack;
use crate::comm;
use crate::context::rollback::GoesOn;
use crate::state::{process, standard_streams};

/// The executable of this process, whatever has become of its name.
const OF_THIS_PROCESS: &str = "/proc/self/exe";

/// The functions of the program are about to be left.
pub(super) fn leaves(is_shown: bool) {
    if is_shown {
        standard_streams::print(LEAVING_MARK);
    }
}

/// The process becomes what it was when it was started, as far as it can.
pub(super) fn as_at_start(how: &GoesOn) {
    if how.is_shown {
        standard_streams::print(ROLLBACK_MARK);
    }
    standard_streams::begin_anew(how.input);
    process::as_at_start();
}

/// The program begins anew in this process, as a restart from the checkpoint. Gives why that cannot be.
pub(super) fn as_a_new_process(how: &GoesOn) -> io::Error {
    if comm::goes_back_with().is_some() {
        return io::Error::other(OF_SEVERAL);
    }
    as_at_start(how);
    let mut arguments = env::args_os();
    let mut command = Command::new(executable());
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    command
        .args(arguments)
        .env(
            "CKPT_RESTART",
            match how.named() {
                Some(id) => id.0.to_string(),
                None => "latest".to_owned(),
            },
        )
        .env("CKPT_RUN", how.run.to_string())
        .env_remove("CKPT_TAKEN_BY");
    let visits: Vec<String> = how.rollbacks.iter().map(RollbackFault::to_string).collect();
    match visits.is_empty() {
        true => command.env_remove("CKPT_FAULT"),
        false => command.env("CKPT_FAULT", format!("{ROLLBACK_FAULT}{}", visits.join(","))),
    };
    if let Some(left) = how.time_left() {
        command.env("CKPT_TIME_LIMIT", format!("{}ms", left.as_millis()));
    }
    comm::is_replaced();
    process::closes_when_replaced();
    command.exec()
}

/// Says why it does.
pub(super) fn say_why(headline: &str) {
    say(&format!(
        "warning[W2092]: the process begins anew, as the program could not go back in it: {headline}"
    ));
}

/// A rank cannot begin anew without the others: all end.
const OF_SEVERAL: &str = "it is one of several ranks, which MPI has brought up together";

/// What a rank says that has to begin anew for this.
pub(super) fn ends_the_job(headline: &str) -> Fatal {
    not_begun(&io::Error::other(format!(
        "{OF_SEVERAL}; it could not go back in it: {headline}"
    )))
}

/// By its name, which is what lists of processes show, unless that is another one by now.
fn executable() -> PathBuf {
    let of_process = PathBuf::from(OF_THIS_PROCESS);
    let identity = |path: &PathBuf| path.metadata().map(|meta| (meta.dev(), meta.ino())).ok();
    env::current_exe()
        .ok()
        .filter(|named| identity(named).is_some() && identity(named) == identity(&of_process))
        .unwrap_or(of_process)
}

/// What ends the run then.
pub(super) fn not_begun(error: &io::Error) -> Fatal {
    let why = NotRolledBack::NotBegun {
        why: error.to_string(),
    };
    let code = match comm::goes_back_with() {
        Some(_) => comm::FAILED,
        None => exit_code::REFUSED,
    };
    Fatal::new(code, Headline::new(Code(2389), why.to_string()))
        .why("the program was going back to a checkpoint, and its functions have been left")
        .help("restart it from the checkpoint")
}
