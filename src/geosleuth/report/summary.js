"use strict";
(() => {
  const table = document.querySelector("table.photos");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.querySelectorAll("th[data-kind]")];
  heads.forEach((head) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => row.cells[head.cellIndex].dataset.sort;
      const compare = head.dataset.kind === "number"
        ? (a, b) => Number(a) - Number(b)
        : (a, b) => a.localeCompare(b, undefined, { numeric: true });
      rows.sort((one, other) => {
        const [a, b] = [key(one), key(other)];
        if (a === "" || b === "") return (a === "") - (b === "");
        return up ? compare(a, b) : compare(b, a);
      });
      body.append(...rows);
    });
    head.replaceChildren(button);
  });
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "Filter by name, place or status";
  search.setAttribute("aria-label", search.placeholder);
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLocaleLowerCase();
    rows.forEach((row) => { row.hidden = !row.textContent.toLocaleLowerCase().includes(wanted); });
  });
  document.getElementById("table").prepend(search);
})();
