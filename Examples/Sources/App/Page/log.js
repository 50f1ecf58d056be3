// The log: attempts of one request hang together, the newest request on top.

import { byID, element, reconcile, setText } from "./dom.js";

// Gives each request a list of its attempts. One text may be under way twice: only the app knows whose attempt it is.
function exchanges(attempts) {
  const groups = new Map();
  for (const attempt of attempts) {
    const { exchange: id, request } = attempt;
    if (!groups.has(id)) groups.set(id, { id, request, attempts: [] });
    groups.get(id).attempts.push(attempt);
  }
  return [...groups.values()].reverse();
}

export function drawAttempts(attempts) {
  byID("log-empty").hidden = attempts.length > 0;
  reconcile(byID("attempts"), exchanges(attempts), makeExchange, (node, exchange) =>
    reconcile(node.querySelector("ol"), exchange.attempts, makeAttempt, drawAttempt),
  );
}

function makeExchange({ request }) {
  const [method, ...target] = request.split(" ");
  const [path, query] = target.join(" ").split(/\?(.*)/s);
  const code = element("code", {}, path);
  if (query) code.append(element("wbr"), element("span", { className: "query", textContent: `?${query}` }));
  return element(
    "li",
    { className: "exchange" },
    element("p", { className: "request" }, element("span", { className: "method", textContent: method }), " ", code),
    element("ol", { className: "attempts" }),
  );
}

function makeAttempt() {
  return element(
    "li",
    { className: "attempt" },
    element("span", { className: "mark" }),
    element(
      "p",
      { className: "line" },
      element("span", { className: "ordinal" }),
      element("span", { className: "separator", textContent: " · " }),
      element("span", { className: "outcome" }),
    ),
    element("p", { className: "next" }),
    element("time", { className: "time" }),
  );
}

function drawAttempt(node, { time, attempt, outcome, tone, next }) {
  node.dataset.tone = tone ?? "none";
  node.dataset.state = outcome ? "done" : "waiting";
  setText(node.querySelector(".ordinal"), `attempt ${attempt}`);
  setText(node.querySelector(".outcome"), outcome || "waiting for the answer");
  setText(node.querySelector(".next"), next ?? "");
  setText(node.querySelector(".time"), time);
}
