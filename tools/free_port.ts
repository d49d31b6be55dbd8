/**
 * A loopback port for a program that has to be told one.
 *
 * @module
 */

/** A port that nothing listens on. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
