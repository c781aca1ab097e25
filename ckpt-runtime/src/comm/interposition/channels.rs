//! The program's channels: which communicators there are, what was sent and received on them, and which
//! operations are under way. The classes of functions enter what they see.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard};

use mpi_sys as mpi;
use mpi_sys::{MPI_Comm, MPI_Group, MPI_Message, MPI_Request, MPI_Status};

use super::constructor::By;
use crate::base::lock::locked;
use crate::comm::counters::{ChannelCounters, Route};

/// A communicator as all its members know it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub id: u64,
    /// Its ranks as ranks of the world; of an intercommunicator, those that messages go to.
    peers: Vec<i32>,
    /// All ranks of the world that take part in its collective operations.
    all: Vec<i32>,
    /// How many communicators were made of it.
    made: u64,
}

impl Known {
    /// The route of a message from `peer`; none if that is nobody.
    fn route_from(&self, peer: c_int, tag: c_int) -> Option<Route> {
        let peer = usize::try_from(peer).ok()?;
        Some(Route {
            communicator: self.id,
            source: *self.peers.get(peer)?,
            destination: own_rank(),
            tag,
        })
    }
}

#[derive(Debug, Clone)]
pub(super) enum Operation {
    Send(Route),
    /// On this communicator.
    Receive(u64),
    /// Of this message, whoever completes it.
    ReceiveOf(Route),
    /// One of this name on this communicator, which counts as made when it is started.
    Collective(u64, &'static str),
    /// One of this name, of which only its end is of interest.
    Named(&'static str),
    /// A persistent one, which is begun again and again.
    Persistent {
        begun: bool,
        of: Box<Operation>,
    },
}

#[derive(Debug)]
pub(super) struct Channels {
    counters: ChannelCounters,
    communicators: Option<HashMap<u64, Known>>,
    pub operations: Option<HashMap<u64, Operation>>,
    /// Messages that were found and not received yet: the communicator.
    pub found: Option<HashMap<u64, u64>>,
}

/// They belong to the process, as the library does: a session may be opened when there are communicators and requests
/// already. A leaf lock: no function of MPI that waits is called while it is held.
static CHANNELS: Mutex<Channels> = Mutex::new(Channels {
    counters: ChannelCounters::new(),
    communicators: None,
    operations: None,
    found: None,
});

pub(super) fn channels() -> MutexGuard<'static, Channels> {
    locked(&CHANNELS)
}

/// What was sent and received so far, and what is under way.
pub(in crate::comm) fn counters() -> ChannelCounters {
    let channels = channels();
    let mut counters = channels.counters.clone();
    let under_way = channels.operations.iter().flat_map(HashMap::values);
    counters.under_way = under_way.filter_map(Operation::words).collect();
    let found = channels.found.iter().flat_map(HashMap::values);
    counters
        .under_way
        .extend(found.map(|_| "a message that was found and not received".to_owned()));
    counters.under_way.sort();
    counters
}

impl Operation {
    fn words(&self) -> Option<String> {
        match self {
            Operation::Send(route) => Some(format!(
                "a send to rank {} with tag {}",
                route.destination, route.tag
            )),
            Operation::Receive(_) | Operation::ReceiveOf(_) => Some("a receive".into()),
            Operation::Collective(_, name) | Operation::Named(name) => Some(format!("`{name}`")),
            Operation::Persistent { begun, of } => begun.then(|| of.words()).flatten(),
        }
    }
}

/// A handle as a number: MPI's are numbers or addresses.
pub(super) fn number<T: Copy>(handle: T) -> u64 {
    let mut bytes = [0_u8; 8];
    let size = size_of::<T>().min(8);
    // SAFETY: a handle of MPI is a C integer or a pointer, of which every byte is initialised; no more than its size and
    // that of the array are copied.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const handle).cast::<u8>(), bytes.as_mut_ptr(), size);
    }
    u64::from_ne_bytes(bytes)
}

/// Whether a request is that of an operation.
pub(super) fn is_under_way(request: MPI_Request) -> bool {
    // SAFETY: a constant of the shim library.
    request != unsafe { mpi::RSMPI_REQUEST_NULL }
}

fn mixed(parts: &[u64]) -> u64 {
    let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
    twox_hash::XxHash3_64::oneshot(&bytes)
}

/// The ranks of the world that a communicator's messages go to, in its own order, and all that it joins, the same on
/// every one of them.
fn members(communicator: MPI_Comm) -> (Vec<i32>, Vec<i32>) {
    let mut inter = 0;
    // SAFETY: the communicator is the program's, and valid; all that is written to outlives the calls, and the arrays
    // have as many numbers as is said. These functions are local.
    unsafe {
        mpi::PMPI_Comm_test_inter(communicator, &mut inter);
        let mut group = mpi::RSMPI_GROUP_NULL;
        mpi::PMPI_Comm_group(communicator, &mut group);
        let own = in_world(group);
        if inter == 0 {
            return (own.clone(), own);
        }
        mpi::PMPI_Comm_remote_group(communicator, &mut group);
        let peers = in_world(group);
        let mut all = [own, peers.clone()].concat();
        all.sort_unstable();
        (peers, all)
    }
}

/// The members of a group as ranks of the world; the group is given back.
///
/// # Safety
/// The group is valid.
unsafe fn in_world(mut group: MPI_Group) -> Vec<i32> {
    // SAFETY: the caller's promise.
    let theirs = unsafe { ranks_of(group) };
    // SAFETY: the same.
    unsafe { mpi::PMPI_Group_free(&mut group) };
    theirs
}

/// The members of a group as ranks of the world.
///
/// # Safety
/// The group is valid.
pub(super) unsafe fn ranks_of(group: MPI_Group) -> Vec<i32> {
    let mut size = 0;
    // SAFETY: what is written to outlives the calls, and the arrays have as many numbers as is said.
    unsafe {
        let mut world = mpi::RSMPI_GROUP_NULL;
        mpi::PMPI_Comm_group(mpi::RSMPI_COMM_WORLD, &mut world);
        mpi::PMPI_Group_size(group, &mut size);
        let own: Vec<c_int> = (0..size).collect();
        let mut theirs = vec![0; own.len()];
        mpi::PMPI_Group_translate_ranks(group, size, own.as_ptr(), world, theirs.as_mut_ptr());
        mpi::PMPI_Group_free(&mut world);
        theirs
    }
}

fn own_rank() -> i32 {
    crate::comm::world::member().map_or(0, |member| member.rank as i32)
}

impl Channels {
    pub fn communicator(&mut self, communicator: MPI_Comm) -> &mut Known {
        let known = self.communicators.get_or_insert_default();
        known.entry(number(communicator)).or_insert_with(|| {
            let (peers, all) = members(communicator);
            let ids: Vec<u64> = all.iter().map(|&rank| rank as u64).collect();
            // SAFETY: a constant of the shim library.
            let is_world = communicator == unsafe { mpi::RSMPI_COMM_WORLD };
            Known {
                id: if is_world { 0 } else { mixed(&ids) },
                peers,
                all,
                made: 0,
            }
        })
    }

    /// The route of a message to `peer`; none if that is nobody.
    pub fn route(&mut self, communicator: MPI_Comm, peer: c_int, tag: c_int) -> Option<Route> {
        let known = self.communicator(communicator);
        let destination = *known.peers.get(usize::try_from(peer).ok()?)?;
        Some(Route {
            communicator: known.id,
            source: own_rank(),
            destination,
            tag,
        })
    }

    pub fn sends(&mut self, communicator: MPI_Comm, peer: c_int, tag: c_int) -> Option<Route> {
        let route = self.route(communicator, peer, tag)?;
        self.counters.sent(route.clone());
        Some(route)
    }

    /// The route of a message from `peer`; none if that is nobody.
    pub fn route_from(&mut self, communicator: MPI_Comm, peer: c_int, tag: c_int) -> Option<Route> {
        self.communicator(communicator).route_from(peer, tag)
    }

    fn with_id(&self, id: u64) -> Option<&Known> {
        let mut known = self.communicators.iter().flat_map(HashMap::values);
        known.find(|known| known.id == id)
    }

    pub fn receives(&mut self, communicator: u64, status: &MPI_Status) {
        let known = self.with_id(communicator);
        let route = known.and_then(|known| known.route_from(status.MPI_SOURCE, status.MPI_TAG));
        if let Some(route) = route {
            self.counters.received(route);
        }
    }

    /// `handle` is that of a request, or of a file that has no more than one operation under way.
    pub fn begins<H: Copy>(&mut self, handle: H, operation: Operation) {
        self.operations
            .get_or_insert_default()
            .insert(number(handle), operation);
    }

    /// An operation that is begun each time that its request is started.
    pub fn prepares(&mut self, request: MPI_Request, of: Operation) {
        let of = Box::new(of);
        self.begins(request, Operation::Persistent { begun: false, of });
    }

    /// A request is given back, or what a file had under way is over.
    pub fn forgets(&mut self, handle: u64) {
        self.operations.get_or_insert_default().remove(&handle);
    }

    /// A message was found on a communicator, and is to be received by its handle.
    pub fn finds(&mut self, communicator: MPI_Comm, message: MPI_Message) {
        let id = self.communicator(communicator).id;
        self.found.get_or_insert_default().insert(number(message), id);
    }

    /// A message that was found is received: the communicator.
    pub fn takes(&mut self, message: u64) -> Option<u64> {
        self.found.get_or_insert_default().remove(&message)
    }

    /// An operation is complete, with this status; `handle` is what its request was.
    pub fn completes(&mut self, handle: u64, status: &MPI_Status) {
        let Some(operations) = &mut self.operations else {
            return;
        };
        let operation = match operations.get_mut(&handle) {
            Some(Operation::Persistent { begun, of }) => {
                *begun = false;
                Some((**of).clone())
            }
            Some(_) => operations.remove(&handle),
            None => None,
        };
        let mut cancelled = 0;
        // SAFETY: the status is one that the library has filled in.
        unsafe { mpi::PMPI_Test_cancelled(status, &mut cancelled) };
        match operation {
            Some(Operation::Send(route)) if cancelled != 0 => self.counters.withdrawn(&route),
            Some(Operation::Receive(communicator)) if cancelled == 0 => self.receives(communicator, status),
            Some(Operation::ReceiveOf(route)) => self.counters.received(route),
            _ => {}
        }
    }

    pub fn starts(&mut self, handle: u64) {
        let operation = self.operations.get_or_insert_default().get_mut(&handle);
        if let Some(Operation::Persistent { begun, of }) = operation {
            *begun = true;
            match (**of).clone() {
                Operation::Send(route) => self.counters.sent(route),
                Operation::Collective(id, _) => {
                    if let Some(all) = self.with_id(id).map(|known| known.all.clone()) {
                        self.counters.collective(id, &all);
                    }
                }
                _ => {}
            }
        }
    }

    /// A collective operation was made on a communicator.
    pub fn collective(&mut self, communicator: MPI_Comm) {
        let Known { id, all, .. } = self.communicator(communicator).clone();
        self.counters.collective(id, &all);
    }

    /// A communicator was made of another.
    pub fn made(&mut self, of: MPI_Comm, by: By, new: MPI_Comm) {
        let parent = self.communicator(of);
        let number_of_it = match by {
            By::Everybody => parent.made,
            By::Members => u64::MAX,
        };
        parent.made += u64::from(by == By::Everybody);
        let id = parent.id;
        // SAFETY: a constant of the shim library.
        if new == unsafe { mpi::RSMPI_COMM_NULL } {
            return;
        }
        let (peers, all) = members(new);
        let mut parts = vec![id, number_of_it];
        parts.extend(all.iter().map(|&rank| rank as u64));
        let known = Known {
            id: mixed(&parts),
            peers,
            all,
            made: 0,
        };
        self.communicators
            .get_or_insert_default()
            .insert(number(new), known);
    }

    /// A communicator is given back: its handle may be used for another.
    pub fn freed(&mut self, communicator: MPI_Comm) {
        self.communicators
            .get_or_insert_default()
            .remove(&number(communicator));
    }
}

/// The statuses that the library fills in: the program's, or ours where the program wants none.
pub(super) struct Statuses {
    first: *const MPI_Status,
    /// What `first` points to, where it is not the program's.
    _own: Vec<MPI_Status>,
}

impl Statuses {
    /// From now on the call is one that wants `count` statuses; `place` is where it has them.
    ///
    /// # Safety
    /// `place` can be read and written; it points to so many statuses, or is one of MPI's constants for none.
    pub unsafe fn wanted(place: *mut *mut MPI_Status, count: c_int) -> Statuses {
        // SAFETY: the caller's promise; constants of the shim library.
        let (theirs, ignored) = unsafe {
            let theirs = *place;
            (
                theirs,
                theirs == mpi::RSMPI_STATUS_IGNORE || theirs == mpi::RSMPI_STATUSES_IGNORE,
            )
        };
        if !ignored {
            return Statuses {
                first: theirs,
                _own: Vec::new(),
            };
        }
        // SAFETY: a status is made of C integers, for which zero is a value.
        let empty = || unsafe { std::mem::zeroed::<MPI_Status>() };
        let mut own: Vec<MPI_Status> = (0..count.max(1)).map(|_| empty()).collect();
        let first = own.as_mut_ptr();
        // SAFETY: the caller's promise; the vector lives until the call has been made, and does not move its items.
        unsafe { *place = first };
        Statuses { first, _own: own }
    }

    /// The one at this place.
    ///
    /// # Safety
    /// The library has filled in so many.
    pub unsafe fn at(&self, place: usize) -> &MPI_Status {
        // SAFETY: the caller's promise.
        unsafe { &*self.first.add(place) }
    }
}

impl Default for Statuses {
    fn default() -> Self {
        Statuses {
            first: std::ptr::null(),
            _own: Vec::new(),
        }
    }
}
