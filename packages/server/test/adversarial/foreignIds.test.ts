// @tags slow long
import { scopes } from "@scheduling/domain/api-keys/Scope"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, createKey, type Member, statusAndError, signUp } from "../support/http.ts"
import { unknownId } from "../support/routes.ts"
import { type TestApp, testAppLayer } from "../support/TestApp.ts"
import { concurrentRequests } from "./support/askWithinLimits.ts"
import {
  type Endpoint,
  endpoints,
  fieldsOf,
  isInWorkspace,
  pathWith,
  idPositionsIn,
  schemas
} from "./support/contract.ts"
import { changedRows, readAllRows } from "./support/readAllRows.ts"
import {
  createAllRecords,
  createMissingRecords,
  createSession,
  type RecordIds
} from "./support/recordIds.ts"

/**
 * A member with two workspaces, and a member of another workspace. Everything outside the first
 * workspace is foreign.
 */
class Fixture extends Context.Service<
  Fixture,
  {
    readonly owner: Member
    /** A key with all scopes in the owner's workspace. */
    readonly key: string
    /** Records of all kinds in the owner's workspace. */
    readonly own: RecordIds
    /**
     * More records in the owner's workspace. Their ids are valid, but not in combination with the
     * ids in `own`.
     */
    readonly sibling: RecordIds
    readonly foreign: ReadonlyArray<{ readonly owner: Member; readonly holdings: RecordIds }>
  }
>()("@scheduling/server/test/adversarial/Fixture") {
  static readonly layer: Layer.Layer<Fixture, never, TestApp | SqlClient.SqlClient> = Layer.effect(
    Fixture,
    Effect.gen(function* () {
      const [owner, stranger] = [yield* signUp(), yield* signUp()]
      const { key } = yield* createKey(owner, { scopes })
      const second = yield* ask("POST", "/v1/workspaces", {
        token: owner.access_token,
        body: { name: "second" }
      })
      const elsewhere = {
        ...owner,
        workspace: `/v1/workspaces/${second.body.id}`,
        workspace_id: String(second.body.id)
      }
      const foreign = yield* Effect.forEach(
        [elsewhere, stranger],
        Effect.fnUntraced(function* (other) {
          const holdings = { ...(yield* createAllRecords(other)), ...(yield* createSession(other)) }
          // Two records of each kind, so that a list can have a second page.
          yield* createAllRecords(other)
          yield* ask("POST", `${other.workspace}/signing-secrets/rotate`, {
            token: other.access_token
          })
          return { owner: other, holdings }
        })
      )
      const own = { ...(yield* createAllRecords(owner)), ...(yield* createSession(owner)) }
      return Fixture.of({ owner, key, own, sibling: yield* createAllRecords(owner), foreign })
    }).pipe(Effect.orDie)
  )
}

const credentialsFor = ({ access }: Endpoint, { key, owner }: Fixture["Service"]) =>
  access.kind === "scope" ? [owner.access_token, key] : [owner.access_token]

/** Returns ids of this kind from other workspaces, and ids of other kinds from this workspace. */
const wrongIds = (
  place: string,
  fixture: Fixture["Service"],
  own: RecordIds,
  sibling: RecordIds
) => {
  // One path returns the uptime of all kinds of monitors.
  const isRight = (at: string) =>
    at === place || (place === "monitors/:monitor_id" && at.startsWith("monitors/"))
  const right = new Set(Object.entries(own).flatMap(([at, ids]) => (isRight(at) ? ids : [])))
  const isNested = place.match(/:/g)?.length !== 1
  return new Set([
    ...fixture.foreign.flatMap(({ holdings, owner }) =>
      // A session belongs to a user rather than to a workspace.
      place.includes("session") && owner.user_id === fixture.owner.user_id
        ? []
        : (holdings[place] ?? [])
    ),
    ...Object.values(own)
      .flat()
      .filter((id) => !right.has(id)),
    ...(isNested ? (sibling[place] ?? []) : []),
    fixture.owner.workspace_id,
    ...(place.includes("user") ? [] : [fixture.owner.user_id])
  ])
}

const withIds = endpoints.filter(({ path }) => idPositionsIn(path).length > 0)
const lists = endpoints.filter(({ isList }) => isList)

const idFields = (names: ReadonlyArray<string>) => names.filter((name) => /_ids?$/.test(name))

const withIdsInQuery = endpoints.flatMap((endpoint) =>
  idFields(endpoint.queryFields).map((field) => ({ ...endpoint, field }))
)

const cursorOf = (id: string) => Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url")

describe("the contract", () => {
  it("has ids in paths and queries, and in bodies only if a separate test covers them", () => {
    const inputs = endpoints.flatMap(({ name, schema }) =>
      idFields(fieldsOf(schema).taken.map(([field]) => field)).map((field) => `${name} ${field}`)
    )
    const ofTasks = ["cron", "delayed", "chains"].flatMap((kind) =>
      ["create", "upsert", "update"].map((action) => `${kind}.${action} queue_id`)
    )
    // The tests of queues, reruns, process monitors and maintenance cover these ids.
    assert.deepStrictEqual(inputs, [
      ...ofTasks,
      "executions.rerunMany task_id",
      "heartbeatMonitors.create ping_id",
      "heartbeatMonitors.upsert ping_id",
      "processMonitors.create worker_id",
      "processMonitors.upsert worker_id",
      "processMonitors.update worker_id",
      "maintenance.upsert monitor_ids",
      "maintenance.upsert task_ids"
    ])
    // The tests of approvals cover the channels of an approval step.
    const inSteps = ["Call", "Wait", "Approve"].flatMap((kind) => {
      const fields = Object.keys(Object(schemas[`${kind}StepInput`]?.["properties"]))
      assert.include(fields, "run_if")
      return idFields(fields)
    })
    assert.deepStrictEqual(inSteps, ["channel_ids"])
  })
})

/**
 * Creates a new record for each id in the path, because the request could end or delete the record.
 */
const acquireFor = (owner: Member, { path }: Endpoint) =>
  // Each kind of task has executions.
  idPositionsIn(path).some((place) => place.startsWith("executions/"))
    ? createAllRecords(owner)
    : createMissingRecords({}, owner, path)

const FreshFixture = Fixture.layer.pipe(Layer.provideMerge(testAppLayer()))

layer(FreshFixture)("An id", (it) => {
  describe.each(withIds)("in $method $path", (endpoint) => {
    it.effect("of another workspace or another kind finds nothing", () =>
      Effect.gen(function* () {
        const fixture = yield* Fixture
        const { owner, sibling } = fixture
        yield* TestClock.adjust("1 millis")
        const own: RecordIds = { ...fixture.own, ...(yield* acquireFor(owner, endpoint)) }
        const before = yield* readAllRows
        const options = endpoint.example === undefined ? {} : { body: endpoint.example }
        const assertNothing = Effect.fnUntraced(function* (idAt: (place: string) => string) {
          const path = pathWith(endpoint.path, owner.workspace_id, idAt)
          for (const token of credentialsFor(endpoint, fixture)) {
            const answer = yield* ask(endpoint.method, path, { ...options, token })
            assert.strictEqual(statusAndError(answer), "404 not_found", path)
            assert.notStrictEqual(answer.body.detail.resource, "workspace", path)
          }
        })
        const rightAt = (place: string) => own[place]?.[0] ?? assert.fail(`what is ${place}?`)
        for (const wrong of idPositionsIn(endpoint.path)) {
          yield* Effect.forEach(
            wrongIds(wrong, fixture, own, sibling),
            (id) => assertNothing((place) => (place === wrong ? id : rightAt(place))),
            { concurrency: concurrentRequests, discard: true }
          )
        }
        for (const { holdings } of fixture.foreign) {
          if (!isInWorkspace(endpoint)) continue
          yield* assertNothing((place) => holdings[place]?.[0] ?? assert.fail(place))
        }
        assert.deepStrictEqual(changedRows(yield* readAllRows, before), [])

        // With the correct ids, the same request succeeds.
        yield* TestClock.adjust("1 millis")
        const last = idPositionsIn(endpoint.path).at(-1) ?? ""
        for (const id of own[last] ?? []) {
          const path = pathWith(endpoint.path, owner.workspace_id, (place) =>
            place === last ? id : rightAt(place)
          )
          const { status } = yield* ask(endpoint.method, path, {
            ...options,
            token: owner.access_token
          })
          assert.include([200, 201, 202, 204, 409], status, path)
        }
        const done = changedRows(yield* readAllRows, before)
        // A new record has only one version, so restoring it changes nothing, and none of the
        // executions is waiting for approval.
        const hasNoEffect = /\/(restore|approve|reject)$/.test(endpoint.path)
        if (endpoint.method !== "GET" && !hasNoEffect) assert.isNotEmpty(done)
      })
    )
  })
})

const requiredQuery: Readonly<Record<string, string>> = {
  "notifications.getRecipients": "&event=execution.failed",
  "workspaces.getSigningSecrets": "&url=https://api.example.com"
}

layer(FreshFixture)("A cursor", (it) => {
  it.effect.each(lists)("of another workspace reveals nothing of it at $path", (endpoint) =>
    Effect.gen(function* () {
      const fixture = yield* Fixture
      // Lists change nothing, so they can use shared records. With more records, they would not fit
      // on one page.
      const own = fixture.sibling
      const listOf = (of: Member, holdings: RecordIds, query: string) =>
        ask(
          "GET",
          pathWith(endpoint.path, of.workspace_id, (place) => holdings[place]?.[0] ?? unknownId) +
            query +
            (requiredQuery[endpoint.name] ?? ""),
          { token: of.access_token }
        )
      const foreign = fixture.foreign.filter(
        ({ owner }) => isInWorkspace(endpoint) || owner.user_id !== fixture.owner.user_id
      )
      const all = yield* listOf(fixture.owner, own, "?limit=100")
      assert.isNull(all.body.next_cursor)
      const idsOf = (page: typeof all): ReadonlyArray<string> =>
        page.body.data.map(({ id }: { readonly id: string }) => id)
      for (const { holdings, owner } of foreign) {
        const theirs = yield* listOf(owner, holdings, "?limit=100")
        const first = yield* listOf(owner, holdings, "?limit=1")
        assert.isNotEmpty(idsOf(theirs), "a list without anything to hide")
        const cursors = [first.body.next_cursor, ...idsOf(theirs).map(cursorOf)].filter(Boolean)
        for (const cursor of cursors) {
          const page = yield* listOf(fixture.owner, own, `?limit=100&cursor=${cursor}`)
          assert.strictEqual(page.status, 200, page.text)
          assert.includeMembers([...idsOf(all)], [...idsOf(page)])
          assert.notIncludeMembers([...idsOf(theirs)], [...idsOf(page), "nothing"])
        }
      }
    })
  )
})

layer(FreshFixture)("An id in a query", (it) => {
  it.effect.each(withIdsInQuery)(
    "of another workspace is like an unknown id: $field of $path",
    ({ access, field, path, ...endpoint }) =>
      Effect.gen(function* () {
        const fixture = yield* Fixture
        const answerTo = (id: string, token: string) =>
          ask(
            endpoint.method,
            `${pathWith(path, fixture.owner.workspace_id, () => unknownId)}?${field}=${id}` +
              (requiredQuery[endpoint.name] ?? ""),
            { token }
          )
        for (const token of credentialsFor({ access, path, ...endpoint }, fixture)) {
          const nobodys = yield* answerTo(unknownId, token)
          assert.strictEqual(nobodys.status, 200, nobodys.text)
          for (const { holdings } of fixture.foreign) {
            yield* Effect.forEach(
              Object.values(holdings).flat(),
              (id) =>
                Effect.map(answerTo(id, token), ({ text }) =>
                  assert.strictEqual(text, nobodys.text, id)
                ),
              { concurrency: concurrentRequests, discard: true }
            )
          }
        }
      })
  )
})
