import { assertEquals, assertFalse, assertStrictEquals } from "@std/assert";
import { EncryptionSends } from "../../src/client/encrypting_api.ts";
import {
  MatrixRequestError,
  NetworkError,
  RequestTimeoutError,
  ServiceResponseError,
  ValueError,
} from "@greenroom/matrix/errors";
import { rejectionOf } from "../actors/kernel/support.ts";

const ROOM = "!room:a";

function answered(status: number): MatrixRequestError {
  const init = { operation: "set state", method: "PUT", path: "/state", status, body: {} };
  return new MatrixRequestError(init as never);
}

/** Sends `m.room.encryption` with requests that end as they are told to. */
function stage() {
  const sends = new EncryptionSends();
  const happened: string[] = [];
  return {
    sends,
    happened,
    send: (name: string, answer: () => Promise<string>, signal?: AbortSignal) =>
      sends.run(ROOM, {
        send: () => {
          happened.push(`${name} sent`);
          return answer();
        },
        note: () => Promise.resolve(void happened.push(`${name} noted`)),
        signal,
      }),
    /** Whether what is sent now has to wait. */
    async isHeld(roomId: `!${string}` = ROOM): Promise<boolean> {
      let held = true;
      Promise.resolve(sends.settled(roomId)).then(() => held = false);
      await turns();
      return held;
    },
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

Deno.test("A room that the server has encrypted is noted before the send resolves", async () => {
  const here = stage();
  assertEquals(await here.send("1", () => Promise.resolve("$1")), "$1");
  assertEquals(here.happened, ["1 sent", "1 noted"]);
});

for (
  const [what, error] of [
    ["is answered by 500", answered(500)],
    ["is answered by 502", answered(502)],
    ["is answered by 408", answered(408)],
    ["is answered by 429", answered(429)],
    ["fails to connect", new NetworkError("no route")],
    ["is not answered in time", new RequestTimeoutError("too late")],
    ["is answered by a proxy", new ServiceResponseError("set state")],
  ] as const
) {
  Deno.test(`A room is taken for encrypted if the send that encrypts it ${what}: it may have arrived`, async () => {
    const here = stage();
    assertStrictEquals(await rejectionOf(here.send("1", () => Promise.reject(error))), error);
    assertEquals(here.happened, ["1 sent", "1 noted"]);
  });
}

for (
  const [what, error] of [
    ["the server refuses with 400", answered(400)],
    ["the server refuses with 403", answered(403)],
    ["the server refuses with 499", answered(499)],
    ["its content can't be sent", new ValueError("no content")],
  ] as const
) {
  Deno.test(`A room stays as it was if ${what} when it is to be encrypted`, async () => {
    const here = stage();
    assertStrictEquals(await rejectionOf(here.send("1", () => Promise.reject(error))), error);
    assertEquals(here.happened, ["1 sent"]);
  });
}

Deno.test("A send that is given up before it begins encrypts nothing; one that was under way may have", async () => {
  const here = stage();
  const giveUp = new AbortController();
  const underway = here.send("1", () => {
    giveUp.abort();
    return Promise.reject(giveUp.signal.reason);
  }, giveUp.signal);
  assertStrictEquals(await rejectionOf(underway), giveUp.signal.reason);
  const late = here.send("2", () => Promise.resolve("$2"), giveUp.signal);
  assertStrictEquals(await rejectionOf(late), giveUp.signal.reason);
  assertEquals(here.happened, ["1 sent", "1 noted"]);
});

Deno.test("A room is held until all sends that encrypt it have ended, whichever ends first, and no other room is", async () => {
  for (const order of [[0, 1, 2], [2, 1, 0], [1, 0, 2]]) {
    const here = stage();
    const answers = order.map(() => Promise.withResolvers<string>());
    const sends = answers.map(({ promise }, index) => here.send(`${index}`, () => promise));
    for (const index of order) {
      assertEquals([await here.isHeld(), await here.isHeld("!other:a")], [true, false]);
      answers[index]?.resolve("$1");
    }
    await Promise.all(sends);
    assertFalse(await here.isHeld());
  }
});
