import { assertEquals } from "@std/assert";
import * as enums from "../../src/types/enums.ts";
import { InternalEventType } from "../../src/types/events/event_type.ts";
import { SyncStream } from "../../src/types/events/event.ts";
import { readSharedJson, specificationTest } from "./shared_schemas.ts";

/** Every list of values in a schema, each sorted and as text. */
function listsIn(node: unknown, found = new Set<string>()): Set<string> {
  if (typeof node !== "object" || node === null) return found;
  for (const [key, value] of Object.entries(node)) {
    if (key === "enum" && Array.isArray(value)) found.add(value.toSorted().join());
    else listsIn(value, found);
  }
  return found;
}

specificationTest(
  "Named values that the specification lists completely are exactly those of a list there",
  () => {
    const lists = listsIn([readSharedJson("event-schemas.json"), readSharedJson("client-server.json")]);
    const complete = {
      EncryptionAlgorithm: enums.EncryptionAlgorithm,
      GuestAccess: enums.GuestAccess,
      HistoryVisibility: enums.HistoryVisibility,
      JoinRule: enums.JoinRule,
      Membership: enums.Membership,
      PaginationDirection: enums.PaginationDirection,
      PresenceState: enums.PresenceState,
      PushRuleKind: enums.PushRuleKind,
      ReceiptType: enums.ReceiptType,
      ResizeMethod: enums.ResizeMethod,
      RoomCreatePreset: enums.RoomCreatePreset,
      RoomDirectoryVisibility: enums.RoomDirectoryVisibility,
      StateEventFormat: enums.StateEventFormat,
      ThirdPartyMedium: enums.ThirdPartyMedium,
    };
    const missing = Object.entries(complete)
      .filter(([, values]) => !lists.has(Object.values(values).toSorted().join()))
      .map(([name]) => name);
    assertEquals(missing, []);
  },
);

Deno.test("SyncStream has the contract's flags, and no two are the same bit", () => {
  const {
    INTERNAL,
    JOINED_ROOM,
    INVITED_ROOM,
    LEFT_ROOM,
    TIMELINE,
    STATE,
    EPHEMERAL,
    ACCOUNT_DATA,
    TO_DEVICE,
  } = SyncStream;
  assertEquals(
    [INTERNAL, JOINED_ROOM, INVITED_ROOM, LEFT_ROOM, TIMELINE, STATE, EPHEMERAL, ACCOUNT_DATA, TO_DEVICE],
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
  );
  assertEquals(Object.values(SyncStream).reduce((sum, flag) => sum | flag, 0), 8191);
  assertEquals(Object.keys(SyncStream).length, 13);
});

Deno.test("InternalEventType's values are its keys", () => {
  assertEquals(Object.keys(InternalEventType), Object.values(InternalEventType));
});
