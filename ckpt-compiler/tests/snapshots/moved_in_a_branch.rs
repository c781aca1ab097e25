//! A value that is gone at one site and needed after another travels as an `Option`.

fn length(list: Vec<u8>) -> usize {
    list.len()
}

/// One of two ways.
#[ckpt::instrument]
pub fn either(early: bool) -> usize {
    let list = vec![1, 2, 3];
    if early {
        let n = length(list);
        ckpt::checkpoint!();
        return n;
    }
    ckpt::checkpoint!();
    length(list) + 1
}
