//! Iterators that a loop uses up bit by bit: output times, the words of an input deck, a sequence without end.

const DECK: &str = "rest 400 push 900 turn 300 rest 500 push 700 turn 800 rest 100";

struct Body {
    x: Vec<f64>,
    v: Vec<f64>,
}

impl Body {
    fn new(n: usize) -> Self {
        Body { x: (0..n).map(|k| k as f64 * 0.01).collect(), v: vec![0.0; n] }
    }

    fn advance(&mut self, force: f64, dt: f64) {
        for (x, v) in self.x.iter_mut().zip(&mut self.v) {
            *v += dt * (force - x.sin());
            *x += dt * *v;
        }
    }

    fn energy(&self) -> f64 {
        self.x.iter().zip(&self.v).map(|(x, v)| 0.5 * v * v - x.cos()).sum()
    }
}

/// Until all output times have been reached.
fn relax(body: &mut Body, marks: &[f64]) {
    let mut due = marks.iter().copied().filter(|mark| *mark > 0.0).peekable();
    let mut t = 0.0;
    while let Some(&mark) = due.peek() {
        body.advance(0.0, 1e-3);
        t += 1e-3;
        if t >= mark {
            println!("t = {t:.3}: {:.12}", body.energy());
            due.next();
        }
    }
}

/// What the deck says, word by word.
fn follow(body: &mut Body) {
    let mut words = DECK.split_whitespace().map(str::to_owned);
    let mut strength = (1..).map(|k| 1.0 / f64::from(k));
    while let Some(word) = words.next() {
        let steps: usize = words.next().and_then(|n| n.parse().ok()).expect("a number of steps");
        let force = match word.as_str() {
            "rest" => 0.0,
            "push" => strength.next().unwrap_or(0.0),
            _ => -strength.next().unwrap_or(0.0),
        };
        for _ in 0..steps {
            body.advance(force, 1e-3);
        }
        println!("{word} {steps}: {:.12}", body.energy());
    }
}

fn main() {
    let mut body = Body::new(800);
    relax(&mut body, &[0.0, 0.5, 1.25, 2.0, 3.0]);
    follow(&mut body);
    println!("{:.12} {:.12}", body.x[7], body.v[799]);
}
