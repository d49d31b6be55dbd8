import { assertEquals, assertRejects } from "@std/assert";
import { EncryptionError } from "@greenroom/matrix";
import { begin, ENCRYPTED } from "../support/encrypted_room.ts";
import { clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

for (const path of ["/keys/claim", "/keys/query"]) {
  Deno.test(`A message is not sent without keys because ${path} failed a moment ago`, async () => {
    await using stage = clientStage();
    let isDown = false;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      return isDown && new URL(request.url).pathname.endsWith(path)
        ? Response.json({ errcode: "M_UNKNOWN" }, { status: 500 })
        : await stage.homeserver.fetch(request);
    };
    const alice = stage.client("alice", { encryption: EVERYBODY, fetch });
    const bob = stage.client("bob", { encryption: EVERYBODY });
    const texts = heard(bob);
    for (const client of [alice, bob]) await begin(stage, client);
    isDown = true;
    const roomId = await alice.createRoom({
      invitees: ["@bob:localhost"],
      initialState: ENCRYPTED,
    });
    await bob.joinRoom(roomId);
    await stage.settle();
    for (let tries = 0; tries < 3; tries++) {
      await assertRejects(() => alice.sendText(roomId, "too early"), EncryptionError, "try again");
    }
    isDown = false;
    await stage.clock.tick(2_000);
    await alice.sendText(roomId, "in time");
    await stage.until(() => texts.length > 0);
    assertEquals(texts, ["in time"]);
  });
}
