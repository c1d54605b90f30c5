// @tags processes
import { assert, describe, it } from "@effect/vitest"
import type { WorkerCall } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect } from "effect"
import * as fs from "node:fs"
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { eventually, listening, temporaryFolder } from "../support/ServerProcess.ts"
import { startCommand, token } from "./agentCommand.ts"

const escape = "\u001b]0;owned\u0007\u001b[2J"

/** Characters that control a terminal, except line breaks. */
const controlCharacters = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/

const welcome = {
  worker_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
  name: "Office",
  labels: ["office"],
  session: 7,
  wait_seconds: 10,
  beat_seconds: 1
}
const orders = { cancel: [], watch: [], watching: "" }
const lost = {
  detail: { error: "session_ended", reason: "lost", message: `Gone.${escape}` },
  request_id: "1"
}

const callTo = (url: string, n: number, fields: Partial<WorkerCall> = {}): object => ({
  run_id: `019a9f3c-5b1e-7c4a-9d2f-${String(n).padStart(12, "0")}`,
  lease: "7.1",
  attempt: 1,
  deadline: "2099-01-01T00:00:00.000Z",
  method: "GET",
  url,
  headers: {},
  body: null,
  timeout_seconds: 30,
  task: { id: welcome.worker_id, scheduled_ms: 0 },
  signature: { id: "x", timestamp: 0, signature: "v1,x" },
  ...fields
})

type Answers = Readonly<Record<string, (response: ServerResponse) => void>>

const json =
  (body: () => unknown, status = 200) =>
  (response: ServerResponse) =>
    void response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify(body()))

const serve = Effect.fnUntraced(function* (listener: RequestListener) {
  const server = createServer(listener)
  const port = yield* listening(server)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
  )
  return `http://127.0.0.1:${port}`
})

/** Starts the real agent with a service that returns these responses and counts the requests. */
const agentOf = Effect.fnUntraced(function* (answers: Answers, flags: ReadonlyArray<string> = []) {
  const usual: Answers = {
    hello: json(() => welcome),
    beat: json(() => orders),
    results: json(() => ({ receipts: [] })),
    // The claim is never answered.
    claim: () => {}
  }
  const askedAtMs = new Map<string, Array<number>>()
  const url = yield* serve((request, response) => {
    request.resume()
    const what = (request.url ?? "").split("?", 1)[0]?.split("/").at(-1) ?? ""
    askedAtMs.set(what, [...(askedAtMs.get(what) ?? []), performance.now()])
    const answer = answers[what] ?? usual[what]
    if (answer === undefined) response.writeHead(404).end()
    else answer(response)
  })
  const env = {
    TMPDIR: yield* temporaryFolder("agent-hostile"),
    SCHEDULING_URL: url,
    SCHEDULING_WORKER_TOKEN: token
  }
  const agent = yield* startCommand(["run", "--slots", "4", ...flags], env)
  /**
   * Measures how long it takes from the first request of a kind until there have been this many.
   */
  const takesMs = (what: string, requests: number) =>
    Effect.map(
      eventually(`${requests} requests for ${what}`, async () => {
        const times = askedAtMs.get(what) ?? []
        return times.length > requests ? times : undefined
      }),
      (times) => (times[requests] ?? 0) - (times[0] ?? 0)
    )
  const says = (text: string) =>
    eventually(`an agent that says ${text}`, async () => agent.output().includes(text))
  return { agent, env, says, takesMs, asked: (what: string) => askedAtMs.get(what)?.length ?? 0 }
})

const watched = (interval_seconds: number) => () => ({
  monitor_id: welcome.worker_id,
  match: { name: "node" },
  interval_seconds
})

describe("an agent whose service is hostile", () => {
  it.live(
    "pauses between claims and sessions that end at once",
    () =>
      Effect.gen(function* () {
        const idle = yield* agentOf({ claim: json(() => ({ calls: [], beat: true })) })
        assert.isAbove(yield* idle.takesMs("claim", 5), 1_500)
        assert.isBelow(idle.asked("beat"), 20)
        const sessions = yield* agentOf({ beat: json(() => lost, 409) })
        assert.isAbove(yield* sessions.takesMs("hello", 5), 1_500)
        assert.include(sessions.agent.output(), "Gone.\\u{001b}]0;owned\\u{0007}")
        assert.notMatch(sessions.agent.output(), controlCharacters)
      }),
    300_000
  )

  it.live(
    "takes only as many runs as it asked for, and makes only as many calls as it has slots",
    () =>
      Effect.gen(function* () {
        const held = new Set<string>()
        const target = yield* serve((request) => void held.add(request.url ?? ""))
        let n = 0
        const flood = () => Array.from({ length: 200 }, () => callTo(`${target}/${++n}`, n))
        const { agent, env, says } = yield* agentOf({ claim: json(() => ({ calls: flood() })) }, [
          "--allow",
          "127.0.0.0/8"
        ])
        yield* says("is online")
        yield* eventually("calls in all slots", async () => held.size >= 4)
        const status = yield* startCommand(["status"], env)
        yield* status.exited
        assert.match(status.output(), /^running +4$/m)
        assert.match(status.output(), /^unsent +0$/m)
        assert.strictEqual(held.size, 4)
        agent.kill("SIGKILL")
      }),
    300_000
  )

  it.live(
    "prints no characters that control a terminal",
    () =>
      Effect.gen(function* () {
        const texts = [
          `http://10.0.0.1/${escape}`,
          "http://10.0.0.1/\u202egnp.exe",
          `${escape}\n2026-01-01T00:00:00.000Z INFO all is well`
        ]
        const calls = texts.map((url, n) => callTo(url, n))
        const given = [calls]
        const { agent, says } = yield* agentOf({
          claim: (response) => {
            const next = given.shift()
            if (next !== undefined) json(() => ({ calls: next }))(response)
          },
          results: json(() => ({ detail: { error: escape, message: escape } }), 500)
        })
        yield* says("submitting results")
        const lines = agent.output().split("\n")
        assert.include(agent.output(), "\\u{001b}")
        assert.notMatch(agent.output(), controlCharacters)
        assert.isEmpty(lines.filter((line) => line.endsWith("INFO all is well")))

        const named = yield* agentOf({ hello: json(() => ({ ...welcome, name: escape })) })
        yield* named.says("starting a session")
        assert.notMatch(named.agent.output(), controlCharacters)

        const message = `Too old.${escape}`
        const refused = yield* agentOf({
          hello: json(
            () => ({ detail: { error: "agent_outdated", message }, request_id: "1" }),
            409
          )
        })
        assert.strictEqual(yield* refused.agent.exited, 4)
        assert.include(refused.agent.output(), "Too old.\\u{001b}")
        assert.notMatch(refused.agent.output(), controlCharacters)
      }),
    300_000
  )

  it.live(
    "follows no redirect into its own network",
    () =>
      Effect.gen(function* () {
        let reached = 0
        const inside = yield* serve((_, response) => {
          reached++
          json(() => welcome)(response)
        })
        const { says, takesMs } = yield* agentOf({
          hello: (response) => void response.writeHead(307, { location: `${inside}/admin` }).end()
        })
        yield* says("retrying")
        yield* takesMs("hello", 1)
        assert.strictEqual(reached, 0)
      }),
    300_000
  )

  it.live(
    "limits the size of responses",
    () =>
      Effect.gen(function* () {
        const mebibyte = Buffer.alloc(1024 * 1024, " ")
        const bomb = gzipSync(Buffer.alloc(512 * 1024 * 1024, " "))
        let sent = 0
        const endless = (response: ServerResponse) => {
          response.writeHead(200, { "content-type": "application/json" })
          const pump = () => {
            while (!response.destroyed && response.write(mebibyte)) sent++
          }
          response.on("drain", pump)
          pump()
        }
        const zipped = (response: ServerResponse) =>
          void response
            .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
            .end(bomb)
        for (const answer of [endless, zipped]) {
          sent = 0
          const { agent, says } = yield* agentOf({ hello: answer })
          yield* says("the response has more than 33554432 bytes; retrying")
          assert.isBelow(sent, 200)
          const peak = peakMebibytes(agent.pid)
          if (peak !== undefined) assert.isBelow(peak, 500)
          agent.kill("SIGKILL")
        }
      }),
    300_000
  )

  it.live.each([
    ["a beat interval of 0", "hello", { ...welcome, beat_seconds: 0 }],
    ["a wait that never ends", "hello", { ...welcome, wait_seconds: 1e9 }],
    ["too many runs", "claim", { calls: Array.from({ length: 201 }, (_, n) => callTo("x", n)) }],
    [
      "an invalid time",
      "claim",
      { calls: [callTo("x", 1, { task: { id: welcome.worker_id as never, scheduled_ms: 1e300 } })] }
    ],
    [
      "a line end in a header",
      "claim",
      {
        calls: [callTo("x", 1, { signature: { id: "x\r\nhost: y", timestamp: 0, signature: "" } })]
      }
    ],
    ["a lease of a megabyte", "claim", { calls: [callTo("x", 1, { lease: "x".repeat(2 ** 20) })] }],
    ["too many monitors", "beat", { ...orders, watch: Array.from({ length: 51 }, watched(10)) }],
    ["observations of processes without a pause", "beat", { ...orders, watch: [watched(0)()] }]
  ] as const)(
    "refuses %s",
    ([, what, answer]) =>
      Effect.gen(function* () {
        const { agent, says, takesMs } = yield* agentOf({ [what]: json(() => answer) })
        yield* says("retrying")
        assert.isAbove(yield* takesMs(what, 2), 300)
        for (const line of agent.output().split("\n")) assert.isBelow(line.length, 2_500)
      }),
    300_000
  )
})

/** Returns a process's peak memory, or undefined if the kernel does not report it. */
const peakMebibytes = (pid: number | undefined): number | undefined => {
  if (process.platform !== "linux") return undefined
  const status = fs.readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024
}
