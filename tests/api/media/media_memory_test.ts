import { assert, assertEquals } from "@std/assert";

const SIZE = 500 * 2 ** 20;

/** A homeserver that counts what it gets, and gives as much. */
async function repository(request: Request, received: number[]): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname.endsWith("/versions")) return Response.json({ versions: ["v1.11"] });
  if (request.method === "POST") {
    let size = 0;
    for await (const chunk of request.body ?? []) size += chunk.length;
    received.push(size);
    return Response.json({ content_uri: `mxc://example.org/${size}` });
  }
  let left = Number(pathname.split("/").at(-1));
  const part = new Uint8Array(1 << 16);
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (left <= 0) return controller.close();
        controller.enqueue(part.slice(0, left));
        left -= part.length;
      },
    }),
  );
}

Deno.test("Uploading and downloading 500 MiB as streams takes less than 64 MiB of memory", async () => {
  const received: number[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => repository(request, received),
  );
  const script = new URL("../../support/media_transfer.ts", import.meta.url).pathname;
  const command = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--v8-flags=--expose-gc",
      "--allow-net=127.0.0.1",
      "--allow-env",
      script,
      `http://127.0.0.1:${server.addr.port}`,
      `${SIZE}`,
    ],
    stderr: "inherit",
  });
  const { code, stdout } = await command.output();
  assertEquals([code, received.at(-1)], [0, SIZE]);
  const grown = Number(new TextDecoder().decode(stdout));
  assert(grown < 64 * 2 ** 20, `it took ${(grown / 2 ** 20).toFixed(1)} MiB`);
});
