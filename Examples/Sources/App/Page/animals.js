// The animals, and the log of what happened to their store.

import { byID, element, reconcile, setText } from "./dom.js";
import { send, sessionPath } from "./link.js";

const tell = (action, onAnswer) => send({ tab: "animals", ...action }, onAnswer);

export function press(surface, id, button) {
  if (id != null) tell({ type: "press", surface, id, button });
}

export function draw(screen) {
  drawAnimal(screen);
  drawTravel(screen.travel);
}

export function answered() {}

export function restart() {
  return null;
}

export function focus() {
  byID("fetch").focus();
}

function drawAnimal({ animal, isFetching, canFetch, words }) {
  byID("animal").setAttribute("aria-busy", String(isFetching));
  setText(byID("animal-name"), animal?.name ?? "");
  setText(byID("animal-fact"), animal?.fact ?? words);
  byID("progress").hidden = !isFetching;
  byID("fetch").setAttribute("aria-disabled", String(!canFetch));
  setText(byID("fetch-text"), isFetching ? "Looking for an animal…" : "Show an animal");
}

function drawTravel({ steps, position, isTravelling }) {
  const slider = byID("step");
  slider.max = String(steps.length);
  // Who drags the slider is ahead of the state.
  if (slider !== document.activeElement || !isTravelling) slider.value = String(position);
  setText(byID("step-text"), isTravelling ? `Step ${position} of ${steps.length}` : `Now: step ${steps.length}`);
  slider.setAttribute("aria-valuetext", byID("step-text").textContent);
  byID("now").setAttribute("aria-disabled", String(!isTravelling));
  byID("travel").dataset.travelling = String(isTravelling);
  byID("steps-empty").hidden = steps.length > 0;
  reconcile(byID("steps"), steps.toReversed(), makeStep, (node, step) => drawStep(node, step, position));
}

function makeStep() {
  return element(
    "li",
    { className: "step" },
    element("span", { className: "step-number" }),
    element("p", { className: "step-action" }),
    element("ul", { className: "step-changes" }),
  );
}

function drawStep(node, { id, action, changes }, position) {
  node.dataset.ahead = String(id > position);
  if (id === position) node.setAttribute("aria-current", "step");
  else node.removeAttribute("aria-current");
  setText(node.querySelector(".step-number"), String(id));
  setText(node.querySelector(".step-action"), action);
  const list = node.querySelector(".step-changes");
  // A replayed session has other steps under the same numbers.
  const key = changes.join("\n");
  if (list.dataset.changes === key) return;
  list.dataset.changes = key;
  list.replaceChildren(...changes.map((change) => element("li", { textContent: change })));
}

byID("fetch").addEventListener("click", () => {
  if (byID("fetch").getAttribute("aria-disabled") === "false") tell({ type: "fetch" });
});

byID("step").addEventListener("input", (event) => tell({ type: "jump", position: event.target.valueAsNumber }));

byID("now").addEventListener("click", () => {
  if (byID("now").getAttribute("aria-disabled") === "false") tell({ type: "resume" });
});

byID("export").addEventListener("click", () => {
  const link = element("a", { href: sessionPath("recording"), download: "animals.json" });
  link.click();
});

byID("import").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  const recording = await file.text().catch(() => null);
  event.target.value = "";
  if (recording === null) return setText(byID("travel-note"), "This file can't be read.");
  tell({ type: "import", recording }, (reason) =>
    setText(byID("travel-note"), reason ?? "Replayed: this is how that session ended."),
  );
});
