// The one module of the page: times in the zone of the browser, keys, copying, and the
// stream of events. Everything works without it.
const home = document.body.dataset.home || "";
const say = (text) => { document.getElementById("said").textContent = text; };
const make = (tag, text, attributes = {}) => {
  const e = document.createElement(tag);
  if (text) e.textContent = text;
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  return e;
};

// The entry of this screen may lie beside a narrow window.
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Times.
const short = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
function localTimes(root) {
  for (const t of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const at = new Date(t.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    t.textContent = short.format(at);
    t.dataset.local = "";
  }
}

// Copying.
function copyable(root) {
  for (const code of root.querySelectorAll("code.copy:not([data-copy])")) {
    code.dataset.copy = "";
    if (!navigator.clipboard) continue;
    const button = make("button", "Copy", { type: "button", class: "link" });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.classList.add("copied");
      say("Copied.");
    });
    code.after(" ", button);
  }
}

// Rows: j and k move, enter opens. A row is opened by its first link.
const opener = (row) => row.querySelector("a[href]");
const rows = () => [...document.querySelectorAll("[data-row]")].filter((r) => r.offsetParent !== null || r.tagName === "TR");
let here = -1;
function move(step) {
  const all = rows();
  if (!all.length) return;
  all[here]?.classList.remove("here");
  here = Math.max(0, Math.min(all.length - 1, here + step));
  all[here].classList.add("here");
  all[here].tabIndex = -1; // a row with nothing in it takes the focus itself
  (opener(all[here]) || all[here].querySelector("summary, button, input") || all[here]).focus({ preventScroll: true });
  all[here].scrollIntoView({ block: "nearest" });
}
document.addEventListener("focusin", (e) => {
  const row = e.target.closest?.("[data-row]");
  const all = rows();
  for (const r of all) r.classList.toggle("here", r === row);
  if (row) here = all.indexOf(row);
});

// Keys.
const keys = [
  ["/", "search", () => (document.querySelector("[data-main]") || document.getElementById("find"))?.focus()],
  ["j", "next row", () => move(1)],
  ["k", "row before", () => move(-1)],
  ["enter", "open the row", (e) => open(e)],
  ["esc", "back", () => back()],
  ["e", "edit the row, or what the screen shows", () => edit()],
  ["t", "trust the folder of the row, on Review", () => trust()],
  ["x", "mark the row", () => rows()[here]?.querySelector("input[type=checkbox]")?.click()],
  ["?", "these keys", () => help()],
];
// Enter on a link or a button does what the browser does. On the mark of a row it would send the form around the list.
function open(e) {
  if (e.target.closest("a[href], button, summary, [role=button]")) return;
  e.preventDefault();
  const row = rows()[here];
  if (row) opener(row)?.click();
}
// The row that has the focus is edited, else the thing that the screen shows.
function edit() {
  const link = rows()[here]?.dataset.edit || document.querySelector('[data-act="edit"]')?.href;
  if (link) location.assign(link);
  else say("Nothing can be edited here.");
}
// A folder is trusted where its row has the focus, so what it claims was on the screen.
function trust() {
  const button = rows()[here]?.querySelector('[data-act="trust"]');
  if (button) button.click();
  else say("Move to a folder first.");
}
function back() {
  if (document.referrer.startsWith(location.origin + "/ui") || history.length > 1) history.back();
  else if (home) location.assign(home);
}
let prefix = false;
const inField = (e) => e.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
  const dialog = document.getElementById("keys");
  if (dialog.open) return;
  if (inField(e)) {
    if (e.key === "Escape") { e.target.blur(); document.getElementById("main").focus(); e.preventDefault(); }
    return;
  }
  if (prefix) {
    prefix = false;
    const link = [...document.querySelectorAll("nav [data-go]")].find((a) => a.dataset.go === e.key);
    if (link) { e.preventDefault(); location.assign(link.href); }
    return;
  }
  if (e.key === "g") { prefix = true; setTimeout(() => { prefix = false; }, 1500); return; }
  const name = { Escape: "esc", Enter: "enter" }[e.key] || e.key;
  const found = keys.find(([k]) => k === name);
  if (!found) return;
  if (name !== "enter") e.preventDefault();
  found[2](e);
});

// Help that can be searched.
function help() {
  const dialog = document.getElementById("keys");
  dialog.replaceChildren();
  const list = make("dl", "", { class: "facts" });
  const all = keys.map(([k, what]) => [k, what]);
  for (const a of document.querySelectorAll("nav [data-go]")) all.push(["g " + a.dataset.go, a.textContent]);
  const fill = (words) => {
    list.replaceChildren();
    for (const [k, what] of all.filter(([k, what]) => (k + " " + what).toLowerCase().includes(words))) {
      const dt = make("dt");
      dt.append(make("kbd", k));
      list.append(dt, make("dd", what));
    }
  };
  const find = make("input", "", { type: "search", "aria-label": "Find a key", placeholder: "Find a key" });
  find.addEventListener("input", () => fill(find.value.toLowerCase()));
  const close = make("button", "Close", { type: "button" });
  close.addEventListener("click", () => dialog.close());
  fill("");
  dialog.append(make("h2", "Keys"), find, list, close);
  dialog.showModal();
}
for (const b of document.querySelectorAll("[data-help]")) {
  b.hidden = false;
  b.addEventListener("click", help);
}

// A server that ends with its last tab is told that this one is open. One tab speaks for all:
// browsers have six connections to a server.
const beat = document.body.dataset.beat;
if (beat && navigator.locks) navigator.locks.request(beat, () => new Promise(() => { new EventSource(beat); }));
else if (beat) new EventSource(beat);

// Live: new rows are counted, never put under the reader's eyes. A filter may hide what is new, so
// its page makes no promise of a number. Browsers have six connections to a server, so a tab that
// nobody looks at has none; it goes on behind the last event that it knows.
function live(bar) {
  let count = 0;
  let source = null;
  let wanted = true;
  let last = bar.dataset.after || "";
  const link = bar.querySelector("a");
  const toggle = bar.querySelector("button");
  const show = () => {
    link.hidden = count === 0;
    link.textContent = "filtered" in bar.dataset ? "Something new" : count + " new";
  };
  const begin = () => {
    source = new EventSource(bar.dataset.live + (last && "?after=" + encodeURIComponent(last)));
    source.onmessage = (e) => { last = e.lastEventId || last; count++; show(); };
    for (const name of (bar.dataset.events || "").split(" ")) if (name) source.addEventListener(name, source.onmessage);
    source.onopen = () => { bar.dataset.state = "live"; };
    source.onerror = () => { bar.dataset.state = "waiting"; };
  };
  const end = () => { source?.close(); source = null; bar.dataset.state = wanted ? "paused" : "off"; };
  const keep = () => {
    if (!wanted || document.hidden) end();
    else if (!source) begin();
  };
  toggle.hidden = false;
  toggle.setAttribute("aria-pressed", "true");
  toggle.addEventListener("click", () => {
    wanted = !wanted;
    toggle.setAttribute("aria-pressed", String(wanted));
    keep();
  });
  keep();
  document.addEventListener("visibilitychange", keep);
  addEventListener("pagehide", end);
  addEventListener("pageshow", (e) => { if (e.persisted) keep(); });
}
for (const bar of document.querySelectorAll("[data-live]")) live(bar);

// Files that are dropped.
for (const zone of document.querySelectorAll("[data-drop]")) {
  const input = zone.querySelector("input[type=file]");
  zone.addEventListener("dragover", (e) => { e.preventDefault(); zone.classList.add("here"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("here"));
  zone.addEventListener("drop", (e) => {
    e.preventDefault();
    zone.classList.remove("here");
    input.files = e.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

// A page that asks how far work is stops when the work has ended.
function polls() {
  if (!document.querySelector("progress")) for (const e of document.querySelectorAll("[data-poll]")) e.remove();
}

function fresh(root) { localTimes(root); copyable(root); polls(); }
fresh(document);
document.addEventListener("htmx:after:swap", () => fresh(document));
