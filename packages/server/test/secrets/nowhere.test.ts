// @tags processes long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as http from "node:http"
import * as path from "node:path"
import { eventually, listening } from "../support/ServerProcess.ts"

import { databaseLayer } from "../support/TestDatabase.ts"
import {
  startFixture,
  createCronTask,
  waitForEnd,
  runTask,
  type Fixture,
  startAgent,
  createWorker
} from "../workers/agentProcess.ts"

const operator = path.resolve(import.meta.dirname, "../../src/operator.ts")

/** Contains only letters and digits, so that base64 is the only encoding that changes the value. */
const canary = "cnry4711QxZ8dK2plain"
const base64 = Buffer.from(canary).toString("base64").slice(0, -4)

/** Starts a server that records each request and repeats it in the response. */
const echo = (status: () => number) =>
  Effect.gen(function* () {
    const arrived: Array<string> = []
    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        http.createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk))
          request.on("end", () => {
            const text = [
              request.method,
              request.url,
              JSON.stringify(request.rawHeaders),
              Buffer.concat(chunks).toString("latin1")
            ].join("\n")
            arrived.push(text)
            response.statusCode = status()
            response.setHeader("x-echo", encodeURIComponent(text.slice(0, 1_000)))
            response.end(text)
          })
        })
      ),
      (started) => Effect.sync(() => started.close())
    )
    const origin = `http://127.0.0.1:${yield* listening(server)}`
    return { arrived, origin }
  })

/** Reads a workspace's live events. Returns a function that returns the events received so far. */
const follow = ({ server, user }: Fixture) =>
  Effect.gen(function* () {
    const controller = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (made) => Effect.sync(() => made.abort())
    )
    const { body } = yield* Effect.promise(() =>
      fetch(`${server.url}${user.workspace}/events`, {
        headers: { authorization: `Bearer ${user.token}` },
        signal: controller.signal
      })
    )
    let events = ""
    const read = async () => {
      for await (const chunk of body ?? []) events += Buffer.from(chunk).toString("latin1")
    }
    // The stream ends with an error because the test aborts it.
    read().catch(() => {})
    return () => events
  })

const filesBelow = (folder: string): ReadonlyArray<string> =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))

/** Returns the tables in a PostgreSQL database that contain a string, as text or as bytes. */
const tablesWith = Effect.fnUntraced(function* (databaseUrl: string, text: string) {
  const found = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const hex = Buffer.from(text).toString("hex")
    const tables = yield* sql<{ readonly name: string }>`
      SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
      WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`
    return yield* Effect.filter(tables, ({ name }) =>
      sql`SELECT 1 FROM ${sql.literal(name)} AS t
          WHERE strpos(t::text, ${text}) > 0 OR strpos(t::text, ${hex}) > 0 LIMIT 1`.pipe(
        Effect.map((rows) => rows.length > 0)
      )
    )
  })
  return (yield* found.pipe(Effect.provide(databaseLayer(databaseUrl)))).map(({ name }) => name)
})

describe("the value of a secret", () => {
  it.live(
    "is in no response, log, trace, event, notification, table, backup or memory of an agent",
    () =>
      Effect.gen(function* () {
        let status = 200
        const target = yield* echo(() => status)
        const collector = yield* echo(() => 200)
        const fixture = yield* startFixture({
          EGRESS_ALLOW: "127.0.0.0/8",
          LOG_LEVEL: "trace",
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin
        })
        const { ask, folder, server } = fixture
        const seen: Array<string> = []
        const events = yield* follow(fixture)
        const get = (at: string) =>
          Effect.promise(async () => {
            const { body } = await ask("GET", at)
            seen.push(`${at} ${JSON.stringify(body)}`)
            return body
          })
        yield* Effect.promise(() =>
          ask("PUT", "/secrets/CANARY", { value: canary, allowed_hosts: [target.origin] })
        )
        const channel = yield* Effect.promise(() =>
          ask("POST", "/notifications/channels", {
            name: "Hook",
            kind: "webhook",
            config: { url: `${target.origin}/hook/{{ secrets.CANARY }}` }
          })
        )
        const values = {
          headers: { "x-token": "{{ secrets.CANARY }}" },
          body: '{"token":"{{ secrets.CANARY }}"}'
        }
        const url = `${target.origin}/{{ secrets.CANARY }}?token={{ secrets.CANARY }}`
        const auth = { kind: "basic", username: "robot", password: "{{ secrets.CANARY }}" }
        const here = yield* createCronTask(fixture, url, {
          ...values,
          auth,
          run_on: null,
          on_failure: { url: target.origin }
        })
        const { token } = yield* createWorker(fixture)
        const agent = yield* startAgent(
          fixture,
          token,
          ["--allow", "127.0.0.0/8"],
          ["env", `NODE_OPTIONS=--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`]
        )
        const there = yield* createCronTask(fixture, url, { ...values, auth })
        const chain = yield* Effect.promise(async () => {
          const steps = [
            { name: "first", url, ...values },
            { name: "second", url: target.origin, body: "{{ steps.first.body }}" }
          ]
          return String((await ask("POST", "/chains", { name: "Chain", steps })).body.id)
        })

        for (const answer of [200, 500]) {
          status = answer
          for (const task of [here, there]) {
            const execution = yield* waitForEnd(fixture, yield* runTask(fixture, task))
            assert.strictEqual(execution.status, answer === 200 ? "succeeded" : "failed")
            yield* get(`/executions/${execution.id}`)
          }
          const run = yield* Effect.promise(() => ask("POST", `/chains/${chain}/run`))
          yield* get(`/chains/${chain}/runs/${run.body.id}?wait_seconds=30`)
        }
        status = 200
        const sent = yield* Effect.promise(() =>
          ask("POST", `/notifications/channels/${channel.body.id}/test`)
        )
        assert.strictEqual(sent.body.delivered, true)
        assert.isTrue(target.arrived.some((text) => text.includes(`/hook/${canary}`)))
        seen.push(JSON.stringify(sent.body))
        yield* eventually("traces", async () => collector.arrived.length > 2)
        for (const at of [
          "/secrets",
          "/export",
          "/cron",
          `/cron/${here}`,
          "/chains",
          `/chains/${chain}`,
          "/executions",
          "/audit",
          "/workers",
          "/incidents",
          "/notifications/channels",
          "/notifications/deliveries"
        ]) {
          yield* get(at)
        }

        // The second step and the callback receive the masked value.
        const toRoot = yield* eventually("the second step and the callback", async () => {
          const found = target.arrived.filter((text) => text.startsWith("POST\n/\n"))
          return found.length >= 2 && found
        })
        assert.isFalse(toRoot.some((text) => text.includes(canary)))
        const givenOn = target.arrived.filter((text) => text.includes(canary)).length
        assert.isAtLeast(givenOn, 7, "the target has got the secret")

        for (const id of [here, there, chain]) assert.include(events(), id)

        agent.kill("SIGUSR2")
        const snapshot = yield* eventually("a heap snapshot", async () => {
          const file = filesBelow(folder).find((name) => name.endsWith(".heapsnapshot"))
          if (file === undefined) return undefined
          const text = fs.readFileSync(file, "utf8")
          return text.trimEnd().endsWith("}") ? text : undefined
        })
        const places: ReadonlyArray<readonly [string, string]> = [
          ["answers", seen.join("\n")],
          ["live events", events()],
          ["the log", server.stdout() + server.stderr()],
          ["the log of the agent", agent.output()],
          ["traces", collector.arrived.join("\n")],
          ["the memory of the agent", snapshot]
        ]
        for (const [place, text] of places) {
          for (const form of [canary, base64]) {
            const at = text.indexOf(form)
            assert.strictEqual(at, -1, `${place}: ${text.slice(Math.max(0, at - 300), at + 300)}`)
          }
        }

        if (fixture.databaseUrl !== undefined) {
          assert.isNotEmpty(yield* tablesWith(fixture.databaseUrl, `${target.origin}/hook`))
          for (const form of [canary, base64]) {
            assert.deepStrictEqual(yield* tablesWith(fixture.databaseUrl, form), [])
          }
          return
        }
        execFileSync(process.execPath, [operator, "backup", path.join(folder, "copy")], {
          env: { ...process.env, DATA_DIR: folder }
        })
        server.kill("SIGTERM")
        yield* server.exited
        for (const file of filesBelow(folder).filter((name) => !name.endsWith(".heapsnapshot"))) {
          const bytes = fs.readFileSync(file)
          assert.isFalse(bytes.includes(canary), file)
          assert.isFalse(bytes.includes(base64), file)
        }
      }),
    240_000
  )
})
