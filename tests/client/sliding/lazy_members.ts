/**
 * A bot that loads members lazily, and changes how it syncs, in a room where people come and go unseen.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { type Client, type ClientOptions, MemoryStore } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import { EVERYBODY } from "../../support/everybody.ts";

/** A way to sync, with the members that come. */
export type MemberWay = readonly [sync: "classic" | "sliding", members: "all" | "lazy"];

/** Makes clients of users. */
export interface LazyStage {
  /** The way to the homeserver. */
  readonly fetch: typeof globalThis.fetch;
  /** The ID of a user, who is made if there is none of the name. */
  idOf(name: string): Promise<UserID>;
  /** Another client of the same device. */
  client(name: string, options: Partial<ClientOptions>): Promise<Client>;
}

const ENCRYPTED = {
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
};
/** More than a timeline has. */
const LINES = 15;
/** State with a handler, state that changes, and state that never does. */
const [HANDLED, OTHER, SILENT] = ["com.example.handled", "com.example.other", "com.example.silent"] as const;

/**
 * With each way, after somebody has come or gone behind a gap, the bot says something: all who are there
 * read it, and nobody else gets a key.
 *
 * @param fillGaps Whether the bot reads what the gap left out.
 */
export async function keepsMembers(
  stage: LazyStage,
  ways: readonly MemberWay[],
  { fillGaps }: { readonly fillGaps: boolean },
): Promise<void> {
  const [bot, bob] = [await stage.idOf("bot"), await stage.idOf("bob")];
  const heard = new Map<string, string[]>();
  const person = async (name: string): Promise<Client> => {
    const made = await stage.client(name, { encryption: EVERYBODY, store: new MemoryStore() });
    const texts: string[] = [];
    heard.set(await stage.idOf(name), texts);
    made.on("m.room.message", ({ content }) => void texts.push(content.body));
    await made.syncOnce();
    return made;
  };
  await using alice = await person("alice");
  const others = new Map<string, Client>();
  await using resources = new AsyncDisposableStack();
  for (const name of ["bob", "carol", "dave"]) {
    others.set(await stage.idOf(name), resources.use(await person(name)));
  }
  const room = await alice.createRoom({
    invitees: [bot, bob],
    initialState: [
      ENCRYPTED,
      { type: HANDLED, state_key: "key", content: { n: 1 } },
      { type: OTHER, state_key: "", content: { n: 0 } },
      { type: SILENT, state_key: "", content: { n: 1 } },
    ],
  });
  await others.get(bob)?.joinRoom(room);
  const store = new MemoryStore();
  const members = new Set<string>([await stage.idOf("alice"), bob]);
  const reached = new Set<string>();
  const recording: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.url.includes("/sendToDevice/m.room.encrypted/")) {
      for (const id of Object.keys((await request.clone().json()).messages)) reached.add(id);
    }
    return await stage.fetch(request);
  };
  const talk = async (): Promise<void> => {
    for (let line = 0; line < LINES; line++) {
      await alice.sendMessage(room, { msgtype: "m.text", body: `${line}` });
    }
  };
  await talk();
  const turns = [...others];
  let count = 0;
  /** Somebody comes or goes, and more is said than a timeline has. */
  const change = async (): Promise<void> => {
    const [id, client] = turns[count++ % turns.length] as [UserID, Client];
    if (members.delete(id)) await client.leaveRoom(room);
    else {
      await alice.inviteUser(room, id);
      await client.joinRoom(room);
      members.add(id);
    }
    await talk();
    await alice.sendStateEvent(room, OTHER, { n: count });
  };
  const check = async (made: Client, text: string): Promise<void> => {
    const { stateStore } = made;
    const contents = [[HANDLED, "key"], [OTHER, ""], [ENCRYPTED.type, ""]].map(async ([type = "", key]) =>
      (await stateStore.getState(room, type, key))?.content
    );
    assertEquals(await Promise.all(contents), [{ n: 1 }, { n: count }, ENCRYPTED.content], text);
    await made.sendText(room, text);
    assertEquals([...reached].filter((id) => !members.has(id)), [], text);
    reached.clear();
    await alice.syncOnce();
    for (const each of others.values()) await each.syncOnce();
    for (const [id, texts] of heard) assertEquals(texts.includes(text), members.has(id), `${id}, ${text}`);
  };
  let hasAll = false;
  for (const [sync, which] of ways) {
    hasAll ||= sync === "classic" || which === "all";
    const settings = { fillGaps, lazyLoadMembers: which === "lazy" };
    const options = { store, sync, encryption: EVERYBODY, log: false, fetch: recording } as const;
    await using made = await stage.client("bot", options);
    made.on(HANDLED, () => {});
    if (count === 0) {
      await made.joinRoom(room);
      await made.syncOnce(settings);
    }
    for (let turn = 0; turn < 3; turn++) {
      await change();
      await made.syncOnce(settings);
      await check(made, `${count}: ${sync} ${which}`);
      // What once came is there whichever way comes behind it.
      if (hasAll) assertEquals((await made.stateStore.getState(room, SILENT))?.content, { n: 1 }, `${count}`);
    }
  }
}
