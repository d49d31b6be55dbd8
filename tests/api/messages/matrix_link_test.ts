import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type MatrixLink, matrixToUrl, matrixUri, parseMatrixLink, ValueError } from "@greenroom/matrix";

/** The examples of the specification's appendix on URIs. */
const EXAMPLES: readonly [link: MatrixLink, uri: string, url: string][] = [
  [
    { id: "@alice:example.org", action: "chat" },
    "matrix:u/alice:example.org?action=chat",
    "https://matrix.to/#/%40alice%3Aexample.org",
  ],
  [
    { id: "#somewhere:example.org" },
    "matrix:r/somewhere:example.org",
    "https://matrix.to/#/%23somewhere%3Aexample.org",
  ],
  [
    { id: "!somewhere:example.org", via: ["elsewhere.ca"] },
    "matrix:roomid/somewhere:example.org?via=elsewhere.ca",
    "https://matrix.to/#/!somewhere%3Aexample.org?via=elsewhere.ca",
  ],
  [
    { id: "#somewhere:example.org", eventId: "$event" },
    "matrix:r/somewhere:example.org/e/event",
    "https://matrix.to/#/%23somewhere%3Aexample.org/%24event",
  ],
  [
    { id: "!somewhere:example.org", eventId: "$event", via: ["elsewhere.ca"] },
    "matrix:roomid/somewhere:example.org/e/event?via=elsewhere.ca",
    "https://matrix.to/#/!somewhere%3Aexample.org/%24event?via=elsewhere.ca",
  ],
];

Deno.test("Links are written as in the specification's examples, and read again", () => {
  for (const [link, uri, url] of EXAMPLES) {
    const { action: _, ...place } = link;
    assertEquals([matrixUri(link), matrixToUrl(link)], [uri, url]);
    assertEquals([parseMatrixLink(uri), parseMatrixLink(url)], [link, place]);
  }
});

Deno.test("parseMatrixLink() reads what is around: drafts, an authority, other cases, links that are not escaped", () => {
  const links: [link: string, read: MatrixLink][] = [
    ["MATRIX:u/alice:example.org", { id: "@alice:example.org" }],
    ["matrix:user/alice%3Aexample.org", { id: "@alice:example.org" }],
    ["matrix:room/stage:b.org/event/cue#there", { id: "#stage:b.org", eventId: "$cue" }],
    ["matrix://example.org/u/alice:b.org", { id: "@alice:b.org" }],
    ["matrix:roomid/nodomain0123?via=a.org&via=b.org:80", {
      id: "!nodomain0123",
      via: ["a.org", "b.org:80"],
    }],
    ["matrix:roomid/x:b.org?action=join&via=a.org&x=y", { id: "!x:b.org", via: ["a.org"], action: "join" }],
    ["matrix:r/caf%C3%A9:b.org", { id: "#café:b.org" }],
    ["matrix:u/alice:b.org?action=dance", { id: "@alice:b.org" }],
    ["matrix:u/alice:b.org?action=join", { id: "@alice:b.org" }],
    ["https://matrix.to/#/#stage:b.org", { id: "#stage:b.org" }],
    ["http://www.Matrix.to/#/@alice:b.org", { id: "@alice:b.org" }],
    ["https://matrix.to/#/!room:b.org/$a/b+c", { id: "!room:b.org", eventId: "$a/b+c" }],
    ["https://matrix.to/#/!room:b.org/%24a%2Fb%2Bc?via=a.org", {
      id: "!room:b.org",
      eventId: "$a/b+c",
      via: ["a.org"],
    }],
  ];
  for (const [link, read] of links) assertEquals(parseMatrixLink(link), read, link);
});

Deno.test("parseMatrixLink() refuses what is malformed, says which link, and shows no more of it than the start", () => {
  const bad = [
    "",
    "matrix:",
    "matrix:u",
    "matrix:u/",
    "matrix:u/alice",
    "matrix:u/alice:",
    "matrix:u/alice:example.org:port",
    "matrix:u/alice:example.org/",
    "matrix:u/alice:example.org/e/cue",
    "matrix:u/%zz:example.org",
    "matrix:u/%ff:example.org",
    "matrix:r/stage:b.org/e",
    "matrix:r/stage:b.org/e/",
    "matrix:r/stage:b.org/x/cue",
    "matrix:r/stage:b.org/e/cue/more",
    "matrix:g/group:b.org",
    "matrix:constructor/x:b.org",
    "matrix:@alice:b.org",
    "matrix:roomid/x?via=",
    "matrix:roomid/x?via=https://evil.example",
    "https://matrix.to/",
    "https://matrix.to/#/",
    "https://matrix.to/#/+group:b.org",
    "https://matrix.to/#/alice:b.org",
    "https://matrix.to/#/!room:b.org/",
    "https://matrix.to/#/!room:b.org/cue",
    "https://matrix.to/#/@alice:b.org/$cue",
    "https://matrix.to/#/%40%zz",
    "https://matrix.to.evil.example/#/@alice:b.org",
    "https://evil.example/https://matrix.to/#/@alice:b.org",
    "mxc://a.org/b",
    `matrix:roomid/${"x".repeat(20_000)}`,
  ];
  for (const link of bad) {
    const error = assertThrows(() => parseMatrixLink(link), ValueError, "Cannot read the link");
    assert(error.message.length < 500);
  }
  for (const link of [undefined, null, 7, {}]) assertThrows(() => parseMatrixLink(link as never), ValueError);
});

Deno.test("Links are written of what goes together, and of nothing else", () => {
  const bad = [
    {},
    { id: "alice:b.org" },
    { id: "@alice" },
    { id: "$event" },
    { id: "+group:b.org" },
    { id: "@alice:b.org", eventId: "$event" },
    { id: "!room", eventId: "event" },
    { id: "!room", via: ["not a server"] },
    { id: "!room", action: "chat" },
    { id: "@alice:b.org", action: "join" },
  ] as unknown as MatrixLink[];
  for (const link of bad) {
    assertThrows(() => matrixUri(link), ValueError, "Cannot write the link");
    assertThrows(() => matrixToUrl(link), ValueError, "Cannot write the link");
  }
});

Deno.test("A link leads to its ID, whatever characters that has", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 })
    .filter((text) => !/[:\0]/.test(text));
  const place = fc.oneof(
    text.map((text) => `@${text}:b.org` as const),
    text.map((text) => `#${text}:b.org` as const),
    text.map((text) => `!${text}` as const),
  );
  fc.assert(
    fc.property(place, text, fc.boolean(), (id, event, withEvent) => {
      const link: MatrixLink = withEvent && !id.startsWith("@") ? { id, eventId: `$${event}` } : { id };
      assertEquals(parseMatrixLink(matrixUri(link)), link);
      assertEquals(parseMatrixLink(matrixToUrl(link)), link);
      assertEquals(new URL(matrixUri(link)).href, matrixUri(link), "as a URL parser has it");
    }),
    { seed: 1 },
  );
});
