"use strict";
// The page of one op.

const CASES_SHOWN = 30;
const BOUND_LENGTH = 600;

/** Draws it; gives back how many failing cases it lists. runs: what `ops.data` made, one of each run. */
function drawOp(data, state, op, runs, box) {
  const [name, family] = data.ops[op];
  const sieved = sieve(data, { ...state, find: "", family: "" });
  const failures = runs.map((run) => run.failures.filter((one) => passes(sieved, one.places)));
  box.replaceChildren(...[
    heading(data, state, op, name, family, runs),
    ...runs.map((run, number) => findingsOf(run, runLabel(data, number))),
    el("section", null, el("h2", null, "By dtype"),
      el("p", { class: "note" }, "Error / bound: those of the case nearest to its bound, or furthest beyond it, in ulp of the exact result; equal: all must be. Cases with a bound that says nothing are left out. Tightest table: of the shipped ones that a result passes, the one with the smallest bound, with the number of cases."),
      dtypeTable(data, state, runs)),
    errorsBySize(data, state, runs),
    errorsAgainstInputs(data, state, runs),
    notJudged(data, state, op),
    el("section", { id: "failing" }, el("h2", null, "Failing cases"), ...failures.map((some, run) => failing(data, run, some, runs[run].failures.length))),
  ].filter(Boolean));
  return failures.reduce((sum, one) => sum + one.length, 0);
}

function runLabel(data, run) {
  return data.runs.length > 1 ? data.runs[run] : "";
}

function heading(data, state, op, name, family, runs) {
  const others = data.ops.map((one, place) => [one, place]).filter(([[, one]]) => one === family).map(([, place]) => place);
  const at = others.indexOf(op);
  const link = (place, text) => (place === undefined ? null : el("a", { href: addressOf({ ...state, op: data.ops[place][0] }) }, text(cut(data.ops[place][0], 60))));
  const largest = runs.map((run) => run.largest && run.largest.join("x")).filter(Boolean);
  return el("div", null,
    el("nav", { "aria-label": "Ops", class: "ops" },
      el("a", { href: addressOf({ ...state, op: "" }) }, "All ops"),
      link(others[at - 1], (one) => `← ${one}`), link(others[at + 1], (one) => `${one} →`)),
    el("h1", null, cut(name, 200)),
    el("p", { class: "note" }, `Family ${cut(data.families[family], 80)}`, largest.length ? `; the largest tensor of a call that was judged: ${[...new Set(largest)].join(", ")}` : ""),
    name.length < 200 ? command(`conform explain ${quoted(name)}`, "the command that explains the op") : null);
}

/** A word of a POSIX shell. */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

function command(text, what) {
  return el("p", { class: "command" }, el("code", null, text), " ", copyButton(text, what));
}

function findingsOf(run, label) {
  if (!run.findings.length) return null;
  return el("section", null, el("h2", null, "What its failures have in common"), label ? el("h3", null, label) : null,
    el("ul", null, run.findings.map((one) => el("li", null, cut(one, 2000)))));
}

function dtypeTable(data, state, runs) {
  const several = runs.length > 1;
  const dtypes = data.dtypes.filter((dtype) => (!state.dtype || dtype === state.dtype) && runs.some((run) => run.rows.some((row) => row.dtype === dtype)));
  const heads = ["dtype", ...(several ? ["run"] : []), "passed", "not passed", "not judged", "error / bound", "tightest table", "bound and source"];
  const rows = dtypes.flatMap((dtype) => runs.flatMap((run, number) => run.rows.filter((row) => row.dtype === dtype).map((row) => [
    el("th", { scope: "row" }, cut(dtype, 40)),
    ...(several ? [data.runs[number].split(":")[0]] : []),
    el("td", { class: "number" }, row.pass.toLocaleString("en")),
    el("td", { class: row.failed ? "number fail" : "number" }, row.failed ? `✗ ${row.failed.toLocaleString("en")}` : "0"),
    el("td", { class: "number" }, row.open.toLocaleString("en")),
    el("td", { class: "number" }, row.error),
    row.tightest.map(([table_, cases]) => `${table_} ${cases}`).join(", ") || "–",
    el("td", { class: "reason" }, row.bounds.map(([bound, source]) => el("p", null, el("b", null, cut(bound, BOUND_LENGTH)), el("br"), cut(source, BOUND_LENGTH)))),
  ])));
  return table("By dtype", heads, rows);
}

/** The bounds in ulps that decided cases of a dtype. */
function limitsOf(dtype, runs) {
  return [...new Set(runs.flatMap((run) => run.rows.filter((row) => row.dtype === dtype).flatMap((row) => row.limits_ulp)))];
}

/** Why cases of the op were not judged; null if all were. */
function notJudged(data, state, op) {
  const only = { ...data, ops: data.ops.map(([name, family], place) => [place === op ? name : "", family]) };
  const groups = grouped(only, { ...state, find: data.ops[op][0], family: "" }, OPEN, true);
  if (!groups.length) return null;
  const rows = groups.map((group) => [
    ...(data.runs.length > 1 ? [data.runs[group.run].split(":")[0]] : []), data.statuses[group.status],
    el("td", { class: "reason" }, cut(data.reasons[group.reason], BOUND_LENGTH)),
    [...group.dtypes].map((dtype) => cut(data.dtypes[dtype], 40)).join(", "), el("td", { class: "number" }, group.count.toLocaleString("en")),
  ]);
  return el("section", null, el("h2", null, "Not judged"),
    table("Not judged", [...(data.runs.length > 1 ? ["run"] : []), "status", "reason", "dtypes", "cases"], rows));
}

function errorsBySize(data, state, runs) {
  const dtypes = data.dtypes.filter((dtype) => (!state.dtype || dtype === state.dtype) && runs.some((run) => dtype in run.histograms));
  const figures = dtypes.map((dtype) => histogram(dtype, runs.map((run) => run.histograms[dtype]), data.runs, limitsOf(dtype, runs)));
  return el("section", null, el("h2", null, "Errors by size"),
    el("p", { class: "note" }, figures.length
      ? "Elements that were compared, of all cases of the op; of the filters the dtype alone applies. An infinity for a number counts as the number 2^(emax + 1)."
      : "Not recorded: no element has an error in ulps, since all must be equal or nobody compared them."),
    el("div", { class: "figures-grid" }, figures));
}

function errorsAgainstInputs(data, state, runs) {
  const points = runs.flatMap((run, number) => run.points.map((one) => ({ ...one, run: data.runs[number].split(":")[0] }))).filter((one) => !state.dtype || one.dtype === state.dtype);
  const operands = [...new Set(points.flatMap((one) => Object.keys(one.at)))];
  const section = el("section", null, el("h2", null, "Error against input"));
  const wholly = "Of cases that passed run.json has the worst element only if it was written with --full-record.";
  if (!operands.length) {
    section.append(el("p", { class: "note" }, `Not recorded: no case has a worst element with an error in ulps. ${wholly}`));
    return section;
  }
  const shown = el("div");
  const select = el("select", null, operands.map((one) => el("option", { value: one }, cut(one, 60))));
  const draw = () => shown.replaceChildren(scatter(select.value, points, data.runs));
  select.addEventListener("change", draw);
  section.append(
    el("p", { class: "note" }, `The worst element of each case that the record tells it of; × is its bound. ${points.some((one) => one.status === "pass") ? "" : wholly} An operand of which several numbers reach an element cannot be drawn.`),
    el("p", null, el("label", null, "Against ", select)), shown);
  draw();
  return section;
}

// --- Failing cases ---------------------------------------------------------------------------------------------------

function failing(data, run, cases, all) {
  const label = runLabel(data, run);
  const head = label ? [el("h3", null, label)] : [];
  if (!cases.length) return el("div", null, head, el("p", null, all ? `None of ${count(all, "failing case")} passes the filters.` : "No case failed."));
  const told = el("p", { class: "note" }, cases.length < all ? `${cases.length.toLocaleString("en")} of ${count(all, "case")} pass the filters. ` : `${count(all, "case")}. `);
  const box = paged(cases, CASES_SHOWN, (some) => el("div", { class: "cases" }, some.map((one, place) => failingCase(data, run, one, cases.length === 1 && place === 0))));
  const openAll = el("button", { type: "button", onclick: () => box.querySelectorAll("details.case").forEach((one) => (one.open = true)) }, "Open all that are listed");
  told.append(openAll);
  return el("div", null, head, told, box);
}

function failingCase(data, run, one, isOpen) {
  const status = data.statuses[one.places.status];
  const elsewhere = one.ends.map((end, other) => (other === run ? null : `${data.runs[other].split(":")[0]}: ${end || "not in that run"}`)).filter(Boolean);
  const inner = el("div");
  const details = el("details", { class: "case", ontoggle: fill },
    el("summary", null, el("span", { class: "fail" }, `✗ ${status}`), " ", el("code", null, cut(one.id, 200)), " ", el("span", { class: "note" }, cut(one.reason, 200))),
    inner);
  function fill() {
    if (inner.childElementCount || !details.open) return;
    const lines = elsewhere.length ? [...one.lines, ["other runs", elsewhere.join("; ")]] : one.lines;
    inner.append(...[
      el("dl", { class: "lines" }, [["reason", one.reason], ...lines].map(([label, text]) => el("div", null, el("dt", null, cut(label, 60)), el("dd", null, text)))),
      ...one.commands.map(([label, text]) => el("div", { class: "told" }, el("span", { class: "label" }, label), command(text, `the command: ${label}`))),
      one.commands.length ? null : el("p", { class: "note" }, "Its commands are too long to be shown: run.json has the case."),
    ].filter(Boolean));
  }
  if (isOpen) details.open = true;
  return details;
}
