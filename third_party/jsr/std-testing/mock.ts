// @ts-types="./mock.d.ts"
export { assertSpyCalls, spy } from "npm:deno-std@1.2.0/testing/mock.js";
