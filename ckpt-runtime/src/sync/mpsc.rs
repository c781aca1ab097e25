//! Channels from many threads to one, as in [`std::sync::mpsc`], that a checkpoint can hold: the ends, which of them belong
//! together, and the messages that nobody has received yet. `cargo ckpt` puts them in the place of the standard library's where
//! one is needed behind a site.
//!
//! At a site no thread sends or waits: those that run beside the program hold checkpoints back, and the members of a team
//! are at sites themselves.
//!
//! ```
//! use ckpt::sync::mpsc;
//!
//! let (to, from) = mpsc::channel();
//! std::thread::scope(|s| {
//!     for k in 0..3 {
//!         let to = to.clone();
//!         s.spawn(move || to.send(k).unwrap());
//!     }
//! });
//! drop(to);
//! assert_eq!(from.iter().sum::<i32>(), 3);
//! ```

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// What both ends share.
struct Channel<T> {
    state: Mutex<State<T>>,
    /// A message has come, or the last sender has gone.
    filled: Condvar,
    /// A message has been taken, or the receiver has gone.
    taken: Condvar,
}

struct State<T> {
    messages: VecDeque<T>,
    /// How many messages may wait; nothing where any number may.
    bound: Option<usize>,
    senders: usize,
    has_receiver: bool,
    /// Whether the receiver waits for a message.
    waits: bool,
    /// How many messages have ever been taken: by this a sender without room knows that its message has been received.
    count_taken: u64,
}

impl<T> Channel<T> {
    fn new(messages: VecDeque<T>, bound: Option<usize>) -> Self {
        Self {
            state: Mutex::new(State {
                messages,
                bound,
                senders: 0,
                has_receiver: false,
                waits: false,
                count_taken: 0,
            }),
            filled: Condvar::new(),
            taken: Condvar::new(),
        }
    }

    /// Nothing that is done with the state can leave it half-way, so a panic elsewhere does not matter.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_sender(&self) {
        self.state().senders += 1;
    }

    fn remove_sender(&self) {
        let mut state = self.state();
        state.senders -= 1;
        if state.senders == 0 {
            drop(state);
            self.filled.notify_all();
        }
    }
}

impl<T> State<T> {
    /// Whether a message has room, or is handed to a receiver that waits.
    fn has_room(&self) -> bool {
        match self.bound {
            None => true,
            Some(0) => self.waits && self.messages.is_empty(),
            Some(bound) => self.messages.len() < bound,
        }
    }

    fn take(&mut self) -> Option<T> {
        let message = self.messages.pop_front()?;
        self.count_taken += 1;
        Some(message)
    }
}

fn wait<'a, T>(condition: &Condvar, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
    condition.wait(state).unwrap_or_else(PoisonError::into_inner)
}

/// A channel for any number of messages, as [`std::sync::mpsc::channel`].
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(VecDeque::new(), None));
    (Sender::of(Arc::clone(&channel)), Receiver::of(channel))
}

/// A channel for so many messages, as [`std::sync::mpsc::sync_channel`]: a sender waits for room. With `bound` 0 it waits until
/// its message has been received.
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(VecDeque::new(), Some(bound)));
    (SyncSender::of(Arc::clone(&channel)), Receiver::of(channel))
}

/// What a region drops while its threads run, and a restart in these threads needs once more to start them.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "E1213: `{Self}` cannot be saved in a checkpoint",
    label = "it is dropped while threads run that were started with it",
    note = "drop it behind the wait for these threads"
)]
pub trait LetGo {
    /// Does what its destructor does; that does nothing then.
    fn let_go(&self);
}

const SENDER: &[Cow<'static, str>] = &[Cow::Borrowed("channel"), Cow::Borrowed("counts")];

macro_rules! senders {
    ($($(#[$doc:meta])* $sender:ident;)*) => {$(
        $(#[$doc])*
        pub struct $sender<T> {
            channel: Arc<Channel<T>>,
            /// Whether the receiver waits for it: not so once it has been [let go](LetGo).
            counts: AtomicBool,
        }

        impl<T> $sender<T> {
            fn of(channel: Arc<Channel<T>>) -> Self {
                channel.add_sender();
                Self {
                    channel,
                    counts: AtomicBool::new(true),
                }
            }
        }

        impl<T> Clone for $sender<T> {
            fn clone(&self) -> Self {
                Self::of(Arc::clone(&self.channel))
            }
        }

        impl<T> Drop for $sender<T> {
            fn drop(&mut self) {
                self.let_go();
            }
        }

        impl<T> LetGo for $sender<T> {
            fn let_go(&self) {
                if self.counts.swap(false, Relaxed) {
                    self.channel.remove_sender();
                }
            }
        }

        impl<T> fmt::Debug for $sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($sender)).finish_non_exhaustive()
            }
        }

        impl<T: Checkpoint + 'static> Checkpoint for $sender<T> {
            fn save(&self, to: &mut Encoder<'_>) {
                self.channel.save(&mut to.field(SENDER, 0));
                self.counts.load(Relaxed).save(&mut to.field(SENDER, 1));
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let channel: Arc<Channel<T>> = from.field(&["channel"])?;
                let counts: bool = from.field(&["counts"])?;
                Ok(match counts {
                    true => Self::of(channel),
                    false => Self {
                        channel,
                        counts: AtomicBool::new(false),
                    },
                })
            }
            fn reach(to: &mut Reach) {
                // The receiver learns that it has gone.
                to.has_destructor(true);
            }
        }
    )*};
}

senders! {
    /// The end of a [`channel`] that sends, as [`std::sync::mpsc::Sender`].
    Sender;
    /// The end of a [`sync_channel`] that sends, as [`std::sync::mpsc::SyncSender`].
    SyncSender;
}

impl<T> Sender<T> {
    /// Sends a message; it never waits.
    ///
    /// # Errors
    /// If there is no receiver any more: the message.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut state = self.channel.state();
        if !state.has_receiver {
            return Err(SendError(message));
        }
        state.messages.push_back(message);
        drop(state);
        self.channel.filled.notify_one();
        Ok(())
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, and waits for room for it before; without any room, until it has been received.
    ///
    /// # Errors
    /// If there is no receiver any more: the message.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        let mut state = self.channel.state();
        let room = state.bound.unwrap_or(usize::MAX);
        while state.has_receiver && state.messages.len() >= room.max(1) {
            state = wait(&self.channel.taken, state);
        }
        if !state.has_receiver {
            return Err(SendError(message));
        }
        state.messages.push_back(message);
        self.channel.filled.notify_one();
        if room > 0 {
            return Ok(());
        }
        let place = state.count_taken;
        while state.count_taken == place && state.has_receiver {
            state = wait(&self.channel.taken, state);
        }
        // A receiver that has gone leaves it to the one that was about to hand it over.
        if state.count_taken == place
            && let Some(message) = state.messages.pop_front()
        {
            return Err(SendError(message));
        }
        Ok(())
    }

    /// Sends a message if there is room for it, or a receiver that waits for it.
    ///
    /// # Errors
    /// The message, if there is none, or no receiver any more.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let mut state = self.channel.state();
        if !state.has_receiver {
            return Err(TrySendError::Disconnected(message));
        }
        if !state.has_room() {
            return Err(TrySendError::Full(message));
        }
        state.messages.push_back(message);
        drop(state);
        self.channel.filled.notify_one();
        Ok(())
    }
}

/// The end of a channel that receives, as [`std::sync::mpsc::Receiver`].
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// One thread at a time has it.
    _not_shared: PhantomData<Cell<()>>,
}

impl<T> Receiver<T> {
    fn of(channel: Arc<Channel<T>>) -> Self {
        channel.state().has_receiver = true;
        Self {
            channel,
            _not_shared: PhantomData,
        }
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// If there is none, and no sender any more.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.receive(None).map_err(|_| RecvError)
    }

    /// A message that is there.
    ///
    /// # Errors
    /// If there is none, and whether one may come.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.channel.state();
        match state.take() {
            Some(message) => {
                drop(state);
                self.has_taken();
                Ok(message)
            }
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Waits for a message for so long.
    ///
    /// # Errors
    /// If none has come by then, or there is no sender any more.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        // A time that the clock cannot tell does not come.
        self.receive(Instant::now().checked_add(timeout))
    }

    fn receive(&self, until: Option<Instant>) -> Result<T, RecvTimeoutError> {
        let mut state = self.channel.state();
        loop {
            if let Some(message) = state.take() {
                drop(state);
                self.has_taken();
                return Ok(message);
            }
            if state.senders == 0 {
                return Err(RecvTimeoutError::Disconnected);
            }
            state.waits = true;
            state = match until {
                None => wait(&self.channel.filled, state),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        state.waits = false;
                        return Err(RecvTimeoutError::Timeout);
                    }
                    let waited = self.channel.filled.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.waits = false;
        }
    }

    fn has_taken(&self) {
        self.channel.taken.notify_all();
    }

    /// The messages as they come, until there is no sender any more.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// The messages that are there.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.channel.state();
        state.has_receiver = false;
        // A message that waits to be handed over goes back to its sender.
        let left = match state.bound {
            Some(0) => VecDeque::new(),
            _ => std::mem::take(&mut state.messages),
        };
        // The destructors of messages may do anything, also with this channel.
        drop(state);
        self.channel.taken.notify_all();
        drop(left);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T: Checkpoint + 'static> Checkpoint for Receiver<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        self.channel.save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Arc::load(from).map(Self::of)
    }
    fn reach(to: &mut Reach) {
        // Senders learn that it has gone.
        to.has_destructor(true);
    }
}

const PARTS: &[Cow<'static, str>] = &[Cow::Borrowed("messages"), Cow::Borrowed("bound")];

/// The messages that nobody has received. The ends come back by themselves, and count themselves.
impl<T: Checkpoint> Checkpoint for Channel<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return to
                    .fail("a thread sends or receives a message at the site; let it end before the site");
            }
        };
        state.messages.save(&mut to.field(PARTS, 0));
        state.bound.save(&mut to.field(PARTS, 1));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let messages: VecDeque<T> = from.field(&["messages"])?;
        let bound: Option<usize> = from.field(&["bound"])?;
        if bound.is_some_and(|bound| messages.len() > bound) {
            return Err(LoadError::invalid(format_args!(
                "a channel for {} messages has {}",
                bound.unwrap_or_default(),
                messages.len()
            )));
        }
        Ok(Channel::new(messages, bound))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<VecDeque<T>>();
    }
}

/// The messages as they come; from [`Receiver::iter`].
#[derive(Debug)]
pub struct Iter<'a, T: 'a> {
    receiver: &'a Receiver<T>,
}

/// The messages that are there; from [`Receiver::try_iter`].
#[derive(Debug)]
pub struct TryIter<'a, T: 'a> {
    receiver: &'a Receiver<T>,
}

/// The messages as they come, with the receiver itself.
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

impl<T: Checkpoint + 'static> Checkpoint for IntoIter<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        self.receiver.save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Receiver::load(from).map(|receiver| IntoIter { receiver })
    }
    fn reach(to: &mut Reach) {
        to.into_part::<Receiver<T>>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::round_trip;
    use std::thread;

    #[test]
    fn ends_that_belong_together_do_so_again_with_the_messages_under_way() {
        let (to, from) = channel();
        let other = to.clone();
        to.send(1).unwrap();
        other.send(2).unwrap();
        let (again, more, received) = round_trip(&(to, vec![other], from));
        again.send(3).unwrap();
        assert_eq!(received.try_iter().collect::<Vec<i32>>(), [1, 2, 3]);
        assert_eq!(received.try_recv(), Err(TryRecvError::Empty));
        drop(again);
        assert_eq!(received.try_recv(), Err(TryRecvError::Empty));
        drop(more);
        assert_eq!(received.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(received.recv(), Err(RecvError));
    }

    #[test]
    fn a_sender_that_has_been_let_go_does_not_count() {
        let (to, from) = channel::<u8>();
        let other = to.clone();
        to.let_go();
        drop(other);
        assert_eq!(from.try_recv(), Err(TryRecvError::Disconnected));
        let (to, from) = round_trip(&(to, from));
        assert_eq!(from.try_recv(), Err(TryRecvError::Disconnected));
        // Threads that are started anew count.
        let again = to.clone();
        drop(to);
        assert_eq!(from.try_recv(), Err(TryRecvError::Empty));
        again.send(1).unwrap();
        assert_eq!(from.try_recv(), Ok(1));
    }

    #[test]
    fn an_end_that_is_alone_knows_that_it_is() {
        let (to, from) = channel();
        to.send(String::from("left")).unwrap();
        drop(to);
        let from = round_trip(&from);
        assert_eq!(from.into_iter().collect::<Vec<_>>(), ["left"]);

        let (to, from) = channel::<u8>();
        drop(from);
        assert_eq!(to.send(1), Err(SendError(1)));
        assert_eq!(round_trip(&to).send(1), Err(SendError(1)));
    }

    #[test]
    fn a_bound_is_kept() {
        let (to, from) = sync_channel(2);
        to.send(1).unwrap();
        let (to, from) = round_trip(&(to, from));
        to.try_send(2).unwrap();
        assert_eq!(to.try_send(3), Err(TrySendError::Full(3)));
        assert_eq!(from.recv(), Ok(1));
        to.try_send(3).unwrap();
        drop(from);
        assert_eq!(to.try_send(4), Err(TrySendError::Disconnected(4)));
    }

    #[test]
    fn messages_go_from_thread_to_thread() {
        for bound in [None, Some(0), Some(1), Some(7)] {
            let sum = match bound {
                None => {
                    let (to, from) = channel();
                    summed(to, &from, |to, k| to.send(k).unwrap())
                }
                Some(bound) => {
                    let (to, from) = sync_channel(bound);
                    summed(to, &from, |to, k| to.send(k).unwrap())
                }
            };
            assert_eq!(sum, 4 * (0..500).sum::<u64>());
        }
    }

    fn summed<S: Clone + Send>(to: S, from: &Receiver<u64>, send: fn(&S, u64)) -> u64 {
        thread::scope(|s| {
            for _ in 0..4 {
                let to = to.clone();
                s.spawn(move || (0..500).for_each(|k| send(&to, k)));
            }
            drop(to);
            from.iter().sum()
        })
    }

    #[test]
    fn a_message_that_nobody_takes_comes_back() {
        let (to, from) = sync_channel::<u8>(0);
        assert_eq!(to.try_send(1), Err(TrySendError::Full(1)));
        assert_eq!(
            from.recv_timeout(Duration::from_millis(1)),
            Err(RecvTimeoutError::Timeout)
        );
        thread::scope(|s| {
            let sent = s.spawn(|| to.send(2));
            while to.channel.state().messages.is_empty() {
                thread::yield_now();
            }
            drop(from);
            assert_eq!(sent.join().unwrap(), Err(SendError(2)));
        });
    }
}
