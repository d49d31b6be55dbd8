import { assertEquals } from "@std/assert";
import { MemoryRoomState } from "../../../src/actors/store/room_state.ts";
import { RedactableState } from "../../../src/actors/store/redactable_state.ts";
import type { RoomID, StoredState } from "@greenroom/matrix/types";
import { grownBy } from "../../support/growth.ts";
import { message, state } from "../support/events.ts";

const ROOM = "!room:example.org" as RoomID;

Deno.test("What is remembered to redact state does not grow with how often the state is replaced", async () => {
  const redactable = new RedactableState(new MemoryRoomState());
  let count = 0;
  const replace = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) {
      const topic = { ...state("m.room.topic", { topic: `${count}` }), event_id: `$topic${count}` };
      redactable.set(ROOM, [topic as unknown as StoredState], []);
      const redaction = message("why", {
        type: "m.room.redaction",
        redacts: `$topic${count++}`,
        content: {},
      });
      const change = { roomId: ROOM, state: [], redactions: [redaction] } as unknown as Change;
      await redactable.redact(change, "stored", []);
      const [found] = await redactable.stored.getMany([{ roomId: ROOM, type: "m.room.topic", stateKey: "" }]);
      assertEquals(found?.content, {});
    }
  };
  await replace(100);
  assertEquals(await grownBy(() => replace(3_000), 1_500), []);
});

type Change = Parameters<RedactableState["redact"]>[0];
