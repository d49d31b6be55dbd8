import { assert, assertEquals, assertThrows } from "@std/assert";
import { Client, ValueError } from "@greenroom/matrix";
import { RoomCreatePreset, type RoomID, type VerificationRequest } from "@greenroom/matrix/types";
import { encodeRecoveryKey } from "../../../src/crypto/secrets/recovery_key.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { ALICE, BOB, reach, synced } from "./pair.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const KEY = encodeRecoveryKey(new Uint8Array(32).fill(7));

/** The owner asks, and comes as far as comparing: the bot does its part alone. */
async function comparing(here: ClientStage, owner: Client, roomId?: RoomID): Promise<VerificationRequest> {
  let asked: VerificationRequest | undefined;
  const peer = roomId === undefined ? BOB : { userId: BOB, roomId } as const;
  owner.crypto?.requestVerification(peer).then((request) => asked = request);
  await here.until(() => asked !== undefined);
  assert(asked !== undefined);
  await reach(here, "comparing", asked);
  return asked;
}

async function sharedRoom(here: ClientStage, owner: Client, bot: Client): Promise<RoomID> {
  const encryption = { type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } };
  const options = { preset: RoomCreatePreset.PRIVATE, initialState: [encryption] };
  const roomId = await owner.createRoom({ ...options, invitees: [BOB] });
  await bot.joinRoom(roomId);
  await here.settle();
  return roomId;
}

/** What is said in a room, as a client reads it. */
function heard(client: Client): string[] {
  const said: string[] = [];
  client.on("m.room.message", ({ content }) => said.push(content.body));
  return said;
}

Deno.test("A bot verifies with its owner by what confirm() says", async () => {
  for (const isSame of [true, false]) {
    await using here = clientStage();
    const owner = await synced(here, "alice");
    const [asked, looked] = [[] as unknown[], Promise.withResolvers<boolean>()];
    const confirm = (request: VerificationRequest, comparison: object) => {
      asked.push([request.userId, comparison]);
      return looked.promise;
    };
    await synced(here, "bob", { encryption: { verification: { acceptFrom: [ALICE], confirm } } });
    const mine = await comparing(here, owner);
    await here.until(() => asked.length === 1);
    assertEquals(asked, [[ALICE, mine.comparison]]);
    if (isSame) await mine.confirm();
    looked.resolve(isSame);
    await reach(here, isSame ? "done" : "cancelled", mine);
    assertEquals(mine.cancellation?.code, isSame ? undefined : "m.mismatched_sas");
  }
});

Deno.test("A bot takes the word of its owner's signed device in a room, and no other", async () => {
  await using here = clientStage();
  const owner = await synced(here, "alice", { encryption: { ...EVERYBODY, recoveryKey: KEY } });
  const bot = await synced(here, "bob", {
    encryption: { ...EVERYBODY, verification: { acceptFrom: [ALICE] } },
  });
  const planted = await synced(here, "alice", { deviceId: "PLANTED" }); // not signed by Alice
  const roomId = await sharedRoom(here, owner, bot);
  const [said, got] = [heard(owner), heard(bot)];
  const mine = await comparing(here, owner, roomId);
  const shown = mine.comparison?.emoji?.map(({ symbol, name }) => `${symbol} ${name}`).join("  ");
  await here.until(() => said.includes(`I see ${shown}. Is it the same? (yes/no)`));
  await mine.confirm();
  await planted.sendText(roomId, "yes");
  await here.until(() => got.includes("yes"));
  await here.settle();
  assertEquals(mine.phase, "confirmed");
  await owner.sendText(roomId, " Yes ");
  await reach(here, "done", mine);
  assert((await mine.done).device);
});

Deno.test("A bot calls it off if its owner says no, and goes on with the next", async () => {
  await using here = clientStage();
  const owner = await synced(here, "alice", { encryption: { ...EVERYBODY, recoveryKey: KEY } });
  const bot = await synced(here, "bob", {
    encryption: { ...EVERYBODY, verification: { acceptFrom: [ALICE] } },
  });
  const roomId = await sharedRoom(here, owner, bot);
  const said = heard(owner);
  for (let time = 1; time <= 2; time++) {
    const mine = await comparing(here, owner, roomId);
    await here.until(() => said.filter((text) => text.includes("Is it the same?")).length === time);
    await owner.sendText(roomId, "no");
    await reach(here, "cancelled", mine);
    assertEquals(mine.cancellation?.code, "m.mismatched_sas");
  }
});

Deno.test("A bot leaves the requests of others alone", async () => {
  await using here = clientStage();
  const other = await synced(here, "alice");
  const bot = await synced(here, "bob", {
    encryption: { verification: { acceptFrom: ["@owner:localhost"] } },
  });
  const mine = await other.crypto?.requestVerification(BOB);
  await here.settle();
  assertEquals([mine?.phase, bot.crypto !== undefined], ["requested", true]);
});

Deno.test("Owners must be user IDs", () => {
  const encryption = { verification: { acceptFrom: ["owner" as never] } };
  assertThrows(
    () => new Client({ baseUrl: "https://example.org", encryption }),
    ValueError,
    "must be a user ID",
  );
});
