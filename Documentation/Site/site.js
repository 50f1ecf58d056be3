// The renderer gives the buttons that open the other forms of a declaration no name.
new MutationObserver(() => {
  for (const button of document.querySelectorAll("button.toggle:not([aria-label])")) {
    if (button.textContent.trim() === "") button.setAttribute("aria-label", "Other forms of this declaration");
  }
}).observe(document, { childList: true, subtree: true });
