//! Shared pointers: what two of them pointed to together before, they point to together after.

use std::rc::Rc;
use std::sync::Arc;

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

macro_rules! shared {
    ($($pointer:ident<$target:ty>, [$($generics:tt)*], |$loaded:ident: $inner:ty| $make:expr;)*) => {$(
        impl<$($generics)*> Checkpoint for $pointer<$target> {
            fn save(&self, to: &mut Encoder<'_>) {
                let address = $pointer::as_ptr(self).cast::<()>() as usize;
                let type_name = std::any::type_name::<Self>();
                let (table, id) = to.objects().refer(self, address, type_name, |object, to| {
                    if let Some(pointer) = object.downcast_ref::<Self>() {
                        (**pointer).save(to);
                    }
                });
                to.object(table, id);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                from.object(|from| {
                    let $loaded = <$inner>::load(from)?;
                    Ok($make)
                })
            }
        }
    )*};
}

shared! {
    Rc<T>, [T: Checkpoint + 'static], |value: T| Rc::new(value);
    Rc<[T]>, [T: Checkpoint + 'static], |items: Vec<T>| Rc::from(items);
    Rc<str>, [], |text: String| Rc::from(text);
    Arc<T>, [T: Checkpoint + 'static], |value: T| Arc::new(value);
    Arc<[T]>, [T: Checkpoint + 'static], |items: Vec<T>| Arc::from(items);
    Arc<str>, [], |text: String| Arc::from(text);
}
