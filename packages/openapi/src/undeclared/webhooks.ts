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
    "`v1,` and the signature in base64. During a rotation of the secret there are two, separated " +
      "by a space.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
  )
]

export const webhooksTag = {
  name: "Calls to your URLs",
  description:
    "Requests that the service makes to the URLs of tasks, chain steps, callbacks and webhook " +
    "channels."
}

const event: Webhook = {
  operationId: "event",
  tags: [webhooksTag.name],
  summary: "An event",
  description:
    "The request to the `on_failure` or `on_success` of a task, and to a webhook channel. " +
    "The stream of live events has the same events.\n\n" +
    "The request is signed like the call of a task, but with the `message_secret` of the URL's origin. " +
    "`unwrap` of `@scheduling/sdk/webhooks` verifies it and returns the typed event. An event may be delivered " +
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
    "408": { description: "The request is retried." },
    "410": { description: "A webhook channel is paused. A callback is not retried." },
    "425": { description: "The request is retried." },
    "429": { description: "The request is retried, but not before `Retry-After`." },
    "5XX": { description: "The request is retried, but not before `Retry-After`." },
    default: { description: "The request is not retried. Redirects are not followed." }
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
        "The request to your URL, with the method, headers and body of the task. The request is " +
        "signed as Standard Webhooks describes: HMAC-SHA-256 over " +
        "`webhook-id`.`webhook-timestamp`.body, with the `call_secret` of the URL's origin " +
        "(`GET /v1/workspaces/{workspace_id}/signing-secrets?url=…`). Verify the signature over the bytes of the " +
        "body as received, and reject a timestamp that is minutes old. `verify` of " +
        "`@scheduling/sdk/webhooks` does both.\n\n" +
        "A call may be repeated: after a failure (no connection, a timeout or one of the responses " +
        "below), and after the loss of the node that made it. All attempts of one execution " +
        "carry the same `idempotency-key`.",
      security: [],
      parameters: [
        header("webhook-id", "The id of the execution.", executionId),
        ...signature,
        header("idempotency-key", "The id of the execution.", executionId),
        header(
          "x-scheduling-task-id",
          "The task id or, for a chain step, the id of its chain.",
          taskId
        ),
        header("x-scheduling-execution-id", "The id of the execution.", executionId),
        header("x-scheduling-attempt", "The number of the attempt, starting at 1.", "1"),
        header(
          "x-scheduling-scheduled-for",
          "When the execution was due, the same for every attempt.",
          "2026-01-31T09:30:00.000Z"
        ),
        {
          ...header(
            "scheduling-complete-url",
            "The URL at which the job reports that it has finished. Only for tasks and steps with `completion`.",
            "https://scheduling.example.com/complete/AZqfPFse..."
          ),
          required: false
        },
        {
          ...header(
            "traceparent",
            "The trace context of the execution, if the service exports traces and the task has no header " +
              "of this name.",
            "00-019a9f3c5b1e7c4a9d2f3e8b7a6c5d41-b7ad6b7169203331-01"
          ),
          required: false
        },
        header(
          "user-agent",
          "The name of the service, unless the task's headers set another value.",
          "scheduling-service/0.1.0"
        )
      ],
      requestBody: {
        description:
          "The body of the task as it was given, or of the step with its references filled in. " +
          "Its type is `application/json` unless the task's headers say otherwise. Without a " +
          "body, the request has none.",
        content: { "*/*": { schema: { type: "string" } } }
      },
      responses: {
        "2XX": {
          description:
            "The call has succeeded, unless the rules of the task say otherwise " +
            "(`success_codes`, `body_contains`, `body_lacks`). The first 10,000 bytes of the " +
            "body are stored."
        },
        "408": { description: "Retried if `retry_count` allows it." },
        "425": { description: "Retried if `retry_count` allows it." },
        "429": {
          description: "Retried if `retry_count` allows it, but not before `Retry-After`."
        },
        "5XX": {
          description: "Retried if `retry_count` allows it, but not before `Retry-After`."
        },
        default: {
          description:
            "The call has failed, unless `success_codes` has the status. Redirects are not followed."
        }
      }
    }
  }
}
