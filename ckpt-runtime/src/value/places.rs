//! Arrays on devices that change places: which variable has which, of those that were made for them.
//!
//! `cargo ckpt` writes these calls into programs where two variables exchange their arrays (`std::mem::swap`), or more of them
//! do:
//!
//! ```ignore
//! let mut places = ckpt::device::Places::new(2);
//! #[ckpt(reexecute)]
//! ckpt::device::put(&places, [&mut now, &mut next]);
//! for step in 0..steps {
//!     places.swap([0, 1], &mut now, &mut next);
//! }
//! ```
//!
//! Handles (groups, pipelines, queues) that change places are written with [`Places::swap_handles`] and [`put_handles`].
//!
//! A restart makes the arrays again, one for each variable, and what was made with them before the loop. It has filled each
//! with what its variable had at the checkpoint, and knows by then which variable that array belongs to.

use super::{Checkpoint, Decoder, Encoder, LoadError};
use crate::base::report::{Fatal, headline};

/// An array on a device that variables exchange.
pub trait OnDevice {
    /// How many bytes it has.
    ///
    /// # Errors
    /// It is not known to ckpt.
    fn bytes(&self) -> Result<usize, String>;

    /// Whether what another one has can be in this one: it has as many bytes, and of an image they are the same numbers.
    fn is_like(&self, other: &Self) -> bool
    where
        Self: Sized,
    {
        self.bytes() == other.bytes()
    }

    /// All of them.
    ///
    /// # Errors
    /// The device does not give them.
    fn content(&self) -> Result<Vec<u8>, String>;

    /// Has these from here on.
    ///
    /// # Errors
    /// The device does not take them.
    fn set(&mut self, content: &[u8]) -> Result<(), String>;

    /// No other variable may have it as well.
    fn is_exchanged(&self) {}
}

const ANOTHER_SIZE: &str = "one of several that change places together has another size";

/// Several that are exchanged together: the content of one is behind that of another.
impl<A: OnDevice> OnDevice for [A] {
    fn bytes(&self) -> Result<usize, String> {
        self.iter().try_fold(0, |sum, one| Ok(sum + one.bytes()?))
    }

    fn content(&self) -> Result<Vec<u8>, String> {
        let mut all = Vec::with_capacity(self.bytes()?);
        for one in self {
            all.extend(one.content()?);
        }
        Ok(all)
    }

    fn set(&mut self, content: &[u8]) -> Result<(), String> {
        let mut rest = content;
        for one in self {
            let (own, behind) = rest.split_at_checked(one.bytes()?).ok_or(ANOTHER_SIZE)?;
            one.set(own)?;
            rest = behind;
        }
        Ok(())
    }

    fn is_exchanged(&self) {
        self.iter().for_each(A::is_exchanged);
    }
}

fn are_alike<A: OnDevice>(one: &[A], other: &[A]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_like(other))
}

macro_rules! several {
    ($([$($parameters:tt)*] $list:ty: $slice:ident $slice_mut:ident;)*) => {$(
        impl<A: OnDevice, $($parameters)*> OnDevice for $list {
            fn bytes(&self) -> Result<usize, String> {
                self.$slice().bytes()
            }

            fn is_like(&self, other: &Self) -> bool {
                are_alike(self.$slice(), other.$slice())
            }

            fn content(&self) -> Result<Vec<u8>, String> {
                self.$slice().content()
            }

            fn set(&mut self, content: &[u8]) -> Result<(), String> {
                self.$slice_mut().set(content)
            }

            fn is_exchanged(&self) {
                self.$slice().is_exchanged();
            }
        }
    )*};
}

several! {
    [] Vec<A>: as_slice as_mut_slice;
    [] Option<A>: as_slice as_mut_slice;
    [const COUNT: usize] [A; COUNT]: as_slice as_mut_slice;
}

macro_rules! tuples {
    ($(($($name:ident $index:tt)+))*) => {$(
        impl<$($name: OnDevice),+> OnDevice for ($($name,)+) {
            fn bytes(&self) -> Result<usize, String> {
                Ok(0 $(+ self.$index.bytes()?)+)
            }

            fn is_like(&self, other: &Self) -> bool {
                true $(&& self.$index.is_like(&other.$index))+
            }

            fn content(&self) -> Result<Vec<u8>, String> {
                Ok([$(self.$index.content()?),+].concat())
            }

            fn set(&mut self, content: &[u8]) -> Result<(), String> {
                let mut rest = content;
                $(
                    let (own, behind) = rest.split_at_checked(self.$index.bytes()?).ok_or(ANOTHER_SIZE)?;
                    self.$index.set(own)?;
                    rest = behind;
                )+
                rest.is_empty().then_some(()).ok_or(ANOTHER_SIZE.into())
            }

            fn is_exchanged(&self) {
                $(self.$index.is_exchanged();)+
            }
        }
    )*};
}

tuples! { (A 0 B 1) (A 0 B 1 C 2) (A 0 B 1 C 2 D 3) }

/// So many bytes, which `read` fills in.
///
/// # Errors
/// `read`'s.
///
/// # Safety
/// Where it succeeds, `read` has written every byte.
#[cfg(any(feature = "wgpu", feature = "cudarc"))]
pub(crate) unsafe fn bytes_read(
    size: usize,
    read: impl FnOnce(&mut [std::mem::MaybeUninit<u8>]) -> Result<(), String>,
) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(size);
    read(&mut bytes.spare_capacity_mut()[..size])?;
    // SAFETY: so many were written.
    unsafe { bytes.set_len(size) };
    Ok(bytes)
}

/// For each of some variables, the number of that for which the array was made that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    order: Vec<u32>,
    /// Whether arrays of different sizes, or of different numbers, have changed places.
    differ: bool,
}

impl Places {
    /// So many variables, each with its own.
    pub fn new(count: u32) -> Places {
        Places {
            order: (0..count).collect(),
            differ: false,
        }
    }

    /// Exchanges what two of the variables have.
    pub fn swap<A: OnDevice>(&mut self, pair: [usize; 2], one: &mut A, other: &mut A) {
        self.order.swap(pair[0], pair[1]);
        self.differ |= !one.is_like(other);
        one.is_exchanged();
        other.is_exchanged();
        std::mem::swap(one, other);
    }

    /// Exchanges what two of the variables have, which are handles: a restart makes them again, and nothing is in them.
    pub fn swap_handles<H>(&mut self, pair: [usize; 2], one: &mut H, other: &mut H) {
        self.order.swap(pair[0], pair[1]);
        std::mem::swap(one, other);
    }

    fn are_as_made(&self) -> bool {
        self.order.is_sorted()
    }
}

impl Checkpoint for Places {
    fn save(&self, to: &mut Encoder<'_>) {
        if self.differ && !self.are_as_made() {
            return to.fail(
                "arrays on a device have changed places that are of different sizes or of different numbers",
            );
        }
        self.order.save(to);
    }

    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let order = Vec::<u32>::load(from)?;
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..sorted.len() as u32) {
            return Err(LoadError::invalid("arrays cannot be in such places"));
        }
        Ok(Places { order, differ: false })
    }
}

/// Gives each variable the array that it had at the checkpoint, with what is in its own now. In a run that is none, nothing
/// has changed its place yet.
pub fn put<A: OnDevice, const COUNT: usize>(places: &Places, mut arrays: [&mut A; COUNT]) {
    if places.are_as_made() {
        return;
    }
    if let Err(why) = put_back(&places.order, &mut arrays) {
        not_put_back(&why).exit();
    }
}

/// Gives each variable the handle that it had at the checkpoint.
pub fn put_handles<H, const COUNT: usize>(places: &Places, mut handles: [&mut H; COUNT]) {
    let put = in_order(&places.order, &mut handles, |one, other| {
        std::mem::swap(one, other);
        Ok(())
    });
    if let Err(why) = put {
        not_put_back(&why).exit();
    }
}

fn not_put_back(why: &str) -> Fatal {
    let headline =
        headline!("E2435: arrays on a device have changed places, and a restart cannot do so: {why}");
    Fatal::refused(headline)
        .help("restart from an earlier checkpoint, or begin anew; tell the authors of ckpt")
}

fn put_back<A: OnDevice>(order: &[u32], arrays: &mut [&mut A]) -> Result<(), String> {
    in_order(order, arrays, |one, other| {
        if one.bytes()? != other.bytes()? || !one.is_like(other) {
            return Err("they have different sizes, or other numbers".into());
        }
        // What is in the variable stays: it has another array now.
        let contents = [one.content()?, other.content()?];
        std::mem::swap(one, other);
        one.set(&contents[0])?;
        other.set(&contents[1])?;
        one.is_exchanged();
        other.is_exchanged();
        Ok(())
    })
}

/// Has variables exchange what they have until each has what was made for the one that `order` says.
fn in_order<V>(
    order: &[u32],
    variables: &mut [&mut V],
    exchange: impl Fn(&mut V, &mut V) -> Result<(), String>,
) -> Result<(), String> {
    if order.len() != variables.len() {
        return Err("there is another number of them".into());
    }
    let mut now: Vec<u32> = (0..order.len() as u32).collect();
    for at in 0..order.len() {
        let behind = now[at..].iter().position(|made| *made == order[at]);
        let from = at + behind.ok_or("one is there twice")?;
        if from == at {
            continue;
        }
        now.swap(at, from);
        let [one, other] = variables
            .get_disjoint_mut([at, from])
            .map_err(|error| error.to_string())?;
        exchange(one, other)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::{decoded, encoded};

    /// With the name of the variable that it was made for.
    #[derive(Debug, Clone, PartialEq)]
    struct Array(char, Vec<u8>);

    impl OnDevice for Array {
        fn bytes(&self) -> Result<usize, String> {
            Ok(self.1.len())
        }
        fn content(&self) -> Result<Vec<u8>, String> {
            Ok(self.1.clone())
        }
        fn set(&mut self, content: &[u8]) -> Result<(), String> {
            self.1.copy_from_slice(content);
            Ok(())
        }
    }

    fn three(contents: [u8; 3]) -> [Array; 3] {
        [('a', contents[0]), ('b', contents[1]), ('c', contents[2])].map(|(name, one)| Array(name, vec![one]))
    }

    #[test]
    fn lists_change_places_as_one() {
        let list = |name, contents: &[&[u8]]| -> Vec<Array> {
            contents.iter().map(|one| Array(name, one.to_vec())).collect()
        };
        let (mut one, mut other) = (list('a', &[&[1, 2], &[3]]), list('b', &[&[4, 5], &[6]]));
        let mut places = Places::new(2);
        places.swap([0, 1], &mut one, &mut other);
        let columns = encoded(|to| places.save(to)).expect("they are alike");
        let places = decoded(&columns, Places::load).expect("it can be read");
        // Made again, and filled with what each variable had.
        let (mut one, mut other) = (list('a', &[&[4, 5], &[6]]), list('b', &[&[1, 2], &[3]]));
        put(&places, [&mut one, &mut other]);
        assert_eq!(one, list('b', &[&[4, 5], &[6]]));
        assert_eq!(other, list('a', &[&[1, 2], &[3]]));
        assert!(
            !one.is_like(&list('a', &[&[4], &[5, 6]])),
            "as many bytes, but not each"
        );
        assert!(!Some(Array('a', vec![1])).is_like(&None));
    }

    #[test]
    fn each_variable_has_the_array_that_it_had_with_what_was_in_it() {
        let all = [[0, 1], [1, 2], [0, 2], [0, 1], [1, 2], [1, 0]];
        for count in 0..=all.len() {
            let mut before = three([1, 2, 3]);
            let mut places = Places::new(3);
            for pair in &all[..count] {
                let [one, other] = before.get_disjoint_mut(*pair).expect("two");
                places.swap(*pair, one, other);
            }
            let columns = encoded(|to| places.save(to)).expect("it can be saved");
            let places = decoded(&columns, Places::load).expect("it can be read");
            // Each variable's own array is filled with what the variable had.
            let mut again = three([before[0].1[0], before[1].1[0], before[2].1[0]]);
            put(&places, again.each_mut());
            assert_eq!(again, before);
        }
    }

    #[test]
    fn each_variable_has_the_handle_that_it_had() {
        let all = [[0, 1], [1, 2], [0, 2], [0, 1], [1, 2], [1, 0]];
        for count in 0..=all.len() {
            let mut before = ["a", "b", "c"];
            let mut places = Places::new(3);
            for pair in &all[..count] {
                let [one, other] = before.get_disjoint_mut(*pair).expect("two");
                places.swap_handles(*pair, one, other);
            }
            let columns = encoded(|to| places.save(to)).expect("it can be saved");
            let places = decoded(&columns, Places::load).expect("it can be read");
            let mut again = ["a", "b", "c"];
            put_handles(&places, again.each_mut());
            assert_eq!(again, before);
        }
    }

    #[test]
    fn arrays_of_different_sizes_hold_a_checkpoint_back_while_they_have_changed_places() {
        let (mut one, mut other) = (Array('a', vec![1]), Array('b', vec![1, 2]));
        let mut places = Places::new(2);
        places.swap([0, 1], &mut one, &mut other);
        assert!(encoded(|to| places.save(to)).is_err());
        places.swap([0, 1], &mut one, &mut other);
        assert!(encoded(|to| places.save(to)).is_ok());
    }

    #[test]
    fn other_arrays_than_those_that_were_there_are_not_put_back() {
        let (mut one, mut other) = (Array('a', vec![1]), Array('b', vec![1, 2]));
        let why = put_back(&[1, 0], &mut [&mut one, &mut other]).expect_err("their sizes differ");
        let said = not_put_back(&why).to_string();
        assert!(
            said.contains("E2435") && said.contains("they have different sizes"),
            "{said}"
        );
        assert!(put_back(&[1, 0, 2], &mut [&mut one, &mut other]).is_err());
    }

    #[test]
    fn what_is_no_order_is_not_read() {
        let columns = encoded(|to| vec![0_u32, 0].save(to)).expect("it can be saved");
        assert!(decoded(&columns, Places::load).is_err());
    }
}
