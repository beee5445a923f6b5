"use strict";
// From the address to what is shown.

async function main() {
  const data = await unpacked("data");
  const form = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const box = document.getElementById("op");
  const title = document.title;
  let turns = 0; // how often something was shown
  let last = stateOf(""); // what was shown last
  let current = null; // the op that is shown
  let drawn = null; // the filters under which all ops were drawn
  const left = { at: 0, focus: null }; // where the user was among all ops
  makeFilters(data, form);
  document.getElementById("filters").hidden = false;

  /** Draws what the address tells. isMoved: the user came here by a link, and is to be taken to its beginning. */
  async function show(isMoved) {
    const turn = ++turns;
    const anchor = location.hash && !location.hash.startsWith("#?") ? location.hash.slice(1) : "";
    const state = anchor ? { ...last, op: "" } : stateOf(location.hash); // a section of all ops, under the same filters
    last = state;
    const op = data.ops.findIndex(([name]) => name === state.op);
    fillForm(form, state);
    if (op >= 0 && !box.checkVisibility()) Object.assign(left, { at: window.scrollY, focus: document.activeElement });
    for (const id of ["before", "after"]) document.getElementById(id).hidden = op >= 0;
    box.hidden = op < 0;
    if (op < 0) showAll(state);
    else if (!await showOp(state, op, () => turn === turns)) return;
    const isOther = current !== op;
    current = op;
    document.title = op < 0 ? title : `${cut(data.ops[op][0], 80)} – ${title}`;
    if (isMoved && isOther && op >= 0) toHeading("op");
    else if (isMoved && isOther && location.href.endsWith("#")) toHeading("before");
    else if (isMoved && isOther && !anchor) toWhereItWas();
    else if (isMoved && anchor) document.getElementById(anchor)?.scrollIntoView();
  }

  function showAll(state) {
    if (drawn?.address !== addressOf(state)) {
      drawn = { address: addressOf(state), ...drawMap(data, state, document.getElementById("families")) };
      drawFailures(data, state, document.getElementById("failed"));
      drawNotJudged(data, state, document.getElementById("unjudged"));
    }
    shown.textContent = `${count(drawn.cases, "case")} of ${count(drawn.ops, "op")} shown`;
    box.replaceChildren();
  }

  /** Whether it was drawn: not if the user went on meanwhile. */
  async function showOp(state, op, isWanted) {
    const runs = await unpacked(`op-${op}`);
    if (!isWanted()) return false;
    shown.textContent = `${count(drawOp(data, state, op, runs, box), "failing case")} shown`;
    return true;
  }

  function toHeading(id) {
    const heading = document.querySelector(`#${id} h1`);
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function toWhereItWas() {
    left.focus?.focus({ preventScroll: true });
    window.scrollTo(0, left.at);
  }

  function change() {
    const state = stateOfForm(form, last.op);
    history.replaceState(null, "", addressOf(state));
    show(false);
  }

  let waiting = 0;
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(change, event.target.type === "search" ? 120 : 0);
  });
  form.addEventListener("reset", () => setTimeout(change, 0));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address is that of what is shown
    document.getElementById("main").focus();
  });
  window.addEventListener("hashchange", () => show(true));
  await show(Boolean(location.hash));
  document.body.dataset.ready = "yes";
}

main().catch((error) => {
  const trouble = document.getElementById("trouble");
  trouble.textContent = `The page cannot be drawn: ${error}. It needs a browser of 2024 or later; report.md has the tables as text.`;
  trouble.hidden = false;
  throw error;
});
