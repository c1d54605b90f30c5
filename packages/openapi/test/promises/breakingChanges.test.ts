import { assert, describe, it } from "@effect/vitest"
import { Api } from "@scheduling/domain/Api"
import { breakingChanges } from "../../src/promises/breakingChanges.ts"
import { promisedPart } from "../../src/promises/promisedPart.ts"
import { openApiDocument } from "../../src/OpenApiDocument.ts"
import { withSharedParameters } from "../../src/published/withSharedParameters.ts"

const promised = JSON.stringify(promisedPart(withSharedParameters(openApiDocument(Api))))

/** A parsed document. Tests can change any part of it. */
type Tree = ReturnType<typeof JSON.parse>

/** Returns the problems that are found after a change to the API's document. */
const after = (change: (document: Tree) => void): ReadonlyArray<string> => {
  const document = JSON.parse(promised)
  change(document)
  assert.notStrictEqual(JSON.stringify(document), promised, "nothing was changed")
  return breakingChanges(JSON.parse(promised), document)
}

const cron = "/v1/workspaces/{workspace_id}/cron"
const exported = "/v1/workspaces/{workspace_id}/export"
const fields = (document: Tree, schema: string) => document.components.schemas[schema].properties

describe("breaking changes", () => {
  it("are none without a change", () => {
    assert.deepStrictEqual(breakingChanges(JSON.parse(promised), JSON.parse(promised)), [])
  })

  it.each<[string, (document: Tree) => void]>([
    [`POST ${cron} is gone`, ({ paths }) => delete paths[cron].post],
    [
      `GET ${cron} has another operationId`,
      ({ paths }) => (paths[cron].get.operationId = "cron.all")
    ],
    [
      `GET ${cron} needs the scope tasks:write`,
      ({ paths }) => (paths[cron].get["x-required-scope"] = "tasks:write")
    ],
    [
      `GET ${exported} needs the scope tasks:read`,
      ({ paths }) => (paths[exported].get["x-required-scopes"] = ["tasks:read"])
    ],
    [`GET ${cron} has the access jwt`, ({ paths }) => (paths[cron].get["x-access"] = "jwt")],
    [
      `POST ${cron} needs the role owner`,
      ({ paths }) => (paths[cron].post["x-required-role"] = "owner")
    ],
    [
      `GET ${cron} no longer takes the query parameter limit`,
      ({ paths }) =>
        (paths[cron].get.parameters = paths[cron].get.parameters.filter(
          ({ $ref }: { $ref?: string }) => $ref?.endsWith("/LimitInQuery") !== true
        ))
    ],
    [
      `GET ${cron} needs the query parameter since`,
      ({ paths }) =>
        paths[cron].get.parameters.push({ name: "since", in: "query", required: true, schema: {} })
    ],
    [
      `GET ${cron} the query parameter limit is stricter: maximum`,
      ({ components }) => (components.parameters.LimitInQuery.schema.maximum = 50)
    ],
    [`POST ${cron} 201 is gone`, ({ paths }) => delete paths[cron].post.responses[201]],
    [
      `POST ${cron} body.retry_count is gone`,
      (document) => delete fields(document, "CronTaskInput").retry_count
    ],
    [
      `POST ${cron} body.name is stricter: maxLength`,
      (document) => (fields(document, "CronTaskInput").name.maxLength = 10)
    ],
    [
      `POST ${cron} body.retry_count is string, and was integer`,
      (document) => (fields(document, "CronTaskInput").retry_count.type = "string")
    ],
    [
      `POST ${cron} body needs retry_count`,
      ({ components }) => components.schemas.CronTaskInput.required.push("retry_count")
    ],
    [
      `POST ${cron} body.success_codes no longer takes null`,
      (document) => (fields(document, "CronTaskInput").success_codes.type = ["array"])
    ],
    [
      `POST ${cron} body.overlap no longer takes "queue"`,
      ({ components }) => (components.schemas.Overlap.enum = ["allow", "skip"])
    ],
    [`POST ${cron} 201.status is gone`, (document) => delete fields(document, "CronTask").status],
    [
      `POST ${cron} 201.status may be absent`,
      ({ components }) =>
        (components.schemas.CronTask.required = components.schemas.CronTask.required.filter(
          (name: string) => name !== "status"
        ))
    ],
    [
      `POST ${cron} 201.version may also be null`,
      (document) => (fields(document, "CronTask").version.type = ["integer", "null"])
    ],
    [
      `POST ${cron} 201.created_at has another format`,
      (document) => delete fields(document, "CronTask").created_at.format
    ],
    [
      "GET /v1/workspaces/{workspace_id}/events 200.data is gone",
      (document) => delete fields(document, "IncidentEvent").data
    ],
    ["the webhook event is gone", ({ webhooks }) => delete webhooks.event],
    [
      "the webhook taskCall no longer has the header webhook-id",
      ({ webhooks }) => webhooks.taskCall.post.parameters.shift()
    ],
    [
      "POST /v1/workspaces/{workspace_id}/notifications/channels body.config.url is gone",
      (document) => {
        const { config } = fields(document, "SlackChannelInput")
        config.additionalProperties = false
        delete config.properties.url
      }
    ]
  ])("%s", (problem, change) => {
    assert.include(after(change), problem)
  })

  it.each<[string, (document: Tree) => void]>([
    [
      "further operations, parameters and fields",
      (document) => {
        document.paths[cron].put = document.paths[cron].post
        document.paths[cron].get.parameters.push({
          name: "since",
          in: "query",
          required: false,
          schema: {}
        })
        fields(document, "CronTaskInput").color = { type: "string" }
        fields(document, "CronTask").color = { type: "string" }
        document.components.schemas.CronTask.required.push("color")
      }
    ],
    [
      "wider inputs",
      (document) => {
        fields(document, "CronTaskInput").name.maxLength = 1_000
        fields(document, "CronTaskInput").retry_count.type = "number"
        fields(document, "CronTaskInput").tags.type = ["array", "null"]
        document.components.schemas.CronTaskInput.required = []
      }
    ],
    ["narrower answers", (document) => (fields(document, "CronTask").key = { type: "string" })],
    [
      "further values of an enumeration, and further events",
      ({ components: { schemas } }) => {
        schemas.ExecutionStatus.enum.push("lost")
        schemas.LiveEvent.oneOf.push({ $ref: "#/components/schemas/QuotaEvent" })
        schemas.LiveEvent.discriminator.mapping["quota.near"] = "#/components/schemas/QuotaEvent"
      }
    ],
    [
      "an operation that takes more credentials",
      ({ paths }) => {
        paths[cron].get["x-access"] = "credential"
        delete paths[cron].get["x-required-scope"]
      }
    ],
    [
      "other names of components",
      (document) =>
        Object.assign(
          document,
          JSON.parse(JSON.stringify(document).replaceAll(/\bRetryInput\b/g, "Retrying"))
        )
    ],
    [
      "what only the control panel uses",
      ({ paths }) => delete paths["/v1/workspaces/{workspace_id}/activity/recent"]
    ]
  ])("are not: %s", (_, change) => {
    assert.deepStrictEqual(after(change), [])
  })
})
