//! What loops gather that were chains of adaptors.

use crate::iterators::replay::Replayed;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// How many items an iterator has been asked for.
#[inline(always)]
pub fn asked<I>(iterator: &Replayed<I>) -> usize {
    iterator.asked()
}

/// What a closure makes of an item.
#[inline(always)]
pub fn mapped<T, R>(item: T, by: impl FnOnce(T) -> R) -> R {
    by(item)
}

/// What a closure says of an item.
#[inline(always)]
pub fn looked_at<T, R>(item: &T, by: impl FnOnce(&T) -> R) -> R {
    by(item)
}

/// What a `collect` begins with.
#[inline(always)]
pub fn gathered<C: Default>() -> C {
    C::default()
}

/// One more item of a `collect`.
#[inline(always)]
pub fn gather<C: Extend<T>, T>(gathered: &mut C, item: T) {
    gathered.extend(std::iter::once(item));
}

/// What a `sum` or `product` begins with.
#[inline(always)]
pub fn none<S>() -> Option<S> {
    None
}

/// One more item of a `sum`: the first as the sum of it alone, so that the result is the same to the last bit.
#[inline(always)]
pub fn add<S: std::iter::Sum<T> + std::iter::Sum<S>, T>(sum: Option<S>, item: T) -> Option<S> {
    let item = S::sum(std::iter::once(item));
    Some(match sum {
        Some(sum) => S::sum([sum, item].into_iter()),
        None => item,
    })
}

/// The sum, also of nothing.
#[inline(always)]
pub fn sum_of<S: std::iter::Sum<S>>(sum: Option<S>) -> S {
    sum.unwrap_or_else(|| S::sum(std::iter::empty()))
}

/// One more item of a `product`.
#[inline(always)]
pub fn multiply<P: std::iter::Product<T> + std::iter::Product<P>, T>(
    product: Option<P>,
    item: T,
) -> Option<P> {
    let item = P::product(std::iter::once(item));
    Some(match product {
        Some(product) => P::product([product, item].into_iter()),
        None => item,
    })
}

/// The product, also of nothing.
#[inline(always)]
pub fn product_of<P: std::iter::Product<P>>(product: Option<P>) -> P {
    product.unwrap_or_else(|| P::product(std::iter::empty()))
}

/// One more item of a `max`: the last of equals.
#[inline(always)]
pub fn larger<T: Ord>(best: Option<T>, item: T) -> Option<T> {
    Some(match best {
        Some(best) => best.max(item),
        None => item,
    })
}

/// One more item of a `min`: the first of equals.
#[inline(always)]
pub fn smaller<T: Ord>(best: Option<T>, item: T) -> Option<T> {
    Some(match best {
        Some(best) => best.min(item),
        None => item,
    })
}

/// One more item of a `max_by_key`.
#[inline(always)]
pub fn larger_by_key<K: Ord, T>(best: Option<(K, T)>, key: K, item: T) -> Option<(K, T)> {
    Some(match best {
        Some(best) if best.0 > key => best,
        _ => (key, item),
    })
}

/// One more item of a `min_by_key`.
#[inline(always)]
pub fn smaller_by_key<K: Ord, T>(best: Option<(K, T)>, key: K, item: T) -> Option<(K, T)> {
    Some(match best {
        Some(best) if best.0 <= key => best,
        _ => (key, item),
    })
}

/// Tells the type checker what the option is of.
#[inline(always)]
pub fn as_of<T>(held: Option<T>, _: &T) -> Option<T> {
    held
}

/// What `?` stands behind: a `Result` or an `Option`.
pub trait Attempt: Sized {
    /// What it holds when all is well.
    type Value;
    /// What is handed on otherwise.
    type Rest;
    /// The one or the other.
    fn attempt(self) -> ControlFlow<Self::Rest, Self::Value>;
    /// All is well.
    fn done(value: Self::Value) -> Self;
    /// Whether it is otherwise.
    fn is_end(&self) -> bool;
}

/// What the rest of an attempt is handed on as.
pub trait Ended<R> {
    /// As `?` does it, with `From` for errors.
    fn ended(rest: R) -> Self;
}

impl<T> Attempt for Option<T> {
    type Value = T;
    type Rest = Option<Infallible>;
    #[inline(always)]
    fn attempt(self) -> ControlFlow<Option<Infallible>, T> {
        match self {
            Some(value) => ControlFlow::Continue(value),
            None => ControlFlow::Break(None),
        }
    }
    #[inline(always)]
    fn done(value: T) -> Self {
        Some(value)
    }
    #[inline(always)]
    fn is_end(&self) -> bool {
        self.is_none()
    }
}

impl<T> Ended<Option<Infallible>> for Option<T> {
    #[inline(always)]
    fn ended(_: Option<Infallible>) -> Self {
        None
    }
}

impl<T, E> Attempt for Result<T, E> {
    type Value = T;
    type Rest = Result<Infallible, E>;
    #[inline(always)]
    fn attempt(self) -> ControlFlow<Result<Infallible, E>, T> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
    #[inline(always)]
    fn done(value: T) -> Self {
        Ok(value)
    }
    #[inline(always)]
    fn is_end(&self) -> bool {
        self.is_err()
    }
}

impl<T, E, F: From<E>> Ended<Result<Infallible, E>> for Result<T, F> {
    #[inline(always)]
    fn ended(rest: Result<Infallible, E>) -> Self {
        match rest {
            Ok(never) => match never {},
            Err(error) => Err(F::from(error)),
        }
    }
}

/// What stands before a `?`.
#[inline(always)]
pub fn attempt<A: Attempt>(tried: A) -> ControlFlow<A::Rest, A::Value> {
    tried.attempt()
}

/// What a `?` hands on.
#[inline(always)]
pub fn ended<A: Ended<R>, R>(rest: R) -> A {
    A::ended(rest)
}

/// What comes out when nothing ended early.
#[inline(always)]
pub fn done<A: Attempt>(value: A::Value) -> A {
    A::done(value)
}

/// Whether an attempt ends what it is part of.
#[inline(always)]
pub fn is_end<A: Attempt>(tried: &A) -> bool {
    tried.is_end()
}

/// What an attempt holds that is no end.
#[inline(always)]
pub fn value_of<A: Attempt>(tried: A) -> A::Value {
    match tried.attempt() {
        ControlFlow::Continue(value) => value,
        ControlFlow::Break(_) => unreachable!("this is a bug in ckpt: an attempt that ended goes on"),
    }
}
