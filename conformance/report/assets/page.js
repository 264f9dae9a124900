"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const byId = (id) => document.getElementById(id);
  document.documentElement.classList.add("js");

  // Filters: within a kind any of the pressed values fits, all kinds must fit.
  const requirements = all("details.req");
  const chips = all("[data-filter]");
  const section = byId("section"), text = byId("text");
  const words = new Map();
  const wordsOf = (q) => {
    if (!words.has(q)) words.set(q, q.textContent.toLowerCase());
    return words.get(q);
  };
  const pressed = (kind) => chips.filter((c) => c.dataset.filter === kind && c.getAttribute("aria-pressed") === "true").map((c) => c.dataset.value);

  function apply() {
    const verdicts = pressed("verdict"), levels = pressed("level"), news = pressed("news");
    const wanted = text.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const q of requirements) {
      const fits = (!verdicts.length || verdicts.includes(q.dataset.verdict))
        && (!news.length || news.includes(q.dataset.news))
        && (!levels.length || levels.includes(q.dataset.level))
        && (!section.value || q.parentElement.dataset.section === section.value)
        && wanted.every((w) => wordsOf(q).includes(w));
      q.hidden = !fits;
      if (fits) shown++;
    }
    for (const s of all("section.area")) s.hidden = !all("details.req", s).some((q) => !q.hidden);
    const filtered = verdicts.length + news.length + levels.length + wanted.length > 0 || section.value !== "";
    byId("tally").textContent = filtered ? shown + " of " + requirements.length + " shown" : requirements.length + " requirements";
    byId("clear").hidden = !filtered;
    byId("none").hidden = shown > 0;
  }
  function clear() {
    for (const c of chips) c.setAttribute("aria-pressed", "false");
    section.value = "";
    text.value = "";
    apply();
  }
  for (const c of chips) c.addEventListener("click", () => {
    c.setAttribute("aria-pressed", c.getAttribute("aria-pressed") === "true" ? "false" : "true");
    apply();
  });
  section.addEventListener("change", apply);
  text.addEventListener("input", apply);
  all("form.filters")[0].addEventListener("submit", (e) => e.preventDefault());
  byId("clear").addEventListener("click", clear);
  byId("clear-all").addEventListener("click", clear);
  for (const b of all("[data-show]")) b.addEventListener("click", () => {
    clear();
    const wanted = b.dataset.show.split(" ");
    for (const c of chips) if (c.dataset.filter === "verdict" && wanted.includes(c.dataset.value)) c.setAttribute("aria-pressed", "true");
    apply();
    byId("requirements").scrollIntoView();
  });

  // A link to a requirement, or to a check in it, shows and opens it.
  function reveal() {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* it is no encoded text */ }
    const target = id && byId(id);
    const q = target && target.closest("details.req");
    if (!q) return;
    if (q.hidden) clear();
    q.open = true;
    for (const m of all(".marked")) m.classList.remove("marked");
    target.classList.add("marked");
    const focus = target === q ? q.querySelector("summary") : target;
    if (focus === target) target.tabIndex = -1;
    focus.focus({ preventScroll: true });
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  // The same link twice changes no hash.
  document.addEventListener("click", (e) => {
    const a = e.target.closest && e.target.closest("a[href^='#']");
    if (a && a.getAttribute("href") === location.hash) reveal();
  });

  // Copying.
  const said = byId("said");
  let silence = 0;
  function say(what) {
    said.textContent = what;
    clearTimeout(silence);
    silence = setTimeout(() => { said.textContent = ""; }, 2500);
  }
  async function copy(code) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      return document.execCommand("copy");
    }
  }
  for (const b of all("button.copy")) b.addEventListener("click", async () => {
    say(await copy(b.parentElement.querySelector("code")) ? "Copied the command" : "The command is marked: copy it with Ctrl+C");
  });

  // Bytes as text or as hex.
  const encoder = new TextEncoder();
  const digits = (n, width) => n.toString(16).padStart(width, "0");
  const narrow = matchMedia("(max-width: 46rem)");
  function dump(bytes, from) {
    const lines = [], width = narrow.matches ? 8 : 16;
    for (let i = 0; i < bytes.length; i += width) {
      const row = bytes.slice(i, i + width);
      const hex = Array.from(row, (b) => digits(b, 2)).join(" ");
      const plain = Array.from(row, (b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : "·")).join("");
      lines.push(digits(from + i, 6) + "  " + hex.padEnd(3 * width - 1) + "  " + plain);
    }
    return lines.join("\n");
  }
  function bytesOf(kind, recorded) {
    if (kind === "text") return encoder.encode(recorded);
    const out = new Uint8Array(recorded.length >> 1);
    for (let i = 0; i < out.length; i++) out[i] = parseInt(recorded.substr(2 * i, 2), 16);
    return out;
  }
  const plainOf = (bytes) => new TextDecoder().decode(bytes).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "·");
  function show(pre, as) {
    const kind = pre.dataset.kind;
    pre.classList.toggle("hex", as === "hex");
    for (const span of all("span", pre)) {
      if (span.dataset.recorded === undefined) span.dataset.recorded = span.textContent;
      const recorded = span.dataset.recorded;
      if (as === "hex") span.textContent = dump(bytesOf(kind, recorded), Number(span.dataset.at));
      else span.textContent = kind === "text" ? recorded : plainOf(bytesOf(kind, recorded));
    }
  }
  for (const figure of all("figure.seq")) {
    const pres = all("pre", figure), buttons = all("[data-as]", figure);
    if (!pres.length) { figure.querySelector(".as").hidden = true; continue; }
    for (const p of pres) if (p.dataset.kind === "hex") show(p, "hex");
    const kinds = new Set(pres.map((p) => p.dataset.kind));
    for (const b of buttons) {
      b.setAttribute("aria-pressed", String(kinds.size === 1 && kinds.has(b.dataset.as)));
      b.addEventListener("click", () => {
        for (const p of pres) show(p, b.dataset.as);
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === b));
      });
    }
  }

  // Keys.
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
    if (e.key === "Escape") { clear(); if (typing) e.target.blur(); return; }
    if (typing) return;
    if (e.key === "/") { e.preventDefault(); text.focus(); text.select(); return; }
    if (e.key !== "j" && e.key !== "k") return;
    const heads = requirements.filter((q) => !q.hidden).map((q) => q.querySelector("summary"));
    if (!heads.length) return;
    const here = document.activeElement && document.activeElement.closest("details.req");
    const at = here ? heads.indexOf(here.querySelector("summary")) : -1;
    const next = e.key === "j" ? Math.min(at + 1, heads.length - 1) : Math.max(at - 1, 0);
    heads[next].focus();
    heads[next].scrollIntoView({ block: "nearest" });
  });

  // On paper what is broken stands open.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = requirements.filter((q) => !q.open && /^(fail|warn|could-not-run|harness-error)$/.test(q.dataset.verdict));
    for (const q of opened) q.open = true;
  });
  addEventListener("afterprint", () => {
    for (const q of opened) q.open = false;
    opened = [];
  });

  reveal();
})();
