import { Api } from "@scheduling/domain/Api"
import * as ApiErrors from "@scheduling/domain/shared/Errors"
import type { AccessRule } from "@scheduling/domain/shared/Access"
import { endpointsOf, type ErrorClass } from "@scheduling/domain/openapi/endpoints"
import { refusalsOf } from "@scheduling/domain/openapi/refusals"
import { Schema } from "effect"
import { HttpApi, HttpApiSchema } from "effect/http-api"
import { type Generator, type makeGenerators } from "./Generate.ts"

/** One part of a request: values to send, and how they look on the wire. */
export interface Part {
  readonly generate: Generator
  readonly encode: (value: unknown) => unknown
}

/** An endpoint as the attacker sees it: all of it read off the contract. */
export interface Target {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly segments: ReadonlyArray<string>
  readonly access: AccessRule
  readonly query: Part | undefined
  readonly headers: Part | undefined
  readonly payload: Part | undefined
  readonly success: Expected
  /** By code. */
  readonly errors: ReadonlyMap<string, Expected>
}

export interface Expected {
  readonly status: number
  /** Absent where there is no body. */
  readonly decode: Decode | undefined
  /** The headers that go with what was decoded. */
  readonly headersOf: (decoded: unknown) => Readonly<Record<string, string>>
}

type Decode = (body: unknown) => unknown

/** Throws where anything is missing, wrong or too much. */
const strictly = (schema: Schema.Top): Decode =>
  Schema.decodeUnknownSync(schema as Schema.Codec<unknown>, { onExcessProperty: "error" })

const expectedError = (error: Pick<ErrorClass, "code" | "status">): [code: string, Expected] => [
  error.code,
  {
    status: error.status,
    decode: strictly(error as unknown as Schema.Top),
    headersOf: (decoded) => (decoded as InstanceType<ErrorClass>).headers
  }
]

const byCode = (...errors: ReadonlyArray<Pick<ErrorClass, "code" | "status">>) =>
  new Map(errors.map(expectedError))

/** What a request may get that is not taken for one. */
export const unreadErrors = byCode(
  ApiErrors.MalformedRequest,
  ApiErrors.HeadersTooLarge,
  ApiErrors.MisdirectedRequest
)

/** What a request gets that is for no endpoint. */
export const unroutedErrors = byCode(ApiErrors.NotFound, ApiErrors.MethodNotAllowed)

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
      const [[status, [success]] = [204, [undefined]]] = successes
      if (facts === undefined) throw new Error(`${name} is not described`)
      const part = (schema: Schema.Top | undefined, label: string): Part | undefined =>
        schema && {
          generate: generators(schema, `${name}/${label}`),
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
        success: {
          status,
          headersOf: () => ({}),
          decode:
            success === undefined || HttpApiSchema.isNoContent(success.ast)
              ? undefined
              : strictly(success)
        },
        errors: new Map([...refusalsOf(facts).values()].flat().map(expectedError))
      })
    }
  })
  return targets
}

/** The endpoints of a path, one for each method: where names are spelled out they come before ids. */
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

/** One that is no UTF-8 at all spells nothing. */
const isOneSpelling = (path: string): boolean => {
  try {
    decodeURIComponent(path)
    return !respelled.test(path)
  } catch {
    return false
  }
}

/** What nobody has to encode, and what others take for the end of a path: no spelling of ours. */
const respelled = /[;#]|%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i

const idsIn = ({ segments }: Target) => segments.filter((segment) => segment.startsWith(":")).length
