import { assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { type Bridge, bridge } from "../../../examples/bots/bridge/bridge.ts";
import { type Connection, LineWriter, readLine, ToyNetwork } from "../../../examples/bots/bridge/network.ts";
import { clientStage } from "../../client/support/stage.ts";

const BOT = "@toybridge:localhost";

/** Both ends of a connection. */
function connection(): [Connection, Connection] {
  type Bytes = Uint8Array<ArrayBuffer>;
  const [up, down] = [new TransformStream<Bytes, Bytes>(), new TransformStream<Bytes, Bytes>()];
  const ending = new AbortController();
  const close = () => ending.abort();
  const until = { signal: ending.signal };
  return [
    {
      readable: down.readable.pipeThrough(new TransformStream<Bytes, Bytes>(), until),
      writable: up.writable,
      close,
    },
    {
      readable: up.readable.pipeThrough(new TransformStream<Bytes, Bytes>(), until),
      writable: down.writable,
      close,
    },
  ];
}

/** A bridge in one process after the other, its network, and somebody in a room. */
async function scene() {
  const stage = clientStage();
  const { homeserver, clock, log } = stage;
  const { baseUrl, fetch } = homeserver;
  const registration = createRegistration({
    ...{ id: "toy", url: "https://toy.example", serverName: "localhost" },
    ...{ userPrefix: "toy_", senderLocalpart: "toybridge" },
  });
  const [network, store] = [new ToyNetwork(), new MemoryStore()];
  const cut = new Set<() => void>();
  let isAway = false;
  let serve = (end: Connection) => network.serve(end);
  const connect = () => {
    if (isAway) return Promise.reject(new TypeError("Connection refused"));
    const [near, far] = connection();
    serve(far).catch(() => {}); // the connection was cut
    cut.add(near.close);
    return Promise.resolve(near);
  };
  let current:
    | { readonly appservice: Appservice; readonly made: Bridge; readonly running: Promise<void> }
    | undefined;
  homeserver.addAppservice(
    registration,
    async (request) => await current?.appservice.fetch(request) ?? new Response(null, { status: 502 }),
  );
  const here = {
    stage,
    network,
    alice: stage.client("alice"),
    room: "!" as RoomID,
    /** What was said on the network, and by whom. */
    heard: () => network.happenings.map(({ nick, verb, text }) => `${nick} ${verb} ${text}`.trim()),
    /** What ghosts have said in the room. */
    said: () =>
      homeserver.room(here.room).messages.filter(({ sender }) => sender.startsWith("@toy_"))
        .map(({ sender, type, content }) =>
          `${sender} ${type === "m.room.redaction" ? "removes" : content.body}`
        ),
    /** What the bot has said. */
    notices: () =>
      homeserver.room(here.room).messages.filter(({ sender }) => sender === BOT).map(({ content }) =>
        content.body
      ),
    /** How much is to be said on the network. */
    async unsaid() {
      const entries = await Array.fromAsync(store.list([]));
      return entries.filter(({ key }) => key.includes("bridge.unsaid")).length;
    },
    /** How often ghosts were to say something. */
    sends: () =>
      homeserver.requests.filter("PUT", "/send/").filter(({ query }) => query.has("user_id")).length,
    /** Takes connections again. */
    back: () => isAway = false,
    /** Cuts all connections, and refuses others. */
    away() {
      isAway = true;
      for (const close of cut) close();
      cut.clear();
    },
    /** Has others serve the connections from now on. */
    serve(other: (end: Connection) => Promise<void>) {
      serve = other;
    },
    async begin() {
      const options = { registration, serverName: "localhost", baseUrl, fetch, clock, log, store };
      const appservice = new Appservice(options);
      const made = bridge(appservice, connect);
      current = { appservice, made, running: made.start({ signals: false }) };
      await stage.settle();
    },
    async end() {
      const { appservice, running } = current ?? {};
      current = undefined;
      let isOver = false;
      Promise.all([appservice?.close(), running]).finally(() => isOver = true);
      while (!isOver) await clock.tick(1_000);
    },
    /** Lets time pass, in which connections are tried again. */
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        await clock.tick(1_000);
        await stage.settle();
      }
    },
    async [Symbol.asyncDispose]() {
      await here.end();
      await stage[Symbol.asyncDispose]();
    },
  };
  await here.begin();
  return here;
}

/** Makes a room with the bot, and bridges it. */
async function bridged(here: Awaited<ReturnType<typeof scene>>, channel = "lobby"): Promise<Client> {
  const { alice, stage } = here;
  here.room = await alice.createRoom({ preset: "private_chat", invitees: [BOT] });
  await stage.until(() => stage.homeserver.room(here.room).membership(BOT) === "join");
  await stage.settle();
  await alice.sendText(here.room, `!bridge ${channel}`);
  await stage.until(() => here.notices().length === 1);
  await stage.settle();
  return alice;
}

Deno.test("The bridge takes messages, edits, removals, joins and names both ways, and nothing comes back", async () => {
  await using here = await scene();
  const { network, stage } = here;
  network.do("carl", "SAY", "lobby", { text: "before the bridge" });
  const alice = await bridged(here);
  assertEquals(here.notices(), ["This room is bridged to lobby now."]);
  network.do("Bob Ä", "JOIN", "lobby");
  const ghost = "@toy_=42ob=20=c3=84:localhost";
  await stage.until(() => stage.homeserver.room(here.room).membership(ghost) === "join");
  assertEquals(await alice.getDisplayname(ghost), "Bob Ä");
  const { id } = network.do("Bob Ä", "SAY", "lobby", { text: "Hello\nthere" });
  network.do("Bob Ä", "SAY", "elsewhere", { text: "not here" });
  await stage.until(() => here.said().length === 1);
  assertEquals(here.said(), [`${ghost} Hello\nthere`]);
  network.do("Bob Ä", "EDIT", "lobby", { id, text: "Hello!" });
  network.do("Bob Ä", "DEL", "lobby", { id });
  await stage.until(() => here.said().length === 3);
  assertEquals(here.said().slice(1), [`${ghost} * Hello!`, `${ghost} removes`]);
  network.do("Bob Ä", "PART", "lobby");
  await stage.until(() => stage.homeserver.room(here.room).membership(ghost) === "leave");

  const before = network.happenings.length;
  await alice.setDisplayname("Alice");
  const said: EventID = await alice.sendText(here.room, "Who is\nthere?");
  await alice.sendMessage(here.room, {
    ...{ msgtype: "m.text", body: "* Who?", "m.new_content": { msgtype: "m.text", body: "Who?" } },
    "m.relates_to": { rel_type: "m.replace", event_id: said },
  });
  await alice.redact(here.room, said);
  await alice.sendMessage(here.room, { msgtype: "m.emote", body: "waves" });
  await stage.until(() => network.happenings.length === before + 4);
  assertEquals(here.heard().slice(before), [
    "Alice[m] SAY Who is\nthere?",
    "Alice[m] EDIT Who?",
    "Alice[m] DEL",
    "Alice[m] SAY * waves",
  ]);
  await here.pass(60);
  assertEquals([network.happenings.length, here.said().length], [before + 4, 3]);
});

Deno.test("What is said while the network, the bridge or the homeserver is away is said later, once and in order", async () => {
  await using here = await scene();
  const { network, stage } = here;
  const alice = await bridged(here);
  here.away();
  for (const text of ["one", "two", "three"]) await alice.sendText(here.room, text);
  await here.pass(10);
  await here.end();
  network.do("bob", "SAY", "lobby", { text: "four" });
  network.do("bob", "SAY", "lobby", { text: "five" });
  await alice.sendText(here.room, "six");
  await here.begin();
  await here.pass(10);
  assertEquals([here.heard().length, here.said()], [2, []]);
  here.back();
  await here.pass(60);
  assertEquals(here.heard().slice(2), ["one", "two", "three", "six"].map((text) => `alice[m] SAY ${text}`));
  assertEquals(here.said(), ["four", "five"].map((text) => `@toy_bob:localhost ${text}`));
  stage.homeserver.faults.add({
    match: { method: "PUT", path: "/send/m.room.message" },
    ...{ kind: "drop-after", times: 8 },
  });
  network.do("bob", "SAY", "lobby", { text: "seven" });
  await here.pass(5);
  await here.end();
  await here.begin();
  await here.pass(180);
  assertEquals(here.said().slice(2), ["@toy_bob:localhost seven"]);
  const sends = here.sends();
  await here.end();
  await here.begin();
  await here.pass(10);
  assertEquals([here.sends(), await here.unsaid()], [sends, 0]); // it went on where it was
});

Deno.test("What the network has taken, though its answer was lost, is not said twice", async () => {
  await using here = await scene();
  const { network } = here;
  const alice = await bridged(here);
  let lost = 0;
  here.serve(({ readable, writable, close }) => {
    const filter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        if (!new TextDecoder().decode(chunk).startsWith("OK")) return controller.enqueue(chunk);
        if (++lost === 3) here.serve((end) => network.serve(end));
        close();
      },
    });
    filter.readable.pipeTo(writable).catch(() => {});
    return network.serve({ readable, writable: filter.writable, close });
  });
  here.away();
  here.back();
  await here.pass(2);
  await alice.sendText(here.room, "once");
  await here.pass(60);
  assertEquals([lost, here.heard()], [3, ["alice[m] SAY once"]]);
});

Deno.test("Lines of the network that are no lines, and lines of any length, change nothing", async () => {
  await using here = await scene();
  const { network, stage } = here;
  await bridged(here);
  const bad = [
    ...["", "x", "1", "HELLO", "OK", "OK nobody", "ERR - no", "9e99 a b SAY lobby c", "1 a b FLY lobby c"],
    ...[
      `${Date.now() * 2} a %ff SAY lobby c`,
      `${Date.now() * 2} a b SAY ${"c".repeat(1_000)} d`,
      "\0\0",
      "a".repeat(1e6),
    ],
  ];
  here.serve(async (end) => {
    end.readable.pipeTo(new WritableStream()).catch(() => {});
    const writer = new LineWriter(end.writable);
    for (const line of bad) await writer.write(line).catch(() => {});
    end.close();
    here.serve((next) => network.serve(next));
  });
  here.away();
  here.back();
  await here.pass(10);
  network.do("n".repeat(1_000), "SAY", "lobby", { text: "x".repeat(100_000) });
  network.do("bob", "SAY", "lobby", { text: "Hello" });
  await stage.until(() => here.said().length > 0);
  assertEquals(here.said(), ["@toy_bob:localhost Hello"]);
  assertEquals(readLine("5 n5 bob SAY lobby a\\nb \\\\n")?.text, "a\nb \\n");
});

Deno.test("Only who moderates a room bridges it, a channel is bridged once, and a room that the bot was thrown out of stops nothing", async () => {
  await using here = await scene();
  const { network, stage } = here;
  const alice = await bridged(here);
  const mallory = stage.client("mallory");
  await alice.inviteUser(here.room, "@mallory:localhost");
  await mallory.joinRoom(here.room);
  await mallory.sendText(here.room, "!unbridge");
  await alice.sendText(here.room, "!bridge other");
  await stage.until(() => here.notices().length === 2);
  assertEquals(here.notices()[1], "This room is bridged to lobby; !unbridge it first.");
  const first = here.room;
  await bridged(here);
  assertEquals(here.notices(), ["Another room is bridged to lobby."]);
  await alice.kickUser(first, BOT);
  network.do("bob", "SAY", "lobby", { text: "to nobody" });
  await here.pass(5);
  await bridged(here);
  assertEquals([here.notices(), here.said()], [["This room is bridged to lobby now."], []]);
  await bridged(here, "stage");
  network.do("bob", "SAY", "stage", { text: "Hello" });
  await stage.until(() => here.said().length === 1);
  await alice.sendText(here.room, "!unbridge");
  await stage.until(() => here.notices().length === 2);
  await stage.settle();
  const before = network.happenings.length;
  await alice.sendText(here.room, "Anybody?");
  network.do("bob", "SAY", "stage", { text: "Hello?" });
  await here.pass(5);
  assertEquals([network.happenings.length, here.said().length], [before + 1, 1]);
});
