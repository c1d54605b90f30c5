import { assert } from "@effect/vitest"
import type { MonitorKind } from "@scheduling/domain/monitors/Monitor"
import { maxConcurrentTests } from "@scheduling/domain/monitors/checks/testEndpoint"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ask, type AskOptions, createKey, type Member, signUp } from "../support/http.ts"
import { testNow } from "../support/TestApp.ts"

export const minimalHeartbeat = { name: "Nightly backup", period_seconds: 3600 }

type Owner = Pick<Member, "workspace" | "access_token">

/** Returns functions that send requests for one kind of monitor, with the owner's token. */
export const monitorClientOf = (
  kind: MonitorKind,
  { access_token: token, workspace }: Owner,
  defaults: object = {}
) => {
  const monitors = `${workspace}/monitors/${kind}`
  return {
    create: (input: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", monitors, { token, headers, body: { ...defaults, ...input } }),
    test: (input: object = {}) =>
      ask("POST", `${monitors}/test`, { token, body: { ...defaults, ...input } }),
    list: (query = "") => ask("GET", `${monitors}${query}`, { token }),
    get: (id: string) => ask("GET", `${monitors}/${id}`, { token }),
    update: (id: string, changes: object) =>
      ask("PATCH", `${monitors}/${id}`, { token, body: changes }),
    remove: (id: string) => ask("DELETE", `${monitors}/${id}`, { token }),
    act: (id: string, action: string) => ask("POST", `${monitors}/${id}/${action}`, { token }),
    events: (id: string, query = "?limit=100") =>
      ask("GET", `${monitors}/${id}/events${query}`, { token }),
    incidents: (query = "") => ask("GET", `${workspace}/incidents${query}`, { token })
  }
}

export const heartbeatClientOf = (owner: Owner) => {
  const monitors = monitorClientOf("heartbeat", owner)
  return {
    ...monitors,
    create: (input: object = minimalHeartbeat, headers: Readonly<Record<string, string>> = {}) =>
      monitors.create(input, headers)
  }
}

export const sslClientOf = (owner: Owner) =>
  monitorClientOf("ssl", owner, { name: "Website", host: "site.test" })

export const processClientOf = (owner: Owner) => monitorClientOf("process", owner)

/** Sends a ping, as a job would. */
export const ping = (
  url: string,
  signal = "",
  options: AskOptions & { readonly method?: string } = {}
) => ask(options.method ?? "GET", new URL(url).pathname + signal, options)

/**
 * Creates an account with a workspace, and an API key, because keys outlive sessions. The test's
 * clock is set to noon.
 */
export const setUpHeartbeats = Effect.gen(function* () {
  yield* TestClock.setTime(testNow)
  const member = yield* signUp()
  const { key } = yield* createKey(member, { scopes: ["monitors:read", "monitors:write"] })
  const owner = { ...member, access_token: key }
  return { member, key, heartbeats: heartbeatClientOf(owner), ssl: sslClientOf(owner) }
})

/** Creates an account and a heartbeat monitor, and returns both. */
export const setUpHeartbeat = Effect.fnUntraced(function* (input: object = {}) {
  const fixture = yield* setUpHeartbeats
  const created = yield* fixture.heartbeats.create({ ...minimalHeartbeat, ...input })
  assert.strictEqual(created.status, 201, created.text)
  const url: string = created.body.ping_url
  return {
    ...fixture,
    monitor: created.body,
    id: String(created.body.id),
    url,
    ping: (signal = "", options: AskOptions & { readonly method?: string } = {}) =>
      ping(url, signal, options),
    get: Effect.map(fixture.heartbeats.get(created.body.id), ({ body }) => body)
  }
})

/** Repeats the request until the response meets the condition, for at most 15 seconds. */
export const eventuallyOf = <A, B, E, R>(
  what: string,
  effect: Effect.Effect<A, E, R>,
  pick: (answer: A) => B | undefined
): Effect.Effect<B, E, R> =>
  Effect.gen(function* () {
    const endsAt = performance.now() + 60_000
    while (performance.now() < endsAt) {
      const picked = pick(yield* effect)
      if (picked !== undefined) return picked
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
    }
    throw new Error(`timed out waiting for ${what}`)
  })

/** Creates a monitor, and waits for its first check. */
export const firstCheckOf = Effect.fnUntraced(function* (
  monitors: ReturnType<typeof monitorClientOf>,
  input: object
) {
  const created = yield* monitors.create(input)
  assert.strictEqual(created.status, 201, created.text)
  return yield* eventuallyOf("a check", monitors.get(created.body.id), ({ body }) =>
    body.last_check === null ? undefined : body
  )
})

/** A definition of a monitor, with the error code and the message of its check. */
export type CheckCase = readonly [input: object, code: string | null, message: RegExp]

/** Asserts that tests of monitors have the results of the cases, although nothing is saved. */
export const assertTested = Effect.fnUntraced(function* (
  monitors: ReturnType<typeof monitorClientOf>,
  cases: ReadonlyArray<CheckCase>
) {
  const { body: before } = yield* monitors.list("?limit=1")
  const answers = yield* Effect.forEach(cases, ([input]) => monitors.test(input), {
    concurrency: maxConcurrentTests
  })
  answers.forEach(({ body, status, text }, index) => {
    const [input, code, message] = cases[index] ?? assert.fail("no case")
    assert.strictEqual(status, 200, text)
    assert.strictEqual(body.error?.code ?? null, code, JSON.stringify([input, body]))
    assert.match(body.error?.message ?? "", message)
    assert.isString(body.at)
  })
  const { body: after } = yield* monitors.list("?limit=1")
  assert.deepStrictEqual(after.counts, before.counts)
})
