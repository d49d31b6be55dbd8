// @ts-types="./abortable.d.ts"
export { abortable } from "npm:deno-std@1.4.0/async/abortable.js";
