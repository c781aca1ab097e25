//! Structs with functions and references in them, and tables of functions that a loop goes over.

type Rule = fn(f64) -> f64;

struct Params {
    damping: f64,
}

/// Borrows its matrix.
struct Cg<'a> {
    matrix: &'a [f64],
    work: Vec<f64>,
    params: Params,
    solves: u64,
}

impl<'a> Cg<'a> {
    fn new(matrix: &'a [f64], damping: f64) -> Self {
        Cg { matrix, work: vec![0.0; matrix.len()], params: Params { damping }, solves: 0 }
    }

    fn solve(&mut self, u: &mut [f64]) {
        for ((w, m), u) in self.work.iter_mut().zip(self.matrix).zip(u) {
            *w = *w * self.params.damping + m;
            *u += *w * 1e-3;
        }
        self.solves += 1;
    }
}

/// Has a rule under another name, and a closure.
struct Sim {
    rule: Rule,
    force: Box<dyn Fn(f64) -> f64>,
    x: Vec<f64>,
    t: f64,
}

impl Sim {
    fn new(rule: Rule, gain: f64) -> Self {
        Sim { rule, force: Box::new(move |x| gain * x.sin()), x: (0..500).map(f64::from).collect(), t: 0.0 }
    }

    fn step(&mut self) {
        for x in &mut self.x {
            *x += 1e-3 * ((self.rule)(*x) + (self.force)(*x));
        }
        self.t += 1e-3;
    }
}

fn halve(x: f64) -> f64 {
    -0.5 * x
}

fn cube(x: f64) -> f64 {
    -1e-5 * x * x * x
}

static RULES: &[(&str, Rule)] = &[("halve", halve), ("cube", cube), ("cos", f64::cos)];

fn chosen<'t>(table: &'t [(&'static str, Rule)], but: &str) -> Vec<&'t (&'static str, Rule)> {
    table.iter().filter(|one| one.0 != but).collect()
}

fn main() {
    let matrix: Vec<f64> = (0..1000).map(|k| f64::from(k % 17)).collect();
    let mut u = vec![0.0; 1000];
    let mut solver = Cg::new(&matrix, 0.9);
    for step in 0..3000 {
        solver.solve(&mut u);
        if step % 1000 == 0 {
            println!("{step} {}", u[7]);
        }
    }
    println!("{} {}", u[999], solver.solves);

    let mut sim = Sim::new(halve, 0.25);
    let mut steps = 0;
    while steps < 3000 {
        sim.step();
        steps += 1;
        if steps % 1000 == 0 {
            println!("{steps} {} {}", sim.t, sim.x[400]);
        }
    }

    let rules = chosen(RULES, "cos");
    for (name, rule) in rules {
        let mut x = 100.0;
        for k in 0..200 {
            for _ in 0..5 {
                x += 1e-4 * rule(x);
            }
            if k % 50 == 0 {
                println!("{name} {k} {x}");
            }
        }
    }
}
