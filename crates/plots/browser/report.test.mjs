// Tests the report in a real browser, without a network. The pages are those in PAGES, or are created by the example `report`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { difference, reduced } from "./pictures.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const pages = process.env.PAGES ?? join(here, "pages");
const pictures = join(here, "screenshots");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const update = process.env.UPDATE === "1";
const names = ["classes", "estimated", "exact", "groups", "hostile", "huge", "interactions", "large", "million", "no_rows", "one_feature",
  "image", "one_row", "right_to_left", "text", "tiny", "wide", "zeros"].sort();
// With QUICK=1 only these pages are tested: they include figures of every kind, hostile names, and a report without rows.
const isQuick = process.env.QUICK === "1";
const looked = isQuick ? ["classes", "estimated", "groups", "hostile", "image", "interactions", "no_rows", "text"] : names;
// These pages together contain figures of every kind.
const ofAllKinds = ["estimated", "groups", "interactions", "text", "image"];
const ofFigures = isQuick ? ofAllKinds : [...ofAllKinds, "exact", "classes", "large", "hostile", "right_to_left"];
const sections = ["asked", "quality", "importance", "features", "interactions", "rows", "cohorts", "inputs", "words", "cite", "again"];
const widths = [320, 1024, 3840];
// In the dark theme only colours differ.
const darkToo = isQuick ? ["estimated"] : ofAllKinds;
const schemesOf = name => darkToo.includes(name) ? ["light", "dark"] : ["light"];

if (!process.env.PAGES) {
  execFileSync("cargo", ["run", "--quiet", "-p", "apportion-plots", "--example", "report", "--", pages], { cwd: here, stdio: "inherit" });
}
const address = name => pathToFileURL(join(pages, `${name}.html`)).href;

let browser, areFontsKnown = true;
before(async () => {
  // The headless shell takes half the time.
  const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  // Screenshots can only be compared if the fonts are the same.
  const page = await browser.newPage();
  const widths = await page.evaluate(() => ["system-ui", "monospace"].map(family => {
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.font = `100px ${family}`;
    return Math.round(canvas.measureText("Shapley values of 12345 rows").width);
  }));
  await page.close();
  const file = join(pictures, "fonts.json");
  if (update || !existsSync(file)) writeFileSync(file, `${JSON.stringify(widths)}\n`);
  areFontsKnown = JSON.stringify(widths) === readFileSync(file, "utf8").trim();
  if (!areFontsKnown) console.log("Screenshots are not compared, because the fonts of this machine differ from theirs.");
});
after(() => browser?.close());

/** Opens a page and runs `act` on it; nothing may be logged to the console. */
async function within(name, act, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, colorScheme: "light", ...options });
  await context.setOffline(true);
  const page = await context.newPage();
  const said = [];
  page.on("console", message => said.push(message.text()));
  page.on("pageerror", error => said.push(error.stack));
  page.on("request", request => { if (!/^(file|data|blob):/.test(request.url())) said.push(`requested ${request.url()}`); });
  page.setDefaultTimeout(30_000);
  if (options.javaScriptEnabled !== false) {
    await page.addInitScript(() => {
      window.violations = [];
      document.addEventListener("securitypolicyviolation", event => window.violations.push(event.violatedDirective));
    });
  }
  try {
    await page.goto(address(name));
    await act(page);
    if (options.javaScriptEnabled !== false && !options.bypassCSP) {
      assert.deepEqual(await page.evaluate(() => window.violations), [], "no violation of the content security policy");
    }
    assert.deepEqual(said, [], "nothing was logged to the console");
  } finally {
    await context.close();
  }
}

const card = (page, kind, place = 0) => page.locator(`figure[data-kind=${kind}]:visible`).nth(place);
const status = page => page.locator(".live").textContent();
const countOf = text => Number(/^(\d+) of/.exec(text)?.[1]);

async function type(page, condition) {
  await page.fill("#select", condition);
  await page.press("#select", "Enter");
  return status(page);
}

/** Returns the centre in the window of a dot of a figure, and its row. */
async function dotOf(figure, place = 0) {
  await figure.scrollIntoViewIfNeeded();
  return figure.evaluate((element, place) => {
    const path = element.querySelectorAll("path[data-rows]")[0];
    const [, x, y] = /^([\d.]+) ([\d.]+)/.exec(path.getAttribute("d").split("M")[place + 1]);
    const room = path.ownerSVGElement.getBoundingClientRect();
    return { x: room.left + +x, y: room.top + +y, row: +path.dataset.rows.split(" ")[place] };
  }, place);
}

/** Returns the lines of the CSV file that a button downloads. */
async function savedBy(page, saver) {
  const [download] = await Promise.all([page.waitForEvent("download"), saver.click()]);
  const text = readFileSync(await download.path(), "utf8");
  return text.trimEnd().split("\n").map(line => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) =>
    cell.startsWith("\"") ? cell.slice(1, -1).replaceAll("\"\"", "\"") : cell).slice(0, -1));
}

async function numbersBehind(page, figure) {
  await figure.locator("summary").click();
  return savedBy(page, figure.getByRole("button", { name: "Download CSV" }));
}

/** Checks that the script has finished and all sections exist. Returns the number of figures. */
async function checkSections(name, page, context) {
  const found = await page.evaluate(() => ({
    ready: Number(document.documentElement.dataset.ready),
    sections: [...document.querySelectorAll("main > section:not(#selected)")].map(section => section.id),
    links: [...document.querySelectorAll("nav a")].map(link => link.getAttribute("href").slice(1)),
    titles: document.querySelectorAll("h1").length,
    owned: window.__owned,
    ids: [...document.querySelectorAll("[id]")].map(element => element.id),
    styled: document.querySelectorAll("main [style]").length,
    figures: document.querySelectorAll("main figure.card[data-kind] svg").length,
  }));
  assert.ok(found.ready > 0, "the script has finished");
  context.diagnostic(`ready after ${found.ready} ms`);
  const isOfRows = section => !["asked", "quality", "words", "cite", "again"].includes(section);
  assert.deepEqual(found.sections, sections.filter(section => name !== "no_rows" || !isOfRows(section)));
  assert.deepEqual(found.links, found.sections);
  assert.equal(found.titles, 1);
  assert.equal(found.owned, undefined);
  assert.equal(new Set(found.ids).size, found.ids.length, "ids are unique");
  assert.equal(found.styled, 0);
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  return found.figures;
}

describe("every page", () => {
  test("all pages are tested", () => {
    assert.deepEqual(readdirSync(pages).filter(name => name.endsWith(".html")).sort(), names.map(name => `${name}.html`));
  });
  for (const name of looked) {
    let figures;
    test(`${name} passes axe, in ${schemesOf(name).join(" and in ")}`, () => within(name, async page => {
      await page.evaluate(axe);
      if (name !== "no_rows") {
        await type(page, "prediction > 0");
        await page.fill("#find", "1");
        await page.press("#find", "Enter");
      }
      await page.evaluate(keepAFewOfEach);
      for (const colorScheme of schemesOf(name)) {
        await page.emulateMedia({ colorScheme });
        const asked = { resultTypes: ["violations"], ...(colorScheme === "dark" && { runOnly: ["color-contrast"] }) };
        const found = await page.evaluate(asked => window.axe.run(document, asked), asked);
        assert.deepEqual(found.violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 200), nodes[0].failureSummary]), [], colorScheme);
      }
    }, { bypassCSP: true }));

    // Wide pages take long to test, and show the same cards in columns.
    const isWide = (isQuick ? ["estimated", "hostile"] : ["classes", "estimated", "hostile", "interactions", "no_rows", "text"]).includes(name);
    for (const width of widths.filter(width => width < 3840 || isWide)) {
      test(`${name} is ${width} px wide: no console output, no horizontal scrolling, no overlapping text, and the same screenshot`, context => within(name, async page => {
        if (width === 1024) figures = await checkSections(name, page, context);
        const found = await page.evaluate(() => ({ has: document.documentElement.scrollWidth, room: document.documentElement.clientWidth }));
        assert.ok(found.has <= found.room, `${found.has} px`);
        assert.deepEqual(await page.evaluate(overlaps), []);
        const main = await page.locator("main").boundingBox();
        assert.ok(Math.abs(main.x - (width - main.x - main.width)) <= 16, "the page is centred");
        if (width === 3840) assert.ok(await page.evaluate(areCardsInColumns), "columns");
        const full = await page.screenshot({ fullPage: true });
        compare(`${name}-${width}`, full, { 320: 10, 1024: 14, 3840: 28 }[width]);
      }, { viewport: { width, height: 900 }, reducedMotion: "reduce" }));
    }

    test(`${name} has all figures and readable tables without JavaScript`, () => within(name, async page => {
      const shown = await page.locator("main figure.card[data-kind] svg").evaluateAll(all => all.map(svg => svg.checkVisibility()));
      assert.deepEqual(shown, Array(figures).fill(true));
      for (const details of (await page.locator("details").all()).slice(0, 3)) {
        await details.locator("summary").click();
        assert.ok(await details.locator("tbody tr").first().isVisible());
        assert.ok(await details.locator("tbody tr").count() <= 100);
      }
      assert.equal(await page.locator("button, input, select").count(), 0, "no controls without a function");
    }, { javaScriptEnabled: false }));
  }

  test("pages are within the size limits", () => {
    const most = { one_row: 150e3, no_rows: 150e3, one_feature: 150e3, large: 2.5e6, million: 3e6 };
    for (const [name, bytes] of Object.entries(most)) {
      const size = statSync(join(pages, `${name}.html`)).size;
      assert.ok(size <= bytes, `${name} has ${size} bytes`);
    }
    const script = readFileSync(join(here, "../src/report/page.js")).length;
    assert.ok(script <= 50e3, `the script has ${script} bytes`);
  });
});

/** Keeps only two figures of each kind and three rows of each table, to limit the time of axe; runs in the page. */
function keepAFewOfEach() {
  const counts = {};
  for (const figure of document.querySelectorAll("main figure.card[data-kind]")) {
    const kind = figure.dataset.kind;
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (counts[kind] > 2) figure.remove();
  }
  document.querySelectorAll("tbody tr:nth-child(n + 4)").forEach(row => row.remove());
}

/** Returns the labels of figures that overlap or extend beyond the figure; runs in the page. */
function overlaps() {
  const found = [];
  for (const svg of document.querySelectorAll("figure svg")) {
    const room = svg.getBoundingClientRect();
    if (!room.width) continue;
    const texts = [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width);
    texts.forEach(([text, box], place) => {
      if (box.left < room.left - 1.5 || box.right > room.right + 1.5 || box.top < room.top - 1.5 || box.bottom > room.bottom + 1.5) {
        found.push(`cut in ${svg.closest("figure").dataset.kind}: ${text}`);
      }
      for (const [other, its] of texts.slice(place + 1)) {
        const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        // The boxes of lines include some space above and below the letters.
        const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (across > 1 && down > 0.3 * Math.min(box.height, its.height)) {
          found.push(`in ${svg.closest("figure").dataset.kind}: “${text}” and “${other}”`);
        }
      }
    });
  }
  return found;
}

/** Returns whether up to four cards are side by side; runs in the page. */
function areCardsInColumns() {
  return [...document.querySelectorAll(".cards:not(.small)")].every(cards => {
    const tops = [...cards.children].map(card => Math.round(card.getBoundingClientRect().top));
    return tops.every(top => !top) || tops.filter(top => top === tops[0]).length >= Math.min(4, tops.length);
  });
}

function compare(name, bytes, factor) {
  const file = join(pictures, `${name}.png`);
  const found = reduced(bytes, factor);
  assert.ok(found.length <= 20_000, `${name} has ${found.length} bytes`);
  if (update || !existsSync(file)) {
    mkdirSync(pictures, { recursive: true });
    writeFileSync(file, found);
    return;
  }
  if (!areFontsKnown) return;
  const differs = difference(readFileSync(file), found);
  if (differs > 0.02) {
    mkdirSync(join(here, "seen"), { recursive: true });
    writeFileSync(join(here, "seen", `${name}.png`), found);
  }
  assert.ok(differs <= 0.02, `${name} differs by ${differs.toFixed(4)}; see seen/${name}.png; UPDATE=1 accepts it`);
}

describe("figures", () => {
  for (const name of ofFigures) {
    test(`the figures of ${name} match their screenshots, in ${schemesOf(name).join(" and in ")}`, async () => {
      for (const colorScheme of schemesOf(name)) {
        await within(name, async page => {
          const told = new Set();
          for (const figure of await page.locator("figure.card[data-kind]:visible").all()) {
            const kind = await figure.getAttribute("data-kind");
            if (told.has(kind)) continue;
            told.add(kind);
            compare(`${name}-${kind}-${colorScheme}`, await figure.locator("svg").screenshot(), 4);
          }
        }, { colorScheme });
      }
    });
  }

  test("all screenshots together take at most 1.5 MB", () => {
    const sum = readdirSync(pictures).reduce((sum, name) => sum + statSync(join(pictures, name)).size, 0);
    assert.ok(sum <= 1.5e6, `${sum} bytes`);
  });
});

describe("pointer and keyboard", () => {
  test("hovering over a dot shows its row, input and value", () => within("exact", async page => {
    for (const kind of ["scatter", "beeswarm"]) {
      const dot = await dotOf(card(page, kind));
      await page.mouse.move(dot.x, dot.y);
      const lines = await page.locator(".tip > div").allTextContents();
      assert.match(lines[0], /^row \d+$/);
      assert.match(lines[1], /^[a-z ]+ = [\w.−]+$/);
      assert.match(lines[2], /^value [+−]?[\d.]+$/);
      await page.mouse.move(2, 2);
      assert.ok(await page.locator(".tip").isHidden());
    }
  }));

  test("hovering over an estimate shows its interval, or that its error is unknown", () => within("estimated", async page => {
    const figure = page.locator("figure[data-kind=scatter][data-player='4']");
    const said = new Set();
    await figure.locator(".dots").focus();
    for (let step = 0; step < 250; step++) {
      await page.keyboard.press("ArrowRight");
      said.add((await page.locator(".tip > div").last().textContent()).replace(/[+−\d.]+/g, "#"));
    }
    assert.deepEqual([...said].sort(), ["value # ± #", "value #, error unknown"]);
  }));

  test("arrow keys move between dots, and Enter selects one", () => within("exact", async page => {
    const figure = card(page, "beeswarm");
    await figure.locator(".dots").focus();
    await page.keyboard.press("Home");
    const value = async () => Number((await page.locator(".tip > div").nth(2).textContent()).slice(6).replace("−", "-"));
    let before = await value();
    for (let step = 0; step < 20; step++) {
      await page.keyboard.press("ArrowRight");
      const next = await value();
      assert.ok(next >= before - 1e-9);
      before = next;
    }
    const first = await page.locator(".tip > div").nth(1).textContent();
    await page.keyboard.press("ArrowDown");
    assert.notEqual((await page.locator(".tip > div").nth(1).textContent()).split(" =")[0], first.split(" =")[0]);
    const row = await page.locator(".tip > div").first().textContent();
    assert.match(await page.locator(".unseen").textContent(), new RegExp(`^${row}, `));
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#chosen h2").textContent(), row);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#chosen").isHidden());
  }));

  test("a click on a dot selects its row, which is circled in all figures", () => within("exact", async page => {
    const dot = await dotOf(card(page, "scatter"), 3);
    await page.mouse.click(dot.x, dot.y);
    assert.match(await page.locator("#chosen h2").textContent(), /^row \d+$/);
    assert.ok(await page.locator("circle.chosen").count() > 6);
    await page.getByRole("button", { name: "Close" }).click();
    assert.equal(await page.locator("circle.chosen").count(), 0);
  }));

  test("the waterfall drawn by the script has the same labels as the static one", async () => {
    for (const name of ["exact", "estimated", "groups", "large", "right_to_left", "hostile"]) {
      await within(name, async page => {
        const figure = card(page, "waterfall");
        const texts = element => [...element.querySelectorAll("svg text")].map(text => text.textContent).sort();
        const wanted = await figure.evaluate(texts);
        await figure.getByRole("button", { name: "Select row" }).click();
        const found = await page.locator("#chosen").evaluate(texts);
        // The script measures the width of letters, and the library assumes it, so names may be shortened differently.
        const plain = list => list.map(text => text.replace(/^(.{3}).*….*$/, "$1…"));
        // Values are stored with 16 bits.
        const near = (one, other) => {
          const [a, b] = [one, other].map(text => Number(text.replace(/^[a-z ]+ /, "").replaceAll("−", "-")));
          return one === other || Math.abs(a - b) <= 2e-4 * Math.abs(a);
        };
        const [a, b] = [plain(wanted), plain(found)];
        if (name === "large") return assert.ok(b.length > 20 && b.includes(a.find(text => text.includes("prediction"))));
        if (name === "hostile") return assert.equal(b.length, a.length);
        assert.equal(a.length, b.length, `${a}\n${b}`);
        a.forEach((text, place) => assert.ok(near(text, b[place]), `${text} and ${b[place]}`));
      });
    }
  });

  test("rows are found by index, by ID and by a part of the ID", async () => {
    await within("exact", async page => {
      for (const [text, row] of [["17", "row 17"], ["row 230", "row 230"]]) {
        await page.fill("#find", text);
        await page.press("#find", "Enter");
        assert.equal(await page.locator("#chosen h2").textContent(), row);
      }
      await page.fill("#find", "5000");
      await page.press("#find", "Enter");
      assert.match(await page.locator("#wrong").textContent(), /^Unknown row “5000”; expected the number or the ID of a row in this report/);
    });
    await within("estimated", async page => {
      for (const [text, row] of [["person 0042", "person 0042"], ["0700", "person 0700"], ["3", "person 0021"]]) {
        await page.fill("#find", text);
        await page.press("#find", "Enter");
        assert.equal(await page.locator("#chosen h2").textContent(), row);
      }
    });
  });
});

describe("selections", () => {
  const conditions = {
    "age >= 40": person => person.age >= 40,
    "hours per week < 35 and age > 30": person => person["hours per week"] < 35 && person.age > 30,
    "\"hours per week\"<35": person => person["hours per week"] < 35,
    "relationship = married": person => person.relationship === "married",
    "relationship != married or capital gain > 5000": person => person.relationship !== "married" || person["capital gain"] > 5000,
    "not (relationship = married or relationship=single)": person => !["married", "single"].includes(person.relationship),
    "occupation = missing": person => person.occupation === "missing",
    "occupation != missing and occupation != sales": person => !["missing", "sales"].includes(person.occupation),
    "occupation != sales": person => !["missing", "sales"].includes(person.occupation),
    "AGE = 42": person => person.age === 42,
    "row <= 9": person => person.row <= 9,
    "value of age > 0.1": person => person.value > 0.1,
    "age < −3": () => false,
  };

  test("a typed condition selects the rows that meet it", () => within("exact", async page => {
    const lines = await numbersBehind(page, card(page, "beeswarm"));
    const people = new Map();
    for (const [row, feature, input, value] of lines.slice(1)) {
      const person = people.get(row) ?? { row: Number(row.replace("row ", "")) };
      person[feature] = Number.isNaN(Number(input)) ? input : Number(input);
      if (feature === "age") person.value = Number(value);
      people.set(row, person);
    }
    assert.equal(people.size, 400);
    for (const [condition, meets] of Object.entries(conditions)) {
      const wanted = [...people.values()].filter(meets).length;
      const said = await type(page, condition);
      assert.equal(countOf(said), wanted, said);
      assert.ok(said.endsWith(condition));
      assert.equal(await page.locator("#wrong").textContent(), "");
    }
    await page.getByRole("button", { name: "Clear" }).click();
    assert.match(await status(page), /^400 rows; none selected/);
    assert.equal(await page.inputValue("#select"), "");
  }));

  test("an invalid condition shows an error message", () => within("exact", async page => {
    for (const [condition, why] of [
      ["agee > 3", "unknown feature “agee”"], ["age", "missing comparison after “age”; expected a feature"], ["age >", "missing number or category"],
      ["age > old", "the inputs of “age” are numbers; write a number instead of “old”"],
      ["occupation = king", "the inputs of “occupation” never equal “king”; categories: "], ["occupation < sales", "are categories"],
      ["(age > 3", "missing “)”"], ["age > 3) or", "unexpected"], ["age > 3 and", "missing feature"], ["\"age > 3", "unterminated"],
      ["age > missing", "missing supports only"],
    ]) {
      await type(page, condition);
      assert.ok((await page.locator("#wrong").textContent()).includes(why), `${condition}: ${await page.locator("#wrong").textContent()}`);
      assert.equal(await page.getAttribute("#select", "aria-invalid"), "true");
      assert.match(await status(page), /none selected/);
    }
    assert.equal(countOf(await type(page, "age > 3")), 400);
    assert.equal(await page.getAttribute("#select", "aria-invalid"), null);
  }));

  test("the selection is visible in all figures", () => within("exact", async page => {
    assert.equal(await page.locator("#selected").isVisible(), false);
    const said = await type(page, "capital gain > 5000");
    const count = countOf(said);
    const bright = await card(page, "scatter").evaluate(element => [...element.querySelectorAll("path.extra")]
      .reduce((sum, path) => sum + path.getAttribute("d").split("M").length - 1, 0));
    assert.equal(bright, count);
    assert.ok(await card(page, "beeswarm").locator("path.dim").count() > 0);
    const bars = await card(page, "bar").evaluate(element => {
      const of = player => [...element.querySelectorAll(`rect[data-player="${player}"]`)][0];
      const long = player => of(player).nextElementSibling.getBBox().width / of(player).width.baseVal.value;
      return { thin: element.querySelectorAll("path.extra").length, gain: long(3), age: long(0) };
    });
    assert.equal(bars.thin, 6);
    // In rows with large gains, gains are more important than over all rows.
    assert.ok(bars.gain > 2 && bars.age < 2, JSON.stringify(bars));
    assert.match(await page.locator("[data-rows-of] .note:visible").textContent(), new RegExp(`^${count} of ${count} selected rows`));
    const texts = await page.locator("#selected svg text").allTextContents();
    assert.ok(texts.some(text => text.startsWith(`selected: ${count} rows, mean prediction `)), texts.join("; "));
    assert.ok(texts.some(text => text.startsWith(`others: ${400 - count} rows`)));
    assert.deepEqual(await page.evaluate(overlaps), []);
    await page.getByRole("button", { name: "Clear" }).click();
    assert.equal(await page.locator(".extra, .dim").count(), 0);
    assert.equal(await page.locator("#selected").isVisible(), false);
  }));

  async function drag(page, figure, from, to, y) {
    await figure.scrollIntoViewIfNeeded();
    const box = await figure.locator("svg").boundingBox();
    await page.mouse.move(box.x + from, box.y + y);
    await page.mouse.down();
    await page.mouse.move(box.x + to, box.y + y, { steps: 4 });
    assert.equal(await figure.locator(".band").count(), 1);
    await page.mouse.up();
    assert.equal(await figure.locator(".band").count(), 0);
    return status(page);
  }

  test("dragging over a scatter plot selects by inputs", () => within("exact", async page => {
    const figure = page.locator("figure[data-kind=scatter][data-player='0']");
    const ticks = await figure.evaluate(element => [...element.querySelectorAll("text[text-anchor=middle]")]
      .filter(text => text.textContent === "30" || text.textContent === "50").map(text => +text.getAttribute("x")));
    const said = await drag(page, figure, ticks[0], ticks[1], 120);
    const [, low, high] = /age >= ([\d.]+) and age <= ([\d.]+)$/.exec(said);
    assert.ok(Math.abs(low - 30) < 0.3 && Math.abs(high - 50) < 0.3, said);
    const typed = countOf(await type(page, `age >= ${low} and age <= ${high}`));
    assert.equal(typed, countOf(said));
  }));

  test("dragging over categories selects these categories", () => within("exact", async page => {
    const figure = page.locator("figure[data-kind=scatter][data-player='4']");
    const place = await figure.evaluate(element => Object.fromEntries([...element.querySelectorAll("text[text-anchor=middle]")]
      .map(text => [text.textContent, +text.getAttribute("x")])));
    const said = await drag(page, figure, place.missing - 20, place.craft + 20, 120);
    assert.ok(said.endsWith("occupation = craft or occupation = missing"), said);
    assert.equal(countOf(await type(page, "occupation = craft or occupation = missing")), countOf(said));
  }));

  test("dragging over a beeswarm selects by the values of a feature", () => within("exact", async page => {
    const figure = card(page, "beeswarm");
    const line = await figure.evaluate(element => [...element.querySelectorAll("text")].find(text => text.textContent === "age").getAttribute("y"));
    const zero = await figure.evaluate(element => +[...element.querySelectorAll("text")].find(text => text.textContent === "0.0").getAttribute("x"));
    const said = await drag(page, figure, zero, 600, +line);
    assert.match(said, /"value of age" >= [−e\d.]+ and "value of age" <= /);
    const typed = countOf(await type(page, "value of age >= 0"));
    assert.ok(Math.abs(typed - countOf(said)) <= 3, `${said} and ${typed}`);
  }));

  test("a report of many rows states which ones it stores", () => within("million", async page => {
    assert.match(await page.locator("#asked").textContent(), /Aggregates use all 1000000 rows. The report stores \d+ individual rows/);
    const said = await type(page, "feature 0 > 0");
    const [, some, all] = /^(\d+) of (\d+) rows in this report/.exec(said);
    assert.ok(some / all > 0.4 && some / all < 0.6);
    await page.fill("#find", "123456789");
    await page.press("#find", "Enter");
    assert.match(await page.locator("#wrong").textContent(), /rows: \d+ of 1000000/);
  }));
});

describe("tables", () => {
  test("rows are sorted by any column, in either direction", () => within("exact", async page => {
    const numbers = column => page.locator(`[data-rows-of="0"] tbody tr td:nth-child(${column})`).evaluateAll(cells =>
      cells.map(cell => Number(cell.textContent.replace("−", "-").replace("row ", ""))));
    for (const [name, column] of [["prediction", 2], ["education", 3], ["row", 1]]) {
      const head = page.locator("[data-rows-of='0'] th button", { hasText: new RegExp(`^${name}`) });
      await head.click();
      const once = await numbers(column);
      await head.click();
      const twice = await numbers(column);
      const isUp = list => list.every((number, place) => !place || list[place - 1] <= number);
      assert.ok(isUp(once) !== isUp(twice), name);
      assert.ok(isUp([...once].reverse()) || isUp(once));
      assert.match(await page.locator(`[data-rows-of="0"] th:nth-child(${column})`).getAttribute("aria-sort"), /ending$/);
    }
    await page.getByRole("button", { name: "Show more" }).click();
    assert.equal((await numbers(1)).length, 400);
    await page.locator("[data-rows-of='0'] tbody button").first().click();
    assert.ok(await page.locator("#chosen").isVisible());
    assert.equal(await page.locator("tr.chosen").count(), 1);
  }));

  test("the data of figures are downloaded with full precision", () => within("estimated", async page => {
    const bar = await numbersBehind(page, card(page, "bar"));
    assert.deepEqual(bar[0].slice(0, 3), ["feature", "mean |value|", "95% CI half-width"]);
    assert.equal(bar.length, 7);
    assert.ok(bar[1][1].length > 10, bar[1][1]);
    const scatter = await numbersBehind(page, card(page, "scatter"));
    assert.equal(scatter.length, 251);
    const rows = await savedBy(page, page.locator("[data-rows-of] >> text=Download CSV"));
    assert.equal(rows.length, 251);
    assert.equal(rows[1][0], "person 0000");
    // All cells except the names of the rows are numbers.
    assert.ok(rows.slice(1).every(line => line.slice(1).every(cell => Number.isFinite(Number(cell)))));
  }));

  test("no cell of a download is a formula", () => within("hostile", async page => {
    await page.locator("#output").selectOption("1");
    const lines = await numbersBehind(page, card(page, "beeswarm"));
    assert.ok(lines.flat().some(cell => cell.startsWith("'=cmd")));
    assert.ok(lines.flat().every(cell => !/^[=+@]/.test(cell)));
  }));
});

describe("outputs, themes and printing", () => {
  test("one output is shown at a time", () => within("classes", async page => {
    const shown = () => page.locator(".output[data-output]:visible").evaluateAll(parts => [...new Set(parts.map(part => part.dataset.output))]);
    assert.deepEqual(await shown(), ["0"]);
    const dot = await dotOf(card(page, "beeswarm"));
    await page.mouse.click(dot.x, dot.y);
    const before = await page.locator("#chosen").textContent();
    await type(page, "age > 40");
    await page.locator("#output").selectOption({ label: "high" });
    assert.deepEqual(await shown(), ["2"]);
    assert.notEqual(await page.locator("#chosen").textContent(), before);
    assert.ok(await card(page, "scatter").locator("path.extra").count() > 0, "the selection is kept");
    assert.equal(countOf(await type(page, "prediction > 0")), await page.evaluate(() => {
      // Count the rows of the third output in its table.
      return [...document.querySelectorAll("[data-rows-of='2'] tbody tr")].length;
    }).then(async shown => { await page.locator("[data-rows-of='2'] >> text=Show more").click().catch(() => {}); return page.locator("[data-rows-of='2'] tbody tr").count(); }));
  }));

  test("the theme can be switched, and is stored in the address", () => within("exact", async page => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByRole("button", { name: "Dark" }).click();
    const dark = await ground();
    assert.notEqual(light, dark);
    await page.reload();
    assert.equal(await ground(), dark);
    await page.getByRole("button", { name: "Light" }).click();
    assert.equal(await ground(), light);
  }));

  test("printed pages have all figures in the light theme, and no controls", () => within("classes", async page => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.equal(await page.locator(".controls:visible, button:visible, input:visible, nav:visible").count(), 0);
    const figures = page.locator("figure.card[data-kind]");
    assert.equal(await figures.and(page.locator(":visible")).count(), await figures.count());
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".card")).backgroundColor), "rgb(255, 255, 255)");
    assert.match(await page.evaluate(() => getComputedStyle(document.body).color), /^rgb\((\d|[1-5]\d), /);
    const paper = await page.pdf({ format: "A4" });
    assert.ok(paper.length > 10_000);
  }));
});

describe("hostile results", () => {
  test("nothing in names, categories, IDs and titles is executed", () => within("hostile", async page => {
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => window.__owned), undefined);
    assert.equal(await page.locator("body script:not(#data)").count(), 1);
    assert.equal(await page.locator("img, iframe, object, [onclick], [onerror], [onload], [onmouseover]").count(), 0);
    await page.locator("#output").selectOption("1");
    for (const [kind, place] of [["scatter", 0], ["scatter", 1], ["beeswarm", 0]]) {
      const dot = await dotOf(card(page, kind, place));
      await page.mouse.move(dot.x, dot.y);
      await page.mouse.click(dot.x, dot.y);
    }
    await type(page, "<script>window.__owned=1</script> > 0");
    assert.match(await status(page), /^\d+ of 40 rows selected/);
    await type(page, "\"><svg onload=window.__owned=3> > 0");
    assert.match(await status(page), /^\d+ of 40 rows selected/);
    await page.fill("#find", "<script>window.__owned=7</script>7");
    await page.press("#find", "Enter");
    assert.equal(await page.locator("#chosen h2").textContent(), "<script>window.__owned=7</script>7");
    assert.equal(await page.evaluate(() => window.__owned), undefined);
    assert.equal(await page.locator("body script:not(#data)").count(), 1);
  }));
});
