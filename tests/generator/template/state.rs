#[derive(Debug, Clone, ckpt::Checkpoint)]
struct State {
    size: u64,
    list: Vec<u64>,
    kind: Kind,
}

impl State {
    fn new(size: u64) -> Self {
        State { size, list: vec![size, 1], kind: Kind::One(size) }
    }
}
