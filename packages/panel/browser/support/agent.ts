import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const program = join(import.meta.dirname, "../../../agent/src/main.ts")

/**
 * The real agent of a worker as a process, which ends with this one at the latest. Answers how it is
 * stopped before.
 */
export const startAgent = (baseUrl: string, token: string): (() => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), "panel-agent-"))
  const child = spawn(process.execPath, [program, "run", "--allow", "127.0.0.0/8"], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      SCHEDULING_URL: baseUrl,
      SCHEDULING_WORKER_TOKEN: token
    },
    stdio: "ignore"
  })
  child.unref()
  process.once("exit", () => child.kill("SIGTERM"))
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  return async () => {
    child.kill("SIGTERM")
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}
