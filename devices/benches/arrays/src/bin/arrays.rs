//! The program that is measured: twenty arrays on a device and a list of the host's, in a loop that writes to all of them or to
//! one. It says how long each checkpoint held it up, and how long it takes to read all arrays back and to copy the list.

use std::env;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use ocl::{Buffer, ProQue};

const SOURCE: &str = "__kernel void add(__global float *numbers) { numbers[get_global_id(0)] += 1.5f; }";

/// Of the machine: the same for the processes that follow each other.
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes to `time` only.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn number(name: &str, usual: usize) -> usize {
    let text = env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn array(device: &ProQue, count: usize) -> ocl::Result<Buffer<f32>> {
    let numbers: Vec<f32> = (0..count).map(|at| (at % 1000) as f32).collect();
    Buffer::builder()
        .queue(device.queue().clone())
        .len(count)
        .copy_host_slice(&numbers)
        .build()
}

fn add(device: &ProQue, array: &Buffer<f32>) -> ocl::Result<()> {
    let kernel = device.kernel_builder("add").arg(array).build()?;
    // SAFETY: the kernel stays in the array.
    unsafe { kernel.enq() }
}

/// Memory that has been touched before, of which no checkpoint knows.
static TO: Mutex<Vec<Vec<f32>>> = Mutex::new(Vec::new());

/// How long it takes to read all arrays and to copy the list.
fn read_back(arrays: &[&Buffer<f32>], host: &[f64]) -> ocl::Result<u64> {
    static HOST: Mutex<Vec<f64>> = Mutex::new(Vec::new());
    let (Ok(mut to), Ok(mut copy)) = (TO.lock(), HOST.lock()) else {
        return Ok(0);
    };
    if to.is_empty() {
        *to = arrays.iter().map(|array| vec![0.5; array.len()]).collect();
        *copy = vec![0.5; host.len()];
    }
    let began = now();
    for (array, to) in arrays.iter().zip(to.iter_mut()) {
        array.read(to).enq()?;
    }
    copy.copy_from_slice(host);
    Ok(now() - began)
}

/// How long it takes to write all arrays.
fn write(arrays: &[&Buffer<f32>]) -> ocl::Result<u64> {
    let Ok(from) = TO.lock() else { return Ok(0) };
    let began = now();
    for (array, from) in arrays.iter().zip(from.iter()) {
        array.write(from).enq()?;
    }
    Ok(now() - began)
}

/// Until the checkpoint of this number is there and the last but one is gone: what is still written or removed would be in the way
/// of what is measured.
fn until_written(store: &str, number: usize) {
    let path = |number: usize| Path::new(store).join(format!("{number:06}.r0.h5"));
    let waits = |times: usize, until: &dyn Fn() -> bool| {
        for _ in 0..times {
            if until() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    };
    let is_there = waits(12_000, &|| path(number).exists());
    assert!(is_there, "checkpoint {number} is not there after a minute");
    // One that others build on stays.
    waits(100, &|| !path(number.saturating_sub(2)).exists());
    // The writer has yet to say that it is done.
    std::thread::sleep(PAUSE);
}

/// So long after that it is done.
const PAUSE: Duration = Duration::from_millis(200);

#[ckpt::main]
fn main() -> ocl::Result<()> {
    let count = number("BENCH_COUNT", 1 << 21);
    let rounds = number("BENCH_ROUNDS", 6);
    #[ckpt(reexecute)]
    let device = ProQue::builder().src(SOURCE).dims(count).build()?;
    #[ckpt(refill)]
    let a00 = array(&device, count)?;
    #[ckpt(refill)]
    let a01 = array(&device, count)?;
    #[ckpt(refill)]
    let a02 = array(&device, count)?;
    #[ckpt(refill)]
    let a03 = array(&device, count)?;
    #[ckpt(refill)]
    let a04 = array(&device, count)?;
    #[ckpt(refill)]
    let a05 = array(&device, count)?;
    #[ckpt(refill)]
    let a06 = array(&device, count)?;
    #[ckpt(refill)]
    let a07 = array(&device, count)?;
    #[ckpt(refill)]
    let a08 = array(&device, count)?;
    #[ckpt(refill)]
    let a09 = array(&device, count)?;
    #[ckpt(refill)]
    let a10 = array(&device, count)?;
    #[ckpt(refill)]
    let a11 = array(&device, count)?;
    #[ckpt(refill)]
    let a12 = array(&device, count)?;
    #[ckpt(refill)]
    let a13 = array(&device, count)?;
    #[ckpt(refill)]
    let a14 = array(&device, count)?;
    #[ckpt(refill)]
    let a15 = array(&device, count)?;
    #[ckpt(refill)]
    let a16 = array(&device, count)?;
    #[ckpt(refill)]
    let a17 = array(&device, count)?;
    #[ckpt(refill)]
    let a18 = array(&device, count)?;
    #[ckpt(refill)]
    let a19 = array(&device, count)?;
    let mut host: Vec<f64> = (0..number("BENCH_HOST", 1 << 22)).map(|at| at as f64).collect();
    let store = env::var("CKPT_DIR").unwrap_or_default();
    let few = number("BENCH_FEW", 0) > 0;
    for round in 1..=rounds {
        // Both follow the same work and the same pause: so long after, the system has the processor for them, and caches have the same.
        for is_read in [false, true] {
            let arrays = [
                &a00, &a01, &a02, &a03, &a04, &a05, &a06, &a07, &a08, &a09, &a10, &a11, &a12, &a13, &a14,
                &a15, &a16, &a17, &a18, &a19,
            ];
            for array in arrays.into_iter().take(if few { 1 } else { arrays.len() }) {
                add(&device, array)?;
            }
            if !few {
                host.iter_mut().for_each(|one| *one += 1.0);
            }
            device.queue().finish()?;
            if is_read {
                println!("read {}", read_back(&arrays, &host)?);
                std::thread::sleep(PAUSE);
                continue;
            }
            let began = now();
            ckpt::checkpoint!();
            let there = now();
            println!("site {round} at {there} wait {}", there - began);
            until_written(&store, round);
        }
        if round == rounds {
            let arrays = [
                &a00, &a01, &a02, &a03, &a04, &a05, &a06, &a07, &a08, &a09, &a10, &a11, &a12, &a13, &a14,
                &a15, &a16, &a17, &a18, &a19,
            ];
            println!("write {}", write(&arrays)?);
        }
        // Asked here: a restart is another process.
        if round == number("BENCH_DIES", 0) {
            // SAFETY: ends this process.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
    }
    Ok(())
}
