/** A member for whom the server shows more devices than any user has. */

import { assert, assertEquals } from "@std/assert";
import { FakeUser, queryResponse } from "../../crypto/support/fake_user.ts";
import { isJsonObject } from "../../../src/types/json.ts";
import { twoInARoom } from "../support/encrypted_room.ts";
import { clientStage } from "../support/stage.ts";

const ALICE = "@alice:localhost";

Deno.test("Of a member with 2,000 devices the second thousand gets nothing, which is said", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const alarms: unknown[] = [];
  bob.on("DEVICE_ALARM", ({ alarm }) => void alarms.push(alarm));
  const flood = new FakeUser(ALICE, ...Array.from({ length: 1_999 }, (_, index) => `D${index}`));
  const { device_keys } = queryResponse(flood);
  const [known] = await bob.crypto?.getDevices(ALICE) ?? [];
  const answer = await bob.queryKeys({ [ALICE]: [] }) as unknown as { device_keys: typeof device_keys };
  stage.homeserver.faults.add({
    kind: "body",
    match: { path: "/keys/query", user: "@bob:localhost" },
    body: { device_keys: { [ALICE]: { ...device_keys[ALICE], ...answer.device_keys[ALICE] } } },
  });
  await bob.handleSync({ next_batch: "s", device_lists: { changed: [ALICE] } } as never);
  await bob.sendText(roomId, "Hello");
  await stage.settle();
  assertEquals(alarms, [{ kind: "too-many-devices", userId: ALICE, count: 2_000 }]);
  assertEquals((await bob.crypto?.getDevices(ALICE))?.length, 1_000);
  const told = stage.homeserver.requests.filter("PUT", "/sendToDevice/").flatMap(({ json, path }) => {
    const messages = isJsonObject(json) && isJsonObject(json.messages) ? json.messages[ALICE] : {};
    return Object.keys(messages ?? {}).map((deviceId) =>
      `${path.includes("withheld") ? "withheld" : "key"} ${deviceId}`
    );
  });
  assert(told.includes(`key ${known?.deviceId}`), "the known device gets its key");
  assertEquals(
    new Set(told.map((each) => each.split(" ")[1])).size,
    1_000,
    "the others get not even a notice",
  );
  assertEquals(
    stage.log.lines.filter(([level, text]) => level === "warn" && text.includes("keys are not what")).length,
    1,
  );
  await alice.close();
});
