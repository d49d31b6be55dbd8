import { assert, assertEquals, assertRejects } from "@std/assert";
import { Deadline, readJson } from "../../../src/api/http/answer.ts";
import { HTTPAPI, readBytes } from "../../../src/api/http/mod.ts";
import { Sent } from "../../../src/base/sent.ts";
import { NetworkError, RequestTimeoutError, ServiceResponseError } from "@greenroom/matrix/errors";
import { TestClock } from "@greenroom/matrix/testing";

/** Sizes on both sides of those where a body begins to be read in another way. */
const SIZES = [2, 100, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 1_000_000];

const json = (size: number): string => JSON.stringify("x".repeat(size - 2));

function announced(body: BodyInit, size: number): Response {
  return new Response(body, { headers: { "content-length": String(size) } });
}

/** A stream as an application's `fetch` may return it: in parts, some of them empty. */
function parts(text: string, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(bytes.slice(at, at + size));
        controller.enqueue(new Uint8Array());
      }
      controller.close();
    },
  });
}

/** An answer to be read, of a request that nothing limits. */
function answer(response: Response) {
  return {
    response,
    request: "GET /x",
    deadline: new Deadline(new TestClock(), 0, undefined, () => new Sent({ url: "https://a.b/x" })),
  };
}

const bodies: Record<string, (text: string) => Response> = {
  "announced": (text) => announced(text, text.length),
  "announced, from a stream of bytes": (text) => announced(new Blob([text]).stream(), text.length),
  "announced, from a stream of parts": (text) => announced(parts(text, 1_000), text.length),
  "announced too short": (text) => announced(parts(text, 70_000), 1),
  "not announced": (text) => new Response(text),
  "not announced, from a stream of bytes": (text) => new Response(new Blob([text]).stream()),
  "not announced, from a stream of parts": (text) => new Response(parts(text, 70_000)),
};
for (const [what, respond] of Object.entries(bodies)) {
  Deno.test(`A body that is ${what} is read whole, up to the most it may be`, async () => {
    for (const size of SIZES) {
      const text = json(size);
      assertEquals(await readJson(answer(respond(text)), size), JSON.parse(text));
      const bytes = await readBytes(answer(respond(text)), size);
      assertEquals(new TextDecoder().decode(bytes), text);
      assertEquals(bytes.buffer.byteLength, size, "the buffer has no spare bytes");
      await assertRejects(
        () => readBytes(answer(respond(text)), size - 1),
        ServiceResponseError,
        `larger than ${size - 1} bytes`,
      );
    }
  });

  Deno.test(`Progress of a body that is ${what} is reported to its end`, async () => {
    for (const size of SIZES) {
      const told: number[] = [];
      await readBytes(answer(respond(json(size))), Infinity, (so_far) => told.push(so_far));
      assertEquals(told.at(-1), size);
      assert(told.every((so_far, index) => so_far > (told[index - 1] ?? 0)));
    }
  });
}

Deno.test("An answer without a body is one of no bytes", async () => {
  assertEquals(await readBytes(answer(new Response(null)), 0), new Uint8Array());
  assertEquals(await readBytes(answer(announced("", 0)), 0), new Uint8Array());
});

Deno.test("A response with a Content-Length that is too large is refused unread, and cancelled", async () => {
  for (const size of [101, 100_000]) {
    let pulled = 0;
    let cancelled = 0;
    const body = new ReadableStream({ pull: () => void pulled++, cancel: () => void cancelled++ }, {
      highWaterMark: 0,
    });
    await assertRejects(() => readJson(answer(announced(body, size)), 100), ServiceResponseError, "larger");
    assertEquals([pulled, cancelled], [0, 1]);
  }
});

Deno.test("A response that turns out too large is cancelled as soon as that shows", async () => {
  let cancelled: unknown;
  let pulled = 0;
  const body = new ReadableStream({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1_000));
    },
    cancel: (reason) => void (cancelled = reason ?? "cancelled"),
  }, { highWaterMark: 0 });
  await assertRejects(() => readJson(answer(new Response(body)), 20_500), ServiceResponseError, "larger");
  assertEquals([pulled, cancelled], [21, "cancelled"]);
});

Deno.test("A body that ends before its announced length is a NetworkError, however long it is", async () => {
  for (const size of SIZES) {
    for (const body of [json(size), new Blob([json(size)]).stream(), parts(json(size), 1_000)]) {
      await assertRejects(
        () => readJson(answer(announced(body, size + 1)), Infinity),
        NetworkError,
        `${size} of ${size + 1} bytes`,
      );
    }
  }
});

Deno.test("A body that fails on its way fails the reading with its reason", async () => {
  for (const size of [1_000, 100_000]) {
    const body = new ReadableStream({
      pull: (controller) => controller.error(new RangeError("cut")),
    });
    await assertRejects(() => readJson(answer(announced(body, size)), Infinity), RangeError, "cut");
  }
});

Deno.test("The bytes of a response that others hold too stay as they are", async () => {
  const bytes = new TextEncoder().encode(json(100_000));
  for (const length of [1, 100_000]) {
    const response = announced(bytes, length);
    const other = response.clone();
    await readJson(answer(response), Infinity);
    assertEquals([bytes.length, (await other.bytes()).length], [100_000, 100_000]);
  }
});

/**
 * A server that speaks HTTP by hand: it sends a text, and leaves the connection open until the
 * client has closed it.
 */
async function speaking(text: string, ask: (baseUrl: string) => Promise<void>): Promise<void> {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const served = (async () => {
    using connection = await listener.accept();
    const buffer = new Uint8Array(4096);
    await connection.read(buffer);
    await connection.write(new TextEncoder().encode(text));
    await connection.read(buffer).catch(() => {});
  })();
  await ask(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`);
  await served;
}

Deno.test("A length that is announced beside chunks bounds nothing, and promises nothing", async () => {
  const chunked = (size: number) =>
    "HTTP/1.1 200 OK\r\ncontent-length: 80\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n" +
    `${size.toString(16)}\r\n${json(size)}\r\n0\r\n\r\n`;
  for (const size of [90, 70]) {
    await speaking(chunked(size), async (baseUrl) => {
      const http = new HTTPAPI({ baseUrl, maxResponseSize: 100 });
      assertEquals(await http.request("GET", "/x"), "x".repeat(size - 2));
    });
  }
});

Deno.test("Chunks without end beside an announced length are stopped at the most that is taken", async () => {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  let sent = 0;
  const served = (async () => {
    using connection = await listener.accept();
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 80\r\ntransfer-encoding: chunked\r\n\r\n";
    await connection.write(new TextEncoder().encode(head));
    const chunk = new TextEncoder().encode(`10000\r\n${"x".repeat(0x10000)}\r\n`);
    while (sent < 100 * 2 ** 20) sent += await connection.write(chunk);
  })().catch(() => {});
  const { port } = listener.addr as Deno.NetAddr;
  const http = new HTTPAPI({ baseUrl: `http://127.0.0.1:${port}`, retry: false, maxResponseSize: 100 });
  await assertRejects(() => http.request("GET", "/x"), ServiceResponseError, "larger than 100 bytes");
  await served;
  assert(sent < 50 * 2 ** 20, `${sent} bytes were taken`);
});

Deno.test("A short answer that stops coming is a timeout, and its connection is closed", async () => {
  await speaking('HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{"a":', async (baseUrl) => {
    const clock = new TestClock();
    const begun = Promise.withResolvers<void>();
    const begins: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      begun.resolve();
      return response;
    };
    const http = new HTTPAPI({ baseUrl, clock, fetch: begins, retry: false });
    const failed = assertRejects(() => http.request("GET", "/x"), RequestTimeoutError, "60000 ms");
    await begun.promise;
    await clock.tick(2 * 60_000); // within the first, the head of the answer came
    await failed;
  });
});
