// @tags processes long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { clusterSkipReason, postgresCluster } from "./support/PostgresCluster.ts"
import {
  sendJson,
  type JsonResponse,
  eventually,
  newUser,
  type ServerProcess,
  spawnServer
} from "./support/ServerProcess.ts"

const assertUnavailable = ({ body, headers, status }: JsonResponse) => {
  assert.strictEqual(status, 503)
  assert.strictEqual(body.detail.error, "unavailable")
  assert.strictEqual(headers.get("retry-after"), "1")
  assert.isString(headers.get("x-request-id"))
}

const timed = (server: ServerProcess, method: string, at: string, token?: string) =>
  Effect.promise(async () => {
    const start = performance.now()
    const answer = await sendJson(server, method, at, {
      ...(token === undefined ? {} : { token }),
      ...(method === "POST" ? { body: { name: "a workspace" } } : {})
    })
    return { answer, seconds: (performance.now() - start) / 1000 }
  })

/**
 * Asserts that every request is soon answered with 503, while the process still reports itself as
 * healthy.
 */
const assertAway = (server: ServerProcess, token: string, withinSeconds: number) =>
  Effect.gen(function* () {
    const asked = [
      ["GET", "/v1/ready"],
      ["GET", "/v1/auth/me"],
      ["GET", "/v1/workspaces"],
      ["POST", "/v1/workspaces"]
    ] as const
    const answers = yield* Effect.all(
      asked.map(([method, at]) => timed(server, method, at, token)),
      { concurrency: "unbounded" }
    )
    for (const { answer, seconds } of answers) {
      assertUnavailable(answer)
      assert.isBelow(seconds, withinSeconds)
    }
    const { answer, seconds } = yield* timed(server, "GET", "/v1/health")
    assert.strictEqual(answer.status, 200)
    assert.isBelow(seconds, 3)
  })

const assertBack = (server: ServerProcess, token: string) =>
  Effect.gen(function* () {
    yield* eventually(
      "the database",
      async () => (await sendJson(server, "GET", "/v1/ready")).status === 200
    )
    const { answer } = yield* timed(server, "POST", "/v1/workspaces", token)
    assert.strictEqual(answer.status, 201)
  })

describe.skipIf(clusterSkipReason !== undefined)(
  `A PostgreSQL that fails${clusterSkipReason === undefined ? "" : ` (skipped: ${clusterSkipReason})`}`,
  () => {
    it.live(
      "is awaited at the start, reported while it is stopped, full or frozen, and used again afterwards",
      () =>
        Effect.gen(function* () {
          const postgres = yield* postgresCluster
          const server = yield* spawnServer({
            DATABASE_URL: postgres.url,
            RUNNER: "off",
            APP_SECRET: "a secret for tests, thirty-two bytes and more"
          })

          // While the database is unavailable, connections are neither rejected nor kept waiting.
          const early = yield* eventually("an answer", () => sendJson(server, "GET", "/v1/health"))
          assertUnavailable(early)
          yield* eventually("a line in the logs", async () =>
            server.stdout().includes("waiting for")
          )
          yield* postgres.start
          yield* postgres.query("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app")
          yield* eventually(
            "a start",
            async () => (await sendJson(server, "GET", "/v1/ready")).status === 200
          )
          const { token } = yield* newUser(server)

          yield* postgres.stop
          yield* assertAway(server, token, 10)
          yield* postgres.start
          yield* assertBack(server, token)

          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* postgres.refuseConnections
              yield* assertAway(server, token, 10)
            })
          )
          yield* assertBack(server, token)

          yield* postgres.freeze
          yield* assertAway(server, token, 25)
          yield* postgres.thaw
          yield* assertBack(server, token)

          server.kill("SIGTERM")
          assert.strictEqual(yield* server.exited, 0)
          assert.strictEqual(server.stderr(), "")
          assert.notInclude(server.stdout(), "request failed")
        }),
      { timeout: 120_000 }
    )
  }
)
