// Returns what is wrong with the page for people who cannot see it well or at all; an empty list is a pass.
() => {
  const problems = [];
  // Colours in the middle of a transition are nobody's choice.
  for (const animation of document.getAnimations()) {
    if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish();
  }
  const describe = (node) => node.outerHTML.slice(0, 90);
  const isShown = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const all = (selector) => [...document.querySelectorAll(selector)];
  const words = (text) => (text ?? "").split(/\s+/).filter((word) => word !== "");
  const textOf = (ids) => words(ids).map((id) => document.getElementById(id)?.textContent).join(" ");

  const seen = new Set();
  for (const { id } of all("[id]")) {
    if (seen.has(id)) problems.push(`two elements share the id ${id}`);
    seen.add(id);
  }
  for (const attribute of ["aria-labelledby", "aria-describedby", "for"]) {
    for (const node of all(`[${attribute}]`)) {
      for (const id of words(node.getAttribute(attribute))) {
        if (!document.getElementById(id)) problems.push(`${attribute} names a missing ${id}: ${describe(node)}`);
      }
    }
  }
  for (const input of all("input, select, textarea")) {
    const label = [...(input.labels ?? [])].find((one) => one.textContent.trim() !== "");
    if (!label) problems.push(`no label: ${describe(input)}`);
    else if (isShown(input) && !isShown(label)) problems.push(`invisible label: ${describe(input)}`);
  }
  for (const control of all("button, a[href], summary, dialog, [role=group]")) {
    if (!isShown(control)) continue;
    const named = control.getAttribute("aria-label") ?? textOf(control.getAttribute("aria-labelledby"));
    const name = named || control.textContent;
    if (name.trim() === "") problems.push(`no name: ${describe(control)}`);
  }
  for (const picture of all("svg")) {
    const isNamed = picture.getAttribute("role") === "img" && picture.getAttribute("aria-label");
    if (!isNamed && picture.closest("[aria-hidden=true]") === null) problems.push(`picture without a name: ${describe(picture)}`);
  }
  // What a stage of the inspector does is told in words, not by its colour alone.
  for (const stage of all(".pipeline-stage")) {
    if (stage.querySelector(".stage-words").textContent.trim() === "") problems.push(`only a colour: ${describe(stage)}`);
  }
  for (const node of all("button, input, select, summary")) {
    const { width, height } = node.getBoundingClientRect();
    if (isShown(node) && Math.min(width, height) < 24) problems.push(`target under 24 px: ${describe(node)}`);
  }
  // Only one pane is there at a time; its heading may be covered.
  if (all("h1").filter((node) => node.checkVisibility()).length !== 1) problems.push("not exactly one h1");
  if (all("main").length !== 1) problems.push("not exactly one main");
  if (document.documentElement.lang === "") problems.push("no language");
  if (all("[role=status], [aria-live=polite]").length === 0) problems.push("no live region");

  // Contrast by WCAG 2.2, success criterion 1.4.3, over the colours as they are painted.
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, index) => value * a + below[index] * (1 - a));
  const ground = (node) => {
    const layers = [];
    for (let one = node; one; one = one.parentElement) {
      const layer = rgba(getComputedStyle(one).backgroundColor);
      layers.push(layer);
      if (layer[3] > 0.99) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() === "" || !isShown(node) || node.closest(".unseen, noscript, script")) continue;
    // Inactive controls are exempt, and what lies behind a modal is inert.
    if (node.closest("[aria-disabled=true], :disabled")) continue;
    const style = getComputedStyle(node);
    const below = ground(node);
    const [light, dark] = [luminance(over(rgba(style.color), below)), luminance(below)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) {
      problems.push(`contrast ${ratio.toFixed(2)}: "${walker.currentNode.data.trim().slice(0, 40)}"`);
    }
  }
  return problems;
}
