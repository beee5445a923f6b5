"use strict";
// What is looked at: an op or all of them, and the filters. It stands in the address behind `#?`, so that a link leads here.

const FILTERS = ["status", "dtype", "check", "layout", "values", "family"];
const SOME = { "not passed": ["fail", "error", "crash", "timeout"], "not judged": ["unsupported", "fallback", "unspecified", "unjudged", "waived"] };
const TABLE_OF = { status: "statuses", dtype: "dtypes", check: "checks", layout: "layouts", values: "values", family: "families" };
const COLUMN = { op: 0, dtype: 1, status: 2, check: 3, layout: 4, values: 5, reason: 6, count: 7 };

/** The state that an address tells; what it does not tell is empty. */
function stateOf(hash) {
  const told = new URLSearchParams(hash.startsWith("#?") ? hash.slice(2) : "");
  return Object.fromEntries(["op", "find", "differs", ...FILTERS].map((name) => [name, told.get(name) || ""]));
}

function addressOf(state) {
  const told = Object.entries(state).filter(([, value]) => value);
  return `#?${new URLSearchParams(told)}`;
}

/** The places in a table that a filter lets through: an array of 0 and 1. */
function allowed(names, wanted) {
  const some = SOME[wanted] || [wanted];
  return names.map((name) => (!wanted || some.includes(name) ? 1 : 0));
}

/** For each column of the counts the places that all filters let through. */
function sieve(data, state) {
  const families = allowed(data.families, state.family);
  const find = state.find.toLowerCase();
  return {
    op: data.ops.map(([name, family]) => (families[family] && name.toLowerCase().includes(find) ? 1 : 0)),
    ...Object.fromEntries(FILTERS.filter((name) => name !== "family").map((name) => [name, allowed(data[TABLE_OF[name]], state[name])])),
  };
}

/** Whether a case, with its places by the names of columns, passes the sieve. */
function passes(sieved, places) {
  return Object.entries(sieved).every(([name, places_]) => places_[places[name]]);
}

/** Calls `each(run, op, dtype, status, reason, count)` for the rows of counts that pass the sieve. */
function forRows(data, sieved, each) {
  data.counts.forEach((columns, run) => {
    const [op, dtype, status, check, layout, values, reason, counts] = columns;
    for (let row = 0; row < op.length; row++) {
      if (sieved.op[op[row]] && sieved.dtype[dtype[row]] && sieved.status[status[row]] && sieved.check[check[row]]
          && sieved.layout[layout[row]] && sieved.values[values[row]]) {
        each(run, op[row], dtype[row], status[row], reason[row], counts[row]);
      }
    }
  });
}

/** The controls of the filters, beside the search for names; only what some case has can be chosen. */
function makeFilters(data, form) {
  const used = Object.fromEntries(Object.keys(COLUMN).map((name) => [name, new Set(data.counts.flatMap((columns) => columns[COLUMN[name]]))]));
  for (const name of FILTERS) {
    const names = data[TABLE_OF[name]].filter((_, place) => name === "family" || used[name].has(place));
    const groups = name === "status" ? Object.keys(SOME).filter((group) => SOME[group].some((one) => names.includes(one))) : [];
    const options = ["", ...groups, ...names].map((one) => el("option", { value: one }, one ? cut(one, 40) : "any"));
    form.append(el("label", null, LABELS[name], " ", el("select", { name }, options)));
  }
  if (data.runs.length > 1) {
    form.append(el("label", { class: "tick" }, el("input", { type: "checkbox", name: "differs", value: "yes" }), " only where runs differ"));
  }
  form.append(el("button", { type: "reset" }, "Reset"));
}

const LABELS = { status: "Status", dtype: "Dtype", check: "Check class", layout: "Layout", values: "Value class", family: "Family" };

/** What the controls say. */
function stateOfForm(form, op) {
  const told = new FormData(form);
  return { ...Object.fromEntries(["find", "differs", ...FILTERS].map((name) => [name, told.get(name) || ""])), op };
}

function fillForm(form, state) {
  for (const control of form.elements) {
    if (control.type === "checkbox") control.checked = Boolean(state[control.name]);
    else if (control.name) control.value = state[control.name];
    if (control.tagName === "SELECT" && control.selectedIndex < 0) control.value = "";
  }
}
