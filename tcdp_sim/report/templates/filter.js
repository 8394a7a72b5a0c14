document.documentElement.classList.add("js");
document.querySelectorAll("[data-filters]").forEach((box) => {
  const rows = [...document.querySelectorAll("#" + box.dataset.filters + " [data-filtered]")];
  const shown = box.querySelector("[aria-live]");
  const update = () => {
    const wanted = {};
    box.querySelectorAll("button[aria-pressed=true]").forEach((button) => {
      (wanted[button.dataset.key] ||= []).push(button.dataset.value);
    });
    rows.forEach((row) => {
      row.hidden = !Object.entries(wanted).every(([key, values]) => values.includes(row.dataset[key]));
    });
    shown.textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " shown";
  };
  box.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    update();
  });
});
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  target?.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash) unfold();
