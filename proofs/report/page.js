// The theme button, the place marker in the contents, soft edges of wide formulas, and open folds for links and for printing.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("exptx-theme", root.dataset.theme); } catch { /* not remembered */ }
  });

  const entries = [...document.querySelectorAll("nav .toc > li > a")];
  const places = entries.map((a) => document.getElementById(a.hash.slice(1)));
  const mark = () => {
    let here = 0;
    places.forEach((place, i) => { if (place.getBoundingClientRect().top < innerHeight / 3) here = i; });
    entries.forEach((a, i) => a.parentElement.classList.toggle("here", i === here));
  };
  addEventListener("scroll", () => requestAnimationFrame(mark), { passive: true });
  mark();

  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // A formula wider than its column is a box that scrolls, for fingers and for keys, and says on which side there is more.
  const edges = (box) => {
    const beyond = box.scrollWidth - box.clientWidth;
    const scrolls = beyond > 0;
    box.classList.toggle("scrolls", scrolls);
    box.classList.toggle("more-left", scrolls && box.scrollLeft > 1);
    box.classList.toggle("more-right", scrolls && box.scrollLeft < beyond - 0.5);
    if (scrolls) box.tabIndex = 0; else box.removeAttribute("tabindex");
  };
  const watcher = new ResizeObserver((changes) => changes.forEach((change) => edges(change.target)));
  document.querySelectorAll(".formula").forEach((box) => {
    watcher.observe(box);
    box.addEventListener("scroll", () => edges(box), { passive: true });
  });

  addEventListener("beforeprint", () => {
    document.querySelectorAll("details:not([open])").forEach((fold) => {
      fold.open = true;
      fold.dataset.printed = "";
    });
  });
  addEventListener("afterprint", () => {
    document.querySelectorAll("details[data-printed]").forEach((fold) => {
      fold.open = false;
      delete fold.dataset.printed;
    });
  });
})();
