// @tags idle
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { StreamLimits } from "../../src/live/EventStreams.ts"
import {
  ask,
  createKey,
  createServiceAccount,
  newMember,
  statusAndError,
  password,
  signUp,
  obtainToken
} from "../support/http.ts"
import { testAppLayer, twoTestNodesLayer } from "../support/TestApp.ts"
import { testDatabaseUrl } from "../support/TestDatabase.ts"
import { sendBatchedChanges, openStreamOnTestClock } from "./streams.ts"

const createTask = (member: { readonly workspace: string; readonly access_token: string }) =>
  ask("POST", `${member.workspace}/cron`, {
    token: member.access_token,
    body: { name: "a", url: "https://example.com/", schedule: "0 0 1 1 *" }
  })

/** Advances the test's clock so that nodes send their batched changes. */
const letNodesSend = TestClock.adjust("1 second")

/** Advances the clock while heartbeats arrive, which takes real time. */
const awaitHeartbeats = (holds: () => boolean) =>
  TestClock.adjust("15 seconds").pipe(
    Effect.andThen(Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))),
    Effect.repeat({ until: holds, times: 400 }),
    Effect.andThen(Effect.sync(() => assert.isTrue(holds())))
  )

/** False on the embedded store, where a test's two nodes receive no signals from each other. */
const isStoreShared = testDatabaseUrl !== undefined

layer(twoTestNodesLayer())("a stream of events", (it) => {
  it.effect("is not cached, and says where it begins", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      const { response, text } = yield* openStreamOnTestClock({ workspace, token })
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(response.headers.get("cache-control"), "no-store")
      assert.strictEqual(response.headers.get("x-accel-buffering"), "no")
      assert.match(text(), /^: connected\n\nid: \d+-[0-9a-f]{8}-\d+\n\n/)
    })
  )

  it.effect("sends a beat every 15 seconds", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      const { text } = yield* openStreamOnTestClock({ workspace, token })
      for (let beat = 1; beat <= 3; beat++) {
        yield* awaitHeartbeats(() => text().split(": keep-alive\n\n").length > beat)
      }
    })
  )

  it.effect("ends when its key is revoked, and when its token has expired", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { workspace } = member
      const { id, key } = yield* createKey(member, { scopes: ["executions:read"] })
      const withKey = yield* openStreamOnTestClock({ workspace, token: key })
      const withToken = yield* openStreamOnTestClock({ workspace, token: member.access_token })
      yield* ask("DELETE", `${workspace}/api-keys/${id}`, { token: member.access_token })
      yield* awaitHeartbeats(() => withKey.end() === "ended")
      assert.isUndefined(withToken.end())
      yield* TestClock.adjust("15 minutes")
      yield* awaitHeartbeats(() => withToken.end() === "ended")
    })
  )

  it.effect(
    "ends at once when its member is removed, leaves or deletes the account, without other streams",
    () =>
      Effect.gen(function* () {
        const owner = yield* signUp()
        const { workspace } = owner
        const [removed, leaving] = [
          yield* newMember(owner, "viewer"),
          yield* newMember(owner, "admin")
        ]
        const deleted = yield* newMember(owner, "viewer")
        const of = ({ access_token: token }: { readonly access_token: string }) =>
          openStreamOnTestClock({ workspace, token, at: isStoreShared ? "otherUrl" : "url" })
        const [own, first, second] = [yield* of(owner), yield* of(removed), yield* of(leaving)]
        const third = yield* of(deleted)
        const token = owner.access_token
        yield* ask("DELETE", `${workspace}/members/${removed.user_id}`, { token })
        yield* sendBatchedChanges(() => first.end() === "ended")
        assert.isUndefined(second.end())
        yield* ask("POST", `${workspace}/leave`, { token: leaving.access_token })
        yield* sendBatchedChanges(() => second.end() === "ended")
        assert.isUndefined(third.end())
        yield* ask("DELETE", "/v1/auth/me", {
          token: deleted.access_token,
          body: { current_password: password }
        })
        yield* sendBatchedChanges(() => third.end() === "ended")
        assert.isUndefined(own.end())
      })
  )

  it.effect("ends immediately when its service account is removed or its secret is rotated", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const { access_token: token, workspace } = owner
      for (const [method, action] of [
        ["DELETE", ""],
        ["POST", "/rotate"]
      ] as const) {
        const tool = yield* createServiceAccount(owner)
        const stream = yield* openStreamOnTestClock({
          workspace,
          token: yield* obtainToken(tool),
          at: isStoreShared ? "otherUrl" : "url"
        })
        yield* ask(method, `${workspace}/service-accounts/${tool.client_id}${action}`, { token })
        yield* sendBatchedChanges(() => stream.end() === "ended")
      }
    })
  )

  it.effect.each([
    ["that nobody has named", "something"],
    ["of a time before anybody followed", "1700000000000-0123abcd-1"],
    ["of another workspace", "1780315200000-0123abcd-1"],
    ["that is a time before anybody followed", "2023-11-14T22:13:20Z"],
    ["that is a time in the future", "2999-01-01T00:00:00Z"],
    ["that is no day", "2023-02-30T00:00:00Z"]
  ])("begins with a reset after an id %s", ([, after = ""]) =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      const { until } = yield* openStreamOnTestClock({ workspace, token, after })
      const [first] = yield* until("an event", (events) => events.length > 0)
      assert.strictEqual(first?.type, "reset")
    })
  )

  it.effect("begins with a reset if more than five minutes are missing", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { access_token: token, workspace } = member
      const id = yield* Effect.scoped(
        Effect.map(openStreamOnTestClock({ workspace, token }), (stream) => stream.lastId())
      )
      yield* createTask(member)
      yield* letNodesSend
      const soon = yield* openStreamOnTestClock({ workspace, token, after: id })
      const [missed] = yield* soon.until("an event", (events) => events.length > 0)
      assert.strictEqual(missed?.type, "task.created")
      yield* TestClock.adjust("5 minutes")
      const late = yield* openStreamOnTestClock({ workspace, token, after: id })
      const [reset] = yield* late.until("an event", (events) => events.length > 0)
      assert.strictEqual(reset?.type, "reset")
    })
  )
})

const limited = Layer.provideMerge(
  Layer.unwrap(Effect.succeed(testAppLayer())),
  Layer.succeed(StreamLimits, { all: 12, each: 2, unread: 5 })
)

layer(limited)("streams of events", (it) => {
  it.effect("are limited per credential, workspace and account, so that others find room", () =>
    Effect.gen(function* () {
      const one = yield* signUp()
      const other = yield* signUp()
      const { key } = yield* createKey(one, { scopes: ["executions:read"] })
      const keyOfAnother = Effect.gen(function* () {
        const { body } = yield* ask("POST", "/v1/workspaces", {
          token: one.access_token,
          body: { name: "another" }
        })
        const another = { ...one, workspace: `/v1/workspaces/${body.id}` }
        const made = yield* createKey(another, { scopes: ["executions:read"] })
        return { ...another, access_token: made.key }
      })
      const open = ({ access_token: token, workspace }: typeof one) =>
        openStreamOnTestClock({ workspace, token })
      const again = ({ access_token: token, workspace }: typeof one) =>
        Effect.map(ask("GET", `${workspace}/events`, { token }), (answer) =>
          answer.status === 200
            ? "200"
            : `${statusAndError(answer)}: ${String(answer.body.detail.message)}`
        )
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* open(one)
          const second = yield* Scope.fork(yield* Effect.scope)
          yield* Scope.provide(open(one), second)
          assert.match(yield* again(one), /^429 rate_limited: This workspace, API key or user/)
          const withKey = { ...one, access_token: key }
          assert.match(yield* again(withKey), /^429 rate_limited: This workspace/)
          yield* open(yield* keyOfAnother)
          const third = yield* keyOfAnother
          assert.match(yield* again(third), /^429 rate_limited: This account /)
          yield* open(other)
          yield* open(other)
          yield* Scope.close(second, Exit.void)
          yield* Effect.repeat(again(third), { until: (answer) => answer === "200", times: 1_000 })
        })
      )
    })
  )

  it.effect("resume after more changes than the limit of unread messages, newest id last", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { access_token: token, workspace } = member
      const after = yield* Effect.scoped(
        Effect.map(openStreamOnTestClock({ workspace, token }), (stream) => stream.lastId())
      )
      yield* Effect.forEach(Array(10), () => createTask(member), { concurrency: 5 })
      yield* letNodesSend
      const stream = yield* openStreamOnTestClock({ workspace, token, after })
      const missed = yield* stream.until("all that was missed", ({ length }) => length >= 10)
      assert.deepStrictEqual([...new Set(missed.map(({ type }) => type))], ["task.created"])
      assert.isUndefined(stream.end())
      const ids = [...stream.text().matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => id)
      const ordinals = ids.map((id) => Number(id.split("-").at(-1)))
      assert.deepStrictEqual(
        ordinals,
        ordinals.toSorted((one, other) => one - other)
      )
    })
  )

  it.effect("are cut off if the client is too far behind", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const stream = yield* openStreamOnTestClock({
        workspace: member.workspace,
        token: member.access_token
      })
      yield* Effect.forEach(Array(10), () => createTask(member), { concurrency: 5 })
      yield* letNodesSend
      assert.strictEqual(yield* stream.untilEnd, "cut")
    })
  )
})
