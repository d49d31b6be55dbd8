/**
 * `docs/reference/errors.md`, made of the comments of the error classes: `deno task docs` writes it.
 *
 * @module
 */

import { ROOT } from "../process.ts";
import { type Exported, exportedSymbols } from "./exported.ts";

/** Where the page is. */
export const ERRORS_PAGE = "docs/reference/errors.md";

/** An error class, as its comment tells of it. */
export interface ErrorDoc {
  readonly name: string;
  readonly base: string | undefined;
  /** Its code; that of the specification for what a homeserver refuses. */
  readonly code: string;
  readonly meaning: string;
  /** What to do; empty: its comment does not say. */
  readonly mend: string;
}

/** All error classes that the package exports. */
export async function errorDocs(): Promise<ErrorDoc[]> {
  const symbols = await exportedSymbols();
  return symbols.filter(({ name, kind }) => kind === "class" && name.endsWith("Error")).map(errorOf);
}

function errorOf({ name, base, doc, members }: Exported): ErrorDoc {
  const text = doc.replaceAll(/\{@link(?:code)? (.*?)(?: ?\|.*?)?\}/g, "`$1`").replaceAll(/\s+/g, " ").trim();
  const [said = "", mend = ""] = text.split("Mend: ");
  const code = members.find((member) => member.name === "code")?.jsDoc?.doc ?? "";
  const [, own = ""] = /`([A-Z_]+)`/.exec(code) ?? [];
  const [, errcode = "", meaning = said] = /^`(M_[A-Z_]+)`(?:: |, )(.*)$/.exec(said.trim()) ?? [];
  return {
    ...{ name, base, code: errcode || own, mend: mend.trim() },
    meaning: `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}`.trim(),
  };
}

const HEAD = `<!-- deno-fmt-ignore-file -->
<!-- Written by \`deno task docs\` from the comments of the classes: do not edit. -->

# Errors

For authors who catch errors, and for readers of a log: what each error means, and what to do.

Every error is a \`MatrixError\`. Decide by its class (\`instanceof\`) or its \`code\`, never by its text. All classes are in
\`@greenroom/matrix/errors\`, the commonest in \`@greenroom/matrix\`, too. The message says
what was asked, of what, and what to do. It never contains a token, a key or the text of a message.

\`\`\`ts
import { ForbiddenError, MatrixError, NetworkError } from "@greenroom/matrix";

function explain(error: unknown): string {
  if (error instanceof ForbiddenError) return "I may not do that here.";
  if (error instanceof NetworkError) return "The homeserver is away.";
  if (error instanceof MatrixError) return error.code;
  throw error;
}
console.assert(explain(new NetworkError("Cannot sync: …")) === "The homeserver is away.");
\`\`\`
`;

const REFUSALS = `
## What a homeserver refuses

Every error code of the specification has a class, derived from \`MatrixRequestError\`. It has \`errcode\`, \`status\`,
\`body\`, \`operation\` and \`retryAfter\` (milliseconds). An answer with an unknown code is a \`MatrixRequestError\` itself.

`;

/** The page. */
export function errorsPage(errors: readonly ErrorDoc[]): string {
  const refusals = new Set(["MatrixRequestError"]);
  for (const { name, base = "" } of errors.toSorted((one) => one.base === "MatrixRequestError" ? -1 : 1)) {
    if (refusals.has(base)) refusals.add(name);
  }
  const [theirs, own] = [true, false].map((isTheirs) =>
    errors.filter(({ name }) => refusals.has(name) === isTheirs)
  );
  return `${HEAD}\n## Greenroom's own\n\n${table(own ?? [])}${REFUSALS}${table(theirs ?? [])}`;
}

function table(errors: readonly ErrorDoc[]): string {
  const rows = errors.toSorted((one, other) => one.name < other.name ? -1 : 1).map((error) => {
    const code = error.code === "" ? "" : ` \`${error.code}\``;
    return `| <a id="${error.name.toLowerCase()}"></a>\`${error.name}\`${code} | ${cell(error.meaning)} | ${
      cell(error.mend)
    } |`;
  });
  return ["| Error | What has happened | What to do |", "| --- | --- | --- |", ...rows, ""].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

/** The page as it is, and as it has to be. */
export async function errorsPageToday(): Promise<{ written: string; wanted: string }> {
  const written = await Deno.readTextFile(`${ROOT}${ERRORS_PAGE}`).catch(() => "");
  return { written, wanted: errorsPage(await errorDocs()) };
}
