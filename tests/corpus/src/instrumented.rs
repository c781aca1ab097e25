//! The shapes under ckpt. Each is the outermost instrumented function of its run.

mod shapes;

fn main() {
    if let Some(shape) = shapes::chosen() {
        let program = ckpt::__rt::Program {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            sources: None,
        };
        let _session = ckpt::__rt::open(program);
        shape();
    }
}
