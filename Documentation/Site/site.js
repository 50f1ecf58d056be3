// The renderer gives the buttons that open the other forms of a declaration no name, and lets nobody without a mouse scroll a
// table that is too wide.
new MutationObserver(() => {
  for (const button of document.querySelectorAll("button.toggle:not([aria-label])")) {
    if (button.textContent.trim() === "") button.setAttribute("aria-label", "Other forms of this declaration");
  }
  for (const table of document.querySelectorAll(".table-wrapper:not([tabindex])")) table.tabIndex = 0;
}).observe(document, { childList: true, subtree: true });
