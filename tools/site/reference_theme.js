/** Light or dark in the reference, as in the other pages of the site: what one sets holds for both. */

const KEY = "vitepress-theme-appearance";
const system = globalThis.matchMedia("(prefers-color-scheme: dark)");

function show() {
  const wanted = localStorage.getItem(KEY) ?? "auto";
  const isDark = wanted === "dark" || wanted === "auto" && system.matches;
  document.documentElement.classList.toggle("dark", isDark);
  const [moon, sun] = document.querySelectorAll("#theme-toggle > svg");
  moon?.classList.toggle("hidden", isDark);
  sun?.classList.toggle("hidden", !isDark);
}

show(); // before the page is painted
system.addEventListener("change", show);
addEventListener("load", () => {
  const toggle = document.getElementById("theme-toggle");
  toggle.removeAttribute("style");
  toggle.addEventListener("click", () => {
    const isDark = document.documentElement.classList.contains("dark");
    localStorage.setItem(KEY, isDark ? "light" : "dark");
    show();
  });
  document.getElementById("searchbar").setAttribute("aria-label", "Search the reference");
  show();
});
