//! Functions that tell of a communicator or a request, or set what only this rank knows of it, and those whose traffic is
//! not followed: one-sided communication and generalised requests.

use super::passage::Uncounted;

/// No message is sent or received, as far as the counters go.
pub(super) struct Local;

impl Uncounted for Local {}

/// Remote memory is read and written, which is over when the window says so, not at a receive. rsmpi has none of it.
pub(super) struct OneSided;

impl Uncounted for OneSided {}
