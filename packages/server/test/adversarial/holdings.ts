import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Partitions } from "../../src/runner/Partitions.ts"
import { chainsOf } from "../chains/chains.ts"
import { cronOf, insertExecution } from "../cron/tasks.ts"
import { delayedOf } from "../delayed/tasks.ts"
import { open } from "../auth/forge.ts"
import { ask, createKey, logIn, type Member, signUp } from "../support/http.ts"
import { testNow } from "../support/TestApp.ts"
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
  const chainPaused = yield* id(chains.create())
  yield* chains.act(chainPaused, "pause")

  return {
    "api-keys/:key_id": [key.id],
    "cron/:task_id": [cronTask, cronPaused],
    "cron/:task_id/executions/:execution_id": [cronRun, cronEnded],
    "delayed/:task_id": [delayedTask],
    "delayed/:task_id/executions/:execution_id": [delayedRun],
    "chains/:chain_id": [chain, chainPaused],
    "chains/:chain_id/runs/:run_id": [chainRun],
    "chains/:chain_id/executions/:execution_id": [chainStep],
    "executions/:execution_id": [cronRun, cronEnded, delayedRun, chainStep]
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
