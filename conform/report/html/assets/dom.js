"use strict";
// Elements, and data that lies in the page. Texts of others become text nodes and attributes, never markup.

/** An element with attributes and children; null ones are left out, strings and numbers become text. */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick" || name === "ontoggle") node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** The value that `foreign.packed` put into the element of this id. */
async function unpacked(id) {
  const text = document.getElementById(id).textContent;
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 2)} …` : text;
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** A table in a box that scrolls: heads are texts, each row a list of cells (an element <th> or <td>, or a text). */
function table(label, heads, rows, className) {
  const body = rows.map((row) => el("tr", null, row.map((cell) => (cell instanceof Element ? cell : el("td", null, cell)))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    el("table", { class: className || null },
      el("thead", null, el("tr", null, heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", null, body)));
}

/** The first rows of a long list, and a button that shows more of them. */
function paged(rows, size, draw) {
  const box = el("div");
  const more = el("button", { type: "button", onclick: () => show(shown + size) });
  let shown = 0;
  function show(most) {
    shown = Math.min(most, rows.length);
    box.replaceChildren(draw(rows.slice(0, shown)));
    more.textContent = `Show more (${(rows.length - shown).toLocaleString("en")} left)`;
    if (shown < rows.length) box.append(el("p", null, more));
  }
  show(size);
  return box;
}

/** A button that copies a text, and says so. */
function copyButton(text, what) {
  const button = el("button", { type: "button", class: "copy", "aria-label": `Copy ${what}`, onclick: copy }, "Copy");
  async function copy() {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      done = copiedByHand(text);
    }
    button.textContent = done ? "Copied" : "Not copied";
    document.getElementById("shown").textContent = done ? `Copied ${what}` : "The browser does not let this page copy";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  }
  return button;
}

/** For browsers that give a file no clipboard. */
function copiedByHand(text) {
  const area = el("textarea", { class: "off-screen", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
