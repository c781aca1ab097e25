extern crate rayon;

use rayon::prelude::*;
use std::env;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[derive(Clone, Copy)]
struct View {
    cx: f64,
    cy: f64,
    scale: f64,
}

const LIMIT: u32 = 2000;

fn escape(c_re: f64, c_im: f64) -> Option<u32> {
    let (mut re, mut im) = (0.0f64, 0.0f64);
    for n in 0..LIMIT {
        let (re2, im2) = (re * re, im * im);
        if re2 + im2 > 4.0 {
            return Some(n);
        }
        im = 2.0 * re * im + c_im;
        re = re2 - im2 + c_re;
    }
    None
}

fn shade(n: Option<u32>) -> u8 {
    match n {
        None => 0,
        Some(n) => 255 - (255.0 * (n as f64 / LIMIT as f64).sqrt()) as u8,
    }
}

/// Renders one view into `pixels`, `bounds.0` wide.
fn render(pixels: &mut [u8], bounds: (usize, usize), view: View, done: &AtomicUsize) {
    let (width, height) = bounds;
    pixels.par_chunks_mut(width).enumerate().for_each(|(row, band)| {
        for (column, pixel) in band.iter_mut().enumerate() {
            let x = view.cx + (column as f64 - width as f64 / 2.0) * view.scale;
            let y = view.cy + (height as f64 / 2.0 - row as f64) * view.scale;
            *pixel = shade(escape(x, y));
        }
        done.fetch_add(1, Ordering::Relaxed);
    });
}

fn blur(pixels: &[u8], out: &mut [f32], width: usize) {
    out.par_iter_mut().zip(pixels.par_iter()).enumerate().for_each(|(i, (o, &p))| {
        let left = if i % width > 0 { pixels[i - 1] } else { p };
        let right = if (i + 1) % width > 0 { pixels[i + 1] } else { p };
        *o = (left as f32 + 2.0 * p as f32 + right as f32) / 4.0;
    });
}

fn main() {
    let start = Instant::now();
    let width: usize = env::args().nth(1).and_then(|w| w.parse().ok()).unwrap_or(700);
    let bounds = (width, width * 3 / 4);
    let views = [
        View { cx: -0.75, cy: 0.0, scale: 3.2 / width as f64 },
        View { cx: -0.743, cy: 0.131, scale: 0.01 / width as f64 },
    ];
    let done = AtomicUsize::new(0);
    let mut pixels = vec![0u8; bounds.0 * bounds.1];
    for (k, view) in views.iter().enumerate() {
        render(&mut pixels, bounds, *view, &done);
        let mut header = format!("P5\n{} {}\n255\n", bounds.0, bounds.1).into_bytes();
        header.extend_from_slice(&pixels);
        fs::write(format!("mandel{}.pgm", k), &header).expect("cannot write the picture");
        let black = pixels.par_iter().filter(|p| **p == 0).count();
        println!("view {}: {} of {} pixels in the set, {} rows so far", k, black, pixels.len(), done.load(Ordering::SeqCst));
    }
    let mut soft = vec![0f32; pixels.len()];
    blur(&pixels, &mut soft, width);
    println!("softened: {:.4}", soft.iter().map(|s| *s as f64).sum::<f64>() / soft.len() as f64);
    eprintln!("{:.2} s", start.elapsed().as_secs_f64());
}
