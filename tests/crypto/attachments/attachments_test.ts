import { assert, assertEquals, assertRejects } from "@std/assert";
import { decryptAttachmentStream } from "../../../src/crypto/attachments/attachments.ts";
import { BLOCK_SIZE } from "../../../src/crypto/ciphers/ciphers.ts";
import { AttachmentError } from "@greenroom/matrix/errors";
import { bytesOf, inParts, pattern, replaced, seal } from "../../support/attachments.ts";

const SIZE = 3 * BLOCK_SIZE + 9;
const plain = pattern(SIZE);
const { bytes, secrets } = await seal(plain);

/** Notes which temporary files are made, as long as it is in use. */
function watched(): Disposable & { paths: string[] } {
  const paths: string[] = [];
  const make = Deno.makeTempFile;
  const made = replaced(Deno, "makeTempFile", async (options) => {
    const path = await make(options);
    paths.push(path);
    return path;
  });
  return { paths, ...made };
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test("A file up to the bound is held in memory, a larger one in a temporary file without a name", async () => {
  using files = watched();
  assertEquals(
    await bytesOf(decryptAttachmentStream(inParts(bytes, []), secrets, { maxMemory: SIZE })),
    plain,
  );
  assertEquals(files.paths, []);
  const stream = decryptAttachmentStream(inParts(bytes, [5]), secrets, { maxMemory: SIZE - 1 });
  const reader = stream.getReader();
  assertEquals((await reader.read()).value, plain.slice(0, BLOCK_SIZE));
  assertEquals(files.paths.length, 1);
  if (Deno.build.os !== "windows") assert(!await exists(files.paths[0] ?? ""));
  reader.releaseLock();
  assertEquals(await bytesOf(stream), plain.slice(BLOCK_SIZE));
});

Deno.test("The contents of a temporary file are encrypted", async () => {
  const written: Uint8Array[] = [];
  using _ = replaced(Deno.FsFile.prototype, "write", (block) => {
    written.push(block.slice());
    return Promise.resolve(block.length);
  });
  const stream = decryptAttachmentStream(inParts(bytes, []), secrets, { maxMemory: 0 });
  await stream.getReader().read();
  await bytesOf(ReadableStream.from(written)).then((held) => assertEquals(held, bytes));
});

Deno.test("A temporary file that can't go while it is open goes when it is closed, whatever ends it", async () => {
  const remove = Deno.remove;
  const endings: ((stream: ReadableStream<Uint8Array>) => Promise<unknown>)[] = [
    (stream) => bytesOf(stream),
    async (stream) => {
      const reader = stream.getReader();
      await reader.read();
      await reader.cancel();
    },
  ];
  for (const end of endings) {
    using files = watched();
    let tries = 0;
    using _ = replaced(Deno, "remove", async (path) => {
      if (++tries === 1) throw new Deno.errors.Busy("open");
      await remove(path);
    });
    await end(decryptAttachmentStream(inParts(bytes, []), secrets, { maxMemory: 0 }));
    assertEquals([files.paths.length, await exists(files.paths[0] ?? "")], [1, false]);
  }
});

Deno.test("A stream that is cancelled while it waits for its source releases it, and its temporary file", async () => {
  using files = watched();
  let cancelled: unknown;
  let waiting = (): void => {};
  const asked = new Promise<void>((resolve) => waiting = resolve);
  let pulls = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++pulls <= 2) return controller.enqueue(bytes.slice(0, BLOCK_SIZE));
      waiting();
      return new Promise(() => {});
    },
    cancel: (reason) => void (cancelled = reason),
  }, { highWaterMark: 0 });
  const reader = decryptAttachmentStream(source, secrets, { maxMemory: 0 }).getReader();
  const read = reader.read();
  await asked;
  await reader.cancel("enough");
  assertEquals([await read, cancelled], [{ done: true, value: undefined }, "enough"]);
  assertEquals([files.paths.length, await exists(files.paths[0] ?? "")], [1, false]);
});

Deno.test("A stream that is cancelled while it writes waits for that, and closes its temporary file", async () => {
  const write = Deno.FsFile.prototype.write;
  let begun = (): void => {};
  const writing = new Promise<void>((resolve) => begun = resolve);
  using _ = replaced(Deno.FsFile.prototype, "write", async function (this: Deno.FsFile, block: Uint8Array) {
    begun();
    return await write.call(this, block);
  });
  const reader = decryptAttachmentStream(inParts(bytes, []), secrets, { maxMemory: 0 }).getReader();
  const read = reader.read();
  await writing;
  await reader.cancel();
  assert((await read).done); // and nothing is left open: the test runner looks
});

Deno.test("A stream that was not read is cancelled at its source", async () => {
  let cancelled = false;
  const source = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
  await decryptAttachmentStream(source, secrets).cancel();
  assert(cancelled);
});

Deno.test("A file that is written in part only is written on", async () => {
  const write = Deno.FsFile.prototype.write;
  using _ = replaced(Deno.FsFile.prototype, "write", async function (this: Deno.FsFile, block: Uint8Array) {
    return await write.call(this, block.subarray(0, 100_000));
  });
  assertEquals(await bytesOf(decryptAttachmentStream(inParts(bytes, []), secrets, { maxMemory: 0 })), plain);
});

Deno.test("A full disk is an AttachmentError, and leaves no temporary file", async () => {
  using files = watched();
  using _ = replaced(Deno.FsFile.prototype, "write", () => Promise.reject(new Deno.errors.WriteZero("full")));
  const stream = decryptAttachmentStream(inParts(bytes, []), secrets, { maxMemory: 0 });
  const error = await assertRejects(() => bytesOf(stream), AttachmentError);
  assertEquals([error.problem, error.cause instanceof Deno.errors.WriteZero], ["storage", true]);
  assert(!await exists(files.paths[0] ?? ""));
});

Deno.test("A temporary file that can be made and not opened is an AttachmentError, and goes", async () => {
  using files = watched();
  using _ = replaced(Deno, "open", () => Promise.reject(new Deno.errors.NotCapable("no")));
  const stream = decryptAttachmentStream(inParts(bytes, []), secrets, { maxMemory: 0 });
  const error = await assertRejects(() => bytesOf(stream), AttachmentError);
  assertEquals([error.problem, files.paths.length], ["storage", 1]);
  assert(!await exists(files.paths[0] ?? ""));
});

for (const permissions of [{ write: false, read: true }, { write: "inherit", read: false }] as const) {
  const lack = permissions.read ? "write" : "read";
  Deno.test({
    name: `Without the permission to ${lack} files it says what to allow, and still takes small files`,
    permissions,
  }, async () => {
    using files = watched();
    const stream = decryptAttachmentStream(inParts(bytes, []), secrets, { maxMemory: SIZE - 1 });
    const error = await assertRejects(() => bytesOf(stream), AttachmentError, "--allow-write");
    assertEquals([error.problem, error.cause instanceof Deno.errors.NotCapable], ["storage", true]);
    assertEquals(files.paths.length, permissions.read ? 0 : 1);
    assertEquals(await bytesOf(decryptAttachmentStream(inParts(bytes, []), secrets)), plain);
  });
}
