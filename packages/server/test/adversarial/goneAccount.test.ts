// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { deleteHistoryOfDeletedWorkspaces } from "../../src/engine/deleteHistoryOfDeletedWorkspaces.ts"
import { notificationClientOf } from "../notifications/support/channels.ts"
import { waitForMail, testAppWithMail } from "../notifications/support/withMail.ts"
import { advanceUntilEmpty } from "../support/advanceUntil.ts"
import { ask, createKey, statusAndError, password, randomIp, signUp } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"

/** Returns the tables that contain the word in any column. */
const tablesWith = Effect.fnUntraced(function* (word: string) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name
    FROM information_schema.tables
    WHERE table_type = 'BASE TABLE'
      AND table_schema NOT IN ('pg_catalog', 'information_schema')`
  const found = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(
      sql<{ readonly n: number }>`
        SELECT count(*)::int AS n
        FROM ${sql.literal(name)} AS t
        WHERE strpos(lower(t::text), ${word.toLowerCase()}) > 0`,
      ([row]) => (row?.n ? [name] : [])
    )
  )
  return found.flat()
})

/** The tables that store the calls of tasks and steps. */
const definitions = ["public.chain_steps", "public.tasks"]

const word = (what: string) => `${what}-${randomBytes(6).toString("hex")}`

layer(testAppLayer())("an account that no longer exists", (it) => {
  it.effect("leaves no name, address, header, body or secret in any table", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const words = {
        email: word("email"),
        person: word("person"),
        workspace: word("workspace"),
        task: word("task"),
        key: word("key"),
        header: word("header"),
        body: word("body"),
        path: word("path"),
        answer: word("answer"),
        request: word("request"),
        once: word("once"),
        monitor: word("monitor"),
        tag: word("tag"),
        ping: word("ping"),
        channel: word("channel"),
        hook: word("hook"),
        pending: word("pending")
      }
      const email = `${words.email}@example.com`
      const headers = { "x-forwarded-for": randomIp(), "x-request-id": words.request }
      const post = (path: string, body: unknown, token?: string) =>
        Effect.tap(
          ask("POST", path, {
            token,
            body,
            headers: { ...headers, "idempotency-key": words.once }
          }),
          (answer) => Effect.sync(() => assert.isBelow(answer.status, 300, answer.text))
        )
      const account = { email, password, name: words.person }
      const registered = yield* post("/v1/auth/register", account)
      const login = yield* post("/v1/auth/login", { email, password })
      const token: string = login.body.access_token
      const workspace_id: string = registered.body.workspace.id
      const workspace = `/v1/workspaces/${workspace_id}`
      yield* post("/v1/workspaces", { name: words.workspace }, token)
      yield* ask("PATCH", workspace, { token, headers, body: { name: words.workspace } })
      const key = yield* createKey(
        { workspace, access_token: token },
        { name: words.key, scopes: ["tasks:write"] }
      )
      const call = {
        url: `https://example.com/${words.path}`,
        headers: { authorization: `Bearer ${words.header}` },
        body: words.body
      }
      const cron = { ...call, name: words.task, schedule: "0 0 1 1 *" }
      const task = yield* post(`${workspace}/cron`, cron, token)
      yield* post(`${workspace}/cron`, cron, key.key)
      yield* post(`${workspace}/delayed`, { ...call, delay_seconds: 3600 }, token)
      const steps = [{ ...call, name: "first" }]
      yield* post(`${workspace}/chains`, { name: words.task, steps }, token)
      yield* ask("POST", `${workspace}/cron/${task.body.id}/run`, { token, headers })
      yield* sql`
        INSERT INTO executions
          (id, workspace_id, task_id, kind, trigger, status, scheduled_for, finished_at, attempts_count, error)
        VALUES
          (${task.body.id}, ${workspace_id}, ${task.body.id}, 'cron', 'manual', 'failed', now(), now(), 1,
           ${words.answer})`
      yield* sql`
        INSERT INTO earlier_attempts (execution_id, number, workspace_id, started_at, response_body, error)
        VALUES (${task.body.id}, 1, ${workspace_id}, now(), ${words.answer}, 'node_lost: lost')`

      const monitor = { name: words.monitor, tags: [words.tag], period_seconds: 60 }
      const heartbeat = yield* post(`${workspace}/monitors/heartbeat`, monitor, token)
      const { pathname } = new URL(heartbeat.body.ping_url)
      yield* ask("POST", `${pathname}/log`, { body: words.ping })

      const channel = {
        name: words.channel,
        kind: "webhook",
        config: { url: `https://example.com/${words.hook}` }
      }
      yield* post(`${workspace}/notifications/channels`, channel, token)
      yield* ask("PATCH", "/v1/auth/me", {
        token,
        headers,
        body: { email: `${words.pending}@example.com`, current_password: password }
      })

      // While the tasks exist, their calls are stored in these tables and, except for credentials,
      // in the audit log.
      for (const sent of [words.header, words.body, words.path]) {
        const found = [
          ...(sent === words.path ? ["public.search_entries"] : []),
          ...(sent === words.header ? [] : ["public.audit_events"])
        ]
        const tables = (yield* tablesWith(sent)).toSorted()
        assert.deepStrictEqual(tables, [...definitions, ...found].toSorted())
      }
      for (const any of Object.values(words)) {
        assert.isNotEmpty(yield* tablesWith(any), any)
      }

      const removed = yield* ask("DELETE", "/v1/auth/me", {
        token,
        headers,
        body: { current_password: password }
      })
      assert.strictEqual(statusAndError(removed), "204")
      yield* deleteHistoryOfDeletedWorkspaces(sql)
      yield* advanceUntilEmpty(
        "10 minutes",
        sql`
          SELECT owner_id
          FROM audit_erasures
          UNION ALL
          SELECT monitor_id
          FROM removed_monitors`
      )

      const left = [...Object.values(words), key.key.slice(4), key.key_prefix, token]
      for (const any of left) assert.deepStrictEqual(yield* tablesWith(any), [], any)
      // The events remain, but contain only ids.
      const events = yield* sql<{ readonly action: string }>`
        SELECT action
        FROM audit_events
        WHERE user_id = ${registered.body.user.id}
        ORDER BY id DESC
        LIMIT 1`
      assert.deepStrictEqual(events, [{ action: "account.deleted" }])
    })
  )
})

layer(testAppWithMail)("an account that no longer exists, where mail is sent,", (it) => {
  it.effect("gets no more mails from the workspaces of others", () =>
    Effect.gen(function* () {
      const [owner, member] = [yield* signUp(), yield* signUp()]
      const channels = notificationClientOf(owner)
      yield* ask("POST", `${owner.workspace}/invitations`, {
        token: owner.access_token,
        body: { email: member.email, role: "viewer" }
      })
      const tokenIn = (text: string) => /[\w-]{43}$/m.exec(text)?.[0] ?? ""
      const invitation = yield* waitForMail(member.email, "You are invited to a workspace")
      yield* ask("POST", "/v1/invitations/accept", {
        token: member.access_token,
        body: { token: tokenIn(invitation.text) }
      })
      const verification = yield* waitForMail(member.email, "Is this your email?")
      yield* ask("POST", "/v1/auth/email/verify", { body: { token: tokenIn(verification.text) } })
      const config = { to: member.email }
      const { body: channel } = yield* channels.create({ kind: "email", config })
      assert.isTrue((yield* channels.test(channel.id)).body.delivered)

      const removed = yield* ask("DELETE", "/v1/auth/me", {
        token: member.access_token,
        body: { current_password: password }
      })
      assert.strictEqual(statusAndError(removed), "204")
      const { body } = yield* channels.get(channel.id)
      assert.deepInclude(body, { paused: true, confirmed: false })
      assert.strictEqual(statusAndError(yield* channels.test(channel.id)), "409 conflict")
      // An address that another user has entered in a channel remains until that user deletes it,
      // and stays in that user's audit log.
      const log = "public.audit_events"
      assert.sameMembers(yield* tablesWith(member.email), [log, "public.notification_channels"])
      yield* channels.remove(channel.id)
      assert.deepStrictEqual(yield* tablesWith(member.email), [log])
    })
  )
})
