/**
 * A trap in WebAssembly: memory that ran out, or an unexpected panic. Nothing can be said then of
 * what the instance holds. It must not be used again, also not by the owner of one of its objects;
 * its memory, which holds all keys that were in use, is wiped; and the engine goes on with another,
 * made of what is in the store, as if nothing had been. That goes for traps in whatever is called,
 * also where an object is let go of.
 *
 * Class of mistake: what happens after a failure that "can't happen" was only thought of for the
 * call that everybody looks at.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import { backedUp, stage as backupStage, trusting, withSessions } from "../../backup/stage.ts";
import { dehydrationScene } from "../../dehydration/stage.ts";
import { Bot } from "../../engine/bot.ts";
import { EngineServer, ROOM } from "../../engine/homeserver.ts";
import { RawSession } from "../../engine/raw_device.ts";

/** The memories of all instances that were made here, and which operation is to trap next. */
const memories: WebAssembly.Memory[] = [];
let trapping: { operation: string; times: number; after: number } | undefined;

/** Has an operation run out of memory, as a real one would: in the middle of what it does. */
function trap(operation: string, { times = 1, after = 0 } = {}): void {
  trapping = { operation, times, after };
}

type Exported = (...numbers: number[]) => number;

const { instantiate } = WebAssembly;
WebAssembly.instantiate = (async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
  const instance = await instantiate(module, imports);
  const exports: Record<string, unknown> = { ...instance.exports };
  memories.push(exports.memory as WebAssembly.Memory);
  for (const [name, value] of Object.entries(exports)) {
    if (typeof value !== "function") continue;
    const operation = value as Exported;
    exports[name] = (...numbers: number[]) => {
      const result = operation(...numbers);
      if (trapping?.operation !== name || trapping.times === 0 || trapping.after-- > 0) return result;
      trapping.times--;
      return (exports.input_reserve as Exported)(0xffff_ffff); // more than there can be
    };
  }
  return { exports };
}) as typeof WebAssembly.instantiate;

function wiped(memory: WebAssembly.Memory | undefined): boolean {
  assert(memory !== undefined && memory.buffer.byteLength > 0);
  return new Uint8Array(memory.buffer).every((byte) => byte === 0);
}

Deno.test("T96: an instance that has trapped is wiped, and neither it nor an object of it is of any use", async () => {
  for (const operation of ["account_sign", "account_state", "object_free", "input_reserve"]) {
    const vodozemac = await Vodozemac.create();
    const memory = memories.at(-1);
    const account = vodozemac.olm.createAccount();
    const other = vodozemac.olm.createAccount();
    assert(!wiped(memory));
    trap(operation);
    const run = () => {
      account.sign("x".repeat(5_000)); // longer than anything before
      account.state();
      account[Symbol.dispose]();
    };
    if (operation === "object_free") run(); // freeing an object does not fail
    else assertEquals(assertThrows(run, VodozemacError).code, "instance_dead");
    assert(vodozemac.dead, operation);
    assert(wiped(memory), operation);
    for (const use of [() => other.state(), () => vodozemac.olm.createAccount()]) {
      assertEquals(assertThrows(use, VodozemacError).code, "instance_dead");
    }
    for (const object of [account, other]) object[Symbol.dispose]();
    assert(wiped(memory), operation);
  }
});

/** Alice, with whom nothing has trapped yet, and Bob, who has said something that she has read. */
async function talking() {
  const server = new EngineServer();
  const alice = await Bot.open(server, { userId: "@alice:example.org", deviceId: "ALICE" });
  const bob = await Bot.open(server, { userId: "@bob:example.org", deviceId: "BOB" });
  await alice.sync();
  const event = await bob.send("hello");
  await alice.sync();
  assertEquals(alice.outcome(event), "text: hello");
  return { alice, bob };
}

for (
  const operation of [
    "inbound_decrypt_all",
    "inbound_new",
    "inbound_state",
    "outbound_encrypt",
    "outbound_state",
    "session_encrypt",
    "session_decrypt",
    "session_state",
    "account_sign",
    "account_state",
    "object_free",
  ]
) {
  Deno.test(`T96: a whole engine goes on when ${operation} traps, says nothing twice and loses nothing`, async () => {
    const { alice, bob } = await talking();
    for (let turn = 0; turn < 3; turn++) {
      const made = memories.length;
      trap(operation);
      await bob.engine.discardGroupSession("!room:example.org"); // a new session, whose key has to be sent
      const [one, two] = [await bob.send(`one ${turn}`), await bob.send(`two ${turn}`)];
      await alice.sync();
      const answer = await alice.send(`answer ${turn}`);
      await bob.sync();
      trapping = undefined;
      assertEquals([alice.outcome(one), alice.outcome(two)], [`text: one ${turn}`, `text: two ${turn}`]);
      assertEquals(bob.outcome(answer), `text: answer ${turn}`);
      for (const memory of memories.slice(0, memories.length > made ? made : 0)) assert(wiped(memory));
    }
    for (const bot of [alice, bob]) await bot.engine.close();
  });
}

Deno.test("T96: an engine opens when its account's instance traps, and is the same device", async () => {
  const { alice, bob } = await talking();
  const { ed25519 } = alice.engine.identity();
  for (const operation of ["account_from_state", "account_sign"]) {
    trap(operation);
    await alice.restart();
    trapping = undefined;
    assertEquals(alice.engine.identity().ed25519, ed25519);
    const event = await bob.send(operation);
    await alice.sync();
    assertEquals(alice.outcome(event), `text: ${operation}`);
  }
  trap("account_new");
  const carol = await Bot.open(alice.server, { userId: "@carol:example.org", deviceId: "CAROL" });
  for (const bot of [alice, bob, carol]) await bot.engine.close();
});

Deno.test("T96: a dehydrated device is not given up for a trap while it is read, and none of its keys are lost", async () => {
  const { begin, receive, alice, roomKey } = await dehydrationScene();
  trap("account_rehydrate");
  assertEquals(await begin(), "reading");
  const operations = ["account_create_inbound_session", "session_decrypt", "session_state", "account_state"];
  for (const [read, operation] of operations.entries()) {
    const event = roomKey(alice, new RawSession());
    trap(operation);
    assertEquals((await receive(event)).reading?.keys, read + 1, operation);
  }
  assertEquals(trapping?.times, 0);
  trapping = undefined;
});

Deno.test("T96: a key of the backup is not refused for a trap while it is decrypted", async () => {
  const { server, bob, backups } = await backupStage();
  const [sessionId = ""] = await withSessions(bob, 1);
  const secret = await backedUp(bob, backups);
  const fresh = await Bot.open(server, { userId: bob.userId, deviceId: "FRESH" });
  await trusting(fresh, backups, secret);
  const data = backups.current(bob)?.sessionsOf(ROOM)[sessionId];
  trap("pk_decrypt");
  const keys = [{ roomId: ROOM, sessionId, data }];
  const { added, refused } = await fresh.engine.steps.restoreKeys({ version: "1", keys });
  assertEquals([added, refused, trapping?.times], [1, 0, 0]);
  trapping = undefined;
});

Deno.test("T96: a message to the device that has every instance trap is left out, and the engine lives", async () => {
  const { alice, bob } = await talking();
  await bob.engine.discardGroupSession("!room:example.org");
  const event = await bob.send("lost");
  trap("session_decrypt", { times: Infinity });
  await alice.sync();
  trapping = undefined;
  assertEquals(alice.outcome(event), "MISSING_KEY");
  await bob.engine.discardGroupSession("!room:example.org");
  const next = await bob.send("and on");
  await alice.sync();
  assertEquals(alice.outcome(next), "text: and on");
  for (const bot of [alice, bob]) await bot.engine.close();
});
