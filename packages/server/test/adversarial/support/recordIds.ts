import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { chainClientOf, loginRow, runOf, succeededRow } from "../../tasks/chains/chains.ts"
import { cronClientOf, insertExecution } from "../../tasks/cron/tasks.ts"
import { insertRuns } from "../../tasks/executions/history.ts"
import { delayedClientOf } from "../../tasks/delayed/tasks.ts"
import type { MonitorKind } from "@scheduling/domain/monitors/Monitor"
import {
  heartbeatClientOf,
  monitorClientOf,
  ping,
  processClientOf,
  sslClientOf
} from "../../monitoring/monitors.ts"
import { decodeJwt } from "../../accounts/sessions/forgeJwt.ts"
import { insertDelivery } from "../../notifications/support/channels.ts"
import {
  type Answer,
  ask,
  createKey,
  createServiceAccount,
  logIn,
  type Member,
  randomEmail
} from "../../support/http.ts"
import { type TestApp, testNow } from "../../support/TestApp.ts"
import { queueClientOf } from "../../tasks/queues/queues.ts"
import { workerClientOf } from "../../workers/workers.ts"
import { idPositionsIn } from "./contract.ts"

/** The ids of a workspace's records, by the position in a path at which they are valid. */
export type RecordIds = Readonly<Record<string, ReadonlyArray<string>>>

/** Creates another session for this user. */
export const createSession = Effect.fnUntraced(function* ({ email }: Member) {
  const { body } = yield* logIn(email)
  return {
    "/v1/auth/sessions/:session_id": [String(decodeJwt(body.access_token).claims["sid"])]
  } satisfies RecordIds
})

/** Inserts another owner and an open invitation directly, because signing up takes time. */
export const insertOwnerAndInvitation = Effect.fnUntraced(function* ({
  user_id,
  workspace_id
}: Member) {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(testNow)
  const ids = yield* sql<{ readonly member: string; readonly invitation: string }>`
    WITH colleague AS (
      INSERT INTO users (id, email, password_hash, created_at)
      VALUES (gen_random_uuid(), ${randomEmail()}, 'none', ${now})
      RETURNING id
    ), membership AS (
      INSERT INTO memberships (user_id, workspace_id, role, created_at)
      SELECT id, ${workspace_id}, 'owner', ${now}
      FROM colleague
    )
    INSERT INTO invitations
      (id, workspace_id, email, role, token_hash, invited_by, expires_at, created_at)
    SELECT gen_random_uuid(), ${workspace_id}, ${randomEmail()}, 'viewer', gen_random_uuid()::text,
           ${user_id}, ${new Date(testNow + 7 * 86_400_000)}, ${now}
    FROM colleague
    RETURNING id AS invitation, (SELECT id FROM colleague) AS member`
  const { invitation, member } = ids[0] ?? assert.fail("nobody was inserted")
  return {
    "members/:user_id": [member],
    "invitations/:invitation_id": [invitation]
  } satisfies RecordIds
})

const idOf = Effect.map(({ body }: { readonly body: { readonly id: string } }) => body.id)

/** Creates a paused record. */
const pausedOf = Effect.fnUntraced(function* <R>(nouns: {
  readonly create: () => Effect.Effect<Answer, never, R>
  readonly act: (id: string, action: "pause") => Effect.Effect<Answer, never, R>
}) {
  const id = yield* idOf(nouns.create())
  yield* nouns.act(id, "pause")
  return id
})

const acquireKey = Effect.fnUntraced(function* (owner: Member) {
  const { id } = yield* createKey(owner)
  return { "api-keys/:key_id": [id] } satisfies RecordIds
})

const acquireServiceAccount = Effect.fnUntraced(function* (owner: Member) {
  const { client_id } = yield* createServiceAccount(owner)
  return { "service-accounts/:service_account_id": [client_id] } satisfies RecordIds
})

const execution = "executions/:execution_id"

/** Inserts trigger URLs directly, so that the workspace's audit log fits on one page. */
const insertTriggers = Effect.fnUntraced(function* (
  { workspace_id }: Member,
  taskIds: ReadonlyArray<string>
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO task_triggers (task_id, workspace_id, token_hash, sealed_token, created_at)
    SELECT id, ${workspace_id}, gen_random_uuid()::text, 'unreadable', ${new Date(testNow)}
    FROM unnest(${taskIds}::uuid[]) AS tasks (id)`
})

const acquireCron = Effect.fnUntraced(function* (owner: Member) {
  const cron = cronClientOf(owner)
  const task = yield* idOf(cron.create())
  const run = yield* idOf(cron.act(task, "run"))
  const ended = yield* insertExecution(owner.workspace_id, task, { at: testNow - 60_000 })
  const paused = yield* pausedOf(cron)
  yield* insertTriggers(owner, [task, paused])
  return {
    "cron/:task_id": [task, paused],
    [execution]: [ended, run],
    "cron/:task_id/executions/:execution_id": [run, ended]
  } satisfies RecordIds
})

/** Returns an execution that is scheduled for later or waits for a slot. */
const waitingExecution = ({ access_token: token, workspace }: Member, taskId: string) =>
  Effect.map(
    Effect.all([
      ask("GET", `${workspace}/executions/scheduled?task_id=${taskId}`, { token }),
      ask("GET", `${workspace}/executions?task_id=${taskId}`, { token })
    ]),
    (lists) => String(lists.flatMap(({ body }) => body.data)[0].id)
  )

const acquireDelayed = Effect.fnUntraced(function* (owner: Member) {
  const task = yield* idOf(delayedClientOf(owner).create())
  const run = yield* waitingExecution(owner, task)
  return {
    "delayed/:task_id": [task],
    "delayed/:task_id/executions/:execution_id": [run]
  } satisfies RecordIds
})

const acquireChain = Effect.fnUntraced(function* (owner: Member) {
  const chains = chainClientOf(owner)
  const chain = yield* idOf(chains.create({ schedule: "0 * * * *" }))
  const run = yield* idOf(chains.act(chain, "run"))
  const step = yield* waitingExecution(owner, chain)
  const ended = runOf({ workspace_id: owner.workspace_id, id: chain }, testNow + 60_000, [
    { ...loginRow, ...succeededRow }
  ])
  yield* Effect.orDie(insertRuns(ended))
  const [stepEnded = ""] = ended.map(({ id }) => id)
  const paused = yield* pausedOf(chains)
  yield* insertTriggers(owner, [chain, paused])
  return {
    "chains/:chain_id": [chain, paused],
    "chains/:chain_id/runs/:run_id": [stepEnded, run],
    "chains/:chain_id/runs/:run_id/executions/:execution_id": [stepEnded],
    "chains/:chain_id/executions/:execution_id": [step, stepEnded]
  } satisfies RecordIds
})

const acquireHeartbeat = Effect.fnUntraced(function* (owner: Member) {
  const heartbeats = heartbeatClientOf(owner)
  const heartbeat = (yield* heartbeats.create()).body
  yield* ping(heartbeat.ping_url, "/fail")
  const incident: string = (yield* heartbeats.incidents()).body.data[0].id
  const paused = yield* pausedOf(heartbeats)
  return {
    "monitors/heartbeat/:monitor_id": [heartbeat.id, paused],
    "monitors/:monitor_id": [heartbeat.id],
    "incidents/:incident_id": [incident]
  } satisfies RecordIds
})

const acquireSsl = Effect.fnUntraced(function* (owner: Member) {
  const ssl = sslClientOf(owner)
  const monitor = yield* pausedOf(ssl)
  yield* ssl.act(monitor, "resume")
  const paused = yield* pausedOf(ssl)
  return { "monitors/ssl/:monitor_id": [monitor, paused] } satisfies RecordIds
})

/** Creates two monitors that make checks, one active and one paused. */
const acquireChecked = (kind: MonitorKind, definition: object) =>
  Effect.fnUntraced(function* (owner: Member) {
    const monitors = monitorClientOf(kind, owner, definition)
    const monitor = yield* pausedOf(monitors)
    yield* monitors.act(monitor, "resume")
    const paused = yield* pausedOf(monitors)
    return { [`monitors/${kind}/:monitor_id`]: [monitor, paused] } satisfies RecordIds
  })

const acquireChannel = Effect.fnUntraced(function* (owner: Member) {
  const channel = yield* idOf(
    ask("POST", `${owner.workspace}/notifications/channels`, {
      token: owner.access_token,
      body: { name: "ops", kind: "webhook", config: { url: "https://alerts.example.com/hook" } }
    })
  )
  const delivery = yield* insertDelivery(owner.workspace_id, channel)
  return {
    "notifications/channels/:channel_id": [channel],
    "notifications/deliveries/:delivery_id": [delivery]
  } satisfies RecordIds
})

const acquireWorker = Effect.fnUntraced(function* (owner: Member) {
  const workers = workerClientOf(owner)
  const worker = yield* idOf(workers.create())
  const paused = yield* pausedOf(workers)
  const { act, create } = processClientOf(owner)
  const ofWorker = { name: "Database", worker_id: worker, match: { name: "postgres" } }
  const processes = { act, create: () => create(ofWorker) }
  const monitor = yield* pausedOf(processes)
  yield* processes.act(monitor, "resume")
  const monitorPaused = yield* pausedOf(processes)
  return {
    "workers/:worker_id": [worker, paused],
    "monitors/process/:monitor_id": [monitor, monitorPaused]
  } satisfies RecordIds
})

const acquireQueue = Effect.fnUntraced(function* (owner: Member) {
  const queues = queueClientOf(owner)
  const queue = yield* idOf(queues.create())
  const paused = yield* pausedOf(queues)
  return { "queues/:queue_id": [queue, paused] } satisfies RecordIds
})

const acquireSecret = Effect.fnUntraced(function* (owner: Member) {
  const { body } = yield* ask("PUT", `${owner.workspace}/secrets/API_TOKEN`, {
    token: owner.access_token,
    body: { value: "a token", allowed_hosts: ["api.example.com"] }
  })
  return { "secrets/:name": [String(body.id)] } satisfies RecordIds
})

const acquireStatusPage = Effect.fnUntraced(function* (owner: Member) {
  const path = `${owner.workspace}/status-pages/page-${owner.workspace_id.slice(-12)}`
  const { body } = yield* ask("PUT", path, {
    token: owner.access_token,
    body: { title: "Status", groups: [] }
  })
  return { "status-pages/:slug": [String(body.id)] } satisfies RecordIds
})

const acquireMaintenance = Effect.fnUntraced(function* (owner: Member) {
  const { body } = yield* ask("PUT", `${owner.workspace}/maintenance/upgrade`, {
    token: owner.access_token,
    body: {
      name: "Upgrade",
      starts_at: "2026-01-01T00:00:00Z",
      ends_at: "2026-01-02T00:00:00Z",
      everything: true
    }
  })
  return { "maintenance/:key": [String(body.id)] } satisfies RecordIds
})

const acquireEscalation = Effect.fnUntraced(function* (owner: Member) {
  const channel = yield* acquireChannel(owner)
  const { body } = yield* ask("PUT", `${owner.workspace}/escalations/on-call`, {
    token: owner.access_token,
    body: {
      name: "On call",
      steps: [{ after_seconds: 0, channel_ids: channel["notifications/channels/:channel_id"] }]
    }
  })
  return { "escalations/:key": [String(body.id)] } satisfies RecordIds
})

type Acquire = (
  owner: Member
) => Effect.Effect<RecordIds, SqlError.SqlError, TestApp | SqlClient.SqlClient>

/**
 * The functions that create a workspace's records, by the beginning of the records' positions in
 * paths.
 */
const ofWorkspace: ReadonlyArray<readonly [beginnings: ReadonlyArray<string>, Acquire]> = [
  [["members/", "invitations/"], insertOwnerAndInvitation],
  [["service-accounts/"], acquireServiceAccount],
  [["api-keys/"], acquireKey],
  [["cron/", "executions/"], acquireCron],
  [["delayed/"], acquireDelayed],
  [["chains/"], acquireChain],
  [["monitors/heartbeat/", "monitors/:", "incidents/"], acquireHeartbeat],
  [["monitors/ssl/"], acquireSsl],
  [["monitors/http/"], acquireChecked("http", { name: "Site", url: "https://site.test/" })],
  [["monitors/tcp/"], acquireChecked("tcp", { name: "Cache", host: "site.test", port: 6379 })],
  [["monitors/dns/"], acquireChecked("dns", { name: "Records", host: "site.test" })],
  [["workers/", "monitors/process/"], acquireWorker],
  [["queues/"], acquireQueue],
  [["secrets/"], acquireSecret],
  [["status-pages/"], acquireStatusPage],
  [["maintenance/"], acquireMaintenance],
  [["escalations/"], acquireEscalation],
  [["notifications/"], acquireChannel]
]

/**
 * Creates a record of each kind, or one in each state if a kind has several states. Every request
 * then finds a record that it can change.
 */
export const createAllRecords = Effect.fnUntraced(function* (owner: Member) {
  const all = new Map<string, ReadonlyArray<string>>()
  for (const [, acquireSome] of ofWorkspace) {
    for (const [place, ids] of Object.entries(yield* acquireSome(owner))) all.set(place, ids)
  }
  const executions = [...all].flatMap(([place, ids]) => (place.endsWith(execution) ? ids : []))
  return { ...Object.fromEntries(all), [execution]: [...new Set(executions)] } as RecordIds
}, Effect.orDie)

/** Creates the record for this position in a path, and the records that it needs. */
const acquireAt = (owner: Member, place: string) => {
  const [, acquireSome = createSession] =
    ofWorkspace.find(([beginnings]) => beginnings.some((begin) => place.startsWith(begin))) ?? []
  return Effect.orDie(acquireSome(owner))
}

/** Creates a record for each id parameter in a path, unless one exists already. */
export const createMissingRecords = Effect.fnUntraced(function* (
  own: Record<string, ReadonlyArray<string>>,
  owner: Member,
  path: string
) {
  for (const place of idPositionsIn(path)) {
    if (!(place in own)) Object.assign(own, yield* acquireAt(owner, place))
  }
  return own
})
