//! Values of any type that has serde's `Serialize` and `Deserialize`, stored as readable JSON (feature `serde`).
//!
//! What JSON cannot say is written as an object with one key that begins with `$`, so that every value comes back
//! exactly: `{"$f64": "inf"}`, `{"$bytes": "00ff"}`, `{"$map": [[key, value], ...]}` for keys that are not text,
//! `{"$some": null}`, `{"$integer": "..."}` beyond 64 bits.

use super::{Checkpoint, Decoder, Encoder, LoadError};

#[cfg(feature = "serde")]
mod de;
#[cfg(feature = "serde")]
mod json;
#[cfg(feature = "serde")]
mod ser;
#[cfg(feature = "serde")]
mod stand_in;

#[cfg(feature = "serde")]
pub use with::{SavedBySerde, Serde};
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use with::{load_serde, save_serde, save_serde_each};

#[cfg(not(feature = "serde"))]
#[doc(hidden)]
pub use without::{SavedBySerde, load_serde, save_serde, save_serde_each};

#[cfg(feature = "serde")]
mod with {
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::{de, json, ser};
    use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

    /// What `#[ckpt(serde)]` on a field or variable asks of its type.
    #[diagnostic::on_unimplemented(
        message = "E1214: `{Self}` cannot be saved through serde",
        note = "`#[ckpt(serde)]` needs serde's `Serialize`, and `Deserialize` without borrowed data"
    )]
    pub trait SavedBySerde: Serialize + DeserializeOwned {}
    impl<T: Serialize + DeserializeOwned> SavedBySerde for T {}

    /// A value that is saved through serde, where a wrapper is more convenient than `#[ckpt(serde)]` on a field.
    ///
    /// ```
    /// # use ckpt::value::Serde;
    /// let url: Serde<std::net::IpAddr> = Serde("127.0.0.1".parse().unwrap());
    /// assert!(url.is_loopback());
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    pub struct Serde<T>(pub T);

    impl<T> std::ops::Deref for Serde<T> {
        type Target = T;
        fn deref(&self) -> &T {
            &self.0
        }
    }

    impl<T> std::ops::DerefMut for Serde<T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.0
        }
    }

    impl<T: SavedBySerde> Checkpoint for Serde<T> {
        fn save(&self, to: &mut Encoder<'_>) {
            save_serde(&self.0, to);
        }
        fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
            load_serde(from).map(Serde)
        }
    }

    /// Saves a value as JSON.
    pub fn save_serde<T: SavedBySerde>(value: &T, to: &mut Encoder<'_>) {
        if to.measures() {
            return;
        }
        let text = ser::to_value(value).and_then(|value| json::to_text(&value));
        match text {
            Ok(text) => to.text(&text),
            Err(error) => {
                to.fail(format_args!(
                    "serde cannot serialize a `{}` in it: {error}",
                    std::any::type_name::<T>()
                ));
            }
        }
    }

    /// Saves many values as JSON, each by itself.
    pub fn save_serde_each<'a, T: SavedBySerde + 'a>(
        items: impl Iterator<Item = &'a T>,
        to: &mut Encoder<'_>,
    ) {
        items.for_each(|item| save_serde(item, to));
    }

    /// Restores a value from JSON.
    pub fn load_serde<T: SavedBySerde>(from: &mut Decoder<'_>) -> Result<T, LoadError> {
        if let Some(lowest) = from.lowest_of_stand_in() {
            let made = super::stand_in::stand_in(lowest);
            return made.ok_or_else(|| LoadError::invalid("serde cannot make it of nothing"));
        }
        let text = from.text()?;
        let value = json::from_text(&text).and_then(de::from_value);
        value.map_err(|error| {
            LoadError::invalid(format_args!(
                "serde cannot restore a `{}`: {error}",
                std::any::type_name::<T>()
            ))
        })
    }

    impl Decoder<'_> {
        /// As [`Decoder::fields`], through serde; for the code that the derive writes.
        #[doc(hidden)]
        pub fn serde_fields<T: SavedBySerde>(
            &mut self,
            names: &[&str],
            count: usize,
            default: Option<&dyn Fn() -> T>,
        ) -> Result<Vec<T>, LoadError> {
            self.fields_with(names, count, default, |column, count| {
                (0..count).map(|_| load_serde(column)).collect()
            })
        }
    }
}

#[cfg(not(feature = "serde"))]
mod without {
    use crate::value::{Decoder, Encoder, LoadError};

    /// What `#[ckpt(serde)]` on a field or variable asks of its type: nothing has it without the feature.
    #[diagnostic::on_unimplemented(
        message = "E1215: `#[ckpt(serde)]` needs the feature `serde` of ckpt",
        note = "in Cargo.toml: `ckpt-runtime = {{ version = \"..\", features = [\"serde\"] }}`"
    )]
    pub trait SavedBySerde {}

    /// Never called.
    pub fn save_serde<T: SavedBySerde>(_: &T, _: &mut Encoder<'_>) {}

    /// Never called.
    pub fn save_serde_each<'a, T: SavedBySerde + 'a>(_: impl Iterator<Item = &'a T>, _: &mut Encoder<'_>) {}

    /// Never called.
    pub fn load_serde<T: SavedBySerde>(_: &mut Decoder<'_>) -> Result<T, LoadError> {
        Err(LoadError::invalid("ckpt was built without its feature `serde`"))
    }

    impl Decoder<'_> {
        /// As [`Decoder::fields`], through serde; for the code that the derive writes.
        #[doc(hidden)]
        pub fn serde_fields<T: SavedBySerde>(
            &mut self,
            _: &[&str],
            _: usize,
            _: Option<&dyn Fn() -> T>,
        ) -> Result<Vec<T>, LoadError> {
            Err(LoadError::invalid("ckpt was built without its feature `serde`"))
        }
    }
}

/// A variable with `#[ckpt(serde)]` on its way into a checkpoint.
#[doc(hidden)]
#[derive(Debug)]
pub struct BySerde<'a, T>(pub &'a T);

impl<T: SavedBySerde> Checkpoint for BySerde<'_, T> {
    fn save(&self, to: &mut Encoder<'_>) {
        save_serde(self.0, to);
    }
    fn load(_: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Err(LoadError::invalid(
            "a borrow is not restored; this is a bug in ckpt",
        ))
    }
}

/// A variable with `#[ckpt(serde)]` on its way out of a checkpoint.
#[doc(hidden)]
#[derive(Debug)]
pub struct FromSerde<T>(T);

impl<T: SavedBySerde> Checkpoint for FromSerde<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        save_serde(&self.0, to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        load_serde(from).map(FromSerde)
    }
}

/// What was saved through serde.
#[doc(hidden)]
pub fn from_serde<T>(value: FromSerde<T>) -> T {
    value.0
}
