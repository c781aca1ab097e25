//! How often somebody has pressed Ctrl-C. One press may come as several signals: from a shell or `timeout` to the process and
//! to its group, and once more from `cargo ckpt`, which passes on what it is sent.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Interrupts that come closer to each other are one, in milliseconds: nobody presses twice so soon.
const ONE_PRESS: u32 = 100;

/// Who has sent an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The process that has started this one: `cargo ckpt` may have passed on what has come to this process as well.
    Parent = 1,
    /// The terminal, or any other process.
    Other = 2,
}

/// The interrupts that have come. For signal handlers: atomics only.
#[derive(Debug)]
pub(crate) struct Interrupts {
    /// A bit for each kind of sender.
    senders: AtomicU8,
    /// When the last came, in milliseconds of a clock that starts anew after 49 days.
    last: AtomicU32,
}

impl Interrupts {
    pub(crate) const fn new() -> Self {
        Interrupts {
            senders: AtomicU8::new(0),
            last: AtomicU32::new(0),
        }
    }

    /// Counts the first.
    pub(crate) fn first(&self, sender: Sender, now: u32) {
        self.senders.store(sender as u8, Ordering::SeqCst);
        self.last.store(now, Ordering::SeqCst);
    }

    /// Whether a later one is another press: a sender of its kind has sent one, and not just now.
    pub(crate) fn is_again(&self, sender: Sender, now: u32) -> bool {
        let has_sent = self.senders.fetch_or(sender as u8, Ordering::SeqCst) & sender as u8 != 0;
        let before = self.last.swap(now, Ordering::SeqCst);
        has_sent && now.wrapping_sub(before) >= ONE_PRESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_several_ways_is_one_press() {
        let interrupts = Interrupts::new();
        interrupts.first(Sender::Other, u32::MAX - 20);
        assert!(!interrupts.is_again(Sender::Other, 30), "`timeout` sends two");
        assert!(!interrupts.is_again(Sender::Parent, 900), "passed on, late");
        assert!(interrupts.is_again(Sender::Parent, 2000));
        interrupts.first(Sender::Parent, 5000);
        assert!(!interrupts.is_again(Sender::Other, 6000));
        assert!(interrupts.is_again(Sender::Other, 7000));
    }
}
