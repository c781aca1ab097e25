//! What is answered, and what is not.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};

use serde_json::json;

use crate::noted;
use crate::place::{HOSTILE, PLAIN, ROWS, RUN, Server, store, write_job};

fn of_run(path: &str) -> String {
    format!("{path}?store=heat.ckpt.d&run={RUN}")
}

fn path_of(server: &Server, id: u64, name: &str) -> String {
    let checkpoint = server
        .get(&format!("{}&id={id}", of_run("api/checkpoint")))
        .json();
    let values = checkpoint["values"].as_array().unwrap();
    let found = values.iter().find(|value| value["name"] == name).expect(name);
    found["path"].as_str().unwrap().to_owned()
}

#[test]
fn the_page_has_jobs_checkpoints_values_and_differences() {
    let here = tempfile::tempdir().unwrap();
    store(&here.path().join("heat.ckpt.d"), &PLAIN);
    fs::create_dir_all(here.path().join("deep/er/empty.ckpt.d")).unwrap();
    let server = Server::start(here.path(), &[]);
    let page = server.get("");
    assert_eq!(page.code, 200);
    assert!(
        page.text().contains("page.js") && !page.text().contains("http"),
        "{}",
        page.text()
    );
    for (file, kind) in [("page.js", "text/javascript"), ("page.css", "text/css")] {
        let answer = server.get(file);
        assert!(
            answer.code == 200 && answer.headers.contains(kind),
            "{}",
            answer.headers
        );
    }
    let jobs = server.get("api/jobs").json();
    assert_eq!(jobs["allow_stop"], false);
    let jobs = jobs["jobs"].as_array().unwrap();
    assert_eq!(
        (jobs.len(), &jobs[0]["store"]),
        (2, &json!("deep/er/empty.ckpt.d"))
    );
    assert_eq!(
        (&jobs[1]["state"], &jobs[1]["checkpoints"]),
        (&json!("completed"), &json!(4))
    );
    let job = server.get(&of_run("api/job")).json();
    assert_eq!(job["checkpoints"].as_array().unwrap().len(), 4);
    assert_eq!(job["checkpoints"][3]["restorable"], true);
    assert_eq!(job["facts"][0], json!(["state", "completed"]));
    let report = job["report"].as_str().unwrap();
    assert_eq!(
        report.matches("class=failure").count(),
        1,
        "the timeline has the failure"
    );
    assert_eq!(job["bars"].as_array().unwrap().len(), 4);
    let checkpoint = server.get(&format!("{}&id=4", of_run("api/checkpoint"))).json();
    assert_eq!(
        (&checkpoint["visit"], &checkpoint["frames"][0]["function"]),
        (&json!(400), &json!("main"))
    );
    let values = checkpoint["values"].as_array().unwrap();
    assert!(values.iter().all(|value| value["inner"] == false), "{values:?}");
    let value = |name: &str| {
        let path = path_of(&server, 4, name);
        let answer = server
            .get(&format!("{}&id=4&path={path}", of_run("api/value")))
            .json();
        (path, answer)
    };
    let (path, step) = value("main/step");
    assert_eq!((&step["elements"], &step["drawn"]), (&json!(["400"]), &json!("")));
    let (_, title) = value("main/title");
    assert_eq!(title["elements"][0], "a plate that cools");
    let picture =
        |path: &str, more: &str| server.get(&format!("{}&id=4&path={path}{more}", of_run("api/picture")));
    assert_eq!(picture(&path, "").code, 400, "a number is no picture");
    let (path, plate) = value("main/plate");
    assert_eq!(
        (&plate["shape"], &plate["drawn"]),
        (&json!([ROWS, 120]), &json!("image"))
    );
    assert!(plate["summary"].as_str().unwrap().contains("mean"), "{plate}");
    assert_eq!(plate["elements"].as_array().unwrap().len(), 200);
    for more in ["", "&beside=1", "&beside=1&view=difference"] {
        let answer = picture(&path, more);
        assert!(answer.body.starts_with(b"\x89PNG"), "{more}: {}", answer.text());
    }
    assert_ne!(
        picture(&path, "").body,
        picture(&path, "&beside=1").body,
        "the scale is that of both"
    );
    let histogram = picture(&path, "&view=histogram&name=plate").text();
    assert!(
        histogram.starts_with("<svg") && histogram.contains("plate"),
        "{histogram}"
    );
    let (path, _) = value("main/means");
    assert!(picture(&path, "").text().starts_with("<svg"));
    assert_eq!(
        picture(&path, "&beside=1&view=difference").code,
        400,
        "they have not one shape"
    );
    let (path, _) = value("main/planes");
    assert_eq!(picture(&path, "&at=4").code, 200);
    for outside in ["&at=5", "&at=x", "&at=1,1,1,1", "&at=18446744073709551615"] {
        assert_eq!(picture(&path, outside).code, 400, "{outside}");
    }
    let two = |a: u64, b: u64| {
        server
            .get(&format!("{}&a={a}&b={b}", of_run("api/differences")))
            .json()
    };
    assert_eq!(two(1, 1)["number"], 0);
    let differences = two(1, 4);
    assert_eq!(differences["number"], 4);
    assert_eq!(differences["differences"][0]["place"], "main/plate");
    assert_eq!(differences["differences"][0]["elements"][1], ROWS * 120);
    let missing = server.get(&format!("{}&id=9", of_run("api/checkpoint")));
    assert!(
        missing.code == 404 && missing.json()["code"] == "E3090",
        "{}",
        missing.text()
    );
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn every_answer_says_that_nothing_comes_from_elsewhere() {
    let here = tempfile::tempdir().unwrap();
    store(&here.path().join("heat.ckpt.d"), &PLAIN);
    let server = Server::start(here.path(), &[]);
    let answers = [
        server.get(""),
        server.get("api/jobs"),
        server.get("nothing"),
        server.get("plan"),
        server.send(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
    ];
    for answer in answers {
        for header in [
            "content-security-policy: default-src 'none';",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
            "connection: close",
        ] {
            assert!(answer.headers.contains(header), "{header}: {}", answer.headers);
        }
        assert!(!answer.headers.contains("access-control"), "{}", answer.headers);
    }
    assert!(server.get("").headers.contains("frame-ancestors 'none'"));
    assert!(!server.get("").headers.contains("unsafe"));
}

#[test]
fn the_token_the_host_and_the_method_are_looked_at() {
    let here = tempfile::tempdir().unwrap();
    store(&here.path().join("heat.ckpt.d"), &PLAIN);
    let server = Server::start(here.path(), &["--allow-stop"]);
    let (port, token) = (server.port, server.token.clone());
    assert_eq!(token.len(), 32);
    let host = format!("Host: localhost:{port}\r\n");
    for path in [
        "",
        "api/jobs",
        &format!("{}/api/jobs", "0".repeat(32)),
        &token,
        &token[..31],
    ] {
        let answer = server.send(format!("GET /{path} HTTP/1.1\r\n{host}\r\n").as_bytes());
        assert_eq!(answer.code, 403, "{path}");
        assert!(!answer.text().contains("heat"), "{}", answer.text());
    }
    for other in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1",
        "169.254.169.254",
        "127.0.0.1:1",
    ] {
        let answer = server.ask("GET", "api/jobs", &format!("Host: {other}\r\n"));
        assert_eq!(answer.code, 421, "{other}");
    }
    assert_eq!(server.ask("GET", "api/jobs", &host).code, 200);
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
        assert_eq!(server.ask(method, "api/jobs", "").code, 405, "{method}");
    }
    assert_eq!(
        server
            .ask(
                "POST",
                "api/jobs",
                &format!("Origin: http://127.0.0.1:{port}\r\n")
            )
            .code,
        405
    );
    assert_eq!(
        server.ask("POST", &of_run("api/stop"), "").code,
        403,
        "from no page of ours"
    );
    assert_eq!(
        server
            .ask("POST", &of_run("api/stop"), "Origin: http://evil.example\r\n")
            .code,
        403
    );
    // Whoever asks too much is not listened to.
    let long = format!("X-Long: {}\r\n", "x".repeat(100_000));
    assert_ne!(server.ask("GET", "api/jobs", &long).code, 200);
    let many: String = (0..200).map(|number| format!("X-{number}: 1\r\n")).collect();
    assert_ne!(server.ask("GET", "api/jobs", &many).code, 200);
    assert_ne!(server.send(&[0xff; 4096]).code, 200);
    assert_eq!(server.ask("GET", "api/jobs", "Content-Length: 5\r\n").code, 413);
    // Many that say nothing do not end it.
    let silent: Vec<TcpStream> = (0..25)
        .map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap())
        .collect();
    silent.iter().for_each(|mut one| one.write_all(b"GET /").unwrap());
    assert_eq!(server.get("api/jobs").code, 200);
    drop(silent);
    // Nobody else reaches it.
    let listening = fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{port:04X}");
    let own = listening
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1));
    let own: Vec<&str> = own.filter(|local| local.ends_with(&port)).collect();
    assert!(
        !own.is_empty() && own.iter().all(|local| local.starts_with("0100007F")),
        "{own:?}"
    );
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    store(&outside.path().join("secret.ckpt.d"), &PLAIN);
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("heat.ckpt.d");
    store(&folder, &PLAIN);
    symlink(outside.path(), here.path().join("link")).unwrap();
    symlink(
        outside.path().join("secret.ckpt.d"),
        here.path().join("other.ckpt.d"),
    )
    .unwrap();
    symlink(
        outside.path().join("secret.ckpt.d/000001.r0.h5"),
        folder.join("000009.r0.h5"),
    )
    .unwrap();
    let server = Server::start(here.path(), &[]);
    let jobs = server.get("api/jobs").json();
    let jobs = jobs["jobs"].as_array().unwrap();
    assert!(jobs.iter().all(|job| job["store"] == "heat.ckpt.d"), "{jobs:?}");
    let secret = outside.path().join("secret.ckpt.d");
    for name in [
        "other.ckpt.d",
        "link/secret.ckpt.d",
        "..",
        "../secret.ckpt.d",
        "heat.ckpt.d/../../etc",
        "%2e%2e%2fsecret.ckpt.d",
        "heat.ckpt.d%00",
        secret.to_str().unwrap(),
    ] {
        for path in ["api/job", "api/checkpoint", "api/picture", "api/differences"] {
            let answer = server.get(&format!("{path}?store={name}&id=1&a=1&b=1"));
            assert_eq!(answer.code, 404, "{path} {name}: {}", answer.text());
        }
    }
    let linked = server.get(&format!("{}&id=9", of_run("api/checkpoint")));
    assert_eq!(linked.code, 404, "{}", linked.text());
    for path in [
        "../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "page.js/../../../etc/passwd",
        "api",
        "src/main.rs",
    ] {
        assert_eq!(server.get(path).code, 404, "{path}");
    }
    for path in ["/frames/0/../../..", "../../..", "/etc/passwd", ""] {
        let answer = server.get(&format!("{}&id=1&path={path}", of_run("api/picture")));
        assert_eq!(answer.code, 400, "{path}: {}", answer.text());
    }
}

#[test]
fn texts_of_stores_stay_texts() {
    let here = tempfile::tempdir().unwrap();
    store(&here.path().join("heat.ckpt.d"), &HOSTILE);
    let server = Server::start(here.path(), &[]);
    let job = server.get(&of_run("api/job"));
    assert!(
        job.headers.contains("content-type: application/json"),
        "{}",
        job.headers
    );
    let report = job.json()["report"].as_str().unwrap().to_owned();
    assert!(
        report.contains("&lt;img src=x") && !report.contains("<img") && !report.contains("<script"),
        "{report}"
    );
    let name = "%3Cimg%20src%3Dx%20onerror%3D1%3E";
    let path = path_of(&server, 1, "main/means");
    let picture = server
        .get(&format!("{}&id=1&path={path}&name={name}", of_run("api/picture")))
        .text();
    assert!(
        picture.contains("&lt;img") && !picture.contains("<img"),
        "{picture}"
    );
    // The scripts of the page put texts in as texts.
    let script = server.get("page.js").text();
    for way in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
    ] {
        assert!(!script.contains(way), "{way}");
    }
}

#[test]
fn damaged_stores_are_named() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("heat.ckpt.d");
    store(&folder, &PLAIN);
    fs::write(folder.join("000003.r0.h5"), "no").unwrap();
    fs::create_dir(here.path().join("odd.ckpt.d")).unwrap();
    fs::write(here.path().join("odd.ckpt.d/runs"), "no folder").unwrap();
    let server = Server::start(here.path(), &[]);
    assert_eq!(server.get("api/jobs").code, 200);
    let job = server.get("api/job?store=heat.ckpt.d").json();
    assert!(job["checkpoints"][2]["error"].is_string(), "{job}");
    let opened = server.get("api/checkpoint?store=heat.ckpt.d&id=3");
    assert!(
        opened.code == 500 && opened.json()["error"].is_string(),
        "{}",
        opened.text()
    );
    write_job(&folder, &json!({}));
    assert_eq!(server.get("api/jobs").code, 200);
    fs::remove_dir_all(&folder).unwrap();
    let gone = server.get(&of_run("api/checkpoint"));
    assert!(
        gone.code >= 400 && server.get("api/jobs").code == 200,
        "{}",
        gone.text()
    );
}

/// A process that has a file of a store open.
fn at_work(store: &Path, file: &str) -> Child {
    let line = format!("exec 9>>'{}'; exec sleep 300", store.join(file).display());
    Command::new("bash").args(["-c", &line]).spawn().unwrap()
}

#[test]
fn a_job_is_stopped_only_where_that_is_allowed_and_only_if_it_is_the_stores() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("heat.ckpt.d");
    store(&folder, &PLAIN);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let runs = |pid: u32| {
        write_job(
            &folder,
            &json!({ "program": "heat", "version": "0.1.0", "pid": pid, "host": host.trim(), "state": "running",
                "visits": 3, "command": ["heat"] }),
        );
    };
    let stop = |server: &Server| {
        let from = format!(
            "Origin: http://127.0.0.1:{}\r\nContent-Length: 0\r\n",
            server.port
        );
        server.ask("POST", &of_run("api/stop"), &from)
    };
    let mut job = at_work(&folder, "lock");
    let mut bystander = at_work(here.path(), "elsewhere");
    let reading = Server::start(here.path(), &[]);
    runs(job.id());
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(stop(&reading).code, 405);
    let server = Server::start(here.path(), &["--allow-stop"]);
    assert_eq!(server.get("api/jobs").json()["allow_stop"], true);
    assert_eq!(server.ask("GET", &of_run("api/stop"), "").code, 404);
    for pid in [bystander.id(), 1, 0] {
        runs(pid);
        let answer = stop(&server);
        assert!(
            answer.code == 409 && answer.json()["code"] == "E3231",
            "{}",
            answer.text()
        );
    }
    assert_eq!(
        bystander.try_wait().unwrap(),
        None,
        "the store cannot have another process killed"
    );
    assert_eq!(job.try_wait().unwrap(), None);
    runs(job.id());
    assert_eq!(stop(&server).code, 200);
    assert_eq!(job.wait().unwrap().signal(), Some(15));
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    let (code, said) = server.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("run 01234567 is asked to checkpoint and stop"),
        "{said}"
    );
    noted::compare(said.as_bytes());
}

#[test]
fn what_cannot_be_served_is_said() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(here.path(), &[]);
    let port = server.port.to_string();
    let serve = |arguments: &[&str]| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
        command.arg("serve").args(arguments).current_dir(here.path());
        noted::noted(command.timeout(std::time::Duration::from_secs(60)).assert())
    };
    serve(&["--port", &port])
        .code(78)
        .stderr(predicates::str::contains("E3230"));
    serve(&["nowhere"])
        .code(78)
        .stderr(predicates::str::contains("E3032"));
}
