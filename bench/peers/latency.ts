/**
 * From a message on the wire to its answer on the wire; a part of `deno task bench:peers`, and by itself
 * `deno run -A bench/peers/latency.ts [--quick] [--own] [--only=NAME] [--idle=MINUTES]`.
 *
 * Messages come at a rate, in fifty rooms of four members, and each is answered by 200 bytes. A contestant
 * that does not answer all of a rate within five seconds begins to queue there, and gets no higher rate.
 * "Turn" is how long nothing else could run in its process, of 1,000 looks the longest but one. `--idle=10`
 * has 100 clients wait for ten minutes instead, and shows the processor time that they need an hour.
 *
 * @module
 */

import { type Entrant, entrants as findEntrants } from "./entrants.ts";
import { Stub } from "./stub/stub_process.ts";
import { type AnsweredPace, takeTurn } from "./turn.ts";
import { circumstances } from "../support/circumstances.ts";
import { number, row } from "../support/markdown.ts";

/** Messages a second, and for how many seconds. The first is a warm-up. */
const RATES = "100x3,1x10,100x5,500x4,1000x3,2000x2,4000x1";
const QUICK_RATES = "20x1,100x2";
const CLIENTS = 100;

/** What contestants that wait take of the processor. */
async function idle(stub: Stub, entrants: readonly Entrant[], minutes: number): Promise<string> {
  const rows: string[] = [];
  for (const [index, entrant] of entrants.entries()) {
    if (entrant.playsOnly === true || entrant.name.endsWith(", Node")) continue;
    const token = `paced-idle-${index}`;
    const more = [`--seconds=${minutes * 60}`];
    const { paces: [waited] = [] } = await takeTurn(entrant, {
      url: stub.url,
      token,
      what: "wait",
      clients: CLIENTS,
      more,
    });
    rows.push(row([entrant.name, number((waited?.cpu ?? NaN) / 1_000 / minutes * 60)]));
  }
  return [row(["client", `processor time of ${CLIENTS}, seconds an hour`]), "|---|---:|", ...rows].join("\n");
}

/** How contestants answer at each rate, as a table. */
export async function latencyTable(
  stub: Stub,
  { plan, entrants, quick }: {
    readonly plan: "paced" | "pacedcrypt";
    readonly entrants: readonly Entrant[];
    readonly quick: boolean;
  },
): Promise<string> {
  const rates = quick ? QUICK_RATES : RATES;
  const [, ...shown] = rates.split(",").map((pace) => pace.split("x")[0]);
  const rows: string[] = [];
  for (const [index, entrant] of entrants.filter(answersInTime).entries()) {
    const token = `${plan}-${index}`;
    const more = [`--rates=${rates}`];
    const { paces = [] } = await takeTurn(entrant, { url: stub.url, token, what: "answer", more });
    await stub.forget(token);
    rows.push(row([entrant.name, ...shown.map((_, place) => cell(paces[place + 1]))]));
  }
  const head = ["client", ...shown.map((rate) => `${Number(rate).toLocaleString("en")}/s`)];
  return [row(head), `|---|${"---:|".repeat(shown.length)}`, ...rows].join("\n");
}

/** What its cells are. */
export const LATENCY_CELLS =
  "Milliseconds: median / 99 % / turn of the event loop, 99.9 % / processor time of a message.";

/** All but those that send nothing, or differ only where contents are checked. */
function answersInTime({ name }: Entrant): boolean {
  return !name.includes("typed") && !name.startsWith("matrix-sdk-crypto");
}

/** The middle one, that of 99 %, the turn, and the processor time of a message. */
function cell(pace: AnsweredPace | undefined): string {
  if (pace === undefined) return "–";
  const { answered, messages, median, most, turn, cpu } = pace;
  if (answered < messages) return `queues (${Math.round(answered / messages * 100)} %)`;
  return [median, most, turn, cpu / messages].map(number).join(" / ");
}

if (import.meta.main) {
  const option = (name: string) =>
    Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const all = await findEntrants(console.log);
  const [plain, encrypted] = [all.plain, all.encrypted].map((each) =>
    each.filter(({ name }) => name.includes(option("only") ?? ""))
  ) as [Entrant[], Entrant[]];
  const quick = Deno.args.includes("--quick");
  await using stub = await Stub.start(quick ? ["--quick"] : []);
  console.log((await circumstances(["src", "bench"])).lines.join("\n"));
  const minutes = Number(option("idle") ?? 0);
  if (minutes > 0) console.log(await idle(stub, plain, minutes));
  else {
    console.log(LATENCY_CELLS);
    console.log(await latencyTable(stub, { plan: "paced", entrants: plain, quick }));
    console.log(await latencyTable(stub, { plan: "pacedcrypt", entrants: encrypted, quick }));
  }
}
