import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

/**
 * The cache of compiled code is beside the code, because whoever can write there can change the
 * code anyway. Everybody can write to Node's default folder in /tmp. If the process cannot write
 * here, each start takes 0.3 s longer.
 */
const cache = new URL("../../../node_modules/.cache/scheduling-service", import.meta.url)

enableCompileCache(fileURLToPath(cache))
await import("./launch.ts")
