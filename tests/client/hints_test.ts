import { assert, assertEquals, assertThrows } from "@std/assert";
import { Client, ValueError } from "@greenroom/matrix";
import { CLIENT_HINTS } from "../../src/client/client_hints.ts";
import { complaintsOf } from "../types/compiler.ts";

const OPTIONS = { baseUrl: "https://matrix.example.org" };

Deno.test("A member that other libraries have says at run time what to write", async () => {
  await using client = new Client(OPTIONS);
  for (const [name, here] of Object.entries(CLIENT_HINTS)) {
    assertThrows(
      () => (client as unknown as Record<string, unknown>)[name],
      ValueError,
      `Cannot read ${name}: a client has no such member; write ${here}`,
    );
  }
});

Deno.test("What a hint says to write is there", async () => {
  await using client = new Client(OPTIONS);
  for (const here of Object.values(CLIENT_HINTS)) {
    for (const [path] of here.matchAll(/(?<=client\.)[\w.]+/g)) {
      const found = path.split(".").reduce(
        (at: unknown, name) => (at as Record<string, unknown>)[name],
        client,
      );
      assert(found !== undefined || path === "crypto", here);
    }
  }
});

Deno.test("Hints are not listed, and give way to a program's own members", async () => {
  await using client = new Client(OPTIONS);
  for (const name in client) if (name in CLIENT_HINTS) throw new Error(`${name} is listed`);
  const mine: Record<string, unknown> = client as never;
  mine.user = "mine";
  assertEquals(mine.user, "mine");
  await using other = new Client(OPTIONS);
  assertThrows(() => (other as unknown as Record<string, unknown>).user, ValueError);
});

Deno.test("The compiler says what to write for a member that other libraries have", async () => {
  const said = await complaintsOf(`
    import { Client } from "@greenroom/matrix";
    const client = new Client({ baseUrl: "https://matrix.example.org" });
    const mxid: string = client.userId;
    client.off("m.room.message", () => {});
    client.startSync();
    client.getRoom("!a:example.org");
    client.invite("!a:example.org", "@a:example.org");
  `);
  for (
    const here of [
      "client.mxid",
      "client.removeEventHandler(type, handler)",
      "client.start()",
      "client.stateStore.getState(roomId)",
      "client.inviteUser(roomId, userId)",
    ]
  ) assert(said.includes(`WriteInstead<"${here}">`), `${here}: ${said}`);
});
