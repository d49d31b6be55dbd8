/**
 * What tests of bots and clients import: a Matrix homeserver inside the test's own process.
 *
 * {@link Homeserver} is a homeserver with users, rooms, real membership and power-level rules,
 * incremental sync with long polls, media, and the server's part of end-to-end encryption. It runs
 * without network and permission: hand its {@link Homeserver.fetch} to a client. It answers as
 * Synapse does; the tests of Greenroom itself run against both.
 *
 * {@link storeConformance} defines the tests that every store of one's own must pass,
 * {@link storeProcessConformance} those that take other processes.
 *
 * Three things make tests of what goes wrong short:
 * - {@link TestClock} stands still until the test moves it, so that a long poll of 30 s takes no
 *   time;
 * - {@link sequentialIds} makes identifiers the same in every run;
 * - {@link Homeserver.faults} drops, delays, duplicates, truncates and refuses requests.
 *
 * @example A bot's test, from the homeserver's side
 * ```ts
 * import { Homeserver } from "@greenroom/matrix/testing";
 * import { assertEquals } from "@std/assert";
 *
 * await using homeserver = new Homeserver();
 * const alice = homeserver.createUser("alice");
 *
 * // Whatever is handed `homeserver.fetch` talks to this homeserver. Here we do it by hand:
 * const call = async (method: string, path: string, body: unknown) => {
 *   const response = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/v3${path}`, {
 *     method,
 *     headers: { authorization: `Bearer ${alice.accessToken}` },
 *     body: JSON.stringify(body),
 *   });
 *   return await response.json();
 * };
 * const { room_id } = await call("POST", "/createRoom", { name: "Green room" });
 * await call("PUT", `/rooms/${room_id}/send/m.room.message/1`, { msgtype: "m.text", body: "Hello" });
 *
 * const room = homeserver.room(room_id);
 * assertEquals(room.state("m.room.name"), { name: "Green room" });
 * assertEquals(room.messages.map(({ content }) => content.body), ["Hello"]);
 * assertEquals(homeserver.requests.length, 2);
 * ```
 *
 * @example A fault
 * ```ts
 * import { Homeserver } from "@greenroom/matrix/testing";
 * import { assertEquals } from "@std/assert";
 *
 * await using homeserver = new Homeserver();
 * using fault = homeserver.faults.add({ kind: "status", status: 502, match: { path: "/versions" }, times: 1 });
 * const versions = `${homeserver.baseUrl}/_matrix/client/versions`;
 * assertEquals((await homeserver.fetch(versions)).status, 502);
 * assertEquals((await homeserver.fetch(versions)).status, 200);
 * assertEquals(fault.hits, 1);
 * ```
 *
 * What differs from Synapse: there is no federation, there are no guests, thumbnails are the
 * original file, presence does not time out by itself, and the search finds words without stemming.
 *
 * @module
 */

import { callSite, endOwnCode } from "../base/own_code.ts"; // first: bundles begin with it

export type { Clock } from "../base/clock.ts";
export type { DeviceID, EventID, RoomID, UserID } from "../types/ids.ts";
export type {
  Store,
  StoreCheck,
  StoreEntry,
  StoreKey,
  StoreListOptions,
  StoreLock,
  StoreMutation,
} from "../../mod.ts";
export type { JsonObject } from "../types/json.ts";
export type {
  BodyFault,
  DelayFault,
  DropFault,
  DuplicateFault,
  Fault,
  FaultEffect,
  FaultMatch,
  FaultRule,
  Faults,
  HoldFault,
  HtmlFault,
  RedirectFault,
  StatusFault,
  TruncateFault,
} from "./faults.ts";
export type { CreateUserOptions } from "./create_user.ts";
export { Homeserver, type ListenOptions } from "./homeserver.ts";
export { type CreateTestRoomOptions, TestUser, type TestUserOptions } from "./test_user.ts";
export {
  type AppserviceFetch,
  type HomeserverOptions,
  type HomeserverQuirks,
  type IdGenerator,
  type IdKind,
  randomIds,
  type RateLimit,
  type RateLimits,
  sequentialIds,
  type TestNamespace,
  type TestNamespaces,
  type TestRegistration,
} from "./homeserver_options.ts";
export type {
  AuthorizationServer,
  AuthorizationServerOptions,
  PendingAuthorization,
} from "./authorization_server.ts";
export type { LoggedRequest, RequestLog, RoomView, ViewedEvent } from "./views.ts";
export {
  runStoreJob,
  type SpoiledStore,
  type SpoilOptions,
  type SpoilStore,
  storeConformance,
  type StoreConformanceOptions,
  type StoreJob,
  type StoreProcess,
  storeProcessConformance,
  type StoreProcessConformanceOptions,
} from "./conformance/conformance.ts";
export { BotTester, type TestedBot, type TestedBotOptions } from "./bot_tester.ts";
export { type SayOptions, TestRoom } from "./test_room.ts";
export { ExpectationError, type TestedMessage } from "./views.ts";
export { TestClock } from "./test_clock.ts";

endOwnCode(() => callSite());
