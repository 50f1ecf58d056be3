// What the client of the shown app did, as a few numbers; the app decides which, and what they are called.

import { byID, element, reconcile, setText } from "./dom.js";

export function drawClient({ facts }) {
  byID("client").hidden = facts.length === 0;
  reconcile(byID("facts"), facts, makeFact, (node, { name, value }) => {
    setText(node.querySelector("dt"), name);
    setText(node.querySelector("dd"), value);
  });
}

function makeFact() {
  return element("div", { className: "fact" }, element("dt"), element("dd"));
}
