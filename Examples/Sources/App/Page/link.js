// The link to the app: one session, one stream of states, one ordered queue of actions.

import { byID, setText } from "./dom.js";

const link = {
  session: null,
  source: null,
  queue: [],
  isSending: false,
  pause: 500,
  greeting: "Connected",
  onState: () => {},
  onLines: () => {},
  onAnswer: () => {},
  onRestart: () => "Connected",
};

// `onState` gets every state. `onLines` gets the inspector's lines while it is open. `onAnswer` is called when an action has been answered. `onRestart` is called when the app has lost this page's session, before there is a new
// one: what it sends goes to the new session first, and what it returns is shown when that is there.
export function open(handlers) {
  Object.assign(link, handlers);
  openSession();
}

// An answer is the reason of a refusal, or null.
export function send(action, onAnswer = showRefusal) {
  link.queue.push({ action, onAnswer });
  sendNext();
}

// Whether an action that fits is still on its way.
export const isQueued = (fits) => link.queue.some(({ action }) => fits(action));

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

export const sessionPath = (part) => `/sessions/${encodeURIComponent(link.session)}/${part}`;

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
    if (source === link.source) link.onState(JSON.parse(event.data));
  });
  source.addEventListener("inspect", (event) => {
    if (source === link.source) link.onLines(event.data);
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
  link.greeting = link.onRestart();
  openSession();
}

// An answer shows that the app is there. A stream that was cut says so by itself, and one that never was has nothing to say.
function showAnswered() {
  const isOpen = link.source?.readyState === EventSource.OPEN;
  if (isOpen && byID("connection").dataset.state === "lost") showConnection("open", "Connected");
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
    showAnswered();
    head.onAnswer(reason);
    link.onAnswer();
  }
  sendNext();
}
