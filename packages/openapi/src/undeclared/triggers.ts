import type { Method, Operation } from "../model.ts"
import { headerReferences } from "../responses/headers.ts"

/**
 * The contract does not declare trigger URLs, because a signature covers the raw body of a request.
 */
export const triggersTag = {
  name: "Trigger URLs",
  description:
    "How GitHub, Stripe, Slack and other systems run a cron task or a chain. The URL is the credential: the `url` of " +
    "a task's trigger, which is off by default."
}

export const triggerSchemas = {
  TriggeredRun: {
    type: "object",
    description: "The run that a request to a trigger URL has queued.",
    properties: {
      execution_id: {
        type: "string",
        format: "uuid",
        description: "The id of the execution, or of the run of the chain."
      }
    },
    required: ["execution_id"],
    additionalProperties: false,
    examples: [{ execution_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41" }]
  }
}

const example = { ref: "refs/heads/main" }

export const triggerPaths: Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>> =
  {
    "/trigger/{token}": {
      post: {
        operationId: "triggers.run",
        tags: [triggersTag.name],
        summary: "Run a task by its trigger URL",
        description:
          "Queues one run of the task with the body as its `input`: JSON, the fields of a form, or text, of at most 64 " +
          "KiB. If the trigger has a `sender`, the request must have its signature, and must not be older " +
          "than five minutes; otherwise the response is 400 `invalid_signature`. A repeated delivery of an " +
          "event gets the first response and runs nothing. A URL that does not exist responds with 404.\n\nNeeds no credential except the URL.",
        security: [],
        "x-access": "public",
        parameters: [
          {
            name: "token",
            in: "path",
            required: true,
            description: "The secret at the end of the trigger URL.",
            schema: {
              type: "string",
              pattern: "^[\\w-]{43}$",
              examples: ["mF3vXk1cQz9rT5wYb7nJ2hLdGs8PaUeKoViWxCzTyBM"]
            }
          }
        ],
        requestBody: {
          required: false,
          content: { "application/json": { schema: {}, example } }
        },
        responses: {
          202: {
            description: "The run is queued, now or by an earlier delivery of the same event.",
            headers: headerReferences(["cache-control", "idempotent-replayed"]),
            content: {
              "application/json": {
                schema: { $ref: "#/components/schemas/TriggeredRun" },
                example: triggerSchemas.TriggeredRun.examples[0]
              }
            }
          },
          402: { $ref: "#/components/responses/QuotaExceededError" },
          415: { $ref: "#/components/responses/UnsupportedMediaTypeError" },
          503: { $ref: "#/components/responses/UnavailableError" }
        },
        "x-codeSamples": [
          {
            lang: "Shell",
            label: "curl",
            source: `curl -fsS "$TRIGGER_URL" -H 'content-type: application/json' -d '${JSON.stringify(example)}'`
          }
        ]
      } satisfies Operation
    }
  }
