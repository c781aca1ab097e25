//! Statements on what is outside of the variables: files, folders and links, open files, the environment, the working folder. How
//! each ends, and what is read, goes into the variables.

use super::{Writer, site};
use crate::scope::{Hold, Type};
use crate::tree::Statement;

/// Few names, so that they are met again.
const FILES: [&str; 8] = ["f0", "f1", "f2", "d0/f0", "d0/f1", "d1/f0", "l0", "d0/l1"];
const FOLDERS: [&str; 5] = ["d0", "d1", "d0/d1", "d1/d0", "d2"];
const TARGETS: [&str; 6] = ["f0", "d0", "d1", "f2", "l0", "../f1"];
const VARIABLES: [&str; 2] = ["G0", "G1"];
const RIGHTS: [&str; 5] = ["0o644", "0o600", "0o444", "0o755", "0o700"];

/// Of a hundred statements, so many are of this kind where a program has them at all.
pub(super) const SHARE: usize = 45;

impl Writer {
    /// What a program that has files begins with.
    pub(super) fn planted(&mut self) -> Vec<Statement> {
        let mut all = vec![Statement::Line(
            "println!(\"{}\", done(std::fs::create_dir_all(\"d0/d1\")));".into(),
        )];
        for name in ["f0", "d0/f1"] {
            if self.random.chance(60) {
                let text = self.text(0);
                all.push(Statement::Line(format!(
                    "println!(\"{{}}\", done(std::fs::write(\"{name}\", {text})));"
                )));
            }
        }
        all
    }

    /// A statement on files and the like, now and then with a site behind it.
    pub(super) fn outside(&mut self) -> Vec<Statement> {
        let mut all = match self.random.below(20) {
            0..=8 => vec![self.counted_operation()],
            9..=10 => vec![self.counted_look()],
            11..=12 => self.opened(),
            13..=17 => self.on_open_file(),
            18 => vec![self.environment()],
            _ => vec![self.threads()],
        };
        if self.random.chance(25) {
            all.push(site());
        }
        all
    }

    /// What it prints of files at the end of a function.
    pub(super) fn files_at_the_end(&mut self) -> Statement {
        let path = self.file();
        Statement::Line(format!(
            "println!(\"{{}} {{}}\", names(\".\"), contents({path}));"
        ))
    }

    /// A value of type `u64` goes into a variable, or is printed where none can be changed.
    pub(super) fn counted(&mut self, value: &str) -> Statement {
        let places = self.scope.writable(Type::Number);
        Statement::Line(match self.random.pick(&places) {
            Some(at) => {
                let place = self.scope.place(at);
                format!("{place} = mix({place}, {value});")
            }
            None => format!("println!(\"{{}}\", {value});"),
        })
    }

    fn counted_operation(&mut self) -> Statement {
        let operation = self.operation();
        self.counted(&operation)
    }

    fn counted_look(&mut self) -> Statement {
        let value = match self.random.below(5) {
            0 => format!("Path::new({}).exists() as u64", self.any_path()),
            1 => format!("look({})", self.any_path()),
            2 => match self.random.chance(50) {
                true => "names(\".\")".into(),
                false => format!("names({})", self.folder()),
            },
            3 => format!("variable(\"{}\")", self.variable_name()),
            _ => format!("contents({})", self.file()),
        };
        self.counted(&value)
    }

    /// Changes something on the disk; of type `u64`.
    fn operation(&mut self) -> String {
        match self.random.below(34) {
            0..=4 => format!("done(std::fs::write({}, {}))", self.file(), self.long_text()),
            5..=8 => format!("append({}, &{})", self.file(), self.text(1)),
            9..=11 => format!("cut({}, {})", self.file(), self.length()),
            12..=14 => format!("write_at({}, {}, &{})", self.file(), self.length(), self.text(1)),
            15..=17 => format!("done(std::fs::rename({}, {}))", self.file(), self.file()),
            18..=19 => format!("done(std::fs::remove_file({}))", self.file()),
            20 => format!("done(std::fs::hard_link({}, {}))", self.file(), self.file()),
            21..=22 => {
                let target = self.random.pick(&TARGETS).unwrap_or("f0");
                let link = if self.random.chance(70) {
                    "\"l0\""
                } else {
                    "\"d0/l1\""
                };
                format!("done(symlink(\"{target}\", {link}))")
            }
            23 => format!("done(std::fs::create_dir({}))", self.folder()),
            24 => format!("done(std::fs::create_dir_all({}))", self.folder()),
            25 => format!("done(std::fs::remove_dir({}))", self.folder()),
            26 => format!("done(std::fs::remove_dir_all({}))", self.folder()),
            27..=28 => format!("done(std::fs::rename({}, {}))", self.folder(), self.folder()),
            29 => format!("done(std::fs::rename({}, {}))", self.any_path(), self.any_path()),
            30..=31 => format!("done(std::fs::copy({}, {}))", self.file(), self.file()),
            _ => {
                let rights = self.random.pick(&RIGHTS).unwrap_or("0o644");
                format!(
                    "done(std::fs::set_permissions({}, Permissions::from_mode({rights})))",
                    self.any_path()
                )
            }
        }
    }

    fn file(&mut self) -> String {
        match self.random.chance(15) {
            true => format!("&format!(\"f{{}}\", {} % 3)", self.number(0)),
            false => format!("{:?}", self.random.pick(&FILES).unwrap_or("f0")),
        }
    }

    fn folder(&mut self) -> String {
        format!("{:?}", self.random.pick(&FOLDERS).unwrap_or("d0"))
    }

    fn any_path(&mut self) -> String {
        match self.random.chance(60) {
            true => self.file(),
            false => self.folder(),
        }
    }

    fn variable_name(&mut self) -> &'static str {
        self.random.pick(&VARIABLES).unwrap_or("G0")
    }

    fn length(&mut self) -> String {
        match self.random.chance(30) {
            true => "0".into(),
            false => format!("({} % 9)", self.number(0)),
        }
    }

    /// Text, now and then longer than what is kept in one piece.
    fn long_text(&mut self) -> String {
        match self.random.chance(10) {
            true => format!("{}.repeat(3000)", self.text(0)),
            false => self.text(1),
        }
    }

    /// A value that holds a file open.
    pub(super) fn open_file(&mut self, kind: Type) -> String {
        let path = self.file();
        let opened = match self.random.below(6) {
            0 | 1 => format!("File::create({path}).ok()"),
            2 => format!("File::options().append(true).create(true).open({path}).ok()"),
            3 if kind != Type::Buffer => format!("File::open({path}).ok()"),
            _ => format!("both({path})"),
        };
        match kind {
            Type::Buffer => format!("{opened}.map(BufWriter::new)"),
            Type::Reader => format!("File::open({path}).ok().map(BufReader::new)"),
            _ => opened,
        }
    }

    fn opened(&mut self) -> Vec<Statement> {
        let kind = self.random.pick(&Type::OPEN_FILES).unwrap_or(Type::File);
        let files = self.scope.readable(Type::File);
        let cloned = self.random.pick(&files).filter(|_| self.random.chance(30));
        let (kind, value) = match cloned {
            Some(at) => {
                let place = self.scope.place(at);
                let clone = format!("{place}.as_ref().and_then(|file| file.try_clone().ok())");
                (Type::File, clone)
            }
            None => (kind, self.open_file(kind)),
        };
        let mutable = self.random.chance(80);
        let name = self.fresh();
        self.scope.declare(&name, kind, Hold::Own, mutable);
        let keyword = if mutable { "let mut" } else { "let" };
        vec![Statement::Line(format!("{keyword} {name} = {value};"))]
    }

    fn on_open_file(&mut self) -> Vec<Statement> {
        let all: Vec<(Type, usize)> = Type::OPEN_FILES
            .iter()
            .flat_map(|kind| {
                self.scope
                    .writable(*kind)
                    .into_iter()
                    .map(|at| (*kind, at))
                    .collect::<Vec<_>>()
            })
            .collect();
        let shared = self.scope.readable(Type::File);
        if let Some(at) = self.random.pick(&shared)
            && self.random.chance(25)
        {
            return vec![self.through_a_reference(at)];
        }
        let Some((kind, at)) = self.random.pick(&all) else {
            return self.opened();
        };
        let text = self.text(1);
        let value = match (kind, self.random.below(10)) {
            (Type::Reader, 0..=3) => "read_line(file)".into(),
            (Type::Reader, 4..=6) => format!("read_up_to(file, {})", self.length()),
            (Type::Reader, _) => format!("done(file.seek(SeekFrom::Start({})))", self.length()),
            (_, 0..=3) => format!("done(file.write_all({text}.as_bytes()))"),
            (_, 4) => format!("done(writeln!(file, \"{{}}\", {text}))"),
            (_, 5) => format!("done(file.seek(SeekFrom::Start({})))", self.length()),
            (_, 6) => "done(file.flush())".into(),
            (_, 7) => "file.stream_position().unwrap_or(77)".into(),
            (Type::Buffer, _) => "done(file.seek(SeekFrom::End(0)))".into(),
            (_, 8) => format!("done(file.set_len({}))", self.length()),
            _ => format!("read_up_to(file, {})", self.length()),
        };
        let place = self.scope.place(at);
        vec![Statement::block(
            format!("if let Some(file) = {place}.as_mut() {{"),
            vec![self.counted(&value)],
            "}",
        )]
    }

    /// Reads or writes a file that is not declared `mut`.
    fn through_a_reference(&mut self, at: usize) -> Statement {
        let text = self.text(0);
        let value = match self.random.below(4) {
            0 => format!("done(file.write_all({text}.as_bytes()))"),
            1 => format!("done(file.set_len({}))", self.length()),
            2 => "file.metadata().map_or(8, |found| found.len())".into(),
            _ => format!("read_up_to(&mut file, {})", self.length()),
        };
        let place = self.scope.place(at);
        Statement::block(
            format!("if let Some(mut file) = {place}.as_ref() {{"),
            vec![self.counted(&value)],
            "}",
        )
    }

    fn environment(&mut self) -> Statement {
        let name = self.variable_name();
        match self.random.below(6) {
            0 | 1 => Statement::Line(format!(
                "unsafe {{ std::env::set_var(\"{name}\", {}) }};",
                self.text(1)
            )),
            2 => Statement::Line(format!("unsafe {{ std::env::remove_var(\"{name}\") }};")),
            3 => self.counted("go(\"..\")"),
            _ => {
                let folder = self.folder();
                self.counted(&format!("go({folder})"))
            }
        }
    }

    /// Threads that are joined at once, each with files of its own.
    fn threads(&mut self) -> Statement {
        let (one, two) = (self.number(1), self.number(1));
        let mut own = |name: &str| match self.random.below(4) {
            0 => format!("done(std::fs::write(\"{name}\", format!(\"{{q}}\")))"),
            1 => format!("cut(\"{name}\", q % 5)"),
            2 => format!("done(std::fs::rename(\"{name}\", \"{name}x\"))"),
            _ => format!("append(\"{name}\", &format!(\"{{q}};\"))"),
        };
        let (first, second) = (own("t0"), own("t1"));
        let value = match self.random.chance(50) {
            true => format!("{{ let q = {one}; std::thread::spawn(move || {first}).join().unwrap_or(9) }}"),
            false => format!(
                "{{ let (q, r) = ({one}, {two}); let all = std::thread::scope(|s| {{ let x = s.spawn(move || {first}); \
                 let y = s.spawn(move || {{ let q = r; {second} }}); (x.join().unwrap_or(8), y.join().unwrap_or(8)) }}); \
                 mix(all.0, all.1) }}"
            ),
        };
        self.counted(&value)
    }

    /// A function whose threads have sites, and a file of each.
    pub(super) fn team(&mut self, name: &str) -> (String, Vec<Statement>) {
        let mut body = Vec::new();
        let mut inner = Vec::new();
        for _ in 0..2 + self.random.below(3) {
            let line = match self.random.below(7) {
                0 | 1 => "*part = mix(*part, append(&name, &format!(\"{part} \")));",
                2 => "*part = mix(*part, done(std::fs::write(&name, format!(\"{part}\"))));",
                3 => "*part = mix(*part, cut(&name, *part % 7));",
                4 => "*part = mix(*part, done(std::fs::rename(&name, format!(\"{name}x\"))));",
                5 => {
                    "if let Some(file) = log.as_mut() { *part = mix(*part, done(writeln!(file, \"{part}\"))); }"
                }
                _ => "*part = mix(*part, contents(&name));",
            };
            inner.push(Statement::Line(line.into()));
        }
        let at = self.random.below(inner.len() + 1);
        inner.insert(at, site());
        let turns = 2 + self.random.below(2);
        body.push(Statement::Line("let name = format!(\"m{k}\");".into()));
        body.push(Statement::Line(
            "let mut log = File::create(format!(\"m{k}log\")).ok();".into(),
        ));
        body.push(Statement::block(format!("for step in 0..{turns} {{"), inner, "}"));
        let spawned = Statement::block("s.spawn(move || {", body, "});");
        let started = Statement::block(
            "for (k, part) in parts.iter_mut().enumerate() {",
            vec![spawned],
            "}",
        );
        let members = 2 + self.random.below(2);
        let all = vec![
            Statement::Line(format!(
                "let mut parts: Vec<u64> = (0..{members}).map(|q| mix(q, m)).collect();"
            )),
            Statement::block("std::thread::scope(|s| {", vec![started], "});"),
            Statement::Line("digest(&parts)".into()),
        ];
        (format!("fn {name}(m: u64) -> u64"), all)
    }
}
