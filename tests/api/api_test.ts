import { assertEquals } from "@std/assert";
import type { CoreAPI } from "@greenroom/matrix/types";
import { clientAPI, plainOperations, RAW_NAMES } from "../../src/api/api.ts";
import { scripted } from "../support/scripted_fetch.ts";

const ROOM = "/_matrix/client/v3/rooms/!room";

/** A core in front of another, that notes which of its operations were called. */
function noting(core: CoreAPI, calls: string[]): CoreAPI {
  const note = <Operation extends (...args: never[]) => unknown>(
    name: string,
    operation: Operation,
  ): Operation =>
    ((...args) => {
      calls.push(name);
      return operation(...args);
    }) as Operation;
  return {
    fillMemberEvent: note("fillMemberEvent", core.fillMemberEvent),
    getJoinedMembers: note("getJoinedMembers", core.getJoinedMembers),
    getMembers: note("getMembers", core.getMembers),
    getState: note("getState", core.getState),
    getStateEvent: note("getStateEvent", core.getStateEvent),
    sendMessageEvent: note("sendMessageEvent", core.sendMessageEvent),
    sendStateEvent: note("sendStateEvent", core.sendStateEvent),
  };
}

Deno.test("clientAPI() builds its operations on the decorated core", async () => {
  const sent = { event_id: "$event" };
  const { session } = scripted({
    [`PUT ${ROOM}/state/m.room.member/@alice:example.org`]: sent,
    [`PUT ${ROOM}/state/m.room.member/@bob:b.org`]: sent,
    [`PUT ${ROOM}/send/m.room.message/t1`]: sent,
    [`PUT ${ROOM}/send/m.reaction/t1`]: sent,
    [`PUT ${ROOM}/send/m.sticker/t1`]: sent,
    [`PUT ${ROOM}/redact/$1/t1`]: sent,
    [`GET ${ROOM}/state`]: [],
  });
  const calls: string[] = [];
  const api = clientAPI(session, (core) => noting(core, calls));
  const extraContent = { x: 1 };
  const member = ["fillMemberEvent", "sendStateEvent"];
  const expectations: [() => Promise<unknown>, string[]][] = [
    [() => api.joinRoomById("!room", { extraContent }), member],
    [() => api.leaveRoom("!room", { extraContent }), member],
    [() => api.banUser("!room", "@bob:b.org", { extraContent }), member],
    [() => api.sendMemberEvent("!room", "@bob:b.org", "invite"), member],
    [() => api.sendMessage("!room", { msgtype: "m.text", body: "x" }, { txnId: "t1" }), ["sendMessageEvent"]],
    [() => api.sendText("!room", "x", { txnId: "t1" }), ["sendMessageEvent"]],
    [() => api.sendImage("!room", "mxc://a/b", { txnId: "t1" }), ["sendMessageEvent"]],
    [() => api.sendSticker("!room", "mxc://a/b", {}, { txnId: "t1" }), ["sendMessageEvent"]],
    [() => api.react("!room", "$1", "x", { txnId: "t1" }), ["sendMessageEvent"]],
    [() => api.getState("!room"), ["getState"]],
    // A redaction is never encrypted, and so goes around the core.
    [() => api.redact("!room", "$1", { txnId: "t1" }), []],
  ];
  for (const [run, expected] of expectations) {
    calls.length = 0;
    await run();
    assertEquals(calls, expected);
  }
});

Deno.test("Each operation that a client is said to have can be read", () => {
  const { names } = plainOperations();
  const api = clientAPI(scripted().session) as unknown as Readonly<Record<string, unknown>>;
  assertEquals(names.filter((name) => typeof api[name] !== "function"), []);
  assertEquals(Object.keys(RAW_NAMES).filter((name) => !names.includes(name)), []);
});
