import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Answer, ask, statusAndError, signUp, runConcurrently } from "../support/http.ts"
import { unknownId } from "../support/routes.ts"
import { runningNodesLayer } from "../support/TestApp.ts"
import { eventuallyOf } from "../monitoring/monitors.ts"

const setUp = Effect.gen(function* () {
  const { access_token: token, workspace } = yield* signUp()
  const request = (method: string, path: string, body?: object, at: "url" | "otherUrl" = "url") =>
    ask(method, `${workspace}/${path}`, { token, at, ...(body !== undefined && { body }) })
  const create = (path: string, definition: object) =>
    Effect.map(request("POST", path, definition), ({ body, status, text }) => {
      assert.strictEqual(status, 201, text)
      return body
    })
  const heartbeat = (name: string, fields: object = {}) =>
    create("monitors/heartbeat", { name, period_seconds: 3_600, ...fields })
  const cron = (name: string, fields: object = {}) =>
    create("cron", { name, schedule: "0 0 1 1 *", url: "http://127.0.0.1:1/", ...fields })
  const chain = (name: string, fields: object = {}) =>
    create("chains", { name, steps: [{ name: "only", url: "http://127.0.0.1:1/" }], ...fields })
  const ping = ({ ping_url }: { readonly ping_url: string }, path = "") =>
    ask("GET", new URL(ping_url).pathname + path)
  return { chain, cron, heartbeat, ping, request }
})

const issuesOf = ({ body }: Answer): ReadonlyArray<{ path: unknown; message: string }> =>
  body.detail.issues

layer(runningNodesLayer, { excludeTestServices: true })("dependencies", (it) => {
  it.effect("are named by id or key, and are part of the definition of every kind", () =>
    Effect.gen(function* () {
      const { chain, cron, heartbeat, request } = yield* setUp
      const site = yield* heartbeat("Site", { key: "site" })
      const onSite = { kind: "heartbeat", id: site.id, key: "site" }
      const task = yield* cron("Report", { depends_on: [{ kind: "heartbeat", key: "site" }] })
      assert.deepStrictEqual(task.depends_on, [onSite])
      const onTask = { kind: "cron", id: task.id, key: null }
      const steps = yield* chain("Steps", { depends_on: [{ kind: "cron", id: task.id }] })
      assert.deepStrictEqual(steps.depends_on, [onTask])
      const both = [onSite, onTask].toSorted((one, other) => (one.id < other.id ? -1 : 1))
      for (const [path, { id }] of [
        ["chains", steps],
        ["monitors/heartbeat", yield* heartbeat("Other")]
      ] as const) {
        const changed = yield* request("PATCH", `${path}/${id}`, { depends_on: both.toReversed() })
        assert.deepStrictEqual(changed.body.depends_on, both)
        const { body } = yield* request("GET", `${path}/${id}`)
        assert.deepStrictEqual(body, changed.body)
        const again = yield* request("PATCH", `${path}/${id}`, { depends_on: both })
        assert.strictEqual(again.body.version, body.version)
        const listed = yield* request("GET", `${path}?name=${body.name}`)
        assert.deepStrictEqual(listed.body.data[0].depends_on, both)
        const renamed = yield* request("PATCH", `${path}/${id}`, { name: "Renamed" })
        assert.deepStrictEqual(renamed.body.depends_on, both)
        const cleared = yield* request("PATCH", `${path}/${id}`, { depends_on: [] })
        assert.deepStrictEqual(cleared.body.depends_on, [])
        const restored = yield* request("POST", `${path}/${id}/versions/${body.version}/restore`)
        assert.deepStrictEqual(restored.body.depends_on, both)
        const versions = yield* request("GET", `${path}/${id}/versions/${restored.body.version}`)
        assert.deepStrictEqual(
          versions.body.definition.depends_on,
          both.map(({ id, kind }) => ({ kind, id }))
        )
      }
      const all = yield* request("GET", "monitors?name=Renamed")
      assert.deepStrictEqual(all.body.data, [])
    })
  )

  it.effect("are replaced by a PUT, which accepts what a GET returns", () =>
    Effect.gen(function* () {
      const { cron, heartbeat, request } = yield* setUp
      const site = yield* heartbeat("Site")
      const depends_on = [{ kind: "heartbeat", id: site.id }]
      yield* cron("Report", { key: "report", depends_on })
      yield* heartbeat("Shop", { key: "shop", depends_on })
      for (const path of ["cron/by-key/report", "monitors/heartbeat/by-key/shop"]) {
        const { body } = yield* request("GET", path.replace("by-key/", "key:"))
        const same = yield* request("PUT", path, body)
        assert.strictEqual(same.status, 200, same.text)
        assert.deepStrictEqual(same.body, body)
        const others = { ...body, version: undefined }
        const cleared = yield* request("PUT", path, { ...others, depends_on: undefined })
        assert.deepStrictEqual(cleared.body.depends_on, [])
        const set = yield* request("PUT", path, { ...others, depends_on })
        assert.deepStrictEqual(set.body.depends_on, body.depends_on)
      }
    })
  )

  it.effect("must exist, and nothing may depend on itself", () =>
    Effect.gen(function* () {
      const { chain, cron, heartbeat, request } = yield* setUp
      const site = yield* heartbeat("Site")
      const task = yield* cron("Report", { depends_on: [{ kind: "heartbeat", id: site.id }] })
      const steps = yield* chain("Steps", { depends_on: [{ kind: "cron", id: task.id }] })
      const refused = (depends_on: ReadonlyArray<object>) =>
        Effect.map(request("PATCH", `monitors/heartbeat/${site.id}`, { depends_on }), (answer) => {
          assert.strictEqual(statusAndError(answer), "422 validation_failed")
          return issuesOf(answer)[0]
        })
      assert.deepInclude(yield* refused([{ kind: "chain", id: steps.id }]), {
        path: ["depends_on"],
        message: `depends_on creates a cycle: "Site" depends on "Steps" depends on "Report" depends on "Site".`
      })
      assert.deepInclude(yield* refused([{ kind: "heartbeat", id: site.id }]), {
        path: ["depends_on"],
        message: `depends_on must not name the record itself, "Site".`
      })
      const unknown = { kind: "http", id: unknownId }
      assert.deepInclude(yield* refused([unknown]), { path: ["depends_on", 0, "id"] })
      const foreign = yield* (yield* setUp).heartbeat("Site", { key: "foreign" })
      assert.deepInclude(yield* refused([{ kind: "heartbeat", id: foreign.id }]), {
        path: ["depends_on", 0, "id"]
      })
      assert.deepInclude(yield* refused([{ kind: "heartbeat", key: "foreign" }]), {
        path: ["depends_on", 0, "key"]
      })
      assert.deepInclude(yield* refused([{ kind: "http", id: task.id }]), {
        path: ["depends_on", 0, "id"]
      })
      assert.deepInclude(yield* refused([{ kind: "cron", key: "nobody" }]), {
        path: ["depends_on", 0, "key"]
      })
      assert.deepInclude(yield* refused([{ kind: "cron" }]), { path: ["depends_on", 0, "id"] })
      const twice = { kind: "cron", id: task.id }
      assert.deepInclude(yield* refused([twice, twice]), { path: ["depends_on", 1, "id"] })
      assert.deepInclude(yield* refused(Array.from({ length: 21 }, () => unknown)), {
        path: ["depends_on"]
      })
      const created = yield* request("POST", "monitors/heartbeat", {
        name: "New",
        period_seconds: 60,
        depends_on: [unknown]
      })
      assert.strictEqual(statusAndError(created), "422 validation_failed")
    })
  )

  it.effect("are removed with either side", () =>
    Effect.gen(function* () {
      const { cron, heartbeat, request } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      const site = yield* heartbeat("Site")
      const task = yield* cron("Report", { depends_on: [{ kind: "heartbeat", id: site.id }] })
      const shop = yield* heartbeat("Shop", { depends_on: [{ kind: "cron", id: task.id }] })
      const count = Effect.map(
        sql`SELECT 1 FROM dependencies WHERE workspace_id = ${site.workspace_id}`,
        ({ length }) => length
      )
      assert.strictEqual(yield* count, 2)
      yield* request("DELETE", `monitors/heartbeat/${site.id}`)
      assert.deepStrictEqual((yield* request("GET", `cron/${task.id}`)).body.depends_on, [])
      assert.strictEqual(yield* count, 1)
      yield* request("DELETE", `cron/${task.id}`)
      const { body } = yield* request("GET", `monitors/heartbeat/${shop.id}`)
      assert.deepStrictEqual(body.depends_on, [])
      assert.strictEqual(yield* count, 0)
    })
  )

  it.effect("cannot become a cycle through two simultaneous requests to two nodes", () =>
    Effect.gen(function* () {
      const { chain, cron, heartbeat, request } = yield* setUp
      const site = yield* heartbeat("Site", { key: "site" })
      const onSite = { depends_on: [{ kind: "heartbeat", id: site.id }] }
      const { id: chainId } = yield* chain("Steps")
      const { id: taskId } = yield* cron("Report", {
        depends_on: [{ kind: "chain", id: chainId }]
      })
      const onTask = { depends_on: [{ kind: "cron", id: taskId }] }
      const ways = [
        request("PATCH", `monitors/heartbeat/${site.id}`, onTask),
        request("PUT", "monitors/heartbeat/by-key/site", {
          name: "Site",
          period_seconds: 3_600,
          ...onTask
        }),
        request("POST", "apply", {
          version: 1,
          monitors: [
            { kind: "heartbeat", key: "site", name: "Site", period_seconds: 3_600, ...onTask }
          ]
        })
      ]
      for (const way of [...ways, ...ways, ...ways]) {
        const answers = yield* runConcurrently([
          way,
          request("PATCH", `chains/${chainId}`, onSite, "otherUrl")
        ])
        assert.deepStrictEqual(answers.map(statusAndError).toSorted(), [
          "200",
          "422 validation_failed"
        ])
        for (const path of [`monitors/heartbeat/${site.id}`, `chains/${chainId}`]) {
          const cleared = yield* request("PATCH", path, { depends_on: [] })
          assert.strictEqual(cleared.status, 200, cleared.text)
        }
      }
    })
  )

  it.effect("suppress incidents without looping even if rows form a cycle", () =>
    Effect.gen(function* () {
      const { heartbeat, ping, request } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      const site = yield* heartbeat("Site")
      const shop = yield* heartbeat("Shop", { depends_on: [{ kind: "heartbeat", id: site.id }] })
      yield* sql`
        INSERT INTO dependencies (workspace_id, subject_kind, subject_id, on_kind, on_id)
        VALUES (${site.workspace_id}, 'heartbeat', ${site.id}, 'heartbeat', ${shop.id})`
      yield* sql`
        UPDATE monitors
        SET has_dependencies = true
        WHERE id = ${site.id}`
      for (const one of [site, shop]) yield* ping(one, "/fail")
      const open = (count: number) =>
        eventuallyOf(`${count} open incidents`, request("GET", "incidents?open=true"), ({ body }) =>
          body.data.length === count ? true : undefined
        )
      yield* open(2)
      for (const one of [site, shop]) yield* ping(one)
      yield* open(0)
      const cleared = yield* request("PATCH", `monitors/heartbeat/${site.id}`, { depends_on: [] })
      assert.strictEqual(cleared.status, 200, cleared.text)
    })
  )

  it.effect("are applied in any order, and exported by key", () =>
    Effect.gen(function* () {
      const { request } = yield* setUp
      const url = "http://127.0.0.1:1/"
      const document = {
        version: 1,
        tasks: [
          {
            key: "report",
            name: "Report",
            schedule: "0 3 * * *",
            url,
            depends_on: [
              { kind: "chain", key: "steps" },
              { kind: "heartbeat", key: "shop" }
            ]
          }
        ],
        chains: [
          {
            key: "steps",
            name: "Steps",
            steps: [{ name: "only", url }],
            depends_on: [{ kind: "heartbeat", key: "site" }]
          }
        ],
        monitors: [
          {
            kind: "heartbeat",
            key: "shop",
            name: "Shop",
            period_seconds: 60,
            depends_on: [{ kind: "heartbeat", key: "site" }]
          },
          { kind: "heartbeat", key: "site", name: "Site", period_seconds: 60 }
        ]
      }
      const applied = yield* request("POST", "apply", document)
      assert.strictEqual(applied.status, 200, applied.text)
      assert.strictEqual(applied.body.counts.create, 4)
      const exported = yield* request("GET", "export")
      assert.deepStrictEqual(exported.body.chains, document.chains)
      assert.sameDeepMembers(exported.body.monitors, document.monitors)
      assert.sameDeepMembers(exported.body.tasks[0].depends_on, document.tasks[0]?.depends_on ?? [])
      const again = yield* request("POST", "apply", exported.body)
      assert.deepInclude(again.body.counts, { unchanged: 4, update: 0 })
      const circle = yield* request("POST", "apply", {
        version: 1,
        monitors: [{ ...document.monitors[1], depends_on: [{ kind: "heartbeat", key: "shop" }] }]
      })
      assert.strictEqual(statusAndError(circle), "422 validation_failed")
      assert.deepStrictEqual(issuesOf(circle)[0]?.path, ["monitors", 0, "depends_on"])
      // Reversing all dependencies in one request creates no cycle.
      const turned = yield* request("POST", "apply", {
        version: 1,
        monitors: [
          { ...document.monitors[1], depends_on: [{ kind: "heartbeat", key: "shop" }] },
          { ...document.monitors[0], depends_on: [] }
        ]
      })
      assert.strictEqual(turned.status, 200, turned.text)
    })
  )

  it.effect("suppress incidents while what they name is down", () =>
    Effect.gen(function* () {
      const { cron, heartbeat, ping, request } = yield* setUp
      const site = yield* heartbeat("Site")
      const shop = yield* heartbeat("Shop", { depends_on: [{ kind: "heartbeat", id: site.id }] })
      const report = yield* cron("Report", { depends_on: [{ kind: "heartbeat", id: shop.id }] })
      yield* ping(site, "/fail")
      yield* request("POST", `cron/${report.id}/run`)
      yield* ping(shop, "/fail")
      const of = (subject: { readonly id: string }) =>
        Effect.map(request("GET", `incidents?subject_id=${subject.id}`), ({ body }) => body.data[0])
      const cause = yield* of(site)
      assert.deepInclude(cause, { suppressed: false, suppressed_by: null })
      for (const subject of [shop, report]) {
        yield* eventuallyOf("suppressed incident", of(subject), (incident) =>
          incident?.suppressed_by === cause.id && incident.suppressed === true ? true : undefined
        )
      }
      const named = (query: string) =>
        Effect.map(request("GET", `incidents?${query}`), ({ body }) =>
          body.data.map((one: { subject: { name: string } }) => one.subject.name).toSorted()
        )
      assert.deepStrictEqual(yield* named("suppressed=true"), ["Report", "Shop"])
      assert.deepStrictEqual(yield* named("suppressed=false&open=true"), ["Site"])
      // The shop is still down, so messages about the report stay suppressed.
      yield* ping(site)
      yield* eventuallyOf("released incident", of(shop), ({ suppressed }) =>
        suppressed === false ? true : undefined
      )
      const next = yield* of(shop)
      yield* eventuallyOf("incident with another reason", of(report), ({ suppressed_by }) =>
        suppressed_by === next.id ? true : undefined
      )
      yield* ping(shop)
      yield* eventuallyOf("released incident", of(report), ({ suppressed }) =>
        suppressed === false ? true : undefined
      )
    })
  )
})
