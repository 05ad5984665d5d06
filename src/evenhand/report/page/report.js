"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  if (!at("index")) return;
  const PAGE = 50;
  const LONG = 1500;
  const count = (number) => number.toLocaleString("en");

  // Texts of the data only ever become text nodes and values of options.
  function made(tag, className, ...content) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...content.filter((each) => each !== null && each !== undefined && each !== ""));
    return node;
  }

  function linked(number, text) {
    const node = made("a", "", text);
    node.href = link(number);
    return node;
  }

  // --- reading ---------------------------------------------------------------------------------------------------

  async function read(id) {
    const text = at(id).textContent;
    if (!("packed" in at(id).dataset)) return JSON.parse(text);
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  const parts = new Map();
  function part(number) {
    if (!parts.has(number)) parts.set(number, read("part-" + number));
    return parts.get(number);
  }

  let lists, called, verdicts, place;  // place: name of a verdict -> its number

  async function start() {
    const index = await read("index");
    ({ lists, called } = index);
    verdicts = index.verdicts.map(([name, row, item, systems, length, held, ...runs]) => ({
      name, row, item, systems, length, held,
      runs: runs.map((run) => {
        if (run === null) return null;
        const [label, score, spread, agreement, flags, reason, gold, votes] = run;
        const found = { label, score, spread, agreement, reason, gold, votes };
        for (const [flag, bit] of Object.entries(index.flags)) found[flag] = (flags & bit) !== 0;
        // Without a selection: it is unscored, or a rule gives none for a reason.
        found.lacks = label === null && !found.na && (reason !== null || found.unscored);
        return found;
      }),
    }));
    place = new Map(verdicts.map((verdict, number) => [verdict.name, number]));
    fill();
    at("explorer").hidden = false;
    choose();
    if (location.hash.startsWith("#verdict=")) follow(true);
    else if (verdicts.length && matchMedia("(min-width: 64rem)").matches) {
      current = 0;
      list();
      show(0);
    }
    warm();
  }

  // --- choosing --------------------------------------------------------------------------------------------------

  const given = (verdict) => verdict.runs.filter((run) => run !== null);
  const has = (flag) => (verdict) => given(verdict).some((run) => run[flag]);
  const answered = (verdict) => given(verdict).filter((run) => run.label !== null);  // as the comparison counts them
  const ONLY = [
    ["flipped", "changed with the order", has("flipped")],
    ["divided", "votes disagree", has("divided")],
    ["wrong", "against people", has("wrong")],
    ["changed", "changed between the runs", (verdict) => new Set(answered(verdict).map((run) => run.label)).size > 1],
    ["lost", "answered in one run only", (verdict) => called.length > 1 && answered(verdict).length === 1],
    ["na", "does not apply", has("na")],
  ];
  // The greatest number of a column with a sign, or the least; verdicts without one come last.
  const by = (column, sign) => (verdict) =>
    Math.min(Infinity, ...given(verdict).filter((run) => run[column]).map((run) => sign * run[column][0]));
  const SORTS = [
    ["as judged", null],
    ["spread of the draws", by("spread", -1)],
    ["least agreement", by("agreement", 1)],
    ["longest responses", (verdict) => -verdict.length],
    ["shortest responses", (verdict) => verdict.length],
    ["lowest score", by("score", 1)],
    ["highest score", by("score", -1)],
  ];

  function options(id, all, names) {
    at(id).replaceChildren(...[[-1, all], ...names].map(([value, name]) => {
      const option = made("option", "", name);
      option.value = String(value);
      return option;
    }));
    at(id).parentElement.hidden = names.length < (id === "read" ? 1 : 2);
  }

  const every = (names) => names.map((name, number) => [number, name]);

  function fill() {
    const votes = verdicts.flatMap((verdict) => given(verdict).flatMap((run) => run.votes));
    const seen = new Set(verdicts.flatMap((verdict) => given(verdict).map((run) => run.label)));
    for (const [, label] of votes) seen.add(label);
    options("system", "all", every(lists.systems));
    options("criterion", "all", every(lists.items));
    options("judge", "all", every(lists.judges));
    options("level", "any", every(lists.labels).filter(([number]) => seen.has(number)));
    const ofVotes = new Set(votes.map(([, , reason]) => reason));
    const reasons = every(lists.reasons).map(([number, name]) =>
      [number, (ofVotes.has(number) ? "unscored: " : "no score: ") + name.replaceAll("_", " ")]);
    options("read", "all", [...(verdicts.some(has("lacks")) ? [[-2, "no verdict"]] : []), ...reasons]);
    options("sort", SORTS[0][0], SORTS.slice(1).map(([name], number) => [number + 1, name]));
    for (const [name, words, test] of ONLY) {
      if (!verdicts.some(test)) continue;
      const box = made("input");
      box.type = "checkbox";
      box.name = name;
      at("only").append(made("label", "", box, words));
    }
    at("only").hidden = at("only").children.length < 2;
  }

  let shown = [];  // the numbers of the verdicts that are listed
  let page = 0;
  let current = -1;
  let found = null;  // the numbers that a search found; null without one

  function choose() {
    const [system, criterion, judge, level, reading, sort] =
      ["system", "criterion", "judge", "level", "read", "sort"].map((id) => Number(at(id).value));
    const boxes = [...at("only").querySelectorAll("input:checked")].map((box) => box.name);
    const tests = ONLY.filter(([name]) => boxes.includes(name)).map(([, , test]) => test);
    const fits = (label, reason) => (level < 0 || label === level) && (reading < 0 || reason === reading);
    // With a judge, level and reading are those of its votes; else those of the verdict, or why a vote is unscored.
    const inRun = (run) => {
      if (reading === -2 && !run.lacks) return false;
      if (judge >= 0) return run.votes.some(([who, label, reason]) => who === judge && fits(label, reason));
      return (level < 0 || run.label === level) &&
        (reading < 0 || run.reason === reading || run.votes.some(([, , reason]) => reason === reading));
    };
    shown = [...verdicts.keys()].filter((number) => {
      const verdict = verdicts[number];
      return (criterion < 0 || verdict.item === criterion) && (system < 0 || verdict.systems.includes(system)) &&
        (!found || found.has(number)) && given(verdict).some(inRun) && tests.every((test) => test(verdict));
    });
    if (sort > 0) {
      const keys = new Map(shown.map((number) => [number, SORTS[sort][1](verdicts[number])]));
      const sign = (one, other) => (one === other ? 0 : one - other);  // of two infinities
      shown.sort((one, other) => sign(keys.get(one), keys.get(other)) || one - other);
    }
    page = 0;
    list();
  }

  // --- the list --------------------------------------------------------------------------------------------------

  const link = (number) => "#verdict=" + encodeURIComponent(verdicts[number].name);
  const words = (name) => name.replaceAll("_", " ");
  const written = (number) => (number === null ? "" : number[1]);
  const joined = (texts, sign) => texts.filter(Boolean).join(sign);
  const about = (verdict) => joined([joined(verdict.systems.map((each) => lists.systems[each]), " / "),
    lists.items[verdict.item]], " · ");
  const labels = (verdict) => verdict.runs.map(label).join(" → ");

  function label(run) {
    if (run === null) return "not in this run";
    if (run.label !== null) return lists.labels[run.label];
    if (run.na) return "does not apply";
    if (run.unscored) return "unscored";
    // Votes without a verdict: what they say.
    const said = run.lacks ? [] : [...new Set(run.votes.map((vote) => vote[1]))].filter((each) => each !== null);
    return said.map((each) => lists.labels[each]).join(" / ") || "no verdict";
  }

  function tags(run) {
    if (run === null) return [];
    return [
      run.lacks && run.reason !== null && ["bad", words(lists.reasons[run.reason])],
      run.wrong && ["bad", "against people"],
      run.flipped && ["", "flips"],
      run.divided && !run.flipped && ["", "divided"],
    ].filter(Boolean).map(([className, text]) => made("span", "tag " + className, text));
  }

  function list() {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    at("list").replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map((number) => {
      const verdict = verdicts[number];
      const said = new Set(verdict.runs.map(label));
      const scores = new Set(given(verdict).map((run) => written(run.score)));
      const entry = linked(number, "");
      entry.append(
        made("span", "name", lists.rows[verdict.row], ...tags(verdict.runs[0])),
        made("span", "said", said.size > 1 ? labels(verdict) : [...said][0]),
        made("span", "about", about(verdict)),
        made("span", "num", [...scores].join(" → ")),
      );
      if (number === current) entry.setAttribute("aria-current", "true");
      return made("li", "", entry);
    }));
    at("list").start = page * PAGE + 1;
    const total = verdicts.length;
    at("count").textContent = (shown.length === total ? `${count(total)} verdicts`
      : `${count(shown.length)} of ${count(total)} verdicts`) + (shown.length ? "" : ": loosen a filter");
    at("page").textContent = `Page ${count(page + 1)} of ${count(pages)}`;
    at("before").disabled = page === 0;
    at("after").disabled = page + 1 >= pages;
  }

  function turn(step) {
    page += step;
    list();
    at("listing").scrollTop = 0;
    at("count").scrollIntoView({ block: "start" });
  }

  function move(step) {
    const from = shown.indexOf(current);
    const next = from < 0 ? (step > 0 ? page * PAGE : -1) : from + step;
    if (next < 0 || next >= shown.length) return;
    location.hash = link(shown[next]);
    follow(false);  // at once, as the next key may come before the event
  }

  // --- one verdict -----------------------------------------------------------------------------------------------

  let followed = "";  // the link that was shown last

  function follow(first) {
    followed = location.hash;
    if (!location.hash.startsWith("#verdict=")) return;
    let number;
    try {
      number = place.get(decodeURIComponent(location.hash.slice(9)));
    } catch {
      number = undefined;
    }
    if (number === undefined) {
      at("verdict").replaceChildren(made("p", "problem", "There is no such verdict in this report."));
      return;
    }
    current = number;
    const where = shown.indexOf(number);
    if (where >= 0) page = Math.floor(where / PAGE);
    const focused = document.activeElement;
    const listed = at("list").contains(focused) || focused === document.body;
    list();
    const entry = at("list").querySelector("[aria-current]");
    if (entry && listed && !first) entry.focus({ preventScroll: true });
    if (entry && !first) entry.scrollIntoView({ block: "nearest" });
    show(number, first);
  }

  function folded(title, build, open) {
    const node = made("details", "", made("summary", "", title));
    let built = false;
    const unfold = () => {
      if (!node.open || built) return;
      built = true;
      node.append(...build());
    };
    node.addEventListener("toggle", unfold);
    node.open = Boolean(open);
    unfold();
    return node;
  }

  function text(content, read) {
    const node = made("p", "text");
    node.dir = "auto";
    if (!read || !read.length) node.append(content);
    else node.append(content.slice(0, read[0]), made("mark", "", content.slice(...read)), content.slice(read[1]));
    return node;
  }

  function textBox(name, content, className, head) {
    const box = made("section", "box " + className);
    box.append(made("p", "head", made("span", "said", name), head || ""));
    if (content === undefined) box.append(made("p", "note", "There is no text: nothing was given."));
    else if (content.length <= LONG) box.append(text(content));
    else {
      const clip = made("div", "clip", text(content));
      clip.tabIndex = 0;
      box.append(clip);
    }
    return box;
  }

  function vote(own, held, run) {
    const [judge, selected, reason, seen, draw, value, na, error, reasons, reply, reasoning, read, how, model, cost,
      likely, prompts] = own;
    const box = made("section", "box");
    const name = selected !== null ? lists.labels[selected] : na ? "does not apply" : "unscored";
    const facts = [called.length > 1 && called[run], judge !== null && lists.judges[judge], `draw ${draw}`,
      model !== lists.judges[judge] && model, written(cost)];
    box.append(made("p", "head",
      made("span", "", made("span", "said", name), value && " · " + written(value),
        reason !== null && made("span", "tag bad", words(lists.reasons[reason])) || ""),
      made("span", "", joined(facts, " · "))));
    const note = (title, texts) => texts.length && box.append(made("p", "note", title + texts.join(", ")));
    if (reply !== null || prompts.length) note("Shown in the order: ", seen);  // else it was recorded elsewhere
    note("Probabilities: ", likely.map((each) => each.join(" ")));
    if (error !== null) box.append(made("p", "problem", held.texts[error]));
    if (reasons !== null) box.append(text(held.texts[reasons]));
    if (reply !== null) {
      const rule = how === "none" ? "" : ", read as: " + how;
      box.append(folded("Reply" + rule, () => [text(held.texts[reply], read)], reasons === null || reason !== null));
    }
    if (reasoning !== null) box.append(folded("Thinking", () => [text(held.texts[reasoning])]));
    for (const [stage, ...messages] of prompts) {
      box.append(folded(`Prompt: ${stage}`, () => messages.map((number) => {
        const [role, pieces] = held.messages[number];
        return made("div", "message", made("p", "role", role), text(pieces.map((each) => held.texts[each]).join("")));
      })));
    }
    return box;
  }

  function verdictLine(run) {
    const line = made("p", "", made("span", "said", label(run)), ...tags(run));
    if (run === null) return line;
    const facts = joined([
      run.score && `score ${written(run.score)}`,
      run.agreement && `${written(run.agreement)} of the votes agree`,
      run.spread && `spread of the draws ${written(run.spread)}`,
      run.gold !== null && `people say ${lists.labels[run.gold]}`,
    ], " · ");
    if (facts) line.append(made("span", "note", " " + facts));
    return line;
  }

  async function show(number, first) {
    const verdict = verdicts[number];
    const held = await part(verdict.held);
    if (number !== current) return;
    const [question, context, responses, cluster, votes] = held.verdicts[number];
    const row = [...verdicts.keys()].filter((each) => verdicts[each].row === verdict.row);
    const back = made("button", "back", "Back to the list");
    back.addEventListener("click", leave);
    const nodes = [made("p", "moves", back, linked(number, "link to this verdict")),
      made("h3", "", joined([lists.rows[verdict.row], about(verdict)], " · "))];
    verdict.runs.forEach((run, which) => {
      if (called.length > 1) nodes.push(made("h4", "", called[which]));
      nodes.push(verdictLine(run));
    });
    if (cluster !== null) nodes.push(made("p", "note", "Belongs to " + held.texts[cluster]));
    if (question !== null && held.texts[question]) nodes.push(textBox("Criterion", held.texts[question], "asked"));
    if (context.length) nodes.push(made("h4", "", "Context"));
    for (const [name, content] of context) nodes.push(textBox(name, held.texts[content], "context"));
    // Responses of other systems on the same item stand next to those of this verdict.
    const boxes = responses.map((each) => [...each, number]);
    for (const each of row.filter((one) => one !== number && verdicts[one].item === verdict.item)) {
      for (const [system, content, run] of held.verdicts[each][2]) {
        if (!boxes.some(([known, , of]) => known === system && of === run)) boxes.push([system, content, run, each]);
      }
    }
    boxes.sort((one, other) => one[0] - other[0]);  // so that a system keeps its place
    if (boxes.length) nodes.push(made("h4", "", boxes.length > 1 ? "Responses" : "Response"));
    nodes.push(boxes.length ? made("div", "beside", ...boxes.map(([system, content, run, each]) => {
      const said = run === null ? labels(verdicts[each]) : label(verdicts[each].runs[run]);
      const head = each !== number ? linked(each, said) : responses.length > 1 ? "" : said;
      const name = lists.systems[system] + (run === null ? "" : " · " + called[run]);
      const own = each === number && responses.length < boxes.length;
      return textBox(name, content === null ? undefined : held.texts[content], own ? "this" : "", head);
    })) : made("p", "note", "The judged texts are not in the result: make the report with the data (data=…, in the "
      + "shell --data)."));
    const others = row.filter((each) => each !== number && !boxes.some(([, , , shownAt]) => shownAt === each));
    if (others.length) {
      nodes.push(folded(`Other verdicts on this row (${count(others.length)})`, () => [made("ul", "others",
        ...others.map((each) => made("li", "", linked(each, about(verdicts[each])), ": " + labels(verdicts[each])))),
      ], others.length < 13));
    }
    const cast = votes.flatMap((those, run) => those.map((each) => vote(each, held, run)));
    nodes.push(made("h4", "", cast.length === 1 ? "Vote" : `Votes (${count(cast.length)})`));
    nodes.push(cast.length ? made("div", "votes", ...cast) : made("p", "note", "No judge was asked."));
    at("verdict").replaceChildren(...nodes);
    at("verdict").setAttribute("aria-label", "Verdict " + verdict.name);
    document.querySelector(".panes").classList.add("open");
    if (first || matchMedia("(max-width: 40rem)").matches) at("verdict").scrollIntoView({ block: "start" });
  }

  function leave() {
    document.querySelector(".panes").classList.remove("open");
    const entry = at("list").querySelector("[aria-current]") || at("list").querySelector("a");
    if (entry) entry.focus();
  }

  // --- searching -------------------------------------------------------------------------------------------------

  const lower = new Map();  // part -> its texts in lower case, and the number of each verdict with those of its texts

  async function prepared(number) {
    if (!lower.has(number)) {
      const held = await part(number);
      const own = Object.entries(held.verdicts).map(([verdict, [question, context, responses, , votes]]) =>
        [Number(verdict), [question, ...context.map((each) => each[1]), ...responses.map((each) => each[1]),
          ...votes.flat().flatMap((each) => each.slice(7, 11))]]);
      const texts = Object.entries(held.texts).map(([which, content]) => [Number(which), content.toLowerCase()]);
      lower.set(number, [texts, own]);
    }
    return lower.get(number);
  }

  const numberOfParts = document.querySelectorAll("[id^=part-]").length;

  // Unpacks all that a search reads, bit by bit, so that the page stays responsive.
  async function warm() {
    for (let number = 0; number < numberOfParts; number += 1) {
      await new Promise((go) => { setTimeout(go, 20); });
      await prepared(number);
    }
    document.documentElement.dataset.searchable = "";
  }

  let searches = 0;
  async function search() {
    searches += 1;
    const mine = searches;
    const wanted = at("search").value.trim().toLowerCase();
    const hits = new Set();
    for (let number = 0; wanted && number < numberOfParts; number += 1) {
      if (!lower.has(number)) at("count").textContent = `Reading texts: part ${count(number + 1)} …`;
      const [texts, own] = await prepared(number);
      if (mine !== searches) return;
      const matching = new Set(texts.filter(([, content]) => content.includes(wanted)).map(([which]) => which));
      for (const [verdict, numbers] of own) {
        const named = verdicts[verdict].name.toLowerCase().includes(wanted);
        if (named || numbers.some((each) => matching.has(each))) hits.add(verdict);
      }
    }
    found = wanted ? hits : null;
    choose();
  }

  // --- keys and clicks -------------------------------------------------------------------------------------------

  const KEYS = {
    j: () => move(1),
    k: () => move(-1),
    "/": () => at("search").focus(),
    "?": () => at("help").showModal(),
    Enter: () => at("verdict").focus(),
  };

  function pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || at("help").open) return;
    const where = event.target;
    if (event.key === "Escape" && !where.matches("select")) {
      if (where.id === "search") where.blur();
      else leave();
      return;
    }
    if (!at("keys").checked || where.matches("input:not([type=checkbox]), select, textarea")) return;
    if (event.key === "Enter" && (current < 0 || where.matches("button, summary, a:not([aria-current]), input"))) return;
    if (!KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  }

  document.addEventListener("keydown", pressed);
  addEventListener("hashchange", () => { if (location.hash !== followed) follow(false); });
  at("list").addEventListener("click", (event) => {
    const entry = event.target.closest("a");
    if (entry && entry.hash === location.hash) follow(false);  // the link does not change
  });
  at("filters").addEventListener("change", (event) => { if (event.target.id !== "search") choose(); });
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("reset", () => { found = null; setTimeout(choose); });
  at("search").addEventListener("input", search);
  at("help-open").addEventListener("click", () => at("help").showModal());
  at("before").addEventListener("click", () => turn(-1));
  at("after").addEventListener("click", () => turn(1));
  start().catch((problem) => {
    at("explorer").before(made("p", "problem", `This browser cannot show the verdicts (${problem.message}); a more `
      + "recent one can. All that stands above is complete."));
  });
})();
