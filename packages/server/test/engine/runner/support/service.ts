import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Readable } from "node:stream"
import { createDataDirectory } from "../../../support/createDataDirectory.ts"
import {
  sendJson,
  type JsonResponse,
  eventually,
  newUser,
  type ServerProcess,
  startServer
} from "../../../support/ServerProcess.ts"
import { freshDatabaseUrl, testDatabaseUrl } from "../../../support/TestDatabase.ts"

/**
 * A server as a separate process that is allowed to call loopback addresses, and a user with a
 * workspace.
 */
export class Service extends Context.Service<
  Service,
  {
    readonly server: ServerProcess
    /** Sends a request to a path below the workspace. */
    readonly request: (method: string, at: string, body?: object) => Effect.Effect<JsonResponse>
    readonly create: (kind: "cron" | "delayed", task: object) => Effect.Effect<JsonResponse["body"]>
    /** Waits until an execution has finished. Returns the execution with its attempts. */
    readonly finished: (executionId: string) => Effect.Effect<JsonResponse["body"]>
    /** Runs a delayed task immediately. Returns its finished execution. */
    readonly outcomeOf: (task: object) => Effect.Effect<JsonResponse["body"]>
  }
>()("@scheduling/server/test/runner/Service") {}

/** Creates a separate store. Returns the environment variables for a server that uses the store. */
export const storeVariables =
  testDatabaseUrl === undefined
    ? Effect.map(createDataDirectory("end-to-end"), (DATA_DIR) => ({ DATA_DIR }))
    : Effect.map(freshDatabaseUrl(testDatabaseUrl), (DATABASE_URL) => ({
        DATABASE_URL,
        APP_SECRET: "a secret for tests, thirty-two bytes and more"
      }))

export const ServiceLayer: Layer.Layer<Service> = Layer.effect(
  Service,
  Effect.gen(function* () {
    const variables = yield* storeVariables
    const server = yield* startServer({ ...variables, EGRESS_ALLOW: "127.0.0.0/8" })
    const { token, workspace } = yield* newUser(server)

    const request = (method: string, at: string, body?: object) =>
      Effect.promise(() =>
        sendJson(server, method, workspace + at, { token, ...(body === undefined ? {} : { body }) })
      )
    const create = Effect.fnUntraced(function* (kind: "cron" | "delayed", task: object) {
      const created = yield* request("POST", `/${kind}`, task)
      assert.strictEqual(created.status, 201, JSON.stringify(created.body))
      return created.body
    })
    const finished = (executionId: string) =>
      eventually(
        "the end of an execution",
        async () => {
          const at = `${workspace}/executions/${executionId}`
          const { body } = await sendJson(server, "GET", at, { token })
          return body.finished_at !== null && body
        },
        10_000
      )
    const outcomeOf = Effect.fnUntraced(function* (task: object) {
      const { id } = yield* create("delayed", { delay_seconds: 0, ...task })
      const executionId = yield* eventually(
        "an execution",
        async (): Promise<string | undefined> => {
          const at = `${workspace}/executions?task_id=${id}`
          return (await sendJson(server, "GET", at, { token })).body.data[0]?.id
        },
        10_000
      )
      return yield* finished(executionId)
    })
    return Service.of({ server, request, create, finished, outcomeOf })
  })
)

/** Returns an endless stream of bytes. */
export const endlessStream = (onRead: (bytes: number) => void) => {
  const chunk = Buffer.alloc(64 * 1024, "a")
  return new Readable({
    read() {
      onRead(chunk.length)
      this.push(chunk)
    }
  })
}
