import { tellPolling } from "./polling.ts";

tellPolling("client", "sliding");
tellPolling("kit", "sliding");
