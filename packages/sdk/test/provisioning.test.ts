// @tags processes
import { SchedulingClient } from "@scheduling/sdk"
import { execFile, spawnSync } from "node:child_process"
import { mkdtemp, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, describe, expect, it } from "vitest"
import { readSnippets } from "./support/documents.ts"
import { freePort } from "./support/server.ts"

const main = fileURLToPath(new URL("../../server/src/main.ts", import.meta.url))

const missing = ["bash", "curl", "openssl", "sed"].filter(
  (tool) => spawnSync(tool, ["version"], { stdio: "ignore" }).error !== undefined
)
const reason = missing.length > 0 ? ` (skipped: no ${missing.join(", no ")} here)` : ""

/** Returns the page's commands. The server runs in the background. */
const program = (port: number) =>
  readSnippets()
    .filter(({ language, page }) => page === "docs/provisioning.md" && language === "sh")
    .map(({ code }) => code)
    .join("\n")
    .replace(
      /^npm start$/m,
      '"$NODE" "$MAIN" < /dev/null > server.log 2>&1 &\necho $! > server.pid'
    )
    .replaceAll(":4000", `:${port}`)

describe("the page about provisioning", () => {
  const started: { folder?: string } = {}
  const read = (name: string) => readFile(join(started.folder ?? "", name), "utf8")
  afterAll(async () => {
    const pid = Number(await read("server.pid").catch(() => "0"))
    if (pid > 0) process.kill(pid, "SIGKILL")
    if (started.folder !== undefined) await rm(started.folder, { recursive: true, maxRetries: 5 })
  })

  it.skipIf(missing.length > 0)(
    `sets up a server and a workspace with curl alone${reason}`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "provisioning-"))
      started.folder = folder
      const port = await freePort()
      const output = await promisify(execFile)(
        "bash",
        ["--norc", "-c", `set -euo pipefail\n${program(port)}`],
        {
          cwd: folder,
          timeout: 200_000,
          env: {
            NODE: process.execPath,
            MAIN: main,
            PORT: String(port),
            DATA_DIR: join(folder, "data"),
            PATH: process.env["PATH"]
          }
        }
      )
      expect(output).toEqual({ stdout: "", stderr: "" })

      const client = new SchedulingClient({
        baseUrl: `http://127.0.0.1:${port}`,
        clientId: (await read("setup/client-id")).trim(),
        clientSecret: (await read("setup/client-secret")).trim()
      })
      const { data: workers } = await client.workers.list()
      expect(workers).toMatchObject([{ name: "office", labels: ["db"] }])
      const { data: keys } = await client.apiKeys.list()
      expect(keys).toMatchObject([{ name: "deploys" }, { name: "First start" }])
      const { data: invitations } = await client.invitations.list()
      expect(invitations).toMatchObject([{ email: "grace@example.com", role: "editor" }])
      expect(await client.cron.get("key:reports:nightly")).toMatchObject({ name: "Nightly report" })
      const { data: events } = await client.workspaces.listAuditEvents({ subject_kind: "worker" })
      expect(events).toMatchObject([{ actor: { kind: "service_account", name: "provisioning" } }])
      expect((await stat(join(folder, "setup/api-key"))).mode & 0o777).toBe(0o600)
      expect(await read("setup/worker-token")).toMatch(/^\w+_[\w-]{43}\n?$/)
      expect(await read("setup/deploy-key")).toMatch(/^pak_[\w-]{43}\n?$/)
      expect(await read("setup/invitation")).toMatch(/^[\w-]{43}\n?$/)
    },
    240_000
  )
})
