/**
 * One cold start: milliseconds until the package is imported, until it is loaded, and until the
 * first message is read.
 */

const start = performance.now();
const { Vodozemac } = await import("@greenroom/vodozemac-wasm");
const imported = performance.now();
const { megolm } = await Vodozemac.load();
const loaded = performance.now();
using outbound = megolm.createOutbound();
using inbound = megolm.createInbound(outbound.sessionKey());
inbound.decrypt(outbound.encrypt("first"));
const used = performance.now();
const times = [imported - start, loaded - imported, used - loaded, used - start];
await Deno.stdout.write(new TextEncoder().encode(times.map((time) => time.toFixed(1)).join(" ") + "\n"));
