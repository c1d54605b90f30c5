import type { Actor } from "@scheduling/domain/shared/Actor"
import type { AuditEvent } from "@scheduling/domain/workspaces/AuditEvent"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { canonicalJson } from "../../../src/accounts/audit/auditChainHashes.ts"
import { selfHostedCatalog, selfHostedPlan } from "../../../src/core/config/plans.ts"
import {
  type Answer,
  ask,
  createKey,
  createServiceAccount,
  type Member,
  readPages,
  signUp,
  obtainToken
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { advanceUntilEmpty } from "../../support/advanceUntil.ts"
import { agentClientOf, successResult, workerClientOf } from "../../workers/workers.ts"
import { recordKinds, type RecordKind, type Random, seededRandom } from "./definitions.ts"

const limited = {
  ...selfHostedPlan,
  limits: { ...selfHostedPlan.limits, executions_a_month: 1_000 }
}

const plans = { ...selfHostedCatalog, plans: new Map([[limited.id, limited]]), byDefault: limited }

const keys = ["one", "two", "three"]

/**
 * A principal who changes definitions, and the operations that this principal is not allowed to
 * use.
 */
interface Editor {
  readonly actor: Actor
  readonly token: string
}

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  yield* ask("PATCH", "/v1/auth/me", { token: member.access_token, body: { name: "Ada" } })
  const scopes = ["tasks:write", "monitors:write", "notifications:write"]
  const key = yield* createKey(member, { name: "CI", scopes })
  const tool = yield* createServiceAccount(member)
  const editors: readonly [Editor, Editor, Editor] = [
    { actor: { kind: "user", id: member.user_id, name: "Ada" }, token: member.access_token },
    { actor: { kind: "api_key", id: key.id, name: "CI" }, token: key.key },
    {
      actor: { kind: "service_account", id: tool.client_id, name: "a tool, admin" },
      token: yield* obtainToken(tool)
    }
  ]
  const { id, token } = (yield* workerClientOf(member).create({ labels: ["office"] })).body
  return { member, editors, worker: String(id), agent: agentClientOf(token) }
})

type Fixture = Effect.Success<typeof setUp>

const listIn = (member: Member, { path }: RecordKind) =>
  Effect.map(readPages(`${member.workspace}/${path}`, member.access_token, 100), (pages) =>
    pages.flat().filter(({ status }) => status !== "cancelled")
  )

/** Uses up the plan's limits, so that the plan pauses or resumes all tasks within a minute. */
const useUp = Effect.fnUntraced(function* ({ workspace_id }: Member, executions: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO usage_days (workspace_id, day, executions)
    VALUES (${workspace_id}, '2026-06-01', ${executions})
    ON CONFLICT (workspace_id, day) DO UPDATE SET executions = EXCLUDED.executions`
  yield* TestClock.adjust("1 minute")
  const left =
    executions === 0
      ? sql`SELECT task_id FROM plan_pauses WHERE workspace_id = ${workspace_id}`
      : sql`SELECT id FROM tasks WHERE workspace_id = ${workspace_id} AND status = 'active'`
  yield* advanceUntilEmpty("30 seconds", left)
})

/** Makes one random change to a random record, using any of the endpoints. */
const change = Effect.fnUntraced(function* (
  { editors, member, worker }: Fixture,
  random: Random,
  recordKind: RecordKind
) {
  const { token } = random.pick(editors)
  const at = `${member.workspace}/${recordKind.path}`
  const queues = (yield* listIn(member, recordKinds[3] as RecordKind)).map(({ id }) => String(id))
  const define = () => recordKind.define(random, { queues, worker })
  const records = yield* listIn(member, recordKind)
  const record = random.pick(records)
  const send = (method: string, path: string, body?: object) =>
    ask(method, `${at}${path}`, { token, ...(body !== undefined && { body }) })
  const create = send("POST", "", { ...define(), ...random.maybe({ key: random.pick(keys) }) })
  if (record === undefined) return [yield* create]
  const one = `/${record.id}`
  const key = random.pick(keys)
  const definition = define()
  const some = Object.fromEntries(Object.entries(definition).filter(() => random.next() < 0.4))
  switch (random.below(10)) {
    case 0:
      return [yield* create]
    case 1:
      return [
        yield* send("PUT", `/by-key/${key}`, definition),
        yield* send("PUT", `/by-key/${key}`, definition)
      ]
    case 2:
      return [yield* send("PATCH", one, {})]
    case 3:
      return [yield* send("PATCH", one, { key: random.pick([null, ...keys]) })]
    case 4:
      if (recordKind.batches !== true) return [yield* create]
      return [
        yield* send("POST", "/batch", {
          items: [define(), { ...define(), key }, { ...define(), url: "nowhere" }, define()]
        })
      ]
    case 5:
      return [yield* send("DELETE", one)]
    case 6:
      if (!recordKind.pauses) return [yield* create]
      return [yield* send("POST", `${one}/pause`), yield* send("POST", `${one}/resume`)]
    case 7:
      if (recordKind.path !== "delayed" && !recordKind.pauses) return [yield* create]
      return [yield* send("PATCH", one, recordKind.pauses ? { paused: random.next() < 0.7 } : some)]
    case 8:
      // Headers and secrets keep their values if a client sends their masks back.
      return [yield* send("PUT", `/by-key/${record.key ?? key}`, record)]
    default:
      return [yield* send("PATCH", one, some)]
  }
})

const changeOthers = Effect.fnUntraced(function* ({ editors, member }: Fixture, random: Random) {
  const { token } = random.pick([editors[0], editors[2]])
  const channels = yield* listIn(member, recordKinds.at(-1) as RecordKind)
  const name = random.pick(["TOKEN", "OTHER"])
  const { version } = (yield* ask("GET", `${member.workspace}/notifications/settings`, { token }))
    .body
  return [
    yield* ask("PUT", `${member.workspace}/secrets/${name}`, {
      token,
      body: {
        allowed_hosts: [random.pick(["example.com", "example.org"])],
        value: `secret${random.below(1000)}`
      }
    }),
    ...(random.next() < 0.3
      ? [yield* ask("DELETE", `${member.workspace}/secrets/${name}`, { token })]
      : []),
    yield* ask("PUT", `${member.workspace}/notifications/settings`, {
      token,
      body: {
        version,
        task_failure_threshold: 1 + random.below(3),
        rules: channels
          .slice(0, random.below(3))
          .map(({ id }) => ({ events: ["execution.failed"], channel_ids: [id] }))
      }
    })
  ]
})

/** Makes a new cron task's run fail on a worker, so that the service pauses the task. */
const fail = Effect.fnUntraced(function* ({ agent, editors: [{ token }], member }: Fixture) {
  const created = yield* ask("POST", `${member.workspace}/cron`, {
    token,
    body: { name: "Failing", url: "http://example.com", schedule: "0 3 * * *" }
  })
  const at = `${member.workspace}/cron/${created.body.id}`
  const changed = yield* ask("PATCH", at, {
    token,
    body: { run_on: { labels: ["office"] }, pause_after_failures: 1 }
  })
  yield* TestClock.adjust("1 second")
  const run = yield* ask("POST", `${at}/run`, { token })
  const { session } = (yield* agent.hello()).body
  const claimed = yield* agent.claim(session)
  const results = claimed.body.calls.map((call: Parameters<typeof successResult>[0]) => ({
    ...successResult(call),
    outcome: "failed",
    status_code: 500
  }))
  return [created, changed, run, claimed, yield* agent.results(session, results)]
})

interface Replayed {
  readonly kind: string
  readonly fields: Map<string, unknown>
  readonly created_by: Actor | null
  updated_by: Actor | null
}

/** Reconstructs the definitions from the events alone, oldest first. */
const replay = (events: ReadonlyArray<AuditEvent>) => {
  const records = new Map<string, Replayed>()
  const settings: Replayed = {
    kind: "notification_settings",
    fields: new Map(),
    created_by: null,
    updated_by: null
  }
  for (const { action, actor, changes, subject_id, subject_kind } of events) {
    if (changes.length === 0) continue
    const verb = action.slice(action.indexOf(".") + 1)
    const id = `${subject_kind} ${subject_id}`
    if (verb === "created") {
      assert.isFalse(records.has(id), `${action} of a record that exists`)
      records.set(id, {
        kind: subject_kind,
        fields: new Map(),
        created_by: actor,
        updated_by: actor
      })
    }
    const record = subject_kind === "notification_settings" ? settings : records.get(id)
    if (record === undefined) return assert.fail(`${action} of a record that does not exist`)
    for (const { field, new: now, old } of changes) {
      // The old values in the first settings event are the defaults.
      if (record !== settings || record.fields.has(field)) {
        assert.deepStrictEqual(record.fields.get(field) ?? null, old, `${action}: ${field}`)
      }
      record.fields.set(field, now)
    }
    if (verb === "deleted") records.delete(id)
    record.updated_by = actor
  }
  return { records, settings }
}

/** Converts a value to its representation in the log, which contains hashes of long values. */
const logged = (value: unknown): unknown => {
  const json = canonicalJson(value ?? null)
  const bytes = Buffer.byteLength(json)
  return bytes <= 8_192
    ? (value ?? null)
    : { sha256: createHash("sha256").update(json).digest("hex"), bytes }
}

const assertRecords = Effect.fnUntraced(function* (
  { member }: Fixture,
  records: ReadonlyMap<string, Replayed>
) {
  let shown = 0
  for (const recordKind of recordKinds) {
    for (const record of yield* listIn(member, recordKind)) {
      const found = records.get(`${recordKind.kind} ${record.id}`)
      if (found === undefined) return assert.fail(`the log has no ${recordKind.kind} ${record.id}`)
      const { created_by, fields, updated_by } = found
      assert.deepStrictEqual(
        Object.fromEntries(recordKind.fields.map((name) => [name, fields.get(name) ?? null])),
        Object.fromEntries(recordKind.fields.map((name) => [name, logged(record[name])]))
      )
      assert.deepStrictEqual(
        { created_by, updated_by },
        {
          created_by: record.created_by,
          updated_by: record.updated_by
        }
      )
      shown++
    }
  }
  const { body: secrets } = yield* ask("GET", `${member.workspace}/secrets`, {
    token: member.access_token
  })
  for (const { allowed_hosts, created_by, name, updated_by } of secrets.data) {
    const found = records.get(`secret ${name}`)
    assert.deepStrictEqual(found?.fields.get("allowed_hosts"), allowed_hosts)
    assert.strictEqual(found?.fields.get("value"), "•••")
    assert.deepStrictEqual([found?.created_by, found?.updated_by], [created_by, updated_by])
    shown++
  }
  assert.strictEqual(records.size, shown)
})

layer(testAppLayer({ plans }), { timeout: "120 seconds" })("the audit log alone", (it) => {
  it.effect.each([1, 2, 3, 4])("replays to the definitions that the API shows: %s", (seed) =>
    Effect.gen(function* () {
      const random = seededRandom(seed)
      const fixture = yield* setUp
      const { editors, member } = fixture
      const answers: Array<Answer> = [...(yield* fail(fixture))]
      for (let step = 0; step < 90; step++) {
        yield* TestClock.adjust("1 second")
        const turn = random.below(20)
        if (turn === 0) yield* useUp(member, random.pick([0, 1_000]))
        else if (turn === 1) answers.push(...(yield* changeOthers(fixture, random)))
        else if (turn === 2) answers.push(...(yield* fail(fixture)))
        else answers.push(...(yield* change(fixture, random, random.pick(recordKinds))))
      }
      yield* useUp(member, 1_000)
      for (const { status, text } of answers) assert.isBelow(status, 500, text)
      const succeeded = answers.filter(({ status }) => status < 300).length
      assert.isAbove(succeeded, answers.length / 2)

      const pages = yield* readPages(`${member.workspace}/audit`, member.access_token, 100)
      const events = pages.flat().toReversed() as unknown as ReadonlyArray<AuditEvent>
      const { records, settings } = replay(events)
      yield* assertRecords(fixture, records)

      const { body: shown } = yield* ask("GET", `${member.workspace}/notifications/settings`, {
        token: member.access_token
      })
      if (settings.fields.has("task_failure_threshold")) {
        assert.strictEqual(
          settings.fields.get("task_failure_threshold"),
          shown.task_failure_threshold
        )
        assert.deepStrictEqual(settings.updated_by, shown.updated_by)
      }

      const changed = events.filter(({ changes }) => changes.length > 0)
      for (const { actor } of editors) {
        assert.isTrue(
          changed.some((event) => isDeepStrictEqual(event.actor, actor)),
          actor.kind
        )
      }
      for (const kind of ["plan", "system"]) {
        assert.isTrue(
          changed.some(({ actor }) => actor?.kind === kind),
          kind
        )
      }
      assert.isTrue(changed.every(({ request_id }) => request_id !== null))
      assert.notMatch(JSON.stringify(events), /secret\d/)
    })
  )
})
