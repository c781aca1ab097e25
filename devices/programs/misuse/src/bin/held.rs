//! What a program may have on a device at a site although none of its variables is that: the argument says what.

use ocl::{Buffer, MemFlags, ProQue};

const SOURCE: &str = "__kernel void add(__global uint *sum, uint more) { sum[get_global_id(0)] += more; }";

fn main() -> ocl::Result<()> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let device = ProQue::builder().src(SOURCE).dims(1000).build()?;
    let sum: Buffer<u32> = device.create_buffer()?;
    hold(&what, &device, &sum)?;
    for step in 0..20 {
        let kernel = device.kernel_builder("add").arg(&sum).arg(step as u32).build()?;
        // SAFETY: the kernel stays in the array.
        unsafe { kernel.enq()? };
    }
    let mut found = vec![0; 1000];
    if what != "event" {
        sum.read(&mut found).enq()?;
    }
    println!("sum {}", found[7]);
    Ok(())
}

fn hold(what: &str, device: &ProQue, sum: &Buffer<u32>) -> ocl::Result<()> {
    match what {
        "hidden" => std::mem::forget(device.create_buffer::<u32>()?),
        "part" => std::mem::forget(sum.create_sub_buffer(None, 64, 64)?),
        "memory" => {
            let memory = Box::leak(vec![0_u32; 1000].into_boxed_slice());
            // SAFETY: the memory is there to the end.
            let array = unsafe {
                Buffer::builder()
                    .queue(device.queue().clone())
                    .len(1000)
                    .use_host_slice(memory)
                    .build()?
            };
            std::mem::forget(array);
        }
        "mapped" => {
            let other: Buffer<u32> = Buffer::builder()
                .queue(device.queue().clone())
                .flags(MemFlags::new().read_write())
                .len(1000)
                .build()?;
            // SAFETY: nothing else uses the array.
            std::mem::forget(unsafe { other.map().read().enq()? });
        }
        "image" => {
            let image = ocl::Image::<u8>::builder()
                .channel_order(ocl::enums::ImageChannelOrder::Rgba)
                .channel_data_type(ocl::enums::ImageChannelDataType::UnormInt8)
                .image_type(ocl::enums::MemObjectType::Image2d)
                .dims((16, 16))
                .queue(device.queue().clone())
                .build()?;
            std::mem::forget(image);
        }
        "texels" => {
            let image = ocl::Image::<u32>::builder()
                .channel_order(ocl::enums::ImageChannelOrder::R)
                .channel_data_type(ocl::enums::ImageChannelDataType::UnsignedInt32)
                .image_type(ocl::enums::MemObjectType::Image1dBuffer)
                .dims(1000)
                .buffer_sync(sum.as_core().clone())
                .queue(device.queue().clone())
                .build()?;
            std::mem::forget(image);
        }
        "event" => std::mem::forget(ocl::core::create_user_event(device.context())?),
        "rebound" => {
            let kernel = device.kernel_builder("add").arg(sum).arg(1_u32).build()?;
            ocl::core::set_kernel_arg(&kernel, 1, ocl::core::ArgVal::scalar(&2_u32))?;
            std::mem::forget(kernel);
        }
        _ => {}
    }
    Ok(())
}
