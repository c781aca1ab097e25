//! A number of a site visit that threads and signal handlers set: 64 bits, also where a machine has no atomic words so
//! wide (powerpc, mips).

#[cfg(target_has_atomic = "64")]
pub(crate) use std::sync::atomic::AtomicU64 as VisitNumber;

#[cfg(any(not(target_has_atomic = "64"), test))]
mod halves {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// The number in two halves. No lock: a signal handler could wait for the very code that it interrupted.
    ///
    /// Of two that set it at the same moment, one half of each may stay. Whoever sets it has raised a flag before, and
    /// the program looks at the flags after it has set the number, so that nothing is missed; a number that is too
    /// small makes a site look once in vain. One that is read while it is set is right at the next visit.
    #[derive(Debug)]
    #[cfg_attr(target_has_atomic = "64", allow(dead_code))]
    pub(crate) struct VisitNumber {
        high: AtomicU32,
        low: AtomicU32,
    }

    #[cfg_attr(target_has_atomic = "64", allow(dead_code))]
    impl VisitNumber {
        pub(crate) const fn new(number: u64) -> VisitNumber {
            VisitNumber {
                high: AtomicU32::new((number >> 32) as u32),
                low: AtomicU32::new(number as u32),
            }
        }

        #[inline]
        pub(crate) fn load(&self, order: Ordering) -> u64 {
            u64::from(self.high.load(order)) << 32 | u64::from(self.low.load(order))
        }

        pub(crate) fn store(&self, number: u64, order: Ordering) {
            self.high.store((number >> 32) as u32, order);
            self.low.store(number as u32, order);
        }

        /// Sets the number and gives the one before.
        pub(crate) fn swap(&self, number: u64, order: Ordering) -> u64 {
            let high = self.high.swap((number >> 32) as u32, order);
            let low = self.low.swap(number as u32, order);
            u64::from(high) << 32 | u64::from(low)
        }
    }
}
#[cfg(not(target_has_atomic = "64"))]
pub(crate) use halves::VisitNumber;

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::halves::VisitNumber;

    #[test]
    fn two_halves_are_one_number() {
        let number = VisitNumber::new(u64::MAX);
        assert_eq!(number.load(Ordering::Relaxed), u64::MAX);
        for visit in [0, 1, u64::from(u32::MAX), 1 << 32, 0x0123_4567_89ab_cdef] {
            number.store(visit, Ordering::SeqCst);
            assert_eq!(number.load(Ordering::Relaxed), visit);
            assert_eq!(number.swap(!visit, Ordering::SeqCst), visit);
            assert_eq!(number.load(Ordering::Relaxed), !visit);
        }
    }
}
