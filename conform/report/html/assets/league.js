"use strict";
// Heads of the league's columns become buttons that sort: the largest first, then the smallest.

for (const table of document.querySelectorAll("table.league")) {
  const body = table.tBodies[0];
  table.tHead.rows[0].querySelectorAll("th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(column, head));
  });

  function sort(column, head) {
    const isDescending = head.ariaSort !== "descending";
    table.querySelectorAll("thead th").forEach((one) => one.removeAttribute("aria-sort"));
    head.ariaSort = isDescending ? "descending" : "ascending";
    const rows = [...body.rows].sort((one, other) => compare(one.cells[column], other.cells[column]));
    body.append(...(isDescending ? rows.reverse() : rows));
  }
}

function compare(one, other) {
  if (one.dataset.order === undefined) return one.textContent.localeCompare(other.textContent, "en");
  return Number(one.dataset.order) - Number(other.dataset.order);
}
