import { assert, assertEquals } from "@std/assert";
import type { StoreHandlers, SyncChange } from "../../../src/actors/store/mod.ts";
import type { SyncContext } from "../../../src/actors/syncer/sync_batch.ts";
import { type SyncParts, takeApart } from "../../../src/actors/syncer/sync_parts.ts";
import { takeSync } from "../../../src/actors/syncer/sync_pipeline.ts";
import type { CryptoInput } from "../../../src/crypto/engine/engine.ts";
import type { JsonObject, MessageEvent } from "@greenroom/matrix/types";
import { joined, member, message, OWN, ROOM, state, timeline } from "../support/events.ts";
import { CONTEXT } from "../support/sync_context.ts";
import { answeredBy } from "../../support/answered_by.ts";

/** What Crypto and the Store are asked for a response. */
async function take(
  response: JsonObject,
  more: Partial<SyncContext> = {},
  connect: (parts: SyncParts) => void = () => {},
): Promise<{ input: CryptoInput; change: SyncChange }> {
  const inputs: CryptoInput[] = [];
  const changes: SyncChange[] = [];
  const store = answeredBy<StoreHandlers>((_, change: SyncChange) => {
    changes.push(change);
    return Promise.resolve({ former: [], crashes: 0 });
  });
  const parts = takeApart(response, OWN);
  connect(parts);
  await takeSync(parts, { ...CONTEXT, ...more }, {
    crypto: {
      receiveSync(input) {
        inputs.push(input);
        return Promise.resolve({
          toDevice: [],
          decrypted: [],
          underway: [],
          recovered: [],
          encryptedRooms: new Set(),
        });
      },
    },
    store,
  });
  const [[input], [change]] = [inputs, changes];
  assert(input !== undefined && change !== undefined);
  return { input, change };
}

function ids(events: readonly object[]): unknown[] {
  return events.map((event) => "event_id" in event ? event.event_id : undefined);
}

Deno.test("takeSync() commits the state at the end of the timeline, in order", async () => {
  const change = async (room: JsonObject) => (await take(joined(room))).change.rooms[0];
  const first = state("m.room.name", {}, { event_id: "$first" });
  const second = state("m.room.name", {}, { event_id: "$second" });
  const both = await change({ state: { events: [first] }, ...timeline([message("1"), second]) });
  assertEquals(ids(both?.state ?? []), ["$first", "$second"]);
  const after = await change({ state_after: { events: [first] }, ...timeline([message("1"), second]) });
  assertEquals(ids(after?.state ?? []), ["$first"]);
});

Deno.test("takeSync() counts members who changed in a filled gap, which lazily loaded state need not show", async () => {
  const response = joined({
    state: { events: [member("@later:a", "join")] },
    ...timeline([message("9")], { limited: true }),
  });
  const fill = ({ rooms: [room] }: SyncParts): void => {
    assert(room !== undefined);
    room.filled = [member("@gone:a", "leave"), member("@later:a", "leave"), message("1")] as never[];
  };
  const membersOf = (events: readonly object[]) =>
    events.map((event) => "state_key" in event ? event.state_key : event);
  for (const initial of [false, true]) {
    const { input, change } = await take(response, { members: "lazy", initial }, fill);
    // When it comes again, the very first response is older than what is known.
    const expected = initial ? ["@later:a"] : ["@gone:a", "@later:a", "@later:a"];
    for (const events of [input.state[0]?.events, change.rooms[0]?.state]) {
      assertEquals(membersOf(events ?? []), expected);
    }
  }
});

Deno.test("takeSync() reports to the Store when members are complete, and when some may be missing", async () => {
  const change = async (room: JsonObject, members: SyncContext["members"]) => {
    const { change } = await take(joined(room), { members });
    const { complete, lossy } = change.rooms[0] ?? {};
    return [complete, lossy];
  };
  const whole = timeline([message("1")]);
  const limited = timeline([message("1")], { limited: true });
  assertEquals(await change(whole, "all"), [true, false]);
  assertEquals(await change(limited, "all"), [true, false]);
  assertEquals(await change({}, "all"), [false, false]);
  assertEquals(await change(whole, "lazy"), [false, false]);
  assertEquals(await change(limited, "lazy"), [false, true]);
  assertEquals(await change(whole, "some"), [false, true]);
});

Deno.test("takeSync() distinguishes a ban from a departure", async () => {
  const left = async (events: JsonObject[]) => {
    const response = { next_batch: "n", rooms: { leave: { [ROOM]: timeline(events) } } };
    return (await take(response)).change.rooms[0]?.membership;
  };
  assertEquals(await left([]), "leave");
  assertEquals(await left([member(OWN, "ban")]), "ban");
  assertEquals(await left([member(OWN, "ban"), member("@a:a", "leave")]), "ban");
  assertEquals(await left([member(OWN, "ban"), member(OWN, "leave")]), "leave");
});

Deno.test("takeSync() gives Crypto encrypted events in order, those of a filled gap first, and no state", async () => {
  const encrypted = (id: string, more: JsonObject = {}) => message(id, { type: "m.room.encrypted", ...more });
  const response = joined(
    timeline([encrypted("2"), encrypted("state", { state_key: "" }), message("3")], { limited: true }),
    { to_device: { events: [{ type: "m.room.encrypted", sender: "@a:a", content: {} }] } },
  );
  const { input } = await take(response, {}, ({ rooms: [room] }) => {
    assert(room !== undefined);
    room.filled = [encrypted("1")] as unknown as MessageEvent[];
  });
  assertEquals(ids(input.encrypted), ["$1", "$2"]);
  assertEquals(input.toDevice.length, 1);
  assertEquals(input.state.map(({ roomId, events, limited }) => [roomId, ids(events), limited]), [
    [ROOM, ["$state"], true],
  ]);
});

Deno.test("Of state after the timeline, Crypto gets the events of the timeline, which say what was before", async () => {
  const join = member(OWN, "join");
  const unsigned = { prev_content: { membership: "invite" }, prev_sender: "@inviter:localhost" };
  const { input } = await take(
    joined({ ...timeline([{ ...join, unsigned }]), state_after: { events: [join] } }),
  );
  // Once: a second one, which does not say it, would be another entry into the room.
  const events = input.state[0]?.events ?? [];
  assertEquals(events.map((event) => event.unsigned?.prev_content), [unsigned.prev_content]);
});

Deno.test("Of members in state after the timeline, Crypto gets what they were before, and of nobody else", async () => {
  const [gone, back] = [member("@a:a", "leave"), member("@a:a", "join")].map((event, index) => ({
    ...event,
    event_id: `$a${index}`,
  }));
  assert(gone !== undefined && back !== undefined);
  const refused = { ...member("@stranger:a", "join"), event_id: "$refused" }; // the state does not have it
  const { input, change } = await take(
    joined({ ...timeline([gone, refused, back]), state_after: { events: [back] } }),
  );
  assertEquals(ids(input.state[0]?.events as never), ["$a0", "$a1"]);
  assertEquals(ids(change.rooms[0]?.state as never), ["$a1"]);
});
