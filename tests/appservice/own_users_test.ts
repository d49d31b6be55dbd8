import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { OwnUsers } from "../../src/appservice/own_users.ts";
import { registration } from "./scene.ts";

const users = new OwnUsers({
  ...registration,
  namespaces: {
    users: [{ regex: "@_echo_.*", exclusive: true }, { regex: "@.*:localhost", exclusive: false }],
  },
}, "localhost");

Deno.test("Own users are the sender, and those of exclusive namespaces on this server, matched from the beginning", () => {
  assert(users.isOwn("@echo:localhost") && users.isOwn("@_echo_a:localhost"));
  for (const other of ["@alice:localhost", "@_echo_a:elsewhere", "@x@_echo_a:localhost", "@echo:elsewhere"]) {
    assertEquals([other, users.isOwn(other)], [other, false]);
  }
});

Deno.test("An application service may act as whom a namespace has, exclusive or not", () => {
  assertEquals(users.actable("alice"), "@alice:localhost");
  assertEquals(users.actable("@_echo_a:localhost"), "@_echo_a:localhost");
  assertThrows(() => users.actable("@alice:elsewhere"), ValueError);
});
