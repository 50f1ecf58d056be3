// The marble diagram of a run that was really made: its attempts, its pauses, what it delivered, and what was asked of it.

import { seconds } from "./inspection.js";

const namespace = "http://www.w3.org/2000/svg";
const left = 76;
const width = 440;
const right = 528;
const rows = { attempts: 4, pauses: 30, output: 56, demand: 82, axis: 134 };

function node(tag, attributes, ...children) {
  const made = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const label = (x, y, text, anchor = "start") => node("text", { x, y, "text-anchor": anchor }, text);

export function makeMarbles() {
  return node("svg", { viewBox: "0 0 532 140", class: "marbles", role: "img" });
}

// `time` is the present on the clock of the run.
export function drawMarbles(svg, request, time) {
  const end = Math.max(request.end ?? time, request.start + 0.001);
  const x = (moment) => left + ((Math.min(moment, end) - request.start) / (end - request.start)) * width;
  const parts = [
    label(0, rows.attempts + 14, "attempts"),
    label(0, rows.output + 15, "output"),
    node("line", { class: "rule", x1: left, x2: left + width, y1: rows.output + 11, y2: rows.output + 11 }),
    ...request.attempts.flatMap((attempt) => drawAttempt(attempt, x, end)),
    ...request.pauses.flatMap((pause) => drawPause(pause, x, end)),
    ...request.marbles.map((marble) => drawMarble(marble, x(marble.time), request)),
    label(0, rows.demand + 15, "demand"),
    node("line", { class: "rule", x1: left, x2: left + width, y1: rows.demand + 11, y2: rows.demand + 11 }),
    ...drawDemands(request, x),
    label(left, rows.axis, "0 s"),
    label(left + width, rows.axis, length(end - request.start), "end"),
  ];
  if (request.pauses.length > 0) parts.push(label(0, rows.pauses + 14, "waits"));
  svg.replaceChildren(...parts);
  const words = wordsOf(request, end);
  if (svg.getAttribute("aria-label") !== words) svg.setAttribute("aria-label", words);
}

const length = (value) => (value < 1 ? `${Math.round(value * 1000)} ms` : seconds(value));

function drawAttempt({ number, start, end: last, outcome }, x, end) {
  const [from, to] = [x(start), x(last ?? end)];
  return [
    node("rect", { class: `bar ${outcome}`, x: from, y: rows.attempts, width: Math.max(to - from, 4), height: 6, rx: 3 }),
    label(from, rows.attempts + 20, String(number)),
  ];
}

function drawPause({ start, end: last, reason }, x, end) {
  if (start >= end) return [];
  const [begin, until] = [x(start), x(last)];
  const line = node("line", { class: "pause", x1: begin, x2: until, y1: rows.pauses + 10, y2: rows.pauses + 10 });
  const text = `${seconds(last - start)}, ${reason}`;
  // Seven units a letter: what does not fit is in the picture's words.
  return until - begin < 7 * text.length ? [line] : [line, label((begin + until) / 2, rows.pauses + 4, text, "middle")];
}

function drawMarble({ kind }, at, { marbles }) {
  const y = rows.output + 11;
  // The end beside the value that came with it, not over it.
  const x = kind !== "value" && marbles.some((other) => other.kind === "value") ? at + 12 : at;
  switch (kind) {
    case "value": return node("circle", { class: "marble", cx: x, cy: y, r: 8 });
    case "failed": return node("path", { class: "cross", d: `M${x - 6} ${y - 6}l12 12m0-12l-12 12` });
    default: return node("rect", { class: `end ${kind}`, x: x - 2, y: y - 9, width: 4, height: 18 });
  }
}

// Each request at its moment with its number beneath; those whose numbers would overlap share a place, each with its own mark.
function drawDemands({ demands, forgottenDemands }, x) {
  const marks = demands.map((demand) => drawDemand(demand, x(demand.time)));
  const groups = [];
  if (forgottenDemands > 0) groups.push(groupOf(left, ["…"]));
  for (const demand of demands) {
    let group = groupOf(x(demand.time), [demandText(demand)]);
    while (groups.length > 0 && group.from < groups.at(-1).to) {
      const before = groups.pop();
      group = groupOf(before.at, [...before.texts, ...group.texts]);
    }
    groups.push(group);
  }
  return [...marks, ...groups.map(drawTexts)];
}

function drawTexts({ from, to, text }) {
  const [x, anchor] = to < right ? [from, "start"] : [right, "end"];
  return node("text", { class: "demand-text", x, y: rows.demand + 33, "text-anchor": anchor }, text);
}

function drawDemand({ kind }, x) {
  const y = rows.demand + 11;
  return kind === "cancel"
    ? node("path", { class: "cancel", d: `M${x - 5} ${y - 5}l10 10m0-10l-10 10` })
    : node("path", { class: "demand", d: `M${x - 5} ${y + 6}h10l-5-12z` });
}

// Texts that share a place: equal ones in a row are counted, and the place stays within the picture.
function groupOf(at, texts) {
  const runs = [];
  for (const text of texts) {
    if (runs.at(-1)?.text === text) runs.at(-1).count += 1;
    else runs.push({ text, count: 1 });
  }
  const whole = runs.map((run) => (run.count === 1 ? run.text : `${run.count}×${run.text}`)).join(", ");
  // What does not fit is in the picture's words.
  const text = whole.length > 24 ? `${whole.slice(0, 23)}…` : whole;
  // Eleven units a letter, as on a phone.
  const length = 11 * text.length + 6;
  const from = Math.max(0, Math.min(at - 4, right - length));
  return { at, texts, text, from, to: from + length };
}

const demandText = ({ kind, count }) => (kind === "cancel" ? "cancel" : count === "unlimited" ? "∞" : count);

function wordsOf(request, end) {
  const after = (time) => seconds(time - request.start);
  const attempts = request.attempts.map(({ number, start, end: last, outcome, words }) =>
    `attempt ${number} from ${after(start)}${last === null ? ", under way" : ` to ${after(last)}, ${outcome}${words ? ` (${words})` : ""}`}`,
  );
  const pauses = request.pauses.map(({ start, end: last, reason }) =>
    `a pause of ${seconds(last - start)} after ${after(start)} (${reason})`,
  );
  const asked = request.demands.filter(({ kind }) => kind === "request").map(({ count, time }) => `${count} at ${after(time)}`);
  if (request.forgottenDemands > 0) asked.unshift(`${request.forgottenDemands} earlier requests`);
  const demand = asked.length === 0 ? [] : [`demand: ${asked.join(", ")}`];
  const over = request.outcome === null ? "still under way" : `${request.outcome} after ${after(end)}`;
  return `Run of request ${request.id}: ${[...attempts, ...pauses, ...demand, over].join("; ")}`;
}
