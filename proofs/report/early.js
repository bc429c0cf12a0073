// Runs before the page is drawn: a remembered choice of dark or light, so that nothing flashes.
try {
  const chosen = localStorage.getItem("exptx-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch { /* storage is refused for local files in some browsers: the system's choice stands */ }
