// @tags processes long
import { SchedulingClient } from "@scheduling/sdk"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server as HttpServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { afterAll, assert, beforeAll, describe, expect, inject, it } from "vitest"
// oxlint-disable-next-line house/borders -- starts the service as users do, like the SDK's tests
import { freePort, type Server, startServer } from "../../sdk/test/support/server.ts"

const root = join(import.meta.dirname, "../../..")
const folder = mkdtempSync(join(tmpdir(), "scheduling-action-"))

interface Comment {
  readonly url: string
  body: string
}

/** The comments on a pull request, served by a fake GitHub API. */
const comments: Array<Comment> = []
const tokens = new Set<string | undefined>()
let github: HttpServer
let api = ""
let server: Server
let client: SchedulingClient
let key = ""

beforeAll(async () => {
  const port = await freePort()
  api = `http://127.0.0.1:${port}`
  github = createServer((request, response) => {
    let text = ""
    tokens.add(request.headers.authorization)
    request.setEncoding("utf8").on("data", (part: string) => (text += part))
    request.on("end", () => {
      const url = `${api}${request.url}`
      if (request.method === "GET") return response.end(JSON.stringify(comments))
      const { body } = JSON.parse(text)
      const known = comments.find((one) => one.url === url)
      if (request.method === "PATCH" && known !== undefined) known.body = body
      else comments.push({ url: `${api}/comments/${comments.length}`, body })
      response.end("{}")
    })
  }).listen(port, "127.0.0.1")
  await once(github, "listening")
  server = await startServer({ RATE_LIMIT: "0" }, inject("storeFiles"))
  client = await SchedulingClient.register({
    email: "action@example.com",
    password: "a password for tests",
    baseUrl: server.url
  })
  const scopes = ["tasks:read", "tasks:write", "monitors:read", "monitors:write"] as const
  key = (await client.apiKeys.create({ name: "action", scopes: [...scopes] })).key
  cpSync(join(root, "examples/repository"), folder, { recursive: true })
  writeFileSync(join(folder, "event.json"), JSON.stringify({ pull_request: { number: 7 } }))
}, 240_000)

afterAll(async () => {
  github.close()
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
}, 30_000)

const action = parse(readFileSync(join(root, "action.yml"), "utf8"))
const workflow = parse(
  readFileSync(join(root, "examples/repository/.github/workflows/scheduling.yaml"), "utf8")
)

/** Runs the action's last step as GitHub does, with the workflow's inputs. */
const run = async (event: string, ref: string, apiKey = key) => {
  const given = workflow.jobs.definitions.steps.at(-1).with
  const inputOf = (name: string): string => given[name] ?? action.inputs[name].default
  const { env } = action.runs.steps.at(-1)
  const named = Object.entries<string>(env).map(([name, value]) => {
    const [, input = ""] = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value) ?? []
    return [name, inputOf(input)]
  })
  const child = spawn(process.execPath, [join(root, "scripts/action.ts")], {
    cwd: folder,
    env: {
      ...Object.fromEntries(named),
      SCHEDULING_URL: server.url,
      SCHEDULING_API_KEY: apiKey,
      ACTION_TOKEN: "a-token",
      ACTION_CLI: join(root, "packages/cli/src/main.ts"),
      GITHUB_API_URL: api,
      GITHUB_EVENT_NAME: event,
      GITHUB_EVENT_PATH: join(folder, "event.json"),
      GITHUB_REF: ref,
      GITHUB_REPOSITORY: "acme/definitions",
      GITHUB_STEP_SUMMARY: join(folder, "summary.md")
    }
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text))
  }
  const [code] = await once(child, "close")
  return { code, output }
}

describe("the GitHub Action", () => {
  it("comments the plan of a pull request, and changes nothing", async () => {
    const planned = await run("pull_request", "refs/pull/7/merge")
    assert.strictEqual(planned.code, 0, planned.output)
    assert.lengthOf(comments, 1)
    expect(comments[0]?.body).toContain("Merging this changes definitions:")
    expect(comments[0]?.body).toContain("+ create tasks invoices:nightly")
    expect(comments[0]?.body).toContain("5 to create, 0 to change, 0 to delete, 0 unchanged")
    expect(comments[0]?.body).not.toContain("\u001B[")
    expect([...tokens]).toEqual(["Bearer a-token"])
    expect(readFileSync(join(folder, "summary.md"), "utf8")).toBe(comments[0]?.body)
    expect((await client.cron.list()).data).toEqual([])
  })

  it("applies the branch, and only this one", async () => {
    const other = await run("push", "refs/heads/other")
    expect(other).toMatchObject({ code: 0 })
    expect((await client.cron.list()).data).toEqual([])
    const applied = await run("push", "refs/heads/main")
    assert.strictEqual(applied.code, 0, applied.output)
    expect((await client.cron.list()).data).toHaveLength(2)
  })

  it("replaces its comment, and prunes what the files define no more", async () => {
    rmSync(join(folder, "scheduling/monitors.yaml"))
    expect(await run("pull_request", "refs/pull/7/merge")).toMatchObject({ code: 0 })
    assert.lengthOf(comments, 1)
    expect(comments[0]?.body).toContain("2 to delete, 3 unchanged")
    expect(await run("push", "refs/heads/main")).toMatchObject({ code: 0 })
    expect((await client.heartbeatMonitors.list()).data).toEqual([])
    expect(await run("pull_request", "refs/pull/7/merge")).toMatchObject({ code: 0 })
    expect(comments[0]?.body).toContain("Merging this changes no definition.")
  })

  it("fails with the reason, which it also comments", async () => {
    const tasks = join(folder, "scheduling/tasks.yaml")
    const text = readFileSync(tasks, "utf8")
    writeFileSync(tasks, text.replace("0 3 * * *", "99 3 * * *").replace("invoices\n", "```\n"))
    const failed = await run("pull_request", "refs/pull/7/merge")
    expect(failed.code).toBe(1)
    expect(comments[0]?.body).toContain("The definitions cannot be applied:")
    expect(comments[0]?.body).toMatch(/tasks\.0\.schedule/)
    const refused = await run("push", "refs/heads/main", "pak_wrong")
    expect(refused.code).toBe(1)
  })
})
