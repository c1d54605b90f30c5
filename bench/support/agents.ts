import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { newWorkspaces, post } from "./population.ts"

const main = fileURLToPath(new URL("../../packages/agent/src/main.ts", import.meta.url))

export const workerLabel = "bench"

/** Creates a workspace with workers, without starting their agents. */
export const newWorkers = async (serviceUrl: string, count: number) => {
  const [workspace] = await newWorkspaces(serviceUrl, 1)
  if (workspace === undefined) throw new Error("there is no workspace")
  const { accessToken, id } = workspace
  const tokens: Array<string> = []
  for (let n = 0; n < count; n++) {
    const { token } = await post<{ token: string }>(
      serviceUrl,
      `/v1/workspaces/${id}/workers`,
      { name: `Worker ${n}`, labels: [workerLabel] },
      accessToken
    )
    tokens.push(token)
  }
  return { workspaceId: id, tokens }
}

const isOnline = (statusFile: string) =>
  readFile(statusFile, "utf8").then(
    (text) => (JSON.parse(text) as { readonly online: boolean }).online,
    () => false
  )

/** Starts the real agent as a process, and waits until it is online. It logs only warnings. */
export const startAgent = async (
  serviceUrl: string,
  token: string,
  slots: number
): Promise<AsyncDisposable & { readonly pid: number }> => {
  const folder = await mkdtemp(join(tmpdir(), "bench-agent-"))
  const status = join(folder, "status.json")
  const child = spawn(
    process.execPath,
    [main, "run", "--log-level", "warn", "--allow", "127.0.0.0/8", "--slots", String(slots)],
    {
      env: {
        PATH: process.env["PATH"],
        SCHEDULING_URL: serviceUrl,
        SCHEDULING_WORKER_TOKEN: token,
        SCHEDULING_STATUS_FILE: status
      },
      stdio: ["ignore", "ignore", "inherit"]
    }
  )
  const exited = once(child, "exit")
  while (!(await isOnline(status))) {
    if (child.exitCode !== null) throw new Error(`the agent exited with ${child.exitCode}`)
    await setTimeout(50)
  }
  return {
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM")
      await exited
      await rm(folder, { recursive: true, force: true })
    }
  }
}
