"use strict";
// The map of ops and dtypes, by family, and what failed or was not judged, by reason: all of them of the counts.

const FAILED = new Set(SOME["not passed"]);
const OPEN = new Set(SOME["not judged"]);
const REASON_LENGTH = 200;
const GROUPS_SHOWN = 50;

/** Counts by run, op, dtype and status, of the rows that pass the sieve. */
function tallied(data, sieved) {
  const [dtypes, statuses] = [data.dtypes.length, data.statuses.length];
  const size = data.ops.length * dtypes * statuses;
  const counts = data.runs.map(() => new Int32Array(size));
  forRows(data, sieved, (run, op, dtype, status, reason, count_) => {
    counts[run][(op * dtypes + dtype) * statuses + status] += count_;
  });
  const cell = (run, op, dtype) => counts[run].subarray((op * dtypes + dtype) * statuses, (op * dtypes + dtype + 1) * statuses);
  return { cell };
}

/** Passed, failed and not judged of counts by status. */
function summed(data, counts) {
  const sum = { passed: 0, failed: 0, open: 0 };
  counts.forEach((number, status) => {
    const name = data.statuses[status];
    sum[name === "pass" ? "passed" : FAILED.has(name) ? "failed" : "open"] += number;
  });
  return sum;
}

function told(data, counts) {
  return [...counts].map((number, status) => (number ? `${number} ${data.statuses[status]}` : "")).filter(Boolean).join(", ");
}

/** Draws the map; gives back how many ops and cases it shows. */
function drawMap(data, state, box) {
  const tally = tallied(data, sieve(data, state));
  const shown = { ops: 0, cases: 0 };
  const sections = data.families.map((family, number) => {
    const ops = data.ops.flatMap(([, one], op) => (one === number ? [op] : []));
    const rows = ops.map((op) => rowOf(data, state, tally, op)).filter((row) => row);
    if (!rows.length) return null;
    shown.ops += rows.length;
    rows.forEach((row) => (shown.cases += row.cases));
    return drawFamily(data, state, tally, family, rows);
  });
  box.replaceChildren(...sections.filter((one) => one));
  return shown;
}

/** What an op shows under the filters, or null. */
function rowOf(data, state, tally, op) {
  const dtypes = data.dtypes.map((_, dtype) => dtype).filter((dtype) => data.runs.some((_, run) => tally.cell(run, op, dtype).some(Boolean)));
  const differs = data.runs.length > 1 && dtypes.some((dtype) => data.runs.some((_, run) => told(data, tally.cell(run, op, dtype)) !== told(data, tally.cell(0, op, dtype))));
  if (!dtypes.length || (state.differs && !differs)) return null;
  const cases = dtypes.reduce((sum, dtype) => sum + data.runs.reduce((all, _, run) => all + tally.cell(run, op, dtype).reduce((a, b) => a + b, 0), 0), 0);
  return { op, dtypes, cases };
}

function drawFamily(data, state, tally, family, rows) {
  const dtypes = data.dtypes.map((_, dtype) => dtype).filter((dtype) => rows.some((row) => row.dtypes.includes(dtype)));
  const several = data.runs.length > 1;
  const heads = ["op", ...(several ? ["run"] : []), "all", ...dtypes.map((dtype) => cut(data.dtypes[dtype], 24))];
  const body = rows.flatMap((row) => data.runs.map((_, run) => drawRow(data, state, tally, row, run, dtypes)));
  const id = `family-${data.families.indexOf(family)}`;
  return el("section", { class: "family" },
    el("h3", { id }, cut(family, 80), " ", el("small", null, `${count(rows.length, "op")}; ${sums(data, tally, rows)}`)),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": id },
      el("table", { class: "map" },
        el("thead", null, el("tr", null, heads.map((head, place) => el("th", { scope: "col", class: place > (several ? 1 : 0) ? "number" : null }, el("span", null, head))))),
        el("tbody", null, body))));
}

/** `A: 20 of 24 judged cases pass; B: ...`. */
function sums(data, tally, rows) {
  return data.runs.map((name, run) => {
    const sum = rows.reduce((all, { op, dtypes }) => dtypes.reduce((some, dtype) => added(some, summed(data, tally.cell(run, op, dtype))), all), NOTHING);
    const which = data.runs.length > 1 ? `${name.split(":")[0]}: ` : "";
    return `${which}${sum.passed.toLocaleString("en")} of ${(sum.passed + sum.failed).toLocaleString("en")} judged cases pass`;
  }).join("; ");
}

const NOTHING = { passed: 0, failed: 0, open: 0 };

function added(one, other) {
  return { passed: one.passed + other.passed, failed: one.failed + other.failed, open: one.open + other.open };
}

function drawRow(data, state, tally, { op }, run, dtypes) {
  const several = data.runs.length > 1;
  const name = data.ops[op][0];
  const counts = dtypes.map((dtype) => tally.cell(run, op, dtype));
  const all = counts.reduce((sum, one) => added(sum, summed(data, one)), NOTHING);
  const head = run ? null : el("th", { scope: "row", rowspan: several ? data.runs.length : null }, opLink(state, name));
  return el("tr", { class: several && !run ? "first" : null }, head,
    several ? el("th", { scope: "row", class: "run" }, data.runs[run].split(":")[0]) : null,
    cell(all, null, null),
    dtypes.map((dtype, place) => cell(summed(data, counts[place]), `${data.dtypes[dtype]}: ${told(data, counts[place])}`, addressOf({ ...state, find: "", op: name, dtype: data.dtypes[dtype] }), `${name} ${data.dtypes[dtype]}`)));
}

function opLink(state, name) {
  return el("a", { href: addressOf({ ...state, find: "", op: name }) }, cut(name.replace(/^aten::/, ""), 60));
}

/** One cell: passed of judged, with a link where something failed. */
function cell(sum, title, address, label) {
  if (sum.failed) {
    const text = `✗ ${sum.failed}/${sum.failed + sum.passed}`;
    const shown = address ? el("a", { href: address, "aria-label": `${label}: ${sum.failed} of ${sum.failed + sum.passed} not passed` }, text) : text;
    return el("td", { class: "fail", title }, shown);
  }
  if (sum.passed) return el("td", { class: "pass", title }, sum.passed);
  return sum.open ? el("td", { class: "open", title }, `– ${sum.open}`) : el("td");
}

/** Cases that pass the sieve and have one of these statuses, together by run, status, reason and, if asked, op. */
function grouped(data, state, statuses, byOp) {
  const groups = new Map();
  forRows(data, sieve(data, state), (run, op, dtype, status, reason, number) => {
    if (!statuses.has(data.statuses[status])) return;
    const key = `${byOp ? op : ""} ${status} ${reason} ${run}`;
    const group = groups.get(key) || { run, status, reason, ops: new Set(), dtypes: new Set(), count: 0 };
    group.ops.add(op);
    group.dtypes.add(dtype);
    group.count += number;
    groups.set(key, group);
  });
  return [...groups.values()];
}

function drawFailures(data, state, box) {
  const groups = grouped(data, state, FAILED, true);
  const heads = [...(data.runs.length > 1 ? ["run"] : []), "op", "dtypes", "status", "reason", "cases"];
  box.replaceChildren(groups.length ? paged(groups, GROUPS_SHOWN, (rows) => table("Failures", heads, rows.map((group) => [
    ...(data.runs.length > 1 ? [data.runs[group.run].split(":")[0]] : []),
    el("th", { scope: "row" }, [...group.ops].map((op) => opLink(state, data.ops[op][0]))),
    [...group.dtypes].map((dtype) => cut(data.dtypes[dtype], 24)).join(", "),
    el("td", { class: "fail" }, `✗ ${data.statuses[group.status]}`),
    el("td", { class: "reason" }, cut(data.reasons[group.reason], REASON_LENGTH)),
    el("td", { class: "number" }, group.count.toLocaleString("en")),
  ]))) : el("p", null, "No case under these filters failed."));
}

function drawNotJudged(data, state, box) {
  const groups = grouped(data, state, OPEN, false).sort((a, b) => b.count - a.count);
  const heads = [...(data.runs.length > 1 ? ["run"] : []), "status", "reason", "ops", "cases"];
  box.replaceChildren(groups.length ? paged(groups, GROUPS_SHOWN, (rows) => table("Not judged", heads, rows.map((group) => [
    ...(data.runs.length > 1 ? [data.runs[group.run].split(":")[0]] : []),
    data.statuses[group.status],
    el("td", { class: "reason" }, cut(data.reasons[group.reason], REASON_LENGTH)),
    el("td", { class: "reason" }, someOps(data, state, [...group.ops])),
    el("td", { class: "number" }, group.count.toLocaleString("en")),
  ]))) : el("p", null, "Every case under these filters was judged."));
}

function someOps(data, state, ops) {
  const most = 6;
  const links = ops.slice(0, most).flatMap((op, place) => [place ? ", " : "", opLink(state, data.ops[op][0])]);
  return ops.length > most ? [...links, ` and ${ops.length - most} more`] : links;
}
