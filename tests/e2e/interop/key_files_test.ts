/** Key files from us to other clients and back; no server takes part. mautrix-python has none. */

import { DeviceId, initAsync, OlmMachine, UserId } from "@matrix-org/matrix-sdk-crypto-wasm";
import { assert, assertEquals } from "@std/assert";
import { aliceAndBob, type Bot } from "../../crypto/engine/bot.ts";
import { type Entry, fileOf, keyFilesOf, newEntries, PASSPHRASE } from "../../crypto/key_files/stage.ts";
import { missingPeer, peerCommand } from "../support/peer/peer_kind.ts";

const EXPORT = { passphrase: PASSPHRASE, rounds: 100_000 };

/** An engine with sessions, some of which may be shared, and their file. */
async function exporting(): Promise<{ bob: Bot; entries: Entry[]; file: string }> {
  const { bob } = await aliceAndBob();
  const entries = [
    ...newEntries(5),
    ...newEntries(2, { shared_history: true, room_id: "!other:example.org" }),
  ];
  await keyFilesOf(bob).import(await fileOf(entries), { passphrase: PASSPHRASE });
  return { bob, entries, file: await new Response(keyFilesOf(bob).export(EXPORT)).text() };
}

/** Says that a file has the sessions of another engine, and that it can be read here. */
async function assertReadable(
  file: string,
  { bob, entries }: { bob: Bot; entries: readonly Entry[] },
): Promise<void> {
  const { length: total } = entries;
  const counts = { total, improved: 0, refused: 0 };
  const again = await keyFilesOf(bob).import(file, { passphrase: PASSPHRASE });
  assertEquals(again, { ...counts, added: 0, known: total }, "to whom has exported them");
  const { alice } = await aliceAndBob();
  const first = await keyFilesOf(alice).import(file, { passphrase: PASSPHRASE });
  assertEquals(first, { ...counts, added: total, known: 0 }, "to another");
}

Deno.test("S36 matrix-sdk-crypto imports our key file with all that is in it, and we import its", async () => {
  await initAsync();
  const { bob, entries, file } = await exporting();
  const machine = await OlmMachine.initialize(new UserId("@js:example.org"), new DeviceId("JS"));
  const result = await machine.importExportedRoomKeys(
    OlmMachine.decryptExportedRoomKeys(file, PASSPHRASE),
    () => {},
  );
  assertEquals([result.importedCount, result.totalCount], [entries.length, entries.length]);
  const theirs: Entry[] = JSON.parse(await machine.exportRoomKeys(() => true));
  const shared = theirs.filter((entry) =>
    Object.entries(entry).some(([name, value]) => /shared_history$/.test(name) && value)
  );
  const expected = entries.filter(({ shared_history }) => shared_history === true);
  const idsOf = (of: readonly Entry[]) => of.map(({ session_id }) => session_id).sort();
  assertEquals(idsOf(shared), idsOf(expected));
  await assertReadable(OlmMachine.encryptExportedRoomKeys(JSON.stringify(theirs), PASSPHRASE, 1_000), {
    bob,
    entries,
  });
  machine.close();
});

const missing = await missingPeer("nio");

Deno.test({
  name: `S36 matrix-nio imports our key file, and we import its${
    missing === undefined ? "" : ` (${missing})`
  }`,
  ignore: missing !== undefined,
  async fn() {
    const { bob, entries, file } = await exporting();
    const folder = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(`${folder}/ours.txt`, file);
      const script = `
import sys
from nio.crypto import Olm
ours, theirs, passphrase = sys.argv[1:]
sessions = Olm.import_keys_static(ours, passphrase)
Olm.export_keys_static(sessions, theirs, passphrase, 1000)
print(len(sessions))`;
      const { command } = await peerCommand("nio");
      const args = ["-c", script, `${folder}/ours.txt`, `${folder}/theirs.txt`, PASSPHRASE];
      const { code, stdout } = await new Deno.Command(command, { args, stderr: "inherit" }).output();
      assert(code === 0);
      assertEquals(Number(new TextDecoder().decode(stdout)), entries.length);
      await assertReadable(await Deno.readTextFile(`${folder}/theirs.txt`), { bob, entries });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
