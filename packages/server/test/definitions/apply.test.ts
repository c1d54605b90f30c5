import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, createKey, newMember, type Member, statusAndError, signUp } from "../support/http.ts"
import { testAppLayer, testNow } from "../support/TestApp.ts"

const url = "https://api.example.com/jobs/nightly"
const task = { key: "nightly", name: "Nightly report", schedule: "0 3 * * *", url }

/** One record of each kind, with references between them. */
const everything = {
  version: 1,
  owner: "billing",
  queues: [{ key: "imports", name: "Imports", max_concurrency: 2 }],
  channels: [
    {
      key: "operations",
      name: "Operations",
      kind: "webhook",
      config: { url: "https://alerts.example.com/hook", authorization: "Bearer 0123456789" }
    }
  ],
  tasks: [
    {
      ...task,
      headers: { authorization: "Bearer 0123456789", "x-plain": "a" },
      queue_key: "imports",
      retry: { count: 3, first_seconds: 2 },
      jitter_seconds: 60,
      excluded_days: ["2027-12-24"],
      paused: true
    }
  ],
  delayed: [{ key: "later", url, run_at: new Date(testNow + 86_400_000).toISOString() }],
  chains: [
    {
      key: "close",
      name: "Close the day",
      schedule: "0 18 * * MON-FRI",
      timezone: "Europe/Berlin",
      steps: [
        { name: "first", url },
        { name: "pause", kind: "wait", until: "{{ input.at }}" },
        {
          name: "release",
          kind: "approve",
          channel_keys: ["operations"],
          message: "Release?",
          timeout_seconds: 3600
        },
        { name: "then", url, run_if: "always", body: { day: "{{ steps.first.body }}" } }
      ]
    }
  ],
  monitors: [
    { kind: "heartbeat", key: "backup", name: "Backup", period_seconds: 3600 },
    { kind: "heartbeat", key: "report", name: "Report", schedule: "0 4 * * *", paused: true },
    {
      kind: "http",
      key: "backup",
      name: "Console",
      url: "https://backup.example.com/",
      headers: { "x-environment": "production" },
      confirm_after: 3,
      places: [{ labels: ["berlin"] }, { labels: ["oslo", "rack-2"] }],
      down_when: "all"
    },
    { kind: "ssl", key: "backup", name: "Website", host: "www.example.com", warn_days: [7] },
    {
      kind: "process",
      key: "database",
      name: "Database",
      labels: ["database"],
      match: { name: "postgres" }
    }
  ],
  escalations: [
    {
      key: "on-call",
      name: "On call",
      steps: [
        { after_seconds: 0, channel_keys: ["operations"] },
        { after_seconds: 300, channel_keys: ["operations"] }
      ],
      repeat_count: 2
    }
  ],
  maintenance: [
    {
      key: "upgrades",
      name: "Upgrades",
      schedule: "0 2 * * sun",
      duration_seconds: 3600,
      tags: ["database"],
      monitor_keys: ["database"],
      task_keys: ["nightly", "close"]
    }
  ],
  notification_settings: {
    rules: [
      {
        events: ["execution.failed"],
        channel_keys: ["operations"],
        task_keys: ["nightly", "close"]
      },
      { events: ["incident.opened"], channel_keys: ["operations"], monitor_keys: ["report"] },
      { events: ["incident.opened"], escalation_key: "on-call" }
    ],
    task_failure_threshold: 3
  }
}
const size = 13

const definitionsOf = ({
  access_token: token,
  workspace
}: Pick<Member, "workspace" | "access_token">) => ({
  apply: (body: object, query = "") => ask("POST", `${workspace}/apply${query}`, { token, body }),
  applied: (body: object) =>
    Effect.map(ask("POST", `${workspace}/apply`, { token, body }), (answer) =>
      assert.strictEqual(answer.status, 200, answer.text)
    ),
  export: (query = "") => ask("GET", `${workspace}/export${query}`, { token }),
  get: (path: string) => ask("GET", `${workspace}/${path}`, { token }),
  patch: (path: string, body: object) => ask("PATCH", `${workspace}/${path}`, { token, body }),
  remove: (path: string) => ask("DELETE", `${workspace}/${path}`, { token })
})

const setUp = Effect.gen(function* () {
  yield* TestClock.setTime(testNow)
  const member = yield* signUp()
  return { member, ...definitionsOf(member) }
})

/** Counts the writes to the workspace's rows. */
const countWrites = Effect.fnUntraced(function* (workspaceId: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    SELECT array_agg(xmin::text ORDER BY id) AS rows FROM tasks WHERE workspace_id = ${workspaceId}
    UNION ALL
    SELECT array_agg(xmin::text ORDER BY id) FROM monitors WHERE workspace_id = ${workspaceId}
    UNION ALL
    SELECT array_agg(xmin::text ORDER BY id) FROM queues WHERE workspace_id = ${workspaceId}
    UNION ALL
    SELECT array_agg(xmin::text ORDER BY id) FROM notification_channels WHERE workspace_id = ${workspaceId}
    UNION ALL
    SELECT array_agg(xmin::text) FROM notification_settings WHERE workspace_id = ${workspaceId}
    UNION ALL
    SELECT array_agg(id::text ORDER BY id) FROM audit_events WHERE workspace_id = ${workspaceId}`
})

const counts = (some: object) => ({ create: 0, update: 0, unchanged: 0, delete: 0, ...some })

layer(testAppLayer())("A document of definitions", (it) => {
  it.effect("is planned, applied, and then changes and writes nothing", () =>
    Effect.gen(function* () {
      const { apply, get, member } = yield* setUp
      const plan = yield* apply(everything, "?dry_run=true")
      assert.strictEqual(plan.status, 200, plan.text)
      assert.deepStrictEqual(plan.body.counts, counts({ create: size - 1, update: 1 }))
      assert.deepStrictEqual(plan.body.findings, [])
      assert.isTrue(plan.body.data.slice(0, -1).every(({ id }: { id: unknown }) => id === null))
      assert.lengthOf((yield* get("cron")).body.data, 0)

      const applied = yield* apply(everything)
      assert.strictEqual(applied.status, 200, applied.text)
      assert.deepStrictEqual(applied.body.counts, plan.body.counts)
      const nightly = yield* get("cron/key:nightly")
      assert.deepInclude(nightly.body, { status: "paused", queue_key: "imports", version: 1 })

      const before = yield* countWrites(member.workspace_id)
      for (const query of ["", "?dry_run=true", "?prune=true"]) {
        const again = yield* apply(everything, query)
        assert.deepStrictEqual(again.body.counts, counts({ unchanged: size }), again.text)
      }
      assert.deepStrictEqual(yield* countWrites(member.workspace_id), before)
    })
  )

  it.effect("is exported by keys, without defaults and secrets, and changes nothing then", () =>
    Effect.gen(function* () {
      const { apply, applied, export: exported, member } = yield* setUp
      yield* applied(everything)
      yield* ask("POST", `${member.workspace}/queues`, {
        token: member.access_token,
        body: { name: "without a key", max_concurrency: 1 }
      })
      const before = yield* countWrites(member.workspace_id)
      for (const query of ["", "?owner=billing"]) {
        const document = yield* exported(query)
        assert.strictEqual(document.status, 200, document.text)
        assert.notInclude(document.text, "0123456789")
        assert.strictEqual(document.body.without_key, 1)
        assert.deepStrictEqual(document.body.tasks, [
          {
            ...everything.tasks[0],
            headers: { authorization: "•••", "x-plain": "a" },
            retry: { count: 3, first_seconds: 2, factor: 2, max_seconds: 3600 },
            retry_count: 3
          }
        ])
        assert.deepStrictEqual(document.body.queues, everything.queues)
        assert.deepStrictEqual(document.body.delayed, everything.delayed)
        assert.deepStrictEqual(document.body.monitors[0], everything.monitors[0])
        assert.deepInclude(document.body.monitors, everything.monitors[2])
        assert.deepStrictEqual(document.body.escalations, everything.escalations)
        assert.deepStrictEqual(document.body.maintenance, everything.maintenance)
        const again = yield* apply(document.body)
        assert.strictEqual(again.status, 200, again.text)
        const count = query === "" ? size : size - 1
        assert.deepStrictEqual(again.body.counts, counts({ unchanged: count }), again.text)
      }
      const { body } = yield* exported()
      assert.deepStrictEqual(body.notification_settings, everything.notification_settings)
      assert.deepStrictEqual(yield* countWrites(member.workspace_id), before)
      assert.notProperty((yield* exported("?owner=another")).body, "tasks")
    })
  )

  it.effect("defines status pages by their slugs, for monitors that it also defines", () =>
    Effect.gen(function* () {
      const { apply, applied, export: exported, get } = yield* setUp
      const page = {
        key: "billing",
        title: "Billing",
        groups: [{ name: "Backups", monitor_keys: ["backup"], tags: ["public"] }],
        notices: [{ title: "Soon", text: "A new region.", posted_at: "2027-01-31T09:00:00.000Z" }]
      }
      const backup = { kind: "heartbeat", key: "backup", name: "Backup", period_seconds: 3600 }
      const document = { version: 1, owner: "pages", monitors: [backup], status_pages: [page] }
      yield* applied(document)
      const { body: shown } = yield* get("status-pages/billing")
      const { body: monitor } = yield* get("monitors/heartbeat/key:backup")
      assert.deepInclude(shown.groups[0], {
        monitor_ids: [monitor.id],
        monitor_keys: ["backup"]
      })
      const again = yield* exported("?owner=pages")
      assert.deepInclude(again.body.status_pages[0], { key: "billing", groups: page.groups })
      assert.deepStrictEqual(
        (yield* apply(again.body)).body.counts,
        counts({ unchanged: 2 }),
        again.text
      )

      const renamed = { ...document, status_pages: [{ ...page, title: "Payments" }] }
      const plan = yield* apply(renamed, "?dry_run=true")
      assert.deepStrictEqual(plan.body.data[1].changes, [
        { field: "title", old: "Billing", new: "Payments" }
      ])
      const wrong = { ...page, groups: [{ name: "Backups", monitor_keys: ["backup", "none"] }] }
      const refused = yield* apply({ ...document, status_pages: [wrong] })
      assert.deepInclude(refused.body.detail.issues[0], {
        code: "not_found",
        path: ["status_pages", 0, "groups", 0, "monitor_keys", 1]
      })
      const pruned = yield* apply({ version: 1, owner: "pages" }, "?prune=true")
      assert.deepStrictEqual(pruned.body.counts, counts({ delete: 2 }))
      assert.strictEqual((yield* get("status-pages/billing")).status, 404)
    })
  )

  it.effect("reports the changed fields, and masks secrets", () =>
    Effect.gen(function* () {
      const { apply, applied } = yield* setUp
      yield* applied(everything)
      const [first] = everything.tasks
      const changed = {
        version: 1,
        owner: "billing",
        tasks: [{ ...first, schedule: "0 4 * * *", timezone: "Europe/Berlin" }]
      }
      for (const query of ["?dry_run=true", ""]) {
        const { body } = yield* apply(changed, query)
        assert.deepStrictEqual(body.data[0].changes, [
          { field: "schedule", old: "0 3 * * *", new: "0 4 * * *" },
          { field: "timezone", old: "UTC", new: "Europe/Berlin" }
        ])
      }
      const headers = { ...first?.headers, authorization: "Bearer another" }
      const secret = { ...changed, tasks: [{ ...changed.tasks[0], headers }] }
      const { body, text } = yield* apply(secret)
      assert.deepStrictEqual(
        body.data[0].changes.map(({ field }: { field: string }) => field),
        ["headers"]
      )
      assert.notInclude(text, "another")
    })
  )

  it.effect("is applied as a whole or not at all, and points at each problem", () =>
    Effect.gen(function* () {
      const { apply, get, member } = yield* setUp
      const issuesOf = (answer: Effect.Success<ReturnType<typeof apply>>) =>
        answer.body.detail.issues.map(({ code, path }: { code: string; path: unknown }) => [
          code,
          path
        ])
      const unread = yield* apply({
        version: 1,
        tasks: [task, { ...task, key: "other", schedule: "99 * * * *" }, task],
        monitors: [
          { kind: "ssl", key: "a", name: "a", hosts: "x" },
          { kind: "icmp", key: "b" }
        ]
      })
      assert.strictEqual(statusAndError(unread), "422 validation_failed")
      assert.deepInclude(issuesOf(unread), ["invalid_format", ["tasks", 1, "schedule"]])
      assert.deepInclude(issuesOf(unread), ["required", ["monitors", 0, "host"]])
      assert.deepInclude(issuesOf(unread), ["unknown_field", ["monitors", 0, "hosts"]])
      assert.deepInclude(issuesOf(unread), ["unknown_value", ["monitors", 1, "kind"]])
      const twice = yield* apply({ version: 1, tasks: [task, task] })
      assert.deepStrictEqual(issuesOf(twice), [["duplicate", ["tasks", 1, "key"]]])

      const refused = {
        version: 1,
        tasks: [
          task,
          { ...task, key: "queued", queue_key: "none" },
          { ...task, key: "inside", url: "http://127.0.0.1/" }
        ],
        notification_settings: { rules: [{ events: ["execution.failed"], channel_keys: ["none"] }] }
      }
      const paths = [
        ["tasks", 1, "queue_key"],
        ["tasks", 2, "url"],
        ["notification_settings", "rules", 0, "channel_keys", 0]
      ]
      const answer = yield* apply(refused)
      assert.strictEqual(statusAndError(answer), "422 validation_failed")
      assert.deepStrictEqual(
        issuesOf(answer).map(([, path]: [string, unknown]) => path),
        paths
      )
      assert.lengthOf((yield* get("cron")).body.data, 0)
      const plan = yield* apply(refused, "?dry_run=true")
      assert.strictEqual(plan.status, 200)
      assert.deepStrictEqual(
        plan.body.findings.map(({ code, path }: { code: string; path: unknown }) => [code, path]),
        paths.map((path) => ["refused", path])
      )
      const viewer = definitionsOf({
        ...(yield* newMember(member, "viewer")),
        workspace: member.workspace
      })
      assert.strictEqual(statusAndError(yield* viewer.apply({ version: 1 })), "403 forbidden")
      assert.strictEqual((yield* viewer.export()).status, 200)
    })
  )

  it.effect("deletes other records of its owner, and no records of others", () =>
    Effect.gen(function* () {
      const { apply, applied, get, export: exported } = yield* setUp
      yield* applied(everything)
      yield* apply({ version: 1, owner: "other", tasks: [{ ...task, key: "theirs" }] })
      yield* apply({ version: 1, tasks: [{ ...task, key: "nobodys" }] })
      const [, ssl] = everything.monitors.slice(1)
      const rest = { version: 1, owner: "billing", monitors: [ssl] }

      assert.deepStrictEqual((yield* apply(rest)).body.counts, counts({ unchanged: 1 }))
      const nobody = yield* apply({ version: 1, monitors: [ssl] }, "?prune=true")
      assert.strictEqual(statusAndError(nobody), "422 validation_failed")
      const plan = yield* apply(rest, "?prune=true&dry_run=true")
      assert.deepStrictEqual(
        plan.body.counts,
        counts({ unchanged: 1, delete: size - 2 }),
        plan.text
      )
      const pruned = yield* apply(rest, "?prune=true")
      assert.deepStrictEqual(pruned.body.counts, plan.body.counts, pruned.text)
      const left = (yield* get("cron?sort=name")).body.data.map(({ key }: { key: string }) => key)
      assert.sameMembers(left, ["theirs", "nobodys"])
      assert.lengthOf((yield* get("queues")).body.data, 0)
      assert.lengthOf((yield* get("notifications/settings")).body.rules, 0)

      const taken = { version: 1, owner: "billing", tasks: [{ ...task, key: "theirs" }] }
      const refused = yield* apply(taken)
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
      assert.deepInclude(refused.body.detail.issues[0], {
        code: "conflict",
        path: ["tasks", 0, "key"]
      })
      const adopted = yield* apply(taken, "?adopt=true")
      assert.deepStrictEqual(adopted.body.data[0].changes, [
        { field: "owner", old: "other", new: "billing" }
      ])
      assert.lengthOf((yield* exported("?owner=billing")).body.tasks, 1)
    })
  )

  it.effect("needs the scope of each kind of record that it defines or deletes", () =>
    Effect.gen(function* () {
      const { applied, member } = yield* setUp
      const withScopes = Effect.fnUntraced(function* (...scopes: ReadonlyArray<string>) {
        const { key } = yield* createKey(member, { scopes })
        return definitionsOf({ workspace: member.workspace, access_token: key })
      })
      const tasks = yield* withScopes("tasks:write", "tasks:read")
      const monitors = yield* withScopes("monitors:write")
      const reader = yield* withScopes("executions:read")
      yield* applied(everything)
      const own = { version: 1, owner: "billing", tasks: everything.tasks }
      assert.strictEqual((yield* tasks.apply(own)).status, 200)
      for (const [key, document, query, scope] of [
        [tasks, everything, "", "notifications:write"],
        [tasks, own, "?prune=true", "monitors:write"],
        [monitors, own, "", "tasks:write"],
        [reader, { version: 1 }, "", "tasks:write"]
      ] as const) {
        const refused = yield* key.apply(document, query)
        assert.strictEqual(statusAndError(refused), "403 insufficient_scope", refused.text)
        assert.strictEqual(refused.body.detail.required_scope, scope)
      }
      assert.hasAllKeys((yield* tasks.export()).body, [
        "version",
        "owner",
        "queues",
        "tasks",
        "delayed",
        "chains",
        "without_key"
      ])
      assert.strictEqual((yield* reader.export()).body.detail.required_scope, "tasks:read")
    })
  )

  it.effect("warns of schedules that never fire or meet a clock change, crowds and secrets", () =>
    Effect.gen(function* () {
      const { apply } = yield* setUp
      const crowd = Array.from({ length: 31 }, (_, index) => ({
        ...task,
        key: `crowd-${index}`,
        url: `https://crowded.example.com/${index}`
      }))
      const { body, text } = yield* apply({
        version: 1,
        tasks: [
          { ...task, key: "over", ends_at: "2020-01-01T00:00:00.000Z" },
          { ...task, key: "skipped", schedule: "30 2 * * *", timezone: "Europe/Berlin" },
          { ...task, key: "every", schedule: "*/15 * * * *", timezone: "Europe/Berlin" },
          { ...task, key: "secret", headers: { "x-key": "{{ secrets.MISSING }}" } },
          ...crowd
        ]
      })
      assert.deepStrictEqual(
        body.findings.map(({ code, path }: { code: string; path: unknown }) => [code, path]),
        [
          ["missing_secret", ["tasks", 3]],
          ["never_fires", ["tasks", 0, "schedule"]],
          ["clock_change", ["tasks", 1, "schedule"]],
          ["clock_change", ["tasks", 1, "schedule"]],
          ["crowded_minute", []]
        ],
        text
      )
    })
  )

  it.effect("waits in a queue with at most ten others", () =>
    Effect.gen(function* () {
      const { apply } = yield* setUp
      const tasks = Array.from({ length: 40 }, (_, index) => ({ ...task, key: `task-${index}` }))
      const answers = yield* Effect.all(
        Array.from({ length: 30 }, () => apply({ version: 1, tasks }, "?dry_run=true")),
        { concurrency: "unbounded" }
      )
      const refused = answers.filter(({ status }) => status !== 200)
      assert.isAtLeast(refused.length, 1)
      assert.isAtLeast(answers.length - refused.length, 11)
      for (const answer of refused) {
        assert.strictEqual(statusAndError(answer), "429 rate_limited")
        assert.strictEqual(answer.headers.get("retry-after"), "5")
      }
    })
  )

  it.effect("results in one of the two states when two are applied simultaneously", () =>
    Effect.gen(function* () {
      const { apply, export: exported } = yield* setUp
      const documentOf = (name: string) => ({
        version: 1,
        owner: "billing",
        queues: [{ key: "shared", name, max_concurrency: 1 }],
        tasks: Array.from({ length: 10 }, (_, index) => ({
          ...task,
          key: `${index % 2 === 0 ? "both" : name}-${index}`,
          name,
          queue_key: "shared"
        }))
      })
      for (let round = 0; round < 5; round++) {
        const answers = yield* Effect.all(
          ["left", "right", "left", "right"].map((name) => apply(documentOf(name), "?prune=true")),
          { concurrency: "unbounded" }
        )
        for (const { status, text } of answers) assert.strictEqual(status, 200, text)
        const { body } = yield* exported("?owner=billing")
        const names = new Set(body.tasks.map(({ name }: { name: string }) => name))
        assert.lengthOf([...names], 1)
        assert.lengthOf(body.tasks, 10)
        assert.deepStrictEqual(new Set([body.queues[0].name]), names)
      }
    })
  )
})
