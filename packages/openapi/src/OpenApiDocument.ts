import { idempotencyErrors } from "@scheduling/domain/shared/Errors"
import type { JsonSchema } from "effect"
import type { Deprecation } from "@scheduling/domain/shared/Deprecated"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import manifest from "../package.json" with { type: "json" }
import { describeAccess, securitySchemes } from "./operations/access.ts"
import { type Components, componentsOf, tidyComponents } from "./operations/components.ts"
import { bodySchemas, type Endpoint, endpointsOf, holdsSecret } from "./contract/endpoints.ts"
import { namedSchemas } from "./contract/syntax.ts"
import { exampleOf } from "./schemas/examples.ts"
import { componentHeaders, headerReferences } from "./responses/headers.ts"
import { introduction } from "./introduction.ts"
import type { MediaType, OpenApiDocument, Operation, Response } from "./model.ts"
import { describeParameters } from "./operations/parameters.ts"
import { errorResponses } from "./responses/declaredErrors.ts"
import { completionPaths, completionsTag } from "./undeclared/completions.ts"
import { echoPaths, echoSchemas } from "./undeclared/echo.ts"
import { pingPaths, pingsTag } from "./undeclared/pings.ts"
import { tokenPaths, tokenSchemas } from "./undeclared/token.ts"
import { withChoices } from "./schemas/rewriting.ts"
import { mapValues } from "./mapValues.ts"
import { codeSamplesOf } from "./operations/samples.ts"
import { triggerPaths, triggerSchemas, triggersTag } from "./undeclared/triggers.ts"
import { webhooks, webhooksTag } from "./undeclared/webhooks.ts"

export type { OpenApiDocument } from "./model.ts"

const localServer: OpenApi.OpenAPISpecServer = {
  url: "http://127.0.0.1:4000",
  description: "A server that was started with the defaults"
}

/**
 * The annotations to copy to the document. Only the decoded side of a schema has lengths, so
 * `shared/Text.ts` repeats them as annotations of the encoded side. `deprecated` marks a field that
 * will be removed.
 */
const fromApiOptions: OpenApi.FromApiOptions = {
  includeAnnotationKey: (key) => ["deprecated", "maxLength", "minLength"].includes(key)
}

/**
 * Generates the OpenAPI document of an API. The schemas come from Effect; access, errors, headers
 * and examples are added from the same declarations.
 */
export const openApiDocument = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  server: OpenApi.OpenAPISpecServer = localServer
): OpenApiDocument => {
  const spec = OpenApi.fromApi(api, fromApiOptions)
  const endpoints = endpointsOf(api)
  const components = componentsOf(spec, endpoints, namedSchemas(bodySchemas(api)))
  const paths: Record<string, Record<string, Operation>> = {}
  for (const endpoint of endpoints) {
    const operation = spec.paths[endpoint.path]?.[endpoint.method]
    if (operation === undefined) continue
    const operations = (paths[endpoint.path] ??= {})
    operations[endpoint.method] = describeOperation(endpoint, operation, components)
  }
  return {
    openapi: "3.1.0",
    info: {
      title: spec.info.title,
      version: manifest.version,
      ...(spec.info.description !== undefined && { summary: spec.info.description }),
      description: introduction,
      contact: { name: "The operator of this server" },
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: [server],
    tags: [...spec.tags, pingsTag, triggersTag, completionsTag, webhooksTag],
    paths: {
      ...paths,
      ...tokenPaths,
      ...echoPaths,
      ...pingPaths,
      ...triggerPaths,
      ...completionPaths
    },
    webhooks,
    components: {
      ...tidyComponents([paths, tokenPaths, echoPaths, triggerPaths, webhooks], {
        schemas: {
          ...described(components.schemas),
          ...tokenSchemas,
          ...echoSchemas,
          ...triggerSchemas
        },
        responses: components.responses,
        headers: componentHeaders
      }),
      securitySchemes
    }
  }
}

const notPromised =
  "Only for the control panel: may change or disappear in any version without notice."

/**
 * Returns a text that says since when an endpoint is deprecated, what replaces it, and when it may
 * be removed.
 */
export const deprecationNotice = ({ instead, since, sunset }: Deprecation): string =>
  `since ${since}. ${instead}${sunset === undefined ? "" : ` The operation may be removed from ${sunset} on.`}`

const describeOperation = (
  endpoint: Endpoint,
  operation: OpenApi.OpenAPISpecOperation,
  components: Components
): Operation => {
  const access = describeAccess(endpoint.access)
  const { operationId, requestBody, summary = "", tags } = operation
  const content = requestBody && requestContent(requestBody.content, components)
  return {
    operationId,
    summary,
    description: [
      operation.description,
      access.sentence,
      ...(endpoint.isInternal ? [notPromised] : []),
      ...(endpoint.deprecation === undefined
        ? []
        : [`Deprecated ${deprecationNotice(endpoint.deprecation)}`])
    ]
      .filter(Boolean)
      .join("\n\n"),
    tags,
    ...access.fields,
    ...(endpoint.isInternal && { "x-internal": true }),
    ...(endpoint.deprecation !== undefined && { deprecated: true }),
    parameters: describeParameters(endpoint, operation.parameters, components),
    ...(content !== undefined && { requestBody: { required: true, content } }),
    responses: {
      ...successResponses(endpoint, operation.responses, components),
      ...errorResponses(endpoint)
    },
    "x-codeSamples": codeSamplesOf(endpoint, {
      body: Object.values(content ?? {})[0]?.example,
      answer:
        "204" in operation.responses
          ? "nothing"
          : operation.responses["200"]?.content?.[eventStreamMediaType] === undefined
            ? "record"
            : "events"
    })
  }
}

const described = (schemas: Components["schemas"]): Components["schemas"] =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withChoices(schema)]))

const requestContent = (
  content: OpenApi.OpenApiSpecContent,
  { rewrite, schemas }: Components
): Record<string, MediaType> =>
  mapValues(content, (media) => {
    const schema = rewrite(media.schema)
    return { schema, example: exampleOf(schema, schemas) }
  })

const successPhrases: Readonly<Record<string, string>> = {
  200: "OK.",
  201: "Created.",
  202: "Accepted; the work is queued.",
  204: "Done; the response has no body."
}

/**
 * The content type of event streams. The document describes the `data` of their messages, because
 * OpenAPI 3.1 cannot describe event streams.
 */
export const eventStreamMediaType = "text/event-stream"

const dataOf = ({ properties }: JsonSchema.JsonSchema): JsonSchema.JsonSchema =>
  (properties as { readonly data: JsonSchema.JsonSchema }).data

const takesIdempotencyKey = ({ ownErrors }: Endpoint): boolean =>
  [...ownErrors].some(({ code }) => idempotencyErrors.some((error) => error.code === code))

const successResponses = (
  endpoint: Endpoint,
  responses: OpenApi.OpenAPISpecResponses,
  { rewrite }: Components
): Record<string, Response> => {
  const always = [
    ...(endpoint.access.kind === "public" ? [] : ["ratelimit", "ratelimit-policy"]),
    ...(endpoint.successes.some(holdsSecret) ? ["cache-control"] : []),
    ...(takesIdempotencyKey(endpoint) ? ["idempotent-replayed"] : []),
    ...(endpoint.deprecation === undefined ? [] : ["deprecation", "link"]),
    ...(endpoint.deprecation?.sunset === undefined ? [] : ["sunset"])
  ]
  const successes: Record<string, Response> = {}
  for (const [status, { content }] of Object.entries(responses)) {
    if (Number(status) >= 400) continue
    successes[status] = {
      description: successPhrases[status] ?? "OK.",
      headers: headerReferences([...always, ...(status === "201" ? ["location"] : [])]),
      ...(content !== undefined && {
        content: Object.fromEntries(
          Object.entries(content).map(([type, { schema }]) => [
            type,
            { schema: rewrite(type === eventStreamMediaType ? dataOf(schema) : schema) }
          ])
        )
      })
    }
  }
  return successes
}
