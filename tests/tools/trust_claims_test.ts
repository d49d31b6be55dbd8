/** What TRUST.md and SECURITY.md promise, each with the test that attacks it. */

import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** Sentences of TRUST.md, and how the title of a test begins that shows them. */
const TRUST: readonly (readonly [sentence: string, test: string])[] = [
  [
    "A device that it has not signed could be the server's invention",
    "T17: with ${sendTo}, a device that the server",
  ],
  ["you compared its key, or that of its user", "T18: a user whom the own identity has signed is verified"],
  ["or it is gone, and was never seen signed", "T73: a session of an unknown device counts as its sender's"],
  [
    "or the identity is one that was replaced before",
    "T18: an identity from before, which a server shows again",
  ],
  [
    "else nobody in the room gets one until you decide",
    "T18: with ${sendTo}, nothing is sent once a verified",
  ],
  ["Its messages count from any device", "T52: a device that nobody vouches for begins no verification"],
  [
    "They prove nothing before two people have compared",
    "T46: what the other side vouches for is not stored",
  ],
  [
    "It is heard as one that is listed, on two conditions",
    "T120: keys ${what} do not make a device one that",
  ],
  ["Deleting a device takes no signature back", "T120: a device that is ${isGone"],
  ["is reported as `UNDECRYPTABLE` (`UNTRUSTED`)", "T150: an event of now by a key that only the backup has"],
  [
    "It is heard when its sender or a verified device of yours sends the key",
    "T150: it is heard when its sender's key",
  ],
  ["read the past by it", "T150: only what a file or an own verified device has brought"],
  ["An own device that asks does not get it", "T153: an own device that asks gets no session whose maker"],
  [
    "a file that is exported has it as a backup's",
    "T153: a file says of what only a backup or an inviter says",
  ],
  ["They get nothing that only the backup has", "T153: what only a backup says is in no bundle"],
  [
    "this device passes on nothing of a device that it does not hear",
    "T210: what a device has sent that its user",
  ],
  [
    "A device that gets no key gets the reason",
    "T17: with ${sendTo}, a device that the server has put in gets no key, but a notice",
  ],
  [
    "change a message, or send one in another's name",
    "T03: a message that its server says is from another user",
  ],
  ["replace an identity or a key unnoticed", "T25: the own identity is replaced: an alarm"],
  [
    "have you use a backup or an identity of its own",
    "T51: a planted version gets no key in place of the one",
  ],
  ["say who invites you, or what you are to a room", "T130: no server says in another's name who invites"],
  ["have you join a room at another's invitation", "T130: a bot that hears its owner alone does not join"],
  [
    "write in clear (also orders and reactions, see `encryptedOnly`)",
    "T132: a command that is encryptedOnly takes",
  ],
  ["with a sealed store, read it or change a record", "T59: SealedStore opens no record of which any byte"],
  ["show a message again as a new one", "T31: a ciphertext that comes again as another event is refused"],
  ["read what was sent before or after", "T84: a session that ended, since a user with its key left"],
  ["have one of its keys or secrets accepted", "T50: a secret counts only if it was asked for, comes from"],
  [
    "get an older key, a private key or the key of the backup",
    "T116: a secret goes to an own device that is verified",
  ],
  [
    "None of these counts if it is said to be of a device",
    "T52: what the backup says is of a device that nobody",
  ],
  ["An identity that was replaced is not taken back", "T25: an identity that was replaced is not taken back"],
  [
    "A verified user with another identity is not heard",
    "T18: another identity of a user who was verified is in",
  ],
  ["as three answers in a row show", "T155: while it runs, one or two answers with another identity"],
  [
    "the exception ends for good with the first identity that is seen",
    "T75: own devices count as signed while the",
  ],
  [
    "A backup that was left is used again only with its own key",
    "T51: a version that was left for another gets no",
  ],
  [
    "what was stored before `secretStorage.changeKey()` does not open",
    "SecretStorage.changeKey() has the new key open",
  ],
  [
    "`onNewRecipient` tells you of each new user before they get a key",
    "T35: a ghost who is shown to ${membership}",
  ],
  [
    "`c.confirm()` takes no reaction in clear in an encrypted room",
    "T131: in an encrypted room no reaction in",
  ],
  [
    "`c.menu()` takes them, unless its `clearReactions` is `false`",
    "T131: a menu takes reactions in clear, unless",
  ],
  ["Votes in clear do not count in an encrypted room", "T131: votes, edits and the end of a poll count"],
  [
    "nor do those that only the backup or an inviter's keys open",
    "T157: votes and the end of a poll that only",
  ],
];

/** Sentences of SECURITY.md, and how the title of a test begins that shows them. */
const SECURITY: readonly (readonly [sentence: string, test: string])[] = [
  [
    "a room that was seen encrypted never becomes plain again",
    "T40: a room stays encrypted, with tight limits",
  ],
  ["`restore()` takes no more of them than its `limit`", "T154: of keys without end"],
  ["it can't replace the known keys of a device", "T16: a known device is shown with another key"],
  ["messages in clear are ignored there", "T41: a message in clear in an encrypted room is reported"],
  ["a bot takes no reaction in clear for a yes", "T131: in an encrypted room no reaction in clear is a yes"],
  [
    "or a bot, that is `encryptedOnly` does not listen there",
    "T132: a bot that is encryptedOnly hears nothing",
  ],
  ["what stands in front of it counts as before", "T211: what was said in clear before a room was encrypted"],
  [
    "no single one of them ends the client or the process",
    "T136: a device begins, or says why not, whatever is",
  ],
  ["do if they are shown for as long as it is asked again", "T151: only what stays so ends the client"],
  ["A password is never used to replace one", "A password never replaces an identity"],
  [
    "nor have anything encrypted for a key that is not proven to be the user's",
    "T110: nothing is encrypted for a",
  ],
  [
    "no backup that this device has seen left for another",
    "T51: a version that was left for another gets no key",
  ],
  ["only the member event counts that the own homeserver has checked", "T130: a true invitation is accepted"],
  [
    "takes so many invitations of one user, and of all, as `inviteLimit` says",
    "T134: of 3,000 invitations of one",
  ],
  [
    "The access token and your own headers go to no other origin",
    "T174: to another server goes no header but what asks for",
  ],
  ["no claim to another's session", "T71: a hundred users with ${trust} devices who claim a session first"],
  [
    "no content that removes other members' messages",
    "T82: a member's flood pushes out no other member's events",
  ],
  [
    "no more of the store than a fair share",
    "T34: claims are bounded, and those of one user do not displace",
  ],
  ["no garbage that makes this device use up its keys", "T13: garbage makes at most one new session an hour"],
  ["no keys on request", "T116: all devices together get a hundred answers an hour"],
  [
    "compared in constant time",
    "T58: no comparison of encryption takes longer the more of a secret is right",
  ],
  [
    "Bodies of strangers are limited to 128 KiB and 10 seconds each, and to 8 MiB at once",
    "A body of a gigabyte is refused after its first",
  ],
  [
    "Bodies of strangers are limited to 128 KiB and 10 seconds each, and to 8 MiB at once",
    "A caller that sends a byte a second is cut off",
  ],
  [
    "nothing is sent in clear to an encrypted room or taken from there",
    "T158: with its session alone left of what",
  ],
  ["who has left reads no more", "T158: whatever kind of record is removed, nothing is read by who must not"],
  [
    "A second process can't write to the device",
    "T60: a process that was paused past its lease writes nothing",
  ],
  ["Other users of the machine can't read the files of a store", "Files"],
  [
    "no token, password, key or message is in an error",
    "T57: no key, token or text is in any log, error or object",
  ],
  [
    "that text is left out: verbatim, in part, escaped or percent-encoded",
    "T104: nothing that was sent shows in",
  ],
  ["The push gateway gets IDs of events and rooms, and no content", "registerWake() sets pusher and rule"],
  ["Own devices need no signature as long as the account never had an identity", "T75: own devices count as"],
  ["A store that is not sealed contains private keys in clear", "T107: in the files of a store that is"],
  [
    "then a device that was blocked since is no longer blocked",
    "T84: not noticed: what is known of a user's",
  ],
  ["that is detected before the room's next message after a start", "T59 T84: a ratchet that is put back by"],
  ["it gets no refresh token", "The refresh token goes to the server that it is from, and to no other"],
  ["the endpoints in its metadata must be `https`", "A server on this machine may speak http, and no other"],
  [
    "counts for nothing without the `state`",
    "Without a redirect URI, the browser comes back to this machine",
  ],
  [
    "a code without the verifier is worth nothing",
    "loginByAuthorizationCode() with an own redirect asks for a code with PKCE",
  ],
  [
    "A session by OAuth 2.0 has its tokens revoked",
    "client.logout() revokes the tokens, which deletes the device",
  ],
  [
    "if the server does not hear that, it goes on",
    "A logout that the server does not hear leaves the session",
  ],
  ["vodozemac's memory is wiped", "T108: vodozemac's memory holds a device's keys while it is in use"],
];

/** The titles of all tests. */
async function titles(): Promise<readonly string[]> {
  const found: string[] = [];
  const folders = [new URL("tests/", ROOT)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) folders.push(new URL(`${name}/`, folder));
      if (!name.endsWith("_test.ts")) continue;
      const text = await Deno.readTextFile(new URL(name, folder));
      for (const [, title = ""] of text.matchAll(/Deno\.test\((?:\{\s*name:)?\s*["`]([^"`]*)/g)) {
        found.push(title);
      }
    }
  }
  return found;
}

Deno.test("Each promise of TRUST.md and SECURITY.md in the table is in the page, and has a test", async () => {
  const tests = await titles();
  for (const [path, claims] of [["TRUST.md", TRUST], ["SECURITY.md", SECURITY]] as const) {
    const page = (await Deno.readTextFile(new URL(path, ROOT))).replaceAll(/\s+/g, " ");
    const missing = claims.filter(([sentence, test]) =>
      !page.includes(sentence) || !tests.some((title) => title.startsWith(test))
    );
    assertEquals(missing, [], path);
  }
  assert(tests.length > 1_000, "the titles were found");
});
