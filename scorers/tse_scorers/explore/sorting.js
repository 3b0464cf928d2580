// Sorts a table by the column whose heading is pressed: once, the other way round, as it was. Rows that are totals
// stay last.
const turns = (numeric) => numeric ? ["none", "descending", "ascending"] : ["none", "ascending", "descending"];

function compare(one, other) {
  if (one === "" || other === "") return (one === "") - (other === "");  // what is missing comes last
  const numbers = [Number(one), Number(other)];
  return numbers.some(Number.isNaN) ? one.localeCompare(other) : numbers[0] - numbers[1];
}

element.addEventListener("click", (event) => {
  const button = event.target.closest("thead th > button");
  if (!button) return;
  const heading = button.parentElement;
  const column = heading.cellIndex;
  const order = turns(heading.hasAttribute("data-numeric"));
  const turn = order[(order.indexOf(heading.getAttribute("aria-sort")) + 1) % 3];
  for (const other of heading.parentElement.cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", turn);
  const body = heading.closest("table").tBodies[0];
  const key = (row) => turn === "none" ? row.dataset.place : row.cells[column].dataset.order;
  const pinned = (row) => "pinned" in row.dataset;
  const rows = [...body.rows].sort((one, other) => {
    if (pinned(one) || pinned(other)) return pinned(one) - pinned(other);
    const [a, b] = [key(one), key(other)];
    return turn === "descending" && a !== "" && b !== "" ? compare(b, a) : compare(a, b);
  });
  body.append(...rows);
});
