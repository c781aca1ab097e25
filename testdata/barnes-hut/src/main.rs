// Barnes-Hut galaxy, quadtree of Option<Box<Node>>
use std::fs::File;
use std::io::{self, BufWriter, Write};

#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct V2 { x: f64, y: f64 }
impl std::ops::Add for V2 { type Output = V2; fn add(self, o: V2) -> V2 { V2 { x: self.x + o.x, y: self.y + o.y } } }
impl std::ops::Sub for V2 { type Output = V2; fn sub(self, o: V2) -> V2 { V2 { x: self.x - o.x, y: self.y - o.y } } }
impl std::ops::Mul<f64> for V2 { type Output = V2; fn mul(self, k: f64) -> V2 { V2 { x: self.x * k, y: self.y * k } } }
impl std::ops::AddAssign for V2 { fn add_assign(&mut self, o: V2) { *self = *self + o } }
impl V2 { fn norm2(self) -> f64 { self.x * self.x + self.y * self.y } }

#[derive(Clone, Debug)]
struct Body { p: V2, v: V2, m: f64 }

struct Node {
    centre: V2,
    half: f64,
    mass: f64,
    com: V2,
    body: Option<usize>,
    kids: [Option<Box<Node>>; 4],
}

impl Node {
    fn new(centre: V2, half: f64) -> Self {
        Node { centre, half, mass: 0.0, com: V2::default(), body: None, kids: [None, None, None, None] }
    }
    fn quadrant(&self, p: V2) -> usize {
        (if p.x >= self.centre.x { 1 } else { 0 }) + (if p.y >= self.centre.y { 2 } else { 0 })
    }
    fn is_leaf(&self) -> bool { self.kids.iter().all(|k| k.is_none()) }
    fn insert(&mut self, i: usize, bodies: &[Body]) {
        if self.is_leaf() && self.body.is_none() {
            self.body = Some(i);
            return;
        }
        if let Some(old) = self.body.take() {
            if (bodies[old].p - bodies[i].p).norm2() < 1e-24 { self.body = Some(old); return; }
            self.push_down(old, bodies);
        }
        self.push_down(i, bodies);
    }
    fn push_down(&mut self, i: usize, bodies: &[Body]) {
        let q = self.quadrant(bodies[i].p);
        let h = self.half / 2.0;
        let c = V2 {
            x: self.centre.x + if q & 1 == 1 { h } else { -h },
            y: self.centre.y + if q & 2 == 2 { h } else { -h },
        };
        self.kids[q].get_or_insert_with(|| Box::new(Node::new(c, h))).insert(i, bodies);
    }
    fn summarise(&mut self, bodies: &[Body]) {
        if let Some(i) = self.body {
            self.mass = bodies[i].m;
            self.com = bodies[i].p;
            return;
        }
        let mut acc = V2::default();
        for kid in self.kids.iter_mut().flatten() {
            kid.summarise(bodies);
            self.mass += kid.mass;
            acc += kid.com * kid.mass;
        }
        self.com = acc * (1.0 / self.mass);
    }
    fn force(&self, p: V2, theta: f64) -> V2 {
        let d = self.com - p;
        let r2 = d.norm2() + 1e-3;
        if self.is_leaf() || (2.0 * self.half).powi(2) < theta * theta * r2 {
            return d * (self.mass / (r2 * r2.sqrt()));
        }
        self.kids.iter().flatten().fold(V2::default(), |a, k| a + k.force(p, theta))
    }
    fn depth(&self) -> usize { 1 + self.kids.iter().flatten().map(|k| k.depth()).max().unwrap_or(0) }
}

fn build(bodies: &[Body]) -> Option<Box<Node>> {
    let half = bodies.iter().map(|b| b.p.x.abs().max(b.p.y.abs())).fold(0.0, f64::max) * 1.01 + 1e-9;
    let mut root: Option<Box<Node>> = None;
    for i in 0..bodies.len() {
        match root {
            Some(ref mut r) => r.insert(i, bodies),
            None => { let mut n = Node::new(V2::default(), half); n.insert(i, bodies); root = Some(Box::new(n)) }
        }
    }
    if let Some(r) = root.as_mut() { r.summarise(bodies) }
    root
}

struct Lcg(u32);
impl Iterator for Lcg { type Item = f64; fn next(&mut self) -> Option<f64> { self.0 = self.0.wrapping_mul(1664525).wrapping_add(1013904223); Some(self.0 as f64 / u32::MAX as f64) } }

fn main() -> io::Result<()> {
    let n = 300;
    let mut rnd = Lcg(20240101);
    let mut bodies: Vec<Body> = (0..n).map(|_| {
        let r = rnd.next().unwrap().sqrt() * 10.0;
        let a = rnd.next().unwrap() * std::f64::consts::TAU;
        let v = (r * 2.0).sqrt();
        Body { p: V2 { x: r * a.cos(), y: r * a.sin() }, v: V2 { x: -v * a.sin(), y: v * a.cos() }, m: 1.0 / n as f64 * 20.0 }
    }).collect();
    let mut out = BufWriter::new(File::create("energy.dat")?);
    let dt = 1e-3;
    let mut deepest = 0;
    for step in 0..120 {
        let tree = build(&bodies).expect("no bodies");
        deepest = deepest.max(tree.depth());
        let acc: Vec<V2> = bodies.iter().map(|b| tree.force(b.p, 0.5)).collect();
        for (b, a) in bodies.iter_mut().zip(acc) {
            b.v += a * dt;
            b.p += b.v * dt;
        }
        if step % 10 == 0 {
            let ke: f64 = bodies.iter().map(|b| 0.5 * b.m * b.v.norm2()).sum();
            writeln!(out, "{step} {ke:.12e}")?;
        }
    }
    out.flush()?;
    let s = bodies.iter().fold(V2::default(), |s, b| s + b.p * b.m);
    println!("com {:.12} {:.12} depth {}", s.x, s.y, deepest);
    Ok(())
}
