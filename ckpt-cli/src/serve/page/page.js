"use strict";
// What is shown stands in the address behind "#": store, run, tab, id, path, and b for a second checkpoint. Texts of stores are put
// into the page as texts; the only HTML that is taken is the server's own, which has escaped them.

const PERIOD = 2000;
const TABS = [["job", "Job"], ["values", "Checkpoints"], ["beside", "Side by side"], ["plan", "Plan"]];
const byId = name => document.getElementById(name);

// ---- What is chosen.

const chosen = () => new URLSearchParams(location.hash.slice(1));
function choose(changes) {
  const all = chosen();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") all.delete(name);
    else all.set(name, value);
  }
  location.hash = all.toString();
}
const ofJob = () => {
  const all = chosen();
  return { store: all.get("store") ?? "", run: all.get("run") ?? "" };
};

// ---- Asking.

// Spaces as %20: "+" is a plus.
const asked = (path, words) =>
  path + "?" + Object.entries(words).filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .map(([name, value]) => name + "=" + encodeURIComponent(value)).join("&");

async function ask(path, words = {}, method = "GET") {
  const response = await fetch(asked(path, words), { method, cache: "no-store" });
  if (response.headers.get("content-type") !== "application/json") {
    throw new Error(`${response.status} ${response.statusText}`);
  }
  const value = await response.json();
  if (!response.ok) throw new Error([value.error, value.help].filter(Boolean).join("; "));
  return value;
}
function wrong(error) {
  byId("wrong").textContent = error ? shown(error.message ?? error) : "";
}

// ---- Making elements.

// What would turn the direction of a text, or is not seen at all, is seen.
const shown = text => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");

function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter(one => one !== null).map(one => one instanceof Node ? one : shown(one)));
  return element;
}
const name = text => el("bdi", {}, text);
const number6 = id => String(id).padStart(6, "0");
const plural = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;
function fragment(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return el("div", { class: "report" }, ...[...parsed.body.childNodes].map(node => document.adoptNode(node)));
}

// ---- Jobs.

let jobs = { jobs: [], folder: "", allow_stop: false };

function drawJobs() {
  byId("folder").replaceChildren(name(jobs.folder));
  const { store, run } = ofJob();
  const list = [];
  let last = null;
  for (const job of jobs.jobs) {
    if (job.store !== last) list.push(el("h2", {}, name(job.store)));
    last = job.store;
    const state = job.running ? "runs" : job.failures > 0 && job.state !== "completed" ? "failed" : "";
    const here = job.store === store && (job.run ?? "") === run;
    list.push(el("button", {
      "aria-current": here ? "true" : null,
      onclick: () => choose({ store: job.store, run: job.run, id: null, path: null, b: null }),
    },
      el("span", { class: "dot " + state }), name(job.program ?? (job.run ? "run" : "checkpoints of no run")), " ",
      el("span", { class: "dim small" }, job.short ?? ""), el("br"),
      el("span", { class: "dim small" },
        job.failure ? job.failure.error : [job.error ?? job.state, plural(job.checkpoints, "checkpoint"), job.size].filter(Boolean).join(", ")),
    ));
  }
  if (list.length === 0) list.push(el("p", { class: "dim" }, "There is no store below this folder yet."));
  byId("jobs").replaceChildren(...list);
}

function drawTabs() {
  const now = chosen().get("tab") ?? "job";
  byId("tabs").replaceChildren(...TABS.map(([tab, title]) =>
    el("button", { role: "tab", "aria-selected": String(tab === now), onclick: () => choose({ tab }) }, title)));
}

// ---- The views. Each is drawn anew when what is chosen changes, or when a running job has come further.

let drawn = "";
// Of an answer that comes after something else was chosen nothing is drawn.
function put(place, key, ...children) {
  if (key === drawn || place !== location.hash) return;
  drawn = key;
  byId("view").replaceChildren(...children.flat().filter(one => one !== null));
}

async function viewJob() {
  const place = location.hash;
  const job = await ask("api/job", ofJob());
  const facts = (job.facts ?? []).flatMap(([title, text]) => [el("dt", {}, title), el("dd", {}, text)]);
  const stop = jobs.allow_stop && job.running
    ? el("button", { onclick: event => stopJob(event.target) }, "Checkpoint and stop") : null;
  put(place, JSON.stringify(job),
    facts.length ? el("dl", { id: "facts" }, facts) : el("p", { class: "dim" }, "No job has noted anything here."),
    stop,
    job.not_here ? el("p", { class: "dim" }, job.not_here) : null,
    el("div", { class: "pictures" },
      bars("How long the program waited for each checkpoint", job.bars, bar => bar[1], seconds),
      bars("How large the state was", job.bars, bar => bar[2], bytes)),
    job.report ? fragment(job.report) : null,
    el("h2", {}, "In the store"), tableOf(job));
}

function tableOf(job) {
  if (job.checkpoints.length === 0) return el("p", { class: "dim" }, "There is no checkpoint.");
  const row = line => el("tr", {},
    el("td", { class: "n" }, el("button", { onclick: () => choose({ tab: "values", id: line.id, path: null }) }, number6(line.id))),
    el("td", {}, line.time ?? line.error ?? ""), el("td", { class: "n" }, line.visit ?? ""), el("td", {}, name(line.reason ?? "")),
    el("td", { class: "n" }, line.size), el("td", {}, line.restorable ? "yes" : "no"));
  const heads = ["Number", "Taken (UTC)", "Visit", "Reason", "Size", "Restorable"];
  return el("table", { id: "lines" }, el("tr", {}, heads.map(head => el("th", {}, head))), [...job.checkpoints].reverse().map(row),
    job.older ? el("tr", {}, el("td", { colspan: 6, class: "dim" }, `${job.older} older ones are left out here.`)) : null);
}

const seconds = value => value < 1e-3 ? `${(value * 1e6).toFixed(0)} µs` : value < 1 ? `${(value * 1e3).toFixed(1)} ms` : `${value.toFixed(1)} s`;
const bytes = value => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < 4) { value /= 1024; unit++; }
  return `${unit ? value.toFixed(1) : value} ${units[unit]}`;
};

// A bar for each checkpoint, the newest at the right.
function bars(title, list, of, words) {
  if (!list || list.length === 0) return null;
  const values = list.slice(-200);
  const largest = Math.max(...values.map(of), Number.MIN_VALUE);
  const SVG = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${values.length * 10} 100`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "bars-of");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", title);
  values.forEach((value, index) => {
    const bar = document.createElementNS(SVG, "rect");
    const height = Math.max(1, 100 * of(value) / largest);
    const places = { x: index * 10 + 1, y: 100 - height, width: 8, height, class: "bar-of" };
    for (const [key, place] of Object.entries(places)) bar.setAttribute(key, place);
    const words_of = document.createElementNS(SVG, "title");
    words_of.textContent = `checkpoint ${number6(value[0])}: ${words(of(value))}`;
    bar.append(words_of);
    svg.append(bar);
  });
  return el("figure", { class: "bars" }, el("figcaption", {}, `${title}, up to ${words(largest)}`), svg);
}

async function stopJob(button) {
  if (!confirm("Ask the job to take a checkpoint and stop?")) return;
  button.disabled = true;
  try { await ask("api/stop", ofJob(), "POST"); } catch (error) { wrong(error); }
}

// The checkpoints of the store, for a choice; the newest where none is chosen.
async function lines() {
  const job = await ask("api/job", ofJob());
  return job.checkpoints.filter(line => !line.error);
}

const choiceOf = (list, now, change) => el("select", { onchange: event => change(event.target.value) },
  list.map(line => el("option", { value: line.id, selected: String(line.id) === String(now) }, `${number6(line.id)}, visit ${line.visit}`)));

function listOf(values, path) {
  return el("div", { class: "list", role: "listbox" }, values.map(value => el("button", {
    "aria-selected": String(value.path === path), role: "option", onclick: () => choose({ path: value.path, at: null }),
  }, name(value.name), el("span", { class: "kind" }, value.kind))));
}

// Which plane of an array of more than two dimensions.
function planes(value) {
  const outer = value.shape.length - 2;
  if (outer < 1) return null;
  const at = (chosen().get("at") ?? "").split(",");
  return el("label", {}, "plane ", Array.from({ length: outer }, (_, index) => el("input", {
    type: "number", min: 0, max: value.shape[index] - 1, value: at[index] || 0,
    onchange: event => {
      const all = Array.from({ length: outer }, (_, other) => at[other] || "0");
      all[index] = event.target.value;
      choose({ at: all.join(",") });
    },
  })));
}

const picture = (words, caption) => el("figure", {},
  el("img", { src: asked("api/picture", words), alt: caption }), el("figcaption", {}, caption));

// The value that is shown first: one that the user has named, with a picture if there is such a one.
const first = values => values.find(value => value.drawn && !value.inner) ?? values.find(value => !value.inner) ?? values[0];

async function viewValues() {
  const place = location.hash;
  const all = await lines();
  if (all.length === 0) return put(place, "none", el("p", { class: "dim" }, "There is no checkpoint."));
  const id = chosen().get("id") ?? String(all[all.length - 1].id);
  const rank = chosen().get("rank") ?? "";
  const key = JSON.stringify(["values", chosen().toString(), id, all.map(line => line.id)]);
  if (key === drawn) return;
  const words = { ...ofJob(), id, rank };
  const checkpoint = await ask("api/checkpoint", words);
  const path = chosen().get("path") ?? first(checkpoint.values)?.path;
  const value = checkpoint.values.find(one => one.path === path);
  const frames = checkpoint.frames.map(frame => el("li", {}, el("code", {}, frame.function), " ",
    el("span", { class: "dim" }, `${frame.callee ? `in the call of ${frame.callee}` : "at its checkpoint"}, ${frame.file}:${frame.line}`)));
  put(place, key,
    el("div", { class: "choices" }, el("label", {}, "checkpoint ", choiceOf(all, id, id => choose({ id }))),
      checkpoint.ranks.length > 1 ? el("label", {}, "rank ", el("select", { onchange: event => choose({ rank: event.target.value }) },
        checkpoint.ranks.map(one => el("option", { value: one, selected: String(one) === rank }, one)))) : null,
      el("span", { class: "dim" }, `taken ${checkpoint.time} on `, name(checkpoint.host), ` at site visit ${checkpoint.visit} (`, name(checkpoint.reason), ")")),
    el("details", {}, el("summary", {}, plural(frames.length, "frame")), el("ol", {}, frames)),
    el("div", { class: "chosen" }, listOf(checkpoint.values, path), value ? await viewValue(words, value) : null));
}

async function viewValue(words, value) {
  const asked_for = { ...words, path: value.path, name: value.name };
  const held = await ask("api/value", asked_for);
  const at = chosen().get("at") ?? "";
  const more = held.number > held.elements.length ? ` … ${held.number - held.elements.length} more` : "";
  return el("div", { id: "value" }, el("h2", {}, name(value.name), " ", el("span", { class: "dim small" }, `${value.kind}, ${value.size}`)),
    held.summary ? el("p", {}, held.summary) : null,
    value.drawn === "image" ? planes(value) : null,
    el("div", { class: "pictures" },
      value.drawn ? picture({ ...asked_for, at }, value.drawn === "curve" ? "its numbers, from the first to the last" : "the last two dimensions") : null,
      value.drawn ? picture({ ...asked_for, view: "histogram" }, "how many numbers lie where") : null),
    el("div", { class: "numbers" }, held.elements.map(text => el("span", {}, text)), more));
}

async function viewBeside() {
  const place = location.hash;
  const all = await lines();
  if (all.length < 2) return put(place, "few", el("p", { class: "dim" }, "There are not two checkpoints."));
  const id = chosen().get("id") ?? String(all[all.length - 2].id);
  const b = chosen().get("b") ?? String(all[all.length - 1].id);
  const key = JSON.stringify(["beside", chosen().toString(), id, b, all.map(line => line.id)]);
  if (key === drawn) return;
  const words = { ...ofJob(), rank: chosen().get("rank") ?? "" };
  const [checkpoint, found] = await Promise.all([ask("api/checkpoint", { ...words, id }), ask("api/differences", { ...words, a: id, b })]);
  const differing = found.differences.find(one => one.path && one.elements && one.elements[1] > 1);
  const path = chosen().get("path") ?? (differing?.path ?? first(checkpoint.values)?.path);
  const value = checkpoint.values.find(one => one.path === path);
  const row = one => el("tr", {},
    el("td", {}, one.path ? el("button", { onclick: () => choose({ path: one.path }) }, name(one.place)) : name(one.place)),
    el("td", {}, one.what), el("td", { class: "n" }, one.largest === null ? "" : one.largest.toPrecision(4)));
  const pictures = [];
  if (value?.drawn) {
    const of = { ...words, path, name: value.name, at: chosen().get("at") ?? "" };
    pictures.push(picture({ ...of, id, beside: b }, `checkpoint ${number6(id)}`), picture({ ...of, id: b, beside: id }, `checkpoint ${number6(b)}, in the same scale`),
      picture({ ...of, id, beside: b, view: "difference" }, "how far they are apart"));
  }
  put(place, key,
    el("div", { class: "choices" }, el("label", {}, "a ", choiceOf(all, id, id => choose({ id }))), el("label", {}, "b ", choiceOf(all, b, b => choose({ b })))),
    el("div", { class: "chosen" }, listOf(checkpoint.values, path), el("div", { id: "value" },
      value ? el("h2", {}, name(value.name), " ", el("span", { class: "dim small" }, value.kind)) : null,
      value?.drawn === "image" ? planes(value) : null,
      value && !value.drawn ? await both(words, value, id, b) : null,
      el("div", { class: "pictures" }, pictures))),
    el("h2", {}, found.number ? plural(found.number, "difference") : "The same"),
    found.number ? el("table", { id: "differences" }, el("tr", {}, ["Where", "What", "Largest"].map(head => el("th", {}, head))), found.differences.map(row)) : null);
}

async function both(words, value, id, b) {
  const of = one => ask("api/value", { ...words, id: one, path: value.path, name: value.name })
    .then(held => held.elements.join(" "), error => error.message);
  const [one, other] = await Promise.all([of(id), of(b)]);
  return el("dl", {}, el("dt", {}, number6(id)), el("dd", {}, one), el("dt", {}, number6(b)), el("dd", {}, other));
}

function viewPlan() {
  const { store, run } = ofJob();
  put(location.hash, "plan" + JSON.stringify([store, run]),
    el("p", { class: "dim" }, "Where checkpoints go, and what they hold: of the program that the job was started from on this machine, else of the package that the server was started in."),
    el("iframe", { src: asked("plan", run ? { store, run } : {}), title: "the plan over the source" }));
}

// ---- Following.

const VIEWS = { job: viewJob, values: viewValues, beside: viewBeside, plan: viewPlan };
let turns = 0;
let under_way = 0;
async function turn() {
  const mine = ++turns;
  under_way++;
  try {
    jobs = await ask("api/jobs");
    if (!chosen().has("store") && jobs.jobs.length > 0) {
      const first = jobs.jobs.find(job => job.running) ?? jobs.jobs[0];
      const all = chosen();
      all.set("store", first.store);
      if (first.run) all.set("run", first.run);
      history.replaceState(null, "", "#" + all);
    }
    if (mine !== turns) return;
    drawJobs();
    drawTabs();
    if (chosen().has("store")) await (VIEWS[chosen().get("tab") ?? "job"] ?? viewJob)();
    wrong(null);
  } catch (error) {
    if (mine === turns) wrong(error);
  } finally {
    under_way--;
  }
}
window.addEventListener("hashchange", () => turn());
setInterval(() => { if (!document.hidden && under_way === 0) turn(); }, PERIOD);
turn();
