/**
 * Over 300 lines because it is one table: of all that takes options.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import {
  Client,
  consoleLogger,
  defineEvent,
  defineSession,
  exportDevice,
  HTTPAPI,
  importDevice,
  inspectDevice,
  listDevices,
  matrixToUrl,
  MemoryStore,
} from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import * as kit from "@greenroom/matrix/bot";
import {
  getAuthMetadata,
  getSsoRedirectUrl,
  loginByAuthorizationCode,
  loginByDeviceCode,
  loginBySso,
  OAuthSession,
} from "@greenroom/matrix/oauth";
import { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { BotTester, Homeserver, storeConformance, storeProcessConformance } from "@greenroom/matrix/testing";
import { recordTrace, replayTrace } from "@greenroom/matrix/trace";
import { clientAPI } from "../../src/api/api.ts";
import { BEGIN } from "../../src/oauth/session.ts";
import { LiveVerification } from "../../src/encryption/verification/live_verification.ts";
import { optionTakers } from "../../tools/docs/option_takers.ts";
import { OPERATIONS, wantsPassword } from "../api/operations.ts";
import { scripted, untilSettled } from "../support/scripted_fetch.ts";

// As JavaScript, JSON and casts let pass.
// deno-lint-ignore no-explicit-any
type Any = any;
const NAME = "zzUnknown";
const X: Any = { [NAME]: 1 };
const REFUSED = /^Cannot .*: there is no option ([a-z]+\.)*zzUnknown; leave it out$/i;

/** What takes options and leaves the names to the types, with the reason. */
const BY_TYPE_ALONE = [
  "Clock.delay", // programs make clocks and stores of their own; a refusal would be theirs to write
  "TestClock.delay",
  "Store.list",
  "MemoryStore.list",
  "SealedStore.list",
  "KvStore.list",
  "SqliteStore.list",
  "IndexedDbStore.list",
  "BotHost.start", // what a bot of another kind has, to be run and tried
  "TestedBot.start",
  "StateStore.setMembers", // what the client itself does with answers
  "StateStore.updateContent", // which state, and no options
  "FillMemberEventAPI.fillMemberEvent", // asks nobody
  "new OAuthSession", // made by a login, which is below
  "OAuthSession.[BEGIN]",
  "HTTPAPI.[CALL]", // what is inside operations, which are below
  "HTTPAPI.[DOWNLOAD]",
  "new SynapseAdmin", // takes a client
  "new UserAdmin",
  "new LoggedRequest", // made by the homeserver, the bot and the tester
  "new RoomContext",
  "new TestRoom",
  "new BotTester", // takes a function, whose options it makes
  "BotTester.create",
  "ContextMedia.download", // `Context.download`, which is below
  "HomeserverOptions.pushFetch", // the web's own
];

async function refusal(call: () => unknown): Promise<string> {
  try {
    const called: Any = call();
    await (typeof called?.next === "function" ? called.next() : called);
    return "not refused";
  } catch (error) {
    return `${(error as Error).name} ${(error as Error).message}`;
  }
}

function assertRefused(what: string, said: string): void {
  assert(
    said.startsWith("ValueError ") && REFUSED.test(said.slice("ValueError ".length)),
    `${what}: ${said}`,
  );
}

Deno.test("Every operation refuses an option that there is not, and sends nothing", async () => {
  const takers = await optionTakers();
  for (const [name, calls, answers] of OPERATIONS) {
    const at = takers.find((taker) => taker.owner.endsWith("API") && taker.name === name)?.index;
    if (at === undefined || name === "fillMemberEvent") continue;
    const args: Any[] = [...calls[0] ?? []];
    args[at] = { ...args[at], ...X };
    const { session, requests, clock } = scripted(wantsPassword(answers), { retry: false });
    const operation: Any = clientAPI(session)[name as "getState"];
    const said = await untilSettled(clock, refusal(() => operation(...args)));
    assertEquals(said, `ValueError Cannot ${name}: there is no option ${NAME}; leave it out`);
    assertEquals(requests, [], name);
  }
});

Deno.test("An option that there is not is refused by the name of what was called, also where others are asked before", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: token, userId } = homeserver.createUser("alice");
  const { baseUrl, fetch } = homeserver;
  // Knows no mxid.
  await using client = new Client({ baseUrl, fetch, accessToken: token, encryption: true, log: false });
  const initialState = [{
    type: "m.room.encryption",
    state_key: "",
    content: { algorithm: "m.megolm.v1.aes-sha2" },
  }];
  const room = await client.createRoom({ initialState });
  const mistyped: Any = { mentons: {} };
  const calls: Readonly<Record<string, () => unknown>> = {
    sendText: () => client.sendText(room, "a", mistyped),
    edit: () => client.edit(room, "$a", "a", mistyped),
    sendNotice: () => client.sendNotice(room, "a", mistyped),
    sendImage: () => client.sendImage(room, new Uint8Array(1), mistyped),
    sendMessage: () => client.sendMessage(room, { msgtype: "m.text", body: "a" }, mistyped),
    banUser: () => client.banUser(room, userId, { extraContent: { a: 1 }, ...mistyped }),
    setDisplayname: () => client.setDisplayname("a", mistyped),
    getRoomTag: () => client.getRoomTag(room, "a", mistyped),
    iterateMessages: () => client.iterateMessages(room, "b", mistyped),
  };
  for (const [name, call] of Object.entries(calls)) {
    const expected = `ValueError Cannot ${name}: there is no option mentons; did you mean mentions?`;
    assertEquals(await refusal(call), expected);
  }
});

Deno.test("Whatever takes options refuses one that there is not, by its name", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: token, userId: mxid } = homeserver.createUser("bot");
  const { baseUrl, fetch } = homeserver;
  const at = { baseUrl, fetch, accessToken: token, mxid, log: false as const };
  await using client = new Client({ ...at, encryption: true, wake: { secret: "s".repeat(32) } });
  const { crypto, secretStorage } = client;
  assert(crypto !== undefined);
  const room = await client.createRoom();
  const onRecoveryKey = () => {};
  const { recoveryKey } = await secretStorage.create({ onRecoveryKey });
  using storage = await secretStorage.open({ recoveryKey });
  const registration = createRegistration({
    id: "echo",
    url: "http://localhost:9000",
    serverName: "localhost",
    encryption: true,
  });
  const bridge = { registration, serverName: "localhost", baseUrl, fetch, log: false as const };
  await using service = new Appservice(bridge);
  await using bot = new kit.Bot(at);
  const store = new MemoryStore();
  await using tester = new BotTester((options) => new kit.Bot(options));
  const session = defineSession({ name: "a", per: "room", initial: () => ({}) });
  const live = new LiveVerification({} as Any, () => Promise.resolve(undefined));
  const lists = new kit.PolicyLists();
  const kept = { baseUrl, mxid, deviceId: "A", issuer: "a", clientId: "b", tokens: { accessToken: "c" } };
  const oauth = await OAuthSession[BEGIN](kept, { store });
  const data = new Uint8Array(1);
  const admin = new SynapseAdmin(client);
  async function* pieces(): AsyncGenerator<string> {}
  const run = {} as kit.Context[]; // of a function that runs, below
  const inRoom = bot.in(room);

  const calls: Readonly<Record<string, () => unknown>> = {
    "new HTTPAPI": () => new HTTPAPI({ baseUrl, ...X }),
    "new HTTPAPI retry": () => new HTTPAPI({ baseUrl, retry: X }),
    "HTTPAPI.request": () => client.api.request("GET", "/a", X),
    "consoleLogger": () => consoleLogger(X),
    "new Client": () => new Client({ ...at, ...X }),
    "new Client encryption": () => new Client({ ...at, encryption: X }),
    "new Client encryption.verification": () => new Client({ ...at, encryption: { verification: X } }),
    "new Client encryption.authentication": () => new Client({ ...at, encryption: { authentication: X } }),
    "new Client lease": () => new Client({ ...at, lease: X }),
    "new Client wake": () => new Client({ ...at, wake: X }),
    "new Client retry": () => new Client({ ...at, retry: X }),
    "Client.discover": () => Client.discover("localhost", X),
    "Client.request": () => client.request("GET", "/a", X),
    "WakeAPI.registerWake": () => client.registerWake("https://bot.example.org", X),
    "HandlersAPI.addEventHandler": () => client.addEventHandler("m.room.message", () => {}, X),
    "HandlersAPI.on": () => client.on("m.room.message", () => {}, X),
    "QueueAPI.queue": () => client.queue(room, X),
    "SendQueue.sendText": () => client.queue(room).sendText("a", X).stored,
    "SendQueue.sendNotice": () => client.queue(room).sendNotice("a", X).stored,
    "SendQueue.sendMessage": () => client.queue(room).sendMessage({ msgtype: "m.text", body: "a" }, X).stored,
    "SendQueue.sendMessageEvent": () => client.queue(room).sendMessageEvent("a.b", {}, X).stored,
    "SessionsAPI.list": () => client.sessions.list(session, X),
    "SyncerAPI.start": () => client.start(X),
    "SyncerAPI.start backoff": () => client.start({ backoff: X }),
    "SyncerAPI.syncOnce": () => client.syncOnce(X),
    "SyncerAPI.dispatchInternalEvent": () => client.dispatchInternalEvent("gap" as Any, {} as Any, X),
    "SyncerAPI.runInternalEvent": () => client.runInternalEvent("gap" as Any, {} as Any, X),
    "SyncerAPI.dispatchManualEvent": () => client.dispatchManualEvent("m.room.message", {} as Any, X),
    "EncryptingAPI.isRoomEncrypted": () => client.isRoomEncrypted(room, X),
    "defineEvent": () => defineEvent({ type: "a.b", class: "message", ...X }),
    "defineSession": () => defineSession({ name: "a", per: "room", initial: () => ({}), ...X }),
    "exportDevice": () => exportDevice(store, { mxid, deviceId: "A", ...X }),
    "importDevice": () => importDevice(store, new ReadableStream(), X),
    "inspectDevice": () => inspectDevice(store, { mxid, deviceId: "A", ...X }),
    "listDevices": () => listDevices(store, X),
    "matrixToUrl": () => matrixToUrl({ id: room, ...X }),
    "sendFile thumbnail": () => client.sendFile(room, data, { thumbnail: { data, ...X } }),
    "UiaAPI.withUia": () => client.withUia(() => Promise.resolve(), {}, X),
    "UiaAPI.withUia authentication": () => client.withUia(() => Promise.resolve(), X),
    "Crypto.doctor": () => crypto.doctor(X),
    "Crypto.encrypt": () => crypto.encrypt(room, "a.b", {}, X),
    "Crypto.exportKeys": () => crypto.exportKeys({ passphrase: "x", ...X }),
    "Crypto.importKeys": () => crypto.importKeys(data, { passphrase: "x", ...X }),
    "IdentityCrypto.ensureVerified": () => crypto.ensureVerified(X),
    "IdentityCrypto.resetIdentity": () => crypto.resetIdentity({ confirm: () => true, ...X }),
    "KeyBackup.info": () => crypto.backup.info(X),
    "KeyBackup.create": () => crypto.backup.create({ storage, ...X }),
    "KeyBackup.reset": () => crypto.backup.reset({ storage, ...X }),
    "KeyBackup.restore": () => crypto.backup.restore(X),
    "KeyBackup.delete": () => crypto.backup.delete(X),
    "KeyBackup.trust": () => crypto.backup.trust({ storage }, X),
    "OpenSecretStorage.get": () => storage.get("a.b", X),
    "OpenSecretStorage.set": () => storage.set("a.b", "c", X),
    "OpenSecretStorage.delete": () => storage.delete("a.b", X),
    "OpenSecretStorage.names": () => storage.names(X),
    "SecretKeeper.get": () => storage.get("a.b", X), // what an open storage is to a backup
    "SecretKeeper.set": () => storage.set("a.b", "c", X),
    "SecretKeeper.delete": () => storage.delete("a.b", X),
    "SecretStorage.info": () => secretStorage.info(X),
    "SecretStorage.create": () => secretStorage.create({ onRecoveryKey, ...X }),
    "SecretStorage.reset": () => secretStorage.reset({ onRecoveryKey, ...X }),
    "SecretStorage.open": () => secretStorage.open({ recoveryKey }, X),
    "SecretStorage.changeKey": () => secretStorage.changeKey({ recoveryKey }, { onRecoveryKey, ...X }),
    "VerificationCrypto.requestVerification": () => crypto.requestVerification(mxid, X),
    "VerificationCrypto.requestVerification peer": () => crypto.requestVerification({ userId: mxid, ...X }),
    "VerificationRequest.changed": () => live.changed(X),
    "VerificationRequest.accept": () => live.accept(X),
    "VerificationRequest.startSas": () => live.startSas(X),
    "VerificationRequest.compare": () => live.compare(X),
    "VerificationRequest.showQr": () => live.showQr(X),
    "VerificationRequest.scanQr": () => live.scanQr(data, X),
    "VerificationRequest.confirm": () => live.confirm(X),
    "VerificationRequest.mismatch": () => live.mismatch(X),
    "VerificationRequest.cancel": () => live.cancel(X),
    "getAuthMetadata": () => getAuthMetadata({ baseUrl, ...X }),
    "loginByDeviceCode": () => loginByDeviceCode({ baseUrl, store, onUserCode() {}, ...X }),
    "loginByAuthorizationCode": () =>
      loginByAuthorizationCode({ baseUrl, store, onAuthorizationUrl() {}, ...X }),
    "loginBySso": () => loginBySso(client, { onRedirectUrl() {}, ...X }),
    "getSsoRedirectUrl": () => getSsoRedirectUrl(baseUrl, { redirectUrl: baseUrl, ...X }),
    "OAuthSession.resume": () => OAuthSession.resume({ store, ...X }),
    "OAuthSession.getAccountManagementUrl": () => oauth.getAccountManagementUrl(X),
    "UserAdmin.listUsers": () => admin.listUsers(X),
    "UserAdmin.getUser": () => admin.getUser(mxid, X),
    "UserAdmin.updateUser": () => admin.updateUser(mxid, { suspended: true }, X),
    "UserAdmin.updateUser change": () => admin.updateUser(mxid, X),
    "UserAdmin.deactivateUser": () => admin.deactivateUser(mxid, X),
    "UserAdmin.resetPassword": () => admin.resetPassword(mxid, "a", X),
    "UserAdmin.listUserRooms": () => admin.listUserRooms(mxid, X),
    "UserAdmin.listUserConnections": () => admin.listUserConnections(mxid, X),
    "UserAdmin.redactUserEvents": () => admin.redactUserEvents(mxid, X),
    "UserAdmin.getUserRedaction": () => admin.getUserRedaction("a", X),
    "SynapseAdmin.listRooms": () => admin.listRooms(X),
    "SynapseAdmin.getRoom": () => admin.getRoom(room, X),
    "SynapseAdmin.deleteRoom": () => admin.deleteRoom(room, X),
    "SynapseAdmin.getRoomDeletion": () => admin.getRoomDeletion("a", X),
    "SynapseAdmin.blockRoom": () => admin.blockRoom(room, X),
    "SynapseAdmin.unblockRoom": () => admin.unblockRoom(room, X),
    "SynapseAdmin.quarantineMedia": () => admin.quarantineMedia("mxc://a/b", X),
    "SynapseAdmin.quarantineUserMedia": () => admin.quarantineUserMedia(mxid, X),
    "SynapseAdmin.listRegistrationTokens": () => admin.listRegistrationTokens(X),
    "SynapseAdmin.createRegistrationToken": () => admin.createRegistrationToken(X),
    "SynapseAdmin.deleteRegistrationToken": () => admin.deleteRegistrationToken("a", X),
    "SynapseAdmin.sendServerNotice": () => admin.sendServerNotice(mxid, "a", X),
    "createRegistration": () => createRegistration({ id: "a", url: "http://x", serverName: "y", ...X }),
    "new Appservice": () => new Appservice({ ...bridge, ...X }),
    "new Appservice retry": () => new Appservice({ ...bridge, retry: X }),
    "new Appservice encryption": () => new Appservice({ ...bridge, encryption: X }),
    "new Appservice lease": () => new Appservice({ ...bridge, lease: X }),
    "Appservice.start": () => service.start(X),
    "Appservice.start backoff": () => service.start({ backoff: X }),
    "new Bot": () => new kit.Bot({ ...at, ...X }),
    "new Bot rateLimit": () => new kit.Bot({ ...at, rateLimit: X }),
    "new Bot inviteLimit": () => new kit.Bot({ ...at, inviteLimit: X }),
    "new Bot admins": () => new kit.Bot({ ...at, admins: { powerLevel: 50, ...X } }),
    "Bot.fromEnv": () => kit.Bot.fromEnv({ ...at, ...X }),
    "Bot.start": () => bot.start(X),
    "Bot.syncOnce": () => bot.syncOnce(X),
    "Bot.every": () => bot.every("0 9 * * *", () => {}, X),
    "Bot.in": () => bot.in(room, X),
    "Bot.send": () => bot.send(room, "a", X),
    "Composer.command": () => bot.command("a", { ...X }, () => {}),
    "BotRoom.send": () => inRoom.send("a", X),
    "BotRoom.edit": () => inRoom.edit("$a", "a", X),
    "BotMessage.edit": () => new kit.BotMessage(inRoom, "$a").edit("a", X),
    "BotMessage.reply": () => new kit.BotMessage(inRoom, "$a").reply("a", X),
    "BotRoom.sendImage": () => inRoom.sendImage(data, X),
    "BotRoom.sendFile": () => inRoom.sendFile(data, X),
    "BotRoom.sendSticker": () => inRoom.sendSticker("mxc://a/b", {}, X),
    "BotRoom.sendPoll": () => inRoom.sendPoll("a", ["b"], X),
    "BotRoom.stream": () => inRoom.stream(pieces(), X),
    "RoomContext.send": () => run[0]?.send("a", X),
    "RoomContext.edit": () => run[0]?.edit("$a", "a", X),
    "RoomContext.sendImage": () => run[0]?.sendImage(data, X),
    "RoomContext.sendFile": () => run[0]?.sendFile(data, X),
    "RoomContext.sendSticker": () => run[0]?.sendSticker("mxc://a/b", {}, X),
    "RoomContext.sendPoll": () => run[0]?.sendPoll("a", ["b"], X),
    "RoomContext.stream": () => run[0]?.stream(pieces(), X),
    "RoomContext.remind": () => run[0]?.remind({ in: 1, ...X }, "a"),
    "EventContext.reply": () => run[0]?.reply("a", X),
    "EventContext.replyInThread": () => run[0]?.replyInThread("a", X),
    "EventContext.download": () => run[0]?.download(X),
    "Context.reply": () => run[0]?.reply("a", X),
    "Context.replyInThread": () => run[0]?.replyInThread("a", X),
    "Context.ask": () => run[0]?.ask("a", X),
    "Context.wait": () => run[0]?.wait(X),
    "Context.confirm": () => run[0]?.confirm("a", X),
    "Context.menu": () => run[0]?.menu("a", {}, X),
    "Context.download": () => run[0]?.download(X),
    "describeImage": () => kit.describeImage(data, X),
    "followUpgrade": () => kit.followUpgrade(client, {} as Any, X),
    "new PolicyLists": () => new kit.PolicyLists(X),
    "redactMessages": () => kit.redactMessages(client, room, mxid, X),
    "serverAcl": () => kit.serverAcl(lists, X),
    "updateServerAcl": () => kit.updateServerAcl(client, room, lists, X),
    "pollStart": () => kit.pollStart({ question: "a", answers: ["a"], ...X }),
    "tallyPoll": () => kit.tallyPoll({} as Any, [], X),
    "formatHtml": () => kit.formatHtml("a", X),
    "formatMarkdown": () => kit.formatMarkdown("a", X),
    "formatText": () => kit.formatText("a", X),
    "formatHtmlPieces": () => kit.formatHtmlPieces("a", X),
    "formatPieces": () => kit.formatPieces("a", X),
    "recordTrace": () => recordTrace(client, { write() {}, ...X }),
    "replayTrace": () => replayTrace("", () => new kit.Bot(at), X),
    "new Homeserver": () => new Homeserver(X),
    "new Homeserver quirks": () => new Homeserver({ quirks: X }),
    "new Homeserver rateLimits": () => new Homeserver({ rateLimits: X }),
    "Homeserver.listen": () => homeserver.listen(X),
    "Homeserver.createUser": () => homeserver.createUser("a", X),
    "TestUser.createRoom": () => homeserver.createUser("maker").createRoom(X),
    "faults.add": () => homeserver.faults.add({ kind: "drop", ...X }),
    "faults.add match": () => homeserver.faults.add({ kind: "drop", match: X }),
    "TestRoom.say": async () => await (await tester.room("alice")).say("a", X),
    "storeConformance": () => storeConformance("a", () => store, X),
    "storeConformance spoil": () => storeConformance("a", () => store, { spoil: X }),
    "storeProcessConformance": () => storeProcessConformance("a", () => store, X),
    "new KvStore": () => new KvStore(":memory:", X),
    "new SqliteStore": () => new SqliteStore(":memory:", X),
    "KvStore.open": () => KvStore.open(":memory:", X),
    "SqliteStore.open": () => SqliteStore.open(":memory:", X),
    "SqliteStore.over": () => SqliteStore.over({} as Any, X),
  };
  await using talking = new BotTester((options) =>
    new kit.Bot(options).command("run", async (c) => {
      run[0] = c;
      for (const [what, call] of Object.entries(calls)) {
        if (/^(Room)?Context\./.test(what)) assertRefused(what, await refusal(call));
      }
      await c.reply("done");
    })
  );
  const talk = await talking.room("alice");
  await talk.say("!run");
  await talk.expect("done");
  for (const [what, call] of Object.entries(calls)) {
    if (!/^(Room)?Context\./.test(what)) assertRefused(what, await refusal(call));
  }

  const missing = (await optionTakers()).filter(({ owner, name }) => {
    const key = owner === "" ? name : `${owner}.${name}`;
    const isOperation = OPERATIONS.some(([operation]) => owner.endsWith("API") && operation === name);
    return !isOperation && !BY_TYPE_ALONE.includes(key) && !(key in calls) && !key.endsWith("Error");
  });
  assertEquals(missing, [], "What takes options is to be in the table");
});
