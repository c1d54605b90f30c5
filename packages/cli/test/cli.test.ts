// @tags processes long
import { SchedulingClient } from "@scheduling/sdk"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { afterAll, assert, beforeAll, describe, expect, inject, it } from "vitest"
// oxlint-disable-next-line house/borders -- starts the service as users do, like the SDK's tests
import { type Server, startServer } from "../../sdk/test/support/server.ts"
import { commands } from "../src/commands.ts"
import { readCrontab } from "../src/importers/readCrontab.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "scheduling-cli-"))
const password = "a password for tests"

let server: Server
let key: string
let accounts = 0

const account = async () => {
  const email = `cli-${++accounts}@example.com`
  const client = await SchedulingClient.register({ email, password, baseUrl: server.url })
  return { client, email }
}

const newKey = async () => {
  const { client } = await account()
  const created = await client.apiKeys.create({
    name: "cli",
    scopes: [
      "tasks:read",
      "tasks:write",
      "executions:read",
      "monitors:read",
      "monitors:write",
      "notifications:read",
      "notifications:write",
      "workspace:read"
    ]
  })
  return { client, key: created.key }
}

beforeAll(async () => {
  server = await startServer({ RATE_LIMIT: "0" }, inject("storeFiles"))
  ;({ key } = await newKey())
  writeFileSync(join(folder, "scheduling.yaml"), document)
  const file = join(folder, "scheduling")
  const bundle = await rolldown({ input: main, platform: "node" })
  await bundle.write({ file: `${file}.mjs`, format: "esm", codeSplitting: false })
  await bundle.close()
  const program = `#!/bin/sh\nexec "${process.execPath}" "${file}.mjs" "$@"\n`
  writeFileSync(file, program, { mode: 0o755 })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
}, 30_000)

const document = `version: 1
owner: billing
queues:
  - { key: billing, name: Billing server, max_concurrency: 2 }
channels:
  - { key: ops, name: Operations, kind: webhook, config: { url: "https://api.example.com/alerts" } }
  - { key: pager, name: Pager, kind: webhook, config: { url: "https://api.example.com/pager" } }
escalations:
  - { key: on-call, name: On call, steps: [{ after_seconds: 300, channel_keys: [pager] }] }
tasks:
  - { key: "reports:nightly", name: Nightly report, schedule: "0 3 * * *", url: "\${TARGET}/v1/echo" }
delayed:
  - { key: "trial:ada", url: "https://api.example.com/ended", run_at: "2027-06-01T00:00:00Z" }
chains:
  - { key: "day:close", name: Close the day, steps: [{ name: first, url: "https://api.example.com/" }] }
monitors:
  - { kind: heartbeat, key: backup, name: Backup, period_seconds: 3600 }
`

interface Options {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a command line in a shell that finds `scheduling` in its `PATH`. */
const shell = async (line: string, { env = {}, input = "" }: Options = {}) => {
  const child = spawn("sh", ["-c", line], {
    cwd: folder,
    env: {
      PATH: `${folder}:${process.env["PATH"]}`,
      XDG_CONFIG_HOME: join(folder, "config"),
      SCHEDULING_URL: server.url,
      SCHEDULING_API_KEY: key,
      TARGET: server.url,
      ...env
    }
  })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  child.stdin.on("error", () => {})
  child.stdin.end(input)
  const [code, signal] = await once(child, "close")
  return { code, signal, stdout, stderr }
}

const jsonLines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("definitions", () => {
  it("are planned, applied, exported and pruned", async () => {
    const first = await shell("scheduling plan")
    expect(first).toMatchObject({ code: 2, stderr: "" })
    expect(first.stdout).toContain("+ create tasks reports:nightly")
    expect(first.stdout).toContain("8 to create, 0 to change, 0 to delete, 0 unchanged")
    expect(await shell("scheduling apply")).toMatchObject({ code: 0 })
    const same = await shell("scheduling plan --json")
    expect(same.code).toBe(0)
    expect(JSON.parse(same.stdout).counts.unchanged).toBe(8)

    const exported = await shell("scheduling export --owner billing > exported.yaml")
    expect(exported).toMatchObject({ code: 0, stderr: "" })
    expect(await shell("scheduling plan exported.yaml --prune")).toMatchObject({ code: 0 })

    writeFileSync(join(folder, "less.yaml"), "version: 1\nowner: billing\nqueues: []\n")
    const asked = await shell("scheduling apply less.yaml --prune")
    expect(asked).toMatchObject({ code: 1 })
    expect(asked.stderr).toContain("8 records would be deleted. Add --yes")
    expect(await shell("scheduling prune less.yaml --yes")).toMatchObject({ code: 0 })
    expect((await shell("scheduling cron list -q")).stdout).toBe("")
  })

  it("are rejected with the path of each problem and the id of the request", async () => {
    writeFileSync(
      join(folder, "wrong.yaml"),
      'version: 1\ntasks: [{ key: a, name: a, schedule: "99 * * * *", url: "https://a.example/" }]\n'
    )
    const wrong = await shell("scheduling apply wrong.yaml")
    expect(wrong).toMatchObject({ code: 1, stdout: "" })
    expect(wrong.stderr).toMatch(/^scheduling: tasks\.0\.schedule: .*99.* \(request \S+\)\n$/)
    const unset = await shell("scheduling plan", { env: { TARGET: "" } })
    expect(unset.code).toBe(1)
    expect((await shell("unset TARGET; scheduling plan")).stderr).toContain(
      "scheduling.yaml: the variable TARGET is not set."
    )
    expect((await shell("scheduling plan none.yaml")).stderr).toContain("none.yaml cannot be read")
  })
})

describe("the commands of records", () => {
  it("create, show, change and delete records by key, name and id", async () => {
    const task = "name: By hand\nkey: by-hand\nschedule: 0 3 * * *\nurl: https://api.example.com/\n"
    const created = await shell("scheduling cron create --json", { input: task })
    expect(created).toMatchObject({ code: 0, stderr: "" })
    const { id } = JSON.parse(created.stdout)
    for (const word of ["by-hand", "'By hand'", id]) {
      const { stdout } = await shell(`scheduling cron get ${word} --json`)
      expect(JSON.parse(stdout).id).toBe(id)
    }
    expect((await shell("scheduling cron get by-hand")).stdout).toContain("schedule: 0 3 * * *\n")
    expect((await shell("scheduling cron pause by-hand")).stdout).toContain("status: paused")
    expect((await shell("scheduling cron resume by-hand")).stdout).toContain("status: active")
    const editor = `sed -i "s/0 3/0 4/"`
    const edited = await shell("scheduling cron edit by-hand --json", { env: { EDITOR: editor } })
    expect(JSON.parse(edited.stdout)).toMatchObject({ schedule: "0 4 * * *", version: 4 })
    const listed = await shell("scheduling cron list --json --filter key=by-hand")
    expect(jsonLines(listed.stdout)).toMatchObject([{ id }])
    expect((await shell("scheduling cron list")).stdout).toMatch(/^KEY +NAME +SCHEDULE/)
    expect(await shell("scheduling cron delete by-hand")).toMatchObject({ code: 0, stdout: "" })
    const gone = await shell("scheduling cron get by-hand")
    expect(gone.stderr).toBe('scheduling: No cron task has the id, key or name "by-hand".\n')
    expect(gone.code).toBe(1)
  })

  it("change escalation policies, which a PUT by key replaces", async () => {
    await shell("scheduling apply")
    const listed = jsonLines((await shell("scheduling escalations list --json")).stdout)
    expect(listed).toMatchObject([{ key: "on-call", name: "On call", version: 1 }])
    expect((await shell("scheduling escalations list")).stdout).toMatch(/^KEY +NAME +REPEAT COUNT/)
    for (const word of ["on-call", "'On call'", listed[0].id]) {
      const { stdout } = await shell(`scheduling escalations get ${word} --json`)
      expect(JSON.parse(stdout)).toEqual(listed[0])
    }
    const env = { EDITOR: `sed -i "s/repeat_count: 0/repeat_count: 2/"` }
    const edited = await shell("scheduling escalations edit 'On call' --json", { env })
    expect(edited.stderr).toBe("")
    const { steps } = listed[0]
    expect(JSON.parse(edited.stdout)).toMatchObject({ repeat_count: 2, version: 2, steps })
    expect(await shell("scheduling escalations delete on-call")).toMatchObject({ code: 0 })
    const gone = await shell("scheduling escalations get on-call")
    expect(gone.stderr).toBe(
      'scheduling: No escalation policy has the id, key or name "on-call".\n'
    )
  })

  it("change maintenance windows and status pages by their keys, slugs, names and titles", async () => {
    const own = await newKey()
    const env = { SCHEDULING_API_KEY: own.key, EDITOR: "sed -i s/upgrade/repair/" }
    await own.client.maintenance.upsert("db", {
      name: "Database upgrade",
      schedule: "0 2 * * sun",
      duration_seconds: 3_600,
      tags: ["database"]
    })
    const slug = `acme-${await own.client.getWorkspaceId()}`
    const { id } = await own.client.statusPages.upsert(slug, {
      title: "After the upgrade",
      password: "only for our customers",
      groups: [{ name: "Website", tags: ["public"] }]
    })
    const windows = await shell("scheduling maintenance list", { env })
    expect(windows.stdout).toMatch(/^KEY +NAME +IS ACTIVE.*\ndb +Database upgrade +/)
    const pages = await shell("scheduling status-pages list", { env })
    expect(pages.stdout).toMatch(/^SLUG +TITLE +PUBLISHED.*\nacme-.* +After the upgrade +/)
    const edited = await shell("scheduling maintenance edit 'Database upgrade' --json", { env })
    expect(edited.stderr).toBe("")
    expect(JSON.parse(edited.stdout)).toMatchObject({
      key: "db",
      name: "Database repair",
      tags: ["database"],
      version: 2
    })
    const renamed = await shell("scheduling status-pages edit 'After the upgrade' --json", { env })
    expect(renamed.stderr).toBe("")
    const page = { id, slug, title: "After the repair", has_password: true, version: 2 }
    expect(JSON.parse(renamed.stdout)).toMatchObject(page)
    for (const word of [slug, id]) {
      const shown = await shell(`scheduling status-pages get ${word} --json`, { env })
      expect(JSON.parse(shown.stdout)).toMatchObject(page)
    }
    for (const line of ["maintenance delete db", `status-pages delete ${slug}`]) {
      expect(await shell(`scheduling ${line}`, { env })).toMatchObject({ code: 0 })
    }
    const gone = await shell("scheduling status-pages get acme", { env })
    expect(gone.stderr).toBe('scheduling: No status page has the id, slug or title "acme".\n')
  })

  it("create maintenance windows and status pages, unless the key or slug is taken", async () => {
    const env = { SCHEDULING_API_KEY: (await newKey()).key }
    const page = { input: `slug: page-${crypto.randomUUID()}\ntitle: Acme\ngroups: []\n`, env }
    const created = await shell("scheduling status-pages create --json", page)
    expect(created.stderr).toBe("")
    expect(JSON.parse(created.stdout)).toMatchObject({ title: "Acme", version: 1 })
    const again = await shell("scheduling status-pages create", page)
    expect(again).toMatchObject({ code: 1, stdout: "" })
    expect(again.stderr).toMatch(/^scheduling: The status page "page-\S+" already exists\. /)
    const nameless = await shell("scheduling maintenance create", { env, input: "name: a\n" })
    expect(nameless).toMatchObject({ code: 1, stderr: "scheduling: key is required.\n" })
  })

  it("say how they are used, and reject what they do not know", async () => {
    expect(await shell("scheduling")).toMatchObject({ code: 64 })
    for (const line of ["cron", "cron fly", "fly", "cron get", "cron list --fly", "cron list a"]) {
      const { code, stderr, stdout } = await shell(`scheduling ${line}`)
      assert.deepStrictEqual([code, stdout], [64, ""], line)
      assert.lengthOf(stderr.trim().split("\n"), 1, line)
    }
    const { stderr: option } = await shell("scheduling cron create --name a")
    expect(option).toBe("scheduling: Unknown option '--name'. See: --help of the command\n")
    const schemeless = await shell("scheduling cron list", {
      env: { SCHEDULING_URL: "a.example:1" }
    })
    expect(schemeless.stderr).toMatch(
      /^scheduling: --url or SCHEDULING_URL must be a URL with http/
    )
    const refused = await shell("scheduling cron list", {
      env: { SCHEDULING_API_KEY: "pak_wrong" }
    })
    expect(refused).toMatchObject({ code: 1, stdout: "" })
    expect(refused.stderr).toContain("The API key is unknown")
  })
})

describe("runs", () => {
  it("start, are waited for, and are shown", async () => {
    await shell("scheduling apply")
    const waited = await shell(
      "scheduling run reports:nightly --input '{full: true}' --wait --json"
    )
    expect(JSON.parse(waited.stdout)).toMatchObject({ status: "succeeded" })
    expect(waited.code).toBe(0)
    expect((await shell("scheduling run nothing")).code).toBe(2)
    const failing = "name: f\nkey: failing\nschedule: 0 3 * * *\nurl: http://127.0.0.1:9/\n"
    await shell("scheduling cron create", { input: failing })
    expect((await shell("scheduling run failing --wait")).code).toBe(1)
    const failed = await shell("scheduling logs --failed --json")
    expect(jsonLines(failed.stdout)).toMatchObject([{ status: "failed" }])
    expect((await shell("scheduling logs reports:nightly")).stdout).toContain("succeeded")
    const following = shell("timeout 20 scheduling logs -f --json --limit 1 | head -n 3")
    await shell("sleep 2; scheduling run failing --wait")
    const events = jsonLines((await following).stdout)
    expect(events).toHaveLength(3)
  })

  it("of past slots are counted, and then started once", async () => {
    const hourly = "name: h\nkey: hourly\nschedule: 0 * * * *\nurl: http://127.0.0.1:9/\n"
    await shell("scheduling cron create", { input: hourly })
    const hour = 3_600_000
    const to = Math.floor(Date.now() / hour) * hour
    const past = [to - 3 * hour, to].map((time) => new Date(time).toISOString())
    const command = `scheduling backfill hourly --from ${past[0]} --to ${past[1]}`
    const counted = await shell(`${command} --dry-run --json`)
    expect(JSON.parse(counted.stdout)).toMatchObject({ count: 3, first: past[0] })
    const since = await shell("scheduling backfill hourly --from 5h --to 30s --only all --dry-run")
    expect(since.stderr).toMatch(/^Would start [45] runs /)
    expect((await shell(command)).stderr).toContain("Started 3 runs for the slots from")
    expect((await shell(command)).stderr).toContain("No slots to run.")
    expect((await shell("scheduling backfill hourly")).stderr).toContain("--from must be a time")
    expect((await shell(`scheduling backfill nothing --from ${past[0]}`)).code).toBe(1)
    const refused = await shell(`${command} --only some`)
    expect(refused.stderr).toContain("only")
  })
})

describe("trigger URLs", () => {
  it("are turned on, shown, replaced and turned off", async () => {
    await shell("scheduling apply")
    const made = await shell("scheduling trigger create reports:nightly")
    const url = made.stdout.trim()
    expect(url).toContain("/trigger/")
    const started = await fetch(url, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" }
    })
    expect(started.status).toBe(202)
    const signed = await shell("scheduling trigger create reports:nightly --sender github --json", {
      input: "a secret of GitHub\n"
    })
    expect(JSON.parse(signed.stdout)).toMatchObject({ url, sender: "github" })
    expect((await shell("scheduling trigger get reports:nightly")).stdout.trim()).toBe(url)
    const rotated = (await shell("scheduling trigger rotate reports:nightly")).stdout.trim()
    expect(rotated).not.toBe(url)
    expect((await fetch(url, { method: "POST" })).status).toBe(404)
    expect(await shell("scheduling trigger delete reports:nightly")).toMatchObject({ code: 0 })
    expect((await fetch(rotated, { method: "POST" })).status).toBe(404)
    expect(await shell("scheduling trigger get reports:nightly")).toMatchObject({ stdout: "" })
    for (const wrong of [
      "scheduling trigger create trial:ada",
      "scheduling trigger rotate reports:nightly"
    ]) {
      expect((await shell(wrong)).code).toBe(1)
    }
    const unknown = await shell("scheduling trigger create day:close --sender nobody")
    expect(unknown.code).toBe(64)
  })
})

describe("maintenance", () => {
  it("is in progress while the snippet of the documentation deploys", async () => {
    const { client, key: own } = await newKey()
    const env = { SCHEDULING_API_KEY: own }
    const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8")
    const [, snippet = ""] = /```sh\n(scheduling maintenance start[^`]*)```/.exec(page) ?? []
    const deploy = "#!/bin/sh\nscheduling maintenance get deploy --json\nexit 3\n"
    writeFileSync(join(folder, "deploy.sh"), deploy, { mode: 0o755 })
    const ran = await shell(snippet, { env })
    expect(ran.stderr).toMatch(/^Started maintenance until \S+Z\.\nEnded maintenance\.\n$/)
    const during = JSON.parse(ran.stdout)
    expect(during).toMatchObject({ is_active: true, name: "deploy", tags: ["web"] })
    const lasts = Date.parse(during.ends_at) - Date.parse(during.starts_at)
    expect(lasts).toBeGreaterThanOrEqual(30 * 60_000)
    expect(await client.maintenance.get("deploy")).toMatchObject({ is_active: false })

    const stopped = await shell("scheduling maintenance stop deploy", { env })
    expect(stopped).toMatchObject({
      code: 0,
      stderr: 'The maintenance "deploy" is not in progress.\n'
    })
    const again = "scheduling maintenance start deploy --for 1h --everything --json"
    const { everything, is_active, tags } = JSON.parse((await shell(again, { env })).stdout)
    expect({ everything, is_active, tags }).toEqual({ everything: true, is_active: true, tags: [] })
  })

  it("needs a duration, a selection and a window without a schedule", async () => {
    const { client, key: own } = await newKey()
    const env = { SCHEDULING_API_KEY: own }
    const weekly = { name: "Weekly", schedule: "0 2 * * sun", duration_seconds: 60 }
    await client.maintenance.upsert("weekly", { ...weekly, everything: true })
    for (const [line, code, message] of [
      ["start a --tag web", 64, "--for must be a duration such as"],
      ["start a --for 1h", 64, "--tag, --monitor, --task or --everything is required."],
      ["start a --for 1h --task none", 1, "task_keys"],
      ["start weekly --for 1h --everything", 1, '"weekly" follows a schedule. Use another key.'],
      ["stop weekly", 1, '"weekly" follows a schedule. Use another key.'],
      ["stop a", 1, "maintenance window"]
    ] as const) {
      const ran = await shell(`scheduling maintenance ${line}`, { env })
      assert.deepStrictEqual([ran.code, ran.stdout], [code, ""], line)
      assert.include(ran.stderr, message)
    }
  })
})

describe("sessions and contexts", () => {
  it("keep a key or a session in a file for the user alone", async () => {
    const { email } = await account()
    const config = join(folder, "own")
    const env = { SCHEDULING_API_KEY: "", SCHEDULING_URL: "", XDG_CONFIG_HOME: config }
    expect((await shell("scheduling whoami", { env })).stderr).toContain("scheduling login")
    const loggedIn = await shell(`scheduling login --url ${server.url} --email ${email}`, {
      env,
      input: `${password}\n`
    })
    expect(loggedIn).toMatchObject({ code: 0, stdout: "" })
    const file = join(config, "scheduling/config.json")
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, "utf8")).not.toContain(password)
    expect((await shell("scheduling whoami", { env })).stdout).toContain(email)

    const withKey = `scheduling login --url ${server.url} --context key`
    expect(await shell(withKey, { env, input: `${key}\n` })).toMatchObject({ code: 0 })
    const listed = jsonLines((await shell("scheduling context list --json", { env })).stdout)
    expect(listed).toMatchObject([
      { name: "default", credential: "session", current: false },
      { name: "key", credential: "api_key", current: true }
    ])
    expect(await shell("scheduling context use default", { env })).toMatchObject({ code: 0 })

    // Several processes renew the session at the same time, and a refresh token can be used only
    // once.
    const stored = JSON.parse(readFileSync(file, "utf8"))
    stored.contexts.default.tokens.access_token = "expired"
    writeFileSync(file, JSON.stringify(stored))
    const several = await Promise.all(
      ["a", "b", "c", "d"].map(() => shell("scheduling cron list", { env }))
    )
    expect(several.map(({ code, stderr }) => [code, stderr])).toEqual(several.map(() => [0, ""]))
    expect(await shell("scheduling logout", { env })).toMatchObject({ code: 0 })
    expect(readFileSync(file, "utf8")).not.toContain("refresh_token")
  })
})

describe("exec", () => {
  const jobs: ReadonlyArray<readonly [line: string, code: number | null, stdout: string]> = [
    ["true", 0, ""],
    ["false", 1, ""],
    ["sh -c 'exit 42'", 42, ""],
    ["sh -c 'echo out; echo err >&2; exit 3'", 3, "out\n"],
    ["cat", 0, "the input"],
    ["sh -c 'kill -TERM $$'", null, ""],
    ["sh -c 'kill -KILL $$'", null, ""],
    ["sh -c 'kill -HUP $$'", null, ""],
    ["sh -c 'kill -INT $$'", null, ""],
    ["sh -c 'kill -USR1 $$'", null, ""],
    ["sh -c '(sleep 0.2; kill -CONT $$) & kill -STOP $$; exit 8'", 8, ""],
    ["sh -c 'exit 255'", 255, ""],
    ["head -c 3", 0, "the"],
    ["sh -c 'cat >/dev/null; printf done'", 0, "done"],
    ["sh -c 'exec <&-; exit 4'", 4, ""],
    ["sh -c 'cd / && pwd'", 0, "/\n"],
    ["env -i sh -c 'echo $A_VARIABLE'", 0, "\n"],
    ["no-such-program", 127, ""],
    ["/", 126, ""],
    ["sh -c 'trap \"echo caught; exit 9\" TERM; kill -TERM $PPID; sleep 5 & wait'", 9, "caught\n"],
    ['sh -c \'printf "%s" "$A_VARIABLE"\'', 0, "its value"],
    ["sh -c 'seq 1 200000 | tail -n 1'", 0, "200000\n"],
    ["sh -c 'exec >&-; exec 2>&-; exit 5'", 5, ""],
    ["sh -c 'sleep 30 & exit 6'", 6, ""]
  ]

  const places = ["reached", "away", "refusing", "unresolvable", "silent"] as const
  // A server that accepts connections but never responds.
  const silent = createServer()
  beforeAll(() => once(silent.listen(0, "127.0.0.1"), "listening"))
  afterAll(() => silent.close())
  const envOf = (place: (typeof places)[number]): Record<string, string> =>
    ({
      reached: {},
      away: { SCHEDULING_URL: "http://127.0.0.1:9" },
      refusing: { SCHEDULING_API_KEY: "pak_wrong" },
      unresolvable: { SCHEDULING_URL: "http://no-such-host.invalid" },
      silent: { SCHEDULING_URL: `http://127.0.0.1:${(silent.address() as AddressInfo)?.port}` }
    })[place]

  it.each(places)(
    "keeps status, signals and streams of a job while the service is %s",
    async (place) => {
      await shell("scheduling apply")
      // All jobs depend on the service's state in the same way, so a third of them is enough.
      const some = place === "reached" ? jobs : jobs.filter((_, index) => index % 3 === 1)
      await Promise.all(
        some.map(async ([line, code, stdout]) => {
          const ran = await shell(`exec scheduling exec backup -- ${line}`, {
            input: "the input",
            env: { A_VARIABLE: "its value", ...envOf(place) }
          })
          const signal = `SIG${/kill -(\w+) \$\$'$/.exec(line)?.[1]}`
          const expected = [code, code === null ? signal : null, stdout]
          assert.deepStrictEqual([ran.code, ran.signal, ran.stdout], expected, line + ran.stderr)
          if (line.includes("err >&2")) assert.include(ran.stderr, "err\n")
        })
      )
    },
    120_000
  )

  it("writes all of a large output, and reports its end", async () => {
    const { client, key: own } = await newKey()
    const env = { SCHEDULING_API_KEY: own }
    const ran = await shell(
      "scheduling exec large --create --every 3600 -- sh -c 'seq 1 300000; echo failed >&2; exit 7' | wc -c",
      { env }
    )
    expect(Number(ran.stdout)).toBe(1_988_895)
    const monitor = await client.heartbeatMonitors.get("key:large" as never)
    expect(monitor).toMatchObject({ status: "down", period_seconds: 3600 })
    const { data } = await client.heartbeatMonitors.listEvents(monitor.id)
    expect(data.map(({ type }) => type)).toEqual(expect.arrayContaining(["start", "fail"]))
    expect(JSON.stringify(data)).toContain("300000")
    await shell("scheduling exec large -- true", { env })
    expect(await client.heartbeatMonitors.get(monitor.id)).toMatchObject({ status: "up" })
  })
})

describe("crontabs", () => {
  it("are imported with every line accounted for", async () => {
    const text = [
      "# m h dom mon dow command",
      "SHELL=/bin/bash",
      'MAILTO=""',
      "CRON_TZ=Europe/Berlin",
      "",
      "*/5 * * * * curl -fsS https://api.example.com/poll > /dev/null 2>&1",
      "17 * * * * cd / && run-parts --report /etc/cron.hourly",
      "0 3 * * 1-5 /usr/local/bin/backup.sh --full",
      "0 3 * * * /usr/local/bin/backup.sh",
      "@daily /usr/bin/certbot renew -q",
      "@reboot /usr/local/bin/start",
      "61 * * * * broken",
      "0 1 * * * date +%F",
      "0 1 * * *"
    ].join("\n")
    const { document: made, reports } = readCrontab(text, { timezone: "UTC", isSystem: false })
    const written = text
      .split("\n")
      .flatMap((line, index) => (line === "" ? [] : [`line ${index + 1}`]))
    expect(reports.map(({ source }) => source)).toEqual(written)
    expect(reports.filter(({ outcome }) => outcome.startsWith("not carried over"))).toHaveLength(4)
    writeFileSync(join(folder, "crontab"), text)
    const imported = await shell("scheduling import crontab crontab > imported.yaml")
    expect(imported.code).toBe(0)
    const { key: own } = await newKey()
    const plan = await shell("scheduling plan imported.yaml --json", {
      env: { SCHEDULING_API_KEY: own }
    })
    assert.strictEqual(plan.code, 2, plan.stderr)
    expect(JSON.parse(plan.stdout)).toMatchObject({ counts: { create: 5 } })
    expect(made).toMatchObject({
      tasks: [{ key: "curl", schedule: "*/5 * * * *", timezone: "Europe/Berlin" }]
    })
  })

  it("of a system have a user in each line", () => {
    const line = "25 6\t* * *\troot\ttest -x /usr/sbin/anacron || run-parts /etc/cron.daily"
    const { document: made } = readCrontab(line, { timezone: "UTC", isSystem: true })
    expect(made).toMatchObject({ monitors: [{ schedule: "25 6 * * *" }] })
  })
})

describe("what needs no service", () => {
  it("shows the next times of a schedule and clock changes", async () => {
    const from = "--from 2027-03-26T12:00:00Z"
    const { code, stdout } = await shell(
      `scheduling next "30 2 * * *" --tz Europe/Berlin --count 3 ${from}`,
      { env: { SCHEDULING_URL: "" } }
    )
    expect([code, stdout.split("\n").length]).toEqual([0, 4])
    expect(stdout).toContain("2027-03-28T01:00:00.000Z  2027-03-28T03:00:00+02:00  (clocks skip")
    const interval = await shell(
      `scheduling next --every 36h --anchor 2027-03-27T12:00:00Z ${from}`
    )
    expect(interval.stdout.split("\n").slice(0, 2)).toEqual([
      "2027-03-27T12:00:00.000Z  2027-03-27T12:00:00+00:00",
      "2027-03-29T00:00:00.000Z  2027-03-29T00:00:00+00:00"
    ])
    expect((await shell("scheduling next --every 3s")).stderr).toContain("must be from 5s to 366d")
    expect((await shell("scheduling next")).code).toBe(64)
    expect((await shell('scheduling next "99 * * * *"')).stderr).toContain("99")
    expect((await shell('scheduling next "0 3 * * *" --tz Nowhere/At')).code).toBe(1)
  })

  it("completes commands in bash", async () => {
    const line = `eval "$(scheduling completion bash)"; COMP_WORDS=(scheduling cron p); COMP_CWORD=2; _scheduling; echo "\${COMPREPLY[@]}"`
    const { stdout } = await shell(`bash -c '${line}'`)
    expect(stdout).toBe("pause\n")
  })
})

describe("the examples of the help", () => {
  const examples = commands.flatMap(({ examples: lines, name }) =>
    lines.map((line, index) => ({ name, line, isFirst: index === 0 }))
  )

  it("are two for each command, and shown by it", async () => {
    const { stdout } = await shell("scheduling exec --help")
    expect(stdout).toContain("scheduling exec backup -- sh -c 'echo done'")
    expect(new Set(examples.map(({ line }) => line)).size).toBe(examples.length)
  })

  const isTerminalThere = spawnSync("script", ["--version"]).error === undefined

  /** Runs the command line with a pseudo-terminal as input and output. */
  const atTerminal = async (line: string, options: Options) => {
    const quoted = line.replaceAll("'", "'\\''")
    const ran = await shell(`script -qec '${quoted}' /dev/null < /dev/null`, options)
    return { ...ran, stderr: ran.stderr + ran.stdout }
  }

  it.skipIf(!isTerminalThere)(
    "are shown in bold at a terminal, and plainly in a pipe",
    async () => {
      const line = "scheduling next '0 3 * * *' --from 2027-01-01T00:00:00Z"
      const { stderr: terminal } = await atTerminal("scheduling --help", {})
      expect(terminal).toContain("\u001B[1mscheduling\u001B[0m")
      const { stderr: plain } = await atTerminal("scheduling --help", { env: { NO_COLOR: "1" } })
      expect(plain).not.toContain("\u001B[")
      expect((await atTerminal(line, {})).code).toBe(0)
      expect((await atTerminal("scheduling fly", {})).code).toBe(64)
      expect((await shell("scheduling --help")).stdout).not.toContain("\u001B[")
    }
  )

  const isInPipe = ({ isFirst }: { readonly isFirst: boolean }) => isFirst || !isTerminalThere

  /** The first example of each command runs in a pipe, and the second in a terminal. */
  const ways = [
    ["in a pipe", shell, examples.filter(isInPipe)],
    ...(isTerminalThere
      ? [["at a terminal", atTerminal, examples.filter((one) => !isInPipe(one))] as const]
      : [])
  ] as const

  it.each(ways)(
    "run %s",
    async (_, runLine, lines) => {
      const { client, email } = await account()
      const session = await SchedulingClient.login({ email, password, baseUrl: server.url })
      const worker = await session.workers.create({ name: "a worker" })
      writeFileSync(join(folder, "password.txt"), `${password}\n`)
      writeFileSync(join(folder, "token.txt"), "a token\n")
      writeFileSync(join(folder, "secret.txt"), "a secret of GitHub\n")
      writeFileSync(join(folder, "crontab.txt"), "0 3 * * * backup\n")
      cpSync(join(import.meta.dirname, "fixtures"), folder, { recursive: true })
      const filesOf = (unused: string) => ({
        cron: "{ name: a, schedule: 0 3 * * *, url: https://a.example/ }",
        delayed: "{ url: https://a.example/, delay_seconds: 3600 }",
        chains: "{ name: a, steps: [{ name: a, url: https://a.example/ }] }",
        queues: "{ name: a, max_concurrency: 1 }",
        monitors: "{ kind: ssl, name: a, host: www.example.com }",
        channels: "{ name: a, kind: webhook, config: { url: https://a.example/ } }",
        keys: "{ name: a, scopes: [tasks:read] }",
        workers: "{ name: a }",
        escalations: `{ key: ${unused}, name: a, steps: [{ after_seconds: 0, channel_keys: [ops] }] }`,
        maintenance: `{ key: ${unused}, name: a, schedule: 0 2 * * sun, duration_seconds: 60, everything: true }`,
        "status-pages": `{ slug: ${unused}, title: a, groups: [] }`
      })
      const env = {
        SCHEDULING_API_KEY: "",
        SCHEDULING_URL: "",
        XDG_CONFIG_HOME: join(folder, "examples", email)
      }
      const login = `scheduling login --url ${server.url} --email ${email} < password.txt`
      const { key: fresh } = await client.apiKeys.create({ name: "k", scopes: ["workspace:read"] })
      writeFileSync(join(folder, "key.txt"), `${fresh}\n`)
      let isPrepared = false
      for (const { line: example, name } of lines) {
        if (!isPrepared) await shell(`${login} && scheduling apply`, { env })
        for (const [file, text] of Object.entries(filesOf(`new-${crypto.randomUUID()}`)))
          writeFileSync(join(folder, `${file}.yaml`), text)
        isPrepared = !/^log(?:in|out)|delete$/.test(name)
        const id = await idFor(name, client, worker.id)
        const line = example
          .replaceAll("https://scheduling.example.com", server.url)
          .replaceAll("ada@example.com", email)
          .replaceAll("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41", id)
          // No two workspaces can have the same slug.
          .replaceAll(" acme", ` ${id}`)
        const before = name === "secrets delete" ? secrets : ""
        const { code, stderr } = await runLine(`${before}${line}`, {
          env: { ...env, EDITOR: "true" }
        })
        const allowed = line.includes("scheduling plan") ? [0, 2] : [0]
        assert.include(allowed, code, `${line}: ${stderr}`)
      }
    },
    360_000
  )

  const secrets = "scheduling secrets set API_TOKEN --host a.example < token.txt; "

  const idFor = async (
    name: string,
    client: SchedulingClient,
    workerId: string
  ): Promise<string> => {
    if (name.startsWith("workers")) {
      return name.endsWith("delete") ? (await client.workers.create({ name: "b" })).id : workerId
    }
    if (name.startsWith("keys")) {
      return (await client.apiKeys.create({ name: "b", scopes: ["tasks:read"] })).id
    }
    if (name.startsWith("incidents")) {
      const { ping_url } = await client.heartbeatMonitors.get("key:backup" as never)
      await fetch(`${ping_url}/fail`, { method: "POST" })
      return (await client.incidents.list()).data[0]?.id ?? ""
    }
    if (name.startsWith("maintenance")) {
      const window = { name: "a", schedule: "0 2 * * sun", duration_seconds: 3_600 }
      return (await client.maintenance.upsert("db-upgrade", { ...window, everything: true })).id
    }
    if (name.startsWith("status-pages")) {
      const slug = `acme-${await client.getWorkspaceId()}`
      return (await client.statusPages.upsert(slug, { title: "a", groups: [] })).slug
    }
    if (name === "executions cancel") {
      const { id } = await client.delayed.create({
        url: "https://api.example.com/",
        delay_seconds: 3600
      })
      const { data } = await client.executions.listScheduled()
      return data.find(({ task_id }) => task_id === id)?.id ?? ""
    }
    return name.startsWith("executions")
      ? (await client.cron.runAndWait("key:reports:nightly" as never)).id
      : ""
  }
})
