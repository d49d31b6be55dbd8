import { tellInProcess } from "./tell_in_process.ts";

tellInProcess("client", "in clear");
