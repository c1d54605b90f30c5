import { assert, describe, it } from "@effect/vitest"
import { SchedulingClient, type TokenPair, WorkspaceId } from "@scheduling/sdk/effect"
import * as EffectSdk from "@scheduling/sdk/effect"
import { ConfigProvider, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import {
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse
} from "effect/http"
import { TestClock } from "effect/testing"
import { noContentResponse, errorResponse, jsonResponse } from "./support/scriptedFetch.ts"

type Step = Response | "broken" | Effect.Effect<Response>

/** Responds to requests with these steps in order, and records the requests. */
const scripted = (...steps: ReadonlyArray<Step>) => {
  const sent: Array<HttpClientRequest.HttpClientRequest> = []
  const left = [...steps]
  const layer = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => {
      sent.push(request)
      const step = left.shift()
      if (step === undefined) return Effect.die(new Error(`${request.url} was not expected`))
      if (step === "broken") {
        const reason = new HttpClientError.TransportError({ request })
        return Effect.fail(new HttpClientError.HttpClientError({ reason }))
      }
      const answer = step instanceof Response ? Effect.succeed(step) : step
      return Effect.map(answer, (response) => HttpClientResponse.fromWeb(request, response))
    })
  )
  /** Lists the requests in the form `GET /v1/auth/me access-1`. */
  const log = () =>
    sent.map(({ headers, method, url }) =>
      [method, new URL(url).pathname, headers["authorization"]?.replace("Bearer ", "")]
        .join(" ")
        .trim()
    )
  return { layer, log, sent }
}

const workspace_id = WorkspaceId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41")
const workspace = {
  id: workspace_id,
  name: "Acme",
  stopped_at: null,
  created_at: "2026-01-31T09:30:00.000Z"
}
const user = {
  id: workspace_id,
  email: "a@example.com",
  email_verified: true,
  pending_email: null,
  name: null,
  has_password: true,
  created_at: workspace.created_at
}

const withKey = SchedulingClient.layer({ apiKey: Redacted.make("pak_x") })

const run = <A, E>(
  layer: Layer.Layer<SchedulingClient, never, HttpClient.HttpClient>,
  script: ReturnType<typeof scripted>,
  use: (client: SchedulingClient["Service"]) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const client = yield* SchedulingClient
    const fiber = yield* Effect.forkChild(use(client))
    yield* TestClock.adjust("1 minute")
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(Layer.provide(layer, script.layer)))

describe("with an API key", () => {
  it.effect("returns decoded records, and fails with the declared errors", () =>
    Effect.gen(function* () {
      const script = scripted(
        jsonResponse(workspace),
        errorResponse(403, "insufficient_scope", { required_scope: "workspace:read" })
      )
      const outcome = yield* run(withKey, script, (client) =>
        Effect.gen(function* () {
          const found = yield* client.workspaces.get({ params: { workspace_id } })
          const scope = yield* client.workspaces.get({ params: { workspace_id } }).pipe(
            Effect.as("none"),
            Effect.catchTag("InsufficientScope", (error) => Effect.succeed(error.required_scope))
          )
          return { found, scope }
        })
      )
      assert.deepStrictEqual(outcome, { found: workspace, scope: "workspace:read" })
      assert.deepStrictEqual(
        script.log(),
        Array(2).fill(`GET /v1/workspaces/${workspace_id} pak_x`)
      )
      assert.match(script.sent[0]?.url ?? "", /^http:\/\/127\.0\.0\.1:4000\//)
    })
  )

  it.effect("retries reads, and creates with the same idempotency key", () =>
    Effect.gen(function* () {
      const script = scripted(
        "broken",
        errorResponse(503, "unavailable", { retry_after: 1 }, { "retry-after": "1" }),
        jsonResponse(workspace),
        errorResponse(503, "unavailable", { retry_after: 1 }),
        jsonResponse(workspace, 201)
      )
      yield* run(withKey, script, (client) =>
        Effect.andThen(
          client.workspaces.get({ params: { workspace_id } }),
          client.workspaces.create({ headers: {}, payload: { name: "Acme" } })
        )
      )
      const keys = script.sent.map(({ headers }) => headers["idempotency-key"])
      assert.deepStrictEqual(keys.slice(0, 3), [undefined, undefined, undefined])
      assert.match(keys[3] ?? "", /^[0-9a-f]{32}$/)
      assert.strictEqual(keys[4], keys[3])
    })
  )

  it.effect("sends the caller's idempotency key, and requests that cannot be repeated once", () =>
    Effect.gen(function* () {
      const script = scripted(jsonResponse(workspace, 201), errorResponse(500, "internal_error"))
      const error = yield* run(withKey, script, (client) =>
        client.workspaces
          .create({ headers: { "idempotency-key": "k1" }, payload: { name: "Acme" } })
          .pipe(
            Effect.andThen(
              client.workspaces.update({ params: { workspace_id }, payload: { name: "B" } })
            ),
            Effect.flip
          )
      )
      assert.strictEqual(script.sent[0]?.headers["idempotency-key"], "k1")
      assert.strictEqual(error._tag, "InternalError")
      assert.lengthOf(script.sent, 2)
    })
  )

  it.effect("gives up after maxRetries, with the last response", () =>
    Effect.gen(function* () {
      const layer = SchedulingClient.layer({ apiKey: Redacted.make("pak_x"), maxRetries: 1 })
      const down = () => errorResponse(503, "unavailable", { retry_after: 1 })
      const script = scripted(down(), down())
      const error = yield* Effect.flip(run(layer, script, (client) => client.system.ready()))
      assert.strictEqual(error._tag, "Unavailable")
    })
  )
})

const task = {
  id: workspace_id,
  workspace_id,
  key: null,
  version: 1,
  name: "Nightly",
  tags: [],
  schedule: "0 3 * * *",
  every: null,
  anchor: null,
  url: "https://example.com/",
  method: "POST",
  headers: {},
  body: null,
  timeout_seconds: 30,
  retry_count: 0,
  success_codes: null,
  body_contains: null,
  body_lacks: null,
  retry: null,
  completion: null,
  auth: null,
  run_on: null,
  worker_wait_seconds: 300,
  queue_id: null,
  queue_key: null,
  flow: null,
  priority: 0,
  depends_on: [],
  timezone: "Europe/Berlin",
  overlap: "skip",
  missed: "once",
  dst_overlap: "first",
  precision: "minute",
  jitter_seconds: 0,
  starts_at: null,
  ends_at: null,
  excluded_days: [],
  excluded_calendar: null,
  on_pause: "cancel",
  pause_after_failures: null,
  paused_reason: null,
  on_failure: null,
  on_success: null,
  paused: false,
  status: "active",
  next_run_at: null,
  last_run: null,
  created_by: null,
  updated_by: null,
  created_at: workspace.created_at,
  updated_at: workspace.created_at
}

describe("input", () => {
  const ws: string = workspace_id
  const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): unknown =>
    body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(body.body)) : undefined

  it.effect("accepts strings for ids, schedules and time zones", () =>
    Effect.gen(function* () {
      const script = scripted(
        jsonResponse(task, 201),
        jsonResponse(task),
        jsonResponse({ data: [] })
      )
      yield* run(withKey, script, (client) =>
        Effect.gen(function* () {
          const made = yield* client.cron.create({
            params: { workspace_id: ws },
            payload: {
              name: "Nightly",
              url: "https://example.com/",
              schedule: "0 3 * * *",
              timezone: "Europe/Berlin"
            }
          })
          yield* client.cron.get({ params: { workspace_id: ws, task_id: made.id } })
          return yield* client.cron.preview({
            params: { workspace_id: ws },
            query: { schedule: "0 3 * * *", timezone: "UTC", count: 2 }
          })
        })
      )
      assert.deepStrictEqual(bodyOf(script.sent[0]!), {
        name: "Nightly",
        url: "https://example.com/",
        schedule: "0 3 * * *",
        timezone: "Europe/Berlin"
      })
      const query = [...(script.sent[2]?.urlParams ?? [])]
      assert.deepStrictEqual(query, [
        ["schedule", "0 3 * * *"],
        ["timezone", "UTC"],
        ["count", "2"]
      ])
    })
  )

  it.effect("may have the format of the API", () =>
    Effect.gen(function* () {
      const script = scripted(jsonResponse(task, 201))
      yield* run(withKey, script, (client) =>
        client.cron.create({
          params: { workspace_id: ws.toUpperCase() },
          payload: {
            name: "  Nightly ",
            url: "https://example.com/",
            schedule: "0  3 * * *",
            timezone: "europe/berlin"
          }
        })
      )
      assert.include(script.log()[0], ws)
      assert.deepInclude(bodyOf(script.sent[0]!), {
        name: "Nightly",
        schedule: "0 3 * * *",
        timezone: "Europe/Berlin"
      })
    })
  )

  it.effect("with a wrong value or an unknown field is not sent", () =>
    Effect.gen(function* () {
      const good = { name: "x", url: "https://example.com/", schedule: "0 3 * * *" }
      for (const payload of [
        { ...good, schedule: "every night" },
        { ...good, shedule: "0 3 * * *" }
      ]) {
        const script = scripted()
        const error = yield* Effect.flip(
          run(withKey, script, (client) =>
            client.cron.create({ params: { workspace_id: ws }, payload })
          )
        )
        assert.strictEqual(error._tag, "SchemaError")
        assert.lengthOf(script.sent, 0)
      }
    })
  )

  it.effect("has secrets as Redacted with any label", () =>
    Effect.gen(function* () {
      const script = scripted(jsonResponse(pair("1")))
      yield* run(withKey, script, (client) =>
        client.auth.login({
          payload: { email: "A@Example.com", password: Redacted.make("pw", { label: "mine" }) }
        })
      )
      assert.deepStrictEqual(bodyOf(script.sent[0]!), { email: "a@example.com", password: "pw" })
    })
  )

  it.effect("may request the response too", () =>
    Effect.gen(function* () {
      const script = scripted(jsonResponse(workspace))
      const [found, response] = yield* run(withKey, script, (client) =>
        client.workspaces.get({
          params: { workspace_id: ws },
          responseMode: "decoded-and-response"
        })
      )
      assert.deepStrictEqual([found.name, response.status], ["Acme", 200])
    })
  )
})

describe("layerConfig", () => {
  const me = SchedulingClient.use((client) => client.system.health())
  const layerOf = (script: ReturnType<typeof scripted>, env: Record<string, string>) =>
    SchedulingClient.layerConfig.pipe(
      Layer.provide(script.layer),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env)))
    )

  it.effect("reads the key and the address from the configuration", () =>
    Effect.gen(function* () {
      const script = scripted(jsonResponse({ status: "ok", version: "1.2.3" }))
      const env = { SCHEDULING_API_KEY: "pak_env", SCHEDULING_URL: "https://example.com/v1/" }
      yield* Effect.provide(me, layerOf(script, env))
      assert.strictEqual(script.sent[0]?.url, "https://example.com/v1/health")
      assert.match(script.sent[0]?.headers["user-agent"] ?? "", /^scheduling-sdk\//)
    })
  )

  it.effect("fails if there is no key", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.provide(me, layerOf(scripted(), {})))
      assert.strictEqual(error._tag, "ConfigError")
    })
  )
})

it("the entry exports nothing internal", () => {
  assert.deepStrictEqual(
    Object.keys(EffectSdk).filter((name) => !/^[A-Z]/.test(name)),
    ["untilFinished"]
  )
})

const pair = (name: string) => ({
  access_token: `access-${name}`,
  refresh_token: `refresh-${name}`,
  token_type: "bearer",
  expires_in: 900
})

const tokens = {
  access_token: Redacted.make("access-1"),
  refresh_token: Redacted.make("refresh-1")
}

const refused = () =>
  errorResponse(401, "invalid_token", {}, { "www-authenticate": 'Bearer error="invalid_token"' })

describe("with a session", () => {
  it.effect("renews rejected tokens once for all fibers", () =>
    Effect.gen(function* () {
      const kept: Array<TokenPair> = []
      const layer = SchedulingClient.layerSession({
        tokens,
        onTokens: (renewed) => Effect.sync(() => void kept.push(renewed))
      })
      const script = scripted(
        refused(),
        refused(),
        jsonResponse(pair("2")),
        jsonResponse(user),
        jsonResponse(user)
      )
      yield* run(layer, script, (client) =>
        Effect.all([client.auth.getMe(), client.auth.getMe()], { concurrency: 2 })
      )
      assert.deepStrictEqual(script.log(), [
        "GET /v1/auth/me access-1",
        "GET /v1/auth/me access-1",
        "POST /v1/auth/refresh",
        "GET /v1/auth/me access-2",
        "GET /v1/auth/me access-2"
      ])
      assert.deepStrictEqual(
        kept.map(({ refresh_token }) => Redacted.value(refresh_token)),
        ["refresh-2"]
      )
    })
  )

  it.effect("uses the tokens of a changed password, also for calls that have begun earlier", () =>
    Effect.gen(function* () {
      const [asked, overtaken] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const script = scripted(
        Deferred.succeed(asked, undefined).pipe(
          Effect.andThen(Deferred.await(overtaken)),
          Effect.andThen(Effect.sleep("1 second")),
          Effect.as(jsonResponse(pair("2")))
        ),
        Effect.as(Deferred.succeed(overtaken, undefined), refused()),
        jsonResponse(user)
      )
      const secret = Redacted.make("a long password", { label: "password" })
      yield* run(SchedulingClient.layerSession({ tokens }), script, (client) =>
        Effect.all(
          [
            client.auth.changePassword({
              payload: {
                current_password: secret,
                new_password: secret
              }
            }),
            Effect.andThen(Deferred.await(asked), client.auth.getMe())
          ],
          { concurrency: 2 }
        )
      )
      assert.deepStrictEqual(script.log(), [
        "POST /v1/auth/password access-1",
        "GET /v1/auth/me access-1",
        "GET /v1/auth/me access-2"
      ])
    })
  )

  it.effect("renews shortly before they expire", () =>
    Effect.gen(function* () {
      const layer = SchedulingClient.layerSession({ tokens })
      const script = scripted(
        refused(),
        jsonResponse(pair("2")),
        jsonResponse(user),
        jsonResponse(pair("3")),
        jsonResponse(user)
      )
      yield* Effect.gen(function* () {
        const client = yield* SchedulingClient
        yield* client.auth.getMe()
        yield* TestClock.adjust("870 seconds")
        yield* client.auth.getMe()
      }).pipe(Effect.provide(Layer.provide(layer, script.layer)))
      assert.deepStrictEqual(script.log().slice(3), [
        "POST /v1/auth/refresh",
        "GET /v1/auth/me access-3"
      ])
    })
  )

  it.effect("fails with InvalidToken when the session has ended", () =>
    Effect.gen(function* () {
      const layer = SchedulingClient.layerSession({ tokens })
      const script = scripted(refused(), errorResponse(401, "invalid_refresh_token"))
      const error = yield* Effect.flip(run(layer, script, (client) => client.auth.getMe()))
      assert.strictEqual(error._tag, "InvalidToken")
    })
  )

  it.effect("keeps the new tokens when the fiber that requested them is interrupted", () =>
    Effect.gen(function* () {
      const layer = SchedulingClient.layerSession({ tokens })
      const slow = Effect.delay(
        Effect.sync(() => jsonResponse(pair("2"))),
        "3 seconds"
      )
      const script = scripted(refused(), slow, noContentResponse())
      yield* run(layer, script, (client) =>
        client.auth
          .getMe()
          .pipe(
            Effect.timeoutOption("1 second"),
            Effect.andThen(Effect.sleep("5 seconds")),
            Effect.andThen(client.auth.logout())
          )
      )
      assert.strictEqual(script.log().at(-1), "POST /v1/auth/logout access-2")
    })
  )

  it.effect("layerLogin logs in when it is built, and fails with the error of the service", () =>
    Effect.gen(function* () {
      const login = SchedulingClient.layerLogin({
        email: "a@example.com",
        password: Redacted.make("pw")
      })
      const script = scripted(jsonResponse(pair("1")), jsonResponse(user))
      const me = SchedulingClient.use((client) => client.auth.getMe())
      yield* Effect.provide(me, Layer.provide(login, script.layer))
      assert.deepStrictEqual(script.log(), ["POST /v1/auth/login", "GET /v1/auth/me access-1"])

      const wrong = scripted(errorResponse(401, "invalid_credentials"))
      const error = yield* Effect.flip(Effect.provide(me, Layer.provide(login, wrong.layer)))
      assert.strictEqual(error._tag, "InvalidCredentials")
    })
  )
})
