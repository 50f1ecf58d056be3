// Draws the app's state and sends what the person does. What the state means is decided in the app.

import * as animals from "./animals.js";
import { drawClient } from "./client.js";
import { byID, setText } from "./dom.js";
import "./faults.js";
import * as inspector from "./inspector.js";
import { open, send } from "./link.js";
import { drawAttempts } from "./log.js";
import * as signUp from "./sign-up.js";
import { drawAlert, drawBanner, drawToast } from "./surfaces.js";
import * as weather from "./weather.js";

// Each app draws its own pane, and says what its surfaces' buttons do.
const panes = { signUp, weather, animals };
const titles = { signUp: "Create an account", weather: "Weather", animals: "Animals" };

const page = {
  tab: null,
  isFresh: true, // the next state belongs to a session that this page has not drawn yet
};

function draw({ tab, client, screen }) {
  const pane = panes[tab];
  if (page.tab !== tab) showTab(tab);
  pane.draw(screen, page.isFresh);
  page.isFresh = false;
  drawBanner(screen.banner, pane.press, pane.focus);
  drawToast(screen.toast, pane.press, pane.focus);
  drawClient(client);
  drawAttempts(screen.attempts);
  inspector.show(tab);
  drawAlert(screen.alert, pane.press, pane.focus);
}

function showTab(tab) {
  page.tab = tab;
  for (const button of document.querySelectorAll("[role=tab]")) {
    const isShown = button.dataset.tab === tab;
    button.setAttribute("aria-selected", String(isShown));
    button.tabIndex = isShown ? 0 : -1;
    byID(button.getAttribute("aria-controls")).hidden = !isShown;
  }
  setText(byID("announcement"), "");
  document.title = `${titles[tab]} · Rebound`;
  history.replaceState(null, "", `#${tab}`);
}

const tabButtons = [...document.querySelectorAll("[role=tab]")];
for (const [index, button] of tabButtons.entries()) {
  button.addEventListener("click", () => send({ type: "show", tab: button.dataset.tab }));
  button.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = tabButtons.at((index + steps[event.key]) % tabButtons.length);
    next.focus();
    next.click();
  });
}

open({
  onState: draw,
  onLines: inspector.receive,
  onAnswer: () => panes[page.tab]?.answered(),
  onRestart() {
    page.isFresh = true;
    if (page.tab !== null) send({ type: "show", tab: page.tab });
    inspector.restart();
    const words = Object.values(panes).map((pane) => pane.restart());
    return words.find((word) => word !== null) ?? "Connected";
  },
});

const wanted = location.hash.slice(1);
if (wanted in panes) send({ type: "show", tab: wanted });
