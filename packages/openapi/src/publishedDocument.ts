import { type JsonSchema, Struct } from "effect"
import type { HttpApi, HttpApiGroup, OpenApi } from "effect/http-api"
import { isSchema } from "./schemas/rewriting.ts"
import type { Operation, Reference, Response } from "./model.ts"
import { openApiDocument } from "./OpenApiDocument.ts"
import { mapOperations, mapValues } from "./mapValues.ts"
import { withDefaultErrors } from "./published/withDefaultErrors.ts"
import {
  type DocumentWithSharedParameters,
  type OperationWithSharedParameters,
  withSharedParameters
} from "./published/withSharedParameters.ts"
import { withSharedSchemas } from "./published/withSharedSchemas.ts"

type Schema = JsonSchema.JsonSchema
type Responses<One> = Readonly<Record<string, One>>
type PublishedResponse = Omit<Response, "headers"> & Partial<Pick<Response, "headers">>
type PublishedOperation = Omit<
  OperationWithSharedParameters,
  "responses" | "security" | "x-codeSamples"
> &
  Partial<Pick<Operation, "security">> & {
    readonly responses: Responses<PublishedResponse | Reference>
  }

export interface PublishedDocument extends Omit<
  DocumentWithSharedParameters,
  "components" | "paths"
> {
  readonly security: Operation["security"]
  readonly paths: Readonly<Record<string, Readonly<Record<string, PublishedOperation>>>>
  readonly components: Omit<DocumentWithSharedParameters["components"], "responses"> & {
    readonly responses: Responses<PublishedResponse>
  }
}

/**
 * Returns the machine-readable document. It has the same content as the reference page's document,
 * without repetitions and code samples (docs/adr/0069-a-small-openapi-document.md).
 */
export const publishedDocument = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  server?: OpenApi.OpenAPISpecServer
): PublishedDocument => {
  const { components, paths, ...document } = withDefaultErrors(
    withSharedParameters(openApiDocument(api, server))
  )
  return {
    ...document,
    security: [{ bearer: [] }],
    paths: mapOperations(paths, compact),
    components: {
      ...components,
      schemas: withSharedSchemas(mapValues(components.schemas, withoutComposedExample)),
      responses: mapValues(components.responses, withoutCommonHeaders),
      headers: withoutCommon(components.headers)
    }
  }
}

/** Headers that are omitted, because the introduction of the document describes them. */
const commonHeaders = new Set(["x-request-id", "RateLimit", "RateLimit-Policy"])

const withoutCommon = <A>(headers: Readonly<Record<string, A>>): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !commonHeaders.has(name)))

const withoutCommonHeaders = ({
  headers = {},
  ...response
}: PublishedResponse): PublishedResponse => {
  const own = withoutCommon(headers)
  return { ...response, ...(Object.keys(own).length > 0 && { headers: own }) }
}

const compact = ({
  responses,
  security,
  ...operation
}: OperationWithSharedParameters): PublishedOperation => ({
  ...Struct.omit(operation, ["x-codeSamples"]),
  ...(security.length === 0 && { security }),
  responses: mapValues(responses, (one) => ("$ref" in one ? one : withoutCommonHeaders(one)))
})

/** An object needs no example, because tools compose one from the examples of its fields. */
const withoutComposedExample = (schema: Schema): Schema =>
  isSchema(schema.properties) || schema.anyOf || schema.oneOf
    ? Struct.omit(schema, ["examples"])
    : schema
