//! What `cargo ckpt` writes into programs that compute on devices with wgpu, which has no library beneath it that ckpt could
//! stand before. In other programs, and of other types, these give what they are given.
//!
//! A program with attributes of its own calls them itself:
//!
//! ```ignore
//! let adapter = block_on(ckpt::device::watched(&instance).it().request_adapter(&options))?;
//! let (device, queue) = block_on(ckpt::device::watched(&adapter).it().request_device(&wanted))?;
//! ```

use std::any::Any;
use std::ops::Deref;

/// What an array may be used for, and to be saved and restored as well.
pub fn usage<T: 'static>(usage: T) -> T {
    let mut usage = usage;
    widen(&mut usage);
    usage
}

/// The same, of the array that the call is to make whose description this stands in.
pub fn wanted<T: 'static>(usage: T) -> T {
    #[cfg(feature = "wgpu")]
    of_wgpu::note_wanted(&usage);
    self::usage(usage)
}

#[cfg(feature = "wgpu")]
fn widen(usage: &mut dyn Any) {
    use ::wgpu::{BufferUsages, TextureUsages};
    if let Some(usage) = usage.downcast_mut::<BufferUsages>() {
        // Memory that can be mapped is read or written so; with more it may not be copied.
        if !usage.contains(BufferUsages::MAP_READ) {
            *usage |= BufferUsages::COPY_SRC;
        }
        if !usage.contains(BufferUsages::MAP_WRITE) {
            *usage |= BufferUsages::COPY_DST;
        }
    } else if let Some(usage) = usage.downcast_mut::<TextureUsages>() {
        // What is there for one pass alone may have no other usage.
        if !usage.contains(TextureUsages::TRANSIENT_ATTACHMENT) {
            *usage |= TextureUsages::COPY_SRC | TextureUsages::COPY_DST;
        }
    }
}

#[cfg(not(feature = "wgpu"))]
fn widen(_: &mut dyn Any) {}

/// An array of these numbers, as the shaders have it that it is given to; the library knows its bytes alone.
pub fn numbers<N: 'static, T: 'static>(array: T, of: [N; 0]) -> T {
    note(&array, &of);
    array
}

#[cfg(feature = "wgpu")]
fn note(array: &dyn Any, of: &dyn Any) {
    if let Some(array) = array.downcast_ref() {
        super::wgpu::holds(array, of);
    }
}

#[cfg(not(feature = "wgpu"))]
fn note(_: &dyn Any, _: &dyn Any) {}

/// A handle whose next call is one that ckpt sees.
pub fn watched<T: ?Sized>(handle: &T) -> Watched<'_, T> {
    Watched(Other(handle))
}

/// A handle whose next call says what kernels may do with which arrays.
pub fn seen<T: ?Sized>(handle: &T) -> Seen<'_, T> {
    Seen(NotSeen(handle))
}

/// See [`seen`].
#[derive(Debug)]
pub struct Seen<'a, T: ?Sized>(NotSeen<'a, T>);

/// What may lead to a handle that is not known.
#[derive(Debug)]
pub struct NotSeen<'a, T: ?Sized>(&'a T);

impl<'a, T: ?Sized> Deref for Seen<'a, T> {
    type Target = NotSeen<'a, T>;

    fn deref(&self) -> &NotSeen<'a, T> {
        &self.0
    }
}

impl<'a, T: ?Sized> NotSeen<'a, T> {
    /// The handle itself: what is done with it nobody sees.
    pub fn it(&self) -> &'a T {
        #[cfg(feature = "wgpu")]
        super::wgpu::constants::unseen();
        self.0
    }
}

/// See [`watched`].
#[derive(Debug)]
pub struct Watched<'a, T: ?Sized>(Other<'a, T>);

/// What is not looked at.
#[derive(Debug)]
pub struct Other<'a, T: ?Sized>(&'a T);

impl<'a, T: ?Sized> Deref for Watched<'a, T> {
    type Target = Other<'a, T>;

    fn deref(&self) -> &Other<'a, T> {
        &self.0
    }
}

impl<'a, T: ?Sized> Other<'a, T> {
    /// The handle itself.
    pub fn it(&self) -> &'a T {
        self.0
    }
}

#[cfg(feature = "wgpu")]
mod of_wgpu {
    use super::{Seen, Watched};
    use crate::devices::wgpu::{self, constants, shown};
    use ::wgpu::util::{BufferInitDescriptor, DeviceExt};
    use ::wgpu::{
        Adapter, Backends, BindGroup, BindGroupDescriptor, Buffer, BufferDescriptor, BufferUsages, Device,
        DeviceDescriptor, Instance, Queue, RequestAdapterError, RequestAdapterOptions, RequestDeviceError,
        ShaderModule, ShaderModuleDescriptor,
    };
    use std::any::Any;
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::Arc;

    thread_local! {
        /// The call that is to be made next, by its number, and what the array is for that its description asks for. What is called
        /// for a description may make arrays itself: the number is another one then.
        static WANTED: Cell<Option<(u64, Option<BufferUsages>)>> = const { Cell::new(None) };
    }

    pub(super) fn note_wanted(usage: &dyn Any) {
        if let (Some((call, _)), Some(usage)) = (WANTED.get(), usage.downcast_ref()) {
            WANTED.set(Some((call, Some(*usage))));
        }
    }

    /// An instance whose adapters are noted.
    #[derive(Debug, Clone, Copy)]
    pub struct Asks<'a>(&'a Instance);

    impl Asks<'_> {
        /// As that of the instance.
        pub fn request_adapter(
            self,
            wanted: &RequestAdapterOptions<'_, '_>,
        ) -> impl Future<Output = Result<Adapter, RequestAdapterError>> + Send {
            self.0.request_adapter(wanted)
        }

        /// As that of the instance: as many as at the checkpoint, where something hangs on their number.
        pub fn enumerate_adapters(self, through: Backends) -> impl Future<Output = Vec<Adapter>> + Send {
            let there = self.0.enumerate_adapters(through);
            async move { shown::in_place_of(there.await, through) }
        }
    }

    /// An adapter whose devices are seen.
    #[derive(Debug)]
    pub struct Opens<'a>(&'a Adapter);

    impl Opens<'_> {
        /// As that of the adapter.
        pub fn request_device(
            &self,
            wanted: &DeviceDescriptor<'_>,
        ) -> impl Future<Output = Result<(Device, Queue), RequestDeviceError>> + Send + use<> {
            let opened = self.0.request_device(wanted);
            async move {
                let opened = opened.await;
                if let Ok((device, queue)) = &opened {
                    wgpu::opened(device, queue);
                }
                opened
            }
        }
    }

    /// A device of which is known what kernels may do with its arrays.
    #[derive(Debug)]
    pub struct Makes<'a> {
        device: &'a Device,
        /// The number of the call for which this is.
        call: u64,
    }

    impl<'a> Makes<'a> {
        fn begin(device: &'a Device) -> Self {
            let call = constants::begin();
            WANTED.set(Some((call, None)));
            Makes { device, call }
        }

        /// What the array is for that this call makes, where its description has said it.
        fn wanted(&self) -> Option<BufferUsages> {
            let (call, usage) = WANTED.take()?;
            usage.filter(|_| call == self.call)
        }

        /// As that of the device, whose description was made just now.
        pub fn create_buffer(&self, wanted: &BufferDescriptor<'_>) -> Buffer {
            constants::made(self.device.create_buffer(wanted), self.wanted(), false)
        }

        /// The same.
        pub fn create_buffer_init(&self, wanted: &BufferInitDescriptor<'_>) -> Buffer {
            constants::made(self.device.create_buffer_init(wanted), self.wanted(), true)
        }

        /// As that of the device.
        pub fn create_bind_group(&self, wanted: &BindGroupDescriptor<'_>) -> BindGroup {
            constants::bound(wanted.entries);
            self.device.create_bind_group(wanted)
        }

        /// As that of the device.
        pub fn create_shader_module(&self, wanted: ShaderModuleDescriptor<'_>) -> ShaderModule {
            constants::compiled(&wanted.source);
            self.device.create_shader_module(wanted)
        }
    }

    macro_rules! makes {
        ($($handle:ty),*) => {$(
            impl<'a> Seen<'a, $handle> {
                /// The device.
                pub fn it(&self) -> Makes<'a> {
                    Makes::begin(self.0.0)
                }
            }
        )*};
    }

    makes!(
        Device,
        &Device,
        Arc<Device>,
        Rc<Device>,
        Box<Device>,
        &Arc<Device>,
        &Rc<Device>,
        &&Device
    );

    macro_rules! seen {
        ($($handle:ty),*) => {$(
            impl<'a> Watched<'a, $handle> {
                /// The instance, which is known from here on.
                pub fn it(&self) -> Asks<'a> {
                    wgpu::asked(self.0.0);
                    Asks(self.0.0)
                }
            }
        )*};
    }

    macro_rules! opens {
        ($($handle:ty),*) => {$(
            impl<'a> Watched<'a, $handle> {
                /// The adapter, whose devices are known.
                pub fn it(&self) -> Opens<'a> {
                    Opens(self.0.0)
                }
            }
        )*};
    }

    seen!(Instance, &Instance, Arc<Instance>, Rc<Instance>, Box<Instance>);
    opens!(Adapter, &Adapter, Arc<Adapter>, Rc<Adapter>, Box<Adapter>);
}
