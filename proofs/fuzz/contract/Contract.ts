import { Api } from "@scheduling/domain/Api"
import * as ApiErrors from "@scheduling/domain/shared/Errors"
import type { AccessRule } from "@scheduling/domain/shared/Access"
import { batchItemAnnotation } from "@scheduling/domain/shared/requests/Batch"
import { endpointsOf, type ErrorClass } from "@scheduling/openapi/contract/endpoints"
import { declaredErrors } from "@scheduling/openapi/responses/declaredErrors"
import { Schema, SchemaAST } from "effect"
import { HttpApi, HttpApiSchema } from "effect/http-api"
import { type Generator, type makeGenerators } from "./Generate.ts"

export interface RequestPart {
  readonly generate: Generator
  readonly encode: (value: unknown) => unknown
}

/** An endpoint as the contract describes it. */
export interface Target {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly segments: ReadonlyArray<string>
  readonly access: AccessRule
  readonly query: RequestPart | undefined
  readonly headers: RequestPart | undefined
  readonly payload: RequestPart | undefined
  readonly successes: ReadonlyMap<number, ExpectedResponse>
  readonly errors: ReadonlyMap<string, ExpectedResponse>
}

export interface ExpectedResponse {
  readonly status: number
  /** Undefined if the response has no body. */
  readonly decode: Decode | undefined
  readonly headersOf: (decoded: unknown) => Readonly<Record<string, string>>
}

type Decode = (body: unknown) => unknown

/** Returns a decoder that throws if a field is missing, invalid or unknown. */
const strictly = (schema: Schema.Top): Decode =>
  Schema.decodeUnknownSync(schema as Schema.Codec<unknown>, { onExcessProperty: "error" })

const expectedError = (
  error: Pick<ErrorClass, "code" | "status">
): [code: string, ExpectedResponse] => [
  error.code,
  {
    status: error.status,
    decode: strictly(error as unknown as Schema.Top),
    headersOf: (decoded) => (decoded as InstanceType<ErrorClass>).headers
  }
]

const byCode = (...errors: ReadonlyArray<Pick<ErrorClass, "code" | "status">>) =>
  new Map(errors.map(expectedError))

/** The error responses to requests that are not valid HTTP. */
export const malformedRequestErrors = byCode(
  ApiErrors.MalformedRequest,
  ApiErrors.HeadersTooLarge,
  ApiErrors.MisdirectedRequest
)

/** The error responses to requests whose path matches no endpoint. */
export const unroutedErrors = byCode(
  ApiErrors.NotFound,
  ApiErrors.MethodNotAllowed,
  ApiErrors.OriginRefused
)

export const makeTargets = (
  generators: ReturnType<typeof makeGenerators>
): ReadonlyArray<Target> => {
  const described = new Map(endpointsOf(Api).map((endpoint) => [endpoint.name, endpoint]))
  const targets: Array<Target> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group, successes }) => {
      const name = `${group.identifier}.${endpoint.identifier}`
      const facts = described.get(name)
      const isStream = facts?.successes.some((schema) => "contentType" in schema) === true
      const nothing: ReadonlyMap<number, readonly [undefined]> = new Map([
        [isStream ? 200 : 204, [undefined]]
      ])
      if (facts === undefined) throw new Error(`${name} is not described`)
      const part = (schema: Schema.Top | undefined, label: string): RequestPart | undefined =>
        schema && {
          generate: generators(readable(schema), `${name}/${label}`),
          encode: Schema.encodeUnknownSync(schema as Schema.Codec<unknown>)
        }
      targets.push({
        name,
        method: endpoint.method,
        path: endpoint.path,
        segments: endpoint.path.split("/").slice(1),
        access: facts.access,
        query: part(endpoint.query, "query"),
        headers: part(endpoint.headers, "headers"),
        payload: part(facts.payloads[0], "payload"),
        successes: new Map(
          [...(successes.size === 0 ? nothing : successes)].map(([status, [success]]) => [
            status,
            {
              status,
              headersOf: () => ({}),
              decode:
                success === undefined || HttpApiSchema.isNoContent(success.ast)
                  ? undefined
                  : strictly(success)
            }
          ])
        ),
        errors: new Map([...declaredErrors(facts).values()].flat().map(expectedError))
      })
    }
  })
  return targets
}

/**
 * Returns a schema for the values that a batch can contain, because batches accept invalid items.
 */
const readable = (schema: Schema.Top): Schema.Top => {
  const item = SchemaAST.resolve(schema.ast)?.[batchItemAnnotation]
  return Schema.isSchema(item)
    ? Schema.Struct({ items: Schema.Array(item).check(Schema.isMinLength(1)) })
    : schema
}

/**
 * Returns a function that finds a path's endpoints, one per method. Literal segments take
 * precedence over ids.
 */
export const targetsAt = (targets: ReadonlyArray<Target>) => {
  const routes = targets
    .map((target) => ({
      target,
      pattern: new RegExp(`^${target.path.replaceAll(/:\w+/g, "[^/]+")}$`)
    }))
    .toSorted((left, right) => idsIn(right.target) - idsIn(left.target))
  return (path: string): ReadonlyMap<string, Target> =>
    new Map(
      routes.flatMap(({ pattern, target }) =>
        pattern.test(path) && isOneSpelling(path) ? [[target.method, target] as const] : []
      )
    )
}

/** Returns whether the path is valid UTF-8 without redundant percent-encoding. */
const isOneSpelling = (path: string): boolean => {
  try {
    decodeURIComponent(path)
    return !respelled.test(path)
  } catch {
    return false
  }
}

/**
 * Matches characters that are percent-encoded unnecessarily, and characters that other programs
 * treat as the end of a path. The service rejects paths that contain any of them.
 */
const respelled = /[;#]|%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i

const idsIn = ({ segments }: Target) => segments.filter((segment) => segment.startsWith(":")).length
