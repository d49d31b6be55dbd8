/**
 * What one process takes as it has more to do: `deno task bench:scale [NAME…] [--quick] [--write]`.
 *
 * `bots`, `rooms`, `members`, `ghosts`: each size is measured in a process of its own, and
 * shown beside the smallest one. What does not depend on the size stays at 1 ×. Times are those of the
 * processor, which other work on the machine leaves alone. `--quick` only shows that everything runs;
 * `--write` keeps the tables of all in `bench/scale/RESULTS.md`, with a chart each.
 *
 * @module
 */

import { barChart } from "../peers/chart.ts";
import { type Circumstances, circumstances } from "../support/circumstances.ts";
import { number, row } from "../support/markdown.ts";
import { median } from "../support/statistics.ts";

const HERE = import.meta.dirname ?? ".";
const QUICK = Deno.args.includes("--quick");
const WRITE = Deno.args.includes("--write");
const NAMES = Deno.args.filter((arg) => !arg.startsWith("--"));
/** Turns of each size; the median counts. */
const ROUNDS = QUICK ? 1 : 3;

/** Something that there may be more and more of. */
interface Scale {
  /** The name of its script, and of its chart. */
  readonly name: string;
  readonly title: string;
  /** What there is more of. */
  readonly what: string;
  readonly sizes: readonly number[];
  /** What is enough to show that it runs. */
  readonly quick: readonly number[];
}

const SCALES: readonly Scale[] = [
  {
    name: "bots",
    title: "Encrypted bots in one process",
    what: "bots",
    sizes: [10, 100, 1_000],
    quick: [10, 50],
  },
  {
    name: "rooms",
    title: "A bot in many rooms",
    what: "rooms",
    sizes: [10, 100, 1_000, 10_000],
    quick: [10, 100],
  },
  {
    name: "members",
    title: "An encrypted room of many members, with 2,000 devices",
    what: "members",
    sizes: [200, 1_000, 10_000, 100_000],
    quick: [200, 1_000],
  },
  {
    name: "ghosts",
    title: "Users of an application service",
    what: "users",
    sizes: [10, 100, 1_000, 10_000],
    quick: [10, 100],
  },
];

/** What a size came to, by measure. */
type Taken = Readonly<Record<string, number>>;

/** A scale with what its sizes came to. */
interface Curve extends Scale {
  readonly taken: readonly (readonly [size: number, taken: Taken])[];
}

/** Measures a size once. */
async function take(name: string, size: number): Promise<Taken> {
  const script = `${HERE}/${name}.ts`;
  const args = ["run", "--quiet", "-A", "--no-check", "--v8-flags=--expose-gc", script, String(size)];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const decoder = new TextDecoder();
  if (code !== 0) throw new Error(`Cannot measure ${size} ${name}: ${decoder.decode(stderr)}`);
  return JSON.parse(decoder.decode(stdout));
}

/** Measures all sizes in turns. */
async function measure(scale: Scale): Promise<Curve> {
  const sizes = QUICK ? scale.quick : scale.sizes;
  const turns = sizes.map((): Taken[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, size] of sizes.entries()) turns[index]?.push(await take(scale.name, size));
  }
  return { ...scale, taken: sizes.map((size, index) => [size, middle(turns[index] ?? [])] as const) };
}

function middle(turns: readonly Taken[]): Taken {
  const measures = Object.keys(turns[0] ?? {});
  return Object.fromEntries(
    measures.map((measure) => [measure, median(turns.map((turn) => turn[measure] ?? NaN))]),
  );
}

/** Each value, and how many times the smallest size's it is. */
function table({ what, taken }: Curve): string {
  const [[, base] = [0, {}]] = taken;
  const measures = Object.keys(base);
  const rows = taken.map(([size, values]) =>
    row([
      size.toLocaleString("en"),
      ...measures.flatMap((measure) => {
        const value = values[measure] ?? NaN;
        return [number(value), number(value / (base[measure] ?? NaN))];
      }),
    ])
  );
  const head = [what, ...measures.flatMap((measure) => [measure, "×"])];
  return [row(head), `|${"---:|".repeat(head.length)}`, ...rows].join("\n");
}

/** The same as a picture. */
function chart({ title, what, taken }: Curve, { label }: Circumstances): string {
  const [[, base] = [0, {}]] = taken;
  const [note = ""] = label.split(";");
  return barChart({
    title: `${title}: what each takes, × of the fewest`,
    note,
    series: Object.keys(base).map((measure) => measure.split(",")[0] ?? measure),
    groups: taken.map(([size, values]) => ({
      name: `${size.toLocaleString("en")} ${what}`,
      values: Object.keys(base).map((measure) => (values[measure] ?? NaN) / (base[measure] ?? NaN)),
    })),
    label: (value) => `${number(value)} ×`,
    mark: 1,
  });
}

/** Keeps all tables and charts. */
async function write(curves: readonly Curve[], where: Circumstances): Promise<void> {
  const sections = curves.flatMap((curve) => [
    `## ${curve.title}`,
    `![${curve.title}](${curve.name}.svg)`,
    table(curve),
  ]);
  const head = [
    ...where.lines,
    `- Deno ${Deno.version.deno}; ${ROUNDS} rounds, of which the median is shown`,
  ];
  const text = ["# What grows", head.join("\n"), ...sections].join("\n\n");
  await Deno.writeTextFile(`${HERE}/RESULTS.md`, `${text}\n`);
  for (const curve of curves) {
    await Deno.writeTextFile(`${HERE}/${curve.name}.svg`, chart(curve, where));
  }
}

if (import.meta.main) {
  const unknown = NAMES.find((name) => !SCALES.some((scale) => scale.name === name));
  if (unknown !== undefined) {
    throw new Error(`Cannot measure ${unknown}: there are ${SCALES.map(({ name }) => name).join(", ")}`);
  }
  if (WRITE && (QUICK || NAMES.length > 0)) throw new Error("Cannot write: only a full run of all is kept");
  const curves: Curve[] = [];
  for (const scale of SCALES) {
    if (NAMES.length > 0 && !NAMES.includes(scale.name)) continue;
    const curve = await measure(scale);
    console.log(`\n${curve.title}:\n\n${table(curve)}`);
    curves.push(curve);
  }
  if (WRITE) await write(curves, await circumstances(["src", "mod.ts", "vodozemac-wasm", "bench"]));
}
