/**
 * A process that crashes while events are encrypted side by side, which share commits: no index is used
 * for two plaintexts, and the bytes of what had left are those that the next process sends.
 */

import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore, type Store } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { type FaultPlan, NO_FAULT, type OperationLog, TestProcess } from "../client/support/crash.ts";
import { atEachCrashPoint } from "../client/support/crash_points.ts";
import { ENCRYPTED } from "../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../client/support/stage.ts";
import { indexOf } from "../crypto/sharing/stage.ts";
import { EVERYBODY } from "../support/everybody.ts";
import { ticking } from "./identity/crash_scene.ts";
import { history } from "./identity/scene.ts";

/** How long a commit takes, in milliseconds: longer than a request. */
const COMMIT = 300;
const TEXTS = ["one", "two", "three", "four"];

/** What has left for a server, and what of it was answered. */
class Wire {
  /** The transaction IDs of what the server has and the process knows of. */
  readonly answered = new Set<string>();
  /** What must not be. */
  readonly faults: string[] = [];
  /** By transaction ID, the ciphertext. */
  readonly #bytes = new Map<string, string>();
  /** By session and index, the ciphertext. */
  readonly #indices = new Map<string, string>();

  /** What arrives at a server, by this process and those before. */
  leaving(send: typeof fetch): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init);
      const txnId = txnIdOf(request);
      if (txnId !== undefined) this.#note(txnId, await request.clone().json());
      return await send(request);
    };
  }

  /** What a process is answered. */
  answering(send: typeof fetch): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init);
      const txnId = txnIdOf(request);
      const response = await send(request);
      if (txnId !== undefined && response.ok) this.answered.add(txnId);
      return response;
    };
  }

  #note(txnId: string, content: { readonly session_id: string; readonly ciphertext: string }): void {
    const { session_id, ciphertext } = content;
    const place = `index ${indexOf(content)} of ${session_id}`;
    if (this.#indices.getOrInsert(place, ciphertext) !== ciphertext) this.faults.push(`${place} came twice`);
    if (this.answered.has(txnId)) return; // the server keeps the first
    if (this.#bytes.getOrInsert(txnId, ciphertext) !== ciphertext) {
      this.faults.push(`${txnId} has other bytes`);
    }
  }
}

function txnIdOf({ url, method }: Request): string | undefined {
  return method === "PUT" ? /\/send\/m\.room\.encrypted\/([^/?]+)/.exec(url)?.[1] : undefined;
}

/** A disk on which commits take their time: a process that ends before has made none. */
function slowDisk({ clock }: ClientStage, store: Store, process: TestProcess): Store {
  return {
    getMany: (keys) => store.getMany(keys),
    list: (prefix, options) => store.list(prefix, options),
    close: () => {},
    async commit(mutations, checks) {
      const wasRunning = process.isRunning; // else it crashes when this has taken effect
      await clock.delay(COMMIT);
      assert(process.isRunning || !wasRunning, "the process has ended");
      return await store.commit(mutations, checks);
    },
  };
}

/** What happens in the first process. */
interface Deed {
  readonly plan: FaultPlan;
  /** Whether it is closed while sends are under way. */
  readonly isStopped: boolean;
}

/** Encrypted rooms of two users, and processes of one of them, one after the other. */
async function story(deed: Deed): Promise<OperationLog> {
  const here = clientStage();
  try {
    return await play(here, deed);
  } finally {
    await ticking(here, Promise.resolve(here[Symbol.asyncDispose]())); // commits take time
  }
}

async function play(here: ClientStage, { plan, isStopped }: Deed): Promise<OperationLog> {
  const wire = new Wire();
  const store = new MemoryStore();
  const run = async (plan: FaultPlan, work: (client: Client) => Promise<unknown>): Promise<OperationLog> => {
    const process = new TestProcess(plan);
    const client = here.client("alice", {
      encryption: EVERYBODY,
      retry: false,
      fetch: wire.answering(process.fetch(wire.leaving(here.homeserver.fetch))),
      store: process.store(slowDisk(here, store, process)),
      lease: { duration: 5_000 },
    });
    const working = ticking(here, work(client));
    if (plan.at === 0) await working;
    else await working.catch((error) => assert(!process.isRunning, `${JSON.stringify(plan)}: ${error}`));
    await ticking(here, client.close()).catch(() => {}); // a process that has crashed can't
    return process.log;
  };

  const bob = here.client("bob", { encryption: EVERYBODY });
  await bob.crypto?.start();
  const rooms: RoomID[] = [];
  await run(NO_FAULT, async (alice) => {
    await alice.crypto?.start();
    for (let count = 0; count < 2; count++) {
      rooms.push(await alice.createRoom({ initialState: ENCRYPTED, invite: ["@bob:localhost"] }));
    }
    for (const room of rooms) await bob.joinRoom(room);
    await alice.syncOnce();
  });
  const say = (alice: Client, text: string, room: number) =>
    alice.sendText(rooms[room] as RoomID, text, { txnId: `${text}-${room}` });

  const log = await run(plan, async (alice) => {
    const sends = TEXTS.flatMap((text) => rooms.map((_, room) => say(alice, text, room)));
    if (!isStopped) return void await Promise.all(sends);
    sends.forEach((send) => send.catch(() => {}));
    await Promise.race(sends); // the others wait for a commit, or for their answers
    await alice.close();
  });
  // The next process says something else first, and the rest in another order.
  await run(NO_FAULT, async (alice) => {
    const sends = ["five", ...TEXTS.toReversed()].flatMap((text) =>
      rooms.map((_, room) => wire.answered.has(`${text}-${room}`) ? undefined : say(alice, text, room))
    );
    await Promise.all(sends);
  });
  assertEquals(wire.faults, [], JSON.stringify(plan));
  await bob.syncOnce();
  for (const room of rooms) {
    const texts = [...TEXTS, "five"].map((text) => `${text} by direct`);
    assertEquals((await history(bob, room)).toSorted(), texts.toSorted(), JSON.stringify(plan));
  }
  return log;
}

Deno.test("C9: after a crash at any commit or request of sends side by side, no index has two plaintexts, and each text is there once", async () => {
  await atEachCrashPoint((plan) => story({ plan, isStopped: false }));
});

Deno.test("C9: so it is of a process that was stopped while sends were under way", async () => {
  await atEachCrashPoint((plan) => story({ plan, isStopped: true }));
});
