#[ckpt::instrument]
fn advance(cells: usize, turns: usize) -> f64 {
    let mut old = vec![0.0; cells];
    let mut new = vec![1.0; cells];
    let (mut from, mut to) = (&mut old, &mut new);
    let mut report = String::new();
    for turn in 0..turns {
        publish(report);
        ckpt::checkpoint!();
        for k in 1..cells {
            to[k] = from[k - 1] * 0.5;
        }
        std::mem::swap(&mut from, &mut to);
        report = format!("turn {turn}");
    }
    publish(report);
    from[0]
}
