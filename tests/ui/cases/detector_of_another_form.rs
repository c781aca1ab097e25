#[derive(ckpt::Checkpoint)]
#[ckpt(detector = "has_cells")]
struct Tank {
    cells: Vec<u64>,
}

fn has_cells(cells: &[u64]) -> bool {
    !cells.is_empty()
}

#[derive(ckpt::Checkpoint)]
#[ckpt(detector = "is_missing")]
struct Well {
    depth: u64,
}

fn main() {
    let tank = Tank { cells: vec![1] };
    println!("{}", has_cells(&tank.cells));
    let well = Well { depth: 1 };
    println!("{}", well.depth);
}
