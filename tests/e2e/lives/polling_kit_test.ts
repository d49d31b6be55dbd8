import { tellPolling } from "./polling.ts";

tellPolling("kit");
