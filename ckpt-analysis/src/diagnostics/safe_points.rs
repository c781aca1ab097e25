//! What to do about a site that is no safe point, in words. Where a message does cross, nothing vouches for the site.

use ckpt_compiler::diagnostics::Prose;
use ckpt_safepoints::WayOut;

const VOUCH: &str =
    "or, where you know that no message crosses, vouch for the site: `ckpt::checkpoint!(safe);`";

const ROUNDS: &str = "deal the work out in rounds, in each of which every worker sends one result and rank 0 receives one from each, and end \
     the round with `world.barrier();`, where the site can be. Between them there is no place for one: that takes a log of the messages, which a \
     later version is to have, and no attribute helps";

/// What to write instead; `call` is the call, or the crate, that is in the way.
pub(super) fn instead(way: WayOut, call: &str) -> Prose {
    match way {
        WayOut::ReceiveInTurn => {
            "receive the message in the turn that sends it, before the site; or put `ckpt::checkpoint!();` behind its receive, \
             where it is looked at"
                .into()
        }
        WayOut::WaitFirst => {
            "wait for it before the site (`wait()`, `get()`, the end of its `request::scope`), or put `ckpt::checkpoint!();` behind that"
                .into()
        }
        WayOut::TakeFirst => "receive it (`matched_receive`) before the site, or put `ckpt::checkpoint!();` behind that".into(),
        WayOut::CallAlike => {
            "let all ranks make this call on the same side of the site, and in the same order as their other calls".into()
        }
        WayOut::EndTurn => format!(
            "where all ranks go round equally often, end the turn with `world.barrier();` or another call of all ranks, or receive \
             from each rank by its number. Where workers are served as they come until the work is done, {ROUNDS}"
        )
        .into(),
        WayOut::EquallyOften => {
            "let all ranks go round that loop equally often, or put `ckpt::checkpoint!();` into the loop around it, in which they do"
                .into()
        }
        WayOut::Phase => {
            "no message is exchanged in this loop: write `ckpt::checkpoint!(phase);` there and `ckpt::checkpoint!(phase_end);` \
             as the first statement behind the loop, and each rank takes its own checkpoints in it"
                .into()
        }
        WayOut::Rounds => ROUNDS.into(),
        WayOut::DecideAlike => format!(
            "decide it on what all ranks have, such as what `all_reduce_into` or `broadcast_into` has given to all; {VOUCH}"
        )
        .into(),
        WayOut::FewerRanks => format!("say with `-n` for how many ranks it is to be looked at, fewer than here; {VOUCH}").into(),
        WayOut::TellCrate => format!(
            "say in `[calls.messages.{call}]` of ckpt.toml what its calls exchange, as `norm = {{ collective = \"all\", comm = 0 }}`: \
             those that are not named there exchange nothing; or take the crate into the workspace, where it is read as the program is. \
             The library of messages itself must have its own name in Cargo.toml"
        )
        .into(),
        WayOut::OutsideOfThreads => {
            "exchange the messages where no thread with a site runs: start the threads for each step, and exchange between two steps. \
             No attribute helps"
                .into()
        }
        WayOut::NotInDestructor => "exchange them in a function that is called where the value is done with".into(),
        WayOut::LibraryCalls => format!(
            "make a call of `mpi` that is followed: all are but those that start processes, share memory or cancel, and those past it; {VOUCH}"
        )
        .into(),
        WayOut::WaitForIt => format!(
            "wait for it, or ask in a loop that does nothing for other ranks until it is there; {VOUCH}"
        )
        .into(),
        WayOut::BetweenStatements => "put it between two statements of a loop's body".into(),
        WayOut::Follow => format!(
            "compute ranks, tags and numbers of turns from `rank()`, `size()`, numbers and what all ranks have been given, in functions that are \
             called by their names; {VOUCH}"
        )
        .into(),
    }
}
