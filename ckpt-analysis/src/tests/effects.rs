//! What may be re-executed.

use super::{analysed, program};
use crate::FileId;
use crate::decisions::effects::Effects;
use crate::source::Position;

/// What is said of the variable `class` there.
fn asked(text: &str, ask: impl Fn(&Effects<'_>, Position) -> bool) -> bool {
    let files = [("main.rs", text)];
    let (program, analysis) = (program(&files), analysed(&files));
    let place = (FileId(0), text.find("let class").expect("the variable"));
    ask(&Effects::of(&program, &analysis), place)
}

pub(super) fn may_be_reexecuted(text: &str) -> bool {
    asked(text, |effects, place| effects.may_be_reexecuted(place))
}

#[test]
fn a_branch_that_leaves_does_not_count() {
    let with = |arm: &str| {
        format!(
            "static ALL: [u8; 2] = [1, 2]; fn usage() {{ println!(\"1 or 2\"); }}
             fn main() {{ let class = match ALL.iter().next() {{ Some(c) => c, None => {arm} }}; drop(class); }}"
        )
    };
    assert!(may_be_reexecuted(&with("{ println!(\"none\"); return }")));
    assert!(may_be_reexecuted(&with("{ usage(); std::process::exit(1) }")));
    assert!(may_be_reexecuted(&with("{ eprintln!(\"none\"); panic!() }")));
    assert!(!may_be_reexecuted(&with("{ println!(\"none\"); &0 }")));
    assert!(!may_be_reexecuted(&with("{ usage(); &0 }")));
}

#[test]
fn a_value_that_changes_later_may_be_made_again() {
    let again = |init: &str| {
        let text = format!(
            "struct Sim<'a> {{ grid: &'a [f64], t: f64 }} fn log() {{ println!(\"made\"); }}
             fn make(grid: &[f64]) -> Sim<'_> {{ Sim {{ grid, t: 0.0 }} }} fn noted(grid: &[f64]) -> Sim<'_> {{ log(); make(grid) }}
             fn main() {{ let grid = vec![1.0]; let mut class = {init}; class.t += class.grid[0]; for k in grid.iter() {{ drop(k); }} }}"
        );
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let effects = Effects::of(&program, &analysis);
        let of = |what: &str| (FileId(0), text.find(what).expect("it is there"));
        assert!(
            !effects.may_be_reexecuted(of("let mut class")),
            "it changes later"
        );
        assert!(
            effects.may_be_reexecuted(of("for k")),
            "the loop can go over it again"
        );
        effects.may_be_rebuilt(of("let mut class"))
    };
    assert!(again("make(&grid)") && again("Sim { grid: &grid, t: 1.0 }"));
    assert!(!again("noted(&grid)"));
}

#[test]
fn a_kernel_is_made_again_by_a_function_that_is_lent_the_arrays() {
    let with = |function: &str| {
        format!(
            "use ocl::{{Buffer, Kernel, Queue}}; {function}
             fn main() {{ let class = kernel_of(&queue, (&one, &one)); class.use_it(); }}"
        )
    };
    let lent = "fn kernel_of(queue: &Queue, (from, to): (&Buffer<f32>, &Buffer<f32>)) -> Kernel";
    assert!(may_be_reexecuted(&with(&format!(
        "{lent} {{ Kernel::builder().arg(from).arg(to).build() }}"
    ))));
    assert!(!may_be_reexecuted(&with(&format!(
        "{lent} {{ let own = Buffer::builder().len(1).build(); Kernel::builder().arg(&own).build() }}"
    ))));
    for signature in [
        "(queue: &Queue, to: (&Buffer<f32>, &mut Buffer<f32>)) -> Kernel",
        "(queue: &Queue, to: Buffer<f32>) -> Kernel",
        "(queue: &Queue, to: (&Buffer<f32>, &Buffer<f32>)) -> (Kernel, Buffer<f32>)",
    ] {
        assert!(
            !may_be_reexecuted(&with(&format!("fn kernel_of{signature} {{ made(queue, to) }}"))),
            "{signature}"
        );
    }
}

#[test]
fn an_array_that_only_a_group_has_is_not_made_again() {
    let with = |usage: &str| {
        format!(
            "use wgpu::{{BindGroup, Buffer, BufferUsages, Device}};
             fn made(device: &Device, from: &Buffer) -> BindGroup {{
                 let seeds = device.create_buffer(&wgpu::BufferDescriptor {{ usage: {usage}, ..described() }});
                 let all = [entry(&seeds), entry(from)];
                 let group = device.create_bind_group(&wgpu::BindGroupDescriptor {{ entries: &all, ..layout() }});
                 group
             }}
             fn main() {{ let class = made(&device, &from); class.use_it(); }}"
        )
    };
    let dropped = |usage| !asked(&with(usage), |effects, place| effects.may_be_rebuilt(place));
    assert!(dropped("BufferUsages::STORAGE"));
    assert!(dropped("BufferUsages::STORAGE | BufferUsages::COPY_DST") && dropped("usage()"));
    assert!(!dropped("BufferUsages::UNIFORM"));
}

/// Through functions of the program, tuples, structs and parameters as well.
#[test]
fn an_array_that_a_function_gets_and_does_not_keep_is_not_made_again() {
    let with = |usage: &str, functions: &str| {
        format!(
            "use wgpu::{{BindGroup, Buffer, BufferUsages, Device}};
             struct Sim {{ walk: Buffer, group: BindGroup }}
             struct Rngs {{ seeds: Buffer, count: u32 }}
             fn seeds_of(device: &Device) -> Buffer {{
                 let label = Some(\"seeds\");
                 device.create_buffer(&wgpu::BufferDescriptor {{ label, usage: {usage}, ..described() }})
             }}
             fn walk_of(device: &Device) -> Buffer {{ device.create_buffer(&wgpu::BufferDescriptor {{ usage: BufferUsages::STORAGE, ..described() }}) }}
             fn both(device: &Device) -> (Buffer, Buffer) {{ (seeds_of(device), walk_of(device)) }}
             fn rngs(device: &Device) -> Rngs {{ Rngs {{ seeds: seeds_of(device), count: 3 }} }}
             fn group_of(device: &Device, all: &[&Buffer]) -> BindGroup {{
                 let all: Vec<_> = all.iter().map(|one| entry(one)).collect();
                 device.create_bind_group(&wgpu::BindGroupDescriptor {{ entries: &all, ..layout() }})
             }}
             {functions}
             fn main() {{ let class = made(&device, &from); class.use_it(); }}"
        )
    };
    let is_refused = |usage: &str, functions: &str| {
        !asked(&with(usage, functions), |effects, place| {
            effects.may_be_rebuilt(place)
        })
    };
    let makes_group =
        |body: &str| format!("fn made(device: &Device, from: &Buffer) -> BindGroup {{ {body} }}");
    let makes_sim = |body: &str| format!("fn made(device: &Device, from: &Buffer) -> Sim {{ {body} }}");
    let lost = [
        makes_group("let seeds = seeds_of(device); group_of(device, &[&seeds, from])"),
        makes_group(
            "let seeds = seeds_of(device); let group = group_of(device, &[&seeds, from]); drop(seeds); group",
        ),
        makes_group("group_of(device, &[&seeds_of(device), from])"),
        makes_group("match (seeds_of(device), 3) { (seeds, _) => group_of(device, &[&seeds, from]) }"),
        makes_sim(
            "let (seeds, walk) = both(device); let group = group_of(device, &[&seeds, &walk]); Sim { walk, group }",
        ),
        makes_sim(
            "let rngs = rngs(device); let walk = walk_of(device); let group = group_of(device, &[&rngs.seeds, &walk]); Sim { walk, group }",
        ),
        makes_sim("let walk = walk_of(device); let group = group_of(device, &[&seeds_of(device), &walk]); Sim { walk, group }"),
        makes_sim("let walk = walk_of(device); let group = bound(seeds_of(device).as_entire_binding(), &walk); Sim { walk, group }"),
        makes_sim(
            "let bind = |walk: &Buffer| { let seeds = seeds_of(device); group_of(device, &[&seeds, walk]) }; let walk = walk_of(device);
             let group = bind(&walk); Sim { walk, group }",
        ),
        makes_group("bind(device, seeds_of(device), from)")
            + "fn bind(device: &Device, seeds: Buffer, from: &Buffer) -> BindGroup { group_of(device, &[&seeds, from]) }",
        makes_group("bind(device, seeds_of(device), from)")
            + "fn bind(device: &Device, seeds: impl std::borrow::Borrow<Buffer>, from: &Buffer) -> BindGroup { group_of(device, &[seeds.borrow(), from]) }",
        makes_group("bind(device, seeds_of(device), from)")
            + "fn bind<B>(device: &Device, seeds: B, from: &Buffer) -> BindGroup where B: AsRef<wgpu::Buffer> { group_of(device, &[seeds.as_ref(), from]) }",
    ];
    for functions in &lost {
        assert!(is_refused("BufferUsages::STORAGE", functions), "{functions}");
    }
    for functions in [
        makes_sim(
            "let walk = walk_of(device); let group = group_of(device, &[&walk, from]); Sim { walk, group }",
        ),
        makes_sim(
            "let (walk, other) = both(device); let group = group_of(device, &[&walk, &other]); keep(other); Sim { walk, group }",
        ),
        makes_group("bind(device, || from, \"one\", [from])")
            + "fn bind<'a, L: Into<String>>(device: &Device, one: impl Fn() -> &'a Buffer, label: L, all: impl IntoIterator<Item = &'a Buffer>) -> BindGroup {
                   group_of(device, &[one()]) }",
    ] {
        assert!(!is_refused("BufferUsages::STORAGE", &functions), "{functions}");
    }
    assert!(
        !is_refused("BufferUsages::UNIFORM", &lost[0]),
        "shaders cannot write there"
    );
}

#[test]
fn what_a_program_changes_around_it_is_not_asked_for_again() {
    let with = |asks: &str, later: &str| {
        format!(
            "fn main() {{ let class = {{ let k = {asks}; move |y: u64| y * k }}; for _ in 0..9 {{ class(3); {later} }} }}"
        )
    };
    let set = "unsafe { std::env::set_var(\"K\", \"5\") };";
    for asks in [
        "std::env::var(\"K\").unwrap().parse().unwrap()",
        "env::current_dir().unwrap().iter().count()",
        "var(\"K\").unwrap().len()",
    ] {
        assert!(may_be_reexecuted(&with(asks, "")), "{asks}");
        assert!(!may_be_reexecuted(&with(asks, set)), "{asks}");
    }
    for asks in [
        "Path::new(\"a\").exists() as u64",
        "std::fs::metadata(\"a\").unwrap().len()",
    ] {
        assert!(!may_be_reexecuted(&with(asks, "")), "{asks}");
    }
}

#[test]
fn what_is_made_from_a_file_is_not_made_again_where_the_program_writes_files() {
    let with = |later: &str| {
        format!(
            "use ocl::Program;
             fn main() {{ let class = Program::builder().src_file(\"k.cl\").build(&context)?; for _ in 0..9 {{ class.use_it(); {later} }} }}"
        )
    };
    assert!(may_be_reexecuted(&with("println!(\"9\");")));
    for later in [
        "std::fs::write(\"k.cl\", \"kernel\")?;",
        "let mut out = File::create(name)?;",
    ] {
        assert!(!may_be_reexecuted(&with(later)), "{later}");
    }
}

#[test]
fn a_function_of_cuda_that_is_set_up_later_is_not_made_again() {
    let with = |later: &str| {
        format!(
            "use cudarc::driver::CudaFunction;
             fn main() {{ let mut bytes = 4; let class = module.load_function(\"step\")?; {later} class.use_it(); }}"
        )
    };
    assert!(may_be_reexecuted(&with("")));
    assert!(may_be_reexecuted(&with("class.set_attribute(SHARED, 90000)?;")));
    assert!(!may_be_reexecuted(&with(
        "show(&class); class.set_attribute(SHARED, 90000)?;"
    )));
    // What it is set to may be another value by then.
    assert!(!may_be_reexecuted(&with("class.set_attribute(SHARED, bytes)?;")));
}

const WITH_TABLES: &str = "
fn trace(what: f64) -> f64 { println!(\"{what}\"); what }
fn main() {
    let rule = trace(1.0);
    let mut grid = vec![0.0; 1000];
    for k in 0..100000 { for i in 0..1000 { grid[i] += rule * k as f64; } }
    println!(\"{}\", grid[0]);
}";

#[test]
fn what_the_user_says_goes_before_what_the_source_tells() {
    use crate::placement::expressible::arguments;
    use crate::{ChooseOptions, analyse_with, place};
    use ckpt_compiler::library::CallTable;
    let program = program(&[("main.rs", WITH_TABLES)]);
    let place_of_let = (FileId(0), WITH_TABLES.find("let rule").expect("the variable"));
    for (text, again, means) in [
        ("", false, ""),
        ("[calls]\npure = [\"trace\"]", true, "means(pure(trace))"),
        (
            "[calls]\nreexecute = [\"trace\"]",
            true,
            "means(reexecute(trace))",
        ),
        ("[calls]\npure = [\"elsewhere\"]", false, ""),
    ] {
        let by_user = CallTable::of_user(text).expect("a valid table");
        let analysis = analyse_with(&program, &by_user);
        assert_eq!(
            Effects::of(&program, &analysis).may_be_reexecuted(place_of_let),
            again,
            "{text}"
        );
        let main = analysis.items.main_of(0).expect("a main");
        assert_eq!(arguments(&analysis, main, &[]), means);
        let placement = place(&analysis, main, &ChooseOptions::default());
        assert_eq!(placement.sites.len(), 1, "{text}");
    }
}

#[test]
fn what_changes_behind_a_shared_reference_is_not_made_again() {
    let with = |types: &str, init: &str| {
        format!("use std::sync::*; {types} fn main() {{ let class = {init}; class.use_it(); }}")
    };
    let shared = "struct Shared { hits: atomic::AtomicU64, rows: Vec<Row>, barrier: Barrier } struct Row(f64);
                  impl Shared { fn of(n: usize) -> Self { Shared { hits: Default::default(), rows: Vec::new(), barrier: Barrier::new(n) } } }
                  struct Outer { inner: Option<Shared> }
                  fn outer() -> Outer { Outer { inner: None } }";
    for init in [
        "Arc::new(Shared { hits: Default::default(), rows: Vec::new(), barrier: Barrier::new(2) })",
        "Shared::of(3)",
        "outer()",
        "Mutex::new(Foreign::new())",
        "mpsc::channel::<u8>()",
    ] {
        assert!(!may_be_reexecuted(&with(shared, init)), "{init}");
    }
    let plain = "struct Table { rows: Vec<f64>, rule: fn(f64) -> f64 } fn table() -> Table { Table { rows: vec![1.0], rule: f64::sin } }";
    assert!(may_be_reexecuted(&with(plain, "table()")));
    assert!(may_be_reexecuted(&with(plain, "Arc::new(Barrier::new(3))")));
}

#[test]
fn what_a_function_in_c_does_is_not_known() {
    let with = |declared: &str, call: &str| {
        may_be_reexecuted(&format!(
            "use libc::{{fopen as open_stream, getpid}}; {declared}
             fn main() {{ let class = unsafe {{ {call} }}; drop(class); }}"
        ))
    };
    for call in [
        "libc::fopen(c\"a\".as_ptr(), c\"w\".as_ptr())",
        "open_stream(c\"a\".as_ptr(), c\"w\".as_ptr())",
        "libc::malloc(8)",
        "netcdf_sys::nc_open(c\"a\".as_ptr(), 0)",
        "inner(1)",
    ] {
        let declared =
            "extern \"C\" { fn make(n: i32) -> i32; } fn inner(n: i32) -> i32 { unsafe { make(n) } }";
        assert!(!with(declared, call), "{call}");
    }
    for call in [
        "libc::getpid()",
        "getpid()",
        "libc::sysconf(libc::_SC_NPROCESSORS_ONLN)",
        "make(1)",
    ] {
        assert!(with("fn make(n: i32) -> i32 { n }", call), "{call}");
    }
}

#[test]
fn what_only_looks_at_something_that_changes_may_be_made_anew() {
    let anew = |making: &str| {
        let text = format!(
            "struct Picture {{ rows: Vec<u8>, width: u64, bars: u64 }}
             struct Bar(u64);
             impl Bar {{ fn new(n: u64) -> Bar {{ Bar(n) }} }}
             impl Picture {{
                 fn bar(&self) -> Bar {{ let bar = Bar::new(self.width); bar }}
                 fn next_bar(&mut self) -> Bar {{ self.bars += 1; Bar::new(self.bars) }}
                 fn said(&self) -> Bar {{ println!(\"a bar\"); Bar::new(1) }}
                 fn render(&mut self) {{ let class = {making}; self.rows.clear(); drop(class); }}
             }}
             fn main() {{ let mut one = Picture {{ rows: vec![1], width: 3, bars: 0 }}; one.render(); }}"
        );
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let effects = Effects::of(&program, &analysis);
        let place = (FileId(0), text.find("let class").expect("the variable"));
        assert!(!effects.may_be_reexecuted(place), "{making}");
        effects.may_be_made_anew(place)
    };
    assert!(anew("self.bar()"));
    assert!(!anew("self.next_bar()"));
    assert!(!anew("self.said()"));
    assert!(!anew("Bar::new(u64::from(self.rows.pop().unwrap_or(0)))"));
}

#[test]
fn arrays_that_a_function_makes_begin_as_they_did() {
    let with = |parameters: &str, body: &str| {
        format!(
            "use wgpu::*; use ocl::Buffer as _;
             struct Sim {{ now: Buffer, queue: Queue }}
             static SCALE: AtomicU32 = AtomicU32::new(0);
             static START: OnceLock<u32> = OnceLock::new();
             macro_rules! put {{ ($array:expr) => {{ queue.write_buffer($array, 0, bytes(&start)) }} }}
             use give as set;
             struct Ends<'a>(&'a Buffer, &'a Queue);
             struct Shown<'a>(&'a Buffer);
             struct Given<'a>(&'a Buffer);
             impl Drop for Ends<'_> {{ fn drop(&mut self) {{ give(self.1, self.0, &[]); }} }}
             impl std::fmt::Display for Shown<'_> {{
                 fn fmt(&self, f: &mut Formatter<'_>) -> Result {{ self.0.write(&[]).enq(); f.write_str(\"\") }} }}
             impl From<Given<'_>> for usize {{ fn from(one: Given<'_>) -> usize {{ pass(one.0, &queue, &[]); 1 }} }}
             impl From<usize> for Given<'_> {{ fn from(one: usize) -> Given {{ Given::of(one) }} }}
             impl AddAssign<&Sim> for Sim {{ fn add_assign(&mut self, other: &Sim) {{ pass(&self.now, &self.queue, &[]); }} }}
             impl Drop for Sim {{ fn drop(&mut self) {{ self.now.write(&[]).enq(); }} }}
             struct Deep {{ inner: Settings }}
             struct Settings {{ scale: Cell<f32> }}
             struct Plain {{ scale: f32 }}
             impl Display for Plain {{ fn fmt(&self, f: &mut Formatter<'_>) -> Result {{ write!(f, \"\") }} }}
             impl Drop for Plain {{ fn drop(&mut self) {{ println!(\"\"); }} }}
             impl Gpu {{
                 fn buffer(&self, n: u64) -> Buffer {{ self.device.create_buffer(&of(n)) }}
                 fn kept(&self, n: u64) -> Buffer {{ self.all[n].clone() }}
             }}
             fn array(device: &Device) -> Buffer {{ device.create_buffer(&of) }}
             fn give(queue: &Queue, array: &Buffer, start: &[f32]) {{ queue.write_buffer(array, 0, bytes(start)); }}
             fn pass(array: &Buffer, queue: &Queue, start: &[f32]) {{ give(queue, array, start); }}
             fn array_or(device: &Device, other: &Buffer) -> Buffer {{ if other.len() > 0 {{ other.clone() }} else {{ device.create_buffer(&of) }} }}
             impl Sim {{ fn new({parameters}) -> Sim {{ {body} Sim {{ now, queue }} }} }}
             fn main() {{ let class = Sim::new(); class.use_it(); }}"
        )
    };
    let may = |parameters: &str, body: &str| {
        let text = with(parameters, body);
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let place = (FileId(0), text.find("let class").expect("the variable"));
        Effects::of(&program, &analysis).may_be_rebuilt(place)
    };
    for body in [
        "let now = device.create_buffer(&of); queue.write_buffer(&now, 0, bytes(&start));",
        "let mut now = unsafe { Buffer::create(&context, 4, 0)? }; queue.enqueue_write_buffer(&mut now, 1, 0, &start, &[])?;",
        "let now = array(&device); queue.write_buffer(&now, 0, bytes(&start[..4])); queue.write_buffer(&now, 16, bytes(&start[4..]));",
        "let (now, next) = (device.create_buffer(&of), array(&device)); queue.write_buffer(&next, 0, bytes(&start));",
        "let now = array(&device); give(&queue, &now, &start); give(&queue, &now, &start);",
        "let now = gpu.buffer(4); queue.write_buffer(&now, 0, bytes(&start));",
        "let now = array(&device); pass(&now, &queue, &start);",
        "let now = array(&device); now.write(&vec![START.get(); 4]).enq()?;",
        "let now = array(&device); assert!(now.write(&start).enq().is_ok());",
        "let now = device.create_texture(&of); queue.write_texture(now.as_image_copy(), &start, layout, size);",
        "let now = device.create_texture(&of); queue.write_texture(Copied { texture: &now, level: 0 }, &start, layout, size);",
        "let now = Buffer::<f32>::builder().len(4).build()?; now.write(&start).enq()?;",
        "let now = que.buffer_builder().build()?; now.cmd().fill(0.0, None).enq()?;",
        "let mut now: CudaSlice<f32> = stream.alloc_zeros(4)?; stream.memcpy_htod(&start, &mut now)?;",
        "let now = array(&device); let _plain = Plain { scale: 1.0 }; log(format!(\"{}\", Plain { scale: 2.0 }));",
    ] {
        assert!(may("", body), "{body}");
    }
    for (parameters, body) in [
        (
            "",
            "let now = device.create_buffer(&of); queue.write_buffer(&other, 0, bytes(&start));",
        ),
        (
            "now: Buffer",
            "queue.write_buffer(&now, 0, bytes(&start)); let now = device.create_buffer(&of);",
        ),
        (
            "",
            "let now = parent.create_sub_buffer(None, 0, 4)?; now.write(&start).enq()?;",
        ),
        (
            "other: &Buffer",
            "let now = array(&device); let _ends = Ends(other, queue);",
        ),
        (
            "other: &Buffer",
            "let now = array(&device); let text = format!(\"{}\", Shown(other));",
        ),
        (
            "other: &Buffer",
            "let now = array(&device); count(Given(other).into());",
        ),
        (
            "deep: &Deep",
            "let now = array(&device); give(&queue, &now, &[deep.inner.scale.get()]);",
        ),
        (
            "",
            "let now = array_or(&device, &other); queue.write_buffer(&now, 0, bytes(&start));",
        ),
        ("", "let now = Buffer::clone(&other); now.write(&start).enq()?;"),
        (
            "",
            "let mut now = device.create_buffer(&of); now = other; queue.write_buffer(&now, 0, bytes(&start));",
        ),
        (
            "",
            "let now = device.create_buffer(&of); now.copy(&other, None, None).enq()?;",
        ),
        ("", "let now = device.create_buffer(&of); kernel.cmd().enq()?;"),
        (
            "other: &Buffer",
            "let now = array(&device); give(&queue, &now, &start); give(&queue, other, &start);",
        ),
        (
            "other: &Buffer",
            "let now = array(&device); give(&queue, &now, &start); show!(give(&queue, other, &start));",
        ),
        (
            "other: &Buffer",
            "let now = array(&device); give(&queue, &now, &start); set(&queue, other, &start);",
        ),
        (
            "other: &Buffer",
            "let now = array(&device); let up = |array: &Buffer| array.write(&start).enq(); up(other)?;",
        ),
        (
            "other: &Buffer",
            "let now = array(&device); timed(|| other.write(&start).enq())?;",
        ),
        (
            "other: &Buffer",
            "let now = array(&device); assert!(other.write(&start).enq().is_ok());",
        ),
        ("other: &Buffer", "let now = array(&device); put!(other);"),
        (
            "other: &Buffer",
            "let now = Buffer::<f32>::builder().build().map(|_| other.clone())?; now.write(&start).enq()?;",
        ),
        (
            "",
            "let now = array(&device); let by = SCALE.load(Ordering::SeqCst);",
        ),
        ("", "let now = array(&device); let by = SystemTime::now();"),
        (
            "other: &Buffer",
            "let now = array(&device); pass(other, &queue, &start);",
        ),
        (
            "",
            "let (now, next) = (device.create_buffer(&of), other); queue.write_buffer(&next, 0, bytes(&start));",
        ),
        (
            "",
            "let now = device.create_buffer(&of); queue.submit([encoder.finish()]);",
        ),
    ] {
        assert!(!may(parameters, body), "{body}");
    }
}

#[test]
fn what_a_kernel_is_made_from_may_have_changed() {
    let may = |variable: &str| {
        let text = format!(
            "use ocl::ProQue;
             struct Deep {{ inner: Settings }}
             struct Settings {{ scale: Cell<f32> }}
             fn main() {{
                 let device = ProQue::builder().build(); {variable}
                 let class = device.kernel_builder(\"f\").arg(scale.get()).build();
                 class.use_it(); }}"
        );
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let place = (FileId(0), text.find("let class").expect("the variable"));
        Effects::of(&program, &analysis).may_be_rebuilt(place)
    };
    assert!(may("let scale = Some(1.0);"));
    assert!(!may("let scale = Cell::new(1.0);"));
    assert!(!may("let scale: Deep = begin();"));
    assert!(!may("let scale = &Deep { inner: begin() };"));
}

#[test]
fn a_handle_that_is_set_later_is_another_one() {
    let may = |set: &str| {
        let text = format!(
            "use ocl::ProQue;
             fn main() {{
                 let device = ProQue::builder().build();
                 let mut class = device.kernel_builder(\"f\").build();
                 for i in 0..30 {{ unsafe {{ class.enq(); }} {set} }} }}"
        );
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let place = (FileId(0), text.find("let mut class").expect("the variable"));
        Effects::of(&program, &analysis).may_be_filled_on_device(place)
    };
    assert!(may("class.set_arg(0, i);"));
    assert!(!may("if i > 3 { class.set_default_global_work_size(i.into()); }"));
    assert!(!may("class.set_dims(i);"));
}

#[test]
fn a_kernel_that_is_set_up_behind_its_let_is_made_again() {
    let may = |made: &str, behind: &str| {
        let text = format!(
            "use ocl::{{Kernel, ProQue}};
             fn main() {{
                 let device = ProQue::builder().build();
                 let n = 3;
                 let mut class = {made}.arg(1).build()?; {behind}
                 for i in 0..30 {{ class.set_arg(0, i); unsafe {{ class.enq(); }} }} }}"
        );
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let place = (FileId(0), text.find("let mut class").expect("the variable"));
        Effects::of(&program, &analysis).may_be_filled_on_device(place)
    };
    let set = "class.set_default_local_work_size(64.into());";
    for made in ["device.kernel_builder(\"f\")", "Kernel::builder().name(\"f\")"] {
        assert!(may(made, set), "{made}");
        assert!(
            may(made, "class.set_default_global_work_size(SpatialDims::One(n));"),
            "{made}"
        );
        assert!(!may(made, &format!("show(); {set}")), "{made}");
    }
}

#[test]
fn lists_are_put_together_again_by_what_gives_nothing_else() {
    let text = |behind: &str| {
        format!(
            "use ocl::{{Buffer, ProQue, Queue}};
             struct Field {{ now: Buffer<f32>, scale: f32 }}
             impl Field {{
                 fn new(pq: &ProQue, scale: f32) -> Field {{ let now = pq.buffer_builder().build(); Field {{ now, scale }} }}
                 fn run(pq: &ProQue) -> Field {{ let now = pq.buffer_builder().build(); pq.enq(); Field {{ now, scale: 1.0 }} }} }}
             fn main() {{
                 let pq = ProQue::builder().build();
                 let mut names = vec![1];
                 let mut queues = Vec::new();
                 let mut fields = Vec::new();
                 {behind} }}"
        )
    };
    let gathers = |behind: &str| {
        let text = text(behind);
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let effects = Effects::of(&program, &analysis);
        let of = |what: &str| (FileId(0), text.find(what).expect("it is there"));
        (
            effects.gathers_the_same(of("let mut fields")),
            effects.may_be_filled_on_device(of("let mut queues")),
        )
    };
    for (behind, expected) in [
        (
            "for i in 0..3 { fields.push(Field::new(&pq, 1.0)); } for f in &mut fields { f.scale = 2.0; }",
            (true, true),
        ),
        (
            "for i in 0..3 { let mut queue = made(&pq); fields.push(Field::new(&pq, 1.0)); queues.push(queue); }",
            (true, true),
        ),
        (
            "for i in 0..3 { fields.push(Field::new(&pq, fields.len())); } fields.swap(0, 1);",
            (false, true),
        ),
        (
            "for i in 0..3 { fields.push(Field::run(&pq)); queues.push(made(&pq)); }",
            (false, false),
        ),
        (
            "for i in 0..3 { names.push(i); fields.push(Field::new(&pq, 1.0)); }",
            (false, true),
        ),
        (
            "while more() { fields.push(Field::new(&pq, 1.0)); }",
            (false, true),
        ),
        (
            "for i in 0..3 { fields.push(Field::new(&pq, 1.0)); queues.push(made(&pq)); } queues.clear();",
            (true, false),
        ),
        (
            "for i in 0..3 { fields.push(Field::new(&pq, 1.0)); } fields[1] = Field::new(&pq, 2.0);",
            (false, true),
        ),
        (
            "let mut w = 1.0; w += 1.0; for i in 0..3 { fields.push(Field::new(&pq, w)); } loop { show(w); }",
            (true, true),
        ),
        (
            "let mut w = 1.0; for i in 0..3 { fields.push(Field::new(&pq, w)); } loop { w *= 0.5; }",
            (false, true),
        ),
        (
            "let mut w = 1.0; for i in 0..3 { queues.push(made(&pq, &format!(\"{w:?}\"))); } loop { next(&mut w); }",
            (false, false),
        ),
        (
            "let mut total = 0; for i in 0..3 { fields.push(Field::new(&pq, 1.0)); total += 64; } show(total);",
            (false, true),
        ),
        (
            "let (mut a, mut b) = (1, 1); for i in 0..3 { queues.push(made(&pq)); (a, b) = (b, a + b); } show(b);",
            (false, false),
        ),
        (
            "let mut all = vec![1.0]; for p in all.iter_mut() { queues.push(made(&pq)); *p *= 2.0; } show(&all);",
            (false, false),
        ),
        (
            "let all = vec![1.0]; for p in all.iter() { let mut n = 1; n += 1; queues.push(made(&pq, n)); } show(&all);",
            (false, true),
        ),
    ] {
        assert_eq!(gathers(behind), expected, "{behind}");
    }
    // What it was is said.
    let text = text("for i in 0..3 { fields.push(Field::run(&pq)); }");
    let files = [("main.rs", text.as_str())];
    let (program, analysis) = (program(&files), analysed(&files));
    let at = (FileId(0), text.find("let mut fields").expect("it is there"));
    let (_, bytes) = Effects::of(&program, &analysis).trace_at(at).expect("a trace");
    assert_eq!(&text[bytes], "pq.enq()");
}

#[test]
fn a_list_may_be_put_together_in_a_block_of_its_own() {
    let may = |behind: &str| {
        let text = format!(
            "use ocl::ProQue;
             fn main() {{
                 let pq = ProQue::builder().build(); let mut other = Vec::new();
                 {behind} }}"
        );
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let place = (FileId(0), text.find("let parts").expect("the variable"));
        Effects::of(&program, &analysis).may_be_rebuilt(place)
    };
    let block = "let parts = { let mut list = Vec::new(); for i in 0..3 { list.push(made(&pq)); } list };";
    assert!(may(block));
    assert!(may(&format!("let mut list = 3; {block}")), "another one");
    assert!(!may("let parts = { other.push(1); made(&pq) };"));
}

#[test]
fn what_looks_at_a_static_that_changes_is_not_made_again() {
    let with = |statics: &str, body: &str, init: &str| {
        may_be_reexecuted(&format!(
            "{statics} fn next() -> u64 {{ {body} }} fn made() -> (Vec<u64>, TypeId) {{ {init} }}
             fn main() {{ let class = made(); drop(class); }}"
        ))
    };
    let list = "((0..9).map(|_| next()).collect(), TypeId::of::<u8>())";
    let local = "thread_local!(static STATE: Cell<u64> = const { Cell::new(1) });";
    assert!(!with(
        local,
        "STATE.with(|s| { s.set(s.get() * 3); s.get() })",
        list
    ));
    assert!(!with(
        "static STATE: AtomicU64 = AtomicU64::new(1);",
        "STATE.load(Relaxed)",
        list
    ));
    assert!(!with(
        "static STATE: LazyLock<Mutex<Rng>> = LazyLock::new(make);",
        "draw(&STATE)",
        list
    ));
    assert!(!with("static mut STATE: u64 = 1;", "unsafe { STATE }", list));
    assert!(!with(
        local,
        "7",
        "(repeat_with(|| STATE.get()).take(9).collect(), TypeId::of::<u8>())"
    ));
    assert!(!with(local, "7", "(vec![STATE.get(); 9], TypeId::of::<u8>())"));
    // What is set once is what it was.
    assert!(with(
        "static STATE: OnceLock<u64> = OnceLock::new();",
        "*STATE.get().unwrap()",
        list
    ));
    assert!(with("static STATE: u64 = 1;", "STATE", list));
    assert!(with(local, "7", list));
}

#[test]
fn what_draws_random_numbers_is_not_made_again() {
    let with = |init: &str| {
        may_be_reexecuted(&format!(
            "fn next() -> u64 {{ {init} }} fn made() -> (u64, TypeId) {{ (next(), TypeId::of::<u8>()) }}
             fn main() {{ let class = made(); drop(class); }}"
        ))
    };
    assert!(!with("fastrand::u64(..)"));
    assert!(!with("rand::random()"));
    assert!(!with("rand::rng().random_range(0..9)"));
    assert!(with(
        "let mut rng = StdRng::seed_from_u64(7); rng.random_range(0..9)"
    ));
}
