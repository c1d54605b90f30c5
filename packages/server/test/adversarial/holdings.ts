import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Partitions } from "../../src/queue/Partitions.ts"
import { chainsOf, first, runOf, succeeded } from "../chains/chains.ts"
import { cronOf, insertExecution } from "../cron/tasks.ts"
import { insertRuns } from "../executions/history.ts"
import { delayedOf } from "../delayed/tasks.ts"
import { heartbeatsOf, ping, processesOf, sslOf } from "../monitors/monitors.ts"
import { open } from "../auth/forge.ts"
import { insertDelivery } from "../notifications/support/channels.ts"
import { ask, createKey, logIn, type Member, randomEmail, signUp } from "../support/http.ts"
import { testNow } from "../support/TestApp.ts"
import { queuesOf } from "../queues/queues.ts"
import { workersOf } from "../workers/workers.ts"
import { type Endpoint, pathWith } from "./contract.ts"

/** The ids of what there is in a workspace, by the places in paths where they are right. */
export type Holdings = Readonly<Record<string, ReadonlyArray<string>>>

/** A session more of this user's. */
export const acquireSession = Effect.fnUntraced(function* ({ email }: Member) {
  const { body } = yield* logIn(email)
  return {
    "/v1/auth/sessions/:session_id": [String(open(body.access_token).claims["sid"])]
  } satisfies Holdings
})

/** Another owner, and an open invitation: as if they had signed up, which takes time. */
const insertColleague = Effect.fnUntraced(function* ({ user_id, workspace_id }: Member) {
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
  return ids[0] ?? assert.fail("nobody was inserted")
})

/**
 * One of everything in a workspace that has an id; where it can be in more than one state, one in
 * each, so that whatever is asked of them there is one that it would change.
 */
export const acquire = Effect.fnUntraced(function* (owner: Member) {
  const { access_token: token, workspace, workspace_id } = owner
  const [cron, delayed, chains] = [cronOf(owner), delayedOf(owner), chainsOf(owner)]
  const id = Effect.map(({ body }: { readonly body: { readonly id: string } }) => body.id)

  const key = yield* createKey(owner)
  const cronTask = yield* id(cron.create())
  const cronRun = yield* id(cron.act(cronTask, "run"))
  const cronEnded = yield* insertExecution(workspace_id, cronTask, { at: testNow - 60_000 })
  const cronPaused = yield* id(cron.create())
  yield* cron.act(cronPaused, "pause")
  const delayedTask = yield* id(delayed.create())
  const ofDelayed = `${workspace}/executions?task_id=${delayedTask}`
  const delayedRun: string = (yield* ask("GET", ofDelayed, { token })).body.data[0].id
  const chain = yield* id(chains.create())
  const chainRun = yield* id(chains.act(chain, "run"))
  const ofChain = `${workspace}/executions?task_id=${chain}`
  const chainStep: string = (yield* ask("GET", ofChain, { token })).body.data[0].id
  const chainEnded = runOf({ workspace_id, id: chain }, testNow + 60_000, [
    { ...first, ...succeeded }
  ])
  yield* Effect.orDie(insertRuns(chainEnded))
  const [chainStepEnded = ""] = chainEnded.map((step) => step.id)
  const chainPaused = yield* id(chains.create())
  yield* chains.act(chainPaused, "pause")
  const heartbeats = heartbeatsOf(owner)
  const heartbeat = (yield* heartbeats.create()).body
  yield* ping(heartbeat.ping_url, "/fail")
  const incident: string = (yield* heartbeats.incidents()).body.data[0].id
  const heartbeatPaused = yield* id(heartbeats.create())
  yield* heartbeats.act(heartbeatPaused, "pause")
  const notifications = `${workspace}/notifications`
  const channel = yield* id(
    ask("POST", `${notifications}/channels`, {
      token,
      body: { name: "ops", kind: "webhook", config: { url: "https://alerts.example.com/hook" } }
    })
  )
  const delivery = yield* insertDelivery(workspace_id, channel)
  const ssl = sslOf(owner)
  const sslMonitor = yield* id(ssl.create())
  yield* ssl.act(sslMonitor, "pause")
  yield* ssl.act(sslMonitor, "resume")
  const sslPaused = yield* id(ssl.create())
  yield* ssl.act(sslPaused, "pause")

  const workers = workersOf(owner)
  const worker = yield* id(workers.create())
  const workerPaused = yield* id(workers.create())
  yield* workers.act(workerPaused, "pause")

  const queues = queuesOf(owner)
  const queue = yield* id(queues.create())
  const queuePaused = yield* id(queues.create())
  yield* queues.act(queuePaused, "pause")

  const processes = processesOf(owner)
  const ofWorker = { name: "Database", worker_id: worker, match: { name: "postgres" } }
  const processMonitor = yield* id(processes.create(ofWorker))
  yield* processes.act(processMonitor, "pause")
  yield* processes.act(processMonitor, "resume")
  const processPaused = yield* id(processes.create(ofWorker))
  yield* processes.act(processPaused, "pause")

  const { member, invitation } = yield* insertColleague(owner)

  return {
    "members/:user_id": [member],
    "invitations/:invitation_id": [invitation],
    "api-keys/:key_id": [key.id],
    "cron/:task_id": [cronTask, cronPaused],
    "cron/:task_id/executions/:execution_id": [cronRun, cronEnded],
    "delayed/:task_id": [delayedTask],
    "delayed/:task_id/executions/:execution_id": [delayedRun],
    "chains/:chain_id": [chain, chainPaused],
    "chains/:chain_id/runs/:run_id": [chainStepEnded, chainRun],
    "chains/:chain_id/runs/:run_id/executions/:execution_id": [chainStepEnded],
    "chains/:chain_id/executions/:execution_id": [chainStep, chainStepEnded],
    "monitors/heartbeat/:monitor_id": [heartbeat.id, heartbeatPaused],
    "monitors/ssl/:monitor_id": [sslMonitor, sslPaused],
    "monitors/process/:monitor_id": [processMonitor, processPaused],
    "incidents/:incident_id": [incident],
    "workers/:worker_id": [worker, workerPaused],
    "queues/:queue_id": [queue, queuePaused],
    "notifications/channels/:channel_id": [channel],
    "notifications/deliveries/:delivery_id": [delivery],
    "executions/:execution_id": [cronEnded, cronRun, delayedRun, chainStep, chainStepEnded]
  } satisfies Holdings
})

/** Somebody new who has one of everything, and the paths to it. */
export const settle = Effect.gen(function* () {
  const partitions = yield* Effect.provide(Partitions, Partitions.layer)
  yield* partitions.ensure([testNow])
  const member = yield* signUp()
  const own: Holdings = { ...(yield* acquire(member)), ...(yield* acquireSession(member)) }
  const idAt = (place: string) => own[place]?.[0] ?? assert.fail(`what is ${place}?`)
  return {
    member,
    pathOf: ({ path }: Pick<Endpoint, "path">) => pathWith(path, member.workspace_id, idAt)
  }
})
