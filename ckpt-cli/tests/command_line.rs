//! The command line as a user meets it: help, wrong input, missing things. Every failure says what, and what to do.

mod noted;
#[path = "../../tests/harness/src/skipped.rs"]
mod skipped;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use noted::noted;
use predicates::prelude::*;
use predicates::str::contains;

fn cargo_ckpt(folder: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CKPT_")) {
        command.env_remove(name);
    }
    noted(command.current_dir(folder).args(arguments).assert())
}

fn package(name: &str, targets: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let manifest =
        format!("[package]\nname = \"{name}\"\nversion = \"1.2.3\"\nedition = \"2021\"\n[workspace]\n");
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    for target in targets {
        let path = folder.path().join(target);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            path,
            "fn main() { println!(\"{:?}\", std::env::args().skip(1).collect::<Vec<_>>()); }",
        )
        .unwrap();
    }
    folder
}

fn text(assert: &assert_cmd::assert::Assert) -> (String, String) {
    let output = assert.get_output();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn bash_completes_one_word_and_two() {
    let here = tempfile::tempdir().unwrap();
    let (script, _) = text(&cargo_ckpt(here.path(), &["completions", "bash"]).success());
    let ask = r#"
        _former() { COMPREPLY=(build); }
        complete -F _former cargo
        source ./completions
        source ./completions
        ask() { COMPREPLY=(); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); $function "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"; echo "${COMPREPLY[@]}"; }
        function=$(complete -p cargo-ckpt | sed 's/.*-F \([^ ]*\).*/\1/'); ask cargo-ckpt re
        function=$(complete -p cargo | sed 's/.*-F \([^ ]*\).*/\1/'); ask cargo ckpt verify --for; ask cargo bui; ask cargo ""; ask cargo ck; ask cargo build ck"#;
    fs::write(here.path().join("completions"), script).unwrap();
    let asked = Command::new("bash")
        .current_dir(here.path())
        .args(["-c", ask])
        .assert()
        .success();
    let (answers, _) = text(&asked);
    let lines: Vec<&str> = answers.lines().collect();
    assert!(
        lines[0].contains("restart") && lines[0].contains("rewrite"),
        "{answers}"
    );
    let expected = ["--format", "build", "build ckpt", "build ckpt", "build"];
    assert_eq!(&lines[1..], expected, "{answers}");
}

#[test]
fn completions_are_installed_once() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".bashrc"), "alias l=ls").unwrap();
    let install = |shell: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"] {
            command.env_remove(name);
        }
        command.env("HOME", home.path()).env("SHELL", "/bin/bash");
        noted(command.args(["completions", "--install"]).args(shell).assert())
    };
    install(&[]).success().stdout(contains("a new shell has them"));
    install(&["bash"]).success();
    let text = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    assert_eq!(text(".bashrc").lines().count(), 2, "{}", text(".bashrc"));
    assert!(text(".bashrc").starts_with("alias l=ls\n"));
    let ask = r#"
        complete -W build cargo
        source ~/.bashrc
        COMP_WORDS=(cargo ckpt verify --for); COMP_CWORD=3
        function=$(complete -p cargo | sed 's/.*-F \([^ ]*\).*/\1/'); $function cargo --for verify; echo "${COMPREPLY[@]}""#;
    Command::new("bash")
        .env("HOME", home.path())
        .args(["--norc", "-c", ask])
        .assert()
        .success()
        .stdout("--format\n");
    install(&["fish"]).success();
    assert!(text(".config/fish/conf.d/cargo-ckpt.fish").contains("restart"));
    install(&["zsh"]).success();
    assert!(text(".zshrc").contains("zsh/site-functions/_cargo-ckpt"));
    install(&["elvish"]).code(2).stderr(contains("E3117"));
}

/// What a shell prints, with its completions in the file `completions`; nothing where there is no such shell.
fn in_shell(shell: &str, arguments: &[&str], ask: &str) -> Option<Vec<String>> {
    let here = tempfile::tempdir().unwrap();
    let (script, _) = text(&cargo_ckpt(here.path(), &["completions", shell]).success());
    assert!(script.contains("restart"), "{script}");
    if std::process::Command::new(shell)
        .arg("--version")
        .output()
        .is_err()
    {
        skipped::skipped(&format!("completions in {shell}"), "there is no such shell here");
        return None;
    }
    fs::write(here.path().join("completions"), script).unwrap();
    let asked = Command::new(shell)
        .current_dir(here.path())
        .env("HOME", here.path())
        .args(arguments)
        .args(["-c", ask])
        .assert()
        .success();
    Some(text(&asked).0.lines().map(str::to_owned).collect())
}

#[test]
fn fish_completes_one_word_and_two() {
    let ask = "source completions; source completions
        for line in 'cargo-ckpt verify --for' 'cargo ckpt verify --for' 'cargo ckpt rest'
            complete -C $line | cut -f1 | sort -u
        end";
    if let Some(answers) = in_shell("fish", &["--no-config"], ask) {
        assert_eq!(answers, ["--format", "--format", "restart"]);
    }
}

/// The functions of zsh's completion system are stood in for: what is called with which words is what counts.
#[test]
fn zsh_hands_two_words_on() {
    let ask = "typeset -A _comps; _comps=(cargo _former)
        compdef() { _comps[$2]=$1 }; _former() { print former $words }
        source ./completions; source ./completions
        _cargo-ckpt() { print ckpt $CURRENT $words }
        ask() { words=(\"$@\"); CURRENT=$#; $_comps[$1] }
        ask cargo-ckpt rest; ask cargo ckpt verify --for; ask cargo ckpt ''; ask cargo bui";
    if let Some(answers) = in_shell("zsh", &["-f"], ask) {
        assert_eq!(
            answers,
            [
                "ckpt 2 cargo-ckpt rest",
                "ckpt 3 cargo-ckpt verify --for",
                "ckpt 2 cargo-ckpt",
                "former cargo bui"
            ]
        );
    }
}

#[test]
fn there_is_a_man_page_for_every_command() {
    let here = tempfile::tempdir().unwrap();
    cargo_ckpt(here.path(), &["man", "--to", "man"]).success();
    let page = |name: &str| fs::read_to_string(here.path().join("man").join(name)).unwrap();
    assert!(page("cargo-ckpt.1").contains("cargo\\-ckpt\\-restart(1)"));
    assert!(page("cargo-ckpt-restart.1").contains("Continue a run from a checkpoint"));
    let of_run = page("cargo-ckpt-run.1");
    let version = env!("CARGO_PKG_VERSION");
    for part in [
        ".TH CARGO-CKPT-RUN 1",
        &format!("ckpt {version}"),
        "cargo\\-ckpt\\-run \\- Build the program",
        "\\fBcargo ckpt run [OPTIONS] [\\-\\- <ARGS>...]\\fR",
        ".SH EXAMPLES\n.nf\n  cargo ckpt run",
        ".SH \"EXIT STATUS\"",
        &format!(".SH VERSION\n{version}"),
    ] {
        assert!(of_run.contains(part), "{part}: {of_run}");
    }
    assert_eq!(page("cargo-ckpt-resume.1"), ".so man1/cargo-ckpt-restart.1\n");
    cargo_ckpt(here.path(), &["man", "run"]).success().stdout(of_run);
    cargo_ckpt(here.path(), &["man", "sail"])
        .code(2)
        .stderr(contains("no command `sail`"));
}

#[test]
fn a_message_is_explained_by_its_code() {
    let here = tempfile::tempdir().unwrap();
    let missing = cargo_ckpt(here.path(), &["list"]).code(76);
    let (_, said) = text(&missing);
    assert!(said.starts_with("error[E3087]: there is no store in"), "{said}");
    assert!(said.ends_with("more: cargo ckpt explain E3087\n"), "{said}");
    let explained = cargo_ckpt(here.path(), &["explain", "E3087"]).success();
    let parts = [
        "cause: nothing has been run",
        "place: ",
        "next:  `cargo ckpt run` makes one",
        "example:",
    ];
    parts
        .iter()
        .for_each(|part| assert!(text(&explained).0.contains(part), "{part}"));
    assert!(
        !text(&explained).0.contains("in the book"),
        "a terminal shows no page"
    );
    cargo_ckpt(here.path(), &["explain"])
        .success()
        .stdout(contains("a site inside"));
    cargo_ckpt(here.path(), &["explain", "E1012", "--format", "json"])
        .success()
        .stdout(contains("\"code\": \"E1012\""));
    cargo_ckpt(here.path(), &["explain", "E0308"])
        .code(2)
        .stderr(contains("error[E3099]"));
}

#[test]
fn help_shows_commands_messages_and_pages_of_the_book() {
    let here = tempfile::tempdir().unwrap();
    let (all, _) = text(&cargo_ckpt(here.path(), &["help"]).success());
    assert!(all.contains("cargo ckpt run --release"), "{all}");
    let (_, topics) = all.split_once("TOPIC").expect("a table of topics");
    let topics: Vec<&str> = topics
        .lines()
        .filter_map(|line| line.strip_prefix(' ')?.split_whitespace().next())
        .skip_while(|word| *word != "tutorial")
        // A command is called so as well, and its help is shown first.
        .filter(|word| *word != "serve")
        .collect();
    assert!(topics.len() > 20, "{all}");
    for topic in topics {
        let (page, _) = text(&cargo_ckpt(here.path(), &["help", topic]).success());
        // A long address is one word.
        let is_wide =
            |line: &&str| line.chars().count() > 80 && !line.starts_with("    ") && line.trim().contains(' ');
        assert_eq!(page.lines().find(is_wide), None, "{topic}");
        for of_a_browser in ["<!--", "<img", "](", "```"] {
            assert!(!page.contains(of_a_browser), "{topic}: {of_a_browser}");
        }
    }
    let with_a_list = text(&cargo_ckpt(here.path(), &["help", "batch"]).success()).0;
    assert!(with_a_list.contains("\n1. The program learns"), "{with_a_list}");
    assert!(with_a_list.contains("\n    #SBATCH "), "{with_a_list}");
    cargo_ckpt(here.path(), &["help", "run"])
        .success()
        .stdout(contains("--interval"));
    cargo_ckpt(here.path(), &["help", "E3087"])
        .success()
        .stdout(contains("cause: nothing has been run"));
    cargo_ckpt(here.path(), &["help", "slurm"])
        .code(2)
        .stderr(contains("error[E3204]").and(contains("batch")));
}

#[test]
fn colours_are_there_when_they_are_asked_for() {
    let here = tempfile::tempdir().unwrap();
    cargo_ckpt(here.path(), &["list"])
        .code(76)
        .stderr(contains("\u{1b}[").not());
    cargo_ckpt(here.path(), &["list", "--color", "always"])
        .code(76)
        .stderr(contains("\u{1b}["));
    cargo_ckpt(here.path(), &["--color=always", "--help"])
        .success()
        .stdout(contains("\u{1b}["));
    cargo_ckpt(here.path(), &["doctor", "--color", "always"]).stdout(contains("\u{1b}["));
}

#[test]
fn every_command_has_help_with_an_example_and_exit_codes() {
    let here = tempfile::tempdir().unwrap();
    let commands = [
        "run",
        "restart",
        "plan",
        "rewrite",
        "init",
        "list",
        "inspect",
        "verify",
        "diff",
        "prune",
        "tui",
        "serve",
        "report",
        "export",
        "seal",
        "pack",
        "unpack",
        "expand",
        "crashtest",
        "clean",
        "doctor",
        "explain",
        "help",
        "completions",
        "man",
    ];
    for command in commands {
        cargo_ckpt(here.path(), &[command, "--help"]).success().stdout(
            contains("Example:")
                .and(contains("Exit codes:"))
                .and(contains(format!("cargo ckpt {command}"))),
        );
    }
}

#[test]
fn what_builds_share_is_shown_removed_and_kept_while_one_is_under_way() {
    let here = tempfile::tempdir().unwrap();
    let clean = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
        let command = command
            .current_dir(here.path())
            .env("XDG_CACHE_HOME", here.path());
        noted(command.arg("clean").args(options).assert())
    };
    clean(&[]).success().stdout(contains("removed 0 B"));
    let built = here.path().join("ckpt/build/debug/deps");
    fs::create_dir_all(&built).unwrap();
    fs::write(built.join("a"), [0; 2048]).unwrap();
    clean(&["--dry-run"]).success().stdout(contains("2.0 KiB in"));
    let lock = fs::File::create(here.path().join("ckpt/build.lock")).unwrap();
    lock.lock_shared().unwrap();
    clean(&[]).code(78).stderr(contains("E3210"));
    drop(lock);
    let removed = clean(&["--format", "json"]).success();
    removed.stdout(contains("\"bytes\": 2048").and(contains("\"removed\": true")));
    assert!(!built.exists());
}

#[test]
fn cargo_may_put_its_own_word_in_front() {
    let here = tempfile::tempdir().unwrap();
    cargo_ckpt(here.path(), &["ckpt", "--version"])
        .success()
        .stdout(contains("cargo ckpt"));
}

#[test]
fn outside_of_a_package_run_says_where_to_go() {
    let here = tempfile::tempdir().unwrap();
    cargo_ckpt(here.path(), &["run"])
        .code(2)
        .stderr(contains("is not in a cargo package").and(contains("--manifest-path")));
    cargo_ckpt(here.path(), &["run", "--manifest-path", "x/Cargo.toml"])
        .code(2)
        .stderr(contains("x/Cargo.toml"));
}

#[test]
fn several_programs_are_listed() {
    let here = package("two", &["src/bin/one.rs", "src/bin/other.rs"]);
    cargo_ckpt(here.path(), &["run"])
        .code(2)
        .stderr(contains("several binaries").and(contains("--bin one | --bin other")));
    cargo_ckpt(here.path(), &["run", "--bin", "three"])
        .code(101)
        .stderr(contains("no binary `three`").and(contains("--bin one | --bin other")));
    cargo_ckpt(here.path(), &["run", "-p", "nothing"])
        .code(2)
        .stderr(contains("its packages: two"));
}

#[test]
fn a_package_with_examples_only_names_them() {
    let here = package("shown", &["src/lib.rs", "examples/demo.rs"]);
    fs::write(here.path().join("src/lib.rs"), "").unwrap();
    cargo_ckpt(here.path(), &["run"])
        .code(101)
        .stderr(contains("--example demo"));
}

#[test]
fn a_program_that_does_not_build_is_not_started() {
    let here = package("broken", &["src/main.rs"]);
    fs::write(here.path().join("src/main.rs"), "fn main() { nonsense }").unwrap();
    cargo_ckpt(here.path(), &["run", "--offline"])
        .code(101)
        .stderr(contains("does not build"));
}

#[test]
fn arguments_reach_the_program_and_its_exit_code_comes_back() {
    let here = package("plain", &["src/main.rs"]);
    cargo_ckpt(
        here.path(),
        &["run", "-q", "--offline", "--", "a b", "--every", "3"],
    )
    .success()
    .stdout("[\"a b\", \"--every\", \"3\"]\n");
    fs::write(
        here.path().join("src/main.rs"),
        "fn main() { std::process::exit(42) }",
    )
    .unwrap();
    cargo_ckpt(here.path(), &["run", "-q", "--offline"]).code(42);
    fs::write(
        here.path().join("src/main.rs"),
        "fn main() { std::process::abort() }",
    )
    .unwrap();
    cargo_ckpt(here.path(), &["run", "-q", "--offline"])
        .code(128 + 6)
        .stderr(contains("was killed by SIGABRT").and(contains("no checkpoint")));
}

#[test]
fn options_of_cargo_reach_cargo() {
    let here = package("passed", &["src/main.rs"]);
    let source =
        "fn main() { println!(\"{} {:?}\", cfg!(said), std::env::args().skip(1).collect::<Vec<_>>()); }";
    fs::write(here.path().join("src/main.rs"), source).unwrap();
    cargo_ckpt(here.path(), &["run", "--frozen"])
        .code(101)
        .stderr(contains("--frozen").or(contains("Cargo.lock")));
    let lock = "version = 4\n\n[[package]]\nname = \"passed\"\nversion = \"1.2.3\"\n";
    fs::write(here.path().join("Cargo.lock"), lock).unwrap();
    let rustc = std::process::Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(rustc.stdout).unwrap();
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let setting = "build.rustflags=[\"--cfg\", \"said\"]";
    let ran = cargo_ckpt(
        here.path(),
        &[
            "run",
            "--frozen",
            "--target",
            host,
            "--config",
            setting,
            "--keep-going",
            "--message-format",
            "json",
            "-v",
            "--",
            "a",
            "--",
            "--frozen",
        ],
    )
    .success();
    let (printed, said) = text(&ran);
    assert!(
        said.contains("Running `")
            && said.contains("--cfg said")
            && said.contains(&format!("--target {host}")),
        "{said}"
    );
    let (program, cargo): (Vec<&str>, Vec<&str>) = printed.lines().partition(|line| !line.starts_with('{'));
    assert_eq!(program, ["true [\"a\", \"--\", \"--frozen\"]"]);
    let messages: Vec<serde_json::Value> = cargo
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(messages.last().unwrap()["reason"], "build-finished");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| here.path().join("target"), Into::into);
    assert!(target.join(host).join("debug/passed").is_file());
    cargo_ckpt(here.path(), &["run", "--frozen", "-Z", "no-such-feature"])
        .code(101)
        .stderr(contains("-Z"));
    cargo_ckpt(here.path(), &["run", "-q", "-v"]).code(2);
}

#[test]
fn errors_of_rustc_are_in_the_form_that_was_asked_for() {
    let here = package("broken", &["src/main.rs"]);
    fs::write(here.path().join("src/main.rs"), "fn main() { nonsense }").unwrap();
    let of = |format: &str| {
        let options = ["run", "--offline", "--message-format", format];
        text(&cargo_ckpt(here.path(), &options).code(101))
    };
    assert!(of("short").1.contains("src/main.rs:1:13: error[E0425]"));
    let (printed, _) = of("json");
    assert!(printed.contains("\"reason\":\"compiler-message\""), "{printed}");
}

#[test]
fn commands_of_cargo_that_ckpt_has_not_are_refused_with_a_way() {
    let here = tempfile::tempdir().unwrap();
    for (line, way) in [
        (&["test", "--release"][..], "cargo ckpt crashtest"),
        (&["nextest", "run"], "cargo nextest run"),
        (&["bench"], "cargo ckpt report"),
        (&["build", "--release"], "cargo ckpt rewrite --to"),
        (&["clippy"], "cargo ckpt plan --check"),
        (&["add", "serde"], "cargo ckpt init"),
    ] {
        cargo_ckpt(here.path(), line)
            .code(2)
            .stderr(contains("error[E3113]").and(contains(way)));
    }
    cargo_ckpt(here.path(), &["lst"])
        .code(2)
        .stderr(contains("'list'"));
}

#[test]
fn a_misspelt_variable_is_told_of() {
    let here = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CKPT_")) {
        command.env_remove(name);
    }
    command.current_dir(here.path()).args(["list", "--dir", "none"]);
    noted(command.env("CKPT_DRI", "store").env("CKPT_QUIET", "1").assert())
        .code(76)
        .stderr(contains("ckpt: warning[W3042]: CKPT_DRI is set").count(1));
}

#[test]
fn the_program_is_told_what_was_asked() {
    let here = package("told", &["src/main.rs"]);
    let source = "fn main() { for name in [\"DIR\", \"EVERY\", \"KEEP\", \"RESTART\"] { println!(\"{:?}\", std::env::var(format!(\"CKPT_{name}\")).ok()); } }";
    fs::write(here.path().join("src/main.rs"), source).unwrap();
    cargo_ckpt(
        here.path(),
        &["run", "-q", "--offline", "--every", "3", "--keep", "all"],
    )
    .success()
    .stdout("Some(\"told.ckpt.d\")\nSome(\"3\")\nSome(\"all\")\nNone\n");
    fs::write(here.path().join("ckpt.toml"), "[session]\ndir = \"elsewhere\"\n").unwrap();
    cargo_ckpt(here.path(), &["run", "-q", "--offline"])
        .success()
        .stdout(contains("elsewhere"));
}

#[test]
fn a_death_without_progress_is_not_repeated_for_ever() {
    let here = package("dying", &["src/main.rs"]);
    fs::write(here.path().join("src/main.rs"), "fn main() { panic!() }").unwrap();
    cargo_ckpt(
        here.path(),
        &["run", "-q", "--offline", "--restarts", "9", "--backoff", "0s"],
    )
    .code(101)
    .stderr(
        contains("restart 1 of 9 from the start")
            .and(contains("not restarting"))
            .and(contains("restart 2").not()),
    );
}

#[test]
fn wrong_options_are_explained() {
    let here = tempfile::tempdir().unwrap();
    cargo_ckpt(here.path(), &["run", "--interval", "30"])
        .code(2)
        .stderr(contains("write `30s`"));
    cargo_ckpt(here.path(), &["run", "--every", "0"]).code(2);
    cargo_ckpt(here.path(), &["run", "--keep", "none"])
        .code(2)
        .stderr(contains("a number or `all`"));
    cargo_ckpt(here.path(), &["restart", "newest"])
        .code(2)
        .stderr(contains("a checkpoint's number, or `latest`"));
    cargo_ckpt(here.path(), &["crashtest", "--ignore", "("]).code(2);
    cargo_ckpt(here.path(), &["run", "deck.toml"])
        .code(2)
        .stderr(contains("-- deck.toml"));
}

/// What is said of a command line that is wrong.
fn told_of(arguments: &[&str]) -> String {
    let here = tempfile::tempdir().unwrap();
    let said = text(&cargo_ckpt(here.path(), arguments).code(2)).1;
    said.lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn arguments_behind_two_dashes_are_for_commands_that_start_a_program() {
    let note = "arguments for the program go behind two dashes";
    for starts in [&["run", "4"][..], &["restart", "1", "2"], &["crashtest", "4"]] {
        assert!(told_of(starts).contains(note), "{starts:?}");
    }
    for other in [
        &["diff", "2", "3", "4"][..],
        &["list", "latest"],
        &["explain", "E1213", "E2008"],
    ] {
        assert!(!told_of(other).contains(note), "{other:?}");
    }
}

#[test]
fn values_that_are_wrong_are_told_with_what_is_right() {
    for (arguments, said) in [
        (
            &["run", "--interval", "-5s"][..],
            "'-5s' is no value for '--interval': nothing there is less than 0",
        ),
        (&["run", "--restarts", "-1"], "'-1' is no value for '--restarts'"),
        (&["diff", "1", "2", "--ulp", "-3"], "'-3' is no value for '--ulp'"),
        (&["run", "--every", "x"], "write a whole number, 1 or more"),
        (&["run", "--every", "0"], "write a whole number, 1 or more"),
        (&["run", "-n", "0"], "write a whole number, 1 or more"),
        (&["prune", "--keep", "0"], "write a whole number, 1 or more"),
        (&["list", "--run", "zz"], "or by the first few of them"),
    ] {
        let told = told_of(arguments);
        assert!(
            told.contains(said) && !told.contains("'-- -"),
            "{arguments:?}: {told}"
        );
    }
}

#[test]
fn the_usage_of_a_wrong_command_line_is_that_of_the_help() {
    for (arguments, usage) in [
        (
            &["export", "--dir", "x", "1"][..],
            "Usage: cargo ckpt export [OPTIONS] --to <FILE",
        ),
        (
            &["prune", "--dir", "x", "--keep", "0"],
            "Usage: cargo ckpt prune [OPTIONS]",
        ),
        (
            &["prune", "--dir", "x", "--nope"],
            "Usage: cargo ckpt prune [OPTIONS]",
        ),
    ] {
        let told = told_of(arguments);
        assert!(!told.contains("Usage:") || told.contains(usage), "{told}");
    }
    let here = tempfile::tempdir().unwrap();
    let help = text(&cargo_ckpt(here.path(), &["help", "run"]).success()).0;
    let whole = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        whole.contains("{cmd} stands for the program with its arguments and {n} for their number"),
        "{help}"
    );
}

#[test]
fn a_run_is_compared_with_a_run() {
    let here = tempfile::tempdir().unwrap();
    fs::create_dir(here.path().join("a.ckpt.d")).unwrap();
    fs::write(here.path().join("out.csv"), "1,2").unwrap();
    for both in [["a.ckpt.d", "out.csv"], ["out.csv", "a.ckpt.d"]] {
        cargo_ckpt(here.path(), &["diff", both[0], both[1]])
            .code(2)
            .stderr(contains("error[E3121]: `out.csv` is no run"));
    }
}

#[test]
fn a_feature_that_ckpt_has_not_is_not_added() {
    let here = package("features", &["src/main.rs"]);
    let before = fs::read_to_string(here.path().join("Cargo.toml")).unwrap();
    cargo_ckpt(here.path(), &["init", "--ckpt-features", "serde,rnd"])
        .code(2)
        .stderr(contains("error[E3122]: ckpt has no feature `rnd`").and(contains("rand-0.8")));
    assert_eq!(
        fs::read_to_string(here.path().join("Cargo.toml")).unwrap(),
        before
    );
}

#[test]
fn what_cannot_be_started_leaves_no_store() {
    let here = tempfile::tempdir().unwrap();
    cargo_ckpt(here.path(), &["run", "--exe", "/etc"])
        .code(127)
        .stderr(contains("E3043"));
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
}

/// It would start at the beginning, with what a run has left of its files.
#[test]
fn an_executable_without_ckpt_is_not_started() {
    let here = tempfile::tempdir().unwrap();
    cargo_ckpt(here.path(), &["run", "--exe", "/bin/true"])
        .code(77)
        .stderr(contains("was built without ckpt"));
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
}

#[test]
fn a_missing_or_empty_store_is_named_and_left_alone() {
    let here = tempfile::tempdir().unwrap();
    for command in [
        &["list"][..],
        &["inspect", "1"],
        &["verify"],
        &["prune", "--keep", "1"],
        &["pack"],
        &["restart"],
        &["diff", "1", "2"],
    ] {
        cargo_ckpt(here.path(), command)
            .code(76)
            .stderr(contains("there is no store in"));
    }
    cargo_ckpt(here.path(), &["list", "--dir", "nowhere"])
        .code(76)
        .stderr(contains("`nowhere` does not exist"));
    fs::create_dir(here.path().join("a.ckpt.d")).unwrap();
    for command in [
        &["inspect", "1"][..],
        &["verify"],
        &["prune", "--keep", "1"],
        &["pack"],
        &["restart"],
    ] {
        cargo_ckpt(here.path(), command)
            .code(76)
            .stderr(contains("there is no checkpoint in `a.ckpt.d`"));
    }
    assert_eq!(
        fs::read_dir(here.path().join("a.ckpt.d")).unwrap().count(),
        0,
        "nothing was written"
    );
    fs::create_dir(here.path().join("b.ckpt.d")).unwrap();
    cargo_ckpt(here.path(), &["list"])
        .code(2)
        .stderr(contains("--dir a.ckpt.d | --dir b.ckpt.d"));
    fs::write(here.path().join("ckpt.toml"), "[session").unwrap();
    cargo_ckpt(here.path(), &["list"])
        .code(78)
        .stderr(contains("ckpt.toml is not valid"));
}

#[test]
fn expand_shows_what_an_annotated_function_becomes() {
    let here = package("annotated", &["src/main.rs"]);
    cargo_ckpt(here.path(), &["expand"])
        .code(1)
        .stderr(contains("#[ckpt::main]"));
    let source = "
        #[ckpt::main(calls(step))] fn main() { let mut n = 0; while n < 3 { step(&mut n); } }
        mod deep { impl super::Thing { #[ckpt::instrument] fn step(&mut self) { loop { ckpt::checkpoint!(); } } } }
        #[ckpt::instrument] fn step(n: &mut u32) { for _ in 0..2 { ckpt::checkpoint!(); *n += 1; } }
        fn plain() {}
    ";
    fs::write(here.path().join("src/main.rs"), source).unwrap();
    cargo_ckpt(here.path(), &["expand"])
        .success()
        .stdout(contains("src/main.rs:2").and(contains("deep::Thing::step")));
    cargo_ckpt(here.path(), &["expand", "main"])
        .success()
        .stdout(contains("::ckpt::__rt::run_main").and(contains("fn main() {")));
    cargo_ckpt(here.path(), &["expand", "Thing::step"])
        .success()
        .stdout(contains("impl super::Thing {"));
    cargo_ckpt(here.path(), &["expand", "step"])
        .code(2)
        .stderr(contains("several functions").and(contains("src/main.rs:4")));
    cargo_ckpt(here.path(), &["expand", "plain"])
        .code(1)
        .stderr(contains("is not annotated").and(contains("#[ckpt::instrument]")));
    cargo_ckpt(here.path(), &["expand", "nothing"])
        .code(1)
        .stderr(contains("annotated are: main, "));
}
