//! Times. A stopwatch goes on where it stood: the time between a checkpoint and its restart is not counted. A time of the
//! world stays what it was.

use std::borrow::Cow;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

impl Checkpoint for Duration {
    fn save(&self, to: &mut Encoder<'_>) {
        const NAMES: &[Cow<'static, str>] = &[Cow::Borrowed("seconds"), Cow::Borrowed("nanoseconds")];
        self.as_secs().save(&mut to.field(NAMES, 0));
        self.subsec_nanos().save(&mut to.field(NAMES, 1));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let (seconds, nanoseconds) = (from.field(&["seconds"])?, from.field::<u32>(&["nanoseconds"])?);
        if nanoseconds >= 1_000_000_000 {
            return Err(LoadError::invalid(format_args!(
                "{nanoseconds} nanoseconds are more than a second"
            )));
        }
        Ok(Duration::new(seconds, nanoseconds))
    }
}

const INSTANT: &[Cow<'static, str>] = &[Cow::Borrowed("elapsed"), Cow::Borrowed("ahead")];

/// How long ago it was, or how far ahead it is: of the two one is zero.
impl Checkpoint for Instant {
    fn save(&self, to: &mut Encoder<'_>) {
        let now = to.objects().now();
        now.saturating_duration_since(*self)
            .save(&mut to.field(INSTANT, 0));
        self.saturating_duration_since(now)
            .save(&mut to.field(INSTANT, 1));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let (elapsed, ahead): (Duration, Duration) = (from.field(&["elapsed"])?, from.field(&["ahead"])?);
        let past = from.now().checked_sub(elapsed);
        past.and_then(|past| past.checked_add(ahead)).ok_or_else(|| {
            LoadError::invalid(format_args!(
                "{elapsed:?} ago is a time that this machine cannot tell"
            ))
        })
    }
}

const SYSTEM_TIME: &[Cow<'static, str>] = &[Cow::Borrowed("after_1970"), Cow::Borrowed("before_1970")];

/// The time since the beginning of 1970, or before it: of the two one is zero.
impl Checkpoint for SystemTime {
    fn save(&self, to: &mut Encoder<'_>) {
        self.duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .save(&mut to.field(SYSTEM_TIME, 0));
        UNIX_EPOCH
            .duration_since(*self)
            .unwrap_or_default()
            .save(&mut to.field(SYSTEM_TIME, 1));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let (after, before): (Duration, Duration) =
            (from.field(&["after_1970"])?, from.field(&["before_1970"])?);
        let time = UNIX_EPOCH.checked_sub(before);
        time.and_then(|time| time.checked_add(after)).ok_or_else(|| {
            LoadError::invalid(format_args!(
                "{after:?} after 1970 is a time that this machine cannot tell"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::{everywhere, round_trip};

    #[test]
    fn a_stopwatch_goes_on_where_it_stood() {
        let started = Instant::now() - Duration::from_secs(1000);
        let again = round_trip(&started);
        assert!(again.elapsed() >= Duration::from_secs(1000) && again.elapsed() < Duration::from_secs(1060));
        let (a, b) = round_trip(&(started, started + Duration::from_secs(3000)));
        assert_eq!(
            b - a,
            Duration::from_secs(3000),
            "one moment for all of a checkpoint"
        );
        let before_the_machine = Instant::now().checked_sub(Duration::from_secs(1 << 32));
        before_the_machine.map(|time| round_trip(&time));
    }

    #[test]
    fn a_time_of_the_world_stays() {
        everywhere(&[
            SystemTime::now(),
            UNIX_EPOCH,
            UNIX_EPOCH - Duration::new(5, 7),
            UNIX_EPOCH + Duration::new(1 << 40, 999_999_999),
        ]);
    }
}
