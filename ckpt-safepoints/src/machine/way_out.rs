//! What a user can do about what stands in a site's way, as a value: the words for it are elsewhere.

/// What can be done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum WayOut {
    /// Receive the message in the turn that sends it, or have the site behind the receive.
    ReceiveInTurn,
    /// Wait for what has been begun before the site.
    WaitFirst,
    /// Receive a message that has been matched before the site.
    TakeFirst,
    /// Make the call of all ranks on the same side of the site on all of them, in the same order.
    CallAlike,
    /// End the turn with a call of all ranks, so that nobody sends ahead; or work in rounds.
    EndTurn,
    /// Let all ranks go round the loop equally often.
    EquallyOften,
    /// The loop exchanges no messages: each rank may take checkpoints in it for itself.
    Phase,
    /// Workers are served as they come: deal the work out in rounds.
    Rounds,
    /// Decide on what all ranks have.
    DecideAlike,
    /// Say for how many ranks it is to be shown, fewer of them.
    FewerRanks,
    /// Tell what the crate's calls exchange, or take it into the workspace.
    TellCrate,
    /// Exchange messages where no other thread with a site runs.
    OutsideOfThreads,
    /// Exchange them in a function that is called.
    NotInDestructor,
    /// Make the calls of the library that are followed.
    LibraryCalls,
    /// Wait for the message or request.
    WaitForIt,
    /// Put the site between two statements of a loop's body.
    BetweenStatements,
    /// Write it so that it can be followed.
    #[default]
    Follow,
}
