/**
 * Transactions a second of application services of several makes: the same transactions, one after
 * the other over loopback, as a homeserver sends them, until each message has been handled.
 *
 * @module
 */

import { installPython } from "../../tools/python.ts";
import { PEER_PACKAGES } from "../../tools/peers.ts";
import { freePort } from "../../tools/free_port.ts";
import { installJsPeers, nodeVersion } from "../peers/js_peers.ts";

/** An application service in a process of its own. */
interface Contestant {
  readonly name: string;
  readonly command: readonly string[];
  /** What it is told beside. */
  readonly more?: readonly string[];
}

/** A result, in transactions a second by how many events a transaction has. */
export interface Rate {
  readonly name: string;
  readonly rates: readonly number[];
}

const TOKENS = { as: "the-token-of-the-appservice", hs: "the-token-of-the-homeserver" };
/** Before it counts, so that what compiles while it runs has done so. */
const WARMING = 300;

/** Has each contestant take the same transactions, in turns, several times; the median counts. */
export async function contest(
  { transactions, sizes, rounds, folder }: {
    readonly transactions: number;
    readonly sizes: readonly number[];
    readonly rounds: number;
    readonly folder: string;
  },
): Promise<Rate[]> {
  const all = await contestants(folder);
  const rates = new Map(all.map(({ name }) => [name, sizes.map((): number[] => [])]));
  for (let round = 0; round < rounds; round++) {
    for (const contestant of all) {
      const measured = await measure(contestant, { transactions, sizes });
      measured.forEach((rate, index) => rates.get(contestant.name)?.[index]?.push(rate));
    }
  }
  return [...rates].map(([name, lists]) => ({ name, rates: lists.map(median) }));
}

async function contestants(folder: string): Promise<Contestant[]> {
  const deno = [Deno.execPath(), "run", "-A", "--no-check", `${import.meta.dirname}/ours.ts`];
  const all: Contestant[] = [
    { name: "Greenroom, in memory", command: deno, more: ["memory"] },
    { name: "Greenroom, SQLite", command: deno, more: [`${folder}/contest.db`] },
    { name: "Greenroom, Deno KV", command: deno, more: [`${folder}/contest.kv`] },
  ];
  const python = await installPython(PEER_PACKAGES.mautrix, console.log).catch(() => undefined);
  if (python !== undefined) {
    all.push({ name: "mautrix-python", command: [python, `${import.meta.dirname}/mautrix_appservice.py`] });
  }
  if (await nodeVersion() !== undefined) {
    const scripts = await installJsPeers(console.log);
    all.push({ name: "matrix-bot-sdk", command: ["node", `${scripts}/bot_sdk_appservice.mjs`] });
  }
  return all;
}

async function measure(
  { command: [program = "", ...args], more = [] }: Contestant,
  { transactions, sizes }: { readonly transactions: number; readonly sizes: readonly number[] },
): Promise<number[]> {
  await using homeserver = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => Response.json({ user_id: "@bench:localhost", versions: ["v1.11"] }),
  );
  const port = freePort();
  const counts = [WARMING, ...sizes.map((size) => size * transactions)];
  const address = `http://127.0.0.1:${homeserver.addr.port}`;
  const child = new Deno.Command(program, {
    args: [...args, address, String(port), TOKENS.as, TOKENS.hs, counts.join(), ...more],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const says = async (line: string): Promise<void> => {
    for (;;) {
      const { value, done } = await lines.read();
      if (done) throw new Error(`Cannot measure ${program}: it ended`);
      if (value.includes(line)) return;
    }
  };
  try {
    await says("ready");
    const send = sender(`http://127.0.0.1:${port}`);
    for (let n = 0; n < WARMING; n++) await send(1);
    await says("done");
    const rates: number[] = [];
    for (const size of sizes) {
      const start = performance.now();
      for (let n = 0; n < transactions; n++) await send(size);
      await says("done");
      rates.push(transactions / (performance.now() - start) * 1_000);
    }
    return rates;
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await lines.cancel();
  }
}

let events = 0;

/** Sends a transaction with so many messages. */
function sender(url: string): (size: number) => Promise<void> {
  return async (size) => {
    const body = {
      events: Array.from({ length: size }, () => ({
        type: "m.room.message",
        event_id: `$${++events}:localhost`,
        room_id: `!room${events % 100}:localhost`,
        sender: "@alice:localhost",
        origin_server_ts: 1,
        unsigned: { age: 1 },
        content: { msgtype: "m.text", body: "hello" },
      })),
    };
    const response = await fetch(`${url}/_matrix/app/v1/transactions/${events}?access_token=${TOKENS.hs}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${TOKENS.hs}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    await response.body?.cancel();
    if (response.status !== 200) throw new Error(`Cannot measure: it answered ${response.status}`);
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? NaN;
}
