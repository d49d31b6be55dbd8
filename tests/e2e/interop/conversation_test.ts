import { assertEquals } from "@std/assert";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer.ts";
import { eachPeer } from "../support/peer_test_case.ts";

eachPeer("S01 Messages go both ways in an encrypted room", async (kind, server) => {
  await using ours = await Ours.start(server, "ours");
  await using peer = await Peer.start(kind, server, "peer");
  const roomId = await ours.createRoom({ invite: [peer.userId] });
  await peer.joinInvited(roomId);
  await ours.member(roomId, peer.userId);
  const there = await ours.sendText(roomId, "there");
  const heard = await peer.message(({ eventId }) => eventId === there);
  assertEquals([heard.body, heard.encrypted, heard.late], ["there", true, false]);
  const back = await peer.sendText(roomId, "and back");
  const answer = await ours.message(({ eventId }) => eventId === back);
  assertEquals([answer.body, answer.encrypted, answer.late], ["and back", true, false]);
});
