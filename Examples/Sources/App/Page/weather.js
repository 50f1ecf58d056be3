// The weather.

import { byID, element, icon, reconcile, setText, takeAway, unseen } from "./dom.js";
import { isQueued, send } from "./link.js";
import { drawFullScreen } from "./surfaces.js";

const weather = {
  screen: null,
  echo: null, // the text last sent, until a state repeats it
  sentKey: null, // the API key that was sent last
  searches: 0,
  view: null,
};

const tell = (action) => send({ tab: "weather", ...action });

export function press(surface, id, button) {
  if (id != null) tell({ type: "press", surface, id, button });
}

export function draw(screen, isFresh) {
  weather.screen = screen;
  drawText(isFresh);
  drawSearch(screen);
  drawPlace(screen.place);
  setText(byID("weather-status"), screen.status);
  drawKey(screen.key);
  drawCities(screen);
  drawCover(screen.fullScreen);
  // A cover tells its countdown by itself.
  if (screen.fullScreen === null) setText(byID("announcement"), screen.announcement);
}

export function answered() {
  if (weather.screen) drawText(false);
}

export function restart() {
  // The old session's state says nothing of what the new one has been told.
  weather.screen = null;
  weather.echo = null;
  const text = byID("city").value;
  if (text !== "") edit(text);
  return null;
}

export function focus() {
  (weather.view ?? byID("city")).focus();
}

function edit(text) {
  weather.echo = text;
  tell({ type: "edit", text });
}

function search() {
  weather.searches += 1;
  tell({ type: "search" });
}

// The person's own typing wins, as in the sign-up form.
function drawText(isFresh) {
  const input = byID("city");
  const { query } = weather.screen;
  if (weather.echo === query) weather.echo = null;
  if (weather.echo !== null || isQueued(({ tab, type }) => tab === "weather" && type === "edit")) return;
  if (!isFresh && input === document.activeElement) return;
  if (input.value !== query) input.value = query;
}

function drawSearch({ message, tone, isLoading, canSearch }) {
  const input = byID("city");
  input.closest(".field").dataset.tone = tone;
  input.setAttribute("aria-invalid", String(tone === "error"));
  setText(byID("city-message"), message);
  byID("search").setAttribute("aria-disabled", String(!canSearch));
  byID("search").setAttribute("aria-busy", String(isLoading));
  byID("locate").setAttribute("aria-disabled", String(isLoading));
  const adornment = byID("city-state");
  if (adornment.dataset.show === String(isLoading)) return;
  adornment.dataset.show = String(isLoading);
  adornment.replaceChildren(...(isLoading ? [element("span", { className: "spinner" }), unseen("Loading…")] : []));
}

const sky = {
  clear: "M10 3v2m0 10v2M3 10h2m10 0h2M5 5l1.4 1.4m7.2 7.2L15 15M15 5l-1.4 1.4M6.4 13.6L5 15M10 7a3 3 0 100 6 3 3 0 000-6",
  cloudy: "M6 15a3.5 3.5 0 010-7 4.5 4.5 0 018.6 1A3 3 0 0114 15z",
  rain: "M6 12a3.5 3.5 0 010-7 4.5 4.5 0 018.6 1A3 3 0 0114 12zM7 14.5l-1 2.5m4.5-2.5l-1 2.5m4.5-2.5l-1 2.5",
  snow: "M6 12a3.5 3.5 0 010-7 4.5 4.5 0 018.6 1A3 3 0 0114 12zM6.5 15.5v.01m3.5 1.5v.01m3.5-1.5v.01",
  storm: "M6 12a3.5 3.5 0 010-7 4.5 4.5 0 018.6 1A3 3 0 0114 12zM10.5 10l-2 4h3l-2 4",
};

// `|| 0`: there is no minus zero.
const degrees = (temperature) => `${Math.round(temperature) || 0}°`;

function drawPlace(place) {
  const section = byID("place");
  section.hidden = place === null;
  if (place === null) return;
  section.dataset.source = place.source;
  setText(byID("place-name"), `${place.city}, ${place.country}`);
  setText(byID("place-temperature"), degrees(place.temperature));
  setText(byID("place-words"), `${place.condition}, humidity ${place.humidity} %`);
  setText(byID("place-note"), place.note);
  const mark = byID("place-icon");
  if (mark.dataset.condition === place.condition) return;
  mark.dataset.condition = place.condition;
  mark.replaceChildren(icon(sky[place.condition] ?? sky.cloudy));
}

function drawKey(key) {
  const form = byID("key-form");
  const wasHidden = form.hidden;
  if (key === null) return takeAway(form, () => (form.hidden = true), focus);
  form.hidden = false;
  setText(byID("key-message"), key.message);
  byID("key-form").querySelector(".field").dataset.tone = key.tone;
  byID("key").setAttribute("aria-invalid", String(key.tone === "error"));
  byID("use-key").setAttribute("aria-busy", String(key.isChecking));
  drawUseKey(key.isChecking);
  if (wasHidden) byID("key").focus();
}

// While a key is checked it is not sent again; another one takes its place.
function drawUseKey(isChecking) {
  const isSent = isChecking && byID("key").value === weather.sentKey;
  byID("use-key").setAttribute("aria-disabled", String(isSent));
}

function drawCities({ cities, isRefreshing }) {
  byID("refresh").setAttribute("aria-busy", String(isRefreshing));
  byID("refresh").setAttribute("aria-disabled", String(isRefreshing));
  reconcile(byID("cities"), cities, makeCity, drawCity);
}

function makeCity() {
  return element(
    "li",
    { className: "city" },
    element("span", { className: "city-name" }),
    element("span", { className: "city-temperature" }),
    element("span", { className: "city-note" }),
  );
}

function drawCity(node, { id, temperature, note, tone }) {
  node.dataset.tone = tone;
  setText(node.querySelector(".city-name"), id);
  setText(node.querySelector(".city-temperature"), temperature === null ? "–" : degrees(temperature));
  setText(node.querySelector(".city-note"), note);
}

function drawCover(fullScreen) {
  const content = byID("weather-content");
  const section = byID("weather-cover");
  content.inert = fullScreen !== null;
  byID("weather").dataset.cover = fullScreen ? "fullScreen" : "none";
  drawFullScreen(section, fullScreen, press);
  const view = fullScreen ? section.querySelector("h2") : null;
  if (view === weather.view) return;
  weather.view = view;
  focus();
}

byID("city").addEventListener("input", (event) => {
  edit(event.target.value);
});

byID("weather-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (byID("search").getAttribute("aria-disabled") === "false") search();
});

byID("locate").addEventListener("click", () => {
  if (byID("locate").getAttribute("aria-disabled") === "true") return;
  weather.searches += 1;
  const number = weather.searches;
  // The position may take its time: whoever has searched for something else meanwhile does not want it any more.
  const tellIfLast = (action) => number === weather.searches && tell(action);
  navigator.geolocation.getCurrentPosition(
    ({ coords: { latitude, longitude } }) => tellIfLast({ type: "located", latitude, longitude }),
    ({ code }) => tellIfLast({ type: "notLocated", isForbidden: code === GeolocationPositionError.PERMISSION_DENIED }),
    { timeout: 10000, maximumAge: 60000 },
  );
});

byID("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (byID("use-key").getAttribute("aria-disabled") === "true") return;
  weather.sentKey = byID("key").value;
  tell({ type: "useKey", key: weather.sentKey });
});

byID("key").addEventListener("input", () => drawUseKey(weather.screen?.key?.isChecking ?? false));

byID("refresh").addEventListener("click", () => {
  if (byID("refresh").getAttribute("aria-disabled") === "false") tell({ type: "refresh" });
});

for (const button of document.querySelectorAll("[data-city]")) {
  button.addEventListener("click", () => {
    byID("city").value = button.dataset.city;
    edit(button.dataset.city);
    search();
  });
}
