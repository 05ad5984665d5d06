"use strict";
(() => {
  const sheet = JSON.parse(document.getElementById("sheet").textContent);
  const at = (id) => document.getElementById(id);
  const key = "evenhand-labels:" + sheet.draw;
  const questions = sheet.cards.flatMap((card) => card.questions.map((asked) => asked.id));
  let state = { who: "", answers: {}, card: 0 };
  let kept = true;

  // What is kept in the browser: read before each change, so that two tabs of one sheet lose nothing.
  function load() {
    try {
      const found = JSON.parse(localStorage.getItem(key));
      if (found) state = { who: found.who, answers: found.answers, card: sheet.cards[found.card] ? found.card : 0 };
    } catch {
      kept = false;
    }
  }

  function change(edit) {
    if (kept) {
      const card = state.card;
      load();
      state.card = card;
    }
    edit(state);
    try {
      localStorage.setItem(key, JSON.stringify(state));
      kept = true;
    } catch {
      kept = false;
    }
    told();
  }

  function counted(number, noun) {
    return `${number} ${noun}${number === 1 ? "" : "s"}`;
  }

  function unanswered() {
    return sheet.cards.filter((card) => card.questions.some((each) => !(each.id in state.answers))).length;
  }

  function told(saved) {
    const done = questions.filter((id) => id in state.answers).length;
    const open = unanswered();
    at("bar").max = questions.length;
    at("bar").value = done;
    at("status").textContent =
      `Item ${state.card + 1} of ${sheet.cards.length} · ${done} of ${counted(questions.length, "question")} answered` +
      (open ? ` · ${counted(open, "item")} unanswered` : "") +
      (saved ? ` · saved as ${saved}` : open ? "" : " · all done: save the file and hand it in");
    if (!kept) complain("This browser keeps nothing for this page: save the file before you close it.");
    at("previous").disabled = state.card === 0;
    at("next").disabled = state.card === sheet.cards.length - 1;
    at("open").disabled = done === questions.length;
  }

  function complain(text) {
    at("problem").textContent = text;
    at("problem").hidden = !text;
  }

  // Texts of the data only ever become text nodes.
  function made(tag, className, text) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function shown(name, text, className) {
    const part = made("section", "text " + className);
    const body = made("p", "", text || "(empty)");
    body.dir = "auto";
    part.append(made("h2", "", name), body);
    return part;
  }

  function asked(question) {
    const criterion = sheet.criteria[question.criterion];
    const field = made("fieldset");
    field.dataset.id = question.id;
    const words = made("p", "asked", criterion.question);
    words.dir = "auto";
    words.id = "about-" + question.id;
    field.setAttribute("aria-describedby", words.id);
    field.append(made("legend", "", criterion.name), words);
    const options = criterion.options.map((each, place) => [place, ...each]);
    if (criterion.cannot_tell) options.push([-1, sheet.cannot_tell, ""]);
    for (const [place, label, description] of options) {
      const line = made("label", "option");
      const input = made("input");
      input.type = "radio";
      input.name = question.id;
      input.value = String(place);
      const answer = place < 0 ? null : criterion.options[place][0];
      input.checked = question.id in state.answers && state.answers[question.id] === answer;
      input.addEventListener("change", () => change((now) => { now.answers[question.id] = answer; }));
      const text = made("span", "", label);
      text.dir = "auto";
      if (description) text.append(made("small", "", description));
      line.append(input, text);
      if (place < 9) line.append(made("kbd", "", String(place + 1)));
      field.append(line);
    }
    return field;
  }

  function show(focus) {
    const card = sheet.cards[state.card];
    const texts = made("div", "texts");
    for (const [name, text] of card.context) texts.append(shown(name, text, "context"));
    const responses = made("div", "responses" + (card.responses.length > 1 ? " several" : ""));
    for (const [name, text] of card.responses) responses.append(shown(name, text, "response"));
    texts.append(responses);
    at("card").setAttribute("aria-label", `Item ${state.card + 1}`);
    at("card").replaceChildren(texts, ...card.questions.map(asked));
    told();
    if (focus) {
      at("card").focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  }

  function go(card) {
    if (card < 0 || card >= sheet.cards.length || card === state.card) return;
    state.card = card;
    change(() => {});
    show(true);
  }

  function goToOpen() {
    for (let step = 1; step <= sheet.cards.length; step += 1) {
      const card = (state.card + step) % sheet.cards.length;
      if (sheet.cards[card].questions.some((each) => !(each.id in state.answers))) return go(card);
    }
    return undefined;
  }

  function save() {
    const who = at("who").value.trim();
    if (!who) {
      complain("Write your name or initials first, so that several people's files can be told apart.");
      at("who").focus();
      return;
    }
    const file = {
      evenhand: "labels", draw: sheet.draw, annotator: who, saved: new Date().toISOString(),
      answers: Object.fromEntries(questions.filter((id) => id in state.answers).map((id) => [id, state.answers[id]])),
    };
    const link = made("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(file)], { type: "application/json" }));
    link.download = `labels-${sheet.draw}-${who.replace(/[^\p{L}\p{N}]+/gu, "_")}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    complain("");
    told(link.download);
  }

  // The question that a digit answers: the one that has the focus, else the first one without an answer.
  function current() {
    const fields = [...at("card").querySelectorAll("fieldset")];
    return document.activeElement.closest("fieldset") ||
      fields.find((each) => !(each.dataset.id in state.answers)) || fields[0];
  }

  function pressed(event) {
    const place = event.target;
    if (!at("keys").checked || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (place.matches("input[type=text]") || (event.key === "Enter" && place.matches("button, summary, a"))) return;
    const moves = { n: () => go(state.card + 1), p: () => go(state.card - 1), u: goToOpen };
    moves.Enter = moves.n;
    if (/^[0-9]$/.test(event.key)) {
      const field = current();
      const input = field.querySelector(`input[value="${Number(event.key) - 1}"]`);
      if (!input) return;
      input.click();
      const after = field.nextElementSibling;
      (after ? after.querySelector("input:checked") || after.querySelector("input") : input).focus();
    } else if (moves[event.key]) {
      moves[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  }

  load();
  at("who").value = state.who;
  at("who").addEventListener("input", () => change((now) => { now.who = at("who").value; }));
  at("previous").addEventListener("click", () => go(state.card - 1));
  at("next").addEventListener("click", () => go(state.card + 1));
  at("open").addEventListener("click", goToOpen);
  at("save").addEventListener("click", save);
  document.addEventListener("keydown", pressed);
  addEventListener("storage", (event) => {
    if (event.key !== key) return;
    const card = state.card;
    load();
    state.card = card;
    show(false);
  });
  addEventListener("beforeunload", (event) => {
    if (!kept && Object.keys(state.answers).length) event.preventDefault();
  });
  show(false);
})();
