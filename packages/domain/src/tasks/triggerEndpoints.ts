import type { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { NotFound } from "../shared/Errors.ts"
import { Trigger, TriggerInput } from "./Trigger.ts"

const read = Access.scope("tasks:read")
const write = Access.scope("tasks:write")

/**
 * Creates the endpoints for a task's trigger URL. `path` is the task's path. Requests to the URL
 * itself are handled outside the contract, because a signature covers their raw body.
 */
export const triggerEndpoints = <
  const Path extends `/${string}`,
  Params extends Schema.Struct.Fields
>({
  noun,
  params,
  path
}: {
  /** The kind of task with its article, such as `a cron task`. */
  readonly noun: `a ${string}`
  readonly path: Path
  readonly params: Params
}) =>
  [
    HttpApiEndpoint.get("getTrigger", `${path}/trigger`, {
      params,
      success: Trigger,
      error: NotFound
    })
      .annotate(Access, read)
      .annotateMerge(
        docs(
          `Get ${noun}'s trigger URL`,
          "The `url` is shown to those who may run the task: editors, and API keys with `tasks:write`."
        )
      ),

    HttpApiEndpoint.put("setTrigger", `${path}/trigger`, {
      params,
      payload: TriggerInput,
      success: Trigger,
      error: NotFound
    })
      .annotate(Access, write)
      .annotateMerge(
        docs(
          `Turn on ${noun}'s trigger URL`,
          "Creates a URL, or keeps the existing one, and sets the signature that its requests must have."
        )
      ),

    HttpApiEndpoint.post("rotateTriggerUrl", `${path}/trigger/rotate-url`, {
      params,
      success: Trigger,
      error: NotFound
    })
      .annotate(Access, write)
      .annotateMerge(
        docs(
          `Replace ${noun}'s trigger URL`,
          "Creates a new URL with the same signature. The old URL responds with 404 immediately."
        )
      ),

    HttpApiEndpoint.delete("deleteTrigger", `${path}/trigger`, { params, error: NotFound })
      .annotate(Access, write)
      .annotateMerge(
        docs(
          `Turn off ${noun}'s trigger URL`,
          "The URL responds with 404 immediately. Turning it off again changes nothing."
        )
      )
  ] as const
