import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { Place, startGreenroom } from "./support/greenroom.ts";

const ENCRYPTION = {
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
};

/** A user in a room with the bot. */
interface Talk extends AsyncDisposable {
  readonly alice: Client;
  readonly roomId: RoomID;
  /** The text of the next message of the bot. */
  next(): Promise<string>;
}

/** A user who talks with the bot in an encrypted room. */
async function talk(place: Place): Promise<Talk> {
  const { accessToken } = place.homeserver.createUser("alice", { displayname: "Alice", password: "alice" });
  const alice = new Client({
    ...{ baseUrl: place.url, accessToken, store: new MemoryStore(), log: false },
    encryption: { sendTo: "cross-signed", accept: "cross-signed", password: "alice", onRecoveryKey() {} },
  });
  const heard: string[] = [];
  let wake = () => {};
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender !== alice.mxid) heard.push(content.body), wake();
  });
  const joined = Promise.withResolvers<void>();
  alice.on("JOIN", ({ sender }) => sender === place.bot.userId && joined.resolve());
  const started = alice.start();
  const roomId = await alice.createRoom({
    ...{ name: "Talk", invitees: [place.bot.userId] },
    initialState: [ENCRYPTION],
  });
  await using bot = new Client({ baseUrl: place.url, accessToken: place.bot.accessToken, log: false });
  await bot.joinRoom(roomId);
  await joined.promise;
  return {
    alice,
    roomId,
    async next() {
      while (heard.length === 0) await new Promise<void>((resolve) => wake = resolve);
      return heard.shift() ?? "";
    },
    async [Symbol.asyncDispose]() {
      await alice.close();
      await started;
    },
  };
}

Deno.test("rooms and members say what there is, as text and as JSON", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await using room = await talk(place);
  const { roomId } = room;
  const text = await place.run(["rooms"]);
  assertEquals([text.code, text.stdout], [0, `${roomId}  encrypted      2  Talk\n`], text.stderr);
  const json = await place.run(["rooms", "--json"]);
  assertEquals(JSON.parse(json.stdout), { roomId, name: "Talk", isEncrypted: true, members: 2 });
  const members = await place.run(["members", roomId, "--json"]);
  const users = members.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(users, [{ userId: room.alice.mxid, displayname: "Alice" }, {
    userId: place.bot.userId,
    displayname: "bot",
  }]);
  const none = await place.run(["members", "Talk"]);
  assertEquals(none.code, 2);
  const unknown = await place.run(["members", "!nowhere:localhost"]);
  assertEquals(unknown.code, 4, unknown.stderr);
});

Deno.test("rooms create makes a room with who is invited, encrypted, and join accepts an invitation", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const { userId, accessToken } = place.homeserver.createUser("alice");
  place.homeserver.createUser("bob");
  const made = await place.run([
    "rooms",
    "create",
    "Stage",
    "--encrypted",
    `--invite=${userId}`,
    "--invite=@bob:localhost",
  ]);
  assertEquals(made.code, 0, made.stderr);
  const room = place.homeserver.room(made.stdout.trim() as RoomID);
  assertEquals([room.membership(userId), room.membership("@bob:localhost")], ["invite", "invite"]);
  const { stdout } = await place.run(["rooms"]);
  assertEquals(stdout, `${made.stdout.trim()}  encrypted      1  Stage\n`);
  await using alice = new Client({ baseUrl: place.url, accessToken, log: false });
  const other = await alice.createRoom({ invite: [place.bot.userId] });
  assertEquals(place.homeserver.room(other).state("m.room.encryption"), undefined);
  const joined = await place.run(["join", other]);
  assertEquals([joined.code, joined.stdout], [0, `${other}\n`], joined.stderr);
  assertEquals(place.homeserver.room(other).membership(place.bot.userId), "join");
  const [nobody, nowhere] = [
    await place.run(["rooms", "create", "--invite=alice"]),
    await place.run(["join", "Stage"]),
  ];
  assertEquals([nobody.code, nowhere.code], [2, 2]);
  assertStringIncludes(nobody.stderr, "user ID like @you:example.org");
});

Deno.test("send encrypts for a room that is encrypted, and says the event's ID", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await using room = await talk(place);
  const sent = await place.run(["send", room.roomId, "Hello"]);
  assertEquals(sent.code, 0, sent.stderr);
  assertMatch(sent.stdout, /^\$\S+\n$/);
  assertEquals(await room.next(), "Hello");
  const piped = await place.run(["send", room.roomId, "--notice"], { input: "from\na pipe\n" });
  assertEquals([piped.code, await room.next()], [0, "from\na pipe"], piped.stderr);
  const dashed = await place.run(["send", room.roomId, "--notice", "--", "-5"]);
  assertEquals([dashed.code, await room.next()], [0, "-5"], dashed.stderr);
  const types = place.homeserver.room(room.roomId).messages.map(({ type }) => type);
  assertEquals(types, Array(3).fill("m.room.encrypted"));
  const empty = await place.run(["send", room.roomId]);
  assertEquals(empty.code, 2);
});

Deno.test("While the bot runs, send says so for an encrypted room, and sends into others", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await using secret = await talk(place);
  const bot = startGreenroom(["run"], { cwd: place.folder });
  const lines = bot.stdout.pipeThrough(new TextDecoderStream()).getReader();
  while (!(await lines.read()).value?.includes("The bot has started"));
  const refused = await place.run(["send", secret.roomId, "Hello"]);
  assertEquals(refused.code, 6);
  assertStringIncludes(refused.stderr, "stop the bot");
  const open = await secret.alice.createRoom({ invitees: [place.bot.userId] });
  while (place.homeserver.room(open).membership(place.bot.userId) !== "join") await secret.alice.whoami();
  const sent = await place.run(["send", open, "Hello"]);
  assertEquals([sent.code, await secret.next()], [0, "Hello"], sent.stderr);
  bot.kill("SIGTERM");
  while (!(await lines.read()).done);
  await Promise.all([bot.stdin.close(), bot.stderr.cancel()]);
  await bot.status;
});

Deno.test("listen prints what is said, decrypted, and nothing that moves a terminal's cursor", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await using room = await talk(place);
  const listener = startGreenroom(["listen", "--json"], { cwd: place.folder });
  const errors = listener.stderr.pipeThrough(new TextDecoderStream()).getReader();
  while (!(await errors.read()).value?.includes("Listening"));
  const lines = listener.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const line = lines.read();
  let count = 0;
  let isHeard = false;
  void line.then(() => isHeard = true);
  while (!isHeard) await room.alice.sendText(room.roomId, `\x1b[2J${count++}`); // until it has begun to sync
  const text = (await line).value ?? "";
  const heard = JSON.parse(text.split("\n")[0] ?? "");
  assertEquals([heard.roomId, heard.sender, heard.type], [room.roomId, room.alice.mxid, "m.room.message"]);
  assert(heard.text.startsWith("\x1b[2J"));
  assert(!text.includes("\x1b"));
  listener.kill("SIGINT");
  await listener.stdin.close();
  // A pipe that is closed ends it otherwise.
  for (const output of [lines, errors]) while (!(await output.read()).done);
  assertEquals((await listener.status).code, 130);
});
