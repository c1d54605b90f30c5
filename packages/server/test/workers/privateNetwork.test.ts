// @tags processes postgres
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { eventually } from "../support/ServerProcess.ts"
import {
  startFixture,
  createCronTask,
  waitForEnd,
  runTask,
  startAgent,
  createWorker
} from "./agentProcess.ts"

const ip = (...args: ReadonlyArray<string>) => {
  const { error, status, stderr } = spawnSync("ip", args, { encoding: "utf8" })
  return error?.message ?? (status === 0 ? undefined : stderr.trim())
}

/** Why this machine does not support network namespaces. Undefined if it supports them. */
const missing = (() => {
  if (process.platform !== "linux") return "they are a thing of Linux"
  if (process.getuid?.() !== 0) return "they take root"
  const probe = `sched-probe-${process.pid}`
  const problem = ip("netns", "add", probe)
  if (problem === undefined) ip("netns", "delete", probe)
  return problem
})()

const mustWork = (...args: ReadonlyArray<string>) => {
  const problem = ip(...args)
  if (problem !== undefined) throw new Error(`ip ${args.join(" ")}: ${problem}`)
}

const block = process.pid % 250
const outer = `10.203.${block}.1`
const inner = `10.203.${block}.2`
/** An address that is reachable only inside the namespace. */
const hidden = `10.204.${block}.1`

/**
 * Creates a network namespace that is linked to this machine, and an address that is known only in
 * the namespace.
 */
const network = Effect.acquireRelease(
  Effect.sync(() => {
    const name = `sched-${process.pid}`
    const [near, far] = [`sn${process.pid}`, `sf${process.pid}`]
    const inside = (...args: ReadonlyArray<string>) => mustWork("-n", name, ...args)
    mustWork("netns", "add", name)
    try {
      mustWork("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
      mustWork("address", "add", `${outer}/30`, "dev", near)
      mustWork("link", "set", near, "up")
      inside("address", "add", `${inner}/30`, "dev", far)
      inside("link", "set", far, "up")
      inside("link", "set", "lo", "up")
      inside("address", "add", `${hidden}/32`, "dev", "lo")
      // Keeps other hosts from answering for this address.
      mustWork("route", "replace", "unreachable", `${hidden}/32`)
    } catch (error) {
      ip("netns", "delete", name)
      throw error
    }
    return { name, within: ["ip", "netns", "exec", name] }
  }),
  ({ name }) =>
    Effect.sync(() => {
      ip("route", "delete", "unreachable", `${hidden}/32`)
      ip("netns", "delete", name)
    })
)

/**
 * The source of a server that listens on the given address, responds with the given word and prints
 * the idempotency key of each request.
 */
const program = `
  const [word, address] = process.argv.slice(1)
  const server = require("node:http").createServer((request, response) => {
    console.log("called by " + request.headers["idempotency-key"])
    response.end(word)
  })
  server.listen(0, address, () => console.log("port " + server.address().port))`

const target = Effect.fnUntraced(function* (within: ReadonlyArray<string>, word: string) {
  const command = [...within, process.execPath, "-e", program, word, hidden]
  const child: ChildProcess = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(command[0] ?? "", command.slice(1), { stdio: ["ignore", "pipe", "inherit"] })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  let text = ""
  child.stdout?.setEncoding("utf8").on("data", (chunk) => {
    text += chunk
  })
  const port = yield* eventually("a target", async () => /port (\d+)/.exec(text)?.[1])
  return {
    url: `http://${hidden}:${port}/`,
    calls: () => [...text.matchAll(/called by (\S+)/g)].map(([, id]) => id)
  }
})

const title = `in a network that the service cannot reach${
  missing === undefined ? "" : ` (skipped, there are no network namespaces: ${missing})`
}`

describe.skipIf(missing !== undefined)("an agent", () => {
  it.live(
    title,
    () =>
      Effect.gen(function* () {
        const { within } = yield* network
        const fixture = yield* startFixture({ HOST: "0.0.0.0", EGRESS_ALLOW: "10.204.0.0/16" })
        const { token } = yield* createWorker(fixture)
        const word = crypto.randomUUID()
        const { calls, url } = yield* target(within, word)
        const server = { url: `http://${outer}:${fixture.server.port}` }
        const allow = ["--allow", `${hidden}/32`]
        yield* startAgent({ folder: fixture.folder, server }, token, allow, within)

        const direct = yield* createCronTask(fixture, url, { run_on: null, timeout_seconds: 5 })
        const lost = yield* waitForEnd(fixture, yield* runTask(fixture, direct))
        assert.strictEqual(lost.status, "failed")
        assert.notInclude(JSON.stringify(lost), word)
        assert.deepStrictEqual(calls(), [])

        const there = yield* runTask(fixture, yield* createCronTask(fixture, url))
        const made = yield* waitForEnd(fixture, there)
        assert.deepInclude(made, { status: "succeeded", status_code: 200, attempts_count: 1 })
        assert.strictEqual(made.attempts[0].response_body, word)
        assert.deepStrictEqual(calls(), [there])
      }),
    240_000
  )
})
