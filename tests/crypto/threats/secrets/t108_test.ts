/**
 * A reader of a process's memory after a device has left it: a core dump, a swap file, another
 * hole.
 *
 * Attacker: anybody who reads the memory later. What must hold: when a client has closed,
 * vodozemac's memory, in which private keys are at work, holds none of its device; others' in the
 * same process stay. What JavaScript has copied can't be wiped, and is not promised. The class of
 * mistake: an object without an owner is left to the garbage collector.
 */

import { assert, assertEquals } from "@std/assert";
import type { Store } from "@greenroom/matrix";
import { clientStage } from "../../../client/support/stage.ts";
import { bytesIn, conversation } from "../conversation.ts";

const instances: WebAssembly.Instance[] = [];
const { instantiate } = WebAssembly;
// Each file of tests has an instance of its own: this one is watched from its beginning.
WebAssembly.instantiate = (async (module: WebAssembly.Module, imports?: WebAssembly.Imports) => {
  const instance = await instantiate(module, imports);
  instances.push(instance);
  return instance;
}) as typeof instantiate;

/** The states that are in a store's records of encryption, and their kinds. */
async function statesIn(store: Store): Promise<[kind: string, state: Uint8Array][]> {
  const found: [string, Uint8Array][] = [];
  for await (const { key, value } of store.list([])) {
    if (!key.includes("crypto")) continue;
    for (const bytes of bytesIn(value)) if (bytes.length >= 64) found.push([String(key[3]), bytes]);
  }
  return found;
}

/** Parts of 16 bytes that can't be there by chance. */
function parts([kind, state]: [string, Uint8Array]): [kind: string, part: Uint8Array][] {
  const found: [string, Uint8Array][] = [];
  for (let place = 0; place + 16 <= state.length; place += 16) {
    const part = state.subarray(place, place + 16);
    if (new Set(part).size > 12) found.push([kind, part]);
  }
  return found;
}

/** The kinds of records of which a part is in a memory. */
function kindsIn(memory: string, all: readonly [string, Uint8Array][]): string[] {
  return [...new Set(all.filter(([, part]) => memory.includes(part.toHex())).map(([kind]) => kind))].sort();
}

function memories(): string {
  return instances.map(({ exports }) => new Uint8Array((exports.memory as WebAssembly.Memory).buffer).toHex())
    .join();
}

Deno.test("T108: vodozemac's memory holds a device's keys while it is in use, and none of them once its client has closed", async () => {
  await using stage = clientStage();
  const { alice, bob, stores } = await conversation(stage);
  const states = [await statesIn(stores[0]), await statesIn(stores[1])] as const;
  const [ofAlice, ofBob] = [states[0].flatMap(parts), states[1].flatMap(parts)];
  assert(ofAlice.length > 20);
  // Bob has the keys of Alice's sessions as well.
  const shared = states[1].map(([, state]) => state.toHex()).join();
  const before = kindsIn(memories(), ofAlice);
  for (const kind of ["account", "olm-session", "outbound_session"]) {
    assert(before.includes(kind), `only ${before}`);
  }
  await alice.close();
  assertEquals(kindsIn(memories(), ofAlice.filter(([, part]) => !shared.includes(part.toHex()))), []);
  assert(kindsIn(memories(), ofBob).length > 0, "another client's are still in use");
  await bob.close();
  assertEquals(kindsIn(memories(), [...ofAlice, ...ofBob]), []);
});
