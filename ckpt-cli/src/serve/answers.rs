//! What is answered: the files of the page, and what they show, as data, drawings and fragments. What goes wrong is an answer too.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use ckpt::store::{CheckpointId, FrameInfo, Node, NodeKind, Restored, RunId};
use hyper::StatusCode;
use serde_json::{Value, json};

use super::found::{Found, stores_below};
use super::guard::Asked;
use super::server::Options;
use super::{plan, stop};
use crate::export;
use crate::failure::{Failure, Outcome, code, says};
use crate::output;
use crate::plot::raster::{Plane, Raster};
use crate::plot::{self, Picture};
use crate::render;
use crate::report::{self, Life};
use crate::stores::lines::{Line, Lines};
use crate::stores::{Which, checkpoint, runs};
use crate::values::differ::Pair;
use crate::values::elements::Elements;
use crate::values::histogram::Histogram;
use crate::values::{is_number, summary};

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    /// The type of its content.
    pub kind: &'static str,
    pub body: Vec<u8>,
    /// Whether it is the page of a plan.
    pub is_plan: bool,
}

impl Answer {
    fn of(kind: &'static str, body: impl Into<Vec<u8>>) -> Answer {
        Answer {
            status: StatusCode::OK,
            kind,
            body: body.into(),
            is_plan: false,
        }
    }

    fn json(value: &Value) -> Answer {
        Answer::of("application/json", value.to_string())
    }

    /// An answer without content.
    pub fn refused(status: StatusCode) -> Answer {
        let words = status.canonical_reason().unwrap_or_default();
        Answer {
            status,
            ..Answer::of("text/plain; charset=utf-8", format!("{words}\n"))
        }
    }

    fn failed(failure: &Failure) -> Answer {
        let status = match failure.exit_code() {
            code::USAGE => StatusCode::BAD_REQUEST,
            code::NO_CHECKPOINT => StatusCode::NOT_FOUND,
            code::NO => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Answer {
            status,
            ..Answer::json(&failure.as_data())
        }
    }
}

/// Stores are looked for again after so long.
const LOOKED: Duration = Duration::from_secs(3);
/// Checkpoints that stay open.
const OPEN: usize = 3;
/// Of long lists so much is answered.
const MOST_RUNS: usize = 200;
const MOST_LINES: usize = 1000;
const MOST_VALUES: usize = 5000;
const MOST_ELEMENTS: u64 = 200;
const MOST_DIFFERENCES: usize = 500;

/// What has been looked at.
pub struct Answers {
    options: Options,
    found: Option<(Instant, Vec<Found>)>,
    open: Vec<(Key, Restored)>,
}

/// Which file a checkpoint was read from, and when that was written.
type Key = (PathBuf, Option<SystemTime>, u64);

impl Answers {
    /// Nothing yet.
    pub fn new(options: Options) -> Answers {
        Answers {
            options,
            found: None,
            open: Vec::new(),
        }
    }

    /// Answers.
    pub fn answer(&mut self, asked: &Asked) -> Answer {
        let answer = match (asked.does, asked.path.as_str()) {
            (false, "") => Ok(Answer::of(
                "text/html; charset=utf-8",
                include_str!("page/index.html"),
            )),
            (false, "page.js") => Ok(Answer::of(
                "text/javascript; charset=utf-8",
                include_str!("page/page.js"),
            )),
            (false, "page.css") => Ok(Answer::of(
                "text/css; charset=utf-8",
                report::style() + include_str!("page/page.css"),
            )),
            (false, "api/jobs") => self.jobs(),
            (false, "api/job") => self.job(asked),
            (false, "api/checkpoint") => self.checkpoint(asked),
            (false, "api/value") => self.value(asked),
            (false, "api/picture") => self.picture(asked),
            (false, "api/differences") => self.differences(asked),
            (false, "plan") => self.plan(asked),
            (true, "api/stop") if self.options.allow_stop => self.stop(asked),
            (true, _) => return Answer::refused(StatusCode::METHOD_NOT_ALLOWED),
            (false, _) => return Answer::refused(StatusCode::NOT_FOUND),
        };
        answer.unwrap_or_else(|failure| Answer::failed(&failure))
    }

    fn found(&mut self) -> Outcome<&[Found]> {
        let is_old = |(when, _): &(Instant, Vec<Found>)| when.elapsed() > LOOKED;
        if self.found.as_ref().is_none_or(is_old) {
            self.found = Some((Instant::now(), stores_below(&self.options.root)?));
        }
        Ok(self.found.as_ref().map_or(&[], |(_, found)| found))
    }

    /// The store of this name: one of those that were found.
    fn store(&mut self, asked: &Asked) -> Outcome<PathBuf> {
        let name = word(asked, "store");
        let found = self.found()?.iter().find(|found| found.name == name);
        let found = found.map(|found| found.store.clone());
        found.ok_or_else(|| {
            let what = "does not exist";
            Failure::no_checkpoint(says!("E3085: the store `{}` {what}", word(asked, "store")))
                .help("it is not, or not any more, below the folder that is served")
        })
    }

    fn jobs(&mut self) -> Outcome<Answer> {
        let mut jobs = Vec::new();
        for Found { name, store } in self.found()?.to_vec() {
            match jobs_of(&name, &store) {
                Ok(more) => jobs.extend(more),
                Err(failure) => {
                    jobs.push(json!({ "store": name, "run": null, "failure": failure.as_data() }))
                }
            }
        }
        let folder = &self.options.root;
        Ok(Answer::json(&json!({
            "folder": folder, "allow_stop": self.options.allow_stop, "jobs": jobs,
        })))
    }

    fn job(&mut self, asked: &Asked) -> Outcome<Answer> {
        let store = self.store(asked)?;
        let run = run(asked)?;
        let lines = Lines::of_run(&store, run)?;
        let mut list = lines.list()?;
        let older = list.len().saturating_sub(MOST_LINES);
        list.drain(..older);
        let out_of_reach = lines.out_of_reach(&list)?;
        let of_line = |line: &Line| {
            let mut value = line.as_json(lines.several, &out_of_reach);
            value["size"] = json!(render::bytes(line.bytes()));
            value
        };
        let checkpoints: Vec<Value> = list.iter().map(of_line).collect();
        let record = runs::of(&store, run)?;
        let job = record.as_ref().and_then(|record| record.job.clone().ok());
        let mut value = json!({
            "checkpoints": checkpoints, "older": older, "not_here": lines.not_here(), "several": lines.several,
            "record": record.as_ref().map(runs::as_json),
        });
        if let Some(job) = job {
            let life = report::life(&store, job)?;
            let facts = report::facts(&life, lines.not_here().as_deref());
            value["facts"] = json!(facts);
            value["running"] = json!(is_running(&life));
            value["report"] = json!(report::body(&life));
            let all = life.processes.iter().flat_map(|one| &one.checkpoints);
            let bar = |one: &report::Checkpoint| json!([one.id, one.waited, one.bytes]);
            let bars: Vec<Value> = all.map(bar).collect();
            value["bars"] = json!(bars[bars.len().saturating_sub(MOST_LINES)..]);
        }
        Ok(Answer::json(&value))
    }

    fn stop(&mut self, asked: &Asked) -> Outcome<Answer> {
        let store = self.store(asked)?;
        let record = runs::of(&store, run(asked)?)?;
        let job = record.and_then(|record| record.job.ok());
        let job = job.ok_or_else(|| {
            Failure::no_checkpoint(says!("E3108: no job has noted anything in `{}`", store.display()))
        })?;
        // Who has started the server is told as well.
        stop::stop(&store, &job).inspect_err(Failure::render)?;
        output::note(&format!(
            "run {} is asked to checkpoint and stop",
            job.run.short()
        ));
        Ok(Answer::json(&json!({ "asked": job.pid })))
    }

    fn plan(&mut self, asked: &Asked) -> Outcome<Answer> {
        let job = match (word(asked, "store"), run(asked)?) {
            ("", _) | (_, None) => None,
            (_, Some(run)) => Some((self.store(asked)?, run)),
        };
        let job = job.as_ref().map(|(store, run)| (store.as_path(), *run));
        let page = match plan::page(job) {
            Ok(page) => page,
            // It is shown in the place of a page.
            Err(failure) => format!(
                "<!doctype html><meta charset=utf-8><title>No plan</title><p>{}",
                render::escaped(&failure.to_string())
            ),
        };
        Ok(Answer {
            is_plan: true,
            ..Answer::of("text/html; charset=utf-8", page)
        })
    }

    /// Opens the checkpoint that is asked for by this word, unless it is open.
    fn opened(&mut self, asked: &Asked, name: &str) -> Outcome<usize> {
        let store = self.store(asked)?;
        let lines = Lines::of_run(&store, run(asked)?)?;
        let id = CheckpointId(number(asked, name)?);
        let part = match word(asked, "rank") {
            "" => lines.parts_of(id).next().map_or_else(|| lines.part(0), Ok)?,
            _ => lines.part(u32::try_from(number(asked, "rank")?).unwrap_or(u32::MAX))?,
        };
        let path = ckpt::store::path_of(&part.folder, id, part.rank);
        let file = std::fs::symlink_metadata(&path)
            .ok()
            .filter(std::fs::Metadata::is_file);
        let file = file.ok_or_else(|| checkpoint::none(&store, &lines.ids(), Which::Id(id.0)))?;
        let key = (path, file.modified().ok(), file.len());
        if let Some(at) = self.open.iter().position(|(known, _)| *known == key) {
            let one = self.open.remove(at);
            self.open.push(one);
        } else {
            let checkpoint = lines.load(part, id)?;
            if self.open.len() >= OPEN {
                self.open.remove(0);
            }
            self.open.push((key, checkpoint));
        }
        Ok(self.open.len() - 1)
    }

    fn one(&mut self, asked: &Asked) -> Outcome<&Restored> {
        let at = self.opened(asked, "id")?;
        Ok(&self.open[at].1)
    }

    /// Two of one store; they may be the same.
    fn two(&mut self, asked: &Asked, names: [&str; 2]) -> Outcome<(&Restored, &Restored)> {
        let first = self.opened(asked, names[0])?;
        let key = self.open[first].0.clone();
        let second = self.opened(asked, names[1])?;
        let first = self
            .open
            .iter()
            .position(|(known, _)| *known == key)
            .unwrap_or(second);
        Ok((&self.open[first].1, &self.open[second].1))
    }

    fn checkpoint(&mut self, asked: &Asked) -> Outcome<Answer> {
        let store = self.store(asked)?;
        let lines = Lines::of_run(&store, run(asked)?)?;
        let ranks: Vec<u32> = lines.parts.iter().map(|part| part.rank).collect();
        let checkpoint = self.one(asked)?;
        let meta = checkpoint.meta();
        let values = export::all(checkpoint);
        let more = values.len().saturating_sub(MOST_VALUES);
        let listed = |one: &export::Named<'_>| {
            json!({
                "name": one.name, "kind": one.kind(), "path": one.node.path,
                "size": render::bytes(one.node.bytes()), "shape": one.elements.shape(),
                "drawn": drawn(one.node), "inner": one.is_inner,
            })
        };
        let listed: Vec<Value> = values.iter().take(MOST_VALUES).map(listed).collect();
        let frames: Vec<Value> = checkpoint.frames().iter().map(frame).collect();
        let needs: Vec<u64> = checkpoint.needs().iter().map(|id| id.0).collect();
        Ok(Answer::json(&json!({
            "id": checkpoint.id().0, "program": meta.program, "version": meta.version, "visit": meta.visit,
            "time": meta.time_text(), "reason": meta.reason, "host": meta.host, "needs": needs,
            "frames": frames, "values": listed, "more": more,
            "ranks": if lines.several { ranks } else { Vec::new() },
        })))
    }

    fn value(&mut self, asked: &Asked) -> Outcome<Answer> {
        let checkpoint = self.one(asked)?;
        let node = node(checkpoint, asked)?;
        let Some(elements) = Elements::of(node) else {
            return Err(no_value(asked));
        };
        let chosen = elements.chosen(checkpoint, None, MOST_ELEMENTS)?;
        let words = chosen.runs.iter().flat_map(|(_, words)| words);
        let mut words: Vec<String> = words.map(|word| chosen.sort.words(word)).collect();
        words.truncate(MOST_ELEMENTS as usize);
        // Of one number nothing is said in short.
        let in_short = match chosen.number {
            0 | 1 => None,
            _ => summary::summary(checkpoint, node)?,
        };
        Ok(Answer::json(&json!({
            "elements": words, "number": chosen.number, "shape": elements.shape(), "drawn": drawn(node),
            "summary": in_short.map(|summary| summary.words()),
        })))
    }

    fn picture(&mut self, asked: &Asked) -> Outcome<Answer> {
        let at = indices(asked)?;
        let beside = if word(asked, "beside").is_empty() {
            "id"
        } else {
            "beside"
        };
        let (checkpoint, other) = self.two(asked, ["id", beside])?;
        let node = node(checkpoint, asked)?;
        let NodeKind::Dataset { dtype, shape, .. } = &node.kind else {
            return Err(no_value(asked));
        };
        if drawn(node).is_empty() {
            return Err(no_value(asked));
        }
        let title = word(asked, "name");
        let of = |one: &Restored| format!("checkpoint {} (visit {})", one.id(), one.meta().visit);
        let subtitle = format!("{}, {}", dtype.name(), of(checkpoint));
        if word(asked, "view") == "histogram" {
            let histogram = Histogram::of(checkpoint, node)?.ok_or_else(|| no_value(asked))?;
            let subtitle = match histogram.not_finite {
                0 => subtitle,
                number => format!("{subtitle}, {number} not finite"),
            };
            return Ok(svg(plot::histogram_as_svg(title, &subtitle, &histogram)));
        }
        if !is_inside(&at, shape) {
            return Err(no_value(asked));
        }
        let plane = Plane::with(&at, shape);
        let others = other.tree().find(&node.path);
        let same_shape = |other: &&Node| matches!(&other.kind, NodeKind::Dataset { dtype, shape: of, .. } if of == shape && is_number(dtype));
        let title = format!("{title}{} {shape:?}", plane.words(shape));
        let picture = match (word(asked, "view"), others.filter(same_shape)) {
            ("difference", Some(others)) => Picture {
                title: format!("{title}: |a - b|"),
                subtitle: format!("a: {}, b: {}; grey: the same", of(checkpoint), of(other)),
                raster: plane.of_distances((checkpoint, node), (other, others))?,
                range: None,
                logarithmic: true,
            },
            ("difference", None) => return Err(no_value(asked)),
            (_, others) => {
                let raster = plane.of_numbers(checkpoint, node)?;
                let others = match others.filter(|_| other.id() != checkpoint.id()) {
                    Some(others) => Some(plane.of_numbers(other, others)?),
                    None => None,
                };
                Picture {
                    title,
                    subtitle,
                    range: others.and_then(|others| common(&raster, &others)),
                    raster,
                    logarithmic: false,
                }
            }
        };
        Ok(match picture.raster.rows {
            1 => svg(plot::as_svg(&picture)),
            _ => Answer::of("image/png", plot::as_png(&picture)),
        })
    }

    fn differences(&mut self, asked: &Asked) -> Outcome<Answer> {
        let (a, b) = self.two(asked, ["a", "b"])?;
        let pair = Pair {
            a,
            b,
            tolerance: None,
            shown: 3,
        };
        let mut list = pair.differences()?;
        let number = list.len();
        list.truncate(MOST_DIFFERENCES);
        let as_json = |one: &crate::values::differ::Difference| {
            let mut value = json!(one);
            value["path"] = json!(one.numbers.as_ref().map(|(path, _)| path));
            value
        };
        let list: Vec<Value> = list.iter().map(as_json).collect();
        Ok(Answer::json(&json!({ "number": number, "differences": list })))
    }
}

fn svg(text: String) -> Answer {
    Answer::of("image/svg+xml", text)
}

/// The runs of a store, the newest first; what has no record has none.
fn jobs_of(name: &str, store: &Path) -> Outcome<Vec<Value>> {
    let records = runs::records(store)?;
    let lines = Lines::of(store)?;
    let ids = lines.ids();
    let mut jobs = Vec::new();
    let home = crate::stores::home(store);
    for record in records.iter().rev().take(MOST_RUNS) {
        let own: Vec<CheckpointId> = ids
            .iter()
            .filter(|id| lines.run_of(**id) == Some(record.run))
            .map(|id| CheckpointId(*id))
            .collect();
        let mut value = json!({
            "store": name, "run": record.run, "short": record.run.short(), "checkpoints": own.len(),
            "size": render::bytes(lines.bytes(&own)),
        });
        match &record.job {
            Ok(job) => {
                let life = Life::of(job.clone(), &ckpt::session::events::read(&home, record.run));
                let last = life.processes.last();
                value["program"] = json!(runs::called(&job.program, &job.version, &job.command));
                value["command"] = json!(render::command_line(&job.command));
                value["running"] = json!(is_running(&life));
                value["state"] = json!(last.map(report::Process::ending));
                value["failures"] = json!(life.totals.failures);
            }
            Err(error) => value["error"] = json!(error),
        }
        jobs.push(value);
    }
    let of_none = |id: &&u64| {
        let run = lines.run_of(**id);
        records.iter().all(|record| Some(record.run) != run)
    };
    let others: Vec<CheckpointId> = ids.iter().filter(of_none).map(|id| CheckpointId(*id)).collect();
    if jobs.is_empty() || !others.is_empty() {
        jobs.push(json!({
            "store": name, "run": null, "checkpoints": others.len(), "size": render::bytes(lines.bytes(&others)),
        }));
    }
    Ok(jobs)
}

fn is_running(life: &Life) -> bool {
    life.processes.last().is_some_and(|one| one.running)
}

fn frame(frame: &FrameInfo) -> Value {
    json!({
        "function": frame.function, "file": frame.file, "line": frame.site_line, "callee": frame.callee,
        "thread": frame.thread,
    })
}

/// How a value can be drawn.
fn drawn(node: &Node) -> &'static str {
    match &node.kind {
        NodeKind::Dataset {
            dtype,
            shape,
            elements,
            ..
        } if is_number(dtype) && *elements > 1 => match shape.len() {
            0 | 1 => "curve",
            _ => "image",
        },
        _ => "",
    }
}

/// The ends of one scale for both.
fn common(a: &Raster, b: &Raster) -> Option<(f64, f64)> {
    let all = a.drawn().into_iter().chain(b.drawn());
    let (from, to) = all
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), value| {
            (from.min(value), to.max(value))
        });
    (from <= to).then_some((from, to))
}

/// What is asked for by this word; empty where nothing is said.
fn word<'a>(asked: &'a Asked, name: &str) -> &'a str {
    asked.query.get(name).map_or("", String::as_str)
}

fn number(asked: &Asked, name: &str) -> Outcome<u64> {
    index(word(asked, name))
}

fn index(digits: &str) -> Outcome<u64> {
    let wrong = |_| Failure::usage(says!("E3097: `{digits}` is not an index"));
    digits.parse().map_err(wrong)
}

fn run(asked: &Asked) -> Outcome<Option<RunId>> {
    match word(asked, "run") {
        "" => Ok(None),
        prefix => prefix.parse().map(Some).map_err(|_| {
            let store = word(asked, "store");
            Failure::no_checkpoint(says!("E3150: no run in `{}` begins with `{prefix}`", store))
        }),
    }
}

/// The indices of the outer dimensions: `2,0`.
fn indices(asked: &Asked) -> Outcome<Vec<u64>> {
    let all = word(asked, "at").split(',').filter(|text| !text.is_empty());
    all.map(index).collect()
}

fn is_inside(at: &[u64], shape: &[u64]) -> bool {
    at.len() <= shape.len() && at.iter().zip(shape).all(|(at, size)| at < size)
}

fn node<'c>(checkpoint: &'c Restored, asked: &Asked) -> Outcome<&'c Node> {
    checkpoint
        .tree()
        .find(word(asked, "path"))
        .ok_or_else(|| no_value(asked))
}

fn no_value(asked: &Asked) -> Failure {
    let name = word(asked, "name");
    Failure::usage(says!("E3103: `{name}` is no array of numbers"))
}
