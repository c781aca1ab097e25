//! Functions of the program among the statements that start threads.

use super::{placed, sites};

const BANDS: &str = "
fn corner(bounds: (usize, usize), row: usize) -> (f64, f64) {
    CORNER
}
fn scaled(x: f64) -> f64 { x * 0.5 }
fn render(band: &mut [u8], bounds: (usize, usize), corner: (f64, f64)) {
    for row in 0..bounds.1 {
        for column in 0..bounds.0 {
            let mut z = corner.0;
            for _ in 0..1000 { z = z * z + corner.1; }
            band[row * bounds.0 + column] = z as u8;
        }
    }
}
fn main() {
    let bounds = (4000, 3000);
    let mut pixels = vec![0; bounds.0 * bounds.1];
    let rows = bounds.1 / 8 + 1;
    let bands: Vec<&mut [u8]> = pixels.chunks_mut(rows * bounds.0).collect();
    std::thread::scope(|scope| {
        for (i, band) in bands.into_iter().enumerate() {
            let height = band.len() / bounds.0;
            let at = corner((bounds.0, height), rows * i);
            scope.spawn(move || {
                render(band, (bounds.0, height), at);
            });
        }
    });
    println!(\"{}\", pixels[7]);
}
";

fn is_placed(corner: &str) -> bool {
    let text = BANDS.replace("CORNER", corner);
    let (_, placement) = placed(&[("main.rs", &text)]);
    !sites(&placement).is_empty()
}

#[test]
fn one_that_only_computes_may_be_called_again() {
    for computes in [
        "(row as f64 / bounds.1 as f64, 0.25)",
        "assert!(bounds.0 > 0); (scaled(row as f64), f64::from(3u8).sqrt())",
        "let mut sum = 0.0; for i in 0..row { sum += i as f64; } (sum, 0.0)",
    ] {
        assert!(is_placed(computes), "{computes}");
    }
}

#[test]
fn one_that_does_more_may_not() {
    for more in [
        "println!(\"{row}\"); (0.0, 0.0)",
        "(rand::random(), 0.0)",
        "log(row); (0.0, 0.0)",
        "unsafe { (*POINTER, 0.0) }",
        "(COUNT.fetch_add(1, Relaxed) as f64, 0.0)",
    ] {
        assert!(!is_placed(more), "{more}");
    }
}
