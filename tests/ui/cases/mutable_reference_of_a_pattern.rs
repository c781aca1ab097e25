#[ckpt::instrument]
fn main() {
    let (mut slot, mut spare) = (Some(vec![1]), vec![7]);
    if let Some(mut items) = slot.as_mut() {
        if items.len() > 3 {
            items = &mut spare;
        }
        ckpt::checkpoint!();
        items.push(3);
    }
    println!("{slot:?} {spare:?}");
}
