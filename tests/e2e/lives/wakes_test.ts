import { tellBy } from "./woken_host.ts";

tellBy("wake");
