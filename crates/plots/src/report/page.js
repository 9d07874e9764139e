// The script of a report: it links the static figures, and draws further ones on request.
// Text is only inserted as text nodes, so that data are never parsed as markup.
"use strict";
(() => {

// ---- Data: columns of numbers, decoded from base64.

const root = document.documentElement;
const data = JSON.parse(document.getElementById("data").textContent);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/** Decodes base64. */
const bytesOf = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));

/** Decodes numbers from the upper `count` bytes of single-precision floats, times a power of two. */
function numbersOf(text, count, exponent) {
  const bytes = bytesOf(text);
  const view = new DataView(new ArrayBuffer(4));
  const numbers = exponent ? new Float64Array(bytes.length / count) : new Float32Array(bytes.length / count);
  const factor = 2 ** exponent;
  for (let place = 0, at = 0; place < numbers.length; place++) {
    let bits = 0;
    for (let k = 0; k < 4; k++) bits = bits << 8 | (k < count ? bytes[at++] : 0);
    view.setInt32(0, bits);
    numbers[place] = exponent ? view.getFloat32(0) * factor : view.getFloat32(0);
  }
  return numbers;
}

/** Decodes four-byte integers. */
function wholeOf(text) {
  const view = new DataView(bytesOf(text).buffer);
  return Uint32Array.from({ length: view.byteLength / 4 }, (_, place) => view.getUint32(4 * place));
}

const rows = data.rows;
const everyRow = Array.from({ length: rows }, (_, row) => row);
const numbersOfRows = typeof data.numbers === "string" ? wholeOf(data.numbers) : data.numbers;
const drawn = data.drawn ? wholeOf(data.drawn) : null;
/** Converts the position of a row among the drawn rows to its position in the report. */
const rowOfDot = place => drawn ? drawn[place] : place;
const players = data.players;
const columns = players.length + (data.rest > 0 ? 1 : 0);
const placeOfPlayer = new Map(players.map((player, column) => [player.place, column]));

for (const feature of data.features) {
  if (feature.codes) {
    const codes = bytesOf(feature.codes);
    feature.inputs = Float64Array.from(codes, code => feature.dictionary[code] ?? NaN);
  } else {
    feature.inputs = numbersOf(feature.numbers, feature.bytes, feature.exponent);
  }
}

/** Returns the data of an output, which are decoded on first use. */
function outputOf(place) {
  const output = data.outputs[place];
  if (!output.phi) {
    output.phi = numbersOf(output.values, output.bytes, output.exponent);
    output.predicted = numbersOf(output.predictions, 4, output.exponent);
    output.half = output.halves ? numbersOf(output.halves, 2, output.exponent) : null;
    const bases = typeof output.bases === "string" ? numbersOf(output.bases, 4, output.exponent) : null;
    output.base = row => bases ? bases[row] : output.bases;
    output.value = (row, column) => output.phi[column * rows + row];
    output.halfWidth = (row, column) => output.half ? output.half[column * rows + row] : 0;
  }
  return output;
}

const nameOfRow = row => data.ids ? data.ids[row] : `row ${numbersOfRows[row]}`;

/** Formats the input of a feature. */
function shownInput(feature, row) {
  const input = feature.inputs[row];
  if (Number.isNaN(input)) return "missing";
  return feature.words?.[input] ?? digits(input, 5);
}

/** Formats the inputs of a player's features. */
const shownInputs = (player, row) =>
  player.features.map(feature => shownInput(data.features[feature], row)).join(", ")
  + (player.is_whole ? "" : ", …");

const onlyFeature = player =>
  player.is_whole && player.features.length === 1 ? data.features[player.features[0]] : null;

// ---- Numbers and positions, formatted as in the static figures.

/** Formats a number with this many significant digits, without trailing zeros. */
function digits(number, count) {
  if (Number.isNaN(number)) return "missing";
  if (number === 0) return "0";
  const size = Math.abs(number), sign = number < 0 ? "−" : "";
  const bare = text => text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  if (size < 1e-4 || size >= 1e9) {
    const [mantissa, exponent] = size.toExponential(count - 1).split("e");
    return `${sign}${bare(mantissa)}e${exponent.replace("+", "").replace("-", "−")}`;
  }
  const before = Math.floor(Math.log10(size)) + 1;
  return sign + bare(size.toFixed(Math.max(count - before, 0)));
}

const signed = (number, count) => (number > 0 ? "+" : "") + digits(number, count);
const withError = (text, half) =>
  Number.isNaN(half) ? `${text}, error unknown` : half ? `${text} ± ${digits(half, 2)}` : text;

const pen = document.createElement("canvas").getContext("2d");
/** Returns the width of a text in a figure. */
function widthOf(text, size) {
  pen.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
  return pen.measureText(text).width;
}

/** Shortens a text to a width by replacing its middle. */
function shortened(text, room, size) {
  if (widthOf(text, size) <= room) return text;
  const letters = [...text];
  for (let count = Math.min(letters.length - 1, 200); count > 1; count--) {
    const start = Math.ceil(count / 2), end = count - start;
    const short = letters.slice(0, start).join("") + "…" + letters.slice(letters.length - end).join("");
    if (widthOf(short, size) <= room) return short;
  }
  return "…";
}

/** Maps numbers to positions on an axis, with round ticks. */
function scaleOf(low, high, from, to) {
  if (!(high - low > Math.max(Math.abs(low), Math.abs(high)) * 1e-12)) {
    const room = Math.abs(low) < 1e-290 ? 1 : 0.5 * Math.abs(low);
    [low, high] = [low - room, high + room];
  }
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const tick = (at, exponent) => largest >= 1e-4 && largest < 1e7
    ? at.toFixed(Math.max(-exponent, 0)).replace(/^-(?=.*[1-9])/, "−").replace("-", "")
    : digits(at, Math.max(Math.floor(Math.log10(Math.abs(at) || 1)) - exponent + 1, 1));
  const scale = number => from + (number - low) / (high - low) * (to - from);
  scale.ticks = most => {
    const power = Math.floor(Math.log10((high - low) / most));
    for (const [times, up] of [[1, 0], [2, 0], [5, 0], [1, 1], [2, 1], [5, 1]]) {
      const step = times * 10 ** (power + up);
      const first = Math.ceil(low / step - 1e-9), count = Math.floor(high / step + 1e-9) - first + 1;
      if (count <= most) {
        return Array.from({ length: Math.max(count, 0) }, (_, k) => (first + k) * step)
          .map(at => [at, tick(at, power + up)]);
      }
    }
    return [];
  };
  return scale;
}

// ---- Elements.

/** Creates an element with properties and children; strings become text nodes. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value; else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Creates an SVG element. */
function draw(tag, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.append(text);
  return element;
}

/** Creates a figure, with a title for screen readers. */
function figure(width, height, title) {
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": title, "font-family": "system-ui,'DejaVu Sans',sans-serif" });
  svg.text = (x, y, text, { size = 13, anchor = "start", paint = "ink", bold = false } = {}) =>
    svg.append(draw("text", { x, y, dy: ".35em", "font-size": size, "text-anchor": anchor,
      class: `f-${paint}`, ...(bold ? { "font-weight": 600 } : {}) }, text));
  svg.line = (x1, y1, x2, y2, paint, width = 1, dashes = "") =>
    svg.append(draw("line", { x1, y1, x2, y2, class: `k-${paint}`, "stroke-width": width,
      ...(dashes ? { "stroke-dasharray": dashes } : {}) }));
  svg.bar = (x, y, width, height, paint, says) => {
    const bar = draw("rect", { x, y, width: Math.max(width, 1), height, class: `f-${paint}` });
    bar.append(draw("title", {}, says));
    svg.append(bar);
  };
  svg.whisker = (from, to, y) => {
    svg.line(from, y, to, y, "ink", 1.2);
    for (const x of [from, to]) svg.line(x, y - 3.5, x, y + 3.5, "ink", 1.2);
  };
  svg.axis = (scale, from, to, top, bottom, label) => {
    for (const [at, text] of scale.ticks(Math.max(Math.floor((to - from) / 90), 2))) {
      svg.line(scale(at), top, scale(at), bottom, "grid");
      svg.text(scale(at), bottom + 11, text, { size: 11, anchor: "middle", paint: "muted" });
    }
    svg.text((from + to) / 2, bottom + 29, shortened(label, 400, 11),
      { size: 11, anchor: "middle", paint: "muted" });
  };
  return svg;
}

/** Creates a scrollable box around a figure or a table. */
const boxed = (label, child) =>
  make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label }, child);

// ---- State: the output, the row and the selected rows.

const state = { output: 0, chosen: -1, selected: null, says: "" };
const live = make("p", { className: "live", role: "status", "aria-live": "polite" });
const spoken = make("p", { className: "unseen", role: "status", "aria-live": "polite" });
const chosenPanel = make("aside", { id: "chosen", "aria-label": "Selected row", hidden: true });
const selectedPanel = make("section", { id: "selected", "aria-labelledby": "selected-title", hidden: true });

const countSelected = () => state.selected.reduce((sum, is) => sum + is, 0);

function say() {
  const of = (rows === 1 ? "1 row" : `${rows} rows`) + (rows < data.all ? " in this report" : "");
  live.textContent = state.selected
    ? `${countSelected()} of ${of} selected${state.says ? ": " + state.says : ""}`
    : `${of}; none selected.`;
}

/** Selects the rows that meet a condition; without a condition, clears the selection. */
function select(meets, says) {
  state.selected = meets ? Uint8Array.from(everyRow, row => meets(row) ? 1 : 0) : null;
  state.says = says;
  clearButton.disabled = !meets;
  say();
  show();
}

function choose(row) {
  state.chosen = row;
  showChosen();
  markChosen();
}

/** Redraws everything that depends on the output and the selection. */
function show() {
  for (const card of cards) if (card.output === state.output) card.show();
  showSelected();
  showChosen();
  markChosen();
  for (const table of tables) if (table.output === state.output) table.show();
}

// ---- Typed conditions, such as: age >= 40 and not (city = Paris or prediction < 0)

const SIGNS = { "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "!=": (a, b) => a !== b && !Number.isNaN(a),
  "==": (a, b) => a === b, "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b };

/** Returns the quantities that can be compared: names, each with a function from a row to a number. */
function quantities() {
  const known = data.features.map(feature =>
    ({ name: feature.name, feature, number: row => feature.inputs[row] }));
  known.push({ name: "prediction", number: row => outputOf(state.output).predicted[row] });
  known.push({ name: "row", number: row => +numbersOfRows[row] });
  players.forEach((player, column) =>
    known.push({ name: `value of ${player.name}`,
      number: row => outputOf(state.output).value(row, column) }));
  return known.sort((a, b) => b.name.length - a.name.length);
}

/** The error for a text that does not have the form of a condition. */
class Malformed extends Error {
  constructor(problem) {
    super(`${problem}; expected a feature, one of < <= > >= = !=, and a number or a category, `
      + "e.g. age >= 40 (combine conditions with and, or, not)");
  }
}

/** Lists names in a message: at most ten, and the number of others. */
const listed = names =>
  names.slice(0, 10).join(", ") + (names.length > 10 ? ` and ${names.length - 10} more` : "");

/** Parses a condition into a function of a row; throws an Error with the reason if it is invalid. */
function conditionOf(text) {
  const known = quantities();
  let at = 0;
  const skip = () => { while (/\s/.test(text[at] ?? "")) at++; };
  const word = wanted => {
    skip();
    const end = at + wanted.length;
    if (text.slice(at, end).toLowerCase() !== wanted || /[\p{L}\p{N}_]/u.test(text[end] ?? "")) return false;
    at = end;
    return true;
  };
  const sign = () => {
    skip();
    const found = Object.keys(SIGNS).find(sign => text.startsWith(sign, at));
    at += found?.length ?? 0;
    return found;
  };
  const quoted = () => {
    if (text[at] !== "\"") return null;
    const found = /^"((?:[^"]|"")*)"/.exec(text.slice(at));
    if (!found) throw new Malformed("unterminated “\"”");
    at += found[0].length;
    return found[1].replaceAll("\"\"", "\"");
  };
  const quantity = () => {
    skip();
    const start = at, name = quoted();
    if (name !== null) {
      const found = known.find(of => of.name === name);
      if (found) return found;
      // The quotation mark may be part of a name.
      at = start;
    }
    const rest = text.slice(at).toLowerCase();
    for (const of of known) {
      const end = at + of.name.length;
      if (of.name && rest.startsWith(of.name.toLowerCase()) && /^\s*([<>=]|!=)/.test(text.slice(end))) {
        at = end;
        return of;
      }
    }
    const left = text.slice(at), wrong = /^[^<>=!]*/.exec(left)[0].trim();
    if (!wrong) throw new Malformed("missing feature");
    if (!/[<>=]/.test(left)) throw new Malformed(`missing comparison after “${wrong}”`);
    const names = data.features.length ? data.features.map(feature => feature.name) : ["prediction"];
    throw new Error(`unknown feature “${wrong}”; available features: ${listed(names)}`);
  };
  const comparison = () => {
    const of = quantity(), by = sign();
    if (!by) throw new Malformed(`missing comparison after “${of.name}”`);
    skip();
    let operand = quoted();
    if (operand === null) {
      // Take a known category, which may contain spaces, or the text before the next “and”, “or” or “)”.
      const words = [...(of.feature?.words ?? [])].sort((a, b) => b.length - a.length);
      operand = words.find(word => word && text.startsWith(word, at)
          && /^(\s*\)|\s+(and|or)\b|\s*$)/i.test(text.slice(at + word.length)))
        ?? /^.*?(?=\s*\)|\s+(?:and|or)\b|\s*$)/i.exec(text.slice(at))[0];
      at += operand.length;
    }
    if (!operand) throw new Malformed(`missing number or category after “${by}”`);
    const compare = SIGNS[by], isOfOrder = !by.includes("=") || by === "<=" || by === ">=";
    if (operand === "missing") {
      if (isOfOrder) throw new Error("missing supports only = and !=");
      return row => Number.isNaN(of.number(row)) === (by !== "!=");
    }
    if (of.feature?.words) {
      if (isOfOrder) {
        throw new Error(`the inputs of “${of.name}” are categories, which support only = and !=`);
      }
      const code = of.feature.words.indexOf(operand);
      if (code < 0) {
        throw new Error(`the inputs of “${of.name}” never equal “${operand}”; `
          + `categories: ${listed(of.feature.words)}`);
      }
      return row => compare(of.number(row), code);
    }
    const number = Number(operand.replace("−", "-"));
    if (!operand.trim() || Number.isNaN(number)) {
      const numbers = of.feature ? `the inputs of “${of.name}” are numbers` : `“${of.name}” is a number`;
      throw new Error(`${numbers}; write a number instead of “${operand}”`);
    }
    return row => compare(of.number(row), number);
  };
  const single = () => {
    if (word("not")) {
      const inner = single();
      return row => !inner(row);
    }
    skip();
    const start = at;
    if (text[at] === "(") {
      at++;
      const inner = either();
      skip();
      if (text[at] === ")") {
        at++;
        return inner;
      }
      at = start;
      throw new Malformed("missing “)”");
    }
    return comparison();
  };
  const both = () => {
    let left = single();
    while (word("and")) {
      const one = left, other = single();
      left = row => one(row) && other(row);
    }
    return left;
  };
  const either = () => {
    let left = both();
    while (word("or")) {
      const one = left, other = both();
      left = row => one(row) || other(row);
    }
    return left;
  };
  const found = either();
  skip();
  if (at < text.length) throw new Malformed(`unexpected “${text.slice(at)}”`);
  return found;
}

/** Rounds a number to the digits shown, so that a typed condition selects the same rows. */
const asTyped = number => +number.toPrecision(4);

/** Quotes a name for a condition; quotes in it are doubled. */
const typed = name => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `"${name.replaceAll("\"", "\"\"")}"`;

// ---- Static figures: hover, choose, dim and brush dots.

const tip = make("div", { className: "tip", hidden: true, "aria-hidden": "true" });

function showTip(lines, x, y) {
  tip.replaceChildren(...lines.map(line => make("div", { dir: "auto" }, line)));
  tip.hidden = false;
  const room = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - room.width - 8))}px`;
  tip.style.top = `${y + 18 + room.height > innerHeight ? Math.max(4, y - room.height - 10) : y + 18}px`;
}

/** Returns the tooltip of a player in a row. */
function linesOf(row, column) {
  const output = outputOf(state.output), player = players[column];
  const lines = [nameOfRow(row)];
  if (data.features.length) lines.push(`${player.name} = ${shownInputs(player, row)}`);
  lines.push(`value ${withError(signed(output.value(row, column), 5), output.halfWidth(row, column))}`);
  return lines;
}

/** A static figure of the page. */
class Card {
  constructor(element) {
    this.element = element;
    this.kind = element.dataset.kind;
    this.output = +element.dataset.output;
    this.box = element.querySelector(".scroll");
    this.svg = element.querySelector("svg");
    this.paths = all("path[data-rows]", this.svg);
    this.at = -1;
    if (this.paths.length) this.listen();
    if (this.kind === "waterfall" || this.kind === "force") this.offerRow();
    for (const line of all("[data-row]", this.svg)) {
      line.classList.add("way");
      line.addEventListener("click", () => choose(rowOfDot(+line.dataset.row)));
    }
    this.offerCsv();
  }

  /** All dots with their positions, rows and players, read on first use. */
  get dots() {
    if (!this.read) {
      this.read = [];
      for (const path of this.paths) {
        const column = placeOfPlayer.get(+path.dataset.player);
        const places = path.getAttribute("d").split("M").slice(1);
        path.dataset.rows.split(" ").forEach((place, k) => {
          const [x, y] = places[k].split(/[ h]/);
          this.read.push({ x: +x, y: +y, row: rowOfDot(+place), column, path });
        });
      }
      this.read = this.read.filter(dot => dot.column !== undefined);
    }
    return this.read;
  }

  listen() {
    this.box.classList.add("dots");
    this.box.setAttribute("aria-description",
      "Move between dots with the arrow keys, select the row of a dot with Enter. "
      + "Drag horizontally to select rows.");
    this.box.addEventListener("pointermove", event => this.move(event));
    this.box.addEventListener("pointerleave", () => this.leave());
    this.box.addEventListener("pointerdown", event => this.press(event));
    this.box.addEventListener("pointerup", event => this.release(event));
    this.box.addEventListener("keydown", event => this.key(event));
    this.box.addEventListener("blur", () => this.leave());
  }

  /** Returns the position of the pointer in units of the figure. */
  place(event) {
    const room = this.svg.getBoundingClientRect(), box = this.svg.viewBox.baseVal;
    return [(event.clientX - room.left) * box.width / room.width,
      (event.clientY - room.top) * box.height / room.height];
  }

  nearest(x, y, most) {
    let found = -1, least = most * most;
    this.dots.forEach((dot, place) => {
      if (state.selected && !state.selected[dot.row]) return;
      const away = (dot.x - x) ** 2 + (dot.y - y) ** 2;
      if (away < least) [found, least] = [place, away];
    });
    return found;
  }

  move(event) {
    const [x, y] = this.place(event);
    if (this.from) {
      if (Math.abs(x - this.from[0]) > 5) this.drag(x);
      return;
    }
    const found = this.nearest(x, y, 12);
    if (found < 0) this.leave(); else this.point(found, event.clientX, event.clientY);
  }

  /** Shows the ring and the tooltip of a dot. */
  point(place, x, y) {
    const dot = this.dots[place];
    if (this.at !== place || tip.hidden) {
      this.at = place;
      this.ring?.remove();
      this.ring = draw("circle", { cx: dot.x, cy: dot.y, r: 6, class: "ring" });
      this.svg.append(this.ring);
    }
    if (x === undefined) {
      const room = this.svg.getBoundingClientRect(), box = this.svg.viewBox.baseVal;
      [x, y] = [room.left + dot.x * room.width / box.width, room.top + dot.y * room.height / box.height];
    }
    showTip(linesOf(dot.row, dot.column), x, y);
  }

  leave() {
    this.ring?.remove();
    tip.hidden = true;
  }

  /** Moves between dots with the arrow keys: left and right within a player, up and down to the nearest
   * dot of the next player. */
  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter" && this.at >= 0) return choose(this.dots[this.at].row);
    if (event.key === "Escape") return this.leave();
    if (!steps[event.key] && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    const order = this.order ??= this.dots.map((_, place) => place)
      .sort((a, b) => this.dots[a].x - this.dots[b].x || this.dots[a].y - this.dots[b].y);
    const here = this.dots[this.at] ?? this.dots[order[0]];
    const line = order.filter(place => this.dots[place].column === here.column);
    let next = line[0];
    if (event.key === "End") next = line.at(-1);
    else if (event.key !== "Home" && this.at >= 0) {
      const [across, down] = steps[event.key];
      if (across) next = line[Math.max(0, Math.min(line.length - 1, line.indexOf(this.at) + across))];
      else next = this.above(here, down) ?? this.at;
    }
    this.point(next);
    const dot = this.dots[next];
    this.box.scrollLeft = Math.min(
      Math.max(this.box.scrollLeft, dot.x - this.box.clientWidth + 20), dot.x - 20);
    spoken.textContent = linesOf(dot.row, dot.column).join(", ");
  }

  /** Returns the nearest dot of the player above or below; for one player, the next dot above or below. */
  above(here, down) {
    const middle = new Map();
    for (const dot of this.dots) {
      const known = middle.get(dot.column) ?? [0, 0];
      middle.set(dot.column, [known[0] + dot.y, known[1] + 1]);
    }
    const heights = [...middle].map(([column, [sum, count]]) => [column, sum / count])
      .sort((a, b) => a[1] - b[1]);
    const isAlone = heights.length === 1;
    const column = isAlone ? here.column
      : heights[heights.findIndex(([of]) => of === here.column) + down]?.[0];
    let found, least = Infinity;
    this.dots.forEach((dot, place) => {
      if (dot.column !== column || isAlone && (dot.y - here.y) * down <= 0) return;
      const away = isAlone ? Math.hypot(dot.x - here.x, dot.y - here.y) : Math.abs(dot.x - here.x);
      if (away < least) [found, least] = [place, away];
    });
    return found;
  }

  press(event) {
    if (event.button || event.pointerType === "touch") return;
    this.from = this.place(event);
  }

  drag(x) {
    tip.hidden = true;
    this.ring?.remove();
    if (!this.band) {
      this.band = draw("rect", { y: 0, height: this.svg.viewBox.baseVal.height, class: "band" });
      this.svg.append(this.band);
    }
    this.band.setAttribute("x", Math.min(x, this.from[0]));
    this.band.setAttribute("width", Math.abs(x - this.from[0]));
  }

  release(event) {
    const from = this.from, [x, y] = this.place(event);
    this.from = null;
    if (this.band) {
      this.band.remove();
      this.band = null;
      this.brush(Math.min(from[0], x), Math.max(from[0], x), from[1]);
    } else if (from || event.pointerType === "touch") {
      const found = this.nearest(x, y, event.pointerType === "touch" ? 24 : 12);
      if (found >= 0) choose(this.dots[found].row);
    }
  }

  /** Selects the rows between two positions: by values in a beeswarm plot, by inputs in a scatter plot. */
  brush(left, right, y) {
    const output = outputOf(this.output);
    if (this.kind === "scatter") return this.brushInputs(left, right);
    const place = this.dots.reduce((near, dot, place) =>
      Math.abs(dot.y - y) < Math.abs(this.dots[near].y - y) ? place : near, 0);
    const column = this.dots[place].column;
    const toNumber = inverse(this.dots.map(dot => [dot.x, output.value(dot.row, dot.column)]));
    const [low, high] = [toNumber(left), toNumber(right)].map(asTyped);
    const name = typed(`value of ${players[column].name}`);
    apply(row => output.value(row, column) >= low && output.value(row, column) <= high,
      `${name} >= ${digits(low, 4)} and ${name} <= ${digits(high, 4)}`);
  }

  brushInputs(left, right) {
    const feature = onlyFeature(players[this.dots[0].column]);
    const name = typed(feature.name), parts = [], tests = [];
    const middleOf = meets => {
      const places = this.dots.filter(dot => meets(feature.inputs[dot.row])).map(dot => dot.x);
      return places.length ? places.reduce((sum, x) => sum + x, 0) / places.length : NaN;
    };
    const isWithin = x => x >= left && x <= right;
    if (feature.words) {
      feature.words.forEach((word, code) => {
        if (!isWithin(middleOf(input => input === code))) return;
        parts.push(`${name} = ${typed(word)}`);
        tests.push(row => feature.inputs[row] === code);
      });
    } else {
      const toNumber = inverse(this.dots.map(dot => [dot.x, feature.inputs[dot.row]]));
      const [low, high] = [toNumber(left), toNumber(right)].map(asTyped);
      const isMet = row => feature.inputs[row] >= low && feature.inputs[row] <= high;
      if (everyRow.some(isMet)) {
        parts.push(`${name} >= ${digits(low, 4)} and ${name} <= ${digits(high, 4)}`);
        tests.push(isMet);
      }
    }
    if (isWithin(middleOf(Number.isNaN))) {
      parts.push(`${name} = missing`);
      tests.push(row => Number.isNaN(feature.inputs[row]));
    }
    if (!parts.length) return apply(() => false, `${name} in the selected area`);
    apply(row => tests.some(test => test(row)), parts.join(" or "));
  }

  /** Dims the dots of unselected rows, and adds a second bar to each bar. */
  show() {
    for (const extra of all(".extra", this.svg)) extra.remove();
    for (const path of this.paths) path.classList.toggle("dim", !!state.selected);
    if (!state.selected) return;
    const parts = new Map(this.paths.map(path => [path, []]));
    for (const dot of this.dots) {
      if (state.selected[dot.row]) parts.get(dot.path).push(`M${dot.x} ${dot.y}h0`);
    }
    for (const [path, places] of parts) {
      const bright = path.cloneNode(false);
      bright.removeAttribute("data-rows");
      bright.classList.remove("dim");
      bright.classList.add("extra");
      bright.setAttribute("d", places.join(""));
      if (places.length) path.after(bright);
    }
    if (this.kind === "bar") this.showBars();
  }

  /** Draws a thin bar below each bar: the mean |value| over the selected rows. */
  showBars() {
    const output = outputOf(this.output), count = countSelected();
    const bars = all("rect[data-player]", this.svg).filter(bar => placeOfPlayer.has(+bar.dataset.player));
    const meanOf = bar => output.means[placeOfPlayer.get(+bar.dataset.player)];
    const widest = bars.reduce((most, bar) => meanOf(bar) > meanOf(most) ? bar : most, bars[0]);
    if (!widest || !(meanOf(widest) > 0) || !count) return;
    const unit = widest.width.baseVal.value / meanOf(widest);
    for (const bar of bars) {
      const column = placeOfPlayer.get(+bar.dataset.player);
      const mean = everyRow.reduce((sum, row) =>
        sum + state.selected[row] * Math.abs(output.value(row, column)), 0) / count;
      const [x, y] = [bar.x.baseVal.value, bar.y.baseVal.value + bar.height.baseVal.value + 1];
      const most = this.svg.viewBox.baseVal.width - x - 8, width = Math.max(mean * unit, 1);
      // A bar that exceeds the figure ends in an arrow.
      const thin = draw("path", { class: "f-s1 extra", d: width > most
        ? `M${x} ${y}h${most}v-2l6 4l-6 4v-2h-${most}z` : `M${x} ${y}h${width}v4h-${width}z` });
      thin.append(draw("title", {}, `${players[column].name}, selected rows: ${digits(mean, 5)}`));
      bar.after(thin);
    }
  }

  /** Draws a ring around the dots of the chosen row. */
  mark() {
    for (const ring of all(".chosen", this.svg)) ring.remove();
    if (state.chosen < 0 || !this.paths.length) return;
    for (const dot of this.dots) {
      if (dot.row === state.chosen) {
        this.svg.append(draw("circle", { cx: dot.x, cy: dot.y, r: 5, class: "ring chosen" }));
      }
    }
  }

  /** Makes the row of a waterfall selectable, if the page contains it. */
  offerRow() {
    const row = this.element.dataset.row;
    if (row) this.element.querySelector("figcaption")?.append(" ", button("Select row", () => choose(+row)));
  }

  offerCsv() {
    const details = this.element.querySelector("details.numbers");
    if (!details) return;
    const table = details.querySelector("table");
    const isOfRows = this.kind === "beeswarm" || this.kind === "scatter";
    const link = button("Download CSV",
      () => save(isOfRows ? this.linesOfRows() : linesOfTable(table), details.dataset.file));
    details.querySelector("summary").after(make("p", {}, link));
  }

  /** Returns the data of the dots, for all rows of the page. */
  linesOfRows() {
    const output = outputOf(this.output);
    const only = placeOfPlayer.get(+this.element.dataset.player);
    const told = this.kind === "scatter" ? [only] : players.map((_, column) => column);
    const lines = [["row", "feature", "input", "value", "95% CI half-width"]];
    for (const column of told) {
      for (const row of everyRow) {
        lines.push([nameOfRow(row), players[column].name, shownInputs(players[column], row),
          round(output.value(row, column)), round(output.halfWidth(row, column))]);
      }
    }
    return lines;
  }
}

/** Returns the linear function from first to second numbers through the two pairs with the smallest and the
 * largest first number. */
function inverse(pairs) {
  let least, most;
  for (const pair of pairs) {
    if (Number.isNaN(pair[1])) continue;
    if (!least || pair[0] < least[0]) least = pair;
    if (!most || pair[0] > most[0]) most = pair;
  }
  if (!least) return () => NaN;
  const slope = most[0] > least[0] ? (most[1] - least[1]) / (most[0] - least[0]) : 0;
  return x => least[1] + (x - least[0]) * slope;
}

// ---- Tables and CSV.

const places = data.outputs[0]?.bytes === 4 ? 7 : 5;
/** Formats a number with the digits that the page stores. */
const round = number => Number.isNaN(number) ? "" : +number.toPrecision(places);

/** Returns the lines of a static table, with all digits of its numbers. */
const linesOfTable = table => all("tr", table).map(line => [...line.cells].map(cell =>
  cell.dataset.n !== undefined ? +cell.dataset.n
    : cell.tagName === "TH" || cell.className === "t" ? cell.textContent
      : cell.textContent === "missing" ? "" : cell.textContent.replaceAll("−", "-")));

/** Formats a CSV cell; a text that a spreadsheet would read as a formula is prefixed with `'`. */
function cellOf(value) {
  let text = String(value);
  if (/^[=+\-@\t\r＝＋－＠]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text;
}

function save(lines, file) {
  const text = lines.map(line => line.map(cellOf).join(",") + "\n").join("");
  const link = make("a",
    { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function button(text, press) {
  const made = make("button", { type: "button" }, text);
  made.addEventListener("click", press);
  return made;
}

/** The row table of an output: sorted, and limited to the selected rows, if any. */
class Rows {
  constructor(element) {
    this.element = element;
    this.output = +element.dataset.rowsOf;
    this.by = null;
    this.most = 100;
    this.note = element.querySelector(".note") ?? make("p", { className: "note" });
    element.prepend(this.note);
    this.box = element.querySelector(".scroll");
    this.more = button("Show more", () => { this.most += 500; this.show(); });
    element.append(make("p", {}, button("Download CSV",
      () => save(this.lines(), `rows-${this.output}.csv`)), " ", this.more));
  }

  /** The columns: names, each with a function from a row to a number. */
  get columns() {
    const output = outputOf(this.output);
    const told = players
      .map((player, column) => [player.name, row => output.value(row, column), output.means[column]])
      .sort((a, b) => b[2] - a[2]);
    if (data.rest) told.push([`${data.rest} others`, row => output.value(row, players.length)]);
    return [["prediction", row => output.predicted[row]], ...told];
  }

  lines() {
    const columns = this.columns;
    return [["row", ...columns.map(([name]) => name)],
      ...this.rows().map(row => [nameOfRow(row), ...columns.map(([, number]) => round(number(row)))])];
  }

  rows() {
    const found = everyRow.filter(row => !state.selected || state.selected[row]);
    if (!this.by) return found;
    const { column, up } = this.by;
    const key = column < 0 ? row => data.ids ? data.ids[row] : +numbersOfRows[row] : this.columns[column][1];
    const keys = new Map(found.map(row => [row, key(row)]));
    return found.sort((a, b) =>
      (up ? 1 : -1) * (keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : 0));
  }

  sort(column) {
    this.by = { column, up: this.by?.column === column ? !this.by.up : column < 0 };
    this.show();
    this.box.querySelector(`[data-column="${column}"]`).focus();
  }

  show() {
    const rowsThere = this.rows(), columns = this.columns.slice(0, 13);
    const told = rowsThere.slice(0, this.most);
    this.note.textContent = `${told.length} of ${rowsThere.length} ${state.selected ? "selected " : ""}rows.`;
    this.more.hidden = told.length === rowsThere.length;
    const head = ["row", ...columns.map(([name]) => name)].map((name, place) => {
      const isBy = this.by?.column === place - 1;
      const sorter = button(name + (isBy ? this.by.up ? " ↑" : " ↓" : ""), () => this.sort(place - 1));
      sorter.dataset.column = place - 1;
      sorter.dir = "auto";
      return make("th", { scope: "col", className: place ? "" : "t",
        "aria-sort": isBy ? this.by.up ? "ascending" : "descending" : "none" }, sorter);
    });
    const body = told.map(row => make("tr",
      { className: row === state.chosen ? "chosen" : "", "data-place": row },
      make("td", { className: "t" },
        Object.assign(button(nameOfRow(row), () => choose(row)), { dir: "auto" })),
      ...columns.map(([, number]) => make("td", {}, digits(number(row), 5)))));
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
    this.box.replaceChildren(table);
  }
}

// ---- The chosen row: its waterfall and its numbers.

function showChosen() {
  const row = state.chosen;
  chosenPanel.hidden = row < 0;
  if (row < 0) return;
  const output = outputOf(state.output);
  const title = `${nameOfRow(row)}: ${output.says}`;
  const lines = stepsOf(row, Infinity).map(step => [step.player ? step.player.name : step.name,
    step.player ? shownInputs(step.player, row) : "", step.value, step.half]);
  const table = make("table", {}, make("thead", {}, make("tr", {},
    ...["feature", "input", "value", "95% CI half-width"].map((name, place) =>
      make("th", { scope: "col", className: place < 2 ? "t" : "" }, name)))),
  make("tbody", {}, ...lines.map(([name, input, value, half]) => make("tr", {},
    make("td", { className: "t", dir: "auto" }, name), make("td", { className: "t", dir: "auto" }, input),
    make("td", {}, digits(value, 5)), make("td", {}, digits(half, 3))))));
  const numbers = make("details", {}, make("summary", {}, "Data"),
    make("p", {}, button("Download CSV", () => save([["feature", "input", "value", "95% CI half-width"],
      ...lines.map(([name, input, value, half]) => [name, input, round(value), round(half)])], "row.csv"))),
    boxed("Table: selected row", table));
  const close = button("Close", () => choose(-1));
  chosenPanel.replaceChildren(
    make("div", { className: "head" }, make("h2", { dir: "auto" }, nameOfRow(row)), close),
    boxed("Selected row: figure", waterfall(row, title)), numbers);
}

/** Returns the steps of a row from the top: the most important players, the others, the unattributed part. */
function stepsOf(row, most) {
  const output = outputOf(state.output);
  const steps = players.map((player, column) => {
    const only = onlyFeature(player);
    return { player, name: only ? `${player.name} = ${shownInput(only, row)}` : player.name,
      value: output.value(row, column), half: output.halfWidth(row, column) };
  }).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const told = steps.length > most + 1 ? steps.splice(0, most) : steps.splice(0);
  if (steps.length || data.rest) {
    const value = steps.reduce((sum, step) => sum + step.value,
      data.rest ? output.value(row, players.length) : 0);
    const half = steps.reduce((sum, step) => sum + step.half,
      data.rest ? output.halfWidth(row, players.length) : 0);
    told.push({ name: `${steps.length + data.rest} others`, value, half });
  }
  if (!data.efficient) {
    const left = output.predicted[row] - output.base(row) - told.reduce((sum, step) => sum + step.value, 0);
    told.push({ name: "unattributed", value: left, half: 0, paint: "missing" });
  }
  return told;
}

function waterfall(row, title) {
  const LINE = 27, TOP = 50, WIDTH = Math.max(420, Math.min(640, chosenPanel.clientWidth - 34));
  const output = outputOf(state.output), steps = stepsOf(row, 20);
  const [base, prediction] = [output.base(row), output.predicted[row]];
  const bottom = TOP + steps.length * LINE;
  const svg = figure(WIDTH, bottom + 56, title);
  const totals = [base];
  for (const step of [...steps].reverse()) totals.push(totals.at(-1) + step.value);
  const room = Math.min(Math.max(40, ...steps.map(step => widthOf(step.name, 13))) + 20, 0.4 * WIDTH);
  const label = Math.max(30, ...steps.map(step => widthOf(signed(step.value, 4), 11))) + 12;
  const ends = steps.flatMap((step, place) => {
    const half = step.half || 0, to = totals[steps.length - place];
    return [to - half, to + half];
  });
  const [low, high] = [Math.min(...ends, ...totals, prediction), Math.max(...ends, ...totals, prediction)];
  const scale = scaleOf(low, high, room + label, WIDTH - label);
  svg.axis(scale, room + label, WIDTH - label, TOP - 6, bottom, output.axis);
  svg.text(12, 16, shortened(`${nameOfRow(row)}: prediction ${digits(prediction, 5)}`, WIDTH - 24, 14),
    { size: 14, bold: true });
  for (const [at, y, name, from, to] of [[prediction, TOP - 14, "prediction", TOP - 6, TOP + 0.5 * LINE],
    [base, bottom + 44, "base value", bottom - 0.5 * LINE, bottom]]) {
    svg.line(scale(at), from, scale(at), to, "muted", 1, "5 4");
    const text = `${name} ${digits(at, 5)}`, half = widthOf(text, 11) / 2 + 4;
    svg.text(Math.max(half, Math.min(WIDTH - half, scale(at))), y, text,
      { size: 11, anchor: "middle", paint: "muted" });
  }
  steps.forEach((step, place) => {
    const y = TOP + (place + 0.5) * LINE;
    const to = totals[steps.length - place], from = totals[steps.length - 1 - place];
    const left = Math.min(scale(from), scale(to)), width = Math.max(Math.abs(scale(to) - scale(from)), 1);
    svg.bar(left, y - 9, width, 18, step.paint ?? (step.value < 0 ? "negative" : "positive"),
      `${step.name}: ${withError(signed(step.value, 5), step.half)}`);
    let [first, last] = [left, left + width];
    if (step.half > 0) {
      svg.whisker(scale(to - step.half), scale(to + step.half), y);
      [first, last] = [Math.min(first, scale(to - step.half)), Math.max(last, scale(to + step.half))];
    }
    const text = signed(step.value, 4) + (Number.isNaN(step.half) ? " ?" : "");
    if (step.value < 0) svg.text(first - 5, y, text, { size: 11, anchor: "end" });
    else svg.text(last + 5, y, text, { size: 11 });
    if (place) svg.line(scale(to), y - LINE + 9, scale(to), y - 9, "muted", 0.8);
    svg.text(room - 10, y, shortened(step.name, room - 15, 13), { anchor: "end" });
  });
  return svg;
}

// ---- Selected rows versus the others.

/** Returns the mean and the half-width of its 95% interval over these rows. */
function meanOf(numbers) {
  const count = numbers.length, unit = Math.max(...numbers.map(Math.abs), 0) || 1;
  const mean = numbers.reduce((sum, number) => sum + number / unit, 0) / (count || 1);
  const squares = numbers.reduce((sum, number) => sum + (number / unit - mean) ** 2, 0);
  return [mean * unit, count > 1 ? 1.96 * Math.sqrt(squares / (count - 1) / count) * unit : 0];
}

function showSelected() {
  selectedPanel.hidden = !state.selected;
  if (!state.selected) return;
  const parts = [["selected", row => state.selected[row]], ["others", row => !state.selected[row]]];
  const found = parts.map(([name, isIn]) => [name, everyRow.filter(isIn)]);
  const title = "Selected rows versus the rest";
  const card = make("figure", { className: "card" },
    boxed("Figure: mean |value| of both", compared(found, title)));
  selectedPanel.replaceChildren(make("h2", { id: "selected-title" }, title),
    make("p", { className: "note", dir: "auto" }, state.says), make("div", { className: "cards" }, card));
}

function compared(parts, title) {
  const output = outputOf(state.output), WIDTH = 640, TOP = 54, LINE = 34;
  const told = players.map((player, column) => ({ player, column, mean: output.means[column] }))
    .sort((a, b) => b.mean - a.mean).slice(0, 12);
  const bottom = TOP + told.length * LINE;
  const svg = figure(WIDTH, bottom + 42, title);
  const sizes = told.map(({ column }) =>
    parts.map(([, rows]) => meanOf(rows.map(row => Math.abs(output.value(row, column))))));
  const room = Math.min(
    Math.max(40, ...told.map(({ player }) => widthOf(player.name, 13))) + 20, 0.4 * WIDTH);
  const most = Math.max(...sizes.flat().map(([mean, half]) => mean + half), 0);
  const scale = scaleOf(0, most, room, WIDTH - 70);
  parts.forEach(([name, rows], place) => {
    const y = 14 + 18 * place;
    svg.bar(12, y - 6, 12, 12, `s${place}`, name);
    const [mean, half] = meanOf(rows.map(row => output.predicted[row]));
    const text = rows.length
      ? `, mean prediction ${digits(mean, 4)}${half ? ` ± ${digits(half, 2)}` : ""}` : "";
    svg.text(30, y, `${name}: ${rows.length === 1 ? "1 row" : `${rows.length} rows`}${text}`, { size: 11 });
  });
  svg.axis(scale, room, WIDTH - 70, TOP - 4, bottom, `mean |${output.says}|`);
  told.forEach(({ player }, line) => {
    const y = TOP + (line + 0.5) * LINE;
    svg.text(room - 10, y, shortened(player.name, room - 15, 13), { anchor: "end" });
    sizes[line].forEach(([mean, half], place) => {
      const at = y - 7 + 14 * place;
      svg.bar(scale(0), at - 6, scale(mean) - scale(0), 12, `s${place}`,
        `${player.name}, ${parts[place][0]}: ${withError(digits(mean, 5), half)}`);
      if (half) svg.whisker(scale(Math.max(mean - half, 0)), scale(mean + half), at);
      svg.text(scale(mean + half) + 6, at, digits(mean, 4), { size: 11 });
    });
  });
  return svg;
}

// ---- Controls.

const selectField = make("input", { id: "select", type: "text", autocomplete: "off", spellcheck: false,
  placeholder: data.features.length
    ? `${typed(data.features[0].name).slice(0, 24)} >= …` : "prediction >= …" });
const findField = make("input", { id: "find", type: "text", autocomplete: "off", spellcheck: false,
  placeholder: rows ? nameOfRow(0).slice(0, 24) : "" });
const wrong = make("p", { id: "wrong", className: "wrong", role: "alert" });
const clearButton = button("Clear", () => { selectField.value = ""; readCondition(); });
clearButton.disabled = true;

/** Selects by a condition from another control, and shows it in the text field. */
function apply(meets, text) {
  selectField.value = text;
  wrong.textContent = "";
  selectField.removeAttribute("aria-invalid");
  select(meets, text);
}

function readCondition() {
  const text = selectField.value.trim();
  try {
    const meets = text ? conditionOf(text) : null;
    wrong.textContent = "";
    selectField.removeAttribute("aria-invalid");
    select(meets, text);
  } catch (error) {
    selectField.setAttribute("aria-invalid", "true");
    wrong.textContent = `Invalid condition: ${error.message}.`;
  }
}

/** Chooses the row with this number or ID, otherwise the first whose name contains the text. */
function find() {
  const text = findField.value.trim();
  if (!text) return;
  const names = everyRow.map(row => nameOfRow(row).toLowerCase()), wanted = text.toLowerCase();
  let row = data.ids ? names.indexOf(wanted) : -1;
  if (row < 0) row = everyRow.findIndex(row => String(numbersOfRows[row]) === wanted.replace(/^row\s+/, ""));
  if (row < 0) row = names.findIndex(name => name.includes(wanted));
  if (row >= 0) {
    wrong.textContent = "";
    choose(row);
    spoken.textContent = `${nameOfRow(row)} selected`;
  } else {
    wrong.textContent = `Unknown row “${text}”; expected the number or the ID of a row in this report `
      + (rows < data.all ? `(rows: ${rows} of ${data.all}).` : `(rows: ${rows}).`);
  }
}

function enter(field, act) {
  field.addEventListener("keydown", event => { if (event.key === "Enter") act(); });
  return field;
}

const isDark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const themeButton = button("", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  // Store the theme in the address, because a page opened from disk may have no storage.
  location.replace(`#theme=${root.dataset.theme}`);
  nameTheme();
});
function nameTheme() { themeButton.textContent = isDark() ? "Light" : "Dark"; }

/** Shows the figures of one output only. */
function switchOutput(place) {
  state.output = place;
  for (const part of all(".output[data-output]")) part.hidden = +part.dataset.output !== place;
  say();
  show();
}

function markChosen() {
  for (const card of cards) if (card.output === state.output) card.mark();
  for (const line of all("tr[data-place]")) {
    line.classList.toggle("chosen", +line.dataset.place === state.chosen);
  }
}

// ---- Start.

const theme = /theme=(light|dark)/.exec(location.hash)?.[1];
if (theme) root.dataset.theme = theme;
nameTheme();

const cards = all("figure.card[data-kind]").map(element => new Card(element));
const tables = all("[data-rows-of]").map(element => new Rows(element));
const bar = make("div", { className: "controls", role: "search", "aria-label": "Rows" });
if (data.outputs.length > 1) {
  const choice = make("select", { id: "output" },
    ...data.outputs.map((output, place) => make("option", { value: place }, output.name)));
  choice.addEventListener("change", () => switchOutput(+choice.value));
  bar.append(make("label", {}, make("span", {}, "Output"), choice));
}
if (rows) {
  selectField.setAttribute("aria-describedby", "wrong");
  selectField.addEventListener("change", readCondition);
  bar.append(make("label", {}, make("span", {}, "Find row"), enter(findField, find)),
    make("label", { className: "long" },
      make("span", {}, "Select rows"), enter(selectField, readCondition)), clearButton);
}
bar.append(themeButton, button("Print", () => print()));
const top = make("div", { className: "bar" }, bar);
if (rows) top.append(wrong, live);
document.querySelector("header").after(top);
document.getElementById("importance")?.after(selectedPanel);
document.querySelector("main").after(chosenPanel);
document.body.append(spoken, tip);
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && tip.hidden && state.chosen >= 0) choose(-1);
});
if (rows) switchOutput(0);
root.dataset.ready = performance.now().toFixed(0);

})();
