import { assert, assertEquals, assertThrows } from "@std/assert";
import { Client, ValueError } from "@greenroom/matrix";
import { RoomCreatePreset, type RoomID, type VerificationRequest } from "@greenroom/matrix/types";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ALICE, BOB, reach, synced } from "./pair.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

const IS_SAME = true;
const KEY = recoveryKeyOf(7);

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

/** A bot, and its owner, whose device is signed. */
async function owned(here: ClientStage): Promise<{ owner: Client; bot: Client }> {
  const owner = await synced(here, "alice", { encryption: { ...EVERYBODY, recoveryKey: KEY } });
  const bot = await synced(here, "bob", {
    encryption: { ...EVERYBODY, verification: { acceptFrom: [ALICE] } },
  });
  return { owner, bot };
}

async function sharedRoom(here: ClientStage, owner: Client, bot: Client): Promise<RoomID> {
  const encryption = { type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } };
  const options = { preset: RoomCreatePreset.PRIVATE, initialState: [encryption] };
  const roomId = await owner.createRoom({ ...options, invitees: [BOB] });
  await bot.joinRoom(roomId);
  await here.settle();
  return roomId;
}

/** What the owner is to say if both show the same. */
function wordOf({ comparison }: VerificationRequest): string {
  return `yes ${comparison?.emoji?.slice(0, 3).map(({ name }) => name).join(" ")}`;
}

/** The same by the symbols, and by what the bot shows, of as many emoji. */
function symbolsOf({ comparison }: VerificationRequest, count = 3): [symbols: string, shown: string] {
  const emoji = comparison?.emoji?.slice(0, count) ?? [];
  const words = [emoji.map(({ symbol }) => symbol), emoji.map(({ symbol, name }) => `${symbol} ${name}`)];
  const [symbols = "", shown = ""] = words.map((each) => `yes ${each.join(" ")}`);
  return [symbols, shown];
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
  const { owner, bot } = await owned(here);
  const planted = await synced(here, "alice", { deviceId: "PLANTED" }); // not signed by Alice
  const roomId = await sharedRoom(here, owner, bot);
  const [said, got] = [heard(owner), heard(bot)];
  const mine = await comparing(here, owner, roomId);
  const shown = mine.comparison?.emoji?.map(({ symbol, name }) => `${symbol} ${name}`).join("  ");
  const word = wordOf(mine);
  await here.until(() =>
    said.includes(`I see ${shown}. If your device shows the same, say: ${word}. If not, say: no`)
  );
  await mine.confirm();
  await planted.sendText(roomId, word);
  await here.until(() => got.includes(word));
  await here.settle();
  assertEquals(mine.phase, "confirmed");
  await owner.sendText(roomId, ` ${word.toUpperCase()} `);
  await reach(here, "done", mine);
  assert((await mine.done).isDeviceVerified);
});

Deno.test("T46: the word of another user, whose device is signed as well, confirms nothing", async () => {
  await using here = clientStage();
  const { owner, bot } = await owned(here);
  const other = await synced(here, "carol", { encryption: { ...EVERYBODY, recoveryKey: KEY } });
  const roomId = await sharedRoom(here, owner, bot);
  await owner.inviteUser(roomId, "@carol:localhost");
  await other.joinRoom(roomId);
  await here.settle();
  const [said, got] = [heard(owner), heard(bot)];
  const mine = await comparing(here, owner, roomId);
  await here.until(() => said.some((text) => text.startsWith("I see")));
  await mine.confirm();
  const word = wordOf(mine);
  await other.sendText(roomId, word);
  await here.until(() => got.includes(word));
  await here.settle();
  assertEquals(mine.phase, "confirmed");
});

Deno.test("A bot takes the emoji themselves for their names, as another keyboard writes them, too", async () => {
  for (
    const [form, write] of [[0, (text: string) => text], [
      1,
      (text: string) => text.replaceAll("\uFE0F", ""),
    ]] as const
  ) {
    await using here = clientStage();
    const { owner, bot } = await owned(here);
    const roomId = await sharedRoom(here, owner, bot);
    const said = heard(owner);
    const mine = await comparing(here, owner, roomId);
    await here.until(() => said.some((text) => text.startsWith("I see")));
    await mine.confirm();
    await owner.sendText(roomId, write(symbolsOf(mine)[form]));
    await reach(here, "done", mine);
  }
});

Deno.test("T46: a word that the owner has said of other emoji, or of nothing, confirms nothing", async () => {
  await using here = clientStage();
  const { owner, bot } = await owned(here);
  const roomId = await sharedRoom(here, owner, bot);
  const [said, got] = [heard(owner), heard(bot)];
  const first = await comparing(here, owner, roomId);
  await first.cancel();
  const mine = await comparing(here, owner, roomId);
  await here.until(() => said.filter((text) => text.startsWith("I see")).length === 2);
  await mine.confirm();
  const others = [
    wordOf(first),
    ...symbolsOf(first),
    ...symbolsOf(mine, 2),
    "yes Dog Dog Dog",
    "yes 🐶 🐶 🐶",
  ];
  for (const word of ["yes", "ok", `${wordOf(mine)} and more`, ...others]) {
    await owner.sendText(roomId, word); // as if a server had held it back until now
    await here.until(() => got.includes(word));
  }
  await here.settle();
  assertEquals([mine.phase, said.filter((text) => text === `Please say: ${wordOf(mine)}`).length], [
    "confirmed",
    1,
  ]);
  await owner.sendText(roomId, wordOf(mine));
  await reach(here, "done", mine);
});

Deno.test("A bot leaves what its owner has given up for the owner's next try, and no owner waits for another", async () => {
  await using here = clientStage();
  const owner = await synced(here, "alice", { encryption: { ...EVERYBODY, recoveryKey: KEY } });
  const other = await synced(here, "carol", { encryption: { ...EVERYBODY, recoveryKey: KEY } });
  const looked: ((isSame: boolean) => void)[] = [];
  const confirm = () => new Promise<boolean>((resolve) => looked.push(resolve));
  const acceptFrom = [ALICE, "@carol:localhost"] as const;
  await synced(here, "bob", { encryption: { ...EVERYBODY, verification: { acceptFrom, confirm } } });
  const first = await comparing(here, owner);
  const second = await comparing(here, other);
  const third = await comparing(here, owner);
  await reach(here, "cancelled", first);
  await here.until(() => looked.length === 3);
  for (const request of [second, third]) await request.confirm();
  looked[2]?.(IS_SAME);
  looked[1]?.(IS_SAME);
  await reach(here, "done", second, third);
});

Deno.test("A bot calls it off if its owner says no, and goes on with the next", async () => {
  await using here = clientStage();
  const { owner, bot } = await owned(here);
  const roomId = await sharedRoom(here, owner, bot);
  const said = heard(owner);
  for (let time = 1; time <= 2; time++) {
    const mine = await comparing(here, owner, roomId);
    await here.until(() => said.filter((text) => text.startsWith("I see")).length === time);
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

Deno.test("The own account is no owner without confirm(): its word could never count", async () => {
  const options = { mxid: BOB, baseUrl: "https://example.org" } as const;
  const verification = { acceptFrom: [ALICE, BOB] } as const;
  assertThrows(
    () => new Client({ ...options, encryption: { verification } }),
    ValueError,
    "give it confirm too",
  );
  await using client = new Client({
    ...options,
    encryption: { verification: { ...verification, confirm: () => true } },
  });
  assert(client.crypto !== undefined);

  await using here = clientStage();
  await synced(here, "bob", { encryption: { verification } }); // it is not known whose it is when it is made
  const element = await synced(here, "bob", { deviceId: "ELEMENT" });
  const request = await element.crypto?.requestVerification(BOB);
  await here.until(() => request?.phase === "cancelled");
  assert(
    here.log.lines.some(([, message]) =>
      message.startsWith("No word of an owner would count: the own account")
    ),
  );
});

Deno.test("T46: of an owner whose identity was reset no word counts before the identity is accepted", async () => {
  await using here = clientStage();
  const { owner, bot } = await owned(here);
  const roomId = await sharedRoom(here, owner, bot);
  const first = await bot.crypto?.getIdentity(ALICE);
  const reset = { recoveryKey: KEY, password: "password of alice", confirm: () => true };
  await owner.crypto?.resetIdentity(reset);
  await here.settle();
  const second = await bot.crypto?.getIdentity(ALICE);
  assert(second !== undefined && second.master !== first?.master);
  assertEquals([first?.wasReset, second.wasReset, second.hasChanged], [false, true, false]);
  const refused = await owner.crypto?.requestVerification({ userId: BOB, roomId });
  await here.until(() => refused?.phase === "cancelled");

  await bot.crypto?.acknowledgeIdentity(second);
  assert((await bot.crypto?.getIdentity(ALICE))?.wasReset === false);
  const mine = await comparing(here, owner, roomId);
  await mine.confirm();
  await owner.sendText(roomId, wordOf(mine));
  await reach(here, "done", mine);
});

Deno.test("T46: an owner's word does not count if the identity was reset since the beginning", async () => {
  await using here = clientStage();
  const { owner, bot } = await owned(here);
  const roomId = await sharedRoom(here, owner, bot);
  assert(await bot.crypto?.getIdentity(ALICE));
  const mine = await comparing(here, owner, roomId);
  await owner.crypto?.resetIdentity({ recoveryKey: KEY, password: "password of alice", confirm: () => true });
  await here.settle();
  await owner.sendText(roomId, wordOf(mine));
  await reach(here, "cancelled", mine);
});
