#[derive(Clone, Copy, ckpt::Checkpoint)]
union Word {
    whole: u32,
    bytes: [u8; 4],
}

fn main() {
    let word = Word { whole: 1 };
    println!("{}", unsafe { word.bytes[0] });
}
