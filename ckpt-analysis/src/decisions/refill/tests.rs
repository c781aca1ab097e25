use super::*;
use crate::source::FileId;
use ckpt_compiler::library::OwnNames;
use std::sync::Arc;

fn kept(text: &str) -> Option<Vec<String>> {
    let program = Program::of_text(text);
    let fields = kept_fields(
        Library::builtin(),
        &program,
        (FileId(0), text.find("struct S").unwrap()),
    )?;
    let names = fields.into_iter().map(|(_, start)| {
        let rest = &text[start..];
        rest[..rest.find(':').unwrap()].to_owned()
    });
    Some(names.collect())
}

#[test]
fn functions_and_shared_references_are_kept() {
    let text = "struct S<'a, F: Fn(f64) -> f64> { grid: &'a [f64], rule: fn(f64) -> f64, f: F, out: Vec<f64>, \
                all: Vec<(&'static str, fn(f64) -> f64)>, law: Box<dyn Fn(f64) -> f64>, name: &'static str }
                impl<F: Fn(f64) -> f64> S<'_, F> { fn step(&mut self) { self.out[0] = (self.rule)(self.grid[0]); \
                for (name, f) in self.all.iter() { self.out[1] += f(name.len() as f64); } } }";
    assert_eq!(kept(text).unwrap(), ["grid", "rule", "f", "all", "law"]);
}

#[test]
fn patterns_are_kept_where_nothing_changes_them() {
    let text = "struct S { number: regex::Regex, all: Vec<Regex>, seen: Vec<String> } \
                impl S { fn see(&mut self, line: &str) { if self.number.is_match(line) { self.seen.push(line.into()); } } }";
    assert_eq!(kept(text).unwrap(), ["number", "all"]);
    let change = "fn change(s: &mut S, to: regex::Regex) { s.number = to; }";
    assert_eq!(kept(&format!("{text} {change}")), None);
    let own = "struct Regex { state: u64 } struct S { number: Regex, seen: Vec<String> }";
    assert_eq!(kept(own), None);
}

#[test]
fn what_is_on_a_device_is_filled_and_what_leads_to_it_is_kept() {
    let with = |code: &str| {
        let text = format!(
            "use ocl::{{Buffer, Queue}}; struct S {{ queue: Queue, now: Buffer<f32>, parts: Vec<Buffer<f32>>, n: usize }} \
             impl S {{ fn f(&mut self, other: Buffer<f32>) {{ {code} }} }}"
        );
        let program = Program::of_text(&text);
        let place = (FileId(0), text.find("struct S").unwrap());
        let filled = filled_fields(Library::builtin(), &program, place).len();
        kept(&text).map(|kept| (kept, filled))
    };
    let looks = "self.now.write(&x).enq(); self.parts[1].read(&mut y).enq(); self.n = self.parts.len(); \
                 for part in &self.parts { part.cmd().fill(1.0, None).enq(); } \
                 queue.enqueue_write_buffer(&mut self.parts[0], 1, 0, &x, &[]);";
    let takes_apart = "let S { queue, now, .. } = &*self; if let S { parts, .. } = &(*self) { now.write(parts).enq(); } \
                       match &self { S { now, .. } => now.read(&mut y).enq() }";
    for code in [looks, takes_apart] {
        assert_eq!(with(code), Some((vec!["queue".to_owned()], 2)), "{code}");
    }
    for code in [
        "let S { now, .. } = self; *now = other;",
        "match self { S { now, .. } => *now = other }",
        "self.now = other;",
        "std::mem::swap(&mut self.now, &mut self.parts[0]);",
        "std::mem::swap(&mut self.now, &mut other.now);",
        "self.parts.swap(0, 1);",
        "self.parts.fill(other);",
        "self.parts[0].clone_from(&other);",
        "self.queue = made();",
        "self.queue.set_dims(self.n);",
        "self.now.set_default_queue(made());",
        "self.queue.build(&devices, \"-D A=4\");",
    ] {
        assert_eq!(with(code), None, "{code}");
    }
}

#[test]
fn fields_of_the_same_name_in_another_struct_are_others() {
    let with = |code: &str| {
        kept(&format!(
            "use ocl::{{Buffer, Queue}}; struct S {{ queue: Queue, now: Buffer<f32>, next: Buffer<f32>, all: Vec<Buffer<f32>>, n: usize }} \
             impl S {{ fn step(&mut self) {{ std::mem::swap(&mut self.now, &mut self.next); }} }} \
             struct OnHost {{ now: Vec<f32>, next: Vec<f32>, all: Vec<f32>, queue: Vec<f32> }} {code}"
        ))
    };
    for code in [
        "impl Step for OnHost { fn step(&mut self) { self.next[0] = self.now[1]; self.all.push(1.0); self.queue = vec![]; \
         std::mem::swap(&mut self.now, &mut self.next); std::mem::swap(&mut self.all, &mut self.queue); } }",
        "fn step(host: &mut OnHost) { host.next[0] += 1.0; host.all[0] = host.next[0]; fill(&mut host.all, &mut host.now); }",
        "fn step() { let mut host = OnHost { now: vec![], next: vec![], all: vec![], queue: vec![] }; host.queue = host.all; }",
        "impl OnHost { fn new() -> Self { made() } } fn step() { let mut host = OnHost::new(); host.next[0] += 1.0; \
         println!(\"{} {:?}\", host.next[0], host.all); }",
        "impl OnHost { fn new() -> Result<OnHost> { made() } } fn step() { let mut host = OnHost::new()?; host.next[0] += 1.0; }",
    ] {
        assert_eq!(with(code), Some(vec!["queue".to_owned()]), "{code}");
    }
    for code in [
        "impl Other { fn step(&mut self) { self.next = made(); } }",
        "impl OnHost { fn twin(self) -> S { made() } } fn step() { let mut host = OnHost::twin(host); host.next = made(); }",
        "impl OnHost { fn new() -> Self { made() } fn step() { let mut host = OnHost::new().other(); host.next = made(); } }",
        "fn step() { let mut host = OnHost::elsewhere(); host.next = made(); }",
        "impl OnHost { fn step(&mut self, other: &mut S) { other.next = made(); } }",
        "impl OnHost { fn step(&mut self) { self.gpu.next = made(); } }",
        "impl OnHost { fn step(self, self_: &mut S) { fn inner(this: &mut S) { this.all.push(made()); } } }",
        "fn step<OnHost>(host: &mut OnHost) { host.next = made(); }",
        "fn step(host: &mut OnHost, gpu: &mut S) { let host = gpu; host.next = made(); }",
        "fn step(host: &mut OnHost, gpu: &mut S) { declare!(host, gpu); host.next = made(); }",
        "use other::S as OnHost; fn step(host: &mut OnHost) { host.next = made(); }",
        "mod other { type OnHost = super::S; fn step(host: &mut OnHost) { host.next = made(); } }",
        "impl Step for Two { type OnHost = S; } fn step(host: &mut OnHost) { host.next = made(); }",
        "impl std::ops::Deref for OnHost { type Target = S; } impl OnHost { fn step(&mut self) { self.next = made(); } }",
        "mod other { struct OnHost(S); } impl OnHost { fn step(&mut self) { self.next = made(); } }",
        "trait Step { fn step(&mut self) { self.next = made(); } }",
    ] {
        assert_eq!(with(code), None, "{code}");
    }
}

#[test]
fn the_field_that_changes_is_named_with_what_changes_it() {
    let with = |code: &str| {
        let text = format!(
            "use ocl::{{Buffer, Kernel}}; struct S {{ back: Kernel, now: Buffer<f32>, kernel: Kernel, all: Vec<Kernel>, parts: Option<Part>, n: usize }} \
             struct Part {{ edge: Buffer<f32> }} impl S {{ fn f(&mut self) {{ {code} }} }}"
        );
        let program = Program::of_text(&text);
        let place = (FileId(0), text.find("struct S").unwrap());
        let changed = changed_field(Library::builtin(), &program, place)?;
        Some((changed.field.name, text[changed.at.1].to_owned()))
    };
    assert_eq!(
        with("self.kernel.enq(); self.n += 1; for one in &self.all { one.enq(); }"),
        None
    );
    for (code, field, change) in [
        (
            "self.n = 3; self.kernel = made();",
            "S.kernel",
            "self.kernel = made()",
        ),
        ("self.all.push(made());", "S.all", "self.all.push(made())"),
        ("self.now = made();", "S.now", "self.now = made()"),
        (
            "if start() { self.parts = Some(made()); }",
            "S.parts",
            "self.parts = Some(made())",
        ),
    ] {
        assert_eq!(with(code), Some((field.to_owned(), change.to_owned())), "{code}");
    }
}

/// What changes a field of the struct `S` of a program.
fn changed_in(text: &str) -> Option<String> {
    let program = Program::of_text(text);
    let place = (FileId(0), text.find("struct S").unwrap());
    let mut library = Library::builtin().clone();
    let mut own = OwnNames::default();
    own.read(text);
    library.set_own(&Arc::new(own));
    changed_field(&library, &program, place).map(|changed| text[changed.at.1].to_owned())
}

#[test]
fn methods_that_put_another_value_in_a_field_are_seen() {
    let with = |rest: &str, code: &str| {
        let text = format!(
            "use wgpu::{{BindGroup, Buffer}}; struct S {{ now: BindGroup, back: BindGroup, a: Buffer, n: usize }} {rest} \
             impl S {{ fn f(&mut self) {{ {code} }} }}"
        );
        changed_in(&text)
    };
    let blanket = "trait Become { fn become_(&mut self, o: &Self); } \
                   impl<T: Clone> Become for T { fn become_(&mut self, o: &Self) { *self = o.clone(); } }";
    let default = "trait Become: Clone { fn become_(&mut self, o: &Self) { self.turn(o) } fn turn(&mut self, o: &Self) { \
                   std::mem::swap(self, &mut o.clone()); } } impl Become for BindGroup {}";
    let foreign = "impl Become for BindGroup { fn become_(&mut self, o: &Self) { self.clone_from(o); } }";
    let own = "impl T { fn become_(&mut self, o: &Self) { *self = o.clone(); } } struct T;";
    let harmless = "trait Become { fn become_(&mut self, o: &Self) { self.count(); } fn count(&self); }";
    for rest in [blanket, default, foreign] {
        let code = "self.now.become_(&self.back)";
        assert_eq!(with(rest, &format!("{code};")), Some(code.to_owned()), "{rest}");
    }
    for rest in [own, harmless] {
        assert_eq!(with(rest, "self.now.become_(&self.back);"), None, "{rest}");
    }
    let put = "macro_rules! put { ($to:expr, $from:expr) => { $to = $from } }";
    assert_eq!(
        with(put, "put!(self.now, made());").as_deref(),
        Some("put!(self.now, made())")
    );
    assert_eq!(with(put, "println!(\"{:?}\", self.now);"), None);
    let declared = "macro_rules! turn { ($of:expr) => { $of.now = $of.back.clone() } }";
    assert!(with(declared, "turn!(self);").is_some());
    assert_eq!(
        with(
            "macro_rules! count { ($of:expr) => { $of.n = 1 } }",
            "count!(self);"
        ),
        None
    );
    for code in [
        "self.now.clone_from(&self.back)",
        "*self.now.borrow_mut() = made()",
        "self.a.clone_from(&other())",
        "[self.now, _] = [made(), made()]",
        "(_, Pair { one: self.now, .. }) = made()",
        "*self.now = made()",
        "other(&mut *self.now)",
        "other(&raw mut self.now)",
        "assert!({ self.now = made(); true })",
        "println!(\"{}\", { self.now.clone_from(&self.back); 1 })",
        "let list = vec![{ self.now = made(); 1 }]",
        "matches!({ self.now = made(); 1 }, 1)",
        "let now = self.now.as_mut(); *now = made()",
        "std::mem::swap(self.now.borrow_mut(), other)",
        "other(std::ptr::addr_of_mut!(self.now))",
        "let ref mut now = self.now; *now = made()",
        "match self.now { ref mut now => *now = made() }",
    ] {
        let found = with("", &format!("{code};"));
        assert!(found.is_some_and(|found| code.contains(&found)), "{code}");
    }
}

#[test]
fn fields_without_names_are_watched_as_others_are() {
    let with = |code: &str| {
        let text = format!(
            "use ocl::{{Buffer, Kernel}}; struct S(Vec<Buffer<f32>>, Kernel, usize); struct T(S); \
             macro_rules! put {{ ($to:expr, $from:expr) => {{ $to = $from }} }} \
             impl S {{ fn f(&mut self, t: &mut T) {{ {code} }} }}"
        );
        changed_in(&text).is_some()
    };
    for code in [
        "self.0.swap(0, 1);",
        "self.0 = made();",
        "put!(self.0, made());",
        "put!(t.0.1, made());",
        "(self.1, self.2) = made();",
        "let S(list, ..) = self; list.swap(0, 1);",
        "match self { Self(_, kernel, _) => *kernel = made() }",
    ] {
        assert!(with(code), "{code}");
    }
    let looks = "let S(list, kernel, _) = &*self; kernel.enq(); list[0].read(&mut host).enq();";
    for code in [
        looks,
        "let S(_, _, n) = self; *n += 1;",
        "self.1.enq(); self.2 += 1;",
        "println!(\"{}\", self.0.len());",
    ] {
        assert!(!with(code), "{code}");
    }
}

#[test]
fn a_cell_beside_what_leads_to_a_device_is_named() {
    let with = |field: &str, code: &str| {
        let text = format!(
            "use ocl::ProQue; use std::cell::Cell; struct S {{ pq: ProQue, {field}, n: u32 }} \
             fn step(gpu: &Rc<S>) {{ {code} }}"
        );
        let program = Program::of_text(&text);
        let place = (FileId(0), text.find("struct S").unwrap());
        let shared = shared_field(Library::builtin(), &program, place)?;
        Some((shared.field.name, text[shared.at.1].to_owned()))
    };
    let counts = "gpu.launches.set(gpu.launches.get() + 1);";
    assert_eq!(
        with("launches: Cell<u64>", counts),
        Some(("S.launches".to_owned(), counts.trim_end_matches(';').to_owned()))
    );
    assert_eq!(with("launches: Cell<u64>", "gpu.launches.get();"), None);
    assert_eq!(with("launches: u64", counts), None);
}

#[test]
fn a_field_of_a_parameter_is_told_from_others() {
    let of = |text: &str| {
        let program = Program::of_text(text);
        field_of_parameter(&program, (FileId(0), 0)).map(|field| field.to_string())
    };
    assert_eq!(
        of("struct Double<T> { steps: u32, front: T, back: T }"),
        Some("Double.front: T".to_owned())
    );
    assert_eq!(
        of("struct Double<'a, T> { front: &'a [f32], back: Vec<T> }"),
        Some("Double.back: Vec<T>".to_owned())
    );
    assert_eq!(of("struct Double { front: Vec<f32> }"), None);
}

#[test]
fn what_leads_to_a_device_may_be_shared() {
    let with = |ty: &str, code: &str| {
        let text = format!(
            "use ocl::{{Buffer, ProQue}}; #[derive(Clone)] struct Gpu {{ pq: ProQue, name: String }} \
             struct S {{ gpu: {ty}, now: Buffer<f32>, n: usize }} impl S {{ fn f(&mut self, other: Gpu) {{ {code} }} }}"
        );
        kept(&text)
    };
    let looks = "let kernel = self.gpu.pq.kernel_builder(\"f\").arg(&self.now).arg(self.n).build(); \
                 let next = self.gpu.pq.create_buffer(); self.gpu.pq.queue().finish(); kernel.enq(); self.n += 1;";
    for ty in ["Rc<Gpu>", "Arc<Gpu>", "Gpu", "ProQue"] {
        let looks = match ty {
            "ProQue" => looks.replace("gpu.pq.", "gpu."),
            _ => looks.to_owned(),
        };
        assert_eq!(with(ty, &looks), Some(vec!["gpu".to_owned()]), "{ty}");
    }
    for code in [
        "self.gpu.pq.set_dims(4);",
        "self.gpu.pq = other.pq;",
        "self.gpu = Rc::new(other);",
    ] {
        assert_eq!(with("Rc<Gpu>", code), None, "{code}");
    }
}

#[test]
fn what_is_on_a_device_may_be_deep_in_a_struct_as_long_as_it_stays_there() {
    let with = |code: &str| {
        let text = format!(
            "use ocl::{{Buffer, Queue}}; struct S {{ pair: Pair, all: Vec<Field>, n: usize }} struct Pair {{ left: Field, border: Option<Buffer<f32>> }} \
             struct Field {{ queue: Queue, now: Buffer<f32>, steps: u32 }} \
             impl S {{ fn f(&mut self, other: Field) {{ {code} }} }}"
        );
        let program = Program::of_text(&text);
        let place = (FileId(0), text.find("struct S").unwrap());
        let words = words_of_fields(Library::builtin(), &program, place);
        words.map(|words| words.into_values().collect::<Vec<_>>())
    };
    let looks = "self.pair.left.step(); self.all[1].steps += 1; for one in &mut self.all { one.step(); } self.n = self.all.len(); \
                 self.all.iter_mut().for_each(|one| one.step()); if let Some(border) = &self.pair.border { look(border); }";
    assert_eq!(with(looks), Some(vec!["refill", "parts"]));
    for code in [
        "self.all.swap(0, 1);",
        "self.all[0] = other;",
        "self.pair.left = other;",
        "self.all.push(other);",
        "self.pair.border.take();",
        "self.pair.border = None;",
        "for one in &mut self.all { *one = other; }",
        "for one in &mut self.all { std::mem::swap(one, &mut other); }",
        "advance(&mut self.all);",
        "self.pair.left.queue = other.queue;",
    ] {
        assert_eq!(with(code), None, "{code}");
    }
    let endless = "use ocl::Buffer; struct S { now: Buffer<f32>, below: Vec<S> }";
    assert_eq!(kept(endless), Some(vec![]));
}

#[test]
fn a_struct_of_functions_is_kept_as_a_whole_if_nothing_in_it_changes() {
    let with = |code: &str| {
        kept(&format!(
            "struct S<'a> {{ weights: Vec<f64>, rule: Rule<'a>, n: N }} struct N {{ n: usize }} \
             struct Rule<'a> {{ name: String, f: &'a dyn Fn(f64) -> f64, pair: Pair }} struct Pair {{ a: fn(f64) -> f64 }} \
             impl<'a> S<'a> {{ fn f(&mut self, other: Rule<'a>) {{ {code} }} }}"
        ))
    };
    let reads =
        "self.weights[0] = (self.rule.f)(1.0) + (self.rule.pair.a)(2.0); self.n.n += self.rule.name.len();";
    assert_eq!(with(reads).unwrap(), ["rule"]);
    for code in [
        "self.rule = other;",
        "self.rule.f = other.f;",
        "self.rule.name.push('a');",
        "self.rule.pair.a = other.pair.a;",
        "let rule = &mut self.rule; *rule = other;",
    ] {
        assert_eq!(with(code), None, "{code}");
    }
}

#[test]
fn objects_with_a_lifetime_are_kept_if_their_methods_only_look() {
    let with = |receiver: &str, ty: &str| {
        kept(&format!(
            "struct S<'a> {{ rule: {ty}, n: usize }} trait Rule {{ fn at(&self, x: f64) -> f64; fn next({receiver}); }} \
             impl<'a> S<'a> {{ fn f(&mut self) {{ self.n += self.rule.at(1.0) as usize; }} }}"
        ))
    };
    assert_eq!(with("&self", "Box<dyn Rule + 'a>").unwrap(), ["rule"]);
    assert_eq!(with("&mut self", "Box<dyn Rule + 'a>"), None);
    assert_eq!(with("&self", "Box<dyn Rule>"), None, "its types can be listed");
}

#[test]
fn what_a_builder_sets_is_made_again_with_the_value() {
    let with = |method: &str| {
        kept(&format!(
            "struct S<'a> {{ seen: Option<Box<dyn Fn(usize) + 'a>>, n: usize }} impl<'a> S<'a> {{ {method} }}"
        ))
    };
    let sets = "self.seen = Some(Box::new(f));";
    assert!(
        with(&format!(
            "fn seen(mut self, f: impl Fn(usize) + 'a) -> Self {{ {sets} self }}"
        ))
        .is_some()
    );
    assert!(
        with(&format!(
            "fn seen(&mut self, f: impl Fn(usize) + 'a) -> &mut Self {{ {sets} self }}"
        ))
        .is_none()
    );
    assert!(
        with(&format!(
            "fn run(mut self, f: impl Fn(usize) + 'a) {{ {sets} loop {{ self.n += 1; }} }}"
        ))
        .is_none()
    );
}

#[test]
fn what_may_change_is_not_kept() {
    let with = |ty: &str, code: &str| {
        kept(&format!(
            "struct S<'a> {{ part: {ty}, n: usize }} impl<'a> S<'a> {{ fn f(&mut self, other: &'a [f64]) {{ {code} }} }}"
        ))
    };
    assert!(with("&'a [f64]", "self.n += self.part.len();").is_some());
    assert!(with("Vec<Box<dyn Fn()>>", "self.part[0]();").is_some());
    assert!(
        with(
            "Option<Box<dyn Fn()>>",
            "if let Some(f) = self.part.as_ref() { f(); }"
        )
        .is_some()
    );
    assert!(with("Option<Box<dyn Fn()>>", "if let Some(f) = &self.part { f(); }").is_some());
    for (ty, code) in [
        ("&'a mut [f64]", ""),
        ("*mut f64", ""),
        ("Box<dyn FnMut()>", ""),
        ("Vec<Box<dyn Fn()>>", "self.part.push(Box::new(g));"),
        ("Option<Box<dyn Fn()>>", "self.part.take();"),
        ("Option<Box<dyn Fn()>>", "self.part = None;"),
        ("f64", ""),
        ("&'a [f64]", "self.part = other;"),
        ("&'a [f64]", "let part = &mut self.part; *part = other;"),
        ("&'a [f64]", "let S { part, .. } = self; *part = other;"),
        ("&'a [f64]", "*self = S { part: other, n: 1 };"),
        ("&'a [f64]", "std::mem::swap(self, &mut S { part: other, n: 1 });"),
        ("Vec<fn()>", "self.part.push(g);"),
        ("[fn(); 2]", "self.part[self.n] = g;"),
        ("Box<dyn Fn()>", "let c = std::cell::Cell::new(1);"),
    ] {
        assert_eq!(with(ty, code), None, "{ty} {code}");
    }
}

#[test]
fn what_moves_into_filled_fields_is_found() {
    let with = |init: &str, new: &str| {
        let text = format!(
            "struct S<'a> {{ mesh: &'a [f64], cells: Vec<f64>, n: usize, law: Box<dyn Law> }} trait Law {{}} \
             impl<'a> S<'a> {{ fn new(mesh: &'a [f64], cells: Vec<f64>, law: Box<dyn Law>) -> Self {{ {new} }} }} \
             fn main() {{ let mut s = {init}; }}"
        );
        let program = Program::of_main(&text);
        let items = crate::items::collect(Library::builtin(), &program);
        let at = |place: &str| (FileId(0), text.find(place).unwrap());
        let kept = kept_fields(Library::builtin(), &program, at("struct S")).unwrap();
        moved_parts(
            Library::builtin(),
            &program,
            &items,
            at("let mut s"),
            at("struct S"),
            &kept,
        )
    };
    let plain = "Self { mesh, n: mesh.len(), cells, law }";
    assert_eq!(with("S { mesh: &mesh, cells, n, law }", plain), ["cells", "n"]);
    assert_eq!(
        with("S { mesh: &mesh, n: cells.len(), cells, law }", plain),
        ["cells"]
    );
    assert_eq!(
        with("S { mesh: &mesh, n: first(&cells), cells, law }", plain),
        [""; 0]
    );
    assert_eq!(with("S { mesh: pick(&cells), n: 0, cells, law }", plain), [""; 0]);
    assert_eq!(with("S::new(&mesh, cells, law)", plain), ["cells"]);
    assert_eq!(with("S::new(&mesh, cells.clone(), law)", plain), [""; 0]);
    let looks = "assert!(cells.len() > 3); Self { mesh, n: 1, cells, law }";
    assert_eq!(with("S::new(&mesh, cells, law)", looks), [""; 0]);
    let captured = r#"println!("{cells:?}"); Self { mesh, n: 1, cells, law }"#;
    assert_eq!(with("S::new(&mesh, cells, law)", captured), [""; 0]);
    assert_eq!(
        with(
            r#"S { mesh: &mesh, n: format!("{cells:?}").len(), cells, law }"#,
            plain
        ),
        [""; 0]
    );
}

/// What is lent for good by the `let` of `sim` to the struct `Sim`.
fn lent(text: &str) -> Option<Vec<String>> {
    let program = Program::of_main(text);
    let items = crate::items::collect(Library::builtin(), &program);
    let ty = (FileId(0), text.find("struct Sim").unwrap());
    let variable = (FileId(0), text.find("let mut sim").unwrap());
    through_fields(Library::builtin(), &program, ty)?;
    lent_parts(Library::builtin(), &program, &items, variable, ty)
}

const SIM: &str = "struct Sim<'a> { mesh: &'a mut Mesh, rng: &'a mut [u64; 2], t: f64 } struct Mesh(Vec<f64>); \
     impl<'a> Sim<'a> { fn new(mesh: &'a mut Mesh, rng: &'a mut [u64; 2]) -> Self { let t = 0.0; Sim { mesh, rng, t } } \
     fn step(&mut self) { self.mesh.0[0] += 1.0; *self.rng = [1, 2]; self.t += 1.0; std::mem::swap(&mut self.mesh.0[0], &mut self.t); } }";

#[test]
fn exclusive_references_to_whole_variables_are_looked_through() {
    let main = "fn main() { let mut mesh = Mesh(vec![]); let mut rng = [0, 1]; let mut sim = Sim::new(&mut mesh, &mut rng); sim.step(); }";
    assert_eq!(lent(&format!("{SIM} {main}")).unwrap(), ["mesh", "rng"]);
    let of_caller = "fn run(mesh: &mut Mesh) { let mut rng = [0, 1]; let mut sim = Sim::new(mesh, &mut rng); sim.step(); } \
                     fn main() { let mut mesh = Mesh(vec![]); run(&mut mesh); }";
    assert_eq!(lent(&format!("{SIM} {of_caller}")).unwrap(), ["mesh", "rng"]);
}

#[test]
fn exclusive_references_that_may_stand_for_something_else_are_not() {
    let main = "fn main() { let mut mesh = Mesh(vec![]); let mut rng = [0, 1]; let mut sim = Sim::new(&mut mesh, &mut rng); sim.step(); }";
    for more in [
        "impl Sim<'_> { fn trade<'a>(s: &mut Sim<'a>, m: &'a mut Mesh) { s.mesh = m; } }",
        "fn trade(a: &mut Sim, b: &mut Sim) { std::mem::swap(&mut a.mesh, &mut b.mesh); }",
        "fn trade<'a>(s: &mut Sim<'a>, m: &'a mut Mesh, r: &'a mut [u64; 2]) { *s = Sim::new(m, r); }",
        "fn other(m: &mut Mesh, r: &mut [u64; 2]) { let s = Sim { mesh: m, rng: r, t: 1.0 }; }",
        "fn other(m: &mut Mesh, r: &mut [u64; 2]) { Sim::new(m, r).step(); }",
        "fn apart(s: Sim) { let Sim { mesh, rng, .. } = s; }",
        "impl std::ops::DerefMut for Mesh { fn deref_mut(&mut self) -> &mut Vec<f64> { &mut self.0 } }",
        "impl Drop for Sim<'_> { fn drop(&mut self) { self.t = 0.0; } }",
    ] {
        assert_eq!(lent(&format!("{SIM} {main} {more}")), None, "{more}");
    }
}

#[test]
fn a_variable_that_hides_what_was_lent_is_another() {
    let main = "fn main() { let mut mesh = Mesh(vec![]); let mut rng = [0, 1]; let mut sim = Sim::new(&mut mesh, &mut rng); }";
    let hides = SIM.replace(
        "let t = 0.0;",
        "let mesh = Box::leak(Box::new(Mesh(vec![]))); let t = 0.0;",
    );
    assert_eq!(lent(&format!("{hides} {main}")), None);
    let other = main.replace(
        "let mut sim",
        "{ let mesh = [0]; println!(\"{mesh:?}\"); } let mut sim",
    );
    assert_eq!(lent(&format!("{SIM} {other}")).unwrap(), ["mesh", "rng"]);
    for passed_on in ["let mesh = mesh;", "let mesh: &mut Mesh = &mut *mesh;"] {
        let run = format!(
            "fn run(mesh: &mut Mesh) {{ {passed_on} let mut rng = [0, 1]; let mut sim = Sim::new(mesh, &mut rng); }}"
        );
        let looks = "let first = &mesh.0[3]; println!(\"{first}\");";
        let main = |looks: &str| {
            format!("{SIM} {run} fn main() {{ let mut mesh = Mesh(vec![]); {looks} run(&mut mesh); }}")
        };
        assert!(lent(&main("")).is_some(), "{passed_on}");
        assert_eq!(lent(&main(looks)), None, "{passed_on}");
    }
}

#[test]
fn parts_of_variables_and_what_looks_at_them_are_not() {
    for main in [
        "fn main() { let mut all = All::new(); let mut rng = [0, 1]; let mut sim = Sim::new(&mut all.mesh, &mut rng); }",
        "fn main() { let mut mesh = Mesh(vec![]); let mut all = [[0, 1]]; let mut sim = Sim::new(&mut mesh, &mut all[0]); }",
        "fn main() { let mut mesh = Mesh(vec![]); let mut sim = Sim::new(&mut mesh, make()); }",
        "fn run(mesh: &mut Mesh) { let mut rng = [0, 1]; let mut sim = Sim::new(mesh, &mut rng); } \
         fn main() { let mut mesh = Mesh(vec![]); let first = &mesh.0[3]; println!(\"{first}\"); run(&mut mesh); }",
    ] {
        assert_eq!(lent(&format!("{SIM} {main}")), None, "{main}");
    }
    let looks = SIM.replace("let t = 0.0;", "let t = mesh.0[0];");
    let main = "fn main() { let mut mesh = Mesh(vec![]); let mut rng = [0, 1]; let mut sim = Sim::new(&mut mesh, &mut rng); }";
    assert_eq!(lent(&format!("{looks} {main}")), None);
}

#[test]
fn what_stands_for_something_of_mpi_is_kept() {
    let with = |imports: &str, code: &str| {
        kept(&format!(
            "{imports} struct S<'a, C: Communicator> {{ comm: C, up: Option<Process<'a>>, all: Vec<Process<'a>>, n: usize }}
             impl<'a, C: Communicator> S<'a, C> {{ fn f(&mut self) {{ self.n += self.comm.size() as usize; {code} }} }}"
        ))
    };
    let uses = "use mpi::topology::Process; use mpi::traits::*;";
    let looks = "if let Some(up) = &self.up { up.send(&1); } for one in self.all.iter() { one.send(&1); }";
    assert_eq!(with(uses, looks).unwrap(), ["comm", "up", "all"]);
    assert_eq!(with(uses, "self.up = None;"), None);
    assert_eq!(with(uses, "self.all.pop();"), None);
    let own = "use mpi::traits::*; struct Process<'a> { name: String, n: &'a mut u64 }";
    assert_eq!(with(own, ""), None, "it is another");
}
