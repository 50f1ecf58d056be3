// What the lines of the inspector add up to: requests with their stages, attempts and pauses; gauges; who waits for what.
// Nothing is drawn here.

const keptRequests = 12;
const keptLines = 2000;
const keptDemands = 100;

export function makeInspection() {
  return { apps: {}, lines: [], lost: 0 };
}

export function appOf(inspection, name) {
  return (inspection.apps[name] ??= { stages: {}, requests: [], gauges: [], refresh: null, number: 0, time: 0, at: 0 });
}

// Takes one line; `now` is the page's own clock, in seconds.
export function take(inspection, text, now) {
  const line = JSON.parse(text);
  inspection.lines.push(text);
  if (inspection.lines.length > keptLines) inspection.lines.shift();
  const app = appOf(inspection, line.app);
  if (line.type === "lost") return;
  // What the app has dropped and what the link has dropped both leave a gap.
  if (app.number > 0) inspection.lost += line.line - app.number - 1;
  Object.assign(app, { number: line.line, time: line.time, at: now });
  takers[line.type]?.(app, line);
}

const takers = {
  pipeline(app, { stages }) {
    app.stages = stages;
  },
  gauge(app, { policy, text, details = {}, time }) {
    const gauge = { id: policy, text, details, time };
    const index = app.gauges.findIndex(({ id }) => id === policy);
    if (index < 0) app.gauges.push(gauge);
    else app.gauges[index] = gauge;
  },
  request: takeRequest,
  http: takeCall,
  policy: takeDecision,
};

function set(request, stage, state, words = "") {
  if (stage in request.stages) request.stages[stage] = { state, words };
}

function settle(request, state, words) {
  for (const [stage, { state: before }] of Object.entries(request.stages)) {
    if (before === "running" || before === "waiting") set(request, stage, state, words);
  }
}

function beginRequest(app, { request: id, name, time }) {
  const stages = Object.fromEntries(Object.keys(app.stages).map((stage) => [stage, { state: "idle", words: "" }]));
  app.requests.unshift({
    id, name, stages, start: time, end: null, outcome: null,
    attempts: [], pauses: [], marbles: [], demands: [], forgottenDemands: 0, calls: [], isWaiting: null,
  });
  app.requests.splice(keptRequests);
}

function takeRequest(app, line) {
  if (line.event === "began") return beginRequest(app, line);
  const request = app.requests.find(({ id }) => id === line.request);
  // One that began before the inspector was opened.
  if (!request) return;
  const attempt = request.attempts.at(-1);
  switch (line.event) {
    case "demand":
      takeDemand(request, line);
      break;
    case "attempt":
      request.isWaiting = null;
      request.attempts.push({ number: line.attempt, start: line.time, end: null, outcome: "running", words: "", call: null });
      if (line.attempt > 1) set(request, "retry", "retried", line.attempt === 2 ? "once" : `${line.attempt - 1} times`);
      for (const stage of ["authentication", "rate_limiter", "circuit_breaker"]) set(request, stage, "idle");
      set(request, "network", "running", "sent");
      break;
    case "value":
      request.marbles.push({ kind: "value", time: line.time, words: line.text });
      endAttempt(attempt, "answered", line);
      set(request, "network", "done", line.text);
      break;
    case "attempt_failed":
      endAttempt(attempt, "failed", line);
      if (request.stages.network?.state === "running") set(request, "network", "failed", line.text);
      else settle(request, "failed", line.text);
      break;
    case "retrying":
      takePause(request, line);
      break;
    case "fallback":
      set(request, "fallback", "served", "an old answer");
      break;
    case "finished":
      endRequest(request, line, "finished");
      settle(request, "done", "");
      break;
    case "failed":
      endRequest(request, line, "failed");
      settle(request, "failed", "");
      break;
    case "cancelled":
      endAttempt(attempt, "cancelled", line);
      request.demands.push({ kind: "cancel", time: line.time });
      endRequest(request, line, "cancelled");
      settle(request, "left", "");
      break;
    // Why there is no other attempt.
    default:
      set(request, "retry", line.event === "not_retryable" ? "done" : "failed", line.event.replaceAll("_", " "));
  }
}

function takePause(request, { time, delay, from }) {
  // What the breaker refuses names when it lets a probe through, as a service does.
  const reason = from !== "hint" ? "its back-off" : request.stages.circuit_breaker?.state === "refused" ? "the breaker" : "Retry-After";
  request.isWaiting = { until: time + delay, reason };
  request.pauses.push({ start: time, end: time + delay, reason });
  set(request, "retry", "waiting", `because of ${reason}`);
}

// Of a run that asks without end the latest are kept, and how many went before.
function takeDemand(request, { demand, time }) {
  request.demands.push({ kind: "request", count: demand, time });
  if (request.demands.length <= keptDemands) return;
  request.demands.shift();
  request.forgottenDemands += 1;
}

function endAttempt(attempt, outcome, { time, text = "" }) {
  if (attempt && attempt.end === null) Object.assign(attempt, { end: time, outcome, words: text });
}

function endRequest(request, { time }, outcome) {
  Object.assign(request, { end: time, outcome, isWaiting: null });
  for (const pause of request.pauses) pause.end = Math.min(pause.end, time);
  request.marbles.push({ kind: outcome, time, words: outcome });
}

// A call belongs to the attempt that was begun right before it, on the same queue.
function takeCall(app, line) {
  if (line.event === "began") {
    const request = app.requests.find(({ attempts, end }) => end === null && attempts.at(-1)?.call === null);
    if (!request || !request.name.startsWith(`${line.method} ${new URL(line.url).pathname}`)) return;
    request.attempts.at(-1).call = line.call;
    request.calls.push(line.call);
    set(request, "network", "idle");
    set(request, "authentication", "running", "waits for a token");
    app.latest = request;
    return;
  }
  const request = app.requests.find(({ calls }) => calls.includes(line.call));
  if (!request) return;
  switch (line.event) {
    case "attempt_began":
      for (const stage of ["authentication", "rate_limiter", "circuit_breaker"]) set(request, stage, "done", "passed");
      set(request, "network", "running", "waits for the answer");
      break;
    case "responded":
      // Who is refused has a token renewed.
      app.latest = request;
      set(request, "network", "running", `status ${line.status}`);
      break;
    case "attempt_failed":
      set(request, "network", "failed", line.outcome);
      break;
    case "refused":
      set(request, "authentication", "done", "passed");
      set(request, "rate_limiter", "done", "passed");
      set(request, "circuit_breaker", "refused", line.retry_after === undefined ? "open" : `open for ${seconds(line.retry_after)}`);
      break;
    default:
  }
}

function takeDecision(app, { policy, decision, details = {}, time }) {
  if (policy === "authentication") {
    if (decision === "refresh_begins") app.refresh = { by: app.latest?.id ?? null, since: time };
    else app.refresh = null;
  }
  if (policy === "rate_limiter" && decision === "queued" && app.latest?.end === null) {
    set(app.latest, "authentication", "done", "passed");
    set(app.latest, "rate_limiter", "waiting", `about ${seconds(details.wait)}`);
  }
}

export const seconds = (value) => `${Math.max(value, 0).toFixed(1)} s`;

// The present on the clock of an app's lines.
export const timeOf = (app, now) => (app.at === 0 ? 0 : app.time + (now - app.at));

// Who waits for what, one sentence each.
export function waitsOf(app, now) {
  const time = timeOf(app, now);
  return app.requests
    .filter(({ end }) => end === null)
    .map((request) => ({ id: request.id, words: waitOf(app, request, time) }))
    .filter(({ words }) => words !== null)
    .reverse();
}

function waitOf(app, request, time) {
  const name = `Request ${request.id}`;
  const { isWaiting: pause, stages } = request;
  if (pause) return `${name} waits ${seconds(pause.until - time)} because of ${pause.reason}`;
  if (stages.authentication?.state === "running") {
    if (app.refresh === null) return `${name} waits for an access token`;
    return app.refresh.by === null || app.refresh.by === request.id
      ? `${name} waits for its token refresh`
      : `${name} waits for the token refresh of request ${app.refresh.by}`;
  }
  if (stages.rate_limiter?.state === "waiting") return `${name} waits ${stages.rate_limiter.words} for the rate limit`;
  return request.attempts.at(-1)?.end === null ? `${name} waits for the answer` : null;
}
