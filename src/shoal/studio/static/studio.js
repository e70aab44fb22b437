// Keeps a page current: events of the server say that the policy was changed or that work went on.
(() => {
  "use strict";
  document.documentElement.classList.add("js");
  let stream = null, timer = null;
  const page = () => document.getElementById("page");
  const isTyping = () => {
    const at = document.activeElement;
    if (!at || !at.form) return false;
    if (at.matches("textarea")) return at.value !== at.defaultValue;
    return at.matches("input:not([type=hidden])") && at.value !== at.defaultValue;
  };
  const hasUnsaved = () => isTyping() || [...document.querySelectorAll("textarea, form:not([hx-post]) input")].some(
    (one) => one.type !== "hidden" && one.type !== "checkbox" && one.type !== "file" && one.value !== one.defaultValue);
  // A page that comes takes the place of fields into which somebody goes on typing: what they hold is put into the new ones.
  const controls = () => [...document.querySelectorAll("#page input:not([type=hidden], [type=file], [type=checkbox]), #page textarea, #page select")];
  const stood = (one) => one.matches("select") ? ([...one.options].find((o) => o.defaultSelected) || one.options[0] || {}).value : one.defaultValue;
  const sent = new WeakMap();
  let held = [];
  document.addEventListener("htmx:beforeRequest", (event) => {
    const form = event.detail.elt;
    if (form.matches("form")) sent.set(form, new Map(controls().filter((one) => one.form === form).map((one) => [one.name, one.value])));
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const asked = event.detail.requestConfig && event.detail.requestConfig.elt, known = (asked && sent.get(asked)) || new Map();
    held = controls().filter((one) => one.value !== (one.form === asked && known.has(one.name) ? known.get(one.name) : stood(one)))
      .map((one) => ({ name: one.name, value: one.value, isActive: one === document.activeElement, at: one.matches("select") ? null : one.selectionStart }));
  });
  document.addEventListener("htmx:afterSwap", () => {
    held.forEach((was) => {
      const one = controls().find((other) => other.name === was.name);
      if (!one) return;
      one.value = was.value;
      if (!was.isActive) return;
      one.focus();
      if (was.at !== null) one.setSelectionRange(was.at, was.at);
      let isSaid = !one.form || !one.form.matches("[hx-post]");
      one.addEventListener("change", () => { isSaid = true; }, { once: true });
      one.addEventListener("blur", () => {  // no browser says so itself of what was typed into the field before
        if (!isSaid && one.isConnected && one.value !== stood(one)) one.dispatchEvent(new Event("change", { bubbles: true }));
      }, { once: true });
    });
  });
  document.addEventListener("htmx:afterSettle", () => {  // from here on the new forms listen
    const left = held.filter((was) => !was.isActive).map((was) => controls().find((other) => other.name === was.name));
    held = [];
    left.filter((one) => one && one.form && one.form.matches("[hx-post]")).slice(0, 1)  // a form is sent whole
      .forEach((one) => one.dispatchEvent(new Event("change", { bubbles: true })));
  });
  const again = () => {
    const now = page();
    if (!now || !window.htmx) return location.reload();
    const opened = [...document.querySelectorAll("details[open] > summary")].map((s) => s.textContent);
    return htmx.ajax("GET", location.pathname + location.search, { target: "#page", select: "#page", swap: "outerHTML" })
      .then(() => document.querySelectorAll("details > summary").forEach((s) => {
        if (opened.includes(s.textContent)) s.parentElement.open = true;
      }));
  };
  const heed = (told) => {
    const now = page();
    if (!now) return;
    const job = told.job || { number: 0, state: "" };
    const isNew = String(told.step) !== now.dataset.step || String(job.number) !== now.dataset.job || job.state !== now.dataset.state;
    if (isNew) {
      if (hasUnsaved()) { const note = document.getElementById("changed"); if (note) note.hidden = false; return; }
      again();
      return;
    }
    if (job.state === "running") {
      const what = document.getElementById("what"), bar = document.getElementById("bar");
      if (what) what.textContent = job.what + (job.total ? `, ${job.done} of ${job.total}` : "");
      if (bar && job.total) { bar.max = job.total; bar.value = job.done; }
    }
  };
  const listen = () => {
    const now = page();
    if (!now || document.hidden) return;
    const at = `/${now.dataset.session}/`;
    if (window.EventSource) {
      if (stream) return;
      stream = new EventSource(at + "events");
      stream.onmessage = (event) => heed(JSON.parse(event.data));
    } else if (!timer) {
      timer = setInterval(() => fetch(at + "state").then((r) => r.json()).then(heed).catch(() => {}), 1500);
    }
  };
  const rest = () => {
    if (stream) { stream.close(); stream = null; }
    if (timer) { clearInterval(timer); timer = null; }
  };
  // A hidden tab lets go of its connection: browsers have few for one server.
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : listen()));
  window.addEventListener("pagehide", rest);
  document.addEventListener("click", (event) => {
    const point = event.target.closest && event.target.closest("a.point");
    if (!point) return;
    const button = document.querySelector(`#cell-${point.dataset.cell} button`);
    if (button) { event.preventDefault(); button.click(); }
  });
  document.addEventListener("DOMContentLoaded", listen);
  if (document.readyState !== "loading") listen();
})();
