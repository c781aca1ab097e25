// Frames of a moving blob go through a pipeline of threads: render, blur, measure. One pipeline for each scene.

use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::thread;

const SIDE: usize = 48;
const FRAMES: usize = 12;

struct Frame {
    number: usize,
    pixels: Vec<f32>,
}

#[derive(Debug, Default, Clone)]
struct Track {
    brightness: f64,
    x: f64,
    y: f64,
    frames: usize,
}

fn render(scene: usize, out: SyncSender<Frame>) {
    for number in 0..FRAMES {
        let (cx, cy) = (8.0 + number as f32 * 2.5, 10.0 + ((scene + number) % 17) as f32);
        let pixels = (0..SIDE * SIDE)
            .map(|p| {
                let (x, y) = ((p % SIDE) as f32 - cx, (p / SIDE) as f32 - cy);
                (-(x * x + y * y) / (20.0 + scene as f32)).exp()
            })
            .collect();
        out.send(Frame { number, pixels }).unwrap();
    }
}

fn blur(from: Receiver<Frame>, to: Sender<Frame>) {
    for mut frame in from {
        for _ in 0..4 {
            let old = frame.pixels.clone();
            for y in 1..SIDE - 1 {
                for x in 1..SIDE - 1 {
                    let p = y * SIDE + x;
                    frame.pixels[p] =
                        0.2 * (old[p] + old[p - 1] + old[p + 1] + old[p - SIDE] + old[p + SIDE]);
                }
            }
        }
        to.send(frame).unwrap();
    }
}

fn measure(from: Receiver<Frame>) -> Track {
    let mut track = Track::default();
    for frame in from.iter() {
        assert_eq!(frame.number, track.frames);
        let total: f64 = frame.pixels.iter().map(|p| *p as f64).sum();
        for (p, value) in frame.pixels.iter().enumerate() {
            track.x += (p % SIDE) as f64 * *value as f64 / total;
            track.y += (p / SIDE) as f64 * *value as f64 / total;
        }
        track.brightness += total;
        track.frames += 1;
    }
    track
}

fn run_scene(scene: usize) -> Track {
    let (rendered, to_blur) = sync_channel(2);
    let (blurred, to_measure) = channel();
    let first = thread::spawn(move || render(scene, rendered));
    let second = thread::spawn(move || blur(to_blur, blurred));
    let third = thread::spawn(move || measure(to_measure));
    first.join().unwrap();
    second.join().unwrap();
    third.join().unwrap()
}

fn main() {
    let scenes: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(40);
    let mut sum = Track::default();
    for scene in 0..scenes {
        let track = run_scene(scene);
        if scene % 10 == 0 {
            println!("scene {scene}: {:.9} at ({:.6}, {:.6})", track.brightness, track.x, track.y);
        }
        sum.brightness += track.brightness;
        sum.x += track.x;
        sum.y += track.y;
        sum.frames += track.frames;
    }
    println!("{sum:?}");
}
