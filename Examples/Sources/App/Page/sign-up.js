// The sign-up form.

import { byID, element, icon, paths, setText, unseen } from "./dom.js";
import { isQueued, send } from "./link.js";
import { drawFullScreen } from "./surfaces.js";

const fieldNames = ["userName", "password", "passwordConfirmation"];
const okNames = { userName: "Available", password: "Good", passwordConfirmation: "Matches" };
const fullScreenTitle = byID("full-screen").querySelector("h2");

const form = {
  screen: null,
  echoes: new Map(), // field name → the text last sent, until a state repeats it
  view: null,
  focusBeforeCover: null,
};

function sendFromHere(action) {
  send({ tab: "signUp", ...action });
}

export function press(surface, id, button) {
  if (id != null) sendFromHere({ type: "press", surface, id, button });
}

function edit(field, text) {
  form.echoes.set(field, text);
  sendFromHere({ type: "edit", field, text });
}

// `isFresh`: this is the first state of a session.
export function draw(screen, isFresh) {
  const isStartOver = form.screen?.signedUp != null && screen.signedUp === null;
  if (isStartOver) form.echoes.clear();
  form.screen = screen;
  drawTexts(screen, isFresh);
  for (const name of fieldNames) drawField(name, screen.fields[name]);
  drawSubmit(screen);
  drawCover(screen);
}

// What was sent has been answered, so that a state's texts may count again.
export function answered() {
  if (form.screen) drawTexts(form.screen, false);
}

// What the new session has to know; returns what the person has to do again.
export function restart() {
  // The old session's state says nothing of what the new one has been told.
  form.screen = null;
  form.echoes.clear();
  const text = byID("userName").value;
  if (text !== "") edit("userName", text);
  // Passwords are not kept for a second sending.
  return byID("password").value !== "" ? "Connected. Please type the password again." : null;
}

// The keyboard goes back to where it was before an alert. If it was nowhere, or in what has gone, the form begins anew.
export function focus() {
  if (form.view !== null && form.view !== byID("form")) form.view.focus();
  else if (document.activeElement === document.body) byID("userName").focus();
}

// The person's own typing always wins: a state's text counts only where nobody types and nothing sent is unanswered.
function drawTexts(screen, isFresh) {
  for (const name of fieldNames) {
    const input = byID(name);
    const text = screen.fields[name].text;
    if (form.echoes.get(name) === text) form.echoes.delete(name);
    if (form.echoes.has(name) || isQueued(({ type, field }) => type === "edit" && field === name)) continue;
    if (!isFresh && input === document.activeElement) continue;
    if (input.value !== text) input.value = text;
  }
}

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

function drawCover({ fullScreen, signedUp }) {
  const content = byID("form");
  const isCovered = fullScreen !== null || signedUp !== null;
  if (isCovered && !content.inert && content.contains(document.activeElement)) {
    form.focusBeforeCover = document.activeElement;
  }
  content.inert = isCovered;
  byID("sign-up").dataset.cover = fullScreen ? "fullScreen" : signedUp ? "signedUp" : "none";
  drawFullScreen(byID("full-screen"), fullScreen, press);
  byID("signed-up").hidden = signedUp === null || fullScreen !== null;
  if (signedUp !== null) setText(byID("signed-up-title"), `Welcome, ${signedUp.userName}`);

  const view = fullScreen ? fullScreenTitle : signedUp ? byID("signed-up-title") : content;
  const before = form.view;
  form.view = view;
  if (before === null || before === view) return;
  if (view !== content) return view.focus();
  if (before === byID("signed-up-title")) byID("userName").focus();
  else (form.focusBeforeCover ?? byID("submit")).focus();
  form.focusBeforeCover = null;
}

for (const name of fieldNames) {
  byID(name).addEventListener("input", (event) => edit(name, event.target.value));
  byID(name).addEventListener("blur", () => {
    requestAnimationFrame(() => form.screen && drawField(name, form.screen.fields[name]));
  });
}

byID("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (byID("submit").getAttribute("aria-disabled") === "false") sendFromHere({ type: "submit" });
});

byID("again").addEventListener("click", () => press("signedUp", "signedUp", "again"));

for (const button of document.querySelectorAll("[data-name]")) {
  button.addEventListener("click", () => {
    // What is being sent is not changed any more.
    if (byID("userName").readOnly) return;
    byID("userName").value = button.dataset.name;
    edit("userName", button.dataset.name);
  });
}
