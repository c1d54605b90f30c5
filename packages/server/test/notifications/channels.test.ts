import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ask, statusAndError, signUp, times } from "../support/http.ts"
import { loopback, TestApp, testAppLayer } from "../support/TestApp.ts"
import { keyedClientOf } from "../support/keyed.ts"
import { minimalCron as cronTask } from "../tasks/cron/tasks.ts"
import { notificationClientOf, webhookInput } from "./support/channels.ts"
import { startHttpReceiver } from "./support/receivers.ts"
import { vendors } from "./support/vendors.ts"

const channelVendors = vendors.filter(({ name }) => name !== "callback")

const slackUrl = "https://hooks.slack.com/services/T00000000/B00000000/verysecretpart"
const slack = { name: "ops", kind: "slack", config: { url: slackUrl } }

/** The fields for a rule that applies to all tasks and monitors. */
const nothing = {
  escalation_id: null,
  escalation_key: null,
  tags: null,
  task_ids: null,
  task_keys: null,
  monitor_ids: null,
  monitor_keys: null
}

const setUp = Effect.map(signUp(), (member) => ({ member, channels: notificationClientOf(member) }))

const issues = ({ body }: { readonly body: { readonly detail: { readonly issues: unknown } } }) =>
  body.detail.issues

layer(testAppLayer())("A channel", (it) => {
  it.effect("is created, listed, changed and deleted, and its secret is never shown", () =>
    Effect.gen(function* () {
      const { channels, member } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      const created = yield* channels.create(slack)
      assert.strictEqual(created.status, 201, created.text)
      assert.deepInclude(created.body, {
        name: "ops",
        kind: "slack",
        config: { url: "•••part" },
        paused: false,
        paused_reason: null,
        confirmed: true,
        last_delivery: null
      })
      const { id } = created.body
      const got = yield* channels.get(id)
      assert.deepStrictEqual(got.body, created.body)
      const list = yield* channels.list()
      assert.deepStrictEqual(list.body.data, [created.body])
      const renamed = yield* channels.update(id, { name: "night", paused: true })
      assert.deepInclude(renamed.body, {
        name: "night",
        paused: true,
        config: { url: "•••part" }
      })
      const rows =
        yield* sql`SELECT row_to_json(c)::text AS row FROM notification_channels AS c WHERE id = ${id}`
      const audit = yield* ask("GET", `${member.workspace}/audit`, { token: member.access_token })
      for (const { text } of [created, got, list, renamed, audit]) {
        assert.notInclude(text, "verysecret")
      }
      assert.notInclude(JSON.stringify(rows), "verysecret")
      const actions = audit.body.data.map(({ action }: { readonly action: string }) => action)
      assert.includeMembers(actions, [
        "notification_channel.created",
        "notification_channel.updated"
      ])
      assert.strictEqual((yield* channels.remove(id)).status, 204)
      assert.strictEqual(statusAndError(yield* channels.get(id)), "404 not_found")
    })
  )

  it.effect("keeps a secret that is sent masked or not at all", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const ntfy = { server: "https://ntfy.example.com", topic: "a", token: "tk_abcdefghijkl" }
      const { body } = yield* channels.create({ kind: "ntfy", config: ntfy })
      for (const config of [{ topic: "b" }, { ...body.config, topic: "c" }]) {
        const changed = yield* channels.update(body.id, { config })
        assert.deepInclude(changed.body.config, { ...config, token: "•••ijkl" }, changed.text)
      }
      const other = yield* channels.update(body.id, { config: { token: "tk_mnopqrstuvwx" } })
      assert.strictEqual(other.body.config.token, "•••uvwx")
      const without = yield* channels.update(body.id, { config: { token: null } })
      assert.deepStrictEqual(Object.keys(without.body.config).toSorted(), ["server", "topic"])
    })
  )

  it.effect("sends no secret to another server than the one it was given for", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const gotify = { server: "https://push.example.com", token: "abcdefghijklmnop" }
      const { body } = yield* channels.create({ kind: "gotify", config: gotify })
      const server = "https://evil.example.com"
      for (const config of [{ server }, { ...body.config, server }]) {
        const refused = yield* channels.update(body.id, { config })
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        assert.containSubset(issues(refused), [{ path: ["config", "token"] }])
      }
      const changed = yield* channels.update(body.id, {
        config: { server, token: "qrstuvwxyzabcdef" }
      })
      assert.strictEqual(changed.body.config.server, server)
    })
  )

  describe("is rejected", () => {
    it.effect.each([
      [{ config: {} }, ["config", "url"]],
      [{ config: { url: "https://x.test", extra: 1 } }, ["config", "extra"]],
      [{ config: { url: "http://169.254.169.254/latest" } }, ["config", "url"]],
      [{ config: { url: "http://localhost:9/" } }, ["config", "url"]],
      [{ config: { url: "http://[::ffff:10.0.0.1]/" } }, ["config", "url"]],
      [{ config: { url: "https://x.test", authorization: "a\r\nb" } }, ["config", "authorization"]],
      [{ kind: "gotify", config: { server: "http://127.1/", token: "abc" } }, ["config", "server"]],
      [{ kind: "slack", config: { url: "https://evil.test/" } }, ["config", "url"]],
      [{ kind: "email", config: { to: "a@example.com" } }, ["kind"]],
      [{ kind: "pigeon" }, ["kind"]],
      [{ name: "a\r\nb" }, ["name"]]
    ] as const)("with %j", ([input, path]) =>
      Effect.gen(function* () {
        const { channels } = yield* setUp
        const refused = yield* channels.create(input)
        assert.strictEqual(statusAndError(refused), "422 validation_failed", refused.text)
        assert.containSubset(issues(refused), [{ path: [...path] }])
      })
    )

    it.effect("beyond the hundredth", () =>
      Effect.gen(function* () {
        const { channels, member } = yield* setUp
        const sql = yield* SqlClient.SqlClient
        const { body } = yield* channels.create()
        yield* sql`
          INSERT INTO notification_channels (
            id, workspace_id, name, kind, config, sealed_secrets, created_at, updated_at
          )
          SELECT gen_random_uuid(), workspace_id, name, kind, config, '', now(), now()
          FROM notification_channels
          CROSS JOIN generate_series(1, 98)
          WHERE id = ${body.id}`
        const both = yield* Effect.all([channels.create(), channels.create()], { concurrency: 2 })
        assert.sameMembers(both.map(statusAndError), ["201", "402 quota_exceeded"])
        assert.isNotEmpty(member.workspace)
      })
    )
  })

  it.effect.each(channelVendors)("is unchanged by an equal PUT by its key: $name", (vendor) =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const definition = { name: "ops", kind: vendor.name, config: vendor.config }
      const made = yield* channels.put("ops", definition)
      assert.strictEqual(made.status, 201, made.text)
      yield* TestClock.adjust("1 second")
      const again = yield* channels.put("ops", definition)
      assert.deepStrictEqual([again.status, again.body], [200, made.body])
      // If a client sends a secret's masked form back, the stored value is kept.
      const shown = yield* channels.put("ops", { ...definition, config: made.body.config })
      assert.deepStrictEqual([shown.status, shown.body], [200, made.body])
    })
  )

  it.effect("is replaced as a whole by a PUT to its key", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const server = "https://ntfy.example.com"
      const definition = {
        name: "ops",
        kind: "ntfy",
        config: { server, topic: "a", token: "tk_abcdefghijkl" }
      }
      const made = yield* channels.put("ops", definition)
      yield* channels.update(made.body.id, { paused: true })
      yield* TestClock.adjust("1 second")
      const quiet = yield* channels.put("ops", definition)
      assert.deepInclude(quiet.body, { id: made.body.id, paused: true })
      const config = { server, topic: "b" }
      const replaced = yield* channels.put("ops", { ...definition, config, paused: false })
      assert.strictEqual(replaced.status, 200, replaced.text)
      assert.deepInclude(replaced.body, { id: made.body.id, paused: false, config })
      assert.notStrictEqual(replaced.body.updated_at, made.body.updated_at)
      const wrong = yield* channels.put("ops", { ...definition, config: { topic: 7 } })
      assert.strictEqual(statusAndError(wrong), "422 validation_failed")
      const other = yield* channels.put("ops", slack)
      assert.strictEqual(statusAndError(other), "409 conflict")
      assert.include(other.text, "ntfy")
      assert.deepStrictEqual((yield* channels.get(made.body.id)).body, replaced.body)
    })
  )

  it.effect("keeps a secret from another server in a PUT to its key", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const gotify = { server: "https://push.example.com", token: "abcdefghijklmnop" }
      const definition = { name: "ops", kind: "gotify", config: gotify }
      const { body } = yield* channels.put("ops", definition)
      const config = { ...body.config, server: "https://evil.example.com" }
      const refused = yield* channels.put("ops", { ...definition, config })
      assert.strictEqual(statusAndError(refused), "422 validation_failed")
      assert.containSubset(issues(refused), [{ path: ["config", "token"] }])
    })
  )

  it.effect("is created once if the request is repeated with its idempotency key", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const headers = { "idempotency-key": "once" }
      const [first, second] = [
        yield* channels.create(slack, headers),
        yield* channels.create(slack, headers)
      ]
      assert.deepStrictEqual(second.body, first.body)
      const other = yield* channels.create({ ...slack, name: "x" }, headers)
      assert.strictEqual(statusAndError(other), "422 idempotency_mismatch")
    })
  )

  it.effect("is tested, and the response has the result", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const { body } = yield* channels.create({ config: { url: "http://nowhere.invalid/" } })
      yield* TestClock.adjust("1 millis")
      for (const attempt of times(6, (n) => n)) {
        if (attempt === 1) yield* TestClock.adjust("20 seconds")
        const tested = yield* channels.test(body.id)
        assert.strictEqual(tested.status, 200, `${attempt}: ${tested.text}`)
        assert.deepInclude(tested.body, { delivered: false, status_code: null })
        assert.match(tested.body.error, /^host /)
      }
      const limited = yield* channels.test(body.id)
      assert.strictEqual(statusAndError(limited), "429 rate_limited")
      assert.strictEqual(limited.headers.get("retry-after"), "40")
      yield* TestClock.adjust("40 seconds")
      assert.strictEqual((yield* channels.test(body.id)).status, 200)
      assert.strictEqual((yield* channels.test(body.id)).headers.get("retry-after"), "20")
      const { body: list } = yield* channels.deliveries(`?channel_id=${body.id}&status=failed`)
      assert.lengthOf(list.data, 7)
      assert.strictEqual(list.data[0].events[0].type, "test")
      const shown = yield* channels.get(body.id)
      assert.deepInclude(shown.body.last_delivery, { delivered: false })
    })
  )

  it.effect("describes its kind, so that a form can be made from it", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const { body } = yield* channels.kinds
      assert.lengthOf(body.data, 17)
      for (const kind of body.data) {
        assert.strictEqual(kind.config_schema.type, "object", kind.kind)
        for (const field of kind.secret_fields) {
          assert.isTrue(kind.config_schema.properties[field].writeOnly, `${kind.kind} ${field}`)
        }
      }
      const [email] = body.data
      assert.deepInclude(email, { kind: "email", available: false })
      assert.include(email.unavailable_reason, "SMTP_URL")
    })
  )
})

layer(testAppLayer())("The settings", (it) => {
  it.effect("are replaced as a whole, by a client that read the latest version", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const first = yield* channels.settings
      assert.deepStrictEqual(first.body, {
        version: 0,
        rules: [],
        task_failure_threshold: 1,
        remind_every_seconds: null,
        quiet_hours: null,
        group_seconds: 10,
        updated_by: null,
        updated_at: null
      })
      const { body: channel } = yield* channels.create()
      const input = {
        version: 0,
        rules: [{ events: ["execution.failed"], channel_ids: [channel.id], tags: ["db"] }],
        task_failure_threshold: 3,
        remind_every_seconds: 3_600,
        quiet_hours: { timezone: "europe/berlin", from: "22:00", to: "07:00" },
        group_seconds: 0
      }
      const both = yield* Effect.all([channels.replace(input), channels.replace(input)], {
        concurrency: 2
      })
      assert.sameMembers(
        both.map(statusAndError),
        ["200", "412 stale"],
        both.map(({ text }) => text).join()
      )
      const { body } = yield* channels.settings
      assert.deepInclude(body, {
        ...input,
        rules: [{ ...nothing, ...input.rules[0], channel_keys: [] }],
        version: 1,
        quiet_hours: { ...input.quiet_hours, timezone: "Europe/Berlin" }
      })
      const overtaken = yield* channels.replace({ version: 7, rules: [] })
      assert.strictEqual(statusAndError(overtaken), "412 stale")
      assert.strictEqual(overtaken.body.detail.version, 1)
      const plain = yield* channels.replace({ version: 1, rules: [] })
      assert.deepInclude(plain.body, { version: 2, task_failure_threshold: 1, group_seconds: 10 })
    })
  )

  it.effect("name channels, tasks and monitors by their keys, and can be sent back", () =>
    Effect.gen(function* () {
      const { channels, member } = yield* setUp
      const keyed = keyedClientOf(member)
      const { body: channel } = yield* channels.put("ops", webhookInput)
      const { body: task } = yield* keyed.put("cron", "nightly", cronTask)
      const { body: chain } = yield* keyed.put("chains", "nightly", {
        name: "Chain",
        steps: [{ name: "a", url: cronTask.url }]
      })
      const { body: monitor } = yield* keyed.put("monitors/ssl", "web", {
        name: "Website",
        host: "www.example.com"
      })
      const rule = {
        events: ["execution.failed"],
        channel_keys: ["ops"],
        task_keys: ["nightly"],
        monitor_keys: ["web"]
      }
      const { body } = yield* channels.replace({ version: 0, rules: [rule] })
      assert.deepInclude(body.rules[0], {
        channel_ids: [channel.id],
        channel_keys: ["ops"],
        task_keys: ["nightly", "nightly"],
        monitor_ids: [monitor.id],
        monitor_keys: ["web"],
        tags: null
      })
      assert.sameMembers(body.rules[0].task_ids, [task.id, chain.id])
      const again = yield* channels.replace(body)
      assert.deepStrictEqual(again.body.rules, body.rules, again.text)
      const unknown = yield* channels.replace({
        version: 2,
        rules: [{ events: ["execution.failed"], channel_keys: ["ops", "other"] }]
      })
      assert.deepStrictEqual(issues(unknown), [
        {
          path: ["rules", 0, "channel_keys", 1],
          code: "not_found",
          message: "rules[0].channel_keys[1] matches no channel in this workspace: other."
        }
      ])
      const none = yield* channels.replace({
        version: 2,
        rules: [{ events: ["execution.failed"] }]
      })
      assert.strictEqual(statusAndError(none), "422 validation_failed")
    })
  )

  it.effect("can be sent back if nothing in them has a key", () =>
    Effect.gen(function* () {
      const { channels, member } = yield* setUp
      const { body: channel } = yield* channels.create()
      const { body: task } = yield* keyedClientOf(member).create("cron", cronTask)
      const { body } = yield* channels.replace({
        version: 0,
        rules: [{ events: ["execution.failed"], channel_ids: [channel.id], task_ids: [task.id] }]
      })
      assert.deepInclude(body.rules[0], { channel_keys: [], task_keys: [] })
      const again = yield* channels.replace(body)
      assert.deepStrictEqual(again.body.rules, body.rules, again.text)
      const empty = yield* channels.replace({
        version: 2,
        rules: [{ events: ["execution.failed"], channel_ids: [channel.id], task_keys: [] }]
      })
      assert.deepStrictEqual(issues(empty), [
        {
          path: ["rules", 0, "task_keys"],
          code: "too_few",
          message: "rules[0].task_keys must name a record, unless task_ids does."
        }
      ])
    })
  )

  it.effect("reject channels of other workspaces", () =>
    Effect.gen(function* () {
      const [mine, theirs] = [yield* setUp, yield* setUp]
      const { body: own } = yield* mine.channels.create()
      const { body: foreign } = yield* theirs.channels.create()
      for (const id of [foreign.id, theirs.member.workspace_id]) {
        const refused = yield* mine.channels.replace({
          version: 0,
          rules: [{ events: ["execution.failed"], channel_ids: [own.id, id] }]
        })
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        assert.deepStrictEqual(issues(refused), [
          {
            path: ["rules", 0, "channel_ids", 1],
            code: "not_found",
            message: `rules[0].channel_ids[1] matches no channel in this workspace: ${id}.`
          }
        ])
      }
    })
  )

  it.effect("lose a deleted channel", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const ids = [(yield* channels.create()).body.id, (yield* channels.create()).body.id]
      yield* channels.replace({
        version: 0,
        rules: [
          { events: ["execution.failed"], channel_ids: ids },
          { events: ["task.recovered"], channel_ids: [ids[0]] }
        ]
      })
      yield* channels.remove(ids[0])
      const { body } = yield* channels.settings
      assert.strictEqual(body.version, 2)
      assert.deepStrictEqual(body.rules, [
        { events: ["execution.failed"], channel_ids: [ids[1]], channel_keys: [], ...nothing }
      ])
    })
  )

  it.effect.each([
    [{ rules: [{ events: [], channel_ids: [] }] }, ["rules", 0, "events"]],
    [{ task_failure_threshold: 0 }, ["task_failure_threshold"]],
    [{ remind_every_seconds: 60 }, ["remind_every_seconds"]],
    [{ group_seconds: 301 }, ["group_seconds"]],
    [{ quiet_hours: { timezone: "UTC", from: "24:00", to: "07:00" } }, ["quiet_hours", "from"]],
    [
      { quiet_hours: { timezone: "Mars", from: "22:00", to: "07:00" } },
      ["quiet_hours", "timezone"]
    ],
    [{ quiet_hours: { timezone: "UTC", from: "07:00", to: "07:00" } }, ["quiet_hours"]]
  ] as const)("are refused with %j", ([settings, path]) =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const refused = yield* channels.replace({ version: 0, rules: [], ...settings })
      assert.strictEqual(statusAndError(refused), "422 validation_failed", refused.text)
      assert.containSubset(issues(refused), [{ path: [...path] }])
    })
  )
})

layer(testAppLayer())("A delivery", (it) => {
  it.effect("is sent again as a new delivery, while its channel exists", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const { body: channel } = yield* channels.create({
        config: { url: "http://nowhere.invalid" }
      })
      yield* channels.test(channel.id)
      const { body: list } = yield* channels.deliveries()
      const [{ id }] = list.data
      const again = yield* channels.resend(id)
      assert.strictEqual(again.status, 202, again.text)
      assert.deepInclude(again.body, { status: "queued", attempts_count: 0, events_count: 1 })
      assert.notStrictEqual(again.body.id, id)
      const untimely = yield* channels.resend(again.body.id)
      assert.strictEqual(statusAndError(untimely), "409 conflict")
      assert.include(untimely.text, "still in progress")
      yield* channels.update(channel.id, { paused: true })
      assert.include((yield* channels.resend(id)).text, "is paused")
      const { body: detail } = yield* channels.delivery(id)
      assert.lengthOf(detail.attempts, 1)
      yield* channels.remove(channel.id)
      const late = yield* channels.resend(id)
      assert.strictEqual(statusAndError(late), "409 conflict")
      assert.include(late.text, "was deleted")
      assert.strictEqual((yield* channels.delivery(again.body.id)).body.status, "cancelled")
    })
  )

  it.effect("is not sent again while 100 others wait for its channel", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      const { body: channel } = yield* channels.create(slack)
      yield* channels.test(channel.id)
      const { body: list } = yield* channels.deliveries()
      const [{ id }] = list.data
      yield* sql`
        INSERT INTO notification_deliveries (
          id, workspace_id, channel_id, channel_kind, status, begun, ended, other, shown, subjects,
          mergeable, due_at, give_up_at, created_at
        )
        SELECT
          gen_random_uuid(), workspace_id, channel_id, channel_kind, 'queued', begun, ended, other,
          shown, subjects, mergeable, due_at, give_up_at, created_at
        FROM notification_deliveries, generate_series(1, 99)
        WHERE id = ${id}`
      assert.strictEqual((yield* channels.resend(id)).status, 202)
      const refused = yield* channels.resend(id)
      assert.strictEqual(statusAndError(refused), "409 conflict")
      assert.include(refused.text, "already waiting for the channel")
    })
  )

  it.effect("of a callback is sent again to its URL", () =>
    Effect.gen(function* () {
      const { channels } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      const { body: channel } = yield* channels.create(slack)
      yield* channels.test(channel.id)
      const { body: list } = yield* channels.deliveries()
      const id = crypto.randomUUID()
      yield* sql`
        INSERT INTO notification_deliveries (
          id, workspace_id, channel_id, channel_kind, target, status, begun, ended, other, shown,
          subjects, mergeable, due_at, give_up_at, created_at, finished_at
        )
        SELECT
          ${id}, workspace_id, NULL, 'callback', 'https://api.example.com/done', 'failed', begun,
          ended, other, shown, subjects, mergeable, due_at, give_up_at, created_at, finished_at
        FROM notification_deliveries
        WHERE id = ${list.data[0].id}`
      const idsOf = Effect.fnUntraced(function* (kind: string) {
        const { body } = yield* channels.deliveries(`?kind=${kind}`)
        return body.data.map((delivery: { readonly id: string }) => delivery.id)
      })
      assert.deepStrictEqual(yield* idsOf("callback"), [id])
      assert.deepStrictEqual(yield* idsOf("slack"), [list.data[0].id])
      assert.isEmpty(yield* idsOf("email"))
      const again = yield* channels.resend(id)
      assert.strictEqual(again.status, 202, again.text)
      assert.deepInclude(again.body, { status: "queued", channel_id: null, kind: "callback" })
    })
  )

  it.effect("shows no secret of its channel, whatever the provider echoes", () =>
    Effect.gen(function* () {
      const { logs } = yield* TestApp
      assert.notInclude(logs.join("\n"), "verysecretpart")
    })
  )
})

layer(testAppLayer({ egressAllow: loopback }))("A channel whose server is there", (it) => {
  it.effect("shows no token that its server repeats, alone or late in a long response", () =>
    Effect.gen(function* () {
      const channels = notificationClientOf(yield* signUp())
      const token = "gT".repeat(25)
      const answers = [`wrong: ${token}`, `${"x".repeat(255)}${token}`]
      for (const body of answers) {
        const { url } = yield* startHttpReceiver(() => ({ status: 401, body }))
        for (const input of [
          { kind: "gotify", config: { server: url, token } },
          { kind: "webhook", config: { url, authorization: `Bearer ${token}` } }
        ]) {
          const { body: channel } = yield* channels.create(input)
          const { body: tested } = yield* channels.test(channel.id)
          assert.include(tested.error, "responded with 401")
          const { body: list } = yield* channels.deliveries(`?channel_id=${channel.id}`)
          const { text } = yield* channels.delivery(list.data[0].id)
          for (const shown of [tested.error, text]) assert.notInclude(shown, "gTgTgT")
        }
      }
    }).pipe(Effect.scoped)
  )
})
