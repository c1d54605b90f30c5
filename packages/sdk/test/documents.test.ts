// @tags processes long
import { SchedulingClient } from "@scheduling/sdk"
import { Yaml } from "effect/encoding"
import { spawn, spawnSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import {
  programOf,
  readSnippets,
  repositoryRoot,
  runProgram,
  runShell,
  type Snippet
} from "./support/documents.ts"
import { freePort, type Server, startServer } from "./support/server.ts"

const snippets = readSnippets()
const inLanguage = (language: string) => snippets.filter((one) => one.language === language)
const nameOf = ({ line, page }: Snippet) => `${page}, line ${line}`
const theOne = (page: string, language: string): string => {
  const found = inLanguage(language).filter((one) => one.page === page)
  if (found.length !== 1) throw new Error(`${page} has ${found.length} blocks of ${language}`)
  return found[0]?.code ?? ""
}

/**
 * Other tests run these pages' snippets: `readme.test.ts`, `provisioning.test.ts` and, for the
 * SDK's README, `npm run check:package`.
 */
const elsewhere = new Set(["README.md", "docs/provisioning.md", "packages/sdk/README.md"])

const typescript = inLanguage("ts").filter(({ page }) => !elsewhere.has(page))
const usesService = ({ code, page }: Snippet) => code.includes("$API") && !elsewhere.has(page)
const shell = inLanguage("sh")
const runnable = shell.filter(usesService).filter(({ code }) => !code.includes("receiver.py"))
const commands = shell.filter((one) => !usesService(one))

const missing = ["bash", "curl", "jq", "python3"].filter(
  (tool) => spawnSync(tool, ["--version"], { stdio: "ignore" }).status !== 0
)
const reason = missing.length > 0 ? ` (skipped: no ${missing.join(", no ")} here)` : ""

const scopes = [
  "tasks:read",
  "tasks:write",
  "executions:read",
  "monitors:read",
  "monitors:write",
  "notifications:read",
  "notifications:write",
  "workspace:read"
] as const

describe("the snippets of the documentation", () => {
  it("are all in a language that is checked", () => {
    const checked = new Set(
      ",caddyfile,crontab,ini,json,mermaid,nginx,python,sh,sql,ts,yaml".split(",")
    )
    const others = snippets.filter(({ language }) => !checked.has(language))
    expect(others.map(nameOf)).toEqual([])
    // Only drawings, folder trees and one stream message have no language.
    expect(snippets.filter(({ language }) => language === "").map(({ page }) => page)).toEqual([
      "docs/architecture.md",
      "docs/architecture.md",
      "docs/events.md",
      "packages/panel/README.md"
    ])
  })

  it("have the right types", async () => {
    const folder = await mkdtemp(join(tmpdir(), "snippets-"))
    try {
      for (const [index, snippet] of typescript.entries()) {
        await writeFile(join(folder, `${index}.ts`), programOf(snippet))
      }
      const compilerOptions = {
        paths: {
          "@scheduling/sdk": [`${repositoryRoot}packages/sdk/src/index.ts`],
          "@scheduling/sdk/webhooks": [`${repositoryRoot}packages/sdk/src/webhooks.ts`]
        },
        typeRoots: [`${repositoryRoot}node_modules/@types`]
      }
      const project = {
        extends: `${repositoryRoot}tsconfig.json`,
        compilerOptions,
        include: ["*.ts"]
      }
      await writeFile(join(folder, "tsconfig.json"), JSON.stringify(project))
      await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }))
      const tsc = `${repositoryRoot}node_modules/typescript/bin/tsc`
      const { stdout } = await runProgram(process.execPath, [tsc, "-p", folder])
      expect(stdout.replaceAll(/\S*\/(\d+)\.ts/g, (_, at) => nameOf(typescript[Number(at)]!))).toBe(
        ""
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it.each(inLanguage("json").map((one) => [nameOf(one), one.code]))("%s is JSON", (_, code) => {
    expect(JSON.parse(code)).toBeTypeOf("object")
  })

  it.each(inLanguage("yaml").map((one) => [nameOf(one), one.code]))("%s is YAML", (_, code) => {
    expect(Yaml.parse(code)).toBeTypeOf("object")
  })

  const { scripts } = JSON.parse(readFileSync(`${repositoryRoot}package.json`, "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  it("may name every script of package.json, because its programs are there", () => {
    const programs = Object.values(scripts).flatMap((script) =>
      [...script.matchAll(/\bnode (\S+)/g)].map(([, program = ""]) => program)
    )
    expect(programs.length).toBeGreaterThan(20)
    expect(programs.filter((program) => !existsSync(repositoryRoot + program))).toEqual([])
  })

  it.skipIf(missing.length > 0).each(commands.map((one) => [nameOf(one), one.code]))(
    `%s names commands and files that there are${reason}`,
    async (_, code) => {
      expect(await runProgram("bash", ["-n", "-c", code])).toEqual({
        code: 0,
        stdout: "",
        stderr: ""
      })
      for (const [, name = ""] of code.matchAll(/\bnpm run ([\w:]+)(?!.*--workspace)/g)) {
        expect(scripts).toHaveProperty([name])
      }
      for (const [, folder = "", name = ""] of scriptsOfPackages(code)) {
        expect(readFileSync(`${repositoryRoot}${folder}/package.json`, "utf8")).toContain(
          `"${name}":`
        )
      }
      const paths = [...code.matchAll(/(?:^|\s)((?:packages|examples|deploy)\/\S+\.\w+)/gm)]
        .map(([, path = ""]) => path)
        .filter((path) => !path.includes("/dist/"))
      for (const path of paths) expect(globSync(path, { cwd: repositoryRoot })).not.toEqual([])
    }
  )
})

const scriptsOfPackages = (code: string) =>
  [...code.matchAll(/npm run ([\w:]+) --workspace (\S+)/g)].map(([all, name, folder]) => [
    all,
    folder,
    name
  ])

/** Serves a calendar without events, and records each call's completion URL. */
const startTarget = async () => {
  const completionUrls: Array<string> = []
  const server = createServer((request, response) => {
    const url = request.headers["scheduling-complete-url"]
    if (typeof url === "string") completionUrls.push(url)
    response.end("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test\r\nEND:VCALENDAR\r\n")
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return {
    completionUrls,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

const until = async <A>(ask: () => A | undefined): Promise<A> => {
  const signal = AbortSignal.timeout(20_000)
  for (;;) {
    const answer = ask()
    if (answer !== undefined) return answer
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

interface Account {
  readonly person: SchedulingClient
  readonly env: Readonly<Record<string, string>> & { readonly SCHEDULING_URL: string }
}

/** Registers a user. Returns an environment with the variables that the README sets. */
const newAccount = async (
  baseUrl: string,
  email = `${crypto.randomUUID()}@example.com`
): Promise<Account> => {
  let TOKEN = ""
  const person = await SchedulingClient.register({
    baseUrl,
    email,
    password: "correct horse battery staple",
    onTokens: (tokens) => {
      TOKEN = tokens?.access_token ?? ""
    }
  })
  const WORKSPACE = await person.getWorkspaceId()
  const { id: KEY_ID, key } = await person.apiKeys.create({ name: "docs", scopes: [...scopes] })
  const url = "https://api.example.com/task"
  const { id: TASK } = await person.cron.create({ name: "task", url, schedule: "@yearly" })
  const env = {
    API: `${baseUrl}/v1`,
    JSON: "content-type: application/json",
    TOKEN,
    WORKSPACE,
    KEY: key,
    KEY_ID,
    TASK,
    SCHEDULING_URL: baseUrl,
    SCHEDULING_API_KEY: key
  }
  return { env, person }
}

describe("on a server, the snippets of", () => {
  const started: { server?: Server; account?: Account } = {}
  beforeAll(async () => {
    started.server = await startServer({}, inject("storeFiles"))
    started.account = await newAccount(started.server.url)
  }, 240_000)
  afterAll(() => started.server?.[Symbol.asyncDispose](), 30_000)

  const account = (): Account => {
    if (started.account === undefined) throw new Error("The server has not started")
    return started.account
  }

  it.each(typescript.map((snippet) => [nameOf(snippet), snippet] as const))(
    "%s run",
    async (_, snippet) => {
      const { env } = account()
      const args = ["--input-type=module-typescript"]
      const result = await runProgram(process.execPath, args, env, programOf(snippet))
      expect(result).toEqual({ code: 0, stderr: "", stdout: expect.any(String) })
    }
  )

  const pages = [...new Set(runnable.map(({ page }) => page))]
  it.skipIf(missing.length > 0).each(pages)(`%s run in a shell${reason}`, async (page) => {
    await using target = await startTarget()
    const { env, person } = account()
    const worker = await person.workers.create({ name: "worker", labels: ["db"] })
    // The page about access invites a second user, who must exist.
    const isInvited = page === "docs/access.md"
    const guest = isInvited ? await newAccount(env.SCHEDULING_URL, "grace@example.com") : undefined
    const code = runnable
      .filter((one) => one.page === page)
      .map((one) => one.code)
      .join("\n")
      .replaceAll("http://127.0.0.1:4000", env.SCHEDULING_URL)
      .replaceAll("https://calendar.example.com", target.url)
    const result = await runShell(code, {
      ...env,
      WORKER: worker.id,
      THEIR_TOKEN: guest?.env.TOKEN
    })
    expect(result).toEqual({ code: 0, stderr: "", stdout: expect.any(String) })
  })

  it.skipIf(missing.length > 0)(
    `docs/long-jobs.md report to completion URLs${reason}`,
    async () => {
      await using target = await startTarget()
      const { env, person } = account()
      const lines = theOne("docs/long-jobs.md", "sh").trim().split("\n")
      expect(lines).toHaveLength(3)
      for (const [index, line] of lines.entries()) {
        await person.delayed.create({ url: target.url, delay_seconds: 0, completion: "callback" })
        const COMPLETE_URL = await until(() => target.completionUrls[index])
        expect(await runShell(line, { ...env, COMPLETE_URL })).toMatchObject({
          code: 0,
          stderr: ""
        })
      }
    }
  )

  it.skipIf(missing.length > 0)(`docs/monitors.md ping a monitor${reason}`, async () => {
    const { env, person } = account()
    const monitor = await person.heartbeatMonitors.create({ name: "job", period_seconds: 3600 })
    const cron = theOne("docs/monitors.md", "crontab").split("\n")[1] ?? ""
    const unit = theOne("docs/monitors.md", "ini")
    const [step] = Yaml.parse(theOne("docs/monitors.md", "yaml")) as [{ readonly run: string }]
    const pings = [
      cron.replace(/^(?:\S+ ){5}/, "").replace("/usr/local/bin/backup", "true"),
      ...[...unit.matchAll(/^Exec\w+=-?(.*curl.*)$/gm)].map(([, command = ""]) => command),
      step.run.replace(/\$\{\{.*\}\}/, "0")
    ]
    expect(pings).toHaveLength(4)
    for (const ping of pings) {
      const PING_URL = monitor.ping_url ?? ""
      const result = await runProgram("sh", ["-c", ping.replaceAll(/\/usr\/bin\//g, "")], {
        ...env,
        PING_URL,
        SERVICE_RESULT: "success"
      })
      expect(result).toEqual({ code: 0, stderr: "", stdout: "" })
    }
    const { data } = await person.heartbeatMonitors.listEvents(monitor.id)
    expect(data.map(({ type }) => type).toSorted()).toEqual([
      "start",
      "success",
      "success",
      "success"
    ])
  })

  it.skipIf(missing.length > 0)(`docs/calls.md verify a call${reason}`, async () => {
    const { env, person } = account()
    const port = String(await freePort())
    const block = shell.find(({ code }) => code.includes("receiver.py"))?.code ?? ""
    const folder = await mkdtemp(join(tmpdir(), "receiver-"))
    const python = theOne("docs/calls.md", "python").replace("8080", port)
    await writeFile(join(folder, "receiver.py"), python)
    const code = `set -e\n${block.replace("8080", port).replace("python3", "exec python3")}`
    const child = spawn("bash", ["--norc", "-c", code], {
      cwd: folder,
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "pipe", "inherit"]
    })
    try {
      const said = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const url = `http://127.0.0.1:${port}/`
      await person.delayed.create({ url, body: "{}", delay_seconds: 0, retry_count: 5 })
      expect((await said.next()).value).toMatch(/^verified .*'webhook-id'/)
      await fetch(url, { method: "POST", body: "{}" })
      expect((await said.next()).value).toMatch(/^rejected /)
    } finally {
      child.kill()
      await rm(folder, { recursive: true })
    }
  })
})
