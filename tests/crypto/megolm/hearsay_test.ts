/** What others say of a session, and what is kept of it. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Hearsay, metHearsay, withHearsay } from "../../../src/crypto/megolm/inbound_record.ts";

const said = (source: Hearsay["source"], maker: string, sharedHistory = true): Hearsay => {
  return { source, senderKey: maker, senderEd25519: `${maker}'s`, sharedHistory };
};

/** What is known after one after the other was said. */
function known(...all: Hearsay[]): readonly Hearsay[] {
  return all.reduce<readonly Hearsay[]>((before, each) => withHearsay(before, each) ?? before, []);
}

const NOT_SHARED = false;
const SOURCES = ["forwarded", "export", "bundle", "backup"] as const;

Deno.test("T52: claims of a session are kept by the quality of their source, and of one source in order", () => {
  const rows: [said: Hearsay[], known: Hearsay[]][] = [
    [[said("export", "one")], [said("export", "one")]],
    [[said("backup", "one"), said("export", "two")], [said("export", "two"), said("backup", "one")]],
    [[said("export", "one"), said("export", "two")], [said("export", "one"), said("export", "two")]],
    [[said("export", "one"), said("backup", "two")], [said("export", "one"), said("backup", "two")]],
    [
      SOURCES.toReversed().map((source) => said(source, source)),
      SOURCES.map((source) => said(source, source)),
    ],
  ];
  for (const [all, expected] of rows) assertEquals(known(...all), expected);
});

Deno.test("a maker whom a better source names too counts as named by that", () => {
  assertEquals(known(said("backup", "one"), said("export", "one")), [said("export", "one")]);
  assertEquals(known(said("export", "one"), said("backup", "one")), [said("export", "one")]);
  const [first] = known(said("backup", "one"), said("export", "two"), said("forwarded", "one"));
  assertEquals(first, said("forwarded", "one"));
  const other = { ...said("export", "one"), senderEd25519: "another" };
  assertEquals(known(said("export", "one"), other).length, 2);
});

Deno.test("a maker of whom one source says that sharing is not allowed has not allowed it", () => {
  for (const [one, other] of [["export", "backup"], ["backup", "export"], ["export", "export"]] as const) {
    for (const shared of [true, false]) {
      const [kept] = known(said(one, "one", shared), said(other, "one", !shared));
      assert(kept?.sharedHistory === false);
    }
  }
});

Deno.test("who says nothing of sharing neither allows it nor takes it back", () => {
  const silent = { source: "export", senderKey: "one", senderEd25519: "one's" } as const;
  assertEquals(withHearsay([], silent)?.[0]?.sharedHistory, NOT_SHARED);
  assertEquals(withHearsay([said("export", "one")], silent), undefined);
});

Deno.test("of one maker it is remembered who has said so first, or better, and of others nothing is changed", () => {
  const byOne = { ...said("bundle", "one"), sharedBy: "@a:x" } as const;
  const byAnother = { ...said("bundle", "one", NOT_SHARED), sharedBy: "@b:x" } as const;
  const other = said("bundle", "two");
  const both = known(byOne, other, byAnother);
  assertEquals(both, [{ ...byOne, sharedHistory: false }, other]);
  assertEquals(known(...both, said("export", "one")), [said("export", "one", NOT_SHARED), other]);
  assertEquals(known(said("backup", "one"), other, byOne), [other, byOne]);
  const sameEd25519 = { ...said("export", "three"), senderEd25519: "one's" };
  assertEquals(known(said("export", "one"), sameEd25519).length, 2);
});

Deno.test("whose message has come is named first, and nobody else is", () => {
  const [best, other, worst] = [said("forwarded", "one"), said("export", "two"), said("backup", "three")];
  assertEquals(metHearsay([best, other, worst], worst), [{ ...worst, isMet: true }, best, other]);
});

Deno.test("four makers are kept; one more takes the place of one from a worse source, and of no other", () => {
  const makers = ["1", "2", "3", "4"];
  const full = known(...makers.map((maker) => said("export", maker)));
  assertEquals(full.map(({ senderKey }) => senderKey), makers);
  for (const source of ["export", "backup"] as const) {
    assertEquals(withHearsay(full, said(source, "5")), undefined);
  }
  assertEquals(withHearsay(full, said("forwarded", "5"))?.map(({ senderKey }) => senderKey), [
    "5",
    "1",
    "2",
    "3",
  ]);
});

Deno.test("to say the same again is nothing new", () => {
  const any = fc.record({
    source: fc.constantFrom(...SOURCES),
    senderKey: fc.constantFrom("1", "2", "3", "4", "5"),
    senderEd25519: fc.constantFrom("", "a"),
    sharedHistory: fc.boolean(),
  });
  fc.assert(fc.property(fc.array(any), (all) => {
    const kept = known(...all);
    assertEquals(known(...all, ...kept), kept);
  }));
});
