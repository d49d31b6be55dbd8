import { assert, assertEquals, assertRejects } from "@std/assert";
import { ForbiddenError, NotFoundError, ValueError } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { nobody, roomOf } from "./support/scene.ts";
import { eventually, refused, syncToken, syncUntil } from "./support/wait.ts";

const AVATAR = "mxc://localhost/avatar";

/** Profile and presence. */
export const profile: readonly Operation[] = [
  {
    name: "setDisplayname() sets, changes and clears the name, which rooms learn of",
    covers: ["setDisplayname", "getDisplayname"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(bob, alice);
      await alice.setDisplayname("Alice A.");
      assertEquals(await bob.getDisplayname(alice.userId), "Alice A.");
      await alice.setDisplayname("Alice B.", { checkCurrent: false });
      assertEquals(await bob.getDisplayname(alice.userId), "Alice B.");
      await eventually(
        () => bob.getStateEvent(roomId, "m.room.member", { stateKey: alice.userId }),
        ({ displayname }) => displayname === "Alice B.",
      );
      await alice.setDisplayname("");
      assertEquals(await bob.getDisplayname(alice.userId), undefined);
      await alice.setDisplayname(undefined);
      assertEquals(await bob.getDisplayname(alice.userId), undefined);
    },
  },
  {
    name: "setDisplayname() sends nothing if the name is right already, unless the check is off",
    covers: ["setDisplayname"],
    async run(scene) {
      const methods: string[] = [];
      const { fetch } = scene.host;
      const alice = await scene.player("alice", {
        fetch: (input, init) => {
          methods.push((init?.method ?? (input instanceof Request ? input.method : "GET")).toUpperCase());
          return fetch(input, init);
        },
      });
      await alice.setDisplayname("Alice");
      const before = methods.filter((method) => method === "PUT").length;
      await alice.setDisplayname("Alice");
      assertEquals(methods.filter((method) => method === "PUT").length, before);
      await alice.setDisplayname("Alice", { checkCurrent: false });
      assertEquals(methods.filter((method) => method === "PUT").length, before + 1);
    },
  },
  {
    name: "setAvatarUrl() sets and clears the avatar",
    covers: ["setAvatarUrl", "getAvatarUrl"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      assertEquals(await bob.getAvatarUrl(alice.userId), undefined);
      await alice.setAvatarUrl(AVATAR);
      assertEquals(await bob.getAvatarUrl(alice.userId), AVATAR);
      await alice.setAvatarUrl("");
      assertEquals(await bob.getAvatarUrl(alice.userId), undefined);
      await alice.setAvatarUrl(AVATAR, { checkCurrent: false });
      await alice.setAvatarUrl(undefined);
      assertEquals(await bob.getAvatarUrl(alice.userId), undefined);
    },
  },
  {
    name: "getProfile() gives the whole profile, and says if there is no such user",
    covers: ["getProfile", "getDisplayname", "getAvatarUrl"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      await alice.setDisplayname("Alice");
      await alice.setAvatarUrl(AVATAR);
      const { displayname, avatar_url } = await bob.getProfile(alice.userId);
      assertEquals([displayname, avatar_url], ["Alice", AVATAR]);
      await refused(() => bob.getProfile(nobody(scene)), NotFoundError, 404);
      assertEquals(await bob.getDisplayname(nobody(scene)), undefined);
      assertEquals(await bob.getAvatarUrl(nobody(scene)), undefined);
      await assertRejects(() => bob.getProfile("alice" as UserID), ValueError);
    },
  },
  {
    name: "setProfileField() keeps any field, deleteProfileField() takes it away",
    covers: ["setProfileField", "getProfileField", "deleteProfileField"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      await alice.setProfileField("m.tz", "Europe/London");
      await alice.setProfileField("com.example.pronouns", ["they", "them"]);
      assertEquals(await bob.getProfileField(alice.userId, "m.tz"), "Europe/London");
      assertEquals((await bob.getProfile(alice.userId))["com.example.pronouns"], ["they", "them"]);
      await alice.deleteProfileField("m.tz");
      assertEquals(await bob.getProfileField(alice.userId, "m.tz"), undefined);
      await alice.setProfileField("displayname", "By field");
      assertEquals(await bob.getDisplayname(alice.userId), "By field");
      await alice.deleteProfileField("displayname");
      assertEquals(await bob.getDisplayname(alice.userId), undefined);
    },
  },
  {
    name: "setPresence() reaches users who share a room",
    covers: ["setPresence", "getPresence"],
    async run(scene) {
      const alice = await scene.player("alice", { unlimited: "present" });
      const [bob, carol] = await scene.players("bob", "carol");
      await roomOf(alice, bob);
      const since = await syncToken(bob);
      await alice.setPresence({ presence: "unavailable", status: "On stage" });
      const { value: presence } = await syncUntil(
        bob,
        (response) =>
          response.presence?.events?.find(({ sender, content }) =>
            sender === alice.userId && content.presence === "unavailable"
          ),
        since,
      );
      assertEquals(presence.content.status_msg, "On stage");
      const seen = await bob.getPresence(alice.userId);
      assertEquals([seen.presence, seen.status_msg], ["unavailable", "On stage"]);
      await alice.setPresence({ status: "Back" });
      const back = await bob.getPresence(alice.userId);
      assertEquals([back.presence, back.status_msg], ["online", "Back"], "online is the default");
      assert((back.last_active_ago ?? 0) < 60_000);
      await refused(() => carol.getPresence(alice.userId), ForbiddenError, 403);
    },
  },
];
