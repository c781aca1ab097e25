//! Commands that cannot do what they are asked to: each says what, where and what to do next, with the code of its message.
//! What they say is noted in `tests/messages.txt`, like the messages of all tests here.

use std::path::Path;
use std::process::Command;

use crate::noted;
use crate::store::store;

/// The code of the message, and a script that leads to it: in a folder with a store of three checkpoints, `$ROOT`, the
/// command as `ckpt`, `package NAME MAIN`, which makes the folder NAME with a package whose source is MAIN, and what is below.
const FAILING: &[(&str, &str)] = &[
    (
        "E3004",
        "package one 'fn main() {}'; package two 'fn main() {}'; sed -i /workspace/d */Cargo.toml; \
         printf '[workspace]\nmembers = [\"one\", \"two\"]\n' >Cargo.toml; ckpt init",
    ),
    ("E3009", "ckpt pack; ckpt pack"),
    (
        "E3011",
        "package one 'fn main() {}'; cd one; ckpt plan -- deck.toml",
    ),
    ("E3014", "ckpt restart 1 --exe ./heat"),
    (
        "E3015",
        "package one \"fn main() { for i in 0..1000000u64 { print!(\\\"{i}\\\"); } }\"; cd one; ckpt rewrite --to src",
    ),
    (
        "E3016",
        "ckpt pack; ckpt unpack heat.ckpt.tar --dir 'node-{rank}'",
    ),
    (
        "E3017",
        "ckpt crashtest --exe /bin/true --compare /etc/results.csv",
    ),
    ("E3019", "script; ulimit -n 4; ckpt run --exe ./true.sh"),
    ("E3021", "trap '' CHLD; ckpt crashtest --exe /bin/true"),
    (
        "E3023",
        "for i in $(seq 200); do mkdir $i; (cd $i; touch $(seq 600)); done; ckpt crashtest --exe /bin/true",
    ),
    ("E3020", "echo text >heat; ckpt crashtest --exe ./heat"),
    (
        "E3022",
        "printf '#!/bin/sh\nkill -INT $PPID\nwhile sleep 1; do :; done\n' >heat; chmod +x heat; ckpt crashtest --exe ./heat",
    ),
    ("E3024", "ckpt crashtest --exe /bin/false"),
    ("E3001", "ckpt crashtest --exe /bin/true"),
    (
        "E3031",
        "package one '#[ckpt::main] fn main() { let f = || { ckpt::checkpoint!(); }; f() }'; cd one; ckpt expand main",
    ),
    ("E3032", "ckpt pack --output nowhere/heat.tar"),
    (
        "E3193",
        "package one 'fn main() {}'; cd one; ckpt run --profile fast",
    ),
    ("E3033", "package one 'fn main() {}'; cd one; ckpt run --profile"),
    (
        "E3034",
        "package one 'fn main() {}'; cd one; ckpt run --release --profile bench",
    ),
    (
        "E3037",
        "package one 'fn main() {}'; cd one; echo '[package' >Cargo.toml; ckpt run",
    ),
    ("E3025", "ckpt run --exe /bin/true"),
    (
        "E3043",
        "script; ckpt run -n 2 --exe ./true.sh --launcher nowhere",
    ),
    (
        "E3040",
        "package one 'fn main() {}'; cd one; real=$(command -v cargo); \
         printf '#!/bin/sh\n[ \"$1\" != tree ] || rm $0\nexec %s \"$@\"\n' $real >cargo; chmod +x cargo; CARGO=$PWD/cargo ckpt run",
    ),
    (
        "E3042",
        "package one 'fn main() {}'; cd one; real=$(command -v cargo); \
         printf '#!/bin/sh\n[ \"$1\" = build ] && exit 0\nexec %s \"$@\"\n' $real >cargo; chmod +x cargo; CARGO=$PWD/cargo ckpt run",
    ),
    (
        "E3046",
        "package one 'fn main() {}'; package two 'fn main() {}'; sed -i /workspace/d */Cargo.toml; for p in one two; do mkdir $p/src/bin; cp $p/src/main.rs $p/src/bin/heat.rs; done; printf '[workspace]\nmembers = [\"one\", \"two\"]\n' >Cargo.toml; ckpt run --bin heat",
    ),
    ("E3049", "ckpt run --exe /bin/true --launcher srun"),
    ("E3053", "ckpt unpack heat.ckpt.d/000001.r0.h5"),
    (
        "E3054",
        "ckpt pack; truncate -s 6000 heat.ckpt.tar; rm -r heat.ckpt.d; ckpt unpack heat.ckpt.tar",
    ),
    (
        "E3054",
        "ckpt pack; printf damage | dd of=heat.ckpt.tar bs=1 seek=6000 conv=notrunc status=none; rm -r heat.ckpt.d; ckpt unpack heat.ckpt.tar",
    ),
    (
        "E3055",
        "touch deck.dat; ckpt pack --with deck.dat; rm -r heat.ckpt.d; ckpt unpack heat.ckpt.tar",
    ),
    (
        "E3056",
        "mkdir node-0; mv heat.ckpt.d/* node-0; mkdir -p node-0/runs/0123456789abcdef0123456789abcdef; printf '{\"run\":\"0123456789abcdef0123456789abcdef\",\"program\":\"heat\",\"version\":\"1.0.0\",\"pid\":1,\"host\":\"h\",\"started\":\"\",\"updated\":\"\",\"state\":\"completed\",\"visits\":30,\"restarted_from\":null,\"last_checkpoint\":3,\"failed_checkpoints\":0,\"command\":[\"heat\"],\"reason\":null,\"ranks\":2}' >node-0/runs/0123456789abcdef0123456789abcdef/job.json; ckpt pack --dir 'node-{rank}'",
    ),
    ("E3057", "truncate -s 4000 heat.ckpt.d/000002.r0.h5; ckpt pack 2"),
    (
        "E3058",
        "touch deck.toml; mkdir sub; mv heat.ckpt.d sub; cd sub; ckpt pack --with ../deck.toml",
    ),
    ("E3185", "touch .deck.csv; ckpt pack --with .deck.csv"),
    ("E3059", "mkdir inputs; ckpt pack --with inputs"),
    (
        "E3038",
        "package one 'fn main() {}'; cd one; tool=$(command -v cargo-ckpt); unset CARGO; PATH=/nowhere $tool ckpt run",
    ),
    (
        "E3060",
        "package one 'fn main() {}'; cd one; CARGO_BUILD_TARGET=x86_64-unknown-lynux ckpt plan",
    ),
    (
        "E3063",
        "package one 'macro_rules! start { () => { fn main() { for i in 0..1000000u64 { print!(\"{i}\"); } } } } start!();'; cd one; ckpt plan",
    ),
    (
        "E3067",
        "package one 'fn main() {}'; cd one; printf 'fn half() { \\xff }' >>src/main.rs; ckpt plan",
    ),
    (
        "E3069",
        "package one '#[path = \"../../common.rs\"] mod common; fn main() { common::sum() }'; \
         package two '#[path = \"../../common.rs\"] pub mod common;'; mv two/src/main.rs two/src/lib.rs; \
         echo '#[cfg(feature = \"wide\")] pub fn wide() {} pub fn sum() { let mut x = 0; for i in 0..1000000u64 { x += i; } println!(\"{x}\"); }' >common.rs; \
         printf '[features]\nwide = []\ndefault = [\"wide\"]\n' >>two/Cargo.toml; sed -i /workspace/d */Cargo.toml; \
         printf '[dependencies]\nfailing-two = { path = \"../two\" }\n' >>one/Cargo.toml; \
         printf '[workspace]\nmembers = [\"one\", \"two\"]\n' >Cargo.toml; ckpt plan -p failing-one",
    ),
    (
        "E3061",
        "package one 'fn main() { let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); }'; \
         mkdir -p library/src; touch library/src/lib.rs; printf '[package]\nname = \"ckpt-runtime\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nnowhere = { path = \"../nowhere\" }\n' >library/Cargo.toml; \
         cd one; CKPT_RUNTIME_PATH=$PWD/../library ckpt run 2>&1 | grep -v '^ ' >&2",
    ),
    (
        "E1330",
        "package one 'fn main() { tensors::sum() }'; mkdir -p tensors/src cudarc/src; echo 'pub fn sum() {}' >tensors/src/lib.rs; \
         touch cudarc/src/lib.rs; for name in tensors cudarc; do \
         printf '[package]\nname = \"%s\"\nversion = \"0.19.0\"\nedition = \"2024\"\n[workspace]\n' $name >$name/Cargo.toml; done; \
         printf '[dependencies]\ncudarc = { path = \"../cudarc\" }\n' >>tensors/Cargo.toml; \
         printf '[dependencies]\ntensors = { path = \"../tensors\" }\n' >>one/Cargo.toml; cd one; ckpt plan",
    ),
    ("E3070", "package one 'fn main( {}'; cd one; ckpt plan"),
    (
        "E3073",
        "package one 'fn main() { let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); let y: u32 = \"a\"; }'; cd one; ckpt plan --profile 2>&1 | grep -A9 E3073 >&2",
    ),
    (
        "E3075",
        "package one 'fn main() { for i in 0..1000000u64 { print!(\"{i}\"); } }'; cd one; printf '[calls]\nclean = [\"energy\"]\n' >ckpt.toml; ckpt plan",
    ),
    (
        "E3077",
        "package one 'fn main() {}'; cd one; printf '[[bin]]\nname = \"heat\"\npath = \"src/heet.rs\"\n' >>Cargo.toml; ckpt plan --bin heat",
    ),
    (
        "E3079",
        "package one 'fn main() { let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); let y: u32 = \"a\"; }'; cd one; ckpt run 2>&1 | grep -A9 E3079 >&2",
    ),
    (
        "E3080",
        "package one 'fn main() { std::thread::spawn(|| { let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); }).join().unwrap(); }'; cd one; ckpt run",
    ),
    (
        "E3078",
        "package one 'fn main() { let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); ckpt::checkpoint!(); } println!(\"{x}\"); }'; \
         cd one; echo 'fn main() { panic!(\"no compiler of Fortran\") }' >build.rs; ckpt run 2>&1 | grep -A9 E3078 >&2",
    ),
    (
        "E3083",
        "package one 'fn main() { let other = std::thread::spawn(|| 3); let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); ckpt::checkpoint!(); } println!(\"{x} {:?}\", other.join()); }'; cd one; ckpt run",
    ),
    (
        "E1311",
        "package one 'struct Guard(*const u8); impl Drop for Guard { fn drop(&mut self) { println!(\"free\"); } } fn lock() -> Guard { println!(\"lock\"); Guard(&0) } fn main() { let mut x = 0.0; let _guards = (lock(), 3); for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); }'; cd one; ckpt run",
    ),
    (
        "E3062",
        "package one 'fn main() { let mut x = 0.0; let _guards = (std::thread::spawn(|| 3), 3); for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); }'; cd one; CKPT_MOST_ROUNDS=1 ckpt run",
    ),
    (
        "E1301",
        "package one 'fn run(n: &u64) -> bool { let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); *n > 1 } fn main() { let mut jobs = vec![1u64, 2]; jobs.retain(|job| run(job)); println!(\"{jobs:?}\"); }'; cd one; ckpt run",
    ),
    (
        "E1308",
        "package one 'fn advance() { let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); } fn work() { println!(\"work\"); } mod a { pub use crate::advance as run; } mod b { pub use crate::work as run; } fn main() { a::run(); b::run(); }'; cd one; ckpt run",
    ),
    (
        "E1020",
        "package one 'use std::cell::Cell; thread_local! { static CALLS: Cell<u64> = Cell::new(0); } fn work() { CALLS.set(CALLS.get() + 1); let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); } fn main() { std::thread::scope(|s| { s.spawn(|| work()); s.spawn(|| work()); }); }'; cd one; ckpt run",
    ),
    (
        "E3082",
        "package one 'static mut STEPS: u64 = 0; fn main() { let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); unsafe { STEPS += 1 } } println!(\"{x}\"); }'; cd one; ckpt run",
    ),
    (
        "E3066",
        "package one 'fn main() { let mut x = 0.0; for i in 0..1000000u64 { x += f64::from(i as u32).sqrt(); } println!(\"{x}\"); }'; cd one; touch target; \
         cargo_home=${CARGO_HOME:-$HOME/.cargo} rustup_home=${RUSTUP_HOME:-$HOME/.rustup}; \
         HOME=/proc XDG_CACHE_HOME=/proc TMPDIR=/proc CARGO_HOME=$cargo_home RUSTUP_HOME=$rustup_home ckpt run --target-dir target",
    ),
    (
        "E3068",
        "package one 'fn main() {}'; package two ''; mv two/src/main.rs two/src/lib.rs; cd one; \
         printf '[dependencies]\nckpt = { path = \"../two\", package = \"failing-two\" }\n' >>Cargo.toml; ckpt init",
    ),
    (
        "E3084",
        "package one 'fn main() {}'; cd one; real=$(command -v cargo); \
         printf '#!/bin/sh\n[ \"$1\" = metadata ] && set -- \"$@\" --no-deps\nexec %s \"$@\"\n' $real >cargo; chmod +x cargo; CARGO=$PWD/cargo ckpt plan",
    ),
    (
        "E3074",
        "mkdir gone; cd gone; rmdir ../gone; tool=$(command -v cargo-ckpt); $tool plan",
    ),
    ("E3085", "ckpt diff heat.ckpt.d nowhere.ckpt.d"),
    ("E3188", "ckpt run --exe /bin/true --dir .."),
    ("E3088", "cp -r heat.ckpt.d other.ckpt.d; ckpt list"),
    ("E3095", "ckpt inspect latest 'self[0..1'"),
    ("E3096", "ckpt inspect latest 'self[0, 0, 0, 0]'"),
    ("E3097", "ckpt inspect latest 'self[a]'"),
    ("E3105", "ckpt export latest --all --to state.csv"),
    ("E3106", "ckpt export latest self --to grid.txt"),
    (
        "E3107",
        "ckpt inspect latest self --shape 100,100 --plot grid.svg",
    ),
    ("E3108", "ckpt report"),
    (
        "E3112",
        "mkdir gone; cd gone; rmdir ../gone; tool=$(command -v cargo-ckpt); $tool ckpt list",
    ),
    ("E3150", "ckpt list --run beef"),
    (
        "E3151",
        "for run in 1111 1122; do run=heat.ckpt.d/runs/${run}0000000000000000000000000000; mkdir -p $run; echo '{' >$run/job.json; done; ckpt report --run 11",
    ),
    (
        "E3152",
        "run=heat.ckpt.d/runs/11110000000000000000000000000000; mkdir -p $run; echo '{' >$run/job.json; ckpt restart 1 --run 1111",
    ),
    ("E3153", "ckpt restart"),
    (
        "E3154",
        "for run in 1111 1122; do run=heat.ckpt.d/runs/${run}0000000000000000000000000000; mkdir -p $run; echo '{' >$run/job.json; done; ckpt restart",
    ),
    (
        "E3155",
        "run=heat.ckpt.d/runs/11110000000000000000000000000000; mkdir -p $run; printf '{\"run\":\"11110000000000000000000000000000\",\"program\":\"heat\",\"version\":\"1.0.0\",\"pid\":1,\"host\":\"h\",\"started\":\"\",\"updated\":\"\",\"state\":\"failed\",\"visits\":30,\"restarted_from\":null,\"last_checkpoint\":3,\"failed_checkpoints\":0,\"command\":[\"heat\"],\"reason\":null}' >$run/job.json; ckpt restart",
    ),
    (
        "E3156",
        "run=heat.ckpt.d/runs/0123456789abcdef0123456789abcdef; mkdir -p $run; printf '{\"run\":\"0123456789abcdef0123456789abcdef\",\"program\":\"heat\",\"version\":\"1.0.0\",\"pid\":1,\"host\":\"h\",\"started\":\"\",\"updated\":\"\",\"state\":\"failed\",\"visits\":30,\"restarted_from\":null,\"last_checkpoint\":3,\"failed_checkpoints\":0,\"command\":[\"heat\",\"a\"],\"reason\":null}' >$run/job.json; ckpt restart --exe ./heat -- b",
    ),
    ("E3158", "ckpt diff run:latest run:0123"),
    (
        "W3001",
        "run=heat.ckpt.d/runs/0123456789abcdef0123456789abcdef; mkdir -p $run; echo '{' >$run/job.json; ckpt list",
    ),
    (
        "W3003",
        "package one 'fn main() { for i in 0..1000u64 { print!(\"{i}\"); } }'; cd one; ckpt plan --profile 2>&1 | grep -o 'ckpt: warning.*' >&2",
    ),
    (
        "W3006",
        "package one 'fn main() {}'; cd one; echo 'fn half( {' >src/half.rs; sed -i '1i mod half;' src/main.rs; ckpt expand",
    ),
    // Of the library.
    (
        "W2012",
        "team waits '#[ckpt::main] fn main() { ckpt::team(2).run(|member| { if member.number() == 0 { while !std::path::Path::new(\"told\").exists() { std::thread::yield_now(); } } \
         for step in 0..4 { ckpt::checkpoint!(); if step == 2 { std::fs::write(\"told\", \"\").unwrap(); } } }); }'; CKPT_TEAM_WAIT=10ms ckpt run --every 2",
    ),
    (
        "E2001",
        "parts parts; CKPT_FAULT=visit:5 ckpt run --every 3 -- 1000 2>/dev/null; ckpt restart --args-changed -- 1500",
    ),
    (
        "E2002",
        "team nested '#[ckpt::instrument] fn inner() { std::thread::scope(|s| { s.spawn(|| { for _ in 0..3 { ckpt::checkpoint!(); } }); }); } \
         #[ckpt::main(calls(inner))] fn main() { std::thread::scope(|s| { s.spawn(|| { for _ in 0..10 { inner(); } }); }); }'; ckpt run --every 3",
    ),
    (
        "E2028",
        "parts parts; CKPT_FAULT=visit:5 ckpt run --every 3 -- 1000 2>/dev/null; ckpt restart --args-changed -- 500",
    ),
    (
        "E2032",
        "team counter '#[ckpt::main] fn main() { let next = std::sync::atomic::AtomicU64::new(0); ckpt::team(2).run(|member| { let mine = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed); for _ in 0..10 { ckpt::checkpoint!(); member.barrier(); } println!(\"{mine}\"); }); }'; \
         CKPT_FAULT=visit:5 ckpt run --every 3 2>/dev/null; CKPT_THREADS=3 ckpt restart",
    ),
    ("E2201", "exec 9<>heat.ckpt.d/lock; flock 9; ckpt prune --keep 1"),
];

/// What every script begins with.
const SETTING: &str = r#"
ckpt() { cargo-ckpt ckpt "$@"; }
script() { printf '#!/bin/sh\n' >true.sh; chmod +x true.sh; }
package() {
    mkdir -p "$1/src"
    printf '[package]\nname = "failing-%s"\nversion = "0.1.0"\nedition = "2024"\n\n[workspace]\n' "$1" >"$1/Cargo.toml"
    echo "$2" >"$1/src/main.rs"
}
# Goes into the folder of a package with attributes: NAME MAIN.
team() {
    package "$1" "$2"
    cd "$1"
    printf '[dependencies]\nckpt = { package = "ckpt-runtime", path = "%s" }\n' "$CKPT_RUNTIME_PATH" >>Cargo.toml
}
# One, NAME, whose threads get parts of as many elements as the argument says.
parts() {
    team "$1" '#[ckpt::main] fn main() {
        let length: usize = std::env::args().nth(1).unwrap().parse().unwrap();
        let mut grid = vec![1.0; 2000];
        std::thread::scope(|s| {
            for part in grid.chunks_mut(length) {
                s.spawn(move || { for _ in 0..10 { ckpt::checkpoint!(); part[0] += 1.0; } });
            }
        });
    }'
}
"#;

/// What a script prints on standard error.
pub fn said(script: &str) -> String {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 3);
    let tool = Path::new(env!("CARGO_BIN_EXE_cargo-ckpt")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-c", &format!("{SETTING}{script}")])
        .current_dir(here.path())
        .env("PATH", path)
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TERM_QUIET", "true")
        .envs(noted::PROFILE)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs"),
        )
        .env(
            "CKPT_RUNTIME_PATH",
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../ckpt-runtime"),
        )
        .env_remove("CKPT_DIR")
        .env_remove("CKPT_BLESS")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_cannot_be_done_is_said_with_the_next_step() {
    let mut wrong = Vec::new();
    for (code, script) in FAILING {
        let said = said(script);
        // What stands in the way of a site is listed in the message of the program, by its own code.
        match said.contains(&format!("[{code}]")) || said.contains(&format!("{code}: ")) {
            true => crate::noted::compare(said.as_bytes()),
            false => wrong.push(format!("{code}: {script}\n{said}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_folder_of_other_things_is_no_store() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("notes.md"), "").unwrap();
    let refused = crate::store::cargo_ckpt(here.path(), &["list", "--dir", "."]).code(76);
    refused.stderr(predicates::str::contains("E3085"));
    std::fs::create_dir(here.path().join("empty")).unwrap();
    let told = crate::store::cargo_ckpt(here.path(), &["list", "--dir", "empty"]).success();
    told.stdout(predicates::str::contains("holds no checkpoint yet"));
}
