// @tags slow long
import { scopes } from "@scheduling/domain/api-keys/Scope"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, createKey, type Member, outcome, signUp } from "../support/http.ts"
import { nobodysId } from "../support/routes.ts"
import { type TestApp, testAppLayer } from "../support/TestApp.ts"
import { atOnce } from "./support/calmly.ts"
import {
  type Endpoint,
  endpoints,
  fieldsOf,
  isInWorkspace,
  pathWith,
  placesIn,
  schemas
} from "./support/contract.ts"
import { changes, everything } from "./support/everything.ts"
import { acquire, acquireInto, acquireSession, type Holdings } from "./support/holdings.ts"

/**
 * A member with two workspaces, and a stranger. Everything outside of the first workspace is
 * foreign.
 */
class Scene extends Context.Service<
  Scene,
  {
    readonly owner: Member
    /** A key of the owner's workspace with all scopes. */
    readonly key: string
    /** The records of all kinds in the owner's workspace. */
    readonly own: Holdings
    /** Other records in the owner's workspace, which are valid elsewhere in a path. */
    readonly sibling: Holdings
    readonly foreign: ReadonlyArray<{ readonly owner: Member; readonly holdings: Holdings }>
  }
>()("@scheduling/server/test/adversarial/Scene") {
  static readonly layer: Layer.Layer<Scene, never, TestApp | SqlClient.SqlClient> = Layer.effect(
    Scene,
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
          const holdings = { ...(yield* acquire(other)), ...(yield* acquireSession(other)) }
          // A list with a second page needs two records of each kind.
          yield* acquire(other)
          yield* ask("POST", `${other.workspace}/signing-secrets/rotate`, {
            token: other.access_token
          })
          return { owner: other, holdings }
        })
      )
      const own = { ...(yield* acquire(owner)), ...(yield* acquireSession(owner)) }
      return Scene.of({ owner, key, own, sibling: yield* acquire(owner), foreign })
    }).pipe(Effect.orDie)
  )
}

const credentialsFor = ({ access }: Endpoint, { key, owner }: Scene["Service"]) =>
  access.kind === "scope" ? [owner.access_token, key] : [owner.access_token]

/** Ids of this kind in other workspaces, and ids of other kinds in this workspace. */
const wrongIds = (place: string, scene: Scene["Service"], own: Holdings, sibling: Holdings) => {
  // One path serves the uptime of monitors of all kinds.
  const isRight = (at: string) =>
    at === place || (place === "monitors/:monitor_id" && at.startsWith("monitors/"))
  const right = new Set(Object.entries(own).flatMap(([at, ids]) => (isRight(at) ? ids : [])))
  const isNested = place.match(/:/g)?.length !== 1
  return new Set([
    ...scene.foreign.flatMap(({ holdings, owner }) =>
      // A session belongs to its user and not to a workspace.
      place.includes("session") && owner.user_id === scene.owner.user_id
        ? []
        : (holdings[place] ?? [])
    ),
    ...Object.values(own)
      .flat()
      .filter((id) => !right.has(id)),
    ...(isNested ? (sibling[place] ?? []) : []),
    scene.owner.workspace_id,
    ...(place.includes("user") ? [] : [scene.owner.user_id])
  ])
}

const withIds = endpoints.filter(({ path }) => placesIn(path).length > 0)
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
    // These ids are covered by the tests of queues, reruns, process monitors and maintenance.
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
    assert.notInclude(Object.keys(Object(schemas["ChainStepInput"]?.["properties"])).join(), "_id")
  })
})

/** Creates a new record for each id in the path, because the request may end it. */
const acquireFor = (owner: Member, { path }: Endpoint) =>
  // There are executions of each kind of task.
  placesIn(path).some((place) => place.startsWith("executions/"))
    ? acquire(owner)
    : acquireInto({}, owner, path)

const FreshScene = Scene.layer.pipe(Layer.provideMerge(testAppLayer()))

layer(FreshScene)("An id", (it) => {
  describe.each(withIds)("in $method $path", (endpoint) => {
    it.effect("of another workspace or another kind finds nothing", () =>
      Effect.gen(function* () {
        const scene = yield* Scene
        const { owner, sibling } = scene
        yield* TestClock.adjust("1 millis")
        const own: Holdings = { ...scene.own, ...(yield* acquireFor(owner, endpoint)) }
        const before = yield* everything
        const options = endpoint.example === undefined ? {} : { body: endpoint.example }
        const assertNothing = Effect.fnUntraced(function* (idAt: (place: string) => string) {
          const path = pathWith(endpoint.path, owner.workspace_id, idAt)
          for (const token of credentialsFor(endpoint, scene)) {
            const answer = yield* ask(endpoint.method, path, { ...options, token })
            assert.strictEqual(outcome(answer), "404 not_found", path)
            assert.notStrictEqual(answer.body.detail.resource, "workspace", path)
          }
        })
        const rightAt = (place: string) => own[place]?.[0] ?? assert.fail(`what is ${place}?`)
        for (const wrong of placesIn(endpoint.path)) {
          yield* Effect.forEach(
            wrongIds(wrong, scene, own, sibling),
            (id) => assertNothing((place) => (place === wrong ? id : rightAt(place))),
            { concurrency: atOnce, discard: true }
          )
        }
        for (const { holdings } of scene.foreign) {
          if (!isInWorkspace(endpoint)) continue
          yield* assertNothing((place) => holdings[place]?.[0] ?? assert.fail(place))
        }
        assert.deepStrictEqual(changes(yield* everything, before), [])

        // With the right ids, the same request succeeds.
        yield* TestClock.adjust("1 millis")
        const last = placesIn(endpoint.path).at(-1) ?? ""
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
        const done = changes(yield* everything, before)
        // A new record has one version, so there is nothing else to restore.
        const isRestore = endpoint.path.endsWith("/restore")
        if (endpoint.method !== "GET" && !isRestore) assert.isNotEmpty(done)
      })
    )
  })
})

const requiredQuery: Readonly<Record<string, string>> = {
  "workspaces.getSigningSecrets": "&url=https://api.example.com"
}

layer(FreshScene)("A cursor", (it) => {
  it.effect.each(lists)("of another workspace reveals nothing of it at $path", (endpoint) =>
    Effect.gen(function* () {
      const scene = yield* Scene
      // Lists do not change anything. With more records, none of them would fit into one page.
      const own = scene.sibling
      const listOf = (of: Member, holdings: Holdings, query: string) =>
        ask(
          "GET",
          pathWith(endpoint.path, of.workspace_id, (place) => holdings[place]?.[0] ?? nobodysId) +
            query +
            (requiredQuery[endpoint.name] ?? ""),
          { token: of.access_token }
        )
      const foreign = scene.foreign.filter(
        ({ owner }) => isInWorkspace(endpoint) || owner.user_id !== scene.owner.user_id
      )
      const all = yield* listOf(scene.owner, own, "?limit=100")
      assert.isNull(all.body.next_cursor)
      const idsOf = (page: typeof all): ReadonlyArray<string> =>
        page.body.data.map(({ id }: { readonly id: string }) => id)
      for (const { holdings, owner } of foreign) {
        const theirs = yield* listOf(owner, holdings, "?limit=100")
        const first = yield* listOf(owner, holdings, "?limit=1")
        assert.isNotEmpty(idsOf(theirs), "a list without anything to hide")
        const cursors = [first.body.next_cursor, ...idsOf(theirs).map(cursorOf)].filter(Boolean)
        for (const cursor of cursors) {
          const page = yield* listOf(scene.owner, own, `?limit=100&cursor=${cursor}`)
          assert.strictEqual(page.status, 200, page.text)
          assert.includeMembers([...idsOf(all)], [...idsOf(page)])
          assert.notIncludeMembers([...idsOf(theirs)], [...idsOf(page), "nothing"])
        }
      }
    })
  )
})

layer(FreshScene)("An id in a query", (it) => {
  it.effect.each(withIdsInQuery)(
    "of another workspace is like an unknown id: $field of $path",
    ({ access, field, path, ...endpoint }) =>
      Effect.gen(function* () {
        const scene = yield* Scene
        const answerTo = (id: string, token: string) =>
          ask(
            endpoint.method,
            `${pathWith(path, scene.owner.workspace_id, () => nobodysId)}?${field}=${id}`,
            { token }
          )
        for (const token of credentialsFor({ access, path, ...endpoint }, scene)) {
          const nobodys = yield* answerTo(nobodysId, token)
          assert.strictEqual(nobodys.status, 200, nobodys.text)
          for (const { holdings } of scene.foreign) {
            yield* Effect.forEach(
              Object.values(holdings).flat(),
              (id) =>
                Effect.map(answerTo(id, token), ({ text }) =>
                  assert.strictEqual(text, nobodys.text, id)
                ),
              { concurrency: atOnce, discard: true }
            )
          }
        }
      })
  )
})
