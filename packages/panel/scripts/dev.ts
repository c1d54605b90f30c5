/** Starts the panel with hot reload, and the service, which restarts when its code changes. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createServer } from "vite"

const root = join(import.meta.dirname, "../../..")

const service = spawn(process.execPath, ["--watch", "packages/server/src/main.ts"], {
  cwd: root,
  stdio: "inherit"
})
process.once("exit", () => service.kill())
process.once("SIGINT", () => process.exit(0))
process.once("SIGTERM", () => process.exit(0))

process.env["SCHEDULING_URL"] ??= `http://127.0.0.1:${process.env["PORT"] ?? "4000"}`
const panel = await createServer({
  configFile: join(import.meta.dirname, "../vite.config.ts"),
  server: { host: "127.0.0.1" }
})
await panel.listen()
console.log(`the panel, with hot reload, is at ${panel.resolvedUrls?.local[0]}`)
