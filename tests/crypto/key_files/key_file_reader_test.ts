/** Key files as others have made them, and files that can't be used. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { KeyFileError } from "@greenroom/matrix/errors";
import type { KeyFileData, KeyFileProblem } from "@greenroom/matrix/types";
import { openKeyFile } from "../../../src/crypto/key_files/key_files.ts";
import { fileOf, PASSPHRASE } from "./stage.ts";
import { SOME, VECTORS } from "./vectors.ts";

async function contentOf(data: KeyFileData, passphrase: string): Promise<string> {
  const { content } = await openKeyFile(data, { passphrase });
  return new TextDecoder().decode(await new Blob(await Array.fromAsync(content())).bytes());
}

for (const [index, { content, passphrase, file }] of VECTORS.entries()) {
  Deno.test(`openKeyFile() decrypts vector ${index} of Element's`, async () => {
    assertEquals(await contentOf(file, passphrase), content);
  });
}

Deno.test("openKeyFile() takes text, bytes, and a stream in parts of any size, in lines of any length and kind", async () => {
  const { content, passphrase, file } = SOME;
  const bytes = new TextEncoder().encode(file);
  const [begin, end] = [file.indexOf("\n") + 1, file.lastIndexOf("\n-----END")];
  const oneLine = file.slice(0, begin) + file.slice(begin, end).replaceAll("\n", "") + file.slice(end);
  const forms: KeyFileData[] = [
    bytes,
    ReadableStream.from(Array.from(bytes, (byte) => Uint8Array.of(byte))),
    file.replaceAll("\n", "\r\n"),
    `\uFEFF${file}`,
    `Keys of mine\n\n${file}\n-- \nMe`,
    oneLine,
    file.replace(/=+\n/, "\n"),
    file.slice(0, end) + "\n".repeat(2 ** 18 - end - 10) + file.slice(end), // its end comes in two blocks
  ];
  for (const form of forms) assertEquals(await contentOf(form, passphrase), content);
});

Deno.test("openKeyFile() takes base64 with and without padding, as other clients write it", async () => {
  const rests = new Set<number>();
  for (let length = 1; length <= 3; length++) {
    const text = await fileOf("x".repeat(length));
    const bare = text.replace(/=+(?=\s*-)/, "");
    rests.add(text.length - bare.length);
    for (const form of [text, bare]) assertEquals(await contentOf(form, PASSPHRASE), "x".repeat(length));
  }
  assertEquals(rests, new Set([0, 1, 2]));
});

async function problem(data: KeyFileData, passphrase = SOME.passphrase): Promise<KeyFileProblem> {
  const error = await assertRejects(() => openKeyFile(data, { passphrase }), KeyFileError);
  assert(error.message.startsWith("Cannot import the key file: "));
  return error.problem;
}

Deno.test("T54: openKeyFile() takes nothing of a file that is none, cut off, damaged or of another version", async () => {
  const { file } = SOME;
  const end = file.lastIndexOf("-----END");
  const changed = (at: number, to: string) => {
    const start = file.indexOf("\n") + 1 + at;
    return file.slice(0, start) + to + file.slice(start + to.length);
  };
  for (
    const wrong of [
      "",
      "-----",
      "{}",
      file.slice(0, file.indexOf("\n") + 1),
      file.slice(0, file.lastIndexOf("\n")),
      file.slice(0, -20),
      file.replace("END MEGOLM", "END PGP"),
      file.replace("END MEGOLM", "END LEGOLM"),
      "-----BEGIN MEGOLM SESSION DATA-----\n-----END MEGOLM SESSION DATA-----",
      "-----BEGIN MEGOLM SESSION DATA-----\nAXNhbHRz\n-----END MEGOLM SESSION DATA-----",
      `${file.slice(0, file.indexOf("\n") + 65)}\n${file.slice(end)}`, // no room for a MAC behind the head
      changed(60, "*"),
      changed(60, "é"),
      changed(0, "Ag"), // version 2
      changed(44, "/////w"), // 4,294,967,295 rounds
      changed(44, "AAAAA"), // none
    ]
  ) assertEquals(await problem(wrong), "format", wrong);
});

Deno.test("openKeyFile() takes nothing of a file of which one bit was changed, or with another passphrase", async () => {
  const { file, content } = SOME;
  const lines = file.split("\n");
  const bytes = Uint8Array.fromBase64(lines.slice(1, -1).join(""));
  for (const at of [1, 17, 32, 36, 37, 37 + content.length, bytes.length - 1]) {
    const other = bytes.slice();
    other[at] = (other[at] ?? 0) ^ 1;
    const text = [lines[0], other.toBase64(), lines.at(-1)].join("\n");
    assertEquals(await problem(text), "passphrase", `${at}`);
  }
  assertEquals(await problem(file, `${SOME.passphrase} `), "passphrase");
});

Deno.test("T54: openKeyFile() reads no more of a file without end than it may hold, and cancels it", async () => {
  const part = new TextEncoder().encode("A".repeat(2 ** 24));
  const cancelled = Promise.withResolvers<unknown>();
  let given = 0;
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) =>
      controller.enqueue(new TextEncoder().encode("-----BEGIN MEGOLM SESSION DATA-----\n")),
    pull(controller) {
      given += part.length;
      controller.enqueue(part);
    },
    cancel: cancelled.resolve,
  });
  assertEquals(await problem(endless), "size");
  await cancelled.promise;
  assert(given < 400 * 2 ** 20, `${given}`);
});

Deno.test("openKeyFile() ends with the signal's reason, also while nothing comes, and lets the stream go", async () => {
  const { deriveBits } = crypto.subtle;
  let derived: Promise<ArrayBuffer> | undefined; // goes on, beside the thread, although nobody waits for it
  crypto.subtle.deriveBits = (...args) => derived = deriveBits.apply(crypto.subtle, args);
  for (const when of ["before", "reading", "deriving"]) {
    const stop = new AbortController();
    const reason = new DOMException("Enough", "AbortError");
    const cancelled = Promise.withResolvers<unknown>();
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (when === "reading") stop.abort(reason);
        else controller.enqueue(new TextEncoder().encode(SOME.file));
      },
      cancel: cancelled.resolve,
    }, { highWaterMark: 0 });
    if (when === "before") stop.abort(reason);
    const opening = openKeyFile(stream, { passphrase: SOME.passphrase, signal: stop.signal });
    if (when === "deriving") cancelled.promise.then(() => stop.abort(reason));
    const error = await opening.then(() => undefined, (error) => error);
    assertEquals(error, reason, when);
    await cancelled.promise;
  }
  crypto.subtle.deriveBits = deriveBits;
  await derived;
});
