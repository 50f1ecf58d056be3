// The inspector: what the requests of the shown app go through, as it happens. While it is closed the app sends nothing.

import { byID, element, reconcile, setText, unseen } from "./dom.js";
import { appOf, makeInspection, seconds, take, timeOf, waitsOf } from "./inspection.js";
import { send, sessionPath } from "./link.js";
import { drawMarbles, makeMarbles } from "./marbles.js";

const inspector = { app: null, inspection: makeInspection(), timer: null };
const panel = byID("inspector");
const now = () => performance.now() / 1000;

const stateWords = {
  idle: "not yet", running: "running", waiting: "waiting", retried: "retried", refused: "refused", served: "served from a saved copy",
  failed: "failed", done: "done", left: "not waited for any more",
};

const gaugeNames = { circuit_breaker: "Breaker", budget: "Retry budget", rate_limiter: "Rate limit", bulkhead: "Bulkhead" };

export function receive(data) {
  if (!panel.open) return;
  for (const line of data.split("\n")) take(inspector.inspection, line, now());
  draw();
}

// The app that is shown now.
export function show(app) {
  if (inspector.app === app) return;
  inspector.app = app;
  // Each app has a request 1: what stands here is not its.
  byID("inspected").replaceChildren();
  setText(byID("inspector-note"), "");
  draw();
}

// The app has lost this page's session: what was seen is over.
export function restart() {
  inspector.inspection = makeInspection();
  if (panel.open) send({ type: "inspect", isOpen: true });
}

panel.addEventListener("toggle", () => {
  send({ type: "inspect", isOpen: panel.open });
  inspector.inspection = makeInspection();
  setText(byID("inspector-note"), "");
  draw();
});

function draw() {
  clearTimeout(inspector.timer);
  if (!panel.open || inspector.app === null) return;
  const app = appOf(inspector.inspection, inspector.app);
  const time = timeOf(app, now());
  byID("inspector-empty").hidden = app.requests.length > 0;
  byID("save-lines").setAttribute("aria-disabled", String(inspector.inspection.lines.length === 0));
  drawLoss();
  byID("gauges").hidden = app.gauges.length === 0;
  reconcile(byID("gauges"), app.gauges, makeGauge, (node, gauge) => drawGauge(node, gauge, time));
  const waits = waitsOf(app, now());
  byID("waits").hidden = waits.length === 0;
  reconcile(byID("waits"), waits, () => element("li"), (node, { words }) => setText(node, words));
  reconcile(byID("inspected"), app.requests, makeRequest, (node, request) => drawRequest(node, request, app, time));
  // Time goes on for those who wait, also when nothing happens.
  if (app.requests.some(({ end }) => end === null) || app.gauges.some(({ details }) => details.state === "open")) {
    inspector.timer = setTimeout(draw, 200);
  }
}

function drawLoss() {
  const { lost } = inspector.inspection;
  if (lost > 0) setText(byID("inspector-note"), `${lost} lines were lost on the way: this page was too slow.`);
}

function makeGauge() {
  return element(
    "li",
    { className: "gauge" },
    element("span", { className: "gauge-name" }),
    element("span", { className: "gauge-text" }),
    element("span", { className: "gauge-track", "aria-hidden": "true" }, element("span", { className: "gauge-value" })),
  );
}

function drawGauge(node, { id, text, details, time: then }, time) {
  setText(node.querySelector(".gauge-name"), gaugeNames[id] ?? id.replaceAll("_", " "));
  const left = details.retry_after === undefined ? 0 : details.retry_after - (time - then);
  const state = (details.state ?? "").replaceAll("_", " ");
  setText(node.querySelector(".gauge-text"), left > 0 ? `${state} for ${seconds(left)}` : state && state !== "closed" ? `${state}, lets a probe through` : text);
  node.dataset.state = details.state ?? "closed";
  node.querySelector(".gauge-value").style.setProperty("--share", String(shareOf(id, details)));
}

// How full a gauge is, from 0 to 1.
function shareOf(id, details) {
  switch (id) {
    case "budget": return details.available / Math.max(details.available + details.queued, fullest(details.available));
    case "rate_limiter": return details.share;
    default: return details.state === "closed" ? 1 : 0;
  }
}

const budget = { most: 1 };
function fullest(available) {
  budget.most = Math.max(budget.most, available);
  return budget.most;
}

function makeRequest({ id, name }) {
  return element(
    "li",
    { className: "inspected" },
    element("h3", {}, `Request ${id} `, element("code", { textContent: name })),
    element("ol", { className: "stages", "aria-label": `Stages of request ${id}` }),
    makeMarbles(),
    element(
      "button",
      { type: "button", className: "button small", hidden: true, onclick: () => saveTest(id) },
      "Save as a test",
      unseen(` of request ${id}`),
    ),
  );
}

function drawRequest(node, request, app, time) {
  const stages = Object.entries(request.stages).map(([id, stage]) => ({ id, title: app.stages[id] ?? id, ...stage }));
  reconcile(node.querySelector(".stages"), stages, makeStage, drawStage);
  drawMarbles(node.querySelector(".marbles"), request, time);
  // Only what was sent can be replayed, and only a failure is worth a test.
  node.querySelector("button").hidden = request.outcome !== "failed" || request.calls.length === 0;
}

function makeStage({ title }) {
  return element(
    "li",
    { className: "pipeline-stage" },
    element("span", { className: "stage-name", textContent: title }),
    unseen(": "),
    element("span", { className: "stage-words" }),
  );
}

function drawStage(node, { state, words }) {
  node.dataset.state = state;
  setText(node.querySelector(".stage-words"), words === "" || state === "done" ? stateWords[state] : `${stateWords[state]}, ${words}`);
}

async function saveTest(id) {
  const request = appOf(inspector.inspection, inspector.app).requests.find((one) => one.id === id);
  const query = new URLSearchParams([["app", inspector.app], ...request.calls.map((call) => ["call", call])]);
  const response = await fetch(sessionPath(`runs/${id}/test?${query}`)).catch(() => null);
  if (response === null) return setText(byID("inspector-note"), "The app can't be reached.");
  if (!response.ok) {
    const { reason } = await response.json().catch(() => ({}));
    return setText(byID("inspector-note"), reason ?? `The test could not be made (${response.status}).`);
  }
  save(await response.blob(), `request-${id}.tar`);
  setText(byID("inspector-note"), `Saved request ${id}: unpack it into a test target that depends on the app's client.`);
}

byID("save-lines").addEventListener("click", () => {
  const { lines } = inspector.inspection;
  if (lines.length === 0) return;
  save(new Blob([`${lines.join("\n")}\n`], { type: "application/x-ndjson" }), "inspector.ndjson");
  setText(byID("inspector-note"), `Saved ${lines.length} lines.`);
});

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
