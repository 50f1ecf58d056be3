// What every app shows its failures on: banner, toast, alert, and the cover in place of the content.

import { byID, buttonRow, element, icon, paths, setText, takeAway } from "./dom.js";

// `press(surface, id, button)` tells the app what the person chose; `focus()` gives the keyboard another place.
export function drawBanner(banner, press, focus) {
  const region = byID("banner");
  region.dataset.shown = String(banner !== null);
  if (banner === null) return takeAway(region, () => region.replaceChildren(), focus);
  if (region.firstElementChild === null) {
    region.append(icon(paths.unsynced), element("p"), element("div", { className: "buttons" }));
  }
  setText(region.querySelector("p"), banner.text);
  buttonRow(region.querySelector(".buttons"), "banner", banner, press);
}

export function drawToast(toast, press, focus) {
  const region = byID("toast-region");
  if (toast === null) return takeAway(region, () => region.replaceChildren(), focus);
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

const shownAlert = { alert: null, press: () => {} };

export function drawAlert(alert, press, onClosed = () => {}) {
  Object.assign(shownAlert, { alert, press });
  const dialog = byID("alert");
  if (alert === null) {
    if (!dialog.open) return;
    dialog.close();
    return onClosed();
  }
  setText(byID("alert-title"), alert.title);
  setText(byID("alert-message"), alert.message);
  buttonRow(byID("alert-buttons"), "alert", alert, press);
  if (dialog.open && dialog.dataset.id === alert.id) return;
  dialog.dataset.id = alert.id;
  if (!dialog.open) dialog.showModal();
  // Not on a button: the alert comes while the person types, and the next key must not decide anything.
  dialog.focus();
}

byID("alert").addEventListener("cancel", (event) => {
  // The app closes the dialog, by a state without it.
  event.preventDefault();
  const { alert, press } = shownAlert;
  const button = alert?.buttons.find(({ role }) => role === "cancel") ?? alert?.buttons.at(-1);
  if (button) press("alert", alert.id, button.id);
});

// The countdown of each cover: whose it is, from where it counts, and whether a try is under way.
const countdowns = new WeakMap();
const noCountdown = { id: null, total: 0, isRetrying: false };

// Draws a failure into its section; null hides it.
export function drawFullScreen(section, fullScreen, press) {
  const part = (name) => section.querySelector(`[data-part="${name}"]`);
  section.hidden = fullScreen === null;
  if (fullScreen === null) {
    if (countdowns.delete(section)) setText(byID("announcement"), "");
    return;
  }
  const { id, title, message, secondsLeft, isRetrying } = fullScreen;
  setText(part("title"), title);
  setText(part("message"), message);
  buttonRow(part("buttons"), "fullScreen", fullScreen, press);

  const before = countdowns.get(section) ?? noCountdown;
  const isCounting = secondsLeft !== null && !isRetrying;
  const isStart = before.id !== id || (before.isRetrying && !isRetrying);
  const total = Math.max(isStart ? 0 : before.total, secondsLeft ?? 0);
  countdowns.set(section, { id, total, isRetrying });
  section.querySelector(".ring").dataset.state = isRetrying ? "retrying" : isCounting ? "counting" : "idle";
  const share = isCounting && total > 0 ? secondsLeft / total : 1;
  part("ring-value").setAttribute("stroke-dashoffset", String(100 * (1 - share)));
  drawCountdown(part("countdown"), isCounting ? Math.ceil(secondsLeft) : null, isRetrying);

  // Once at the start and once at the try: a reader that spoke every second could not be listened to.
  if (isRetrying && !before.isRetrying) setText(byID("announcement"), "Trying again now.");
  else if (isStart && isCounting) setText(byID("announcement"), `Trying again in ${Math.ceil(secondsLeft)} seconds.`);
}

function drawCountdown(timer, seconds, isRetrying) {
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
