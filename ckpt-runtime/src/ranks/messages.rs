//! The program's messages, counted on their way to the library: every function that sends, receives, begins or completes a
//! message stands here under its own name and calls the library's by its `PMPI_` name. Nothing is counted unless
//! [`checks`] says so.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_sys as mpi;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Group, MPI_Message, MPI_Request, MPI_Status};

use super::check::checks;
use super::ledger::{Ledger, Route};

/// A communicator as all its members know it.
#[derive(Debug, Clone)]
struct Known {
    id: u64,
    /// Its ranks as ranks of the world; of an intercommunicator, those that messages go to.
    peers: Vec<i32>,
    /// All ranks of the world that take part in its collective operations.
    all: Vec<i32>,
    /// How many communicators were made of it.
    made: u64,
}

#[derive(Debug, Clone)]
enum Operation {
    Send(Route),
    /// On this communicator.
    Receive(u64),
    Collective(&'static str),
    /// A persistent one, which is begun again and again.
    Persistent {
        begun: bool,
        of: Box<Operation>,
    },
}

#[derive(Debug)]
struct Books {
    ledger: Ledger,
    communicators: Option<HashMap<u64, Known>>,
    operations: Option<HashMap<u64, Operation>>,
    /// Messages that were found and not received yet: the communicator.
    found: Option<HashMap<u64, u64>>,
}

/// A leaf lock: no function of MPI that waits is called while it is held.
static BOOKS: Mutex<Books> = Mutex::new(Books {
    ledger: Ledger::new(),
    communicators: None,
    operations: None,
    found: None,
});

fn books() -> MutexGuard<'static, Books> {
    BOOKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was sent and received so far, and what is under way.
pub(super) fn ledger() -> Ledger {
    let books = books();
    let mut ledger = books.ledger.clone();
    let under_way = books.operations.iter().flat_map(HashMap::values);
    ledger.under_way = under_way.filter_map(Operation::words).collect();
    let found = books.found.iter().flat_map(HashMap::values);
    ledger
        .under_way
        .extend(found.map(|_| "a message that was found and not received".to_owned()));
    ledger.under_way.sort();
    ledger
}

impl Operation {
    fn words(&self) -> Option<String> {
        match self {
            Operation::Send(route) => Some(format!(
                "a send to rank {} with tag {}",
                route.destination, route.tag
            )),
            Operation::Receive(_) => Some("a receive".into()),
            Operation::Collective(name) => Some(format!("`{name}`")),
            Operation::Persistent { begun, of } => begun.then(|| of.words()).flatten(),
        }
    }
}

/// A handle as a number: MPI's are numbers or addresses.
fn number<T: Copy>(handle: T) -> u64 {
    let mut bytes = [0_u8; 8];
    let size = size_of::<T>().min(8);
    // SAFETY: a handle of MPI is a C integer or a pointer, of which every byte is initialised; no more than its size and
    // that of the array are copied.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const handle).cast::<u8>(), bytes.as_mut_ptr(), size);
    }
    u64::from_ne_bytes(bytes)
}

fn mixed(parts: &[u64]) -> u64 {
    let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
    xxhash_rust::xxh3::xxh3_64(&bytes)
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
    let mut size = 0;
    // SAFETY: what is written to outlives the calls, and the arrays have as many numbers as is said.
    unsafe {
        let mut world = mpi::RSMPI_GROUP_NULL;
        mpi::PMPI_Comm_group(mpi::RSMPI_COMM_WORLD, &mut world);
        mpi::PMPI_Group_size(group, &mut size);
        let own: Vec<c_int> = (0..size).collect();
        let mut theirs = vec![0; own.len()];
        mpi::PMPI_Group_translate_ranks(group, size, own.as_ptr(), world, theirs.as_mut_ptr());
        mpi::PMPI_Group_free(&mut group);
        mpi::PMPI_Group_free(&mut world);
        theirs
    }
}

fn own_rank() -> i32 {
    super::world::member().map_or(0, |member| member.rank as i32)
}

impl Books {
    fn communicator(&mut self, communicator: MPI_Comm) -> &mut Known {
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

    /// The route of a message to or from `peer`; none if that is nobody.
    fn route(&mut self, communicator: MPI_Comm, peer: c_int, tag: c_int, sends: bool) -> Option<Route> {
        let known = self.communicator(communicator);
        let peer = *known.peers.get(usize::try_from(peer).ok()?)?;
        let (source, destination) = if sends {
            (own_rank(), peer)
        } else {
            (peer, own_rank())
        };
        Some(Route {
            communicator: known.id,
            source,
            destination,
            tag,
        })
    }

    fn sends(&mut self, communicator: MPI_Comm, peer: c_int, tag: c_int) -> Option<Route> {
        let route = self.route(communicator, peer, tag, true)?;
        self.ledger.sent(route.clone());
        Some(route)
    }

    fn receives(&mut self, communicator: u64, status: &MPI_Status) {
        let known = self.communicators.iter().flat_map(HashMap::values);
        let Some(known) = known.into_iter().find(|known| known.id == communicator) else {
            return;
        };
        let peer = usize::try_from(status.MPI_SOURCE).ok();
        let Some(&source) = peer.and_then(|peer| known.peers.get(peer)) else {
            return;
        };
        self.ledger.received(Route {
            communicator,
            source,
            destination: own_rank(),
            tag: status.MPI_TAG,
        });
    }

    fn begins(&mut self, request: MPI_Request, operation: Operation) {
        self.operations
            .get_or_insert_default()
            .insert(number(request), operation);
    }

    /// An operation is complete, with this status; `handle` is what its request was.
    fn completes(&mut self, handle: u64, status: &MPI_Status) {
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
            Some(Operation::Send(route)) if cancelled != 0 => self.ledger.withdrawn(&route),
            Some(Operation::Receive(communicator)) if cancelled == 0 => self.receives(communicator, status),
            _ => {}
        }
    }

    fn starts(&mut self, handle: u64) {
        let operation = self.operations.get_or_insert_default().get_mut(&handle);
        if let Some(Operation::Persistent { begun, of }) = operation {
            *begun = true;
            if let Operation::Send(route) = &**of {
                let route = route.clone();
                self.ledger.sent(route);
            }
        }
    }
}

/// A collective operation was made on a communicator.
pub(super) fn collective(communicator: MPI_Comm) {
    if checks() {
        let mut books = books();
        let Known { id, all, .. } = books.communicator(communicator).clone();
        books.ledger.collective(id, &all);
    }
}

/// And is not complete yet.
pub(super) fn collective_begins(communicator: MPI_Comm, name: &'static str, request: MPI_Request) {
    if checks() {
        collective(communicator);
        books().begins(request, Operation::Collective(name));
    }
}

/// A communicator was made of another; `of_group` if only its own members know of it.
pub(super) fn made(of: MPI_Comm, of_group: bool, new: MPI_Comm) {
    // SAFETY: a constant of the shim library.
    let is_nothing = new == unsafe { mpi::RSMPI_COMM_NULL };
    if !checks() {
        return;
    }
    let mut books = books();
    let parent = books.communicator(of);
    let number_of_it = if of_group { u64::MAX } else { parent.made };
    parent.made += u64::from(!of_group);
    let id = parent.id;
    if is_nothing {
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
    books
        .communicators
        .get_or_insert_default()
        .insert(number(new), known);
}

/// A communicator is given back: its handle may be used for another.
pub(super) fn freed(communicator: MPI_Comm) {
    if checks() {
        books()
            .communicators
            .get_or_insert_default()
            .remove(&number(communicator));
    }
}

macro_rules! sends {
    ($($name:ident $library:ident,)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            buffer: *const c_void, count: c_int, datatype: MPI_Datatype, to: c_int, tag: c_int, communicator: MPI_Comm,
        ) -> c_int {
            if checks() {
                books().sends(communicator, to, tag);
            }
            // SAFETY: the caller's promise.
            unsafe { mpi::$library(buffer, count, datatype, to, tag, communicator) }
        }
    )*};
}

sends! {
    MPI_Send PMPI_Send, MPI_Ssend PMPI_Ssend, MPI_Bsend PMPI_Bsend, MPI_Rsend PMPI_Rsend,
}

macro_rules! begins_sends {
    ($($name:ident $library:ident $is_persistent:literal,)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            buffer: *const c_void, count: c_int, datatype: MPI_Datatype, to: c_int, tag: c_int, communicator: MPI_Comm,
            request: *mut MPI_Request,
        ) -> c_int {
            // SAFETY: the caller's promise.
            let code = unsafe { mpi::$library(buffer, count, datatype, to, tag, communicator, request) };
            if checks() {
                // SAFETY: the caller's promise: it points to a request.
                let request = unsafe { *request };
                let mut books = books();
                if $is_persistent {
                    if let Some(route) = books.route(communicator, to, tag, true) {
                        let of = Box::new(Operation::Send(route));
                        books.begins(request, Operation::Persistent { begun: false, of });
                    }
                } else if let Some(route) = books.sends(communicator, to, tag) {
                    books.begins(request, Operation::Send(route));
                }
            }
            code
        }
    )*};
}

begins_sends! {
    MPI_Isend PMPI_Isend false, MPI_Issend PMPI_Issend false, MPI_Ibsend PMPI_Ibsend false, MPI_Irsend PMPI_Irsend false,
    MPI_Send_init PMPI_Send_init true, MPI_Ssend_init PMPI_Ssend_init true, MPI_Bsend_init PMPI_Bsend_init true,
    MPI_Rsend_init PMPI_Rsend_init true,
}

macro_rules! begins_receives {
    ($($name:ident $library:ident $is_persistent:literal,)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            buffer: *mut c_void, count: c_int, datatype: MPI_Datatype, from: c_int, tag: c_int, communicator: MPI_Comm,
            request: *mut MPI_Request,
        ) -> c_int {
            // SAFETY: the caller's promise.
            let code = unsafe { mpi::$library(buffer, count, datatype, from, tag, communicator, request) };
            // SAFETY: a constant of the shim library.
            if checks() && from != unsafe { mpi::RSMPI_PROC_NULL } {
                let mut books = books();
                let operation = Operation::Receive(books.communicator(communicator).id);
                let operation = match $is_persistent {
                    true => Operation::Persistent { begun: false, of: Box::new(operation) },
                    false => operation,
                };
                // SAFETY: the caller's promise: it points to a request.
                books.begins(unsafe { *request }, operation);
            }
            code
        }
    )*};
}

begins_receives! {
    MPI_Irecv PMPI_Irecv false, MPI_Recv_init PMPI_Recv_init true,
}

/// The status that the library is to fill in: the program's, or one of our own where the program wants none.
///
/// # Safety
/// `theirs` points to `count` of them, or is one of MPI's constants for none.
unsafe fn statuses(theirs: *mut MPI_Status, count: c_int, own: &mut Vec<MPI_Status>) -> *mut MPI_Status {
    // SAFETY: constants of the shim library.
    let ignored = unsafe { theirs == mpi::RSMPI_STATUS_IGNORE || theirs == mpi::RSMPI_STATUSES_IGNORE };
    if !ignored {
        return theirs;
    }
    // SAFETY: a status is made of C integers, for which zero is a value.
    let empty = || unsafe { std::mem::zeroed::<MPI_Status>() };
    own.extend((0..count.max(1)).map(|_| empty()));
    own.as_mut_ptr()
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Recv(
    buffer: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    from: c_int,
    tag: c_int,
    communicator: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Recv(buffer, count, datatype, from, tag, communicator, status);
        }
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Recv(buffer, count, datatype, from, tag, communicator, status);
        let mut books = books();
        let id = books.communicator(communicator).id;
        books.receives(id, &*status);
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Sendrecv(
    sent: *const c_void,
    sent_count: c_int,
    sent_type: MPI_Datatype,
    to: c_int,
    sent_tag: c_int,
    buffer: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    from: c_int,
    tag: c_int,
    communicator: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    let mut own = Vec::new();
    // SAFETY: the caller's promise.
    let status = match checks() {
        true => unsafe { statuses(status, 1, &mut own) },
        false => status,
    };
    // SAFETY: the caller's promise.
    let code = unsafe {
        mpi::PMPI_Sendrecv(
            sent,
            sent_count,
            sent_type,
            to,
            sent_tag,
            buffer,
            count,
            datatype,
            from,
            tag,
            communicator,
            status,
        )
    };
    // SAFETY: the library has filled it in, if there is something to count.
    unsafe { exchanged(communicator, to, sent_tag, status) };
    code
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Sendrecv_replace(
    buffer: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    to: c_int,
    sent_tag: c_int,
    from: c_int,
    tag: c_int,
    communicator: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    let mut own = Vec::new();
    // SAFETY: the caller's promise.
    let status = match checks() {
        true => unsafe { statuses(status, 1, &mut own) },
        false => status,
    };
    // SAFETY: the caller's promise.
    let code = unsafe {
        mpi::PMPI_Sendrecv_replace(
            buffer,
            count,
            datatype,
            to,
            sent_tag,
            from,
            tag,
            communicator,
            status,
        )
    };
    // SAFETY: the library has filled it in, if there is something to count.
    unsafe { exchanged(communicator, to, sent_tag, status) };
    code
}

/// # Safety
/// If something is counted, `status` points to a status.
unsafe fn exchanged(communicator: MPI_Comm, to: c_int, tag: c_int, status: *const MPI_Status) {
    if checks() {
        let mut books = books();
        books.sends(communicator, to, tag);
        let id = books.communicator(communicator).id;
        // SAFETY: the caller's promise.
        books.receives(id, unsafe { &*status });
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Mprobe(
    from: c_int,
    tag: c_int,
    communicator: MPI_Comm,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let code = mpi::PMPI_Mprobe(from, tag, communicator, message, status);
        found(communicator, *message);
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Improbe(
    from: c_int,
    tag: c_int,
    communicator: MPI_Comm,
    flag: *mut c_int,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let code = mpi::PMPI_Improbe(from, tag, communicator, flag, message, status);
        if *flag != 0 {
            found(communicator, *message);
        }
        code
    }
}

fn found(communicator: MPI_Comm, message: MPI_Message) {
    // SAFETY: a constant of the shim library.
    if checks() && message != unsafe { mpi::RSMPI_MESSAGE_NO_PROC } {
        let mut books = books();
        let id = books.communicator(communicator).id;
        books.found.get_or_insert_default().insert(number(message), id);
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Mrecv(
    buffer: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Mrecv(buffer, count, datatype, message, status);
        }
        let handle = number(*message);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Mrecv(buffer, count, datatype, message, status);
        let mut books = books();
        if let Some(id) = books.found.get_or_insert_default().remove(&handle) {
            books.receives(id, &*status);
        }
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Imrecv(
    buffer: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    request: *mut MPI_Request,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let handle = number(*message);
        let code = mpi::PMPI_Imrecv(buffer, count, datatype, message, request);
        if checks() {
            let mut books = books();
            if let Some(id) = books.found.get_or_insert_default().remove(&handle) {
                books.begins(*request, Operation::Receive(id));
            }
        }
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Start(request: *mut MPI_Request) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if checks() {
            books().starts(number(*request));
        }
        mpi::PMPI_Start(request)
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Startall(count: c_int, requests: *mut MPI_Request) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if checks() {
            handles(count, requests)
                .into_iter()
                .for_each(|handle| books().starts(handle));
        }
        mpi::PMPI_Startall(count, requests)
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Request_free(request: *mut MPI_Request) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if checks() {
            let handle = number(*request);
            books().operations.get_or_insert_default().remove(&handle);
        }
        mpi::PMPI_Request_free(request)
    }
}

/// # Safety
/// `requests` points to so many of them.
unsafe fn handles(count: c_int, requests: *const MPI_Request) -> Vec<u64> {
    // SAFETY: the caller's promise.
    let one = |index: c_int| number(unsafe { *requests.offset(index as isize) });
    (0..count).map(one).collect()
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Wait(request: *mut MPI_Request, status: *mut MPI_Status) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Wait(request, status);
        }
        let handle = number(*request);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Wait(request, status);
        books().completes(handle, &*status);
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Test(request: *mut MPI_Request, flag: *mut c_int, status: *mut MPI_Status) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Test(request, flag, status);
        }
        let handle = number(*request);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Test(request, flag, status);
        if *flag != 0 {
            books().completes(handle, &*status);
        }
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Waitall(count: c_int, requests: *mut MPI_Request, status: *mut MPI_Status) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Waitall(count, requests, status);
        }
        let handles = handles(count, requests);
        let mut own = Vec::new();
        let status = statuses(status, count, &mut own);
        let code = mpi::PMPI_Waitall(count, requests, status);
        all_complete(&handles, status);
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Testall(
    count: c_int,
    requests: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Testall(count, requests, flag, status);
        }
        let handles = handles(count, requests);
        let mut own = Vec::new();
        let status = statuses(status, count, &mut own);
        let code = mpi::PMPI_Testall(count, requests, flag, status);
        if *flag != 0 {
            all_complete(&handles, status);
        }
        code
    }
}

/// # Safety
/// There is a status for every handle.
unsafe fn all_complete(handles: &[u64], status: *const MPI_Status) {
    let mut books = books();
    for (index, &handle) in handles.iter().enumerate() {
        // SAFETY: the caller's promise.
        books.completes(handle, unsafe { &*status.add(index) });
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Waitany(
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Waitany(count, requests, index, status);
        }
        let handles = handles(count, requests);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Waitany(count, requests, index, status);
        if let Some(&handle) = usize::try_from(*index).ok().and_then(|index| handles.get(index)) {
            books().completes(handle, &*status);
        }
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Testany(
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Testany(count, requests, index, flag, status);
        }
        let handles = handles(count, requests);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Testany(count, requests, index, flag, status);
        let completed = usize::try_from(*index).ok().and_then(|index| handles.get(index));
        if let (Some(&handle), true) = (completed, *flag != 0) {
            books().completes(handle, &*status);
        }
        code
    }
}

macro_rules! completes_some {
    ($($name:ident $library:ident,)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            count: c_int, requests: *mut MPI_Request, completed: *mut c_int, indices: *mut c_int, status: *mut MPI_Status,
        ) -> c_int {
            // SAFETY: the caller's promise, here and below.
            unsafe {
                if !checks() {
                    return mpi::$library(count, requests, completed, indices, status);
                }
                let handles = handles(count, requests);
                let mut own = Vec::new();
                let status = statuses(status, count, &mut own);
                let code = mpi::$library(count, requests, completed, indices, status);
                let mut books = books();
                for number in 0..(*completed).max(0) {
                    let index = usize::try_from(*indices.offset(number as isize)).ok();
                    if let Some(&handle) = index.and_then(|index| handles.get(index)) {
                        books.completes(handle, &*status.offset(number as isize));
                    }
                }
                code
            }
        }
    )*};
}

completes_some! { MPI_Waitsome PMPI_Waitsome, MPI_Testsome PMPI_Testsome, }
