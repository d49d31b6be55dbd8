// deno run --allow-net=matrix.example.org examples/echo.ts https://matrix.example.org ACCESS_TOKEN
import { Client } from "@greenroom/matrix";
const bot = new Client({ baseUrl: Deno.args[0], token: Deno.args[1] });
bot.on("INVITE", (invite) => bot.joinRoom(invite.room_id));
bot.on("m.room.message", (e) => e.content.msgtype === "m.text" && bot.sendNotice(e.room_id, e.content.body));
await bot.start({ ignoreInitialSync: true });
