import { tellInProcess } from "./tell_in_process.ts";

tellInProcess("kit", "in clear");
