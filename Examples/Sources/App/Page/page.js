// Draws the app's state and sends what the person does. What the state means is decided in the app.

const byID = (id) => document.getElementById(id);
const fieldNames = ["userName", "password", "passwordConfirmation"];
const svgNamespace = "http://www.w3.org/2000/svg";

// ---------------------------------------------------------------------------------------------------------------------
// Drawing tools

function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "dataset") Object.assign(node.dataset, value);
    else if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const unseen = (text) => element("span", { className: "unseen", textContent: text });

function icon(path) {
  const svg = document.createElementNS(svgNamespace, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(svgNamespace, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

const paths = {
  tick: "M4.5 10.5l3.5 3.5 7.5-8",
  cross: "M5.5 5.5l9 9m0-9l-9 9",
  unsynced: "M10 6v4.5m0 3v.01M10 2.5l8 14.5H2z",
};

// Writing the same text again would make a screen reader read it again.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function buttonRow(container, buttons, press) {
  const key = JSON.stringify(buttons);
  if (container.dataset.key === key) return;
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.button : undefined;
  container.dataset.key = key;
  container.replaceChildren(
    ...buttons.map(({ id, title, role }) =>
      element("button", {
        type: "button",
        className: "button",
        textContent: title,
        dataset: { button: id, role: role ?? "default" },
        onclick: () => press(id),
      }),
    ),
  );
  if (focused) container.querySelector(`[data-button="${CSS.escape(focused)}"]`)?.focus();
}

// ---------------------------------------------------------------------------------------------------------------------
// The link to the app: one session, one stream of states, one ordered queue of actions

const link = {
  session: null,
  source: null,
  queue: [],
  isSending: false,
  pause: 500,
  greeting: "Connected",
};

function showConnection(state, text) {
  byID("connection").dataset.state = state;
  setText(byID("connection-text"), text);
}

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function pauseBeforeNextTry() {
  await wait(link.pause);
  link.pause = Math.min(link.pause * 2, 5000);
}

async function post(path, body) {
  return fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function openSession() {
  for (;;) {
    try {
      const response = await post("/sessions", {});
      if (response.ok) {
        link.session = (await response.json()).session;
        break;
      }
    } catch {
      // The app is not there yet; the line in the header says so until it is.
    }
    showConnection("lost", "Reconnecting…");
    await pauseBeforeNextTry();
  }
  openStream();
  sendNext();
}

const sessionPath = (part) => `/sessions/${encodeURIComponent(link.session)}/${part}`;

function openStream() {
  link.source?.close();
  const source = new EventSource(sessionPath("events"));
  link.source = source;
  source.addEventListener("open", () => {
    link.pause = 500;
    showConnection("open", link.greeting);
    link.greeting = "Connected";
  });
  source.addEventListener("state", (event) => {
    if (source === link.source) draw(JSON.parse(event.data));
  });
  source.addEventListener("error", () => {
    if (source !== link.source) return;
    showConnection("lost", "Reconnecting…");
    // A browser reconnects by itself after a cut and gives up after a refusal, whose status an EventSource hides.
    if (source.readyState === EventSource.CLOSED) recoverStream(source);
  });
}

async function recoverStream(source) {
  await pauseBeforeNextTry();
  if (source !== link.source) return;
  const probe = new AbortController();
  try {
    const response = await fetch(sessionPath("events"), { signal: probe.signal });
    probe.abort();
    if (source !== link.source) return;
    if (response.status === 404) return startAfresh();
  } catch {
    // Still unreachable: the next stream fails the same way and comes back here.
  }
  if (source === link.source) openStream();
}

function startAfresh() {
  if (link.session === null) return;
  link.session = null;
  link.source?.close();
  link.source = null;
  // The old session's unsent actions mean nothing to the new one.
  const unsent = link.queue;
  link.queue = [];
  for (const { onAnswer } of unsent) onAnswer("The app was restarted before this reached it.");
  showConnection("lost", "Reconnecting…");
  screen.echoes.clear();
  screen.isFresh = true;
  const text = byID("userName").value;
  if (text !== "") edit("userName", text);
  // Passwords are not kept for a second sending.
  if (byID("password").value !== "") link.greeting = "Connected. Please type the password again.";
  openSession();
}

// An answer is the reason of a refusal, or null.
function send(action, onAnswer = showRefusal) {
  link.queue.push({ action, onAnswer });
  sendNext();
}

function showRefusal(reason) {
  if (reason !== null) showConnection("refused", reason);
  else if (byID("connection").dataset.state === "refused") showConnection("open", "Connected");
}

async function refusal(response) {
  if (response.ok) return null;
  const body = await response.json().catch(() => ({}));
  return body.reason ?? `The app refused the last input (${response.status}).`;
}

async function sendNext() {
  if (link.isSending || link.queue.length === 0 || link.session === null) return;
  link.isSending = true;
  const session = link.session;
  const head = link.queue[0];
  let response = null;
  let reason = null;
  try {
    response = await post(sessionPath("actions"), head.action);
    reason = await refusal(response);
    link.pause = 500;
  } catch {
    // Sent again below: an edit carries the whole text, a press names its surface, and the app signs up once at a time.
    showConnection("lost", "Reconnecting…");
    await pauseBeforeNextTry();
  }
  link.isSending = false;
  if (session !== link.session) return sendNext();
  if (response?.status === 404) return startAfresh();
  if (response !== null) {
    link.queue.shift();
    head.onAnswer(reason);
  }
  if (screen.state) drawTexts(screen.state);
  sendNext();
}

// ---------------------------------------------------------------------------------------------------------------------
// The state, drawn

const screen = {
  state: null,
  isFresh: true, // the next state belongs to a session that this page has not drawn yet
  echoes: new Map(), // field name → the text last sent, until a state repeats it
  countdown: { id: null, total: 0 },
  focusBeforeCover: null,
};

function draw(state) {
  const before = screen.state;
  const isStartOver = before?.signedUp != null && state.signedUp === null;
  if (isStartOver) screen.echoes.clear();
  screen.state = state;
  drawTexts(state);
  screen.isFresh = false;
  for (const name of fieldNames) drawField(name, state.fields[name]);
  drawSubmit(state);
  drawBanner(state.banner);
  drawToast(state.toast);
  drawAttempts(state.attempts);
  drawCover(state);
  drawAlert(state.alert);
}

// The person's own typing always wins: a state's text counts only where nobody types and nothing sent is unanswered.
function drawTexts(state) {
  for (const name of fieldNames) {
    const input = byID(name);
    const text = state.fields[name].text;
    const isQueued = link.queue.some(({ action }) => action.type === "edit" && action.field === name);
    if (screen.echoes.get(name) === text) screen.echoes.delete(name);
    if (isQueued || screen.echoes.has(name)) continue;
    if (!screen.isFresh && input === document.activeElement) continue;
    if (input.value !== text) input.value = text;
  }
}

const okNames = { userName: "Available", password: "Good", passwordConfirmation: "Matches" };

function drawField(name, field) {
  const input = byID(name);
  const isFocused = input === document.activeElement;
  input.closest(".field").dataset.tone = field.tone;
  // Disabling the field that has the focus would throw the keyboard user out of the form.
  input.readOnly = !field.isEnabled;
  input.disabled = !field.isEnabled && !isFocused;
  input.setAttribute("aria-invalid", String(field.tone === "error"));
  setText(byID(`${name}-message`), field.message ?? "");

  const adornment = byID(`${name}-state`);
  const show = field.isChecking ? "checking" : field.tone === "ok" ? "ok" : "none";
  if (adornment.dataset.show === show) return;
  adornment.dataset.show = show;
  const contents = {
    checking: () => [element("span", { className: "spinner" }), unseen("Checking…")],
    ok: () => [icon(paths.tick), unseen(okNames[name])],
    none: () => [],
  };
  adornment.replaceChildren(...contents[show]());
}

function drawSubmit({ canSubmit, isSubmitting }) {
  const button = byID("submit");
  // `aria-disabled` keeps the button in the tab order, so that it is there when the last check comes back.
  button.setAttribute("aria-disabled", String(!canSubmit || isSubmitting));
  button.setAttribute("aria-busy", String(isSubmitting));
  byID("submit-spinner").hidden = !isSubmitting;
  setText(byID("submit-text"), isSubmitting ? "Signing up…" : "Sign up");
}

function drawBanner(banner) {
  const region = byID("banner");
  region.dataset.shown = String(banner !== null);
  if (banner === null) return region.replaceChildren();
  if (region.firstElementChild === null) {
    region.append(icon(paths.unsynced), element("p"), element("div", { className: "buttons" }));
  }
  setText(region.querySelector("p"), banner.text);
  const row = region.querySelector(".buttons");
  buttonRow(row, banner.buttons, (button) => press("banner", screen.state.banner?.id, button));
}

function drawToast(toast) {
  const region = byID("toast-region");
  if (toast === null) return region.replaceChildren();
  const shown = region.firstElementChild;
  if (shown?.dataset.id === toast.id) {
    shown.dataset.tone = toast.tone;
    return setText(shown.querySelector("p"), toast.text);
  }
  const close = element("button", { type: "button", className: "close", "aria-label": "Close the notice" });
  close.append(icon(paths.cross));
  close.addEventListener("click", () => press("toast", toast.id, "close"));
  region.replaceChildren(
    element(
      "div",
      { className: "toast", dataset: { id: toast.id, tone: toast.tone } },
      element("span", { className: "tone-dot" }),
      element("p", { textContent: toast.text }),
      close,
    ),
  );
}

function drawCover(state) {
  const { fullScreen, signedUp } = state;
  const form = byID("form");
  const isCovered = fullScreen !== null || signedUp !== null;
  if (isCovered && !form.inert && form.contains(document.activeElement)) {
    screen.focusBeforeCover = document.activeElement;
  }
  form.inert = isCovered;
  byID("sign-up").dataset.cover = fullScreen ? "fullScreen" : signedUp ? "signedUp" : "none";
  drawFullScreen(fullScreen);
  drawSignedUp(signedUp, fullScreen !== null);

  const view = fullScreen ? "full-screen-title" : signedUp ? "signed-up-title" : "form";
  if (screen.view !== undefined && screen.view !== view) {
    const cameFrom = screen.view;
    screen.view = view;
    if (view !== "form") byID(view).focus();
    else if (cameFrom === "signed-up-title") byID("userName").focus();
    else (screen.focusBeforeCover ?? byID("submit")).focus();
    if (view === "form") screen.focusBeforeCover = null;
  }
  screen.view = view;
}

function drawFullScreen(fullScreen) {
  const section = byID("full-screen");
  section.hidden = fullScreen === null;
  if (fullScreen === null) {
    screen.countdown = { id: null, total: 0, isRetrying: false };
    setText(byID("announcement"), "");
    return;
  }
  const { id, title, message, secondsLeft, isRetrying, buttons } = fullScreen;
  setText(byID("full-screen-title"), title);
  setText(byID("full-screen-message"), message);
  buttonRow(byID("full-screen-buttons"), buttons, (button) => press("fullScreen", screen.state.fullScreen?.id, button));

  const isCounting = secondsLeft !== null && !isRetrying;
  const isStart = screen.countdown.id !== id || (screen.countdown.isRetrying && !isRetrying);
  if (isStart) screen.countdown = { id, total: 0, isRetrying };
  screen.countdown.total = Math.max(screen.countdown.total, secondsLeft ?? 0);
  const ring = section.querySelector(".ring");
  ring.dataset.state = isRetrying ? "retrying" : isCounting ? "counting" : "idle";
  const share = isCounting && screen.countdown.total > 0 ? secondsLeft / screen.countdown.total : 1;
  byID("ring-value").setAttribute("stroke-dashoffset", String(100 * (1 - share)));
  drawCountdown(isCounting ? Math.ceil(secondsLeft) : null, isRetrying);

  // Once at the start and once at the try: a reader that spoke every second could not be listened to.
  if (isRetrying && !screen.countdown.isRetrying) setText(byID("announcement"), "Trying again now.");
  else if (isStart && isCounting) setText(byID("announcement"), `Trying again in ${Math.ceil(secondsLeft)} seconds.`);
  screen.countdown.isRetrying = isRetrying;
}

function drawCountdown(seconds, isRetrying) {
  const timer = byID("countdown");
  if (seconds === null) {
    const words = isRetrying ? [element("span", { className: "countdown-unit", textContent: "trying again" })] : [];
    return timer.replaceChildren(...words);
  }
  const text = seconds < 100 ? String(seconds) : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const unit = seconds < 100 ? (seconds === 1 ? "second" : "seconds") : "minutes";
  timer.replaceChildren(
    element("span", { className: "countdown-number", textContent: text }),
    " ",
    element("span", { className: "countdown-unit", textContent: unit }),
  );
}

function drawSignedUp(signedUp, isBehind) {
  byID("signed-up").hidden = signedUp === null || isBehind;
  if (signedUp !== null) setText(byID("signed-up-title"), `Welcome, ${signedUp.userName}`);
}

function drawAlert(alert) {
  const dialog = byID("alert");
  if (alert === null) {
    if (!dialog.open) return;
    dialog.close();
    if (screen.view !== "form") byID(screen.view).focus();
    return;
  }
  setText(byID("alert-title"), alert.title);
  setText(byID("alert-message"), alert.message);
  buttonRow(byID("alert-buttons"), alert.buttons, (button) => press("alert", screen.state.alert?.id, button));
  if (dialog.open && dialog.dataset.id === alert.id) return;
  dialog.dataset.id = alert.id;
  if (!dialog.open) dialog.showModal();
  // Not on a button: the alert comes while the person types, and the next key must not decide anything.
  dialog.focus();
}

// ---------------------------------------------------------------------------------------------------------------------
// The log: attempts of one request hang together, the newest request on top

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

// Keeps the nodes that are still true, so that a text selection survives and only news moves.
function reconcile(list, items, make, update) {
  const nodes = new Map([...list.children].map((node) => [node.dataset.id, node]));
  const wanted = items.map((item) => {
    const node = nodes.get(String(item.id)) ?? make(item);
    node.dataset.id = item.id;
    update(node, item);
    return node;
  });
  wanted.forEach((node, index) => {
    if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null);
  });
  while (list.children.length > wanted.length) list.lastElementChild.remove();
}

function drawAttempts(attempts) {
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

// ---------------------------------------------------------------------------------------------------------------------
// What the person does, sent

function edit(field, text) {
  screen.echoes.set(field, text);
  send({ type: "edit", field, text });
}

function press(surface, id, button) {
  if (id != null) send({ type: "press", surface, id, button });
}

for (const name of fieldNames) {
  byID(name).addEventListener("input", (event) => edit(name, event.target.value));
  byID(name).addEventListener("blur", () => {
    if (screen.state) requestAnimationFrame(() => drawField(name, screen.state.fields[name]));
  });
}

byID("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (byID("submit").getAttribute("aria-disabled") === "false") send({ type: "submit" });
});

byID("again").addEventListener("click", () => press("signedUp", "signedUp", "again"));

byID("alert").addEventListener("cancel", (event) => {
  // The app closes the dialog, by a state without it.
  event.preventDefault();
  const alert = screen.state?.alert;
  const button = alert?.buttons.find(({ role }) => role === "cancel") ?? alert?.buttons.at(-1);
  if (button) press("alert", alert.id, button.id);
});

for (const button of document.querySelectorAll("[data-name]")) {
  button.addEventListener("click", () => {
    byID("userName").value = button.dataset.name;
    edit("userName", button.dataset.name);
  });
}

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

function sendFault(title, fault) {
  const path = byID("fault-path");
  const times = numberOrNull("fault-times");
  const defaults = { type: "fault", status: null, retryAfter: null, latencyMilliseconds: 0 };
  const action = { ...defaults, ...fault, path: path.value, times };
  const scope = path.selectedOptions[0].textContent.toLowerCase();
  const count = times === null ? "until cleared" : times === 1 ? "once" : `${times} times`;
  send(action, (reason) => setText(byID("fault-note"), reason ?? `Set: ${title} (${scope}, ${count}).`));
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

byID("clear-faults").addEventListener("click", () => {
  send({ type: "clearFaults" }, (reason) => setText(byID("fault-note"), reason ?? "All faults are cleared."));
});

openSession();
