import { assertEquals } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { TestClock } from "@greenroom/matrix/testing";
import type { JsonObject } from "@greenroom/matrix/types";
import { member, message, OWN } from "../../actors/support/events.ts";

const [QUIET, OTHER] = ["!quiet:a", "!other:a"];

/** A server that shows what it is told to, and a user whose processes follow one another. */
class Stage implements AsyncDisposable {
  readonly #store = new MemoryStore();
  #next: JsonObject = {};
  #token = 0;
  #loud = 0;
  #client: Client | undefined;
  #heard: string[] = [];

  /** A response with events of rooms. Returns what is heard of it. */
  async show(texts: readonly string[], ...rooms: readonly string[]): Promise<string[]> {
    const state = { events: [member(OWN, "join")] };
    this.#next = Object.fromEntries(rooms.map((room, index) => {
      const events = texts.map((text) => message(rooms.length === 1 ? text : `${index}${text}`));
      return [room, { timeline: { events }, ...(this.#token === 0 && { state }) }];
    }));
    this.#client ??= this.#begin();
    await this.#client.syncOnce();
    return this.#heard.splice(0);
  }

  /**
   * More of another room than is kept of all together: IDs are as long as they may be, so that it is quick.
   */
  async showMuch(): Promise<void> {
    for (let response = 0; response < 520; response++) {
      const heard = await this.show(
        [`${this.#loud++}`.padStart(250, "x")],
        "!loud1:a",
        "!loud2:a",
        "!loud3:a",
      );
      assertEquals(heard.length, 3);
    }
  }

  async restart(): Promise<void> {
    await this.#client?.close();
    this.#client = undefined;
  }

  #begin(): Client {
    const client = new Client({
      baseUrl: "https://server.example",
      fetch: (...given) => Promise.resolve(Response.json(this.#answer(new URL(new Request(...given).url)))),
      accessToken: "t",
      mxid: OWN,
      clock: new TestClock(),
      store: this.#store,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    client.on("m.room.message", ({ content }) => void this.#heard.push(content.body));
    return client;
  }

  #answer({ pathname }: URL): JsonObject {
    if (!pathname.endsWith("/sync")) return { versions: ["v1.11"], user_id: OWN };
    const join = this.#next;
    this.#next = {};
    return { next_batch: `t${++this.#token}`, rooms: { join } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.restart();
  }
}

for (const since of ["in the very first response", "long ago"]) {
  Deno.test(`What a quiet room showed ${since}, before a restart and much of others, is not heard again`, async () => {
    await using here = new Stage();
    if (since === "long ago") await here.show(["first"], OTHER);
    await here.show(["old0", "old1"], QUIET);
    if (since === "long ago") await here.showMuch();
    await here.show(["old2"], QUIET);
    await here.restart();
    await here.show(["start"], OTHER);
    await here.showMuch();
    await here.restart();
    assertEquals(await here.show(["old1", "new", "old2"], QUIET), ["new"]);
    await here.restart();
    assertEquals(await here.show(["old0", "old1", "new", "old2", "newer"], QUIET), ["newer"]);
  });
}
