import type { Parameter, Webhook } from "../model.ts"
import { reference } from "../schemas/rewriting.ts"

const header = (name: string, description: string, example: string): Parameter => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", examples: [example] }
})

const taskId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"
const executionId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

const deliveryId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"

const signature = [
  header("webhook-timestamp", "When the attempt was made, in seconds since 1970.", "1769851800"),
  header(
    "webhook-signature",
    "`v1,` and the signature in base64. While a secret is rotated there are two, separated " +
      "by a space.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
  )
]

export const webhooksTag = {
  name: "Calls to your URLs",
  description:
    "What the service sends to the URLs of tasks and of chains' steps, of callbacks and of webhook " +
    "channels."
}

const event: Webhook = {
  operationId: "event",
  tags: [webhooksTag.name],
  summary: "An event",
  description:
    "What the service sends to the `on_failure` or `on_success` of a task, and to a webhook channel. " +
    "The stream of live events has the same events.\n\n" +
    "It is signed like the call of a task, but with the `message_secret` of the origin of the URL. " +
    "`unwrap` of `@scheduling/sdk/webhooks` verifies it and returns the typed event. An event may come " +
    "more than once, always with the same `id`.",
  security: [],
  parameters: [
    header("webhook-id", "`msg_` and the `id` of the event.", `msg_${deliveryId}`),
    ...signature,
    header("idempotency-key", "The `id` of the event.", deliveryId)
  ],
  requestBody: {
    description: "The event.",
    content: { "application/json": { schema: reference("WebhookEvent") } }
  },
  responses: {
    "2XX": { description: "The event has been delivered." },
    "408": { description: "Tried again." },
    "410": { description: "A webhook channel is disabled. A callback is not tried again." },
    "425": { description: "Tried again." },
    "429": { description: "Tried again, and not before `Retry-After`." },
    "5XX": { description: "Tried again, and not before `Retry-After`." },
    default: { description: "Not tried again. Redirects are not followed." }
  }
}

export const webhooks: Readonly<Record<string, { readonly post: Webhook }>> = {
  event: { post: event },
  taskCall: {
    post: {
      operationId: "taskCall",
      tags: [webhooksTag.name],
      summary: "The call of a task or a step",
      description:
        "What the service sends to your URL, with the method, headers and body of the task. It is " +
        "signed as Standard Webhooks describes: HMAC-SHA-256 over " +
        "`webhook-id`.`webhook-timestamp`.body, with the `call_secret` of the origin of the URL " +
        "(`GET /v1/workspaces/{workspace_id}/signing-secrets?url=…`). Verify it over the bytes of the " +
        "body as received, and refuse a timestamp that is minutes old. `verify` of " +
        "`@scheduling/sdk/webhooks` does both.\n\n" +
        "A call may be repeated: after a failure (no connection, a timeout or one of the answers " +
        "below), and after the loss of the node that made it. All attempts of one execution " +
        "carry the same `idempotency-key`.",
      security: [],
      parameters: [
        header("webhook-id", "The id of the execution.", executionId),
        ...signature,
        header("idempotency-key", "The id of the execution, again.", executionId),
        header("x-scheduling-task-id", "The id of the task, or of the chain of a step.", taskId),
        header("x-scheduling-execution-id", "The id of the execution, once more.", executionId),
        header("x-scheduling-attempt", "The number of the attempt, from 1.", "1"),
        header(
          "x-scheduling-scheduled-for",
          "The time that the execution was scheduled for, the same at every attempt.",
          "2026-01-31T09:30:00.000Z"
        ),
        {
          ...header(
            "scheduling-complete-url",
            "Where the job says that it is done. Only of tasks and steps with a `completion`.",
            "https://scheduling.example.com/complete/AZqfPFse..."
          ),
          required: false
        },
        {
          ...header(
            "traceparent",
            "The trace of the execution, if the service exports traces and the task has no header " +
              "of this name.",
            "00-019a9f3c5b1e7c4a9d2f3e8b7a6c5d41-b7ad6b7169203331-01"
          ),
          required: false
        },
        header(
          "user-agent",
          "Names the service, unless the task's headers name something else.",
          "scheduling-service/0.1.0"
        )
      ],
      requestBody: {
        description:
          "The body of the task as it was given, or of the step with its references filled in. Its " +
          "type is `application/json` unless the task's headers say otherwise. A task without a " +
          "body sends none.",
        content: { "*/*": { schema: { type: "string" } } }
      },
      responses: {
        "2XX": {
          description:
            "The call has succeeded, unless the task says otherwise (`success_codes`, " +
            "`body_contains`, `body_lacks`). The first 10,000 bytes are kept."
        },
        "408": { description: "Tried again, if `retry_count` allows it." },
        "425": { description: "Tried again, if `retry_count` allows it." },
        "429": {
          description: "Tried again, if `retry_count` allows it, and not before `Retry-After`."
        },
        "5XX": {
          description: "Tried again, if `retry_count` allows it, and not before `Retry-After`."
        },
        default: {
          description:
            "The call has failed, unless `success_codes` has the status. Redirects are not followed."
        }
      }
    }
  }
}
