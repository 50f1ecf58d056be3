// The log: attempts of one request hang together, the newest request on top.

import { byID, element, reconcile, setText } from "./dom.js";

// Gives each request a list of its attempts: an attempt joins the request that waits for it, or begins a new one.
function exchanges(attempts) {
  const groups = [];
  for (const attempt of attempts) {
    const open = groups.findLast(
      (group) => group.request === attempt.request && group.attempts.at(-1).attempt === attempt.attempt - 1,
    );
    if (open) open.attempts.push(attempt);
    else groups.push({ id: attempt.id, request: attempt.request, attempts: [attempt] });
  }
  return groups.reverse();
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
