import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

/**
 * The folder of the compile cache. It is next to the code, because anybody who can write there can
 * change the code anyway. Node's default folder, in /tmp, is writable for all users. If the process
 * cannot write to this folder, each start takes 0.3 s longer.
 */
const cache = new URL("../../../node_modules/.cache/scheduling-service", import.meta.url)

enableCompileCache(fileURLToPath(cache))
await import("./launch.ts")
