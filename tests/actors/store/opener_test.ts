import { assertEquals, assertRejects } from "@std/assert";
import type { Account } from "../../../src/actors/store/store_access.ts";
import { spawnStore, storeOpener } from "../../../src/actors/store/mod.ts";
import { NetworkError, ValueError } from "@greenroom/matrix/errors";
import { CountingStore } from "../support/counting_store.ts";
import { ROOM } from "../support/events.ts";

type Session = { -readonly [Key in keyof Account]: Account[Key] };

function stage(shared: "shared" | "alone") {
  const kv = new CountingStore();
  const store = spawnStore({ kv });
  const answers: (string[] | Error)[] = [];
  let asked = 0;
  const session: Session = {
    mxid: "",
    deviceId: undefined,
    account() {
      asked++;
      const answer = answers.shift() ?? [session.mxid, session.deviceId ?? ""];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  return {
    kv,
    store,
    session,
    answers,
    asked: () => asked,
    open: storeOpener(store, session, shared === "shared"),
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

Deno.test("storeOpener() opens a shared store once, for the user and the device", async () => {
  await using here = stage("shared");
  here.session.mxid = "@a:a";
  here.session.deviceId = "D";
  await Promise.all([here.open(), here.open()]);
  await here.open();
  await here.store.noEncryption(ROOM);
  assertEquals([here.asked(), here.kv.commits[0]?.[0]?.key], [1, ["@a:a", "D", "room", ROOM]]);
});

Deno.test("storeOpener() makes no request for a store of the application's own", async () => {
  await using here = stage("alone");
  await here.open();
  assertEquals(here.asked(), 0);
});

Deno.test("storeOpener() tries again when it could not find out who acts", async () => {
  await using here = stage("shared");
  here.answers.push(new NetworkError("The connection failed"));
  await assertRejects(() => here.open(), NetworkError);
  await here.open();
  assertEquals(here.asked(), 2);
});

for (const shared of ["shared", "alone"] as const) {
  Deno.test(`storeOpener() refuses another user, and another device, with a store that is ${shared}`, async () => {
    for (const other of [{ mxid: "@b:a" }, { deviceId: "E" }] as const) {
      await using here = stage(shared);
      await here.open();
      Object.assign(here.session, { mxid: "@a:a", deviceId: "D" }); // as it becomes known
      await here.open();
      here.session.deviceId = undefined; // as after a logout
      await here.open();
      Object.assign(here.session, { mxid: "@a:a", deviceId: "D", ...other });
      await assertRejects(() => here.open(), ValueError);
      Object.assign(here.session, { mxid: "@a:a", deviceId: "D" });
      await here.open();
    }
  });
}
