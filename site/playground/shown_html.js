/** Messages of the bot as the page shows them: elements that only format, without attributes. */

const SHOWN = new Set(
  "A B BLOCKQUOTE BR CODE DEL EM H1 H2 H3 H4 H5 H6 HR I LI OL P PRE S STRONG SUB SUP TABLE TBODY TD TH THEAD TR U UL"
    .split(" "),
);

/** The HTML of a message; of other elements the text is left. */
export function shownHtml(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const element of [...body.querySelectorAll("*")]) {
    if (element.matches("mx-reply, script, style")) element.remove();
    else if (!SHOWN.has(element.tagName)) {
      element.replaceWith(...element.childNodes);
    } else {for (const { name } of [...element.attributes]) {
        element.removeAttribute(name);
      }}
  }
  return body.innerHTML;
}
