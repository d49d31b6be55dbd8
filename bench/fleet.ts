/**
 * A fleet: many accounts in one process, `deno run -A bench/fleet.ts [ACCOUNTS]`.
 *
 * Each is a client with a device of its own in one shared store, which polls. How long until all
 * have started, what each costs in memory, and how long until each has handled a message and
 * answered it. The homeserver is a function that answers what these need, so that its costs are not
 * among theirs.
 *
 * @module
 */

import { Client, MemoryStore, type Store } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import type { UserID } from "@greenroom/matrix/types";
import { memoryInUse, processorTime } from "./support/process.ts";

/** What polls for one account. */
class Account {
  readonly #waiting: ((response: Response) => void)[] = [];
  readonly #queued: Response[] = [];
  /** How many messages it has sent. */
  sent = 0;

  /** Shows something to the next sync. */
  show(response: Response): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#queued.push(response);
    else waiting(response);
  }

  /** Answers a request. */
  readonly fetch: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.endsWith("/sync")) {
      if (!searchParams.has("since")) return Promise.resolve(response(0));
      const queued = this.#queued.shift();
      if (queued !== undefined) return Promise.resolve(queued);
      return new Promise((resolve, reject) => {
        this.#waiting.push(resolve);
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
    }
    if (pathname.includes("/send/")) this.sent++;
    return Promise.resolve(Response.json({
      event_id: `$sent${this.sent}`,
      versions: ["v1.11"],
      filter_id: "1",
      device_keys: {},
      failures: {},
      one_time_key_counts: { signed_curve25519: 50 },
    }));
  };
}

/** A sync response with a message. */
function response(number: number): Response {
  const event = {
    type: "m.room.message",
    event_id: `$event${number}`,
    sender: "@alice:localhost",
    origin_server_ts: 1,
    content: { msgtype: "m.text", body: "hello" },
  };
  return Response.json({
    next_batch: `s${number}`,
    rooms: { join: { "!room:localhost": { timeline: { events: [event], limited: false } } } },
    device_one_time_keys_count: { signed_curve25519: 50 },
    device_unused_fallback_key_types: ["signed_curve25519"],
  });
}

/** Measures a fleet. */
export async function fleet(
  count: number,
  store: Store,
  encryption: boolean,
): Promise<Record<string, number>> {
  const before = memoryInUse();
  const [start, cpu] = [performance.now(), processorTime()];
  const accounts = Array.from({ length: count }, () => new Account());
  let handled = 0;
  let all = Promise.withResolvers<void>();
  const clients = accounts.map((account, index) => {
    const mxid: UserID = `@bot${index}:localhost`;
    const client = new Client({
      ...{ baseUrl: "http://localhost", accessToken: "token", mxid, deviceId: "FLEET", store, encryption },
      fetch: account.fetch,
      log: false,
    });
    client.on("m.room.message", async ({ room_id, content }) => {
      await client.sendText(room_id, `echo: ${content.body}`, { disableEncryption: true });
      if (++handled === count) all.resolve();
    });
    return client;
  });
  const running = clients.map((client) => client.start());
  await all.promise;
  const [started, startedCpu] = [performance.now() - start, processorTime() - cpu];
  const after = memoryInUse();
  const each = (name: "heap" | "process"): number => Math.round((after[name] - before[name]) / 1_000 / count);
  const times: number[] = [];
  const answering = processorTime();
  for (let number = 1; number <= 3; number++) {
    [handled, all] = [0, Promise.withResolvers()];
    const sent = performance.now();
    for (const account of accounts) account.show(response(number));
    await all.promise;
    times.push(performance.now() - sent);
  }
  const answeredCpu = (processorTime() - answering) / times.length;
  const stopping = performance.now();
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(running);
  return {
    "started and first answer, ms": Math.round(started),
    "started, CPU ms each": Number((startedCpu / count).toFixed(2)),
    "kB of heap each": each("heap"),
    "kB of memory each": each("process"),
    "a message to each, answered, ms": Math.round(times.toSorted((a, b) => a - b)[1] ?? NaN),
    "answered, CPU µs each": Math.round(answeredCpu / count * 1_000),
    "closed, ms": Math.round(performance.now() - stopping),
  };
}

/** What one process measures, and prints. */
async function row(count: number, kind: string, isEncrypting: boolean): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-fleet-" });
  const store = kind === "memory" ? new MemoryStore() : await SqliteStore.open(`${folder}/fleet.db`);
  console.log(JSON.stringify(await fleet(count, store, isEncrypting)));
  await store.close();
  await Deno.remove(folder, { recursive: true });
}

async function main(count: number): Promise<void> {
  const rows: Record<string, unknown>[] = [];
  for (const encryption of ["plain", "encrypting"]) {
    for (const store of ["memory", "SQLite"]) {
      const args = ["run", "-A", "--no-check", "--v8-flags=--expose-gc", import.meta.filename ?? ""];
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: [...args, String(count), store, encryption],
        stderr: "inherit",
      }).output();
      rows.push({ accounts: count, store, encryption, ...JSON.parse(new TextDecoder().decode(stdout)) });
    }
  }
  console.table(rows);
}

if (import.meta.main) {
  const [count = "1000", kind, encryption] = Deno.args;
  if (kind === undefined) await main(Number(count));
  else await row(Number(count), kind, encryption === "encrypting");
}
