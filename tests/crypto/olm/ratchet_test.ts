/** Any interleaving of sends, losses, duplicates, reorderings and restarts. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ToDeviceEvent } from "@greenroom/matrix/types";
import { aliceAndBob, ciphertextOf, type Peer } from "./peers.ts";

/** What can be read of a message without its keys. */
interface Place {
  /** The ratchet key of the chain, and the index in it: no two messages may share them. */
  readonly chain: string;
  readonly index: number;
}

/**
 * Reads the fields of a message: tags, numbers and bytes, up to the ciphertext, behind which comes the MAC.
 */
function fieldsOf(bytes: Uint8Array): Map<number, number | Uint8Array> {
  const fields = new Map<number, number | Uint8Array>();
  let at = 1; // behind the version
  const number = () => {
    let value = 0;
    for (let shift = 0;; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = number();
    if (tag === 0x10) fields.set(tag, number());
    else {
      const length = number();
      fields.set(tag, bytes.subarray(at, at += length));
      if (tag === 0x22) break; // a MAC's bytes can look like a field
    }
  }
  return fields;
}

function placeOf(event: ToDeviceEvent): Place {
  const { type, body } = ciphertextOf(event);
  let bytes = Uint8Array.fromBase64(body);
  if (type === 0) bytes = (fieldsOf(bytes).get(0x22) as Uint8Array<ArrayBuffer>).slice();
  const fields = fieldsOf(bytes);
  return { chain: (fields.get(0x0a) as Uint8Array).toHex(), index: fields.get(0x10) as number };
}

/** What is on its way to one side. */
interface Underway {
  readonly event: ToDeviceEvent;
  readonly place: Place;
  readonly n: number;
}

/** One direction: what was sent and not yet come, and what has come. */
class Line {
  readonly underway: Underway[] = [];
  readonly read = new Set<number>();
  /** The chains of messages that have come, in the order in which they began to. */
  readonly chains: string[] = [];
  readonly highest = new Map<string, number>();
  sent = 0;

  /** Whether vodozemac still has to have the key: five chains, forty messages back in each. */
  mustBeReadable({ chain, index }: Place): boolean {
    const at = this.chains.indexOf(chain);
    if (at < 0) return true; // a chain starts only after the one before was read
    return this.chains.length - at <= 4 && (this.highest.get(chain) ?? 0) - index < 40;
  }

  came({ chain, index }: Place): void {
    if (!this.chains.includes(chain)) this.chains.push(chain);
    this.highest.set(chain, Math.max(index, this.highest.get(chain) ?? 0));
  }
}

const actions = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("send" as const), side: fc.nat(1) }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("deliver" as const), side: fc.nat(1), which: fc.nat(5) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("lose" as const), side: fc.nat(1), which: fc.nat(5) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("repeat" as const), side: fc.nat(1), which: fc.nat(5) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const), side: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const), side: fc.nat(1) }) },
);

async function play(script: readonly (typeof actions extends fc.Arbitrary<infer Action> ? Action : never)[]) {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.meet(alice);
  const sides = [alice, bob] as const;
  const lines = [new Line(), new Line()] as const; // to Alice, to Bob
  const used = new Set<string>();
  const side = (index: number) => {
    const [me, other] = index === 0 ? [alice, bob] : [bob, alice];
    return { me, other, incoming: lines[index === 0 ? 0 : 1], outgoing: lines[index === 0 ? 1 : 0] };
  };
  const note = (event: ToDeviceEvent) => {
    const place = placeOf(event);
    const name = `${place.chain} ${place.index}`;
    assert(!used.has(name), "a ratchet index was used twice");
    used.add(name);
    return place;
  };
  const deliver = async (me: Peer, line: Line, message: Underway) => {
    const readable = line.mustBeReadable(message.place) && !line.read.has(message.n);
    const result = await me.receive(message.event);
    if (result.kind === "decrypted") {
      assert(!line.read.has(message.n), "a message was read twice");
      assertEquals(result.payload.content, { n: message.n });
      line.read.add(message.n);
      line.came(message.place);
    } else {
      assert(!readable, `a message was lost: ${result.reason}`);
      // A copy of what was read is no reason for a new session.
      if (line.read.has(message.n)) assertEquals(result.kind, "dropped");
    }
  };
  for (const action of script) {
    const { me, other, incoming, outgoing } = side(action.side);
    const chosen = "which" in action ? incoming.underway[action.which] : undefined;
    switch (action.do) {
      case "send": {
        if (outgoing.underway.length >= 40) break;
        const n = outgoing.sent++;
        const event = await me.send(other, { n });
        outgoing.underway.push({ event, place: note(event), n });
        break;
      }
      case "restart":
        await me.restart();
        break;
      case "crash":
        // Both directions in one step that comes to nothing: whatever it made has not left.
        await me.crash(async (tx) => {
          for (const { event } of incoming.underway.slice(0, 2)) await me.olm.decrypt(tx, event);
          await me.olm.encrypt(tx, other.device, "m.room_key", { n: -1 });
        });
        break;
      case "lose":
      case "deliver":
      case "repeat":
        if (chosen === undefined) break;
        if (action.do !== "repeat") incoming.underway.splice(incoming.underway.indexOf(chosen), 1);
        if (action.do !== "lose") await deliver(me, incoming, chosen);
    }
  }
  // At the end both can still talk.
  for (const index of [0, 1]) {
    const { me, other } = side(index);
    const event = await me.send(other, { n: -2 });
    note(event);
    assertEquals(await other.read(event), { n: -2 });
  }
  for (const peer of sides) peer.olm.sessions.clear();
}

Deno.test("no interleaving loses a message that was delivered, reads one twice, or uses a ratchet index twice", async () => {
  await fc.assert(fc.asyncProperty(fc.array(actions, { maxLength: 60 }), play), {
    numRuns: 40,
    seed: 20250101,
  });
});
