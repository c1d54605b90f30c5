// @tags processes long
import { execFile, spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { type Server, startServer } from "./support/server.ts"

const folder = fileURLToPath(new URL("../../../examples/", import.meta.url))

/** The lines that each example's output must contain. */
const says: Readonly<Record<string, ReadonlyArray<string | RegExp>>> = {
  "batch.ts": [
    /^ada: will be called at \S+Z\.$/m,
    /^grace: will be called at \S+Z\.$/m,
    /^alan: 422, .+ at run_at\.$/m
  ],
  "callbacks.ts": [
    /^\/failed: execution\.failed, [\da-f-]{36}, responded with 422$/m,
    /^\/done: execution\.succeeded, [\da-f-]{36}, no error$/m,
    /^2 deliveries, /m
  ],
  "chain.ts": [
    "POST /days/2026-01-31/close, Bearer t0ken",
    "The run failed:",
    "login: succeeded, responded with 200",
    "close: failed, responded with 422",
    "alarm: succeeded, responded with 200",
    /report: skipped$/m
  ],
  "ci-deploy-hook.ts": ['"migrate the search index" succeeded.'],
  "completion.ts": [
    "It is running: the target responded with 202 and will report later.",
    "  40 of 42 rows",
    'It succeeded: {"rows":42}'
  ],
  "delayed.ts": ['Called with {"text":"Two seconds are over"}.', /^It succeeded, \d+ ms late\.$/m],
  "effect-program.ts": [
    /^The next three: \S+T09:30:00\+0[12]:00, /m,
    'Created the cron task "morning report", 30 9 * * MON-FRI in Europe/Berlin.',
    "A key cannot rename its workspace: JwtOnly."
  ],
  "heartbeat.ts": [
    'Created the monitor "Nightly backup", new.',
    /^It is up\. The run took \d+ ms\.$/m,
    "An incident is open: The job reported a failure.",
    "fail: down, Error: the disk is full"
  ],
  "notifications.ts": [
    "execution.failed: Failed: Nightly report",
    "task.recovered: Recovered: Nightly report"
  ],
  "queue.ts": [
    /^\d are active and \d+ wait\.$/m,
    /^All 10 have finished, at most [12] at once\.$/m
  ],
  "quickstart.py": ["Ran it by hand: succeeded, status code 200, no error.", "Deleted the task"],
  "quickstart.sh": ['It succeeded: {"status_code":200,"error":null}.', "Deleted the task"],
  "quickstart.ts": [
    /^Ran it by hand: succeeded in \d+ ms, after 1 attempts\.$/m,
    "attempt 1: 200",
    'In the workspace: "warm the cache", active.'
  ],
  "rotate-key.ts": [
    /^The key pak_\S+ works\.$/m,
    /^Rotated: pak_\S+ works, pak_\S+ works\.$/m,
    /^Revoked: pak_\S+ is rejected, pak_\S+ works\.$/m
  ],
  "secrets.ts": [
    "The server got Bearer t0ken-of-the-robot at /reports/2026-01-31.",
    'The execution shows {"you_sent":"Bearer •••"}.',
    "The server got Bearer another-t0ken at /reports/2026-02-01.",
    /^secret_refused: the secret API_TOKEN may not be sent to (http:\/\/localhost:\d+): add "\1" to its allowed_hosts/m,
    'The cron task "Nightly report" uses this secret. Change it first.'
  ],
  "webhook-receiver.ts": [
    /verified [\da-f-]{36}, sent \S+Z$/m,
    "The service says: succeeded.",
    "rejected: no_matching_signature",
    "They get 401."
  ]
}

const tools: Readonly<Record<string, ReadonlyArray<string>>> = {
  "quickstart.py": ["python3"],
  "quickstart.sh": ["bash", "curl", "jq"]
}

const missingTools = (name: string) =>
  (tools[name] ?? []).filter(
    (tool) => spawnSync(tool, ["--version"], { stdio: "ignore" }).status !== 0
  )

const commandOf = (name: string): string => {
  if (name.endsWith(".ts")) return process.execPath
  return name.endsWith(".py") ? "python3" : "bash"
}

/** Runs an example without environment variables that could change its output. */
const run = (name: string, { url }: Pick<Server, "url"> = { url: "" }) =>
  new Promise<{ readonly code: unknown; readonly stderr: string; readonly stdout: string }>(
    (resolve) => {
      const { HOME, PATH } = process.env
      const env = { HOME, PATH, SCHEDULING_URL: url, TARGET_URL: `${url}/v1/health` }
      const options = { env, timeout: 50_000 }
      execFile(commandOf(name), [folder + name], options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : (error.code ?? error.signal), stderr, stdout })
      )
    }
  )

describe("the examples", () => {
  it("are listed in their README, and each is tested", () => {
    const files = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "README.md")
      .map(({ name }) => name)
      .toSorted()
    const readme = readFileSync(`${folder}README.md`, "utf8")
    const listed = [...readme.matchAll(/^\| `(?:\S+ )*examples\/(\S+)`/gm)].map(([, name]) => name)
    expect(listed.toSorted()).toEqual(files)
    expect(Object.keys(says).toSorted()).toEqual(files)
  })

  describe.concurrent("on a server", () => {
    const servers: { open?: Server; strict?: Server } = {}
    beforeAll(async () => {
      const starts = [
        startServer({}, inject("storeFiles")).then((server) => (servers.open = server)),
        startServer({ EGRESS_ALLOW: undefined }, inject("storeFiles")).then(
          (server) => (servers.strict = server)
        )
      ]
      await Promise.all(starts)
    })
    afterAll(async () => {
      await Promise.all([servers.open, servers.strict].map((one) => one?.[Symbol.asyncDispose]()))
    }, 30_000)

    for (const [name, lines] of Object.entries(says)) {
      const missing = missingTools(name)
      const reason = missing.length > 0 ? ` (skipped: no ${missing.join(", no ")} here)` : ""
      it.skipIf(missing.length > 0)(`${name} prints its result${reason}`, async () => {
        const result = await run(name, servers.open)
        expect(result).toEqual({ code: 0, stderr: "", stdout: expect.any(String) })
        for (const line of lines) expect(result.stdout).toMatch(line)
      })
    }

    it("explain how to allow calls to this machine", async () => {
      const result = await run("delayed.ts", servers.strict)
      expect(result).toEqual({ code: 1, stderr: "", stdout: expect.any(String) })
      expect(result.stdout).toContain("EGRESS_ALLOW=127.0.0.0/8 npm start")
    })
  })
})
