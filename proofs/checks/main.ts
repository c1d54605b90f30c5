/**
 * Measures how punctually one node checks many HTTP monitors, and the resources that this takes:
 * `TEST_DATABASE_URL=… npm run checks`, optionally followed by the number of monitors (10,000) and
 * of minutes (2). Creates a database on that server and drops it. The targets run in this process.
 */
import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { startServer, temporaryFolder } from "../../packages/server/test/support/ServerProcess.ts"
import {
  freshDatabaseUrl,
  testDatabaseUrl
} from "../../packages/server/test/support/TestDatabase.ts"

const [monitors = 10_000, minutes = 2] = process.argv.slice(2).map(Number)

const intervalMs = 60_000
const ofWorkspace = 1_000

/** The times at which each path was requested. */
const arrivals = new Map<string, Array<number>>()

const target = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((request, response) => {
      const id = (request.url ?? "").slice(1)
      const known = arrivals.get(id)
      if (known === undefined) arrivals.set(id, [Date.now()])
      else known.push(Date.now())
      response.end('{"status":"ok"}')
    })
    server.listen(0, "127.0.0.1", 4_096)
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => void server.close())
)

/** Creates an account, a workspace for every thousand monitors, and the monitors. */
const fill = Effect.fnUntraced(function* (port: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO users (id, email, password_hash, created_at)
    VALUES (gen_random_uuid(), 'checks@example.com', 'none', now())`
  yield* sql`
    INSERT INTO workspaces (id, name, lane, created_at)
    SELECT gen_random_uuid(), 'checks', 0, now()
    FROM generate_series(1, ${Math.ceil(monitors / ofWorkspace)})`
  yield* sql`
    INSERT INTO monitors (
      id, workspace_id, kind, name, tags, status, changed_at, created_at, updated_at
    )
    SELECT gen_random_uuid(), w.id, 'http', 'Site', '{}', 'new', now(), now(), now()
    FROM workspaces AS w, generate_series(1, ${ofWorkspace})
    LIMIT ${monitors}`
  yield* sql`
    INSERT INTO checked_monitors (
      monitor_id, workspace_id, interval_seconds, timeout_seconds, confirm_after, recover_after,
      target, check_at
    )
    SELECT
      id, workspace_id, ${intervalMs / 1_000}, 10, 2, 1,
      jsonb_build_object(
        'url', ${`http://127.0.0.1:${port}/`}::text || id, 'method', 'GET',
        'headers', '{}'::jsonb, 'body', NULL, 'auth', NULL, 'follow_redirects', true,
        'success_codes', NULL, 'body_contains', 'ok', 'body_lacks', NULL, 'body_json', NULL,
        'max_latency_ms', NULL, 'min_certificate_days', NULL
      ),
      now() + random() * interval '1 minute'
    FROM monitors`
})

/** Returns the CPU time, in seconds, used by the processes with this name or id. */
const cpuSeconds = (which: number | string): number =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
        const [, name = "", rest = ""] = /\((.*)\) (.*)$/s.exec(stat) ?? []
        if (typeof which === "number" ? Number(pid) !== which : name !== which) return sum
        const fields = rest.split(" ")
        return sum + (Number(fields[11]) + Number(fields[12])) / 100
      } catch {
        return sum
      }
    }, 0)

/** Returns how many milliseconds after its scheduled time each check arrived. */
const latenesses = (): ReadonlyArray<number> =>
  [...arrivals]
    .flatMap(([id, times]) => {
      const offset = Number.parseInt(id.slice(-12), 16) % intervalMs
      return times.map((time) => (time - offset) % intervalMs)
    })
    .toSorted((a, b) => a - b)

const at = (sorted: ReadonlyArray<number>, share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

const program = Effect.gen(function* () {
  if (testDatabaseUrl === undefined) {
    return yield* Effect.die("Set TEST_DATABASE_URL to a PostgreSQL server.")
  }
  const url = yield* freshDatabaseUrl(testDatabaseUrl)
  const server = yield* startServer({
    DATA_DIR: yield* temporaryFolder("checks"),
    DATABASE_URL: url,
    APP_SECRET: "a secret for tests, thirty-two bytes and more",
    EGRESS_ALLOW: "127.0.0.0/8",
    LOG_LEVEL: "warn"
  })
  const { port } = (yield* target).address() as AddressInfo
  yield* fill(port).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
  )
  // Each monitor's first check is at a random time. Later checks are at the scheduled times.
  yield* Effect.sleep(2 * intervalMs)
  arrivals.clear()
  const names = [server.pid, "postgres"] as const
  const before = names.map(cpuSeconds)
  yield* Effect.sleep(minutes * intervalMs)
  const used = names.map((name, index) => cpuSeconds(name) - (before[index] ?? 0))
  const late = latenesses()
  const [node = 0, postgres = 0] = used.map((seconds) => (seconds / minutes / 60) * 100)
  const checkedTwice = [...arrivals.values()].filter((times) =>
    times.some((time, index) => time - (times[index - 1] ?? 0) < intervalMs / 2)
  )
  yield* Effect.log(
    [
      `${late.length} checks of ${monitors} monitors in ${minutes} minutes`,
      `late by p50 ${at(late, 0.5)} ms, p99 ${at(late, 0.99)} ms, at most ${late.at(-1)} ms`,
      `the node uses ${node.toFixed(0)} % of a core, PostgreSQL ${postgres.toFixed(0)} %`,
      `checked twice: ${checkedTwice.length}`
    ].join("\n")
  )
  if (server.stderr() !== "") yield* Effect.log(server.stderr())
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)
