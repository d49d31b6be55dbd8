/** Where a mistake in the syntax is: browsers tell the page only, and only of a script in it. */

/** The place in a module that can't be loaded, as stacks write it; empty: nobody says. */
export async function placeOfMistake(address) {
  const script = document.createElement("script");
  script.type = "module";
  script.src = address;
  const place = Promise.withResolvers();
  const note = (event) => {
    if (event.filename !== address) return;
    event.preventDefault();
    place.resolve(`${address}:${event.lineno}:${event.colno}`);
  };
  addEventListener("error", note);
  script.onload = script.onerror = () => place.resolve("");
  document.head.append(script);
  try {
    return await place.promise;
  } finally {
    removeEventListener("error", note);
    script.remove();
  }
}
