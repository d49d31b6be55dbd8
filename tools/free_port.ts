/**
 * A loopback port for a program that has to be told one.
 *
 * @module
 */

/** Below the ports of outgoing connections, one of which could take it before the program does. */
const [FIRST, COUNT] = [20_000, 12_000];

/** A port that nothing listens on. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
