import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { newWorkspaces, post } from "./population.ts"

const main = fileURLToPath(new URL("../../packages/agent/src/main.ts", import.meta.url))

/** The label of all workers of the bench. */
export const label = "bench"

/** A workspace with so many workers, whose agents do not run yet. */
export const newWorkers = async (serviceUrl: string, count: number) => {
  const [workspace] = await newWorkspaces(serviceUrl, 1)
  if (workspace === undefined) throw new Error("there is no workspace")
  const { accessToken, id } = workspace
  const tokens: Array<string> = []
  for (let n = 0; n < count; n++) {
    const { token } = await post<{ token: string }>(
      serviceUrl,
      `/v1/workspaces/${id}/workers`,
      { name: `Worker ${n}`, labels: [label] },
      accessToken
    )
    tokens.push(token)
  }
  return { workspaceId: id, tokens }
}

/** The real agent as a process, once it is online. */
export const startAgent = async (
  serviceUrl: string,
  token: string,
  slots: number
): Promise<AsyncDisposable & { readonly pid: number }> => {
  const folder = await mkdtemp(join(tmpdir(), "bench-agent-"))
  const child = spawn(
    process.execPath,
    [main, "run", "--allow", "127.0.0.0/8", "--slots", String(slots)],
    {
      env: {
        PATH: process.env["PATH"],
        SCHEDULING_URL: serviceUrl,
        SCHEDULING_WORKER_TOKEN: token,
        SCHEDULING_STATUS_FILE: join(folder, "status.json")
      },
      stdio: ["ignore", "pipe", "inherit"]
    }
  )
  const exited = once(child, "exit")
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("is online")) resolve()
    })
    child.once("exit", (code) => reject(new Error(`the agent ended with ${code}`)))
  })
  return {
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM")
      await exited
      await rm(folder, { recursive: true, force: true })
    }
  }
}
