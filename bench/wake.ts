/**
 * From a wake to the reply: `deno run -A bench/wake.ts [SAMPLES]`.
 *
 * On Synapse, with `examples/deploy` and a denokv: how long after the homeserver's request has come
 * another client has the reply, with an instance that is there (warm), and with one that is started
 * for the request (cold). On the in-process homeserver: how many requests, commits and reads a wake
 * costs.
 *
 * @module
 */

import { isReachable } from "./reachable.ts";
import { Client, MemoryStore, type Store } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";
import { delay } from "@std/async/delay";
import { Denokv } from "../tools/denokv.ts";
import { Synapse } from "../tools/synapse.ts";
import { within } from "../tests/e2e/support/deadline.ts";
import { EVERYBODY } from "../tests/support/everybody.ts";
import { Instance } from "./deploy/instance.ts";

const SECRET = "a secret of the measured bot";
const ENCRYPTED = [{
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
}];
/** Between two messages: what is left of the wake before has ended. */
const PAUSE_MS = 400;

/** The times of wakes in a room. */
async function times(samples: number): Promise<Record<string, string>[]> {
  await using synapse = await Synapse.start();
  Deno.env.set("GREENROOM_SYNAPSE_URL", synapse.baseUrl);
  Deno.env.set("GREENROOM_SYNAPSE_NAME", synapse.serverName);
  Deno.env.set("GREENROOM_SYNAPSE_SECRET", synapse.sharedSecret);
  const { newUser } = await import("../tests/e2e/support/synapse.ts");
  await using denokv = await Denokv.start();
  const [human, account] = [
    await newUser(synapse, "alice", { unlimited: "people" }),
    await newUser(synapse, "bot", { unlimited: "measured" }),
  ];
  const env = {
    MATRIX_URL: synapse.baseUrl,
    MATRIX_TOKEN: account.accessToken,
    MATRIX_USER: account.userId,
    MATRIX_DEVICE: account.deviceId,
    MATRIX_WAKE_SECRET: SECRET,
    DENO_KV_URL: denokv.url,
    DENO_KV_ACCESS_TOKEN: denokv.accessToken,
  };
  let instance: Instance | undefined;
  let wokenAt = 0;
  const front = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const body = new Uint8Array(await request.arrayBuffer());
    wokenAt ||= performance.now();
    instance ??= new Instance(env);
    return await instance.answer(pathname, body).catch(() => new Response(null, { status: 502 }));
  });
  const options = { baseUrl: synapse.baseUrl, log: false } as const;
  await using bot = new Client({ ...options, accessToken: account.accessToken, wake: { secret: SECRET } });
  await bot.registerWake(`http://127.0.0.1:${front.addr.port}`);
  await using alice = new Client({
    ...options,
    accessToken: human.accessToken,
    store: new MemoryStore(),
    // The bot hears only who has an identity, and has none itself.
    encryption: { ...EVERYBODY, onRecoveryKey() {}, password: human.password, backup: false },
  });
  let replied = Promise.withResolvers<number>();
  alice.on("m.room.message", ({ sender }) => {
    if (sender === account.userId) replied.resolve(performance.now());
  });
  void alice.start();
  await alice.ready;
  const rows: Record<string, string>[] = [];
  for (const [name, initialState] of [["plain", []], ["encrypted", ENCRYPTED]] as const) {
    const roomId = await alice.createRoom({ invitees: [account.userId], initialState });
    while (!await isReachable(alice, roomId, account.userId)) await delay(50);
    const sample = async (): Promise<number> => {
      replied = Promise.withResolvers();
      wokenAt = 0;
      await alice.sendText(roomId, "hello");
      const taken = await within(replied.promise, "a reply") - wokenAt;
      await delay(PAUSE_MS);
      return taken;
    };
    await sample();
    for (const how of ["warm", "cold"] as const) {
      const all: number[] = [];
      for (let n = 0; n < samples; n++) {
        if (how === "cold") {
          await instance?.stop();
          instance = undefined;
        }
        all.push(await sample());
      }
      all.sort((a, b) => a - b);
      const at = (part: number): string => (all[Math.floor(part * (all.length - 1))] ?? 0).toFixed(0);
      rows.push({
        room: name,
        instance: how,
        "median, ms": at(0.5),
        "90 %, ms": at(0.9),
        "least, ms": at(0),
      });
    }
  }
  await instance?.stop();
  await alice.close();
  await bot.close();
  await front.shutdown();
  return rows;
}

/** What wakes cost in requests and commits. */
async function costs(): Promise<Record<string, string | number>[]> {
  const rows: Record<string, string | number>[] = [];
  for (const encryption of [false, true]) {
    let woken: (input: string, init: RequestInit) => Promise<Response> = () =>
      Promise.resolve(Response.json({ rejected: [] }));
    await using homeserver = new Homeserver({ pushFetch: (...request) => woken(...request) });
    const counts = { requests: 0, commits: 0, reads: 0 };
    class WatchedStore extends MemoryStore {
      override async commit(...args: Parameters<Store["commit"]>): Promise<boolean> {
        counts.commits++;
        return await super.commit(...args);
      }
      override async getMany(...args: Parameters<Store["getMany"]>) {
        counts.reads++;
        return await super.getMany(...args);
      }
      override list(...args: Parameters<Store["list"]>) {
        counts.reads++;
        return super.list(...args);
      }
    }
    const store = new WatchedStore();
    const { accessToken } = homeserver.createUser("bot");
    const instance = (): Client => {
      const made = new Client({
        baseUrl: homeserver.baseUrl,
        fetch(...request) {
          counts.requests++;
          return homeserver.fetch(...request);
        },
        accessToken,
        store,
        encryption,
        wake: { secret: SECRET },
        log: false,
      });
      made.on("m.room.message", async ({ sender, room_id, content }) => {
        if (sender !== made.mxid) await made.sendNotice(room_id, `${content.body}!`);
      });
      return made;
    };
    let bot = instance();
    await bot.registerWake("https://bot.example");
    const alice = new Client({
      baseUrl: homeserver.baseUrl,
      fetch: homeserver.fetch,
      accessToken: homeserver.createUser("alice").accessToken,
      encryption,
      log: false,
    });
    const initialState = encryption ? ENCRYPTED : [];
    const roomId: RoomID = await alice.createRoom({ preset: "public_chat", initialState });
    await bot.joinRoom(roomId);
    await bot.syncOnce();
    await alice.syncOnce();
    for (const how of ["first", "warm", "cold"] as const) {
      if (how === "cold") {
        await bot.close();
        bot = instance();
      }
      const answered = Promise.withResolvers<void>();
      woken = async (input, init) => {
        const before = { ...counts };
        const response = await bot.fetch(new Request(input, init));
        rows.push({
          room: encryption ? "encrypted" : "plain",
          wake: how,
          requests: counts.requests - before.requests,
          commits: counts.commits - before.commits,
          reads: counts.reads - before.reads,
        });
        answered.resolve();
        return response;
      };
      await alice.sendText(roomId, "hello");
      await answered.promise;
    }
    await bot.close();
    await alice.close();
  }
  return rows;
}

if (import.meta.main) {
  console.table(await costs());
  if (Deno.args[0] !== "0") console.table(await times(Number(Deno.args[0] ?? 21)));
  Deno.exit(0);
}
