import { assertEquals } from "@std/assert";
import { exportedSymbols } from "../../tools/docs/exported.ts";

/** What types have in capitals, as the contract's types do. */
const IN_TYPES = /HTTPAPI|ContentURI|API(?![a-z])|ID(?![a-z])/g;

/** Constants, and names of JavaScript and of WebRTC. */
const NOT_OURS = /^([A-Z][A-Z0-9_]*|toJSON|sdpMLineIndex)$/;

Deno.test("Acronyms in exported names are words, but for ID, API and ContentURI in types", async () => {
  const wrong: string[] = [];
  for (const { name, members } of await exportedSymbols()) {
    const isType = /^[A-Z]/.test(name);
    if (isCrowded(isType ? name.replace(IN_TYPES, "Of") : name)) wrong.push(name);
    if (isType && /(?<!By)Id$|Api$/.test(name)) wrong.push(name);
    for (const member of members) if (isCrowded(member.name)) wrong.push(`${name}.${member.name}`);
  }
  assertEquals(wrong, []);
});

/** Whether a name has capitals beside each other. */
function isCrowded(name: string): boolean {
  return /^\w+$/.test(name) && !NOT_OURS.test(name) && /[A-Z]{2}/.test(name);
}
