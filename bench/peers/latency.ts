/**
 * From a message on the wire to its answer on the wire:
 * `deno run -A bench/peers/latency.ts [--quick] [--own] [--only=NAME] [--idle=MINUTES]`.
 *
 * Messages come at a rate, in fifty rooms of four members, and each is answered by 200 bytes. A
 * contestant that does not answer all of a rate within five seconds begins to queue there, and gets no
 * higher rate. "Turn" is how long nothing else could run in its process, of 1,000 looks the longest but one.
 * `--idle=10` has 100 clients wait for ten minutes instead, and shows the processor time that they need an hour.
 *
 * @module
 */

import { type Entrant, entrants as findEntrants } from "./entrants.ts";
import { Stub } from "./stub/stub_process.ts";
import { type AnsweredPace, takeTurn } from "./turn.ts";
import { circumstances } from "../support/circumstances.ts";
import { number, row } from "../support/markdown.ts";

const ONLY = Deno.args.find((arg) => arg.startsWith("--only="))?.slice(7) ?? "";
const QUICK = Deno.args.includes("--quick");
const MINUTES = Number(Deno.args.find((arg) => arg.startsWith("--idle="))?.slice(7) ?? 0);
/** Messages a second, and for how many seconds. The first is a warm-up. */
const RATES = QUICK ? "20x1,100x2" : "100x5,1x20,100x10,500x5,1000x4,2000x2,4000x1";
const CLIENTS = 100;

/** What contestants that wait take of the processor. */
async function idle(stub: Stub, entrants: readonly Entrant[]): Promise<string> {
  const rows: string[] = [];
  for (const [index, entrant] of entrants.entries()) {
    if (entrant.playsOnly === true || entrant.name.endsWith(", Node")) continue;
    const token = `paced-idle-${index}`;
    const more = [`--seconds=${MINUTES * 60}`];
    const { paces: [waited] = [] } = await takeTurn(entrant, {
      url: stub.url,
      token,
      what: "wait",
      clients: CLIENTS,
      more,
    });
    rows.push(row([entrant.name, number((waited?.cpu ?? NaN) / 1_000 / MINUTES * 60)]));
  }
  return [row(["client", `processor time of ${CLIENTS}, seconds an hour`]), "|---|---:|", ...rows].join("\n");
}

/** How contestants answer. */
async function latency(
  stub: Stub,
  plan: "paced" | "pacedcrypt",
  entrants: readonly Entrant[],
): Promise<string> {
  const rows: string[] = [];
  for (const [index, entrant] of entrants.entries()) {
    const token = `${plan}-${index}`;
    const more = [`--rates=${RATES}`];
    const { paces = [] } = await takeTurn(entrant, { url: stub.url, token, what: "answer", more });
    await stub.forget(token);
    rows.push(row([entrant.name, ...RATES.split(",").slice(1).map((_, place) => cell(paces[place + 1]))]));
    console.log(rows.at(-1));
  }
  const head = ["client", ...RATES.split(",").slice(1).map((pace) => `${pace.split("x")[0]}/s`)];
  return [row(head), `|---|${"---:|".repeat(head.length - 1)}`, ...rows].join("\n");
}

/** The middle one, that of 99 %, the turn, and the processor time of a message. */
function cell(pace: AnsweredPace | undefined): string {
  if (pace === undefined) return "–";
  const { answered, messages, median, most, turn, cpu } = pace;
  if (answered < messages) return `queues (${Math.round(answered / messages * 100)} %)`;
  return [median, most, turn, cpu / messages].map(number).join(" / ");
}

if (import.meta.main) {
  const all = await findEntrants(console.log);
  const [plain, encrypted] = [all.plain, all.encrypted].map((each) =>
    each.filter(({ name }) =>
      name.includes(ONLY) && !name.includes("typed") && !name.startsWith("matrix-sdk-crypto")
    )
  ) as [Entrant[], Entrant[]];
  await using stub = await Stub.start([]);
  console.log((await circumstances(["src", "bench"])).lines.join("\n"));
  if (MINUTES > 0) console.log(await idle(stub, plain));
  else {
    console.log(
      "Milliseconds: median / 99 % / turn of the event loop, 99.9 % / processor time of a message.",
    );
    console.log(await latency(stub, "paced", plain));
    console.log(
      await latency(
        stub,
        "pacedcrypt",
        encrypted,
      ),
    );
  }
}
