
pub use mpi::collective::SystemOperation;
pub use mpi::topology::{Color, SimpleCommunicator};
pub use mpi::traits::*;

/// Work of which every rank has another amount.
pub fn uneven(rank: u64, number: u64) -> u64 {
    std::thread::sleep(std::time::Duration::from_millis(rank * 3 + number % 3));
    (0..mix(rank, number) * 20).fold(number, |sum, turn| mix(sum, turn))
}
