//! Stores that are served, and the server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
use ckpt::snapshot::SnapshotBuilder;
use ckpt::store::{Keep, Meta, Mode, Store, folder_of_run};
use serde_json::{Value, json};

use crate::schema;

pub const RUN: &str = "0123456789abcdef0123456789abcdef";

static MAIN: FunctionPlan = FunctionPlan {
    function: "main",
    module: "heat",
    file: "src/main.rs",
    line: 10,
    layout: 1,
    source: 2,
    attribute: "ckpt::main",
    sites: &[SitePlan {
        line: 14,
        column: 9,
        kind: SiteKind::Checkpoint,
        variables: &[],
    }],
};

/// The rows and columns of the plate.
pub const ROWS: usize = 90;
const COLUMNS: usize = 120;

type Plate = Vec<[f64; COLUMNS]>;

/// Two warm places of a plate, which cools.
fn plate(time: f64) -> Plate {
    let bump = |x: f64, y: f64, at: (f64, f64), width: f64| {
        let distance = (x - at.0).powi(2) + (y - at.1).powi(2);
        width / (width + 40.0 * time) * (-distance / (width + 40.0 * time)).exp()
    };
    let value = |row: usize, column: usize| {
        let (x, y) = (column as f64, row as f64);
        20.0 + 80.0 * bump(x, y, (35.0, 30.0), 90.0) + 60.0 * bump(x, y, (85.0, 60.0), 160.0)
    };
    (0..ROWS)
        .map(|row| std::array::from_fn(|column| value(row, column)))
        .collect()
}

/// What a store is made of that is to look dangerous.
pub struct Names {
    pub program: &'static str,
    pub variable: &'static str,
    pub reason: &'static str,
}

pub const PLAIN: Names = Names {
    program: "heat",
    variable: "title",
    reason: "every 100",
};

pub const HOSTILE: Names = Names {
    program: "<img src=x onerror=document.title=\"taken\">",
    variable: "<script>document.title='taken'<\u{2215}script>",
    reason: "\"><svg onload=document.title='taken'>\u{202e}",
};

/// A store with four checkpoints of a job that was killed once, and has completed.
pub fn store(folder: &Path, names: &Names) {
    let began = seconds() - 5000.0;
    let mut store = Store::open(folder, Mode::ReadWrite).unwrap();
    store.set_keep(Keep::All);
    for step in 1..=4_u64 {
        let mut builder = SnapshotBuilder::new();
        let main = builder.frame(&MAIN, 1);
        let now = plate(step as f64);
        let mean = |time: f64| plate(time).iter().flatten().sum::<f64>() / (ROWS * COLUMNS) as f64;
        let means: Vec<f64> = (0..8 * step).map(|part| mean(part as f64 / 8.0)).collect();
        builder.value(main, "plate", 11, None, &now);
        builder.value(main, "means", 12, None, &means);
        builder.value(main, "step", 13, None, &(100 * step));
        builder.value(main, names.variable, 14, None, "a plate that cools");
        builder.value(main, "planes", 15, None, &vec![[[step as f64; 3]; 4]; 5]);
        let time = (began + 1000.0 * step as f64) * 1e9;
        let meta = Meta {
            program: names.program.into(),
            version: "0.1.0".into(),
            visit: 100 * step,
            time: time as i64,
            reason: names.reason.into(),
            host: "node7".into(),
            run: RUN.parse().ok(),
            notes: Vec::new(),
        };
        store.commit(&builder.finish().unwrap(), &meta).unwrap();
    }
    let event = |at: f64, what: Value| {
        let mut event = what;
        event["at"] = json!(began + at);
        event["run"] = json!(RUN);
        format!("{event}\n")
    };
    let start = |pid: u32, from: Option<u64>| json!({ "event": "start", "pid": pid, "host": "node7", "visits": 0, "restarted_from": from });
    let checkpoint = |id: u64, waited: f64| {
        json!({ "event": "checkpoint", "id": id, "visits": 100 * id, "waited": waited, "took": 2.5,
            "bytes": 80_000 + 9000 * id, "reason": names.reason })
    };
    let events = [
        event(0.0, start(1, None)),
        event(1000.0, checkpoint(1, 0.8)),
        event(2000.0, checkpoint(2, 1.1)),
        event(2600.0, start(2, Some(2))),
        event(3000.0, checkpoint(3, 0.9)),
        event(4000.0, checkpoint(4, 1.0)),
        event(
            4500.0,
            json!({ "event": "end", "state": "completed", "visits": 450, "reason": null }),
        ),
    ];
    let job = json!({
        "program": names.program, "version": "0.1.0", "pid": 2, "host": "node7", "state": "completed", "visits": 450,
        "restarted_from": 2, "last_checkpoint": 4, "command": [names.program, "deck.toml"], "reason": null,
    });
    write_job(folder, &job);
    fs::write(
        folder_of_run(folder, RUN.parse().unwrap()).join("events.log"),
        events.concat(),
    )
    .unwrap();
}

/// The record of the run, with these fields.
pub fn write_job(folder: &Path, fields: &Value) {
    let mut job = json!({
        "run": RUN, "order": 1, "started": "", "updated": "", "failed_checkpoints": 0, "restarted_from": null,
        "last_checkpoint": null, "reason": null,
    });
    for (name, value) in fields.as_object().unwrap() {
        job[name] = value.clone();
    }
    let kept = folder_of_run(folder, RUN.parse().unwrap());
    fs::create_dir_all(&kept).unwrap();
    fs::write(kept.join("job.json"), job.to_string()).unwrap();
}

fn seconds() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
}

/// A server, which ends with the test.
pub struct Server {
    child: Child,
    pub address: String,
    pub port: u16,
    pub token: String,
}

/// An answer: its code, its headers in small letters, and what is in it.
pub struct Answer {
    pub code: u16,
    pub headers: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

impl Server {
    /// Serves a folder.
    pub fn start(folder: &Path, options: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"))
            .args(["ckpt", "serve", "--format", "json"])
            .args(options)
            .current_dir(folder)
            .env_remove("CKPT_DIR")
            .env_remove("CKPT_BLESS")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut printed = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        while !printed.ends_with("}\n") {
            assert!(lines.read_line(&mut printed).unwrap() > 0, "{printed}");
        }
        let printed: Value = serde_json::from_str(&printed).unwrap();
        schema::check("serve", &printed);
        let address = printed["address"].as_str().unwrap().to_owned();
        let mut parts = address.split('/').skip(2);
        let (host, token) = (parts.next().unwrap(), parts.next().unwrap().to_owned());
        let port = host.strip_prefix("127.0.0.1:").unwrap().parse().unwrap();
        Server {
            child,
            address,
            port,
            token,
        }
    }

    /// Sends bytes, and gives what comes back.
    pub fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let _ = stream.write_all(bytes);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all); // a refusal may come before everything is sent
        let end = all
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap_or(all.len());
        let headers = String::from_utf8_lossy(&all[..end]).to_lowercase();
        let code = headers.split(' ').nth(1).and_then(|code| code.parse().ok());
        Answer {
            code: code.unwrap_or(0),
            headers,
            body: all.get(end + 4..).unwrap_or_default().to_vec(),
        }
    }

    pub fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
        let (port, token) = (self.port, &self.token);
        let host = if headers.contains("Host:") {
            String::new()
        } else {
            format!("Host: 127.0.0.1:{port}\r\n")
        };
        self.send(format!("{method} /{token}/{path} HTTP/1.1\r\n{host}{headers}\r\n").as_bytes())
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }

    /// Asks it to end as Ctrl-C does; gives its exit code, and what it has said.
    pub fn end(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-INT", &pid])
                .status()
                .unwrap()
                .success()
        );
        let mut said = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
