// Tables, and figures, that scroll sideways on narrow screens can be scrolled with the keyboard.
window.addEventListener("load", () => {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset p:has(> img)")) {
    if (part.scrollWidth > part.clientWidth || !part.matches("p")) part.tabIndex = 0;
  }
  // Of the theme's landmarks, each button that copies code is one without a name, and sections with a page of their own
  // are named by an empty label.
  for (const buttons of document.querySelectorAll(".md-code__nav")) buttons.role = "none";
  for (const nav of document.querySelectorAll("nav[aria-labelledby]")) {
    nav.ariaLabel = nav.querySelector(".md-nav__title").textContent.trim();
    nav.removeAttribute("aria-labelledby");
  }
});

// The theme's search is a dialog without a name.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
