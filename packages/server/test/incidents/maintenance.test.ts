import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { ask, createKey, statusAndError, signUp } from "../support/http.ts"
import { runningNodeLayer } from "../support/TestApp.ts"
import { eventuallyOf } from "../monitoring/monitors.ts"

const hour = 3_600_000
const at = (ms: number) => new Date(Date.now() + ms).toISOString()

/** Creates a workspace with a heartbeat monitor and a failing cron task, both with the tag `db`. */
const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const { access_token: token, workspace } = member
  let status = 500
  const port = yield* httpTarget((_, response) => {
    response.statusCode = status
    response.end()
  })
  const request = (method: string, path: string, body?: object, as = token) =>
    ask(method, workspace + path, { token: as, ...(body !== undefined && { body }) })
  const monitor = yield* request("POST", "/monitors/heartbeat", {
    name: "Backup",
    period_seconds: 3_600,
    tags: ["db"]
  })
  const task = yield* request("POST", "/cron", {
    name: "Report",
    schedule: "0 0 1 1 *",
    url: `http://127.0.0.1:${port}/`,
    tags: ["db"]
  })
  const ping = (path: string) => ask("GET", new URL(monitor.body.ping_url).pathname + path)
  const run = Effect.gen(function* () {
    const { body } = yield* request("POST", `/cron/${task.body.id}/run`)
    yield* request("GET", `/executions/${body.id}?wait_seconds=30`)
  })
  const incidents = Effect.map(request("GET", "/incidents"), ({ body }) => body.data)
  return {
    incidents,
    member,
    monitor: monitor.body,
    ping,
    request,
    run,
    task: task.body,
    window: (definition: object = {}) =>
      request("PUT", "/maintenance/upgrade", {
        name: "Upgrade",
        starts_at: at(-hour),
        ends_at: at(hour),
        ...definition
      }),
    opened: (count: number) =>
      eventuallyOf("incidents", incidents, (all) => (all.length === count ? all : undefined)),
    answerWith: (code: number) => {
      status = code
    }
  }
})

layer(runningNodeLayer(), { excludeTestServices: true })("during maintenance", (it) => {
  it.effect("failures are recorded and open no incident until it is over", () =>
    Effect.gen(function* () {
      for (const scope of [{ everything: true }, { tags: ["db"] }]) {
        const { incidents, monitor, opened, ping, request, run, task, window } = yield* setUp
        assert.strictEqual((yield* window(scope)).status, 201)
        const other = yield* request("POST", "/monitors/heartbeat", {
          name: "Other",
          period_seconds: 3_600
        })
        yield* ping("/fail")
        yield* run
        yield* ask("GET", `${new URL(other.body.ping_url).pathname}/fail`)
        if ("tags" in scope) yield* opened(1)
        const down = yield* request("GET", `/monitors/heartbeat/${monitor.id}`)
        assert.deepInclude(down.body, { status: "down", open_incident_id: null })
        assert.lengthOf(yield* incidents, "tags" in scope ? 1 : 0)
        yield* request("DELETE", "/maintenance/upgrade")
        const all = yield* opened(3)
        assert.includeMembers(
          all.map(({ subject }: { readonly subject: { readonly id: string } }) => subject.id),
          [monitor.id, task.id]
        )
        const after = yield* request("GET", `/monitors/heartbeat/${monitor.id}`)
        assert.isString(after.body.open_incident_id)
      }
    })
  )

  it.effect("what recovers in time opens no incident at all", () =>
    Effect.gen(function* () {
      const { answerWith, opened, ping, request, run, window } = yield* setUp
      yield* window({ everything: true })
      yield* ping("/fail")
      yield* run
      yield* ping("")
      answerWith(200)
      yield* run
      yield* request("DELETE", "/maintenance/upgrade")
      yield* ping("/fail")
      const [incident] = yield* opened(1)
      assert.strictEqual(incident.subject.name, "Backup")
      answerWith(500)
      yield* run
      assert.strictEqual((yield* opened(2))[0].subject.name, "Report")
    })
  )

  it.effect("an incident that was open before stays open, and closes", () =>
    Effect.gen(function* () {
      const { incidents, opened, ping, window } = yield* setUp
      yield* ping("/fail")
      yield* opened(1)
      yield* window({ everything: true })
      yield* ping("")
      const [incident] = yield* incidents
      assert.strictEqual(incident.status, "closed")
    })
  )

  it.effect("a window is defined by key, and checked", () =>
    Effect.gen(function* () {
      const { member, monitor, request, window } = yield* setUp
      const created = yield* window({ monitor_ids: [monitor.id] })
      assert.deepInclude(created.body, { key: "upgrade", is_active: true, next_starts_at: null })
      const again = yield* request("PUT", "/maintenance/upgrade", created.body)
      assert.deepStrictEqual(again.body, created.body)
      const weekly = yield* request("PUT", "/maintenance/weekly", {
        name: "Weekly",
        schedule: "* * * * *",
        duration_seconds: 60,
        timezone: "Europe/Berlin",
        everything: true
      })
      assert.deepInclude(weekly.body, { is_active: true, schedule: "* * * * *" })
      assert.isString(weekly.body.next_starts_at)
      for (const wrong of [
        {},
        { starts_at: at(0) },
        { starts_at: at(hour), ends_at: at(0) },
        { schedule: "* * * * *" },
        { starts_at: at(0), ends_at: at(hour), schedule: "* * * * *", duration_seconds: 60 }
      ]) {
        const refused = yield* request("PUT", "/maintenance/wrong", {
          name: "Wrong",
          everything: true,
          ...wrong
        })
        assert.strictEqual(statusAndError(refused), "422 validation_failed", refused.text)
      }
      const nothing = yield* window({ everything: false })
      assert.strictEqual(statusAndError(nothing), "422 validation_failed")
      const foreign = yield* window({ monitor_ids: [member.workspace_id] })
      assert.strictEqual(statusAndError(foreign), "422 validation_failed")
      const { key } = yield* createKey(member, { scopes: ["monitors:read", "monitors:write"] })
      const body = { name: "Mine", starts_at: at(0), ends_at: at(hour) }
      const silencing = yield* request("PUT", "/maintenance/mine", { ...body, tags: ["db"] }, key)
      assert.strictEqual(statusAndError(silencing), "403 insufficient_scope")
      const own = yield* request(
        "PUT",
        "/maintenance/mine",
        { ...body, monitor_ids: [monitor.id] },
        key
      )
      assert.strictEqual(own.status, 201, own.text)
    })
  )
})
