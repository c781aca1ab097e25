//! Arrays and kernels on devices in lists of the program: a restart makes the list again, as long as it was, and fills each.

use crate::value::{Decoder, Encoder, LoadError, Refill};

fn save<T: Refill>(list: &[T], to: &mut Encoder<'_>) {
    let mut to = to.list(list.len());
    list.iter().for_each(|one| one.save_part(&mut to));
}

fn refill<T: Refill>(list: &mut [T], from: &mut Decoder<'_>) -> Result<(), LoadError> {
    let (count, mut from) = from.list()?;
    if count != list.len() {
        return Err(LoadError::invalid(format!(
            "there are {} of what is on devices, the checkpoint holds {count}",
            list.len()
        )));
    }
    list.iter_mut().try_for_each(|one| one.refill(&mut from))
}

macro_rules! lists {
    ($($(#[$when:meta])? [$($bound:tt)*] $one:ty;)*) => {$(
        $(#[$when])?
        impl<$($bound)*> Refill for Vec<$one> {
            fn save_part(&self, to: &mut Encoder<'_>) {
                save(self, to);
            }

            fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                refill(self, from)
            }
        }

        $(#[$when])?
        impl<$($bound)*> Refill for Box<[$one]> {
            fn save_part(&self, to: &mut Encoder<'_>) {
                save(self, to);
            }

            fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                refill(self, from)
            }
        }

        $(#[$when])?
        impl<const COUNT: usize, $($bound)*> Refill for [$one; COUNT] {
            fn save_part(&self, to: &mut Encoder<'_>) {
                save(self, to);
            }

            fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                refill(self, from)
            }
        }
    )*};
}

lists! {
    #[cfg(feature = "ocl")]
    [T: ::ocl::OclPrm] ::ocl::Buffer<T>;
    #[cfg(feature = "ocl")]
    [T: ::ocl::OclPrm] ::ocl::Image<T>;
    #[cfg(feature = "ocl")]
    [] ::ocl::Kernel;
    #[cfg(feature = "opencl3")]
    [T: Send + Sync + 'static] ::opencl3::memory::Buffer<T>;
    #[cfg(feature = "opencl3")]
    [] ::opencl3::memory::Image;
    #[cfg(any(feature = "ocl", feature = "opencl3"))]
    [] *mut std::ffi::c_void;
    #[cfg(feature = "opencl3")]
    [] ::opencl3::kernel::Kernel;
    #[cfg(feature = "wgpu")]
    [] ::wgpu::Buffer;
    #[cfg(feature = "wgpu")]
    [] ::wgpu::Texture;
    #[cfg(feature = "cudarc")]
    [T: ::cudarc::driver::DeviceRepr + Send + Sync + 'static] ::cudarc::driver::CudaSlice<T>;
}
