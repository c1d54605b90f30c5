// @tags processes
import { execFile, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { type Server, startServer } from "./support/server.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** Returns the code in the README's section "A first task". */
const walk = () => {
  const readme = readFileSync(`${root}README.md`, "utf8")
  const [, section = ""] = /\n## A first task\n([^]*?)\n## /.exec(readme) ?? []
  const blocks = (language: string) =>
    [...section.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
      .filter(([, name]) => name === language)
      .map(([, , code = ""]) => code)
  return { shell: blocks("sh"), typescript: blocks("ts") }
}

const missing = ["bash", "curl", "jq"].filter(
  (tool) => spawnSync(tool, ["--version"], { stdio: "ignore" }).status !== 0
)
const reason = missing.length > 0 ? ` (skipped: no ${missing.join(", no ")} here)` : ""

describe("the README's first task", () => {
  const started: { server?: Server } = {}
  beforeAll(async () => {
    started.server = await startServer({ EGRESS_ALLOW: undefined }, inject("storeFiles"))
  })
  afterAll(() => started.server?.[Symbol.asyncDispose](), 30_000)

  it.skipIf(missing.length > 0)(
    `ends with an execution that happened${reason}`,
    async () => {
      const { server } = started
      const { shell, typescript } = walk()
      expect([shell.length, typescript.length]).toEqual([2, 1])
      const program = [
        "set -euo pipefail",
        ...shell,
        "export SCHEDULING_API_KEY=$KEY",
        `"$NODE" --input-type=module-typescript <<'TypeScript'`,
        ...typescript,
        "TypeScript"
      ]
      const env = {
        PATH: process.env["PATH"],
        NODE: process.execPath,
        SCHEDULING_URL: server?.url
      }
      // The README uses the port that `npm start` uses, but the test uses another one.
      const said = program.join("\n").replaceAll("http://127.0.0.1:4000", server?.url ?? "")
      const { stderr, stdout } = await new Promise<{ stderr: string; stdout: string }>((resolve) =>
        execFile(
          "bash",
          ["--norc", "-c", said],
          { cwd: root, env, timeout: 50_000 },
          (_error, stdout, stderr) => resolve({ stdout, stderr })
        )
      )
      expect(stderr).toBe("")
      expect(stdout).toMatch(/"status": "succeeded"/)
      expect(stdout).toMatch(/"webhook-signature": "v1,/)
      expect(stdout).toMatch(/"body": "\{\\"pages\\":\[\\"\/\\"\]\}"/)
      expect(stdout).toMatch(/^succeeded \{"method":"POST",/m)
    },
    60_000
  )
})
