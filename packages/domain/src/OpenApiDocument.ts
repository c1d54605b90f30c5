import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { describeAccess, securitySchemes } from "./openapi/access.ts"
import { type Components, componentsOf, tidy } from "./openapi/components.ts"
import { describeFields } from "./openapi/descriptions.ts"
import { type Endpoint, endpointsOf, holdsSecret } from "./openapi/endpoints.ts"
import { exampleOf } from "./openapi/examples.ts"
import { componentHeaders, headerReferences } from "./openapi/headers.ts"
import { introduction } from "./openapi/introduction.ts"
import type { MediaType, OpenApiDocument, Operation, Response } from "./openapi/model.ts"
import { describeParameters } from "./openapi/parameters.ts"
import { errorResponses } from "./openapi/refusals.ts"
import { withChoices } from "./openapi/schemas.ts"
import { samplesOf } from "./openapi/samples.ts"
import { webhooks, webhooksTag } from "./openapi/webhooks.ts"

export type { OpenApiDocument } from "./openapi/model.ts"

export const localServer: OpenApi.OpenAPISpecServer = {
  url: "http://127.0.0.1:4000",
  description: "A server that was started with the defaults"
}

/** Lengths that only the decoded side knows are annotated on the encoded one, as in `shared/Text.ts`. */
const fromApiOptions: OpenApi.FromApiOptions = {
  includeAnnotationKey: (key) => key === "minLength" || key === "maxLength"
}

/**
 * The OpenAPI document of an api. The shapes are Effect's; what is added comes from the same
 * declarations: who may call, which errors can happen, headers and examples.
 */
export const openApiDocument = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  server: OpenApi.OpenAPISpecServer = localServer
): OpenApiDocument => {
  const spec = OpenApi.fromApi(api, fromApiOptions)
  const endpoints = endpointsOf(api)
  const components = componentsOf(spec, endpoints)
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
      version: spec.info.version,
      ...(spec.info.description !== undefined && { summary: spec.info.description }),
      description: introduction,
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: [server],
    tags: [...spec.tags, webhooksTag],
    paths,
    webhooks,
    components: {
      ...tidy(paths, {
        schemas: described(components.schemas),
        responses: components.responses,
        headers: componentHeaders
      }),
      securitySchemes
    }
  }
}

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
    description: [operation.description, access.sentence].filter(Boolean).join("\n\n"),
    tags,
    ...access.fields,
    parameters: describeParameters(endpoint, operation.parameters, components),
    ...(content !== undefined && { requestBody: { required: true, content } }),
    responses: {
      ...successResponses(endpoint, operation.responses, components),
      ...errorResponses(endpoint, components)
    },
    "x-codeSamples": samplesOf(endpoint, {
      body: Object.values(content ?? {})[0]?.example,
      hasAnswer: !("204" in operation.responses)
    })
  }
}

const described = (schemas: Components["schemas"]): Components["schemas"] =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      withChoices(describeFields(name, schema, schemas))
    ])
  )

const mapValues = <A, B>(
  record: Readonly<Record<string, A>>,
  f: (value: A) => B
): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value)]))

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
  204: "Done; the answer has no body."
}

const successResponses = (
  endpoint: Endpoint,
  responses: OpenApi.OpenAPISpecResponses,
  { rewrite }: Components
): Record<string, Response> => {
  const headers = headerReferences(endpoint.successes.some(holdsSecret) ? ["cache-control"] : [])
  const successes: Record<string, Response> = {}
  for (const [status, { content }] of Object.entries(responses)) {
    if (Number(status) >= 400) continue
    successes[status] = {
      description: successPhrases[status] ?? "OK.",
      headers,
      ...(content !== undefined && {
        content: mapValues(content, ({ schema }) => ({ schema: rewrite(schema) }))
      })
    }
  }
  return successes
}
