"use strict";
// Figures of one op, drawn by Observable Plot as SVG: errors by size, and errors against inputs. Each has its numbers
// as a table below it.

const WIDTH = 420;

/** How many elements have an error of which size: a histogram of one dtype, a row a run; limits: bounds in ulps. */
function histogram(name, runs, names, limits) {
  const dtype = cut(name, 40);
  const bins = runs.flatMap((told, run) => Object.entries(told || {}).map(([bin, number]) => ({ bin, number, run: names[run].split(":")[0] })));
  const sizes = bins.map((one) => Number(one.bin)).filter((one) => Number.isFinite(one));
  const [least, most] = sizes.length ? [Math.min(...sizes), Math.max(...sizes)] : [0, 0];
  const gap = Math.ceil(2 + (most - least) / 10); // bins between exact results and the smallest error, behind the largest
  const at = (bin) => (bin === "zero" ? least - gap : bin === "inf" ? most + gap : Number(bin));
  const label = (place) => (place === least - gap + 0.5 ? "0" : place === most + gap + 0.5 ? "no number" : `2^${place}`);
  const largest = Math.max(...bins.map((one) => one.number));
  const ticks = every(least, most, 6);
  if (bins.some((one) => one.bin === "zero")) ticks.unshift(least - gap + 0.5);
  if (bins.some((one) => one.bin === "inf")) ticks.push(most + gap + 0.5);
  const shownLimits = limits.filter((one) => one > 0).map((one) => ({ limit: one, x: Math.log2(one) })).filter((one) => one.x >= least - 1 && one.x <= most + 1);
  const plot = Plot.plot({
    width: WIDTH, height: 100 + 110 * runs.length, marginTop: 26, marginLeft: 60, marginBottom: 44,
    ariaLabel: `Errors of ${dtype} by size`, ariaDescription: "The same numbers stand in the table below.",
    x: { label: "error in ulp, from 2^k to 2^(k+1)", ticks, tickFormat: label, domain: [least - gap - 0.2, most + gap + 1.2] },
    y: { type: "log", label: "elements", domain: [0.7, largest * 1.6], ticks: powersOfTen(1, largest), tickFormat: "~s", grid: true },
    fy: runs.length > 1 ? { label: null } : undefined,
    marks: [
      Plot.rect(bins, { x1: (one) => at(one.bin) + 0.06, x2: (one) => at(one.bin) + 0.94, y1: 0.7, y2: "number", fy: runs.length > 1 ? "run" : undefined, fill: "currentColor", className: "bar" }),
      Plot.ruleY([0.7]),
      Plot.ruleX(shownLimits, { x: "x", stroke: "currentColor", strokeDasharray: "4 3", className: "limit" }),
      Plot.text(shownLimits, { x: "x", frameAnchor: "top", text: (one) => `bound ${briefly(String(one.limit))}`, dx: 4, textAnchor: "start", fill: "currentColor", className: "limit" }),
    ],
  });
  const rows = bins.map((one) => [...(runs.length > 1 ? [one.run] : []), sizeOf(one.bin), one.number.toLocaleString("en")]);
  return figure(dtype, plot, [...(runs.length > 1 ? ["run"] : []), "error in ulp", "elements"], rows);
}

function sizeOf(bin) {
  if (bin === "zero") return "0 (exact)";
  return bin === "inf" ? "NaN for a number" : `2^${bin} to 2^${Number(bin) + 1}`;
}

/** Every so-manieth integer from least to most, so that about `ticks` are left. */
function every(least, most, ticks) {
  const step = Math.max(1, Math.ceil((most - least) / ticks));
  const found = [];
  for (let at = Math.ceil(least / step) * step; at <= most; at += step) found.push(at);
  return found;
}

function powersOfTen(least, most) {
  const found = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most && found.length < 700; power++) found.push(10 ** power);
  return thinned(found, 7);
}

function thinned(values, most) {
  const step = Math.ceil(values.length / most);
  return values.filter((_, place) => place % step === 0);
}

/** A plot as one image to a screen reader, which has the numbers in the table below. */
function image(plot) {
  const svg = plot.matches("svg") ? plot : plot.querySelector(":scope > svg");
  svg.setAttribute("role", "img");
  plot.querySelectorAll("g[aria-label], path[aria-label]").forEach((one) => one.removeAttribute("aria-label"));
  return plot;
}

function figure(title, plot, heads, rows) {
  return el("figure", null, el("figcaption", null, title), image(plot),
    el("details", null, el("summary", null, `Numbers of ${title}`), table(`Numbers of ${title}`, heads, rows)));
}

/** Errors of worst elements against one number each: an operand, or the expected result. */
function scatter(operand, points, names) {
  const known = points.filter((one) => operand in one.at);
  const drawn = known.map((one) => ({ ...one, dtype: cut(one.dtype, 40), x: Number(one.at[operand]), y: Number(one.error), limit: Number(one.bound) }))
    .filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y) && one.y > 0);
  const rows = known.map((one) => [...(names.length > 1 ? [one.run] : []), one.dtype, one.at[operand], briefly(one.error), briefly(one.bound), one.status, one.id]);
  const heads = [...(names.length > 1 ? ["run"] : []), "dtype", operand, "error in ulp", "bound in ulp", "status", "case"];
  const left = known.length - drawn.length;
  const caption = `Error against ${operand}: ${count(drawn.length, "worst element")}${left ? `; ${left} more, with an input or an error that is zero, infinite or no number, stand in the table alone` : ""}`;
  const inner = el("div");
  if (drawn.length) inner.append(image(scatterPlot(operand, drawn)));
  return el("figure", { class: "wide" }, el("figcaption", null, caption), inner,
    el("details", null, el("summary", null, `Numbers of error against ${operand}`), paged(rows, 200, (some) => table(caption, heads, some))));
}

function scatterPlot(operand, drawn) {
  const limits = drawn.filter((one) => Number.isFinite(one.limit) && one.limit > 0);
  const ys = [...drawn.map((one) => one.y), ...limits.map((one) => one.limit)];
  const [least, most] = [Math.min(...ys), Math.max(...ys)];
  const dtypes = [...new Set(drawn.map((one) => one.dtype))];
  return Plot.plot({
    width: Math.min(2 * WIDTH, document.getElementById("op").clientWidth || 2 * WIDTH), height: 330, marginTop: 26, marginLeft: 68, marginBottom: 46,
    ariaLabel: `Error against ${operand}`, ariaDescription: "The same numbers stand in the table below.",
    x: { ...scaleOf(drawn.map((one) => one.x)), label: operand },
    y: { type: "log", label: "error in ulp", grid: true, domain: [least / 1.5, most * 1.5], ticks: powersOfTen(least, most).filter((one) => one >= least / 1.5), tickFormat: "~g" },
    symbol: { legend: true, domain: dtypes },
    marks: [
      Plot.dot(limits, { x: "x", y: "limit", r: 4, symbol: "times", stroke: "currentColor", strokeOpacity: 0.55 }),
      Plot.dot(drawn, { x: "x", y: "y", symbol: "dtype", r: 4, stroke: "currentColor", fill: (one) => (one.status === "pass" ? "none" : "currentColor"), className: "error", title: (one) => `${one.id}\n${operand} = ${one.at[operand]}\nerror ${briefly(one.error)} ulp, bound ${briefly(one.bound)}`, tip: true }),
    ],
  });
}

/** A scale for numbers of any size: linear where they are near each other, else by their exponents on both sides of 0. */
function scaleOf(values) {
  const sizes = values.map(Math.abs).filter((one) => one > 0);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  if (!sizes.length || most / least < 1e4) return { type: "linear" };
  const powers = thinned(powersOfTen(least, most).filter((one) => one >= least), 4);
  const ticks = [...(Math.min(...values) < 0 ? powers.map((one) => -one) : []), 0, ...(Math.max(...values) > 0 ? powers : [])];
  return { type: "symlog", constant: least, ticks, tickFormat: (value) => (value ? value.toExponential(0) : "0") };
}

/** A number of a record with six digits; what JSON has no number for stands there as a word. */
function briefly(text) {
  const number = Number(text);
  return Number.isFinite(number) ? String(Number(number.toPrecision(6))) : text === "None" ? "must be equal" : text;
}
