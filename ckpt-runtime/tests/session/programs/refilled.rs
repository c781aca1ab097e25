//! A value that a restart makes again, with one that moves into it and that nothing can stand in for: its type takes no small
//! numbers.

use ckpt::value::{Decoder, Encoder, LoadError};

/// The order of a scheme: two and more.
struct Order(u32);

impl ckpt::Checkpoint for Order {
    fn save(&self, to: &mut Encoder<'_>) {
        self.0.save(to);
    }

    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        match u32::load(from)? {
            0 | 1 => Err(LoadError::invalid("a scheme is of second order at least")),
            order => Ok(Order(order)),
        }
    }
}

#[derive(ckpt::Checkpoint)]
struct Sim<'m> {
    #[ckpt(keep)]
    mesh: &'m [f64],
    order: Order,
}

#[ckpt::main]
pub fn main() {
    let mesh = vec![1.0, 2.0];
    let order = Order(2);
    #[ckpt(refill(order))]
    let mut sim = Sim { mesh: &mesh, order };
    for step in 0..4 {
        ckpt::checkpoint!();
        sim.order.0 += 1;
        println!("{} {}", sim.mesh[step % 2], sim.order.0);
    }
}
