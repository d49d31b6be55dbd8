/**
 * The plain form of a formatted message.
 *
 * @module
 */

/** What is looked at of an image. */
interface Image {
  readonly attribs?: { readonly alt?: string };
}

/** What is used of the library's builder; the library comes without types. */
interface TextBuilder {
  addInline(text: string): void;
}

/**
 * Writes HTML as plain text, with nothing of a quoted reply's fallback. The library that does it is loaded at the first call.
 *
 * @param html The formatted message.
 */
export async function htmlToText(html: string): Promise<string> {
  const { convert } = await import("html-to-text");
  return convert(html, {
    wordwrap: false,
    selectors: [
      { selector: "a", options: { hideLinkHrefIfSameAsText: true, linkBrackets: ["(", ")"] } },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
      { selector: "img", format: "alternative" },
      { selector: "mx-reply", format: "skip" },
      { selector: "ul", options: { itemPrefix: "- " } },
    ],
    formatters: {
      alternative: (image: Image, _walk: unknown, builder: TextBuilder) =>
        builder.addInline(image.attribs?.alt ?? ""),
    },
  });
}
