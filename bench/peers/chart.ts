/**
 * Bar charts in SVG, readable on light and on dark.
 *
 * @module
 */

/** A group of bars: one thing in several measures. */
export interface Group {
  readonly name: string;
  /** One for each series; NaN leaves it out. */
  readonly values: readonly number[];
}

/** What a chart shows. */
export interface Chart {
  readonly title: string;
  /** When it was measured, and at which commit. */
  readonly note: string;
  /** What each bar of a group is, in the order of its values. */
  readonly series: readonly string[];
  readonly groups: readonly Group[];
  /** How a value is written beside its bar. */
  readonly label: (value: number) => string;
  /** A value that a line is drawn at. */
  readonly mark?: number;
}

const COLOURS = ["#2f9e63", "#3b82c4", "#c98a1b"];
/** So narrow that a phone shows the smallest letters with 11 pixels. */
const WIDTH = 400;
const [LEFT, RIGHT, BAR, NAME, GAP, TOP] = [10, 56, 15, 17, 9, 96];

/** Draws a chart with bars that lie, each group under its name. */
export function barChart({ title, note, series, groups, label, mark }: Chart): string {
  const most = Math.max(
    mark ?? 0,
    ...groups.flatMap(({ values }) => values.filter((value) => !Number.isNaN(value))),
  );
  const x = (value: number) => LEFT + value / most * (WIDTH - LEFT - RIGHT);
  const step = NAME + series.length * BAR + GAP;
  const height = TOP + groups.length * step;
  const bars = groups.flatMap(({ name, values }, index) => {
    const y = TOP + index * step;
    return [
      `<text x="${LEFT}" y="${y + 12}">${escape(name)}</text>`,
      ...values.flatMap((value, at) =>
        Number.isNaN(value) ? [] : bar(value, y + NAME + at * BAR, COLOURS[at] ?? "#888")
      ),
    ];
  });
  function bar(value: number, y: number, colour: string): string[] {
    const end = x(value).toFixed(1);
    const width = (x(value) - LEFT).toFixed(1);
    return [
      `<rect x="${LEFT}" y="${y}" width="${width}" height="${BAR - 2}" fill="${colour}"/>`,
      `<text x="${Number(end) + 4}" y="${y + BAR - 4}">${escape(label(value))}</text>`,
    ];
  }
  const legend = series.map((name, index) => {
    const at = LEFT + index * 130;
    const square = `<rect x="${at}" y="70" width="11" height="11" fill="${COLOURS[index] ?? "#888"}"/>`;
    return `${square}<text x="${at + 16}" y="80">${escape(name)}</text>`;
  });
  const line = mark === undefined
    ? []
    : [`<line x1="${x(mark)}" x2="${x(mark)}" y1="${TOP - 6}" y2="${height - 6}"/>`];
  const [head = "", ...rest] = title.split(": ");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${
      escape(title)
    }">`,
    "<style>text{font:13px sans-serif;fill:#333}.title{font-size:16px;font-weight:bold}",
    ".back{fill:#fff}line{stroke:#888;stroke-dasharray:4 3}",
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#161b22}}</style>",
    `<rect class="back" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<text class="title" x="${LEFT}" y="22">${escape(head)}</text>`,
    `<text x="${LEFT}" y="40">${escape(rest.join(": "))}</text>`,
    `<text x="${LEFT}" y="58">${escape(note)}</text>`,
    ...legend,
    ...line,
    ...bars,
    "</svg>",
    "",
  ].join("\n");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
