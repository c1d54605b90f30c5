import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const program = join(import.meta.dirname, "../../../agent/src/main.ts")

const running = new Set<() => Promise<void>>()

/** Stops all agents that are still running. This process can end without an `exit` event. */
export const stopAgents = async (): Promise<void> => {
  await Promise.all([...running].map((stop) => stop()))
}

/** Starts a worker's real agent as a process. Returns a function that stops it. */
export const startAgent = (
  baseUrl: string,
  token: string,
  flags: ReadonlyArray<string> = []
): (() => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), "panel-agent-"))
  const child = spawn(process.execPath, [program, "run", "--allow", "127.0.0.0/8", ...flags], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      SCHEDULING_URL: baseUrl,
      SCHEDULING_WORKER_TOKEN: token
    },
    stdio: "ignore"
  })
  process.once("exit", () => child.kill("SIGTERM"))
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const stop = async () => {
    running.delete(stop)
    child.kill("SIGTERM")
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  running.add(stop)
  return stop
}
