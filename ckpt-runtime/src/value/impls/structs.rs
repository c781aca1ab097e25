//! Types of named parts: tuples, `Result`, and the standard library's small structs and enums.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ops::{Bound, ControlFlow};
use std::task::Poll;

use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach, next_of, payload_of};

const NUMBERS: [Cow<'static, str>; 12] = [
    Cow::Borrowed("0"),
    Cow::Borrowed("1"),
    Cow::Borrowed("2"),
    Cow::Borrowed("3"),
    Cow::Borrowed("4"),
    Cow::Borrowed("5"),
    Cow::Borrowed("6"),
    Cow::Borrowed("7"),
    Cow::Borrowed("8"),
    Cow::Borrowed("9"),
    Cow::Borrowed("10"),
    Cow::Borrowed("11"),
];

macro_rules! tuples {
    ($($count:literal: $($index:tt $name:ident),*;)*) => {$(
        impl<$($name: Checkpoint),*> Checkpoint for ($($name,)*) {
            const BITS: bool = true $(&& $name::BITS)*;
            const FIXED: bool = true $(&& $name::FIXED)*;
            fn save(&self, to: &mut Encoder<'_>) {
                const NAMES: &[Cow<'static, str>] = NUMBERS.split_at($count).0;
                $(self.$index.save(&mut to.field(NAMES, $index));)*
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                Ok(($(from.field::<$name>(&[stringify!($index)])?,)*))
            }
            fn reach(to: &mut Reach) {
                $(to.into_part::<$name>();)*
            }
            fn load_vec(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, LoadError> {
                let mut columns = ($(from.fields::<$name>(&[stringify!($index)], count, None)?.into_iter(),)*);
                // The columns have as many values as this.
                let mut items = Vec::with_capacity(count);
                for _ in 0..count {
                    items.push(($(next_of(&mut columns.$index)?,)*));
                }
                Ok(items)
            }
            fn save_each<'a, I>(items: I, to: &mut Encoder<'_>)
            where
                Self: 'a,
                I: Iterator<Item = &'a Self> + Clone,
            {
                const NAMES: &[Cow<'static, str>] = NUMBERS.split_at($count).0;
                $($name::save_each(items.clone().map(|item| &item.$index), &mut to.field(NAMES, $index));)*
            }
        }
    )*};
}

tuples! {
    1: 0 A;
    2: 0 A, 1 B;
    3: 0 A, 1 B, 2 C;
    4: 0 A, 1 B, 2 C, 3 D;
    5: 0 A, 1 B, 2 C, 3 D, 4 E;
    6: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F;
    7: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G;
    8: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H;
    9: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 J;
    10: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 J, 9 K;
    11: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 J, 9 K, 10 L;
    12: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 J, 9 K, 10 L, 11 M;
}

/// Enums of the standard library. A variant without payload is followed by `()`, which takes no column.
macro_rules! enums {
    ($([$($generics:tt)*] $type:ty, [$($part:ty),*] { $($number:literal $name:literal $pattern:pat => $save:expr, |$from:ident| $load:expr;)* })*) => {$(
        impl<$($generics)*> Checkpoint for $type {
            fn save(&self, to: &mut Encoder<'_>) {
                const NAMES: &[Cow<'static, str>] = &[$(Cow::Borrowed($name)),*];
                const CHILDREN: &[Cow<'static, str>] = &[Cow::Borrowed("variant"), $(Cow::Borrowed($name)),*];
                match self {
                    $($pattern => {
                        let mut payload = to.variant(NAMES, CHILDREN, $number);
                        let save: &dyn Fn(&mut Encoder<'_>) = &$save;
                        save(&mut payload);
                    })*
                }
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let (number, mut payload) = from.variant(&[$(&[$name]),*])?;
                match number {
                    $($number => {
                        let $from = &mut payload;
                        $load
                    })*
                    _ => Err(LoadError::invalid("there is no such variant")),
                }
            }
            fn reach(_to: &mut Reach) {
                $(_to.into_part::<$part>();)*
            }
        }
    )*};
}

fn payload<T: Checkpoint>(from: &mut Option<Decoder<'_>>) -> Result<T, LoadError> {
    payload_of(from)?.field(&["0"])
}

fn save_payload<T: Checkpoint>(value: &T, to: &mut Encoder<'_>) {
    value.save(&mut to.field(NUMBERS_1, 0));
}

const NUMBERS_1: &[Cow<'static, str>] = NUMBERS.split_at(1).0;

enums! {
    [T: Checkpoint, E: Checkpoint] Result<T, E>, [T, E] {
        0 "Ok" Ok(value) => |to| save_payload(value, to), |from| payload(from).map(Ok);
        1 "Err" Err(error) => |to| save_payload(error, to), |from| payload(from).map(Err);
    }
    [B: Checkpoint, C: Checkpoint] ControlFlow<B, C>, [B, C] {
        0 "Continue" ControlFlow::Continue(value) => |to| save_payload(value, to), |from| payload(from).map(ControlFlow::Continue);
        1 "Break" ControlFlow::Break(value) => |to| save_payload(value, to), |from| payload(from).map(ControlFlow::Break);
    }
    [T: Checkpoint] Bound<T>, [T] {
        0 "Included" Bound::Included(value) => |to| save_payload(value, to), |from| payload(from).map(Bound::Included);
        1 "Excluded" Bound::Excluded(value) => |to| save_payload(value, to), |from| payload(from).map(Bound::Excluded);
        2 "Unbounded" Bound::Unbounded => |_| (), |_from| Ok(Bound::Unbounded);
    }
    [T: Checkpoint] Poll<T>, [T] {
        0 "Ready" Poll::Ready(value) => |to| save_payload(value, to), |from| payload(from).map(Poll::Ready);
        1 "Pending" Poll::Pending => |_| (), |_from| Ok(Poll::Pending);
    }
    [] IpAddr, [] {
        0 "V4" IpAddr::V4(value) => |to| save_payload(value, to), |from| payload(from).map(IpAddr::V4);
        1 "V6" IpAddr::V6(value) => |to| save_payload(value, to), |from| payload(from).map(IpAddr::V6);
    }
    [] SocketAddr, [] {
        0 "V4" SocketAddr::V4(value) => |to| save_payload(value, to), |from| payload(from).map(SocketAddr::V4);
        1 "V6" SocketAddr::V6(value) => |to| save_payload(value, to), |from| payload(from).map(SocketAddr::V6);
    }
    [] Ordering, [] {
        0 "Less" Ordering::Less => |_| (), |_from| Ok(Ordering::Less);
        1 "Equal" Ordering::Equal => |_| (), |_from| Ok(Ordering::Equal);
        2 "Greater" Ordering::Greater => |_| (), |_from| Ok(Ordering::Greater);
    }
}

/// Types that are stored as the tuple or array they are made of.
macro_rules! made_of {
    ($($type:ty => $parts:ty, |$value:ident| $take:expr, |$loaded:ident| $make:expr;)*) => {$(
        impl Checkpoint for $type {
            fn save(&self, to: &mut Encoder<'_>) {
                let $value = self;
                $take.save(to);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let $loaded = <$parts>::load(from)?;
                Ok($make)
            }
        }
    )*};
}

made_of! {
    Ipv4Addr => [u8; 4], |address| address.octets(), |octets| Ipv4Addr::from(octets);
    Ipv6Addr => [u8; 16], |address| address.octets(), |octets| Ipv6Addr::from(octets);
    SocketAddrV4 => (Ipv4Addr, u16), |address| (*address.ip(), address.port()), |parts| SocketAddrV4::new(parts.0, parts.1);
    SocketAddrV6 => (Ipv6Addr, u16, u32, u32),
        |address| (*address.ip(), address.port(), address.flowinfo(), address.scope_id()),
        |parts| SocketAddrV6::new(parts.0, parts.1, parts.2, parts.3);
}

/// There is no value of it, so that none is ever saved: `Result<T, Infallible>`.
impl Checkpoint for Infallible {
    fn save(&self, _: &mut Encoder<'_>) {
        match *self {}
    }
    fn load(_: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Err(LoadError::invalid("there is no value of the type `Infallible`"))
    }
}
