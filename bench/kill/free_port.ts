/**
 * A loopback port that nobody listens on.
 *
 * @module
 */

/** A port for all of the bot's processes, one after the other. */
export function freePort(): number {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  return listener.addr.port;
}
