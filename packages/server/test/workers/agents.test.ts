// @tags processes postgres long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import * as http from "node:http"
import * as path from "node:path"
import { eventually, listening } from "../support/ServerProcess.ts"
import {
  startFixture,
  startCuttableProxy,
  createCronTask,
  waitForEnd,
  runTask,
  type Fixture,
  startAgent,
  statusOf,
  createWorker
} from "./agentProcess.ts"

/** Starts a server that records its calls and responds `afterMs` after `mayAnswer`. */
const target = Effect.fnUntraced(function* (afterMs: number, mayAnswer = Promise.resolve()) {
  const calls: Array<{ readonly id: string; open: boolean }> = []
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      http.createServer((request, response) => {
        const one = { id: String(request.headers["idempotency-key"]), open: true }
        calls.push(one)
        response.on("close", () => {
          one.open = false
        })
        void mayAnswer.then(() => setTimeout(() => response.end("OK"), afterMs))
      })
    ),
    (started) => Effect.sync(() => started.closeAllConnections())
  )
  const port = yield* listening(server)
  return { calls, url: `http://127.0.0.1:${port}/` }
})

/** Starts a process that a monitor can find by its command line. */
const startMarked = (mark: string) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn("sleep", ["600"], { argv0: mark, stdio: "ignore" })),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )

/** Creates a process monitor with a short interval and no grace period. */
const watch = ({ ask }: Fixture, fields: object) =>
  Effect.promise(async () => {
    const input = { name: "job", interval_seconds: 10, grace_seconds: 0, ...fields }
    return String((await ask("POST", "/monitors/process", input)).body.id)
  })

const waitForStatus = ({ ask }: Fixture, monitor: string, status: string) =>
  eventually(`a monitor that is ${status}`, async () => {
    const { body } = await ask("GET", `/monitors/process/${monitor}`)
    return body.status === status ? body : undefined
  })

describe("agents", () => {
  it.live(
    "lose and repeat no recorded run when they are killed, frozen, disconnected and resumed under load",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const { promise: failed, resolve: fail } = Promise.withResolvers<void>()
        const { calls, url } = yield* target(400, failed)
        const [killed, frozen, cutOff, kept] = [
          yield* createWorker(fixture),
          yield* createWorker(fixture),
          yield* createWorker(fixture),
          yield* createWorker(fixture)
        ]
        const way = yield* startCuttableProxy(fixture.server)
        const first = yield* startAgent(fixture, killed.token)
        const second = yield* startAgent(fixture, frozen.token)
        const third = yield* startAgent({ ...fixture, server: way }, cutOff.token)
        const task = yield* createCronTask(fixture, url, { timeout_seconds: 300 })
        const runs = yield* Effect.all(
          Array.from({ length: 60 }, () => runTask(fixture, task)),
          { concurrency: 10 }
        )
        yield* eventually(
          "calls under way",
          async () => calls.filter(({ open }) => open).length > 32
        )
        first.kill("SIGKILL")
        second.kill("SIGSTOP")
        way.cut()
        fail()
        const goneAtMs = Date.now()
        yield* startAgent(fixture, kept.token)
        const results = yield* Effect.all(
          runs.map((run) => waitForEnd(fixture, run)),
          { concurrency: 10 }
        )
        second.kill("SIGCONT")
        way.mend()
        for (const agent of [second, third]) {
          yield* eventually("an agent that is back", async () =>
            agent.output().includes("The service did not hear from this agent")
          )
        }
        for (const { attempts, status } of results) {
          assert.strictEqual(status, "succeeded")
          const last = attempts.at(-1)
          assert.strictEqual(last.status_code, 200)
          const [, elsewhere] = attempts
          if (elsewhere !== undefined) {
            // The service promises 20 s, but other tests on this machine can slow down this one.
            assert.isBelow(Date.parse(elsewhere.started_at) - goneAtMs, 25_000)
          }
          for (const lost of attempts.slice(0, -1)) {
            assert.strictEqual(lost.error.message, "the worker was lost during the call")
          }
        }
        assert.isTrue(results.some(({ attempts }) => attempts.length > 1))
        const list = yield* Effect.promise(() => fixture.ask("GET", "/executions?limit=100"))
        const recorded = list.body.data.map(({ id }: { readonly id: string }) => id)
        assert.sameMembers(recorded, runs)
        assert.deepStrictEqual(new Set(calls.map(({ id }) => id)), new Set(runs))
      }),
    240_000
  )

  it.live(
    "return runs claimed ahead that wait behind a hanging call",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const { token } = yield* createWorker(fixture)
        const other = yield* createWorker(fixture)
        const quick = yield* target(0)
        const hanging = yield* target(600_000)
        const runsOf = Effect.fnUntraced(function* (url: string, count: number) {
          const task = yield* createCronTask(fixture, url, { timeout_seconds: 300 })
          const runs: Array<string> = []
          for (let n = 0; n < count; n++) runs.push(yield* runTask(fixture, task))
          return runs
        })
        const before = yield* runsOf(quick.url, 40)
        yield* runsOf(hanging.url, 1)
        const after = yield* runsOf(quick.url, 10)
        yield* startAgent(fixture, token, ["--allow", "127.0.0.0/8", "--slots", "1"])
        yield* eventually("the call that hangs", async () => hanging.calls.length > 0)
        yield* startAgent(fixture, other.token)
        for (const run of [...before, ...after]) {
          const { attempts } = yield* waitForEnd(fixture, run)
          assert.lengthOf(attempts, 1)
        }
        assert.lengthOf(quick.calls, 50)
        assert.isTrue(hanging.calls[0]?.open)
      }),
    120_000
  )

  it.live(
    "cut off cancelled calls, reject private addresses, finish their calls on SIGTERM, and exit when replaced or rejected",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const { id, token } = yield* createWorker(fixture)
        const hanging = yield* target(600_000)
        const careful = yield* startAgent(fixture, token, [])
        const toHanging = yield* createCronTask(fixture, hanging.url)
        const refused = yield* waitForEnd(fixture, yield* runTask(fixture, toHanging))
        assert.strictEqual(refused.error.message, "address 127.0.0.1 is loopback and not allowed")
        assert.lengthOf(hanging.calls, 0)

        const agent = yield* startAgent(fixture, token)
        assert.strictEqual(yield* careful.exited, 3)
        assert.include(careful.output(), "Another agent has started")

        const run = yield* runTask(fixture, toHanging)
        yield* eventually("a call", async () => hanging.calls.length === 1)
        yield* Effect.promise(() => fixture.ask("POST", `/executions/${run}/cancel`))
        yield* eventually("the end of the call", async () => !hanging.calls[0]?.open, 2_000)
        assert.strictEqual((yield* waitForEnd(fixture, run)).status, "cancelled")

        const slow = yield* target(1_500)
        const last = yield* runTask(fixture, yield* createCronTask(fixture, slow.url))
        yield* eventually("a call", async () => slow.calls.length === 1)
        agent.kill("SIGTERM")
        assert.strictEqual(yield* agent.exited, 0)
        const done = yield* waitForEnd(fixture, last)
        assert.deepStrictEqual([done.status, done.attempts_count], ["succeeded", 1])

        const next = yield* startAgent(fixture, token)
        yield* Effect.promise(() => fixture.ask("POST", `/workers/${id}/rotate`, {}))
        assert.strictEqual(yield* next.exited, 2)
        assert.include(next.output(), "the service rejected the token")
      }),
    120_000
  )

  it.live(
    "show in their status since when the service is unreachable",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const { token } = yield* createWorker(fixture)
        const agent = yield* startAgent(fixture, token)
        const online = yield* statusOf(fixture, token)
        assert.deepInclude(online, { code: 0 })
        assert.match(online.said, /^worker +Office$/m)
        fixture.server.kill("SIGKILL")
        const failed = yield* eventually("a status with a problem", async () => {
          const status = await Effect.runPromise(statusOf(fixture, token))
          return status.code === 1 && status
        })
        assert.match(failed.said, /^Office: has not reached the service since 20/m)
        agent.kill("SIGINT")
        assert.strictEqual(yield* Effect.timeout(agent.exited, "30 seconds"), 0)
      }),
    120_000
  )

  it.live(
    "classify a response by the success rules of its task",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const { url } = yield* target(0)
        yield* startAgent(fixture, (yield* createWorker(fixture)).token)
        for (const [rule, status, error] of [
          [{ body_contains: "OK" }, "succeeded", null],
          [
            { success_codes: ["201-299"] },
            "failed",
            { code: "http_status", message: "the status 200 is not one of 201-299" }
          ],
          [
            { body_lacks: "OK" },
            "failed",
            { code: "response_rule", message: 'the response contains "OK"' }
          ]
        ] as const) {
          const run = yield* runTask(fixture, yield* createCronTask(fixture, url, rule))
          assert.deepInclude(yield* waitForEnd(fixture, run), { status, status_code: 200, error })
        }
      }),
    120_000
  )

  it.live.runIf(process.platform === "linux")(
    "count separately or together in monitors with their labels, while they are online",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const [one, other] = [yield* createWorker(fixture), yield* createWorker(fixture)]
        const mark = `watched-${crypto.randomUUID()}`
        yield* startAgent(fixture, one.token, ["--watch-command", mark])
        const second = yield* startAgent(fixture, other.token, ["--watch-command", mark])
        const child = yield* startMarked(mark)
        // Both agents run on this machine, so both of them find the process.
        const monitor = (judge: string) =>
          watch(fixture, {
            labels: ["office"],
            match: { command_contains: mark },
            judge,
            max_count: 1
          })
        const [each, together] = [yield* monitor("each"), yield* monitor("together")]
        const comesTo = (id: string, status: string) => waitForStatus(fixture, id, status)
        const up = yield* comesTo(each, "up")
        assert.include([one.id, other.id], up.last_report.worker_id)
        assert.deepInclude(up.last_report, { count: 1, pids: [child.pid] })
        yield* comesTo(together, "down")
        second.kill("SIGTERM")
        assert.strictEqual(yield* second.exited, 0)
        yield* comesTo(together, "up")
        child.kill("SIGKILL")
        yield* comesTo(each, "down")
        const incidents = yield* Effect.promise(() =>
          fixture.ask("GET", `/incidents?subject_id=${each}`)
        )
        assert.match(
          incidents.body.data[0].cause.message,
          /^On Office: 0 matching processes are running/
        )
      }),
    120_000
  )

  it.live.runIf(process.platform === "linux")(
    "report that a process was killed and that it runs again",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const { id, token } = yield* createWorker(fixture)
        const mark = `watched-${crypto.randomUUID()}`
        yield* startAgent(fixture, token, ["--watch-command", mark])
        const first = yield* startMarked(mark)
        const monitor = yield* watch(fixture, {
          worker_id: id,
          match: { command_contains: mark }
        })
        const comesTo = (status: string) => waitForStatus(fixture, monitor, status)
        const up = yield* comesTo("up")
        assert.deepInclude(up.last_report, { count: 1, pids: [first.pid] })
        assert.isAbove(up.last_report.rss_bytes, 0)
        first.kill("SIGKILL")
        yield* comesTo("down")
        const incidents = yield* Effect.promise(() => fixture.ask("GET", "/incidents"))
        assert.strictEqual(incidents.body.data[0].cause.code, "too_few")
        yield* startMarked(mark)
        yield* comesTo("up")
      }),
    120_000
  )

  it.live.runIf(process.platform === "linux")(
    "search command lines only for texts that they allow",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const [one, other] = [yield* createWorker(fixture), yield* createWorker(fixture)]
        const mark = `watched-${crypto.randomUUID()}`
        yield* startMarked(mark)
        yield* startAgent(fixture, one.token, ["--watch-command", mark])
        yield* startAgent(fixture, other.token)
        const monitor = (fields: object) => watch(fixture, { max_count: 9, ...fields })
        const by = (command_contains: string) => ({ match: { command_contains } })
        const guess = yield* monitor({ worker_id: one.id, ...by(mark.slice(0, -1)) })
        const given = yield* monitor({ worker_id: one.id, ...by(mark) })
        const without = yield* monitor({ worker_id: other.id, min_count: 0, ...by(mark) })
        const together = { labels: ["office"], judge: "together" }
        const many = yield* monitor({ ...together, ...by(mark) })
        yield* waitForStatus(fixture, given, "up")
        for (const id of [guess, without]) {
          const { last_report } = yield* waitForStatus(fixture, id, "down")
          assert.deepInclude(last_report, { count: 0, pids: [], refused: "not_allowed" })
        }
        yield* waitForStatus(fixture, many, "down")
        const { body } = yield* Effect.promise(() => fixture.ask("GET", "/incidents"))
        for (const { cause } of body.data) assert.strictEqual(cause.code, "not_allowed")
        assert.match(body.data[0].cause.message, /Start it with --watch-command/)
      }),
    120_000
  )

  it.live.runIf(process.platform === "linux")(
    "continue to send beats if a pid file hangs",
    () =>
      Effect.gen(function* () {
        const fixture = yield* startFixture()
        const { id, token } = yield* createWorker(fixture)
        const mark = `watched-${crypto.randomUUID()}`
        yield* startAgent(fixture, token, ["--watch-command", mark])
        const child = yield* startMarked(mark)
        const monitor = (match: object) => watch(fixture, { worker_id: id, match })
        const comesTo = (of: string, status: string) => waitForStatus(fixture, of, status)
        const pipe = path.join(fixture.folder, "pipe")
        execFileSync("mkfifo", [pipe])
        const others = yield* Effect.forEach(["/dev/ptmx", "/dev/zero", pipe], (pid_file) =>
          monitor({ pid_file })
        )
        const other = yield* monitor({ command_contains: mark })
        for (const one of others) {
          assert.strictEqual((yield* comesTo(one, "down")).last_report.count, 0)
        }
        yield* comesTo(other, "up")
        child.kill("SIGKILL")
        yield* comesTo(other, "down")
      }),
    120_000
  )
})
