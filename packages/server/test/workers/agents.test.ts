import { assert, describe, inject, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as http from "node:http"
import * as path from "node:path"
import {
  call,
  eventually,
  listening,
  newUser,
  type ServerProcess,
  startServer,
  temporaryFolder
} from "../support/ServerProcess.ts"

const main = path.resolve(import.meta.dirname, "../../../agent/src/main.ts")

/** A server on a store of its own, and somebody who uses it. */
const begin = Effect.gen(function* () {
  const folder = yield* temporaryFolder("agents")
  fs.cpSync(inject("storeFiles"), path.join(folder, "postgres"), { recursive: true })
  const server = yield* startServer({ DATA_DIR: folder })
  const user = yield* newUser(server)
  const ask = (method: string, at: string, body?: object) =>
    call(server, method, user.workspace + at, { token: user.token, body })
  return { folder, server, ask }
})

type Scene = Effect.Success<typeof begin>

const worker = ({ ask }: Scene) =>
  Effect.promise(async () => {
    const { body } = await ask("POST", "/workers", { name: "Office", labels: ["office"] })
    return { id: String(body.id), token: String(body.token) }
  })

interface AgentProcess {
  readonly output: () => string
  readonly kill: (signal: NodeJS.Signals) => void
  readonly exited: Effect.Effect<number | null>
}

/** Starts the real agent, with these flags and no environment. */
const startAgent = Effect.fnUntraced(function* (
  { folder, server }: { readonly folder: string; readonly server: Pick<ServerProcess, "url"> },
  token: string,
  flags: ReadonlyArray<string> = ["--allow", "127.0.0.0/8"]
): Effect.fn.Return<AgentProcess, never, Scope.Scope> {
  const file = path.join(folder, `status-${token.slice(-8)}`)
  const child: ChildProcess = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [main, "run", "--status-file", file, ...flags], {
        env: { SCHEDULING_URL: server.url, SCHEDULING_WORKER_TOKEN: token },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  let text = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk) => {
      text += chunk
    })
  }
  const exit = once(child, "close").then(([code]: Array<number | null>) => code ?? null)
  yield* eventually("an agent that is online", async () => text.includes("is online"))
  return {
    output: () => text,
    kill: (signal) => void child.kill(signal),
    exited: Effect.promise(() => exit)
  }
})

/** Answers after a while, and remembers who called. */
const target = Effect.fnUntraced(function* (afterMs: number) {
  const calls: Array<{ readonly id: string; open: boolean }> = []
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      http.createServer((request, response) => {
        const one = { id: String(request.headers["idempotency-key"]), open: true }
        calls.push(one)
        response.on("close", () => {
          one.open = false
        })
        setTimeout(() => response.end("OK"), afterMs)
      })
    ),
    (started) => Effect.sync(() => started.closeAllConnections())
  )
  const port = yield* listening(server)
  return { calls, url: `http://127.0.0.1:${port}/` }
})

const cronTask = ({ ask }: Scene, url: string, options: object = {}) =>
  Effect.promise(async () => {
    const task = { name: "job", url, schedule: "0 0 1 1 *", run_on: { labels: ["office"] } }
    const { body } = await ask("POST", "/cron", { ...task, overlap: "allow", ...options })
    return String(body.id)
  })

const runTask = ({ ask }: Scene, id: string) =>
  Effect.promise(async () => String((await ask("POST", `/cron/${id}/run`)).body.id))

const ended = ({ ask }: Scene, runId: string) =>
  eventually("the end of a run", async () => {
    const { body } = await ask("GET", `/executions/${runId}?wait_seconds=30`)
    return body.finished_at === null ? undefined : body
  })

describe("agents", () => {
  it.live(
    "lose nothing and double nothing on record when they are killed, frozen and thawed under load",
    () =>
      Effect.gen(function* () {
        const scene = yield* begin
        const { calls, url } = yield* target(400)
        const [killed, frozen, kept] = [
          yield* worker(scene),
          yield* worker(scene),
          yield* worker(scene)
        ]
        const first = yield* startAgent(scene, killed.token)
        const second = yield* startAgent(scene, frozen.token)
        const task = yield* cronTask(scene, url)
        const runs = yield* Effect.all(
          Array.from({ length: 60 }, () => runTask(scene, task)),
          { concurrency: 10 }
        )
        yield* eventually(
          "calls under way",
          async () => calls.filter(({ open }) => open).length > 8
        )
        first.kill("SIGKILL")
        second.kill("SIGSTOP")
        const goneAtMs = Date.now()
        yield* startAgent(scene, kept.token)
        const results = yield* Effect.all(
          runs.map((run) => ended(scene, run)),
          { concurrency: 10 }
        )
        second.kill("SIGCONT")
        yield* eventually("an agent that is back", async () =>
          second.output().includes("Nothing was heard of this agent")
        )
        for (const { attempts, status } of results) {
          assert.strictEqual(status, "succeeded")
          const last = attempts.at(-1)
          assert.strictEqual(last.status_code, 200)
          const [, elsewhere] = attempts
          if (elsewhere !== undefined) {
            // 20 s are promised. A machine that runs other tests beside this one gets some more.
            assert.isBelow(Date.parse(elsewhere.started_at) - goneAtMs, 25_000)
          }
          for (const lost of attempts.slice(0, -1)) {
            assert.strictEqual(lost.error, "the worker that ran it was lost")
          }
        }
        assert.isTrue(results.some(({ attempts }) => attempts.length > 1))
        const list = yield* Effect.promise(() => scene.ask("GET", "/executions?limit=100"))
        const recorded = list.body.data.map(({ id }: { readonly id: string }) => id)
        assert.sameMembers(recorded, runs)
        assert.deepStrictEqual(new Set(calls.map(({ id }) => id)), new Set(runs))
      }),
    120_000
  )

  it.live(
    "cut off what is cancelled, refuse private addresses, end their calls on SIGTERM, and stop when their place or token is gone",
    () =>
      Effect.gen(function* () {
        const scene = yield* begin
        const { id, token } = yield* worker(scene)
        const hanging = yield* target(600_000)
        const careful = yield* startAgent(scene, token, [])
        const toHanging = yield* cronTask(scene, hanging.url)
        const refused = yield* ended(scene, yield* runTask(scene, toHanging))
        assert.strictEqual(refused.error, "address 127.0.0.1 is loopback and not allowed")
        assert.lengthOf(hanging.calls, 0)

        const agent = yield* startAgent(scene, token)
        assert.strictEqual(yield* careful.exited, 3)
        assert.include(careful.output(), "Another agent has said hello")

        const run = yield* runTask(scene, toHanging)
        yield* eventually("a call", async () => hanging.calls.length === 1)
        yield* Effect.promise(() =>
          scene.ask("POST", `/cron/${toHanging}/executions/${run}/cancel`)
        )
        yield* eventually("the end of the call", async () => !hanging.calls[0]?.open, 2_000)
        assert.strictEqual((yield* ended(scene, run)).status, "cancelled")

        const slow = yield* target(1_500)
        const last = yield* runTask(scene, yield* cronTask(scene, slow.url))
        yield* eventually("a call", async () => slow.calls.length === 1)
        agent.kill("SIGTERM")
        assert.strictEqual(yield* agent.exited, 0)
        const done = yield* ended(scene, last)
        assert.deepStrictEqual([done.status, done.attempts_count], ["succeeded", 1])

        const next = yield* startAgent(scene, token)
        yield* Effect.promise(() => scene.ask("POST", `/workers/${id}/rotate`, {}))
        assert.strictEqual(yield* next.exited, 2)
        assert.include(next.output(), "the service refuses the token")
      }),
    120_000
  )

  it.live(
    "judge an answer by the rule of its task",
    () =>
      Effect.gen(function* () {
        const scene = yield* begin
        const { url } = yield* target(0)
        yield* startAgent(scene, (yield* worker(scene)).token)
        for (const [rule, status, error] of [
          [{ body_contains: "OK" }, "succeeded", null],
          [{ success_codes: ["201-299"] }, "failed", "the status 200 is not one of 201-299"],
          [{ body_lacks: "OK" }, "failed", 'the answer contains "OK"']
        ] as const) {
          const run = yield* runTask(scene, yield* cronTask(scene, url, rule))
          assert.deepInclude(yield* ended(scene, run), { status, status_code: 200, error })
        }
      }),
    60_000
  )

  it.live.runIf(process.platform === "linux")(
    "turn the monitor of a process down when it is killed, and up when it is there again",
    () =>
      Effect.gen(function* () {
        const scene = yield* begin
        const { id, token } = yield* worker(scene)
        yield* startAgent(scene, token)
        const mark = `watched-${crypto.randomUUID()}`
        const start = Effect.acquireRelease(
          Effect.sync(() => spawn("sleep", ["600"], { argv0: mark, stdio: "ignore" })),
          (started) => Effect.sync(() => started.kill("SIGKILL"))
        )
        const first = yield* start
        const monitor = yield* Effect.promise(async () => {
          const match = { command_contains: mark }
          const rules = { interval_seconds: 10, grace_seconds: 0 }
          const input = { name: "job", worker_id: id, match, ...rules }
          return String((await scene.ask("POST", "/monitors/process", input)).body.id)
        })
        const comesTo = (status: string) =>
          eventually(`a monitor that is ${status}`, async () => {
            const { body } = await scene.ask("GET", `/monitors/process/${monitor}`)
            return body.status === status ? body : undefined
          })
        const up = yield* comesTo("up")
        assert.deepInclude(up.last_report, { count: 1, pids: [first.pid] })
        assert.isAbove(up.last_report.rss_bytes, 0)
        first.kill("SIGKILL")
        yield* comesTo("down")
        const incidents = yield* Effect.promise(() => scene.ask("GET", "/incidents"))
        assert.strictEqual(incidents.body.data[0].cause.code, "too_few")
        yield* start
        yield* comesTo("up")
      }),
    120_000
  )
})
