// Tables, and figures, that scroll sideways on narrow screens can be scrolled with the keyboard.
window.addEventListener("load", () => {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset p:has(> img)")) {
    if (part.scrollWidth > part.clientWidth || !part.matches("p")) part.tabIndex = 0;
  }
});

// The theme's search is a dialog without a name.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
