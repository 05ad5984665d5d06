"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  if (!at("data")) return;
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

  // All texts are numbers of this list.
  let texts, called, verdicts, place;  // place: name of a verdict -> its number

  async function start() {
    ({ texts, called, verdicts } = await read("data"));
    for (const verdict of verdicts) verdict.first = given(verdict)[0];
    for (const run of verdicts.flatMap(given)) {
      // Without a selection: it is unscored, or a rule gives none for a reason.
      run.lacks = run.selected === null && !run.na && (run.unscored_reason !== null || run.unscored);
    }
    place = new Map(verdicts.map((verdict, number) => [texts[verdict.name], number]));
    fill();
    at("explorer").hidden = false;
    choose();
    if (location.hash.startsWith("#verdict=")) follow(true);
    else if (verdicts.length && matchMedia("(min-width: 64rem)").matches) {
      current = 0;
      list();
      show(0);
    }
    document.documentElement.dataset.searchable = "";
  }

  // --- choosing --------------------------------------------------------------------------------------------------

  const given = (verdict) => verdict.runs.filter((run) => run !== null);
  const has = (flag) => (verdict) => given(verdict).some((run) => run[flag]);
  const answered = (verdict) => given(verdict).filter((run) => run.selected !== null);  // as the comparison counts them
  const ONLY = [
    ["flipped", "changed with the order", has("flipped")],
    ["divided", "votes disagree", has("divided")],
    ["wrong", "against gold", has("wrong")],
    ["changed", "changed between the runs", (verdict) => new Set(answered(verdict).map((run) => run.selected)).size > 1],
    ["lost", "answered in one run only", (verdict) => called.length > 1 && answered(verdict).length === 1],
    ["na", "does not apply", has("na")],
  ];
  // The greatest number of a column with a sign, or the least; verdicts without one come last.
  const by = (column, sign) => (verdict) =>
    Math.min(Infinity, ...given(verdict).filter((run) => run[column]).map((run) => sign * run[column][0]));
  const lengthOf = (verdict) =>
    verdict.first.responses.reduce((sum, [, content]) => sum + (texts[content] || "").length, 0);
  const SORTS = [
    ["as judged", null],
    ["spread of the draws", by("spread", -1)],
    ["least agreement", by("agreement", 1)],
    ["longest responses", (verdict) => -lengthOf(verdict)],
    ["shortest responses", (verdict) => lengthOf(verdict)],
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

  const distinct = (numbers) => [...new Set(numbers)].filter((each) => each !== null).map((each) => [each, texts[each]]);

  function fill() {
    const runs = verdicts.flatMap(given);
    const votes = runs.flatMap((run) => run.votes);
    const seen = new Set([...runs, ...votes].map((each) => each.selected));
    options("system", "all", distinct(verdicts.flatMap((verdict) => verdict.first.systems)));
    options("criterion", "all", distinct(verdicts.map((verdict) => verdict.item)));
    options("judge", "all", distinct(votes.map((each) => each.judge)));
    const levels = distinct([...votes.flatMap((each) => each.shown), ...seen]);  // in the criterion's order
    options("level", "any", levels.filter(([number]) => seen.has(number)));
    const ofVotes = new Set(votes.map((each) => each.unscored_reason));
    const reasons = distinct([...runs, ...votes].map((each) => each.unscored_reason)).map(([number, name]) =>
      [number, (ofVotes.has(number) ? "unscored: " : "no score: ") + words(name)]);
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
      if (judge >= 0) return run.votes.some((each) => each.judge === judge && fits(each.selected, each.unscored_reason));
      return (level < 0 || run.selected === level) &&
        (reading < 0 || run.unscored_reason === reading || run.votes.some((each) => each.unscored_reason === reading));
    };
    shown = [...verdicts.keys()].filter((number) => {
      const verdict = verdicts[number];
      return (criterion < 0 || verdict.item === criterion) && (system < 0 || verdict.first.systems.includes(system)) &&
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

  const link = (number) => "#verdict=" + encodeURIComponent(texts[verdicts[number].name]);
  const words = (name) => name.replaceAll("_", " ");
  const written = (number) => (number === null ? "" : texts[number[1]]);
  const joined = (texts, sign) => texts.filter(Boolean).join(sign);
  const about = (verdict) => joined([joined(verdict.first.systems.map((each) => texts[each]), " / "), texts[verdict.item]],
    " · ");
  const labels = (verdict) => verdict.runs.map(label).join(" → ");

  function label(run) {
    if (run === null) return "not in this run";
    if (run.selected !== null) return texts[run.selected];
    if (run.na) return "does not apply";
    if (run.unscored) return "unscored";
    // Votes without a verdict: what they say.
    const said = run.lacks ? [] : distinct(run.votes.map((vote) => vote.selected));
    return said.map(([, name]) => name).join(" / ") || "no verdict";
  }

  function tags(run) {
    if (run === null) return [];
    return [
      run.lacks && run.unscored_reason !== null && ["bad", words(texts[run.unscored_reason])],
      run.wrong && ["bad", "against gold"],
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
        made("span", "name", texts[verdict.first.row], ...tags(verdict.runs[0])),
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

  function text(...pieces) {  // of three, the second is marked
    const marked = pieces.length === 3 ? [pieces[0], made("mark", "", pieces[1]), pieces[2]] : pieces;
    const node = made("p", "text", ...marked);
    node.dir = "auto";
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

  function vote(own, run) {
    const { selected, unscored_reason: reason, value, reasons, reply, reasoning, prompts } = own;
    const box = made("section", "box");
    const name = selected !== null ? texts[selected] : own.na ? "does not apply" : "unscored";
    const facts = [called.length > 1 && called[run], texts[own.judge], `draw ${own.sample + 1}`,
      own.model !== null && own.model !== own.judge && texts[own.model], written(own.cost)];
    box.append(made("p", "head",
      made("span", "", made("span", "said", name), value && " · " + written(value),
        reason !== null && made("span", "tag bad", words(texts[reason])) || ""),
      made("span", "", joined(facts, " · "))));
    const note = (title, shown) => shown.length && box.append(made("p", "note", title + shown.join(", ")));
    // Else it was recorded elsewhere.
    if (reply.length || prompts.length) note("Shown in the order: ", own.shown.map((each) => texts[each]));
    note("Probabilities: ", own.probabilities.map(([of, share]) => `${texts[of]} ${written(share)}`));
    if (own.error !== null) box.append(made("p", "problem", texts[own.error]));
    if (reasons !== null) box.append(text(texts[reasons]));
    if (reply.length) {
      const rule = own.how === null ? "" : ", read as: " + texts[own.how];
      const pieces = reply.map((each) => texts[each]);
      box.append(folded("Reply" + rule, () => [text(...pieces)], reasons === null || reason !== null));
    }
    if (reasoning !== null) box.append(folded("Thinking", () => [text(texts[reasoning])]));
    for (const [stage, messages] of prompts) {
      box.append(folded(`Prompt: ${texts[stage]}`, () => messages.map(([role, pieces]) =>
        made("div", "message", made("p", "role", texts[role]), text(pieces.map((each) => texts[each]).join(""))))));
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
      run.gold !== null && `gold ${texts[run.gold]}`,
    ], " · ");
    if (facts) line.append(made("span", "note", " " + facts));
    return line;
  }

  // The responses of a verdict: system, text, run (null if all runs were shown the same), and the verdict's number.
  function responsesOf(number) {
    const runs = verdicts[number].runs;
    const shownIn = (run, [system, content]) => run.responses.some((each) => each[0] === system && each[1] === content);
    return runs.flatMap((run, which) => (run === null ? [] : run.responses.flatMap((each) => {
      if (!given(verdicts[number]).every((other) => shownIn(other, each))) return [[...each, which, number]];
      return runs.findIndex((other) => other !== null) === which ? [[...each, null, number]] : [];
    })));
  }

  function show(number, first) {
    const verdict = verdicts[number];
    const runs = given(verdict);
    const { question, cluster } = verdict.first;
    const context = [...new Map(runs.flatMap((run) => run.context).map((each) => [String(each), each])).values()];
    const row = [...verdicts.keys()].filter((each) => verdicts[each].row === verdict.row);
    const back = made("button", "back", "Back to the list");
    back.addEventListener("click", leave);
    const nodes = [made("p", "moves", back, linked(number, "link to this verdict")),
      made("h3", "", joined([texts[verdict.first.row], about(verdict)], " · "))];
    verdict.runs.forEach((run, which) => {
      if (called.length > 1) nodes.push(made("h4", "", called[which]));
      nodes.push(verdictLine(run));
    });
    if (cluster !== null) nodes.push(made("p", "note", "Belongs to " + texts[cluster]));
    if (texts[question]) nodes.push(textBox("Criterion", texts[question], "asked"));
    if (context.length) nodes.push(made("h4", "", "Context"));
    for (const [name, content] of context) nodes.push(textBox(texts[name], texts[content], "context"));
    // Responses of other systems on the same item stand next to those of this verdict.
    const responses = responsesOf(number);
    const boxes = [...responses];
    const others = row.filter((each) => each !== number);
    for (const each of others.filter((one) => verdicts[one].item === verdict.item).flatMap(responsesOf)) {
      if (!boxes.some(([system, , run]) => system === each[0] && run === each[2])) boxes.push(each);
    }
    boxes.sort((one, other) => one[0] - other[0]);  // so that a system keeps its place
    if (boxes.length) nodes.push(made("h4", "", boxes.length > 1 ? "Responses" : "Response"));
    nodes.push(boxes.length ? made("div", "beside", ...boxes.map(([system, content, run, each]) => {
      const said = run === null ? labels(verdicts[each]) : label(verdicts[each].runs[run]);
      const head = each !== number ? linked(each, said) : responses.length > 1 ? "" : said;
      const name = texts[system] + (run === null ? "" : " · " + called[run]);
      const own = each === number && responses.length < boxes.length;
      return textBox(name, content === null ? undefined : texts[content], own ? "this" : "", head);
    })) : made("p", "note", "The judged texts are not in the result: make the report with the data (data=…, in the "
      + "shell --data)."));
    const further = others.filter((each) => !boxes.some(([, , , shownAt]) => shownAt === each));
    if (further.length) {
      nodes.push(folded(`Other verdicts on this row (${count(further.length)})`, () => [made("ul", "others",
        ...further.map((each) => made("li", "", linked(each, about(verdicts[each])), ": " + labels(verdicts[each])))),
      ], further.length < 13));
    }
    const cast = verdict.runs.flatMap((run, which) => (run === null ? [] : run.votes.map((each) => vote(each, which))));
    nodes.push(made("h4", "", cast.length === 1 ? "Vote" : `Votes (${count(cast.length)})`));
    nodes.push(cast.length ? made("div", "votes", ...cast) : made("p", "note", "No judge was asked."));
    at("verdict").replaceChildren(...nodes);
    at("verdict").setAttribute("aria-label", "Verdict " + texts[verdict.name]);
    document.querySelector(".panes").classList.add("open");
    if (first || matchMedia("(max-width: 40rem)").matches) at("verdict").scrollIntoView({ block: "start" });
  }

  function leave() {
    document.querySelector(".panes").classList.remove("open");
    const entry = at("list").querySelector("[aria-current]") || at("list").querySelector("a");
    if (entry) entry.focus();
  }

  // --- searching -------------------------------------------------------------------------------------------------

  let lower = null;  // the texts in lower case

  const searched = (verdict) => [verdict.name, ...given(verdict).flatMap((run) => [run.question,
    ...run.context.map((each) => each[1]), ...run.responses.map((each) => each[1]),
    ...run.votes.flatMap((each) => [each.error, each.reasons, ...each.reply, each.reasoning])])];

  function search() {
    lower ??= texts.map((content) => content.toLowerCase());
    const wanted = at("search").value.trim().toLowerCase();
    const fits = lower.map((content) => content.includes(wanted));
    found = wanted ? new Set([...verdicts.keys()].filter((number) =>
      searched(verdicts[number]).some((each) => fits[each]))) : null;
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
