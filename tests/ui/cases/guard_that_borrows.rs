struct Scope<'a>(&'a str);

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        println!("end of {}", self.0);
    }
}

struct Timer<'a> {
    name: &'a str,
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        println!("{} took long", self.name);
    }
}

struct View<'a>(&'a [f64]);

#[ckpt::instrument]
pub fn guarded(name: &str) {
    let _scope = Scope(name);
    let timer = Timer { name };
    let list = vec![1.0, 2.0];
    let view = View(&list);
    println!("{}", view.0.len() + timer.name.len());
    for _ in 0..3 {
        ckpt::checkpoint!();
    }
}

#[ckpt::instrument]
pub fn made_again(name: &str) {
    #[ckpt(reexecute)]
    let _scope = Scope(name);
    for _ in 0..3 {
        ckpt::checkpoint!();
    }
}

fn main() {}
