"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  if (!at("index")) return;
  const PAGE = 50;
  const count = (number) => number.toLocaleString("en");

  // Texts of the data only ever become text nodes and values of options.
  function made(tag, className, ...content) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...content.filter((each) => each !== null && each !== undefined && each !== ""));
    return node;
  }

  // --- reading ---------------------------------------------------------------------------------------------------

  function bytesOf(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const signs = atob(text);
    const bytes = new Uint8Array(signs.length);
    for (let place = 0; place < signs.length; place += 1) bytes[place] = signs.charCodeAt(place);
    return bytes;
  }

  async function read(id) {
    const held = at(id);
    const text = held.textContent;
    if (!("packed" in held.dataset)) return JSON.parse(text);
    const unpacked = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(unpacked).json();
  }

  const parts = new Map();
  function part(number) {
    if (!parts.has(number)) parts.set(number, read("part-" + number));
    return parts.get(number);
  }

  let data, lists, runs, flags, total, place;  // place: name of a verdict -> its number

  async function start() {
    data = await read("index");
    ({ lists, runs, flags } = data);
    total = data.names.length;
    place = new Map(data.names.map((name, number) => [name, number]));
    runs = runs.map(([selected, score, spread, agreement, flag, reason, gold, said]) =>
      ({ selected, score, spread, agreement, flag, reason, gold, said }));
    [data.item, data.pair, data.length] = data.about;
    fill();
    at("explorer").hidden = false;
    choose();
    performance.mark("listed");
    if (location.hash.startsWith("#verdict=")) follow(true);
    else if (total && matchMedia("(min-width: 64rem)").matches) {
      current = 0;
      list();
      show(0);
    }
    warm();
  }

  // --- choosing --------------------------------------------------------------------------------------------------

  const has = (number, flag) => runs.some((run) => run.flag[number] & flags[flag]);
  const absent = (run, number) => (run.flag[number] & flags.absent) !== 0;
  // A verdict without a selection: it is unscored, or a rule gives none for a reason.
  const lacks = (run, number) => run.selected[number] < 0 && !(run.flag[number] & flags.na) &&
    (run.reason[number] >= 0 || (run.flag[number] & flags.unscored) !== 0);
  // As the comparison counts them: of those that both runs answered.
  const answered = (number) => runs.filter((run) => run.selected[number] >= 0).length;
  const changed = (number) => answered(number) > 1 && runs[0].selected[number] !== runs[1].selected[number];
  const ONLY = [
    ["flipped", "changed with the order", (number) => has(number, "flipped")],
    ["divided", "votes disagree", (number) => has(number, "divided")],
    ["wrong", "against people", (number) => has(number, "wrong")],
    ["changed", "changed between the runs", changed],
    ["lost", "answered in one run only", (number) => runs.length > 1 && answered(number) === 1],
    ["na", "does not apply", (number) => has(number, "na")],
  ];
  const worth = (number) => (number < 0 ? -Infinity : lists.numbers[number][0]);
  const of = (column, rank) => (number) => rank(Math.max(...runs.map((run) => worth(run[column][number]))));
  const SORTS = [
    ["as judged", null],
    ["spread of the draws", of("spread", (value) => -value)],
    ["least agreement", (number) => Math.min(...runs.map((run) =>
      (run.agreement[number] < 0 ? Infinity : worth(run.agreement[number]))))],
    ["longest responses", (number) => -data.length[number]],
    ["shortest responses", (number) => data.length[number]],
    ["lowest score", (number) => Math.min(...runs.map((run) =>
      (run.score[number] < 0 ? Infinity : worth(run.score[number]))))],
    ["highest score", of("score", (value) => -value)],
  ];

  function options(id, all, names) {
    at(id).replaceChildren(...[[-1, all], ...names].map(([value, name]) => {
      const option = made("option", "", name);
      option.value = String(value);
      return option;
    }));
    at(id).parentElement.hidden = names.length < 2 && id !== "sort" && !(id === "read" && names.length);
  }

  const every = (names) => names.map((name, number) => [number, name]);

  function fill() {
    const seen = new Set(runs.flatMap((run) => run.selected));
    lists.said.forEach((votes) => votes.forEach(([, label]) => seen.add(label)));
    options("system", "all", every(lists.systems));
    options("criterion", "all", every(lists.items));
    options("judge", "all", every(lists.judges));
    options("level", "any", every(lists.labels).filter(([number]) => seen.has(number)));
    const ofVotes = new Set(lists.said.flatMap((votes) => votes.map(([, , reason]) => reason)));
    const reasons = every(lists.reasons).map(([number, name]) =>
      [number, (ofVotes.has(number) ? "unscored: " : "no score: ") + name.replaceAll("_", " ")]);
    const lacking = runs.some((run) => run.flag.some((flag, number) => lacks(run, number)));
    options("read", "all", [...(lacking ? [[-2, "no verdict"]] : []), ...reasons]);
    options("sort", SORTS[0][0], SORTS.slice(1).map(([name], number) => [number + 1, name]));
    for (const [name, words, test] of ONLY) {
      let some = false;
      for (let number = 0; number < total && !some; number += 1) some = test(number);
      if (!some) continue;
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
  let found = null;  // what a search found, by number; null without one

  function choose() {
    const [system, criterion, judge, level, reading, sort] =
      ["system", "criterion", "judge", "level", "read", "sort"].map((id) => Number(at(id).value));
    const boxes = [...at("only").querySelectorAll("input:checked")].map((box) => box.name);
    const tests = ONLY.filter(([name]) => boxes.includes(name)).map(([, , test]) => test);
    const pairs = lists.pairs.map((pair) => system < 0 || pair.includes(system));
    const fits = (label, reason) => (level < 0 || label === level) && (reading < 0 || reason === reading);
    // With a judge, level and reading are those of its votes; else those of the verdict, or why a vote is unscored.
    const said = lists.said.map((votes) => votes.some(([who, label, reason]) => who === judge && fits(label, reason)));
    const noted = lists.said.map((votes) => votes.some(([, , reason]) => reason === reading));
    const inRun = (run, number) => {
      if (absent(run, number)) return false;
      if (reading === -2 && !lacks(run, number)) return false;
      if (judge >= 0) return said[run.said[number]];
      return (level < 0 || run.selected[number] === level) &&
        (reading < 0 || run.reason[number] === reading || noted[run.said[number]]);
    };
    shown = [];
    for (let number = 0; number < total; number += 1) {
      if ((criterion < 0 || data.item[number] === criterion) && pairs[data.pair[number]] &&
        (!found || found.has(number)) && runs.some((run) => inRun(run, number)) &&
        tests.every((test) => test(number))) shown.push(number);
    }
    if (sort > 0) {
      const key = SORTS[sort][1];
      const keys = new Map(shown.map((number) => [number, key(number)]));
      shown.sort((one, other) => keys.get(one) - keys.get(other) || one - other);
    }
    page = 0;
    list();
  }

  // --- the list --------------------------------------------------------------------------------------------------

  const link = (number) => "#verdict=" + encodeURIComponent(data.names[number]);
  const label = (run, number) => (absent(run, number) ? "not in this run"
    : run.selected[number] >= 0 ? lists.labels[run.selected[number]]
    : run.flag[number] & flags.na ? "does not apply"
    : run.flag[number] & flags.unscored ? "unscored" : lacks(run, number) ? "no verdict" : all(run.said[number]));
  // Where votes come to no verdict: what they say.
  const all = (said) => [...new Set(lists.said[said].map((vote) => vote[1]))].filter((each) => each >= 0)
    .map((each) => lists.labels[each]).join(" / ") || "no verdict";
  const written = (number) => (number < 0 ? "" : lists.numbers[number][1]);
  const whose = (number) => lists.pairs[data.pair[number]].map((each) => lists.systems[each]).join(" / ");
  const about = (number) => [whose(number), lists.items[data.item[number]]].filter(Boolean).join(" · ");

  function tags(run, number) {
    const on = (flag) => run.flag[number] & flags[flag];
    return [
      lacks(run, number) && run.reason[number] >= 0 && ["bad", lists.reasons[run.reason[number]].replaceAll("_", " ")],
      on("wrong") && ["bad", "against people"],
      on("flipped") && ["", "flips"],
      on("divided") && !on("flipped") && ["", "divided"],
    ].filter(Boolean).map(([className, words]) => made("span", "tag " + className, words));
  }

  function list() {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    const rows = shown.slice(page * PAGE, (page + 1) * PAGE).map((number) => {
      const entry = made("a");
      entry.href = link(number);
      const labels = runs.map((run) => label(run, number));
      const same = labels.every((each) => each === labels[0]);
      entry.append(
        made("span", "name", lists.rows[data.row[number]], ...tags(runs[0], number)),
        made("span", "said", same ? labels[0] : labels.join(" → ")),
        made("span", "about", about(number)),
        made("span", "num", [...new Set(runs.map((run) => written(run.score[number])))].join(" → ")),
      );
      if (number === current) entry.setAttribute("aria-current", "true");
      return made("li", "", entry);
    });
    at("list").replaceChildren(...rows);
    at("list").start = page * PAGE + 1;
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
    if (next >= 0 && next < shown.length) {
      location.hash = link(shown[next]);
      follow(false);  // at once, as the next key may come before the event
    }
  }

  // --- one verdict -----------------------------------------------------------------------------------------------

  let followed = "";  // the link that was shown last

  // Beside the verdict the list scrolls by itself; above it, with the page, unless this was opened by a link.
  function reveal(entry, also) {
    const box = at("listing");
    if (box.scrollHeight > box.clientHeight) {
      const above = entry.getBoundingClientRect().top - box.getBoundingClientRect().top;
      if (above < 0 || above + entry.offsetHeight > box.clientHeight) box.scrollTop += above - box.clientHeight / 3;
    }
    if (also) entry.scrollIntoView({ block: "nearest" });
  }

  function follow(first) {
    followed = location.hash;
    if (!location.hash.startsWith("#verdict=")) return;
    let name;
    try {
      name = decodeURIComponent(location.hash.slice(9));
    } catch {
      name = "";
    }
    const number = place.get(name);
    if (number === undefined) {
      at("verdict").replaceChildren(made("p", "problem", `There is no verdict ${name} in this report.`));
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
    if (entry) reveal(entry, !first);
    show(number, first);
  }

  function folded(title, build, open) {
    const node = made("details", "", made("summary", "", title));
    let built = false;
    const unfold = () => {
      if (node.open && !built) {
        built = true;
        node.append(...build());
      }
    };
    node.addEventListener("toggle", unfold);
    node.open = Boolean(open);
    unfold();
    return node;
  }

  function text(words, read) {
    const node = made("p", "text");
    node.dir = "auto";
    if (!read || !read.length) node.append(words);
    else node.append(words.slice(0, read[0]), made("mark", "", words.slice(...read)), words.slice(read[1]));
    return node;
  }

  const LONG = 1500;

  function shownText(name, words, className, head) {
    const box = made("section", "box " + className);
    box.append(made("p", "head", made("span", "said", name), head || ""));
    if (words === undefined) box.append(made("p", "note", "There is no text: nothing was given."));
    else box.append(words.length > LONG ? made("div", "clip", text(words)) : text(words));
    const clip = box.querySelector(".clip");
    if (clip) clip.tabIndex = 0;
    return box;
  }

  function vote(own, held, run) {
    const [judge, order, sample, selected, value, na, reason, error, reasons, reply, readAt, reasoning, how, model, cost,
      probabilities, prompts] = own;
    const box = made("section", "box");
    const name = selected >= 0 ? lists.labels[selected] : na ? "does not apply" : "unscored";
    const head = made("p", "head");
    head.append(made("span", "", made("span", "said", name), value >= 0 ? " · " + written(value) : "",
      reason >= 0 ? made("span", "tag bad", lists.reasons[reason].replaceAll("_", " ")) : ""));
    const seen = order >= 0 ? lists.orders[order].map((each) => lists.labels[each]) : [];
    const facts = [runs.length > 1 ? data.called[run] : "", judge >= 0 ? lists.judges[judge] : "", `draw ${sample}`,
      model >= 0 && lists.models[model] !== lists.judges[judge] ? lists.models[model] : "",
      cost >= 0 ? written(cost) : ""];
    head.append(made("span", "", facts.filter(Boolean).join(" · ")));
    box.append(head);
    const known = reply >= 0 || prompts.length;  // of a vote recorded elsewhere no order is known
    if (seen.length && known) box.append(made("p", "note", "Shown in the order: " + seen.join(", ")));
    const likely = probabilities.filter(([, share]) => share >= 0);
    if (likely.length) {
      const listed = likely.map(([each, share]) => `${lists.labels[each]} ${written(share)}`).join(", ");
      box.append(made("p", "note", "Probabilities: " + listed));
    }
    if (error >= 0) box.append(made("p", "problem", held.texts[error]));
    if (reasons >= 0) box.append(text(held.texts[reasons]));
    if (reply >= 0) {
      const rule = how >= 0 && lists.hows[how] !== "none" ? `, read as: ${lists.hows[how]}` : "";
      box.append(folded("Reply" + rule, () => [text(held.texts[reply], readAt)], reasons < 0 || reason >= 0));
    }
    if (reasoning >= 0) box.append(folded("Thinking", () => [text(held.texts[reasoning])]));
    for (const [stage, ...messages] of prompts) {
      box.append(folded(`Prompt: ${lists.stages[stage]}`, () => messages.map((number) => {
        const [role, pieces] = held.messages[number];
        return made("div", "message", made("p", "role", lists.roles[role]),
          text(pieces.map((piece) => held.texts[piece]).join("")));
      })));
    }
    return box;
  }

  function verdictOf(run, number) {
    const gold = run.gold[number];
    const facts = [
      written(run.score[number]) && `score ${written(run.score[number])}`,
      written(run.agreement[number]) && `${written(run.agreement[number])} of the votes agree`,
      written(run.spread[number]) && `spread of the draws ${written(run.spread[number])}`,
      gold >= 0 && `people say ${lists.labels[gold]}`,
    ].filter(Boolean);
    const line = made("p", "", made("span", "said", label(run, number)), ...tags(run, number));
    if (facts.length) line.append(made("span", "note", " " + facts.join(" · ")));
    return line;
  }

  // Verdicts of the same row: those of the same criterion with their responses, the others as links.
  function besides(number) {
    const found = [];
    for (let each = number; each >= 0 && data.row[each] === data.row[number]; each -= 1) found.unshift(each);
    for (let each = number + 1; each < total && data.row[each] === data.row[number]; each += 1) found.push(each);
    return found;
  }

  async function show(number, first) {
    const held = await part(data.part[number]);
    if (number !== current) return;
    const [question, context, responses, cluster, votes] = held.verdicts[number];
    const row = besides(number);
    const article = at("verdict");
    const nodes = [];
    const back = made("button", "back", "Back to the list");
    back.addEventListener("click", leave);
    const own = made("a", "", "link to this verdict");
    own.href = link(number);
    nodes.push(made("p", "moves", back, own));
    nodes.push(made("h3", "", [lists.rows[data.row[number]], about(number)].filter(Boolean).join(" · ")));
    runs.forEach((run, which) => {
      if (runs.length > 1) nodes.push(made("h4", "", data.called[which]));
      nodes.push(verdictOf(run, number));
    });
    if (cluster >= 0) nodes.push(made("p", "note", "Belongs to " + held.texts[cluster]));
    if (question >= 0 && held.texts[question]) nodes.push(shownText("Question", held.texts[question], "asked"));
    if (context.length) nodes.push(made("h4", "", "Context"));
    for (const [name, words] of context) nodes.push(shownText(lists.contexts[name], held.texts[words], "context"));
    // Responses of other systems stand beside those of this verdict.
    const beside = responses.map((each) => [...each, number]);
    for (const each of row) {
      if (each === number || data.item[each] !== data.item[number]) continue;
      for (const [system, words, run] of held.verdicts[each][2]) {
        if (!beside.some(([known, , of]) => known === system && of === run)) beside.push([system, words, run, each]);
      }
    }
    if (beside.length) nodes.push(made("h4", "", beside.length > 1 ? "Responses" : "Response"));
    beside.sort((one, other) => one[0] - other[0]);  // so that a system keeps its place
    const columns = made("div", "beside");
    for (const [system, words, run, each] of beside) {
      let head = (run < 0 ? runs : [runs[run]]).map((own) => label(own, each)).join(" → ");
      if (each !== number) {
        const other = made("a", "", head);
        other.href = link(each);
        head = other;
      } else if (responses.length > 1) head = "";
      const name = lists.systems[system] + (run < 0 ? "" : " · " + data.called[run]);
      const box = shownText(name, words < 0 ? undefined : held.texts[words],
        each === number && responses.length < beside.length ? "this" : "", head);
      columns.append(box);
    }
    nodes.push(beside.length ? columns : made("p", "note", "The texts that were judged are not in the result: a report "
      + "that is made with the data has them (data=…, in the shell --data)."));
    const others = row.filter((each) => each !== number && !beside.some(([, , , shownAt]) => shownAt === each));
    if (others.length) {
      nodes.push(folded(`Other verdicts on this row (${count(others.length)})`, () => [made("ul", "others",
        ...others.map((each) => {
          const other = made("a", "", about(each));
          other.href = link(each);
          return made("li", "", other, ": " + runs.map((run) => label(run, each)).join(" → "));
        }))], others.length < 13));
    }
    const cast = made("div", "votes");
    votes.forEach((those, run) => those.forEach((each) => cast.append(vote(each, held, run))));
    nodes.push(made("h4", "", cast.children.length === 1 ? "Vote" : `Votes (${count(cast.children.length)})`));
    nodes.push(cast.children.length ? cast : made("p", "note", "Nobody was asked."));
    article.replaceChildren(...nodes);
    article.setAttribute("aria-label", "Verdict " + data.names[number]);
    document.querySelector(".panes").classList.add("open");
    if (first || matchMedia("(max-width: 40rem)").matches) article.scrollIntoView({ block: "start" });
  }

  function leave() {
    document.querySelector(".panes").classList.remove("open");
    const entry = at("list").querySelector("[aria-current]") || at("list").querySelector("a");
    if (entry) entry.focus();
  }

  // --- searching -------------------------------------------------------------------------------------------------

  // part -> its texts in lower case, and the verdicts with the places of their own among these
  const lower = new Map();

  async function prepared(number) {
    if (!lower.has(number)) {
      const held = await part(number);
      const places = new Map();
      const texts = [];
      const own = [];
      for (const [verdict, [question, context, responses, , votes]] of Object.entries(held.verdicts)) {
        const numbers = new Set([question, ...context.map((each) => each[1]), ...responses.map((each) => each[1])]);
        for (const those of votes) for (const each of those) for (const which of [7, 8, 9, 11]) numbers.add(each[which]);
        numbers.delete(-1);
        for (const each of numbers) if (!places.has(each)) places.set(each, texts.push(held.texts[each].toLowerCase()) - 1);
        const name = texts.push(data.names[verdict].toLowerCase()) - 1;
        own.push([Number(verdict), name, ...[...numbers].map((each) => places.get(each))]);
      }
      lower.set(number, [texts, own]);
    }
    return lower.get(number);
  }

  const numberOfParts = document.querySelectorAll("[id^=part-]").length;

  // Unpacks all that a search reads, bit by bit, so that nobody waits for it.
  async function warm() {
    for (let number = 0; number < numberOfParts; number += 1) {
      await new Promise((go) => { setTimeout(go, 20); });
      await prepared(number);
    }
    document.documentElement.dataset.searchable = "";
  }

  let asked = 0;
  async function search() {
    asked += 1;
    const mine = asked;
    const wanted = at("search").value.trim().toLowerCase();
    if (!wanted) found = null;
    else {
      const hits = new Set();
      for (let number = 0; number < numberOfParts; number += 1) {
        if (!lower.has(number)) {
          at("count").textContent = `Reading texts: part ${count(number + 1)} of ${count(numberOfParts)} …`;
          await prepared(number);
          if (mine !== asked) return;
        }
        const [texts, own] = lower.get(number);
        const matching = texts.map((words) => words.includes(wanted));
        for (const numbers of own) {
          for (let each = 1; each < numbers.length; each += 1) {
            if (matching[numbers[each]]) {
              hits.add(numbers[0]);
              break;
            }
          }
        }
      }
      found = hits;
    }
    choose();
  }

  // --- keys and clicks -------------------------------------------------------------------------------------------

  function pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || at("help").open) return;
    const where = event.target;
    if (event.key === "Escape" && !where.matches("select")) {
      if (where.id === "search") where.blur();
      else leave();
      return;
    }
    if (!at("keys").checked || where.matches("input:not([type=checkbox]), select, textarea")) return;
    const keys = {
      j: () => move(1),
      k: () => move(-1),
      "/": () => at("search").focus(),
      "?": () => at("help").showModal(),
      Enter: () => at("verdict").focus(),
    };
    if (event.key === "Enter" && (current < 0 || where.matches("button, summary, a:not([aria-current]), input"))) return;
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  document.addEventListener("keydown", pressed);
  addEventListener("hashchange", () => { if (location.hash !== followed) follow(false); });
  at("list").addEventListener("click", (event) => {
    const entry = event.target.closest("a");
    if (entry && entry.hash === location.hash) follow(false);  // which is no change of the link
  });
  at("filters").addEventListener("change", (event) => { if (event.target.id !== "search") choose(); });
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("reset", () => { found = null; setTimeout(choose); });
  at("search").addEventListener("input", search);
  at("help-open").addEventListener("click", () => at("help").showModal());
  at("before").addEventListener("click", () => turn(-1));
  at("after").addEventListener("click", () => turn(1));
  start().catch((problem) => {
    at("explorer").before(made("p", "problem", `The verdicts cannot be shown by this browser (${problem.message}); `
      + "one of the last years can. All that stands above is complete."));
  });
})();
