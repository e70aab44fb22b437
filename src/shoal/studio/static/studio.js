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
    (one) => one.type !== "hidden" && one.type !== "radio" && one.type !== "file" && one.value !== one.defaultValue);
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
