#[ckpt::instrument]
async fn wait() {
    ckpt::checkpoint!();
}

fn main() {
    drop(wait());
}
