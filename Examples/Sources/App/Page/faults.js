// The panel that makes the server fail.

import { byID, setText } from "./dom.js";
import { send } from "./link.js";

const presets = {
  slow: { fault: "none", latencyMilliseconds: 3000 },
  unavailable: { fault: "status", status: 503, retryAfter: "5" },
  drop: { fault: "drop" },
  truncate: { fault: "truncate" },
  garbage: { fault: "garbage" },
  captivePortal: { fault: "captivePortal" },
};

function numberOrNull(id) {
  const value = byID(id).valueAsNumber;
  return Number.isFinite(value) ? value : null;
}

const answer = (done, note = "fault-note") => (reason) => setText(byID(note), reason ?? done);

function sendFault(title, fault) {
  const path = byID("fault-path");
  const times = numberOrNull("fault-times");
  const defaults = { type: "fault", status: null, retryAfter: null, latencyMilliseconds: 0 };
  const action = { ...defaults, ...fault, path: path.value, times };
  const scope = path.selectedOptions[0].textContent.toLowerCase();
  const count = times === null ? "until cleared" : times === 1 ? "once" : `${times} times`;
  send(action, answer(`Set: ${title} (${scope}, ${count}).`));
}

for (const button of document.querySelectorAll("[data-preset]")) {
  button.addEventListener("click", () => sendFault(button.textContent.trim(), presets[button.dataset.preset]));
}

byID("fault-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const kind = byID("fault-kind");
  sendFault(kind.selectedOptions[0].textContent, {
    fault: kind.value,
    status: kind.value === "status" ? numberOrNull("fault-status") : null,
    retryAfter: kind.value === "status" ? byID("fault-retry-after").value.trim() || null : null,
    latencyMilliseconds: numberOrNull("fault-latency") ?? 0,
  });
});

// What only the weather's service can be told.
const orders = {
  revokeKey: "The key is revoked. The right one is now new-key.",
  expireTokens: "No access token is good any more.",
};

for (const button of document.querySelectorAll("[data-order]")) {
  const { order } = button.dataset;
  button.addEventListener("click", () => send({ type: "order", order }, answer(orders[order], "order-note")));
}

byID("clear-faults").addEventListener("click", () => {
  send({ type: "clearFaults" }, answer("All faults are cleared."));
});
