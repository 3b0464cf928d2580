"use strict";
// Headings of the first table become buttons that sort its models; a second click turns the order.
for (const table of document.querySelectorAll("table.leaderboard")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const valueOf = (row, place) =>
    place ? parseFloat(row.cells[place].dataset.score) : row.cells[0].title.toLowerCase();
  headings.forEach((heading, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const [first, second] = place ? ["descending", "ascending"] : ["ascending", "descending"];
      const order = heading.getAttribute("aria-sort") === first ? second : first;
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const compare = (a, b) => {
        const [x, y] = [valueOf(a, place), valueOf(b, place)];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y); // no score comes last
        return x < y ? -sign : x > y ? sign : 0;
      };
      body.append(...[...body.rows].sort(compare));
    });
  });
}
