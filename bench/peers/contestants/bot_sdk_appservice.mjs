/**
 * matrix-bot-sdk's application service, which counts the messages that it is sent.
 *
 * Arguments: the homeserver's address, the port, the two tokens, and after how many messages it
 * says so.
 *
 * @module
 */

/** Is where the bench has installed it, and nowhere else. */
const SDK = "matrix-bot-sdk";
const { Appservice, LogService, MemoryStorageProvider } = await import(SDK);

const [homeserverUrl, port, as_token, hs_token, counts] = process.argv.slice(2);
const left = counts.split(",").map(Number);
LogService.setLogger({ info() {}, warn() {}, error() {}, debug() {}, trace() {} });
const appservice = new Appservice({
  port: Number(port),
  bindAddress: "127.0.0.1",
  homeserverName: "localhost",
  homeserverUrl,
  storage: new MemoryStorageProvider(),
  registration: {
    id: "bench",
    as_token,
    hs_token,
    sender_localpart: "bench",
    namespaces: { users: [{ exclusive: true, regex: "@_bench_.*:localhost" }], aliases: [], rooms: [] },
  },
});
appservice.on("room.message", () => {
  if (--left[0] > 0) return;
  left.shift();
  console.log("done");
});
await appservice.begin();
console.log("ready");
