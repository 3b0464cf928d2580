// Tables that scroll sideways on narrow screens can be scrolled with the keyboard.
window.addEventListener("load", () => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) table.tabIndex = 0;
});
