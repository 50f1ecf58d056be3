// Tools for drawing: nodes are made once and changed only where the state has changed.

export const byID = (id) => document.getElementById(id);

const svgNamespace = "http://www.w3.org/2000/svg";

export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "dataset") Object.assign(node.dataset, value);
    else if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export const unseen = (text) => element("span", { className: "unseen", textContent: text });

export function icon(path) {
  const svg = document.createElementNS(svgNamespace, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(svgNamespace, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export const paths = {
  tick: "M4.5 10.5l3.5 3.5 7.5-8",
  cross: "M5.5 5.5l9 9m0-9l-9 9",
  unsynced: "M10 6v4.5m0 3v.01M10 2.5l8 14.5H2z",
};

// Writing the same text again would make a screen reader read it again.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Takes a region away; the keyboard's focus, if it was in there, goes where `focus` puts it. A finger's needs no place.
export function takeAway(region, remove, focus) {
  const hadFocus = region.contains(document.activeElement) && document.activeElement.matches(":focus-visible");
  remove();
  if (hadFocus) focus();
}

// The buttons of one surface; `press(surface, id, button)` tells the app which was chosen.
export function buttonRow(container, surface, { id: owner, buttons }, press) {
  const key = JSON.stringify([owner, buttons]);
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
        onclick: () => press(surface, owner, id),
      }),
    ),
  );
  if (focused) container.querySelector(`[data-button="${CSS.escape(focused)}"]`)?.focus();
}

// Keeps the nodes that are still true, so that a text selection survives and only news moves.
export function reconcile(list, items, make, update) {
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
