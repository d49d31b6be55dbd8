// @ts-types="./base58.d.ts"
export { decodeBase58, encodeBase58 } from "npm:deno-std@1.4.0/encoding/base58.js";
