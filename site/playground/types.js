/** What is typed into the page may be TypeScript: its types are taken out, and its lines stay. */

/** The text as JavaScript. An error names the line of what can't be read. */
export async function withoutTypes(text) {
  const { transform } = await import("sucrase");
  try {
    return transform(text, {
      transforms: ["typescript"],
      disableESTransforms: true,
    }).code;
  } catch (error) {
    if (error.loc === undefined) throw error;
    const said = error.message.replace(/^Error transforming [^:]*: /, "").replace(/ \(\d+:\d+\)$/, "");
    throw Object.assign(new SyntaxError(said), { line: error.loc.line });
  }
}
