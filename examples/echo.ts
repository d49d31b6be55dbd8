// deno run --unstable-kv --allow-net=matrix.example.org examples/echo.ts https://matrix.example.org ACCESS_TOKEN
import { Client } from "@greenroom/matrix";
import { KvStore } from "@greenroom/matrix/store/kv";
const [baseUrl, token] = Deno.args;
const bot = new Client({ baseUrl, accessToken: token, store: await KvStore.open(), encryption: true });
bot.on("INVITE", (invite) => bot.joinRoom(invite.room_id));
bot.on("m.room.message", (e) => e.content.msgtype === "m.text" && bot.sendNotice(e.room_id, e.content.body));
await bot.start({ ignoreInitialSync: true, signals: true });
