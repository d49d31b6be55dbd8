/**
 * Tables in Markdown.
 *
 * @module
 */

/** A row. */
export function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** A number with as many digits as say something. */
export function number(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (value >= 10_000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
