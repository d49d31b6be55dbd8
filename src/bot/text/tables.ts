/**
 * The tables in Markdown.
 *
 * @module
 */

/** The head of a table. */
export interface Table {
  /** The header and the delimiter row, as they are written. */
  readonly head: string;
  /** How many columns it has. */
  readonly columns: number;
  /** How many quotes it stands in. */
  readonly depth: number;
}

/** What stands in front of a row. More than three spaces begin code. */
const PREFIX = /^((?: {0,3}>){0,8}) {0,3}(?! )/;
/** A cell of the row below the header. */
const DELIMITER = /^[ \t]*:?-+:?[ \t]*$/;
/** A line with which something else begins: a block of code, a heading, an item, a rule, HTML. */
const OTHER_BLOCK = /^(?:`{3}|~{3}|#{1,6}(?:\s|$)|[-+*]\s|\d{1,9}[.)]\s|(?:[-*_][ \t]*){3,}$|<|>)/;

/** The table that begins with two lines; undefined: none does. */
export function tableOf(header: string, delimiter: string): Table | undefined {
  const [first, second] = [parsed(header), parsed(delimiter)];
  if (first === undefined || second === undefined || first.depth !== second.depth) return undefined;
  if (!first.row.includes("|") || !isDelimiterRow(second.row)) return undefined;
  const columns = columnsOf(second.row);
  if (columnsOf(first.row) !== columns) return undefined;
  return { head: `${header.trimEnd()}\n${delimiter.trimEnd()}`, columns, depth: first.depth };
}

/** Whether a table goes on with a line. */
export function isRowOf({ depth }: Table, line: string): boolean {
  const found = parsed(line);
  return found !== undefined && found.depth === depth && found.row !== "" && !OTHER_BLOCK.test(found.row);
}

/** What stands in front of the rest of a row that was cut, so that the rest is in its column. */
export function restPrefix({ columns }: Table, begun: string): string {
  const { quotes = "", row = "" } = parsed(begun) ?? {};
  const bars = barsIn(row) + (row.startsWith("|") ? 0 : 1);
  return `${quotes}${"|".repeat(Math.min(bars, columns))} `;
}

function parsed(line: string): { quotes: string; depth: number; row: string } | undefined {
  const [prefix, quotes = ""] = PREFIX.exec(line) ?? [];
  if (prefix === undefined) return undefined;
  return { quotes, depth: quotes.replaceAll(" ", "").length, row: line.slice(prefix.length).trimEnd() };
}

function isDelimiterRow(row: string): boolean {
  const cells = row.replace(/^\|/, "").replace(/\|$/, "").split("|");
  return cells.every((cell) => DELIMITER.test(cell));
}

function columnsOf(row: string): number {
  const hasLast = row.length > 1 && /(?<!\\)\|$/.test(row);
  return barsIn(row) + 1 - (row.startsWith("|") ? 1 : 0) - (hasLast ? 1 : 0);
}

/** How many bars end a cell. */
function barsIn(row: string): number {
  return row.match(/(?<!\\)\|/g)?.length ?? 0;
}
